//! How is the mask of a configuration made? From the parts of the vocabulary where they pay, else by walking the trie.
//!
//! A mask is the union of what each item allows. An item that loops on a large class of characters gets the
//! bitmask of the runs of that class, and walks the small trie of rests; all other items walk the vocabulary together.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::cache::Cache;
use super::closure::Moves;
use super::draft::{Draft, Resolver};
use super::index::Index;
use super::mask::{Mask, MaskId, patch};
use super::part::Part;
use super::stack::{ConfigId, DEAD, FIRST_ID, Item, UNKNOWN};
use super::walk::{ConfigWalker, Doubt, Found, Place};
use super::work::Work;
use crate::error::Result;
use crate::trie::Trie;

/// What a composition ends with.
pub enum Outcome {
    Mask(Mask),
    /// A mask of the cache.
    Known(MaskId),
    /// A frame that was cut off would have been left: more frames are needed to tell.
    TooShallow,
}

impl Outcome {
    /// The mask, kept in the cache.
    pub fn interned(self, cache: &Cache) -> Option<MaskId> {
        match self {
            Outcome::Mask(mask) => Some(cache.masks.intern(mask)),
            Outcome::Known(mask) => Some(mask),
            Outcome::TooShallow => None,
        }
    }

    /// The mask of a configuration, remembered with it; `None` if more frames are needed to tell.
    pub fn remembered(
        cache: &Cache,
        id: ConfigId,
        compose: impl FnOnce() -> Result<Outcome>,
    ) -> Result<Option<MaskId>> {
        let slot = &cache.configs.get(id).mask;
        match slot.load(Ordering::Acquire) {
            DEAD => Ok(None),
            UNKNOWN => {
                let mask = compose()?.interned(cache);
                slot.store(mask.map_or(DEAD, |mask| mask + FIRST_ID), Ordering::Release);
                Ok(mask)
            }
            known => Ok(Some(known - FIRST_ID)),
        }
    }
}

pub struct Composer<'e> {
    pub(super) index: &'e Index,
    /// Texts that rules record are left open here; what depends on them is `doubtful`.
    pub(super) moves: Moves<'e>,
    pub(super) work: &'e mut Work,
    /// The bitmask of runs that was taken first, and runs in it that do not count.
    pub(super) base: Option<(Arc<[u32]>, Vec<u32>)>,
    /// Runs of all items after the first.
    pub(super) more: Vec<Arc<[u32]>>,
    pub(super) ids: Vec<u32>,
    /// Tokens that are allowed unless they write a key or an item twice.
    pub(super) doubtful: Vec<Doubt>,
    pub(super) cut: bool,
    /// Only tokens that stay within the rule are wanted: what would leave it is passed over.
    pub(super) inside: bool,
}

impl<'e> Composer<'e> {
    pub fn new(index: &'e Index, moves: Moves<'e>, work: &'e mut Work) -> Self {
        let moves = Moves { opaque: index.program.has_memory(), ..moves };
        Composer {
            index,
            moves,
            work,
            base: None,
            more: Vec::new(),
            ids: Vec::new(),
            doubtful: Vec::new(),
            cut: false,
            inside: false,
        }
    }

    pub fn compose(self, id: ConfigId) -> Result<Outcome> {
        let config = self.moves.cache.configs.get(id);
        let apart = self.index.program.has_memory().then(|| self.apart(&config.items)).flatten();
        match apart {
            Some(configs) => self.compose_apart(&configs, config.complete),
            None => self.compose_together(id),
        }
    }

    pub(super) fn compose_together(mut self, id: ConfigId) -> Result<Outcome> {
        let config = self.moves.cache.configs.get(id);
        let mut items: Vec<Item> =
            config.items.iter().map(|item| self.moves.left_open(item, false)).collect();
        if !self.index.program.has_memory() {
            self.sketch(id, &items)?;
            return Ok(if self.cut { Outcome::TooShallow } else { Outcome::Mask(self.finish()) });
        }
        items.sort_unstable();
        let open = self.moves.whole(&items, config.complete);
        let draft = match self.moves.cache.draft(open) {
            Some(known) => known,
            None => {
                let mut work = self.work.fresh();
                let mut composer = Composer::new(self.index, self.moves, &mut work);
                composer.sketch(open, &items)?;
                let draft = composer.draft();
                self.moves.cache.set_draft(open, draft)
            }
        };
        let Some(draft) = &*draft else { return Ok(Outcome::TooShallow) };
        Resolver { index: self.index, moves: Moves { opaque: false, ..self.moves }, work: self.work }
            .resolve(draft, id)
    }

