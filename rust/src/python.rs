//! How does Python call the core? With the files under `python/` the only ones that import PyO3: they take arguments, release
//! the GIL, call the core, and map errors.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::NonNull;
use std::sync::Arc;

use pyo3::buffer::{Element, PyBuffer};
use pyo3::exceptions::PyOverflowError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyDict;

mod engine;
mod logits;

use crate::dfa_masks::{Bitmask, DfaMasks};
use crate::engine::mask::Mask;
use crate::error::Error;
use crate::mask::Table;
use crate::trie::{Trie, split_blob};

#[pymodule]
mod _native {
    use pyo3::prelude::*;

    #[pymodule_export]
    use super::engine::{PyConstraint, PyIndex, PyVocabulary, fill_bitmasks};
    #[pymodule_export]
    use super::logits::mask_logits;
    #[pymodule_export]
    use super::{_panic, PyDfaMasks, TokenTrie};

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        crate::allocator::keep_freed_memory();
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}

#[pyclass(frozen, module = "maskwright._native")]
struct TokenTrie {
    trie: Arc<Trie>,
}

#[pymethods]
impl TokenTrie {
    #[new]
    fn new(py: Python<'_>, blob: PyBackedBytes, offsets: &Bound<'_, PyAny>) -> PyResult<Self> {
        guard(|| {
            let offsets = vector::<i64>(offsets, "offsets", "int64")?.to_vec(py)?;
            let trie = py.detach(|| Trie::build(&split_blob(&blob, &offsets)?))?;
            Ok(TokenTrie { trie: Arc::new(trie) })
        })
    }

    #[getter]
    fn n_tokens(&self) -> u32 {
        self.trie.n_ids()
    }

    #[getter]
    fn n_nodes(&self) -> usize {
        self.trie.n_nodes()
    }

    #[getter]
    fn n_bytes(&self) -> usize {
        self.trie.heap_bytes()
    }
}

#[pyclass(frozen, name = "DfaMasks", module = "maskwright._native")]
struct PyDfaMasks {
    masks: DfaMasks,
}

#[pymethods]
impl PyDfaMasks {
    #[new]
    fn new(
        py: Python<'_>,
        trie: &Bound<'_, TokenTrie>,
        trans: &Bound<'_, PyAny>,
        accept: &Bound<'_, PyAny>,
        #[pyo3(from_py_with = integers)] eos_ids: Vec<i64>,
        #[pyo3(from_py_with = integer)] cache_bytes: i64,
    ) -> PyResult<Self> {
        guard(|| {
            let trans = table(trans)?.to_vec(py)?;
            let accept = vector::<u8>(accept, "accept", "uint8")?.to_vec(py)?;
            let cache_bytes = usize::try_from(cache_bytes)
                .map_err(|_| Error::argument("cache_bytes", "cache_bytes must not be negative"))?;
            let trie = Arc::clone(&trie.get().trie);
            let accept = accept.iter().map(|&flag| flag != 0).collect();
            let masks =
                py.detach(|| DfaMasks::new(trie, Table::new(&trans, accept)?, &eos_ids, cache_bytes))?;
            Ok(PyDfaMasks { masks })
        })
    }

    #[pyo3(signature = (state, bitmask, row = 0))]
    fn fill_bitmask(
        &self,
        py: Python<'_>,
        #[pyo3(from_py_with = integer)] state: i64,
        bitmask: &Bound<'_, PyAny>,
        #[pyo3(from_py_with = integer)] row: i64,
    ) -> PyResult<bool> {
        guard(|| {
            let state = self.masks.table().check_state(state)?;
            let row = Row::new(bitmask, row, self.masks.n_words())?;
            // A hit keeps the GIL: asking for it again can cost more than the copy itself.
            if let Some(restricts) = self.masks.cached(state, |kept| row.write(kept)) {
                return Ok(restricts);
            }
            let made = py.detach(|| self.masks.walk(state));
            let restricts = row.write(&made);
            self.masks.keep(state, made);
            Ok(restricts)
        })
    }

    #[pyo3(signature = (state, bitmask, row = 0))]
    fn walk_bitmask(
        &self,
        py: Python<'_>,
        #[pyo3(from_py_with = integer)] state: i64,
        bitmask: &Bound<'_, PyAny>,
        #[pyo3(from_py_with = integer)] row: i64,
    ) -> PyResult<bool> {
        guard(|| {
            let state = self.masks.table().check_state(state)?;
            let row = Row::new(bitmask, row, self.masks.n_words())?;
            Ok(row.write(&py.detach(|| self.masks.walk(state))))
        })
    }

