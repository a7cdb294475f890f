//! The vocabulary as the engine sees it: the trie, the bytes of each token, and the parts shared by all formats.

use std::sync::{Arc, Mutex, OnceLock};

use rustc_hash::FxHashMap;

use super::arena::lock;
use super::chars::CharSet;
use super::part::{LEVELS, Part};
use super::shared::Shared;
use super::token_chars::TokenChars;
use crate::compile::kept::Kept;
use crate::error::{Error, Result};
use crate::mask::{n_words, set};
use crate::trie::Trie;

/// Parts hold about as many bytes at most: past half of it those that were asked for before, and not since, are forgotten.
const MAX_PART_BYTES: usize = 48 << 20;

/// One token in so many begins with a byte that is a lead: half of Llama 3's begin with a blank, and a walk over them takes 3 ms.
const MIN_LED: usize = 8;

/// A token of more bytes is a long one: 1,300 of Llama 3's. Near the bound of a count they are walked apart; see `skeleton`.
pub const SHORT: usize = 16;

/// About what an entry of the table of parts takes.
const CLASS_BYTES: usize = 64;

#[derive(Debug)]
pub struct Vocabulary {
    pub trie: Trie,
    pub eos: Vec<u32>,
    /// All ids with bytes.
    pub ordinary: Arc<[u32]>,
    /// All tokens: the ids with bytes, those that end a text, and special ones. What a row without a constraint allows.
    pub tokens: Vec<u32>,
    /// All ids, with those that are no tokens.
    pub all: Vec<u32>,
    n_tokens: u32,
    /// Ascending: the ids without bytes that a format may name; neither padding nor empty tokens.
    special: Vec<u32>,
    used: Box<[bool; 256]>,
    blob: Vec<u8>,
    offsets: Vec<u32>,
    chars: OnceLock<TokenChars>,
    /// Of tokens of more than `SHORT` bytes, once they were asked for.
    long_tokens: OnceLock<Trie>,
    parts: Mutex<Parts>,
    /// What formats found out about rules that others have too.
    pub shared: Shared,
    /// What compiles for this vocabulary leave for later ones.
    pub compiled: Kept,
}

#[derive(Debug, Default)]
struct Parts {
    /// None: the class leaves too many rests.
    by_key: ByKey,
    /// What was asked for before the last turn and not since.
    old: ByKey,
}

/// The lead of a part, if it has one, and its class.
type PartKey = (Option<u8>, CharSet);
type ByKey = FxHashMap<PartKey, Option<Arc<Part>>>;

impl Parts {
    fn find(&mut self, key: &PartKey) -> Option<Option<Arc<Part>>> {
        if let Some(known) = self.by_key.get(key) {
            return Some(known.clone());
        }
        let known = self.old.remove(key)?;
        self.add(key.clone(), known.clone());
        Some(known)
    }

    fn add(&mut self, key: PartKey, part: Option<Arc<Part>>) {
        // Parts grow with what is asked of them.
        if bytes(&self.by_key) > MAX_PART_BYTES / 2 {
            self.old = std::mem::take(&mut self.by_key);
        }
        self.by_key.insert(key, part);
    }

    fn all(&self) -> impl Iterator<Item = (&PartKey, &Option<Arc<Part>>)> {
        self.by_key.iter().chain(&self.old)
    }

    fn heap_bytes(&self) -> usize {
        bytes(&self.by_key) + bytes(&self.old)
    }
}

fn bytes(parts: &ByKey) -> usize {
    let of = |part: &Option<Arc<Part>>| part.as_ref().map_or(0, |part| part.heap_bytes());
    parts.iter().map(|((_, class), part)| of(part) + class.len() * 8 + CLASS_BYTES).sum()
}

impl Vocabulary {
    /// Token i has the bytes `blob[offsets[i]..offsets[i + 1]]`, none if it is special, padding or EOS.
    pub fn new(blob: Vec<u8>, offsets: &[i64], eos: Vec<u32>) -> Result<Vocabulary> {
        let trie = Trie::build(&crate::trie::split_blob(&blob, offsets)?)?;
        Vocabulary::with_trie(trie, blob, offsets, eos)
    }

    /// The same, where the trie of the tokens is known.
    pub fn with_trie(trie: Trie, blob: Vec<u8>, offsets: &[i64], mut eos: Vec<u32>) -> Result<Vocabulary> {
        let strings = crate::trie::split_blob(&blob, offsets)?;
        let n_tokens = strings.len() as u32;
        if let Some(&id) = eos.iter().find(|&&id| id >= n_tokens) {
            return Err(Error::vocabulary(
                format!("EOS id {id} is not in the vocabulary"),
                format!("id {id}"),
            ));
        }
        let mut ordinary = vec![0; n_words(n_tokens)];
        (0u32..)
            .zip(&strings)
            .filter(|(_, bytes)| !bytes.is_empty())
            .for_each(|(id, _)| set(&mut ordinary, id));
        eos.sort_unstable();
        eos.dedup();
        let mut used = Box::new([false; 256]);
        blob.iter().for_each(|&byte| used[byte as usize] = true);
        let mut all = vec![0; n_words(n_tokens)];
        (0..n_tokens).for_each(|id| set(&mut all, id));
        let special =
            (0u32..).zip(&strings).filter(|(_, bytes)| bytes.is_empty()).map(|(id, _)| id).collect();
        // `Trie::build` has checked that the blob is shorter than 2^31 bytes.
        let offsets = offsets.iter().map(|&at| at as u32).collect();
        let vocabulary = Vocabulary {
            trie,
            eos,
            ordinary: ordinary.into(),
            tokens: Vec::new(),
            all,
            n_tokens,
            special: Vec::new(),
            used,
            blob,
            offsets,
            chars: OnceLock::new(),
            long_tokens: OnceLock::new(),
            parts: Mutex::default(),
            shared: Shared::default(),
            compiled: Kept::default(),
        };
        Ok(vocabulary.with_special(special))
    }