    /// Collect what the items allow, doubtful tokens apart.
    fn sketch(&mut self, id: ConfigId, items: &[Item]) -> Result<()> {
        let mut walked: Vec<Item> = Vec::new();
        for item in items {
            let state = &self.moves.program.states[item.state as usize];
            self.special_tokens(id, item)?;
            if !state.bytes.is_empty() && !self.by_part(item)? {
                walked.push(*item);
            }
            if self.cut {
                return Ok(());
            }
        }
        if !walked.is_empty() {
            walked.sort_unstable();
            self.walk_vocabulary(&walked)?;
        }
        if self.moves.cache.configs.get(id).complete {
            self.ids.extend_from_slice(&self.index.vocabulary.eos);
        }
        Ok(())
    }

    /// What was collected, as a mask and groups of doubts; `None` if it was cut off.
    fn draft(&mut self) -> Option<Draft> {
        if self.cut {
            return None;
        }
        let sure = self.finish();
        Some(Draft::new(sure, &self.doubtful, &self.index.vocabulary))
    }

    /// Special tokens that the item reads, where no guard forbids them.
    fn special_tokens(&mut self, id: ConfigId, item: &Item) -> Result<()> {
        for edge in self.moves.program.token_edges(item.state) {
            if let Some(next) = self.moves.token_step(id, edge.token, self.work)? {
                self.cut |= self.moves.cache.configs.get(next).cut;
                self.ids.push(edge.token);
            }
        }
        Ok(())
    }

    /// All ids found so far, as one bitmask.
    pub(super) fn dense(&self) -> Arc<[u32]> {
        let mut words = self.words();
        self.ids.iter().for_each(|&id| crate::mask::set(&mut words, id));
        words.into()
    }

    /// The bitmasks taken so far, as one.
    fn words(&self) -> Vec<u32> {
        let mut words = vec![0; self.index.vocabulary.n_words()];
        if let Some((base, remove)) = &self.base {
            words.copy_from_slice(base);
            remove.iter().for_each(|&id| crate::mask::clear(&mut words, id));
        }
        for more in &self.more {
            words.iter_mut().zip(more.iter()).for_each(|(word, more)| *word |= more);
        }
        words
    }

    pub(super) fn take_runs(&mut self, part: &Part, longest: u32) {
        let (runs, beyond) = part.runs(longest, &self.index.vocabulary);
        self.take_all(Some((runs.clone(), beyond.iter().map(|run| run.1).collect())), Vec::new());
    }

    /// Take bitmasks: one with tokens in it that do not count, and others.
    pub(super) fn take_all(&mut self, base: Option<(Arc<[u32]>, Vec<u32>)>, more: Vec<Arc<[u32]>>) {
        if self.base.is_none() {
            self.base = base;
        } else if let Some((words, remove)) = base {
            self.more.push(without(words, &remove));
        }
        self.more.extend(more);
    }

    pub(super) fn add_base(&mut self, words: Arc<[u32]>) {
        match self.base {
            None => self.base = Some((words, Vec::new())),
            Some(_) => self.more.push(words),
        }
    }

    /// Add tokens of the vocabulary, and those with the same bytes.
    pub(super) fn take(&mut self, found: Found) {
        let vocabulary = &self.index.vocabulary;
        if !vocabulary.trie.twins().is_empty() {
            self.ids.extend(found.sure.iter().flat_map(|&id| vocabulary.twins(id)));
            self.doubtful.extend(
                found
                    .doubtful
                    .iter()
                    .flat_map(|&doubt| vocabulary.twins(doubt.id).map(move |id| Doubt { id, ..doubt })),
            );
        }
        self.ids.extend(found.sure);
        self.doubtful.extend(found.doubtful);
    }

    /// Walk a trie from a configuration.
    pub(super) fn walk(&mut self, trie: &Trie, config: ConfigId) -> Result<Found> {
        let start = Place::start(self.moves.cache.configs.get(config));
        let mut walker = ConfigWalker::new(self.moves, self.work, trie.sink(), self.inside);
        trie.walk(&mut walker, start, &mut Vec::new());
        walker.finish(&mut self.cut)
    }

    fn finish(&mut self) -> Mask {
        let all = &self.index.vocabulary.all;
        let ids = std::mem::take(&mut self.ids);
        let removes = self.base.as_ref().is_some_and(|(_, remove)| !remove.is_empty());
        if removes && !self.more.is_empty() {
            return patch(Some(self.words().into()), Vec::new(), ids, all);
        }
        let (base, remove) = self.base.take().unzip();
        if self.more.is_empty() {
            return patch(base, remove.unwrap_or_default(), ids, all);
        }
        let bases = base.into_iter().chain(std::mem::take(&mut self.more)).collect();
        patch(Some(self.moves.cache.united(bases)), Vec::new(), ids, all)
    }
}

/// A bitmask without some tokens; the same one, if there are none.
pub(super) fn without(words: Arc<[u32]>, tokens: &[u32]) -> Arc<[u32]> {
    if tokens.is_empty() {
        return words;
    }
    let mut words = words.to_vec();
    tokens.iter().for_each(|&id| crate::mask::clear(&mut words, id));
    words.into()
}
