//! What characters are in each token? Enough of it to tell in a moment which tokens a class of characters makes runs.

use std::sync::OnceLock;

use super::chars::{CharSet, n_chars};
use crate::mask::{n_words, set};

/// Tokens by their characters. Built once a vocabulary.
#[derive(Debug)]
pub struct TokenChars {
    /// The bytes below 128 of each token, as a set.
    ascii: Vec<u128>,
    /// As a bitmask: tokens of bytes below 128 alone.
    plain: Vec<u32>,
    /// Tokens of whole characters, some of them past ASCII.
    whole: Vec<u32>,
    /// The same with the blocks that their characters past ASCII are in, as a set; see `Blocks`.
    blocks: Vec<(u32, u64)>,
    /// Tokens with a byte that belongs to no whole character, ascending.
    broken: Vec<u32>,
    /// How many tokens begin with each byte.
    n_first: Box<[u32; 256]>,
    /// Tokens of more characters than a part has levels for, as (characters, id), ascending.
    long: Vec<(u32, u32)>,
    /// For each byte below 128, the tokens that have it, once they were asked for.
    having: Box<[OnceLock<Box<[u32]>>; 128]>,
}

impl TokenChars {
    /// `long_from`: tokens of more characters are listed.
    pub fn new<'v>(tokens: impl ExactSizeIterator<Item = &'v [u8]>, long_from: usize) -> TokenChars {
        let mut chars = TokenChars {
            ascii: Vec::with_capacity(tokens.len()),
            plain: vec![0; n_words(tokens.len() as u32)],
            whole: vec![0; n_words(tokens.len() as u32)],
            blocks: Vec::new(),
            broken: Vec::new(),
            n_first: Box::new([0; 256]),
            long: Vec::new(),
            having: Box::new([const { OnceLock::new() }; 128]),
        };
        for (id, token) in (0u32..).zip(tokens) {
            let n = n_chars(token);
            if n > long_from {
                chars.long.push((n as u32, id));
            }
            let ascii = token.iter().filter(|byte| byte.is_ascii());
            chars.ascii.push(ascii.fold(0, |set, &byte| set | 1 << byte));
            match std::str::from_utf8(token) {
                _ if token.is_empty() => {}
                Ok(_) if token.is_ascii() => set(&mut chars.plain, id),
                Ok(text) => {
                    set(&mut chars.whole, id);
                    let past = text.chars().filter(|char| !char.is_ascii());
                    chars.blocks.push((id, past.fold(0, |set, char| set | 1 << block(char.into()))));
                }
                Err(_) => chars.broken.push(id),
            }
            if let Some(&first) = token.first() {
                chars.n_first[first as usize] += 1;
            }
        }
        chars.long.sort_unstable();
        chars
    }

    /// The tokens of bytes below 128 alone that are in a set, and those with whole characters past ASCII too whose other bytes
    /// are: two words of a bitmask for each 32 tokens.
    pub fn made_of(&self, bytes: u128) -> impl Iterator<Item = (u32, u32)> {
        let others = !bytes;
        // PERF: no branch: which tokens are made of a class is anybody's guess.
        let word = move |sets: &[u128]| {
            let bits = (0u32..).zip(sets).map(|(bit, set)| u32::from(set & others == 0) << bit);
            bits.fold(0, |word, bit| word | bit)
        };
        let kinds = self.plain.iter().zip(&self.whole);
        self.ascii.chunks(32).map(word).zip(kinds).map(|(word, (plain, whole))| (word & plain, word & whole))
    }

    /// Tokens of whole characters, some of them past ASCII, and the blocks that those are in.
    pub fn blocks(&self) -> &[(u32, u64)] {
        &self.blocks
    }

    /// How many tokens begin with a byte.
    pub fn n_first(&self, byte: u8) -> usize {
        self.n_first[byte as usize] as usize
    }

    /// Tokens of so many characters that they are listed, as (characters, id), ascending.
    pub fn long(&self) -> &[(u32, u32)] {
        &self.long
    }

    /// Tokens with a byte that is not below 128.
    pub fn past_ascii(&self) -> impl Iterator<Item = u32> + '_ {
        self.broken.iter().copied().chain(self.blocks.iter().map(|token| token.0))
    }

    /// The tokens that have a byte below 128.
    pub fn having(&self, byte: u8) -> &[u32] {
        self.having[byte as usize].get_or_init(|| {
            let has = |set: &u128| set >> byte & 1 == 1;
            (0u32..).zip(&self.ascii).filter(|(_, set)| has(set)).map(|(id, _)| id).collect()
        })
    }

    pub fn heap_bytes(&self) -> usize {
        let having: usize =
            self.having.iter().filter_map(OnceLock::get).map(|list| size_of_val(&**list)).sum();
        let ids = self.plain.len() + self.whole.len() + self.broken.len() + 2 * self.long.len();
        let ids = ids + 4 * self.blocks.len();
        self.ascii.len() * size_of::<u128>() + ids * 4 + having + 2 * 1024 + 128 * 24
    }
}

/// What a class has of the characters past ASCII, by blocks of 128 that share 64 bits.
///
/// `.` leaves out two characters of them: without this all 28,000 tokens of Llama 3 with such characters are read to find out.
pub struct Blocks {
    /// All characters of these blocks.
    pub all: u64,
    /// Some of them.
    pub some: u64,
}

impl Blocks {
    pub fn new(class: &CharSet) -> Blocks {
        let mut blocks = Blocks { all: u64::MAX, some: 0 };
        let mut next = 0x80;
        for &(low, high) in class.iter().filter(|range| range.1 >= 0x80) {
            let low = low.max(0x80);
            blocks.all &= !spanned(next, low);
            blocks.some |= spanned(low, high + 1);
            next = high + 1;
        }
        blocks.all &= !spanned(next, 0x11_0000);
        blocks
    }
}

fn block(code: u32) -> u32 {
    (code >> 7) % 64
}

/// The bits of the characters from `start` up to `end`; surrogates are none.
fn spanned(start: u32, end: u32) -> u64 {
    if start >= end || (start >= 0xD800 && end <= 0xE000) {
        return 0;
    }
    let (first, last) = (start >> 7, (end - 1) >> 7);
    if last - first >= 63 { u64::MAX } else { (first..=last).fold(0, |set, at| set | 1 << (at % 64)) }
}
