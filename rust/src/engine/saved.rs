//! How is a vocabulary kept on disk? As the flat arrays that the engine holds anyway, after a checksum.
//!
//! A file is believed only in part: it must have the checksum and the key that is asked for, and then every number in
//! it that is used as an index is checked, so that a file made by somebody else's hand can give wrong masks but no crash.
//! Numbers are `u32`, little end first; an array is its length and its numbers.

use std::sync::Arc;

use super::chars::CharSet;
use super::part::{Part, SavedPart};
use super::rests::Rests;
use super::vocabulary::Vocabulary;
use crate::mask::n_words;
use crate::trie::Trie;

/// Raised whenever the layout, or what the numbers mean, changes.
const FORMAT: u32 = 4;
const MAGIC: &[u8; 16] = b"maskwright vocab";
/// Magic and checksum.
const HEAD: usize = 24;
/// No vocabulary of the size that `Trie::build` takes needs more; a larger file is not read at all.
pub const MAX_FILE_BYTES: u64 = 1 << 30;

/// The vocabulary and its parts as the content of a file.
pub fn write(vocabulary: &Vocabulary, key: &str) -> Vec<u8> {
    let mut out = Output { bytes: vec![0; HEAD] };
    out.number(FORMAT);
    out.bytes(key.as_bytes());
    out.array(&vocabulary.eos);
    out.array(vocabulary.special());
    out.array(vocabulary.offsets());
    out.bytes(vocabulary.blob());
    out.trie(&vocabulary.trie);
    let parts = vocabulary.parts();
    out.number(parts.len() as u32);
    for (class, part) in &parts {
        out.pairs(class);
        out.part(&part.saved());
    }
    let sum = checksum(&out.bytes[HEAD..]);
    out.bytes[..16].copy_from_slice(MAGIC);
    out.bytes[16..HEAD].copy_from_slice(&sum.to_le_bytes());
    out.bytes
}

/// The vocabulary of a file, if it is one of this engine's and has this key.
pub fn read(file: &[u8], key: &str) -> Option<Vocabulary> {
    let (head, body) = file.split_at_checked(HEAD)?;
    if head[..16] != *MAGIC || head[16..] != checksum(body).to_le_bytes() {
        return None;
    }
    let mut input = Input { rest: body };
    if input.number()? != FORMAT || input.bytes()? != key.as_bytes() {
        return None;
    }
    let eos = input.array()?;
    let special = input.array()?;
    let offsets: Vec<i64> = input.array()?.into_iter().map(i64::from).collect();
    let blob = input.bytes()?.to_vec();
    let trie = input.trie()?;
    let vocabulary = Vocabulary::with_trie(trie, blob, &offsets, eos).ok()?.with_special(special);
    if !has_token_lengths(&vocabulary) {
        return None;
    }
    for _ in 0..input.number()? {
        let class = input.pairs().filter(is_class)?;
        let part = input.part(&class, &vocabulary)?;
        vocabulary.add_part(class, part);
    }
    input.rest.is_empty().then_some(vocabulary)
}

/// Whether the trie has the length of each token where it says that the token ends.
fn has_token_lengths(vocabulary: &Vocabulary) -> bool {
    let trie = &vocabulary.trie;
    let length = |id: u32| vocabulary.bytes(id).len();
    trie.n_ids() == vocabulary.n_tokens()
        && (0..trie.n_nodes())
            .all(|node| trie.id(node) == trie.sink() || length(trie.id(node)) == trie.depth(node) + 1)
        && trie.twins().iter().all(|&(first, other)| length(first) == length(other))
}

/// A sum that every change of one word changes: each step is one-to-one in the word and in the sum so far.
///
/// PERF: four sums side by side, for a multiplication waits for the one before it: 8 MB take half a millisecond.
fn checksum(bytes: &[u8]) -> u64 {
    const FACTOR: u64 = 0x9E37_79B9_7F4A_7C15;
    let mut sums = [1u64, 2, 3, 4];
    let mut add = |block: &[u8]| {
        for (sum, word) in sums.iter_mut().zip(block.chunks_exact(8)) {
            let word = u64::from_le_bytes(word.try_into().expect("8 bytes"));
            *sum = (*sum ^ word).wrapping_mul(FACTOR).rotate_left(31);
        }
    };
    let blocks = bytes.chunks_exact(32);
    let mut last = [0; 32];
    last[..blocks.remainder().len()].copy_from_slice(blocks.remainder());
    blocks.for_each(&mut add);
    add(&last);
    sums.iter().fold(bytes.len() as u64, |all, sum| (all ^ sum).wrapping_mul(FACTOR).rotate_left(31))
}

