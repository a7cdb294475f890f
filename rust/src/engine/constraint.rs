//! One request's position in a format.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::arena::Interned;
use super::cache::{Cache, EMPTY};
use super::data::{DataId, DataKey, TextId};
use super::index::Index;
use super::mask::{Mask, MaskId};
use super::onward::Onward;
use super::stack::{BOTTOM, CUT, ConfigId, Content, FrameId, Item};
use super::work::Work;
use crate::error::Result;

/// The position after some tokens. Cheap to make and to copy: numbers, and a hold on the cache they point into.
#[derive(Clone)]
pub struct Constraint {
    index: Arc<Index>,
    cache: Arc<Cache>,
    start: ConfigId,
    /// The configuration after each token from `moved` on.
    history: Vec<ConfigId>,
    /// How many tokens had been taken when this cache came into use; `start` is the configuration after them.
    moved: usize,
    tokens: Vec<u32>,
    done: bool,
}

/// Whether a token was taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Advance {
    Taken,
    /// The mask does not have it.
    Refused,
    /// The text has ended already.
    AfterEnd,
}

impl Constraint {
    pub fn new(index: Arc<Index>) -> Result<Constraint> {
        let cache = index.cache();
        let start = index.moves(&cache).start(&mut index.work())?;
        Ok(Constraint { index, cache, start, history: Vec::new(), tokens: Vec::new(), done: false, moved: 0 })
    }

    pub fn index(&self) -> &Arc<Index> {
        &self.index
    }

    pub fn tokens(&self) -> &[u32] {
        &self.tokens
    }

    pub fn done(&self) -> bool {
        self.done
    }

    fn config(&self) -> ConfigId {
        self.history.last().copied().unwrap_or(self.start)
    }

    /// The cache and the configuration in it, as one number.
    pub fn state(&self) -> u64 {
        self.cache.serial << 32 | u64::from(self.config())
    }

    pub fn is_complete(&self) -> bool {
        self.done || self.cache.configs.get(self.config()).complete
    }

    /// The mask of this position, unless it takes more than `work`; `None` once the text has ended.
    pub fn mask(&self, work: &mut Work) -> Result<Option<MaskId>> {
        if self.done {
            return Ok(None);
        }
        self.index.mask(&self.cache, self.config(), work).map(Some)
    }

    /// A mask that `mask` has given.
    pub fn mask_at(&self, id: MaskId) -> &Mask {
        self.cache.masks.get(id)
    }

    /// What a token is, for a message.
    pub fn describe(&self, token: i64) -> String {
        let vocabulary = &self.index.vocabulary;
        match u32::try_from(token).ok().filter(|&id| id < vocabulary.n_tokens()) {
            None => format!("not in 0..{}", vocabulary.n_tokens()),
            Some(id) if vocabulary.is_eos(id) => "end of text".into(),
            Some(id) if vocabulary.bytes(id).is_empty() => "no text".into(),
            Some(id) => format!("\"{}\"", vocabulary.bytes(id).escape_ascii()),
        }
    }

    /// What may come here, for a message: the bytes that go on, in ranges, and the end.
    pub fn expected(&self) -> String {
        let mut onward = self.onward();
        let mut parts = byte_ranges(&onward.first_bytes(self.config()));
        let tokens = onward.special_tokens(self.config());
        parts.extend(tokens.iter().map(|token| format!("special token {token}")));
        if self.is_complete() {
            let lacks = if self.lacks_end() { ", for which the vocabulary has no token" } else { "" };
            parts.push(format!("the end of the text{lacks}"));
        }
        if parts.is_empty() {
            "no token of the vocabulary goes on here".into()
        } else {
            format!("expected {}", parts.join(", "))
        }
    }

    /// The text may end here, and no token says so.
    pub fn lacks_end(&self) -> bool {
        self.is_complete() && self.index.vocabulary.eos.is_empty()
    }