    #[getter]
    fn n_states(&self) -> u32 {
        self.masks.table().n_states()
    }

    #[getter]
    fn n_words(&self) -> usize {
        self.masks.n_words()
    }

    #[getter]
    fn n_cached(&self) -> usize {
        self.masks.n_cached()
    }
}

/// Panic in the core, so that a test can see what a defect looks like from Python.
#[pyfunction]
fn _panic(message: String) -> PyResult<()> {
    guard(|| panic!("{message}"))
}

/// An integer argument of any size: past 64 bits it is out of every range, so the nearest bound will do.
fn integer(object: &Bound<'_, PyAny>) -> PyResult<i64> {
    match object.extract::<i64>() {
        Err(error) if error.is_instance_of::<PyOverflowError>(object.py()) => {
            Ok(if object.lt(0)? { i64::MIN } else { i64::MAX })
        }
        result => result,
    }
}

fn integers(object: &Bound<'_, PyAny>) -> PyResult<Vec<i64>> {
    object.try_iter()?.map(|item| integer(&item?)).collect()
}

fn array<T: Element>(
    object: &Bound<'_, PyAny>,
    name: &'static str,
    dtype: &str,
) -> Result<PyBuffer<T>, Error> {
    // PyO3 0.30 takes ">" for this machine's byte order where it is not.
    let foreign: &[u8] = if cfg!(target_endian = "little") { b">!" } else { b"<" };
    let wrong = || Error::argument(name, format!("{name} must be an array of {dtype} in native byte order"));
    let buffer = PyBuffer::get(object).map_err(|_| wrong())?;
    let native = !foreign.contains(&buffer.format().to_bytes()[0]);
    native.then_some(buffer).ok_or_else(wrong)
}

fn vector<T: Element>(
    object: &Bound<'_, PyAny>,
    name: &'static str,
    dtype: &str,
) -> Result<PyBuffer<T>, Error> {
    let buffer = array(object, name, dtype)?;
    let flat = buffer.dimensions() == 1;
    flat.then_some(buffer).ok_or_else(|| Error::argument(name, format!("{name} must have one dimension")))
}

fn table(object: &Bound<'_, PyAny>) -> Result<PyBuffer<i32>, Error> {
    let buffer = array::<i32>(object, "trans", "int32")?;
    if buffer.dimensions() != 2 || buffer.shape()[1] != 256 {
        return Err(Error::argument("trans", "trans must have the shape [states, 256]"));
    }
    Ok(buffer)
}

/// Rows of a bitmask array of shape [words], of which row 0 is all, or [rows, words].
struct Rows {
    buffer: PyBuffer<i32>,
    width: usize,
    /// The first word of each row asked for.
    starts: Vec<usize>,
}

impl Rows {
    fn new(object: &Bound<'_, PyAny>, rows: &[i64], n_words: usize) -> Result<Rows, Error> {
        let buffer = match array::<i32>(object, "bitmask", "int32") {
            // A torch tensor on the CPU has no buffer; the array that it shares its memory with has.
            Err(_) if object.hasattr("numpy").unwrap_or(false) => {
                let shared = object.call_method0("numpy").map_err(|_| bad_bitmask("must be on the CPU"))?;
                array::<i32>(&shared, "bitmask", "int32")?
            }
            result => result?,
        };
        let (n_rows, width) = match *buffer.shape() {
            [width] => (1, width),
            [n_rows, width] => (n_rows, width),
            _ => return Err(bad_bitmask("must have the shape [words] or [rows, words]")),
        };
        if buffer.readonly() || !buffer.is_c_contiguous() {
            return Err(bad_bitmask("must be writable and contiguous in C order"));
        }
        if width < n_words {
            return Err(bad_bitmask(&format!("has {width} words a row, the vocabulary needs {n_words}")));
        }
        let start = |&row: &i64| {
            let known = usize::try_from(row).ok().filter(|&row| row < n_rows);
            let row = known.ok_or_else(|| {
                Error::argument(
                    "row",
                    format!("there is no row {row}: the bitmask has {}", counted(n_rows, "row")),
                )
            })?;
            Ok(row * width)
        };
        let starts = rows.iter().map(start).collect::<Result<_, Error>>()?;
        Ok(Rows { buffer, width, starts })
    }

