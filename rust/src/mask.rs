//! Which tokens may come next: the bitmask of a DFA state over the vocabulary.
//!
//! Bitmask layout: `u32` words, token i is bit i % 32 of word i / 32; bits past the vocabulary are zero.

use crate::error::{Error, Result};
use crate::trie::{Trie, Walker};

const DEAD: u32 = u32::MAX;
/// States are kept times 256 in `u32`.
pub const MAX_STATES: usize = (1 << 24) - 1;

/// The number of words in a bitmask over `n_tokens`.
pub fn n_words(n_tokens: u32) -> usize {
    n_tokens.div_ceil(32) as usize
}

/// A DFA over bytes as a full table.
#[derive(Debug, Clone)]
pub struct Table {
    /// At `state * 256 + byte`: the next state times 256, or `DEAD`.
    next: Vec<u32>,
    accept: Vec<bool>,
}

impl Table {
    /// From `trans[state * 256 + byte]`, where -1 is the dead state, and `accept[state]`.
    pub fn new(trans: &[i32], accept: Vec<bool>) -> Result<Table> {
        let n = accept.len();
        if n > MAX_STATES {
            let what = format!("a table of {n} states is too large");
            return Err(Error::Limit { what, limit: "states", value: MAX_STATES as u64 });
        }
        if trans.len() != n * 256 {
            let what = format!("trans must have 256 columns and a row for each of the {n} states of accept");
            return Err(Error::argument("trans", what));
        }
        let next = trans.iter().enumerate().map(|(at, &to)| next_row(at, to, n)).collect::<Result<_>>()?;
        Ok(Table { next, accept })
    }

    pub fn n_states(&self) -> u32 {
        self.accept.len() as u32
    }

    pub fn accepts(&self, state: u32) -> bool {
        self.accept[state as usize]
    }

    /// `state` as an index, if the table has it.
    pub fn check_state(&self, state: i64) -> Result<u32> {
        let known = u32::try_from(state).ok().filter(|&s| s < self.n_states());
        known.ok_or_else(|| {
            Error::argument("state", format!("state {state} is not in 0..{} of the DFA", self.n_states()))
        })
    }
}

fn next_row(at: usize, to: i32, n_states: usize) -> Result<u32> {
    match usize::try_from(to) {
        Ok(state) if state < n_states => Ok(to as u32 * 256),
        Err(_) if to == -1 => Ok(DEAD),
        _ => Err(Error::argument(
            "trans",
            format!("trans[{}, {}] is {to}, no state of the DFA", at / 256, at % 256),
        )),
    }
}

/// Sets the bit of each token that keeps the DFA alive.
struct Marker<'a> {
    next: &'a [u32],
    words: &'a mut [u32],
}

impl Walker for Marker<'_> {
    /// The state times 256: one shift less on the chain of loads from a node to its child.
    type State = u32;

    #[inline(always)]
    fn step(&mut self, state: u32, byte: u8) -> Option<u32> {
        let to = self.next[(state | u32::from(byte)) as usize];
        (to != DEAD).then_some(to)
    }

    #[inline(always)]
    fn reach(&mut self, id: u32, _state: u32) {
        self.words[(id / 32) as usize] |= 1 << (id % 32);
    }
}

/// The bitmask of `state`: tokens that keep the DFA alive, and each of `eos` if the state accepts.
///
/// An id in `eos` stands for the end of the text even where it has bytes in the trie.
pub fn bitmask(trie: &Trie, table: &Table, state: u32, eos: &[u32]) -> Vec<u32> {
    // One word more than the bitmask may need, for the bit of the sink.
    let mut words = vec![0; (trie.sink() / 32) as usize + 1];
    let mut marker = Marker { next: &table.next, words: &mut words };
    trie.walk(&mut marker, state * 256, &mut Vec::new());
    clear(&mut words, trie.sink());
    for &(first, twin) in trie.twins() {
        if contains(&words, first) {
            set(&mut words, twin);
        }
    }
    for &id in eos {
        if table.accepts(state) { set(&mut words, id) } else { clear(&mut words, id) }
    }
    words.truncate(n_words(trie.n_ids()));
    words
}