    fn onward(&self) -> Onward<'_> {
        let (moves, vocabulary) = (self.index.moves(&self.cache), &self.index.vocabulary);
        Onward { moves, vocabulary, work: self.index.work() }
    }

    /// Whether a mask is there without work.
    pub fn is_hit(&self) -> bool {
        self.done || self.cache.configs.get(self.config()).mask_slot() >= super::stack::FIRST_ID
    }

    pub fn allows(&self, token: i64) -> Result<bool> {
        let mut work = self.index.work();
        Ok(!self.done && self.after(self.config(), token, &mut work)?.is_some())
    }

    /// The configuration after a token, and whether the text ends with it.
    fn after(&self, from: ConfigId, token: i64, work: &mut Work) -> Result<Option<(ConfigId, bool)>> {
        let vocabulary = &self.index.vocabulary;
        let Some(id) = u32::try_from(token).ok().filter(|&id| id < vocabulary.n_tokens()) else {
            return Ok(None);
        };
        let moves = self.index.moves(&self.cache);
        let is_eos = vocabulary.is_eos(id);
        let bytes = vocabulary.bytes(id);
        if bytes.is_empty() {
            // A special token that the format names is a symbol of the text, EOS too.
            if let Some(next) = moves.token_step(from, id, work)? {
                return Ok(Some((next, is_eos && self.cache.configs.get(next).complete)));
            }
            let ends = is_eos && self.cache.configs.get(from).complete;
            return Ok(ends.then_some((from, true)));
        }
        let mut config = from;
        for &byte in bytes {
            match moves.step(self.cache.configs.get(config), byte, work)? {
                Some(next) => config = next,
                None => return Ok(None),
            }
        }
        Ok(Some((config, false)))
    }

    /// Take one token if the mask has it; otherwise nothing changes.
    pub fn advance(&mut self, token: i64) -> Result<Advance> {
        if self.done {
            return Ok(Advance::AfterEnd);
        }
        self.move_if_full();
        let mut work = self.index.work();
        let Some((config, done)) = self.after(self.config(), token, &mut work)? else {
            return Ok(Advance::Refused);
        };
        self.history.push(config);
        self.tokens.push(token as u32);
        self.done = done;
        Ok(Advance::Taken)
    }

    /// Take the longest allowed beginning, no further than an end, and say how long it is; after an error nothing is changed.
    pub fn try_advance(&mut self, tokens: &[i64]) -> Result<usize> {
        for (taken, &token) in tokens.iter().enumerate() {
            match self.advance(token) {
                Ok(Advance::Taken) => {}
                Ok(_) => return Ok(taken),
                Err(error) => {
                    self.rollback(taken)?;
                    return Err(error);
                }
            }
        }
        Ok(tokens.len())
    }

    /// How many of the tokens could be taken one after the other, stopping after the end of the text.
    pub fn count_allowed(&self, tokens: &[i64]) -> Result<usize> {
        let (mut config, mut done) = (self.config(), self.done);
        for (count, &token) in tokens.iter().enumerate() {
            match if done { None } else { self.after(config, token, &mut self.index.work())? } {
                Some((next, ends)) => (config, done) = (next, ends),
                None => return Ok(count),
            }
        }
        Ok(tokens.len())
    }

    /// Undo the last `n` tokens; false (and nothing changes) if there are fewer.
    pub fn rollback(&mut self, n: usize) -> Result<bool> {
        let Some(left) = self.tokens.len().checked_sub(n) else { return Ok(false) };
        if n == 0 {
            return Ok(true);
        }
        if left >= self.moved {
            self.history.truncate(left - self.moved);
        } else {
            (self.cache, self.start, self.history) = self.replay(left)?;
            self.moved = 0;
        }
        self.tokens.truncate(left);
        self.done = false;
        Ok(true)
    }

    /// Take the first tokens again, in the cache in use: what an older cache knew of them is gone with it.
    ///
    /// Keeping every cache that the history points into costs as much memory as never forgetting anything.
    fn replay(&self, left: usize) -> Result<(Arc<Cache>, ConfigId, Vec<ConfigId>)> {
        let mut again = Constraint::new(self.index.clone())?;
        for &token in &self.tokens[..left] {
            let mut work = self.index.work();
            let next = again.after(again.config(), i64::from(token), &mut work)?;
            again.history.push(next.expect("it was taken before").0);
        }
        Ok((again.cache, again.start, again.history))
    }

    pub fn reset(&mut self) -> Result<()> {
        *self = Constraint::new(self.index.clone())?;
        Ok(())
    }

    /// The bytes that must come next: as long as there is one way on and the text cannot end.
    pub fn forced_text(&self) -> Vec<u8> {
        if self.done { Vec::new() } else { self.onward().forced_text(self.config()) }
    }

    /// If the cache is full, go on in a new one; the history keeps what it points into.
    fn move_if_full(&mut self) {
        if !self.index.is_full(&self.cache) {
            return;
        }
        let cache = self.index.cache();
        if Arc::ptr_eq(&cache, &self.cache) {
            return;
        }
        let start =
            Mover { from: &self.cache, to: &cache, known: FxHashMap::default() }.config(self.config());
        self.cache = cache;
        self.start = start;
        self.moved = self.tokens.len();
        self.history.clear();
    }
}

