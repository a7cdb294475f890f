//! What is left to find out of a mask once the texts that are being read are known?
//!
//! Masks within open keys and items are made for all texts at once. A token that ends such a text is allowed unless the text
//! was there before: those doubts are kept with the draft, and settled here.

use super::closure::Moves;
use super::compose::Outcome;
use super::index::Index;
use super::mask::Mask;
use super::stack::{ConfigId, Item};
use super::work::Work;
use crate::error::Result;

/// A mask with the texts that are being read left open.
#[derive(Debug)]
pub struct Draft {
    /// Allowed whatever they are.
    pub sure: Mask,
    /// Allowed if none of the keys that would end are there already.
    pub full: Mask,
    /// Tokens that end a key, by the bytes up to its closing quote.
    pub ends: Vec<(Box<[u8]>, Vec<u32>)>,
    /// Tokens that have to be read exactly.
    pub others: Vec<u32>,
}

impl Draft {
    pub fn heap_bytes(&self) -> usize {
        let ends: usize = self.ends.iter().map(|(end, ids)| end.len() + ids.len() * 4 + 40).sum();
        ends + 4 * (self.others.len() + self.full.add.len() + self.sure.add.len())
    }
}

/// Where the quote is that closes a JSON string, for bytes within one.
pub fn closing_quote(bytes: &[u8]) -> Option<usize> {
    let mut escaped = false;
    bytes.iter().position(|&byte| {
        let closes = byte == b'"' && !escaped;
        escaped = byte == b'\\' && !escaped;
        closes
    })
}

/// Makes the mask of a configuration out of its draft.
pub struct Resolver<'e, 'w> {
    pub index: &'e Index,
    pub moves: Moves<'e>,
    pub work: &'w mut Work,
}

impl Resolver<'_, '_> {
    pub fn resolve(mut self, draft: &Draft, id: ConfigId, items: &[Item]) -> Result<Outcome> {
        if draft.ends.is_empty() && draft.others.is_empty() {
            return Ok(Outcome::Mask(draft.sure.clone()));
        }
        let config = self.moves.cache.configs.get(id);
        let mut reading = config.items.iter().filter(|item| items.binary_search(item).is_err());
        let key = reading.next().filter(|_| reading.next().is_none()).and_then(|item| self.key(item));
        let mut ids = Vec::new();
        let mut refused = false;
        for (end, tokens) in &draft.ends {
            let fresh = key.is_some_and(|(item, text)| self.moves.is_new_key(item, &[text, end].concat()));
            if fresh {
                ids.extend_from_slice(tokens);
                continue;
            }
            for &token in tokens {
                match self.reads(id, token)? {
                    Some(true) => ids.push(token),
                    Some(false) => refused = true,
                    None => return Ok(Outcome::TooShallow),
                }
            }
        }
        for &token in &draft.others {
            match self.reads(id, token)? {
                Some(true) => ids.push(token),
                Some(false) => {}
                None => return Ok(Outcome::TooShallow),
            }
        }
        if !refused && draft.others.is_empty() {
            return Ok(Outcome::Mask(draft.full.clone()));
        }
        ids.sort_unstable();
        Ok(Outcome::Mask(draft.sure.with(ids, self.index.vocabulary.ordinary.as_ref())))
    }

    /// The item's key so far, if it is not within an escape.
    fn key<'i>(&self, item: &'i Item) -> Option<(&'i Item, &'i [u8])>
    where
        Self: 'i,
    {
        let text = self.moves.data(item.data).text?;
        let (&quote, body) = text.split_first()?;
        let plain = quote == b'"' && ends_plainly(body);
        plain.then_some((item, text))
    }

    /// Whether a token can be read exactly; `None` if a frame that was cut off is left.
    fn reads(&mut self, id: ConfigId, token: u32) -> Result<Option<bool>> {
        let mut at = id;
        for &byte in self.index.vocabulary.bytes(token) {
            match self.moves.step(self.moves.cache.configs.get(at), byte, self.work)? {
                Some(next) => at = next,
                None => return Ok(Some(false)),
            }
            if self.moves.cache.configs.get(at).cut {
                return Ok(None);
            }
        }
        Ok(Some(true))
    }
}

/// Whether a beginning of a JSON string's body ends between two characters, as far as escapes go.
fn ends_plainly(body: &[u8]) -> bool {
    let Some(last) = body.iter().rposition(|&byte| byte == b'\\') else { return true };
    let slashes = body[..=last].iter().rev().take_while(|&&byte| byte == b'\\').count();
    if slashes % 2 == 0 {
        return true;
    }
    match body.get(last + 1) {
        None => false,
        Some(b'u') => body.len() >= last + 6,
        Some(_) => true,
    }
}