/// The ids in a bitmask, ascending.
pub fn set_bits(words: &[u32]) -> impl Iterator<Item = u32> + '_ {
    (0u32..).zip(words).flat_map(|(at, &word)| {
        let mut left = word;
        std::iter::from_fn(move || {
            let bit = (left != 0).then(|| left.trailing_zeros())?;
            left &= left - 1;
            Some(at * 32 + bit)
        })
    })
}

/// Whether the bit of token `id` is set.
pub fn contains(words: &[u32], id: u32) -> bool {
    words[(id / 32) as usize] >> (id % 32) & 1 == 1
}

/// Set the bit of token `id`.
pub fn set(words: &mut [u32], id: u32) {
    words[(id / 32) as usize] |= 1 << (id % 32);
}

/// Clear the bit of token `id`.
pub fn clear(words: &mut [u32], id: u32) {
    words[(id / 32) as usize] &= !(1 << (id % 32));
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The DFA of `(cat|car|dog)s?`, numbered breadth first.
    fn cats_and_dogs() -> Table {
        let mut trans = vec![-1; 7 * 256];
        for (from, byte, to) in [
            (0, b'c', 1),
            (0, b'd', 2),
            (1, b'a', 3),
            (2, b'o', 4),
            (3, b'r', 5),
            (3, b't', 5),
            (4, b'g', 5),
            (5, b's', 6),
        ] {
            trans[from * 256 + byte as usize] = to;
        }
        Table::new(&trans, vec![false, false, false, false, false, true, true]).unwrap()
    }

    fn allowed(words: &[u32]) -> Vec<u32> {
        (0..words.len() as u32 * 32).filter(|&id| contains(words, id)).collect()
    }

    #[test]
    fn the_worked_example() {
        let vocabulary: [&[u8]; 15] =
            [b"c", b"a", b"t", b"r", b"d", b"o", b"g", b"s", b"ca", b"cat", b"dog", b"ts", b"x", b"", b""];
        let trie = Trie::build(&vocabulary).unwrap();
        let table = cats_and_dogs();
        for (state, ids) in [(0, vec![0, 4, 8, 9, 10]), (3, vec![2, 3, 11]), (5, vec![7, 13]), (6, vec![13])]
        {
            assert_eq!(allowed(&bitmask(&trie, &table, state, &[13])), ids, "state {state}");
        }
    }

    #[test]
    fn the_sink_leaves_no_bit_at_any_size() {
        let table = cats_and_dogs();
        for n in 1..=100 {
            let mut vocabulary: Vec<&[u8]> = vec![b""; n];
            vocabulary[n - 1] = b"cats";
            let trie = Trie::build(&vocabulary).unwrap();
            let words = bitmask(&trie, &table, 0, &[]);
            assert_eq!((words.len(), allowed(&words)), (n.div_ceil(32), vec![n as u32 - 1]), "{n} tokens");
        }
        assert!(bitmask(&Trie::build(&[]).unwrap(), &table, 0, &[]).is_empty());
    }

    #[test]
    fn twins_share_a_verdict_and_eos_has_its_own() {
        let trie = Trie::build(&[b"ca", b"s", b"ca", b"ca", b"s"]).unwrap();
        let table = cats_and_dogs();
        assert_eq!(allowed(&bitmask(&trie, &table, 0, &[])), [0, 2, 3]);
        assert_eq!(allowed(&bitmask(&trie, &table, 0, &[0])), [2, 3]);
        assert_eq!(allowed(&bitmask(&trie, &table, 5, &[0, 4])), [0, 1, 4]);
        assert_eq!(allowed(&bitmask(&trie, &table, 6, &[1])), [1]);
    }

    #[test]
    fn tables_are_checked() {
        let mut trans = vec![-1; 512];
        assert!(Table::new(&trans, vec![true]).is_err());
        for to in [2, -2, i32::MAX, i32::MIN] {
            trans[300] = to;
            let error = Table::new(&trans, vec![true, false]).unwrap_err();
            assert_eq!(error.what(), format!("trans[1, 44] is {to}, no state of the DFA"));
        }
        let table = cats_and_dogs();
        assert_eq!(table.check_state(6), Ok(6));
        assert!(table.check_state(7).is_err() && table.check_state(-1).is_err());
    }
}