/// Bytes as ranges, printable ones as characters.
fn byte_ranges(bytes: &[u8]) -> Vec<String> {
    let show = |byte: u8| format!("\"{}\"", byte.escape_ascii());
    let runs = bytes.chunk_by(|a, b| a + 1 == *b);
    runs.map(|run| match *run {
        [one] => show(one),
        [first, .., last] => format!("{} to {}", show(first), show(last)),
        [] => String::new(),
    })
    .collect()
}

/// Copies a configuration and the frames under it into another cache.
struct Mover<'c> {
    from: &'c Cache,
    to: &'c Cache,
    known: FxHashMap<FrameId, FrameId>,
}

impl Mover<'_> {
    fn config(mut self, id: ConfigId) -> ConfigId {
        let config = self.from.configs.get(id);
        let items = self.items(&config.items);
        self.to.configs.intern(Content {
            items: &items,
            end: config.complete,
            cut: config.cut,
            direct: config.direct,
            ..EMPTY
        })
    }

    fn items(&mut self, items: &[Item]) -> Vec<Item> {
        let mut moved: Vec<Item> = items
            .iter()
            .map(|item| Item { frame: self.frame(item.frame), data: self.data(item.data), ..*item })
            .collect();
        moved.sort_unstable();
        moved
    }

    fn data(&self, id: DataId) -> DataId {
        let data = self.from.datas.get(id).key();
        let mut seen: Vec<TextId> =
            data.seen.iter().map(|&text| self.to.texts.intern(self.from.texts.get(text).key())).collect();
        seen.sort_unstable();
        self.to.datas.intern(DataKey { seen: &seen, ..data })
    }

    /// Frames below first, without recursion: a stack may be 100,000 deep.
    fn frame(&mut self, id: FrameId) -> FrameId {
        self.known.extend([(BOTTOM, BOTTOM), (CUT, CUT)]);
        let mut open = vec![id];
        while let Some(&id) = open.last() {
            let frame = self.from.frames.get(id);
            let missing: Vec<FrameId> = frame
                .items
                .iter()
                .map(|item| item.frame)
                .filter(|below| !self.known.contains_key(below))
                .collect();
            if self.known.contains_key(&id) || missing.is_empty() {
                open.pop();
                if !self.known.contains_key(&id) {
                    let mut items: Vec<Item> = frame
                        .items
                        .iter()
                        .map(|item| Item {
                            frame: self.known[&item.frame],
                            data: self.data(item.data),
                            ..*item
                        })
                        .collect();
                    let moved = self.to.frame(&mut items, frame.end, frame.cut);
                    self.known.insert(id, moved);
                }
            } else {
                open.extend(missing);
            }
        }
        self.known[&id]
    }
}