struct Output {
    bytes: Vec<u8>,
}

impl Output {
    fn number(&mut self, number: u32) {
        self.bytes.extend_from_slice(&number.to_le_bytes());
    }

    fn array(&mut self, numbers: &[u32]) {
        self.number(numbers.len() as u32);
        self.bytes.reserve(numbers.len() * 4);
        numbers.iter().for_each(|&number| self.number(number));
    }

    fn pairs(&mut self, pairs: &[(u32, u32)]) {
        self.array(&pairs.iter().flat_map(|&(a, b)| [a, b]).collect::<Vec<u32>>());
    }

    fn bytes(&mut self, bytes: &[u8]) {
        self.number(bytes.len() as u32);
        self.bytes.extend_from_slice(bytes);
    }

    fn trie(&mut self, trie: &Trie) {
        self.number(trie.n_ids());
        self.array(trie.heads());
        self.array(trie.ids());
        self.pairs(trie.twins());
    }

    fn part(&mut self, part: &SavedPart) {
        self.number(part.levels.len() as u32);
        part.levels.iter().for_each(|level| self.array(level));
        self.array(part.all);
        self.pairs(part.long_runs);
        self.number(part.rests.len() as u32);
        for (group, rests) in &part.rests {
            self.number(u32::from(*group));
            self.trie(&rests.trie);
            self.pairs(&rests.tokens);
            self.array(&rests.token_starts);
        }
    }
}

/// What is left of a file. Each method gives `None` where the file is too short or says something impossible.
struct Input<'f> {
    rest: &'f [u8],
}

impl<'f> Input<'f> {
    fn take(&mut self, n: usize) -> Option<&'f [u8]> {
        let (taken, rest) = self.rest.split_at_checked(n)?;
        self.rest = rest;
        Some(taken)
    }

    fn number(&mut self) -> Option<u32> {
        self.take(4).map(|bytes| u32::from_le_bytes(bytes.try_into().expect("4 bytes")))
    }

    fn array(&mut self) -> Option<Vec<u32>> {
        let n = self.number()? as usize;
        let bytes = self.take(n.checked_mul(4)?)?;
        Some(
            bytes.chunks_exact(4).map(|word| u32::from_le_bytes(word.try_into().expect("4 bytes"))).collect(),
        )
    }

    fn pairs(&mut self) -> Option<Vec<(u32, u32)>> {
        let flat = self.array()?;
        flat.len().is_multiple_of(2).then(|| flat.chunks_exact(2).map(|pair| (pair[0], pair[1])).collect())
    }

    fn bytes(&mut self) -> Option<&'f [u8]> {
        let n = self.number()? as usize;
        self.take(n)
    }

    fn trie(&mut self) -> Option<Trie> {
        let n_ids = self.number()?;
        let (heads, ids, twins) = (self.array()?, self.array()?, self.pairs()?);
        Trie::from_nodes(n_ids, heads, ids, twins)
    }

    fn part(&mut self, class: &CharSet, vocabulary: &Vocabulary) -> Option<Part> {
        let n_levels = self.number()?;
        let levels = (0..n_levels).map(|_| self.level(vocabulary)).collect::<Option<Vec<_>>>()?;
        let all = self.level(vocabulary)?;
        let long_runs = self.tokens(vocabulary)?;
        let n_rests = self.number()?;
        let rests = (0..n_rests).map(|_| self.rests(vocabulary)).collect::<Option<Vec<_>>>()?;
        Part::restore(class, (all, levels), long_runs, rests)
    }

    fn rests(&mut self, vocabulary: &Vocabulary) -> Option<(u8, Rests)> {
        let group = u8::try_from(self.number()?).ok()?;
        let (trie, tokens, token_starts) = (self.trie()?, self.tokens(vocabulary)?, self.array()?);
        Some((group, Rests::restore(trie, tokens, token_starts, vocabulary)?))
    }

    /// A bitmask as wide as the vocabulary, zero past it.
    fn level(&mut self, vocabulary: &Vocabulary) -> Option<Arc<[u32]>> {
        let words = self.array()?;
        let n_tokens = vocabulary.n_tokens();
        let past =
            words.last().is_some_and(|&last| !n_tokens.is_multiple_of(32) && last >> (n_tokens % 32) != 0);
        (words.len() == n_words(n_tokens) && !past).then(|| words.into())
    }

    /// Pairs of (characters, token), where the token has so many bytes at least.
    fn tokens(&mut self, vocabulary: &Vocabulary) -> Option<Vec<(u32, u32)>> {
        let pairs = self.pairs()?;
        let fits = |&(chars, id): &(u32, u32)| {
            id < vocabulary.n_tokens() && chars as usize <= vocabulary.bytes(id).len()
        };
        pairs.iter().all(fits).then_some(pairs)
    }
}

