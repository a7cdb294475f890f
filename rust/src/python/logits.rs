//! How does Python hand over logits? As rows of an array of unsigned integers of their width.

use pyo3::buffer::{Element, PyBuffer};
use pyo3::prelude::*;

use super::{array, guard, integer};
use crate::error::Error;
use crate::logits::{Logit, mask_block};

/// More logits than this are masked without the GIL: 30 µs of work, at 0.2 ns each.
const QUICK_LOGITS: usize = 150_000;

/// Set masked logits to `minus_infinity`, as bits. `logits`: uint16, uint32 or uint64 [rows, width], a row without gaps;
/// `bitmask`: int32 [rows, words]. Logits past the last word are masked.
#[pyfunction]
pub fn mask_logits(
    py: Python<'_>,
    logits: &Bound<'_, PyAny>,
    bitmask: &Bound<'_, PyAny>,
    #[pyo3(from_py_with = integer)] minus_infinity: i64,
) -> PyResult<()> {
    guard(|| {
        let bitmask = array::<i32>(bitmask, "bitmask", "int32")?;
        match logits.getattr("itemsize")?.extract::<usize>()? {
            2 => mask_rows(py, &array::<u16>(logits, "logits", "uint16")?, &bitmask, minus_infinity),
            4 => mask_rows(py, &array::<u32>(logits, "logits", "uint32")?, &bitmask, minus_infinity),
            _ => mask_rows(py, &array::<u64>(logits, "logits", "uint64")?, &bitmask, minus_infinity),
        }?;
        Ok(())
    })
}

fn mask_rows<T: Element + Logit + Send + Sync>(
    py: Python<'_>,
    logits: &PyBuffer<T>,
    bitmask: &PyBuffer<i32>,
    minus_infinity: i64,
) -> Result<(), Error> {
    let ([rows, width], [bitmask_rows, n_words]) = (shape(logits, "logits")?, shape(bitmask, "bitmask")?);
    if logits.readonly() || (width > 1 && logits.strides()[1] != size_of::<T>() as isize) {
        return Err(Error::argument("logits", "logits must be writable, without gaps in a row"));
    }
    if !bitmask.is_c_contiguous() || rows != bitmask_rows {
        return Err(Error::argument(
            "bitmask",
            "bitmask must be contiguous and have a row for each row of logits",
        ));
    }
    let minus_infinity = T::from_bits(minus_infinity as u64);
    let mask = || {
        for row in 0..rows {
            // SAFETY: the buffers are held, so their memory is alive; `row` is in both, whose shapes, strides and
            // contiguity were checked; logits are writable. No reference to memory that Python shares is made.
            unsafe {
                let first = logits.buf_ptr().byte_offset(row as isize * logits.strides()[0]).cast::<T>();
                let words = bitmask.buf_ptr().cast::<u32>().add(row * n_words);
                mask_row(first, width, words, n_words, minus_infinity);
            }
        }
    };
    if rows * width > QUICK_LOGITS {
        py.detach(mask);
    } else {
        mask();
    }
    Ok(())
}

/// # Safety
/// `logits` has `width` writable elements, `words` has `n_words`.
unsafe fn mask_row<T: Logit>(
    logits: *mut T,
    width: usize,
    words: *const u32,
    n_words: usize,
    minus_infinity: T,
) {
    let n_blocks = (width / 32).min(n_words);
    for at in 0..n_blocks {
        // SAFETY: block and word are in their rows.
        unsafe {
            let block = logits.add(at * 32).cast::<[T; 32]>();
            let mut values = block.read_unaligned();
            mask_block(&mut values, words.add(at).read_unaligned(), minus_infinity);
            block.write_unaligned(values);
        }
    }
    for at in n_blocks * 32..width {
        // SAFETY: `at` is in the row, and the word is read only where there is one.
        unsafe {
            let word = if at / 32 < n_words { words.add(at / 32).read_unaligned() } else { 0 };
            let logit = logits.add(at);
            logit.write_unaligned(logit.read_unaligned().select(minus_infinity, word, at as u32 % 32));
        }
    }
}

fn shape<T: Element>(buffer: &PyBuffer<T>, name: &'static str) -> Result<[usize; 2], Error> {
    <[usize; 2]>::try_from(buffer.shape())
        .map_err(|_| Error::argument(name, format!("{name} must have two dimensions")))
}