    /// The same, where a format may name only these of the ids without bytes.
    pub fn with_special(mut self, mut special: Vec<u32>) -> Vocabulary {
        special.sort_unstable();
        special.dedup();
        special.retain(|&id| id < self.n_tokens && self.bytes(id).is_empty());
        self.tokens = self.ordinary.to_vec();
        self.eos.iter().chain(&special).for_each(|&id| set(&mut self.tokens, id));
        self.special = special;
        self
    }

    pub fn special(&self) -> &[u32] {
        &self.special
    }

    pub fn n_tokens(&self) -> u32 {
        self.n_tokens
    }

    pub fn n_words(&self) -> usize {
        n_words(self.n_tokens)
    }

    /// The bytes of a token in range; empty if it has none.
    pub fn bytes(&self, id: u32) -> &[u8] {
        &self.blob[self.offsets[id as usize] as usize..self.offsets[id as usize + 1] as usize]
    }

    pub fn is_eos(&self, id: u32) -> bool {
        self.eos.binary_search(&id).is_ok()
    }

    /// Whether a format may name the id.
    pub fn is_special(&self, id: u32) -> bool {
        self.special.binary_search(&id).is_ok()
    }

    /// Bytes that some token has.
    pub fn used_bytes(&self) -> &[bool; 256] {
        &self.used
    }