/// A class that the engine could have asked for: ascending ranges that lie apart, without surrogates.
pub fn is_class(class: &CharSet) -> bool {
    let whole =
        |&(low, high): &(u32, u32)| low <= high && high <= 0x10_FFFF && !(low < 0xE000 && high > 0xD7FF);
    class.iter().all(whole) && class.windows(2).all(|pair| pair[0].1 < pair[1].0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::rests::HIGH;

    fn vocabulary() -> Vocabulary {
        let tokens: [&[u8]; 9] = [b"a", b"ab", b"", b"\"", b"a\",", b"ab", b"\xC3", b"\xA4b", b" "];
        let mut offsets = vec![0i64];
        tokens.iter().for_each(|token| offsets.push(offsets.last().unwrap() + token.len() as i64));
        let vocabulary = Vocabulary::new(tokens.concat(), &offsets, vec![2]).unwrap();
        vocabulary.part(&vec![(0, 0x21), (0x23, 0xD7FF), (0xE000, 0x10_FFFF)]);
        vocabulary.part(&vec![(0x61, 0x7A)]);
        vocabulary.parts().iter().for_each(|(_, part)| part.warm(&vocabulary));
        vocabulary
    }

    /// All that parts hold but their serials, which tell apart even equal ones.
    fn content(vocabulary: &Vocabulary) -> Vec<String> {
        let shown = |(class, part): &(CharSet, Arc<Part>)| format!("{class:?} {:?}", part.saved());
        vocabulary.parts().iter().map(shown).collect()
    }

    #[test]
    fn what_was_written_is_read() {
        let made = vocabulary();
        let file = write(&made, "key");
        let read = read(&file, "key").unwrap();
        assert_eq!((&read.trie, &read.eos, read.n_parts()), (&made.trie, &made.eos, 2));
        assert_eq!(write(&read, "key"), file);
        assert_eq!(content(&read), content(&made));
    }

    #[test]
    fn another_key_and_any_damaged_byte_are_refused() {
        let file = write(&vocabulary(), "key");
        assert!(read(&file, "kez").is_none());
        for at in 0..file.len() {
            assert!(read(&file[..at], "key").is_none(), "cut at {at}");
            let mut damaged = file.clone();
            damaged[at] ^= 1 << (at % 8);
            assert!(read(&damaged, "key").is_none(), "byte {at}");
        }
    }

    /// A forged file has a right checksum: whatever it says, reading and using it ends without a panic.
    #[test]
    fn forged_files_do_not_crash() {
        let file = write(&vocabulary(), "key");
        let mut used = 0;
        for at in (HEAD..file.len() - 3).step_by(4) {
            for value in [0, 1, 2, 9, 0x105, 0xFFFF_FFFFu32] {
                let mut forged = file.clone();
                forged[at..at + 4].copy_from_slice(&value.to_le_bytes());
                let sum = checksum(&forged[HEAD..]);
                forged[16..HEAD].copy_from_slice(&sum.to_le_bytes());
                if let Some(read) = read(&forged, "key") {
                    let class = vec![(0x61, 0x62)];
                    let part = read.part(&class).unwrap();
                    for part in read.parts().iter().map(|(_, part)| part).chain([&part]) {
                        let rests = [b'"', b',', HIGH].map(|group| part.rests(group, &read));
                        let tokens = |rests: &Rests| {
                            (0..rests.trie.n_ids()).map(|id| rests.tokens(id, 0, 9).len()).sum::<usize>()
                        };
                        used += rests.into_iter().map(tokens).sum::<usize>();
                        used += part.others(&read).map_or(0, |others| others.1.len());
                        used += (0..20).map(|longest| part.runs(longest, &read).1.len()).sum::<usize>();
                    }
                }
            }
        }
        assert!(used > 0, "no forged file was believed, so nothing was tried");
    }
}