    /// Write words to a row; surplus words of the row become zero.
    fn write_words(&self, row: usize, source: &[u32]) {
        let target = self.row(row);
        // SAFETY: see `row`; the source has at most as many words as the row, and is memory of our own.
        unsafe {
            target.copy_from_nonoverlapping(NonNull::from(source).cast(), source.len());
            target.add(source.len()).write_bytes(0, self.width - source.len());
        }
    }

    /// Write a mask to a row. False if no ordinary token is masked.
    fn write_mask(&self, row: usize, mask: &Mask) -> bool {
        self.write_words(row, mask.base.as_deref().unwrap_or_default());
        let target = self.row(row);
        let word = |id: u32| {
            let at = (id / 32) as usize;
            assert!(at < self.width, "ids of a mask are in the vocabulary");
            at
        };
        // SAFETY: see `row`; each word is checked to be in the row.
        unsafe {
            for &id in &mask.add {
                let target = target.add(word(id));
                target.write(target.read() | 1 << (id % 32));
            }
            for &id in &mask.remove {
                let target = target.add(word(id));
                target.write(target.read() & !(1 << (id % 32)));
            }
        }
        !mask.is_full
    }

    fn clear(&self, row: usize) -> bool {
        self.write_words(row, &[]);
        true
    }

    /// Where a row starts.
    ///
    /// The buffer is held, so its memory is alive and not resized; `new` checked that it is writable and contiguous, that the
    /// row lies in it, and that a row has at least as many words as a bitmask. No reference to memory that Python
    /// shares is made. PyO3 has no safe way to write a part of a buffer.
    fn row(&self, row: usize) -> NonNull<u32> {
        let target = self.buffer.as_slice_ptr().expect("contiguity was checked").cast::<u32>();
        // SAFETY: `starts` are checked to be in the buffer.
        unsafe { target.add(self.starts[row]) }
    }
}

/// One row of a bitmask.
struct Row(Rows);

impl Row {
    fn new(object: &Bound<'_, PyAny>, row: i64, n_words: usize) -> Result<Row, Error> {
        Rows::new(object, &[row], n_words).map(Row)
    }

    fn write(&self, bitmask: &Bitmask) -> bool {
        self.0.write_words(0, &bitmask.words);
        bitmask.restricts
    }

    fn write_mask(&self, mask: &Mask) -> bool {
        self.0.write_mask(0, mask)
    }

    fn clear(&self) -> bool {
        self.0.clear(0)
    }
}

/// "1 row", "2 rows".
fn counted(n: usize, what: &str) -> String {
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}

fn bad_bitmask(what: &str) -> Error {
    Error::argument("bitmask", format!("bitmask {what}"))
}

/// Run the body of a method; a panic becomes `InternalError`, so PyO3's own panic exception, which is
/// no `Exception`, never reaches the caller.
fn guard<T>(body: impl FnOnce() -> PyResult<T>) -> PyResult<T> {
    catch_unwind(AssertUnwindSafe(body)).unwrap_or_else(|payload| Err(defect(payload.as_ref())))
}

fn defect(payload: &(dyn Any + Send)) -> PyErr {
    let text = payload.downcast_ref::<&str>().copied();
    let text = text.or_else(|| payload.downcast_ref::<String>().map(String::as_str));
    let why = text.unwrap_or("the native core gave no reason");
    raise("InternalError", "a defect in the native core", |fields| fields.set_item("why", why))
}

impl From<Error> for PyErr {
    fn from(error: Error) -> PyErr {
        match &error {
            Error::Vocabulary { what, place } => {
                raise("VocabularyError", what, |fields| fields.set_item("where", place))
            }
            Error::Limit { what, limit, value } => raise("LimitError", what, |fields| {
                fields.set_item("limit", limit)?;
                fields.set_item("value", value)
            }),
            Error::Grammar { what, why, code } => raise("GrammarError", what, |fields| {
                fields.set_item("why", why)?;
                fields.set_item("code", code)
            }),
            Error::Argument { what, argument } => raise("MaskwrightError", what, |fields| {
                fields.set_item("where", argument)?;
                fields.set_item("code", format!("argument.{argument}"))
            }),
        }
    }
}

/// Make an exception of `maskwright.errors`; failing that, what failed.
fn raise(class: &str, what: &str, fill: impl FnOnce(&Bound<'_, PyDict>) -> PyResult<()>) -> PyErr {
    Python::attach(|py| {
        let make = || {
            let fields = PyDict::new(py);
            fill(&fields)?;
            let class = py.import("maskwright.errors")?.getattr(class)?;
            Ok(PyErr::from_value(class.call((what,), Some(&fields))?))
        };
        make().unwrap_or_else(|failed: PyErr| failed)
    })
}
