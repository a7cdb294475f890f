//! What is left to find out of a mask once the texts that are being read are known?
//!
//! Masks within open keys and items are made for all texts at once. A token that ends such a text is allowed unless the text
//! was there before: those doubts are kept with the draft, and settled here.

use std::sync::OnceLock;

use super::closure::Moves;
use super::compose::Outcome;
use super::index::Index;
use super::left_open::KeyRead;
use super::mask::{Mask, MaskId};
use super::stack::ConfigId;
use super::vocabulary::Vocabulary;
use super::walk::{Doubt, TANGLED};
use super::work::Work;
use crate::error::Result;

/// A mask with the texts that are being read left open.
#[derive(Debug)]
pub struct Draft {
    /// Allowed whatever they are.
    pub sure: Mask,
    /// Allowed if none of the keys that would end are there already.
    pub full: Mask,
    /// The same as a mask of the cache, once it was wanted.
    pub full_id: OnceLock<MaskId>,
    /// Tokens that end one key, by where it begins.
    pub keys: Vec<KeyDoubts>,
    /// Tokens after which the text being read has few ends: allowed if none of those there begins as it does.
    pub unclosed: Vec<u32>,
    /// Tokens that have to be read exactly.
    pub others: Vec<u32>,
}

/// Tokens that are allowed unless the key that ends in them is there already.
#[derive(Debug)]
pub struct KeyDoubts {
    /// The bytes of the tokens up to the first byte of the key, with it; empty: the key is being read already.
    pub before: Box<[u8]>,
    /// Tokens, and how many of their bytes end the key.
    pub ends: Vec<(u32, u32)>,
}

impl Draft {
    /// Doubts become groups by where their key begins.
    pub fn new(sure: Mask, doubts: &[Doubt], vocabulary: &Vocabulary) -> Draft {
        let mut keys: Vec<KeyDoubts> = Vec::new();
        let (mut others, mut unclosed) = (Vec::new(), Vec::new());
        for doubt in doubts {
            if doubt.is_unclosed() {
                unclosed.push(doubt.id);
                continue;
            }
            if doubt.before == TANGLED {
                others.push(doubt.id);
                continue;
            }
            let before = &vocabulary.bytes(doubt.id)[..usize::from(doubt.before)];
            let end = (doubt.id, u32::from(doubt.end));
            // They come in the order of the trie: nearly always the group is the last one.
            match keys.iter_mut().rev().find(|group| *group.before == *before) {
                Some(group) => group.ends.push(end),
                None => keys.push(KeyDoubts { before: before.into(), ends: vec![end] }),
            }
        }
        let sole = keys.iter().flat_map(|group| group.ends.iter().map(|end| end.0));
        let full = sure.with(sole.chain(unclosed.iter().copied()).collect(), &vocabulary.all);
        Draft { sure, full, full_id: OnceLock::new(), keys, unclosed, others }
    }

    pub fn heap_bytes(&self) -> usize {
        let keys: usize = self.keys.iter().map(|group| group.ends.len() * 8 + 64).sum();
        keys + 4 * (self.unclosed.len() + self.others.len() + self.full.add.len() + self.sure.add.len())
    }
}

/// Makes the mask of a configuration out of its draft.
pub struct Resolver<'e, 'w> {
    pub index: &'e Index,
    pub moves: Moves<'e>,
    pub work: &'w mut Work,
}

impl Resolver<'_, '_> {
    pub fn resolve(mut self, draft: &Draft, id: ConfigId) -> Result<Outcome> {
        let mut unsure = draft.others.clone();
        for group in &draft.keys {
            let Some(at) = self.after(id, &group.before)? else { return Ok(Outcome::TooShallow) };
            match at.and_then(|at| self.moves.key_read(at)) {
                Some(key) => self.add_old_keys(&key, group, &mut unsure),
                None => unsure.extend(group.ends.iter().map(|end| end.0)),
            }
        }
        if !draft.unclosed.is_empty() && !self.moves.begins_anew(id) {
            unsure.extend_from_slice(&draft.unclosed);
        }
        if unsure.is_empty() {
            let cache = self.moves.cache;
            let known = draft.full_id.get_or_init(|| cache.masks.intern(draft.full.clone()));
            return Ok(Outcome::Known(*known));
        }
        unsure.sort_unstable();
        let doubts = draft.keys.iter().flat_map(|group| group.ends.iter().map(|end| end.0));
        let is_new = |token: &u32| unsure.binary_search(token).is_err();
        let mut ids: Vec<u32> = doubts.chain(draft.unclosed.iter().copied()).filter(is_new).collect();
        for token in unsure {
            match self.after(id, self.index.vocabulary.bytes(token))? {
                Some(Some(_)) => ids.push(token),
                Some(None) => {}
                None => return Ok(Outcome::TooShallow),
            }
        }
        Ok(Outcome::Mask(draft.sure.with(ids, &self.index.vocabulary.all)))
    }

    /// Add the tokens whose key is not new: they may still be allowed, in another reading.
    fn add_old_keys(&mut self, key: &KeyRead, group: &KeyDoubts, unsure: &mut Vec<u32>) {
        let old = self.moves.old_ends(key);
        // Nearly always no key that is there begins as this one does.
        if old.as_ref().is_some_and(Vec::is_empty) {
            return;
        }
        // PERF: one look tells most ends from all of them, which are some 20.
        let mut begun = [false; 256];
        let firsts = old.iter().flatten().filter_map(|end| end.first());
        firsts.for_each(|&byte| begun[byte as usize] = true);
        let mut name = Vec::new();
        for &(token, end) in &group.ends {
            let bytes = &self.index.vocabulary.bytes(token)[group.before.len()..end as usize];
            let is_new = match &old {
                Some(old) if !bytes.contains(&b'\\') => {
                    !bytes.first().is_some_and(|&byte| begun[byte as usize]) || !old.contains(&bytes)
                }
                _ => self.moves.is_new_key(key, bytes, &mut name),
            };
            if !is_new {
                unsure.push(token);
            }
        }
    }

    /// Where some bytes lead exactly: a configuration, or nowhere; `None` if a frame that was cut off is left.
    fn after(&mut self, id: ConfigId, bytes: &[u8]) -> Result<Option<Option<ConfigId>>> {
        let mut at = id;
        for &byte in bytes {
            match self.moves.step(self.moves.cache.configs.get(at), byte, self.work)? {
                Some(next) => at = next,
                None => return Ok(Some(None)),
            }
            if self.moves.cache.configs.get(at).cut {
                return Ok(None);
            }
        }
        Ok(Some(Some(at)))
    }
}
