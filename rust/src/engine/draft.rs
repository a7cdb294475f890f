//! What is left to find out of a mask once the texts that are being read are known?
//!
//! Masks within open keys and items are made for all texts at once. A token that ends such a text is allowed unless the text
//! was there before: those doubts are kept with the draft, and settled here.

use super::closure::Moves;
use super::compose::Outcome;
use super::data::{KeyRead, NOTHING};
use super::index::Index;
use super::mask::Mask;
use super::stack::{Config, ConfigId};
use super::walk::Doubt;
use super::work::Work;
use crate::error::Result;

/// A mask with the texts that are being read left open.
#[derive(Debug)]
pub struct Draft {
    /// Allowed whatever they are.
    pub sure: Mask,
    /// Allowed if none of the keys that would end are there already.
    pub full: Mask,
    /// Tokens that end one key, by where it begins.
    pub keys: Vec<KeyDoubts>,
    /// Tokens that have to be read exactly.
    pub others: Vec<u32>,
}

/// Tokens that are allowed unless the key that ends in them is there already.
#[derive(Debug)]
pub struct KeyDoubts {
    /// The bytes of the tokens up to the first byte of the key, with it; empty: the key is being read already.
    pub before: Box<[u8]>,
    /// The rule of the object.
    pub rule: u32,
    /// Tokens, and how many of their bytes end the key.
    pub ends: Vec<(u32, u32)>,
}

impl Draft {
    /// Doubts become groups; `open` is where they are read from, with its texts left open.
    pub fn new(sure: Mask, doubts: Vec<Doubt>, index: &Index, moves: Moves, open: ConfigId) -> Result<Draft> {
        let mut keys: Vec<KeyDoubts> = Vec::new();
        let (mut sole, mut others) = (Vec::new(), Vec::new());
        for doubt in doubts {
            let bytes = index.vocabulary.bytes(doubt.id);
            let place = if doubt.once { key_place(moves, open, bytes, &mut index.work())? } else { None };
            let Some(KeyPlace { before, end, rule }) = place else {
                others.push(doubt.id);
                continue;
            };
            sole.push(doubt.id);
            let before = &bytes[..before];
            let end = (doubt.id, end as u32);
            // Tokens come in the order of the trie: nearly always the group is the last one.
            match keys.iter_mut().rev().find(|group| *group.before == *before && group.rule == rule) {
                Some(group) => group.ends.push(end),
                None => keys.push(KeyDoubts { before: before.into(), rule, ends: vec![end] }),
            }
        }
        let full = sure.with(sole, index.vocabulary.ordinary.as_ref());
        Ok(Draft { sure, full, keys, others })
    }

    pub fn heap_bytes(&self) -> usize {
        let keys: usize = self.keys.iter().map(|group| group.ends.len() * 8 + 64).sum();
        keys + 4 * (self.others.len() + self.full.add.len() + self.sure.add.len())
    }
}

/// Where a token ends a key that was left open.
struct KeyPlace {
    /// As many bytes reach its first byte, with it; 0: it is being read already.
    before: usize,
    /// As many bytes reach its last one.
    end: usize,
    rule: u32,
}

/// Where the one key ends that a token ends; `None` if there is more to it than one object's key.
fn key_place(moves: Moves, open: ConfigId, bytes: &[u8], work: &mut Work) -> Result<Option<KeyPlace>> {
    let mut at = moves.cache.configs.get(open);
    let mut reads = opened(moves, at);
    let mut before = 0;
    for (i, &byte) in bytes.iter().enumerate() {
        let Some(next) = moves.step(at, byte, work)? else { return Ok(None) };
        let next = moves.cache.configs.get(next);
        let reads_next = opened(moves, next);
        match (reads, reads_next) {
            (Opened::One(rule, _), Opened::None) if next.perhaps => {
                return Ok(Some(KeyPlace { before, end: i + 1, rule }));
            }
            (Opened::None, Opened::One(..)) if !next.perhaps => before = i + 1,
            (Opened::One(..), same) if same == reads && !next.perhaps => {}
            (Opened::None, Opened::None) if !next.perhaps => {}
            _ => return Ok(None),
        }
        (at, reads) = (next, reads_next);
    }
    Ok(None)
}

/// What a configuration reads that was left open: the rule and its data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Opened {
    None,
    One(u32, u32),
    More,
}

fn opened(moves: Moves, config: &Config) -> Opened {
    let mut found = Opened::None;
    for item in &config.items {
        if item.data != NOTHING && moves.data(item.data).opaque {
            let this = Opened::One(moves.program.states[item.state as usize].rule, item.data);
            if found != Opened::None && found != this {
                return Opened::More;
            }
            found = this;
        }
    }
    found
}

/// Makes the mask of a configuration out of its draft.
pub struct Resolver<'e, 'w> {
    pub index: &'e Index,
    pub moves: Moves<'e>,
    pub work: &'w mut Work,
}

impl Resolver<'_, '_> {
    pub fn resolve(mut self, draft: &Draft, id: ConfigId) -> Result<Outcome> {
        if draft.keys.is_empty() && draft.others.is_empty() {
            return Ok(Outcome::Mask(draft.sure.clone()));
        }
        let (mut ids, mut unsure) = (Vec::new(), draft.others.clone());
        for group in &draft.keys {
            let Some(at) = self.after(id, &group.before)? else { return Ok(Outcome::TooShallow) };
            match at.and_then(|at| self.moves.key_read(at, group.rule)) {
                Some(key) => self.sort_out(&key, group, &mut ids, &mut unsure),
                None => unsure.extend(group.ends.iter().map(|end| end.0)),
            }
        }
        if unsure.is_empty() {
            return Ok(Outcome::Mask(draft.full.clone()));
        }
        for token in unsure {
            match self.after(id, self.index.vocabulary.bytes(token))? {
                Some(Some(_)) => ids.push(token),
                Some(None) => {}
                None => return Ok(Outcome::TooShallow),
            }
        }
        Ok(Outcome::Mask(draft.sure.with(ids, self.index.vocabulary.ordinary.as_ref())))
    }

    /// Tokens whose key is new are allowed; the others may still be, in another reading.
    fn sort_out(&mut self, key: &KeyRead, group: &KeyDoubts, ids: &mut Vec<u32>, unsure: &mut Vec<u32>) {
        let mut name = Vec::new();
        for &(token, end) in &group.ends {
            let bytes = &self.index.vocabulary.bytes(token)[group.before.len()..end as usize];
            if self.moves.is_new_key(key, bytes, &mut name) { ids.push(token) } else { unsure.push(token) }
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