    /// The other tokens with the bytes of `id`, where `id` is the lowest of them.
    pub fn twins(&self, id: u32) -> impl Iterator<Item = u32> + '_ {
        let twins = self.trie.twins();
        let start = twins.partition_point(|pair| pair.0 < id);
        twins[start..].iter().take_while(move |pair| pair.0 == id).map(|pair| pair.1)
    }

    /// What characters are in each token; found out when the first part is made.
    pub fn chars(&self) -> &TokenChars {
        self.chars.get_or_init(|| TokenChars::new((0..self.n_tokens).map(|id| self.bytes(id)), LEVELS))
    }

    /// The part of a class of characters, built the first time it is asked for; `None` when it would not be worth it.
    pub fn part(&self, class: &CharSet) -> Option<Arc<Part>> {
        self.part_after(None, class)
    }

    /// The part of a class of characters in what comes after a lead.
    pub fn part_after(&self, lead: Option<u8>, class: &CharSet) -> Option<Arc<Part>> {
        let key = (lead, class.clone());
        if let Some(known) = lock(&self.parts).find(&key) {
            return known;
        }
        // Without the lock: a part takes a millisecond, in which other threads make theirs.
        let part = Part::new(lead, class, self).map(Arc::new);
        let mut parts = lock(&self.parts);
        parts.find(&key).unwrap_or_else(|| {
            parts.add(key, part.clone());
            part
        })
    }

    /// The byte below 128 that so many tokens begin with that they have parts of their own: a blank, if any.
    pub fn lead(&self) -> Option<u8> {
        let most = (0..128).max_by_key(|&byte| self.chars().n_first(byte))?;
        (self.chars().n_first(most) > self.n_tokens as usize / MIN_LED).then_some(most)
    }

    /// The trie of the tokens of more bytes than `SHORT`.
    pub fn long_tokens(&self) -> &Trie {
        self.long_tokens.get_or_init(|| {
            let long = |id| if self.bytes(id).len() > SHORT { self.bytes(id) } else { &[] };
            let strings: Vec<&[u8]> = (0..self.n_tokens).map(long).collect();
            Trie::build(&strings).expect("they are tokens of the vocabulary")
        })
    }

    /// Heap bytes held: the trie, the tokens, the parts built so far, and what compiles left.
    pub fn heap_bytes(&self) -> usize {
        self.trie.heap_bytes()
            + self.blob.len()
            + self.offsets.len() * 4
            + (3 * self.all.len() + self.special.len()) * 4
            + self.long_tokens.get().map_or(0, Trie::heap_bytes)
            + self.chars.get().map_or(0, TokenChars::heap_bytes)
            + lock(&self.parts).heap_bytes()
            + self.shared.heap_bytes()
            + self.compiled.heap_bytes()
    }

    /// All parts without a lead and their classes, in the order of the classes.
    pub fn parts(&self) -> Vec<(CharSet, Arc<Part>)> {
        let parts = lock(&self.parts);
        let plain = parts.all().filter(|((lead, _), _)| lead.is_none());
        let mut all: Vec<_> =
            plain.filter_map(|((_, class), part)| Some((class.clone(), part.clone()?))).collect();
        all.sort_unstable_by(|a, b| a.0.cmp(&b.0));
        all
    }

    /// Keep a part that was made earlier.
    pub fn add_part(&self, class: CharSet, part: Part) {
        lock(&self.parts).add((None, class), Some(Arc::new(part)));
    }

    pub fn blob(&self) -> &[u8] {
        &self.blob
    }

    pub fn offsets(&self) -> &[u32] {
        &self.offsets
    }

    /// How many parts there are, those after a lead with them.
    pub fn n_parts(&self) -> usize {
        lock(&self.parts).all().filter(|(_, part)| part.is_some()).count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_asked_for_any_more_is_forgotten() {
        // Each takes a tenth of the room.
        let class = |low: u32| (None, vec![(low, low); MAX_PART_BYTES / 80]);
        let mut parts = Parts::default();
        let add = |parts: &mut Parts, lows: std::ops::Range<u32>| {
            lows.for_each(|low| parts.add(class(low), None));
        };
        add(&mut parts, 0..5);
        assert_eq!(parts.old.len(), 0);
        add(&mut parts, 5..6);
        assert_eq!((parts.old.len(), parts.by_key.len()), (5, 1));
        assert!(parts.find(&class(3)).is_some());
        add(&mut parts, 6..10);
        assert!(parts.find(&class(2)).is_none() && parts.find(&class(3)).is_some());
        assert!(parts.heap_bytes() < MAX_PART_BYTES + MAX_PART_BYTES / 2);
    }

    fn vocabulary(tokens: &[&[u8]]) -> Vocabulary {
        let mut offsets = vec![0i64];
        tokens.iter().for_each(|token| offsets.push(offsets.last().unwrap() + token.len() as i64));
        Vocabulary::new(tokens.concat(), &offsets, Vec::new()).unwrap()
    }

    #[test]
    fn a_lead_is_what_many_tokens_begin_with() {
        let few: Vec<Vec<u8>> = (0..24).map(|at| vec![b'a' + at]).collect();
        let with = |n: usize| -> Vec<&[u8]> {
            let blanks: [&[u8]; 4] = [b" ", b" a", b" b", b" c"];
            few.iter().map(Vec::as_slice).chain(blanks[..n].iter().copied()).collect()
        };
        assert_eq!(vocabulary(&with(3)).lead(), None);
        assert_eq!(vocabulary(&with(4)).lead(), Some(b' '));
    }

    #[test]
    fn long_tokens_have_their_ids_in_a_trie_of_their_own() {
        let long = [b'x'; SHORT + 1];
        let vocabulary = vocabulary(&[b"x", &long[..SHORT], &long]);
        let trie = vocabulary.long_tokens();
        let ids: Vec<u32> =
            (0..trie.n_nodes()).map(|node| trie.id(node)).filter(|&id| id != trie.sink()).collect();
        assert_eq!((ids, trie.sink()), (vec![2], vocabulary.trie.sink()));
    }

    #[test]
    fn a_part_after_a_lead_tells_of_what_comes_after_it() {
        let tokens: [&[u8]; 9] =
            [b" ab", b"ab", b" ", b"  a", b" a!", b" a b", b" \xC3\xA9", b" abcdefghijklmnopqrst", b" !"];
        let vocabulary = vocabulary(&tokens);
        let part = vocabulary.part_after(Some(b' '), &vec![(0x61, 0x7A), (0xE9, 0xE9)]).unwrap();
        let runs = |longest: u32| -> Vec<u32> {
            let (words, beyond) = part.runs(longest, &vocabulary);
            let is_beyond = |id: u32| beyond.iter().any(|run| run.1 == id);
            crate::mask::set_bits(words).filter(|&id| !is_beyond(id)).collect()
        };
        // Characters are counted after the lead, and a blank that is not in the class ends a run.
        assert_eq!(runs(0), [2]);
        assert_eq!(runs(1), [2, 6]);
        assert_eq!(runs(19), [0, 2, 6]);
        assert_eq!(runs(20), [0, 2, 6, 7]);
        let on = |byte: u8| part.rests(crate::engine::rests::group(byte), &vocabulary);
        assert_eq!(on(b'!').tokens(0, 0, 9), [(0, 8), (1, 4)]);
        let blanks: Vec<_> = (0..2).flat_map(|rest| on(b' ').tokens(rest, 0, 9)).copied().collect();
        assert_eq!(blanks, [(0, 3), (1, 5)]);
        // Without a lead it is another part, and only such are kept on disk.
        assert!(vocabulary.part(&vec![(0x61, 0x7A), (0xE9, 0xE9)]).is_some_and(|plain| plain.lead.is_none()));
        assert_eq!((vocabulary.n_parts(), vocabulary.parts().len()), (2, 1));
    }
}
