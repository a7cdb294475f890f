//! What do some items allow whatever their frames are, and how is a mask made on top of that?
//!
//! What an item allows without leaving its frame is the same over every stack: its skeleton, walked once. Only where the
//! frame is left, or more has to be known, is the trie walked again for each stack.

use std::sync::Arc;

use super::closure::Moves;
use super::compose::Composer;
use super::cuts::{CutNode, Ends, Leaves, walk_to_cuts};
use super::data::NOTHING;
use super::left_open::Declared;
use super::part::Part;
use super::rests::Rests;
use super::shared::{Held, SharedKey};
use super::stack::{CUT, ConfigId, FrameId, Item};
use super::walk::{ConfigWalker, Doubt, Found, Place};
use crate::error::Result;
use crate::program::Origin;
use crate::trie::{Trie, Walker};

/// Which strings a skeleton tells of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Over {
    Vocabulary,
    /// The tokens of the vocabulary that stay within the rule.
    Inside,
    /// The tokens that begin with no character of the class of the part with this serial, nor with this lead.
    Outer(u64, Option<u8>),
    /// The rests of the part with this serial, and of this group.
    Rests(u64, u8),
}

/// What some items allow whatever their frames are, and where that depends on a frame.
#[derive(Debug)]
pub struct Skeleton {
    /// The ids as a bitmask, where they are many; else as a list.
    pub base: Option<Arc<[u32]>>,
    pub ids: Box<[u32]>,
    pub doubtful: Box<[Doubt]>,
    /// Nodes of the trie where more must be known.
    pub cuts: Vec<CutNode>,
    /// Where the frame of the only item is left: what follows it may follow.
    pub leaves: Leaves,
}

impl Skeleton {
    /// Many ids, as a bitmask, and nothing else.
    pub fn of_words(words: Arc<[u32]>) -> Skeleton {
        let (ids, doubtful, cuts, leaves) = Default::default();
        Skeleton { base: Some(words), ids, doubtful, cuts, leaves }
    }

    fn of_walk(found: Found, Ends { cuts, leaves }: Ends, trie: &Trie) -> Skeleton {
        let leaves = Leaves::new(leaves, trie);
        Skeleton { base: None, ids: found.sure.into(), doubtful: found.doubtful.into(), cuts, leaves }
    }

    pub fn heap_bytes(&self) -> usize {
        let words = self.base.as_ref().map_or(0, |words| words.len());
        let cuts: usize = self.cuts.iter().map(|cut| size_of::<CutNode>() + cut.path.len()).sum();
        4 * (words + self.ids.len()) + size_of_val(&*self.doubtful) + cuts + self.leaves.heap_bytes()
    }
}

impl<'e> Composer<'e> {
    /// Walk the vocabulary with some items. One by one where they are few: the start of a string or a number is the same
    /// item wherever a value may stand, so its skeleton is there already.
    pub(super) fn walk_vocabulary(&mut self, items: &[Item]) -> Result<()> {
        if items.len() > MAX_SINGLE {
            return self.walk_together(items);
        }
        for item in items {
            match (self.moves.keys_apart(item), self.moves.declared(item)) {
                (Some(open), Some(declared)) => self.walk_apart(item, &open, &declared)?,
                (None, Some(declared)) if declared.alone => self.walk_declared(item, &declared)?,
                _ => self.walk_together(std::slice::from_ref(item))?,
            }
        }
        Ok(())
    }

    /// Walk the open keys that may come next, and all else.
    fn walk_apart(&mut self, item: &Item, open: &Item, declared: &Declared<'e>) -> Result<()> {
        let config = self.moves.part(std::slice::from_ref(item));
        let open = self.skeleton(std::slice::from_ref(open), Over::Vocabulary)?;
        self.take_skeleton(&open, config)?;
        self.walk_declared(item, declared)
    }

    /// Walk the declared keys that may come next. Not remembered: it takes a microsecond once its configurations are there.
    fn walk_declared(&mut self, item: &Item, declared: &Declared<'e>) -> Result<()> {
        let trie = &self.index.vocabulary.trie;
        let start = Item { frame: CUT, ..declared.start };
        let start = self.moves.cache.configs.get(self.moves.part(std::slice::from_ref(&start)));
        let moves = Moves { passed: declared.passed, ..self.moves };
        let mut walker = ConfigWalker::new(moves, self.work, trie.sink(), true).passing_by(*declared);
        let ends = walk_to_cuts(trie, 0..=u8::MAX, &mut walker, Place::start(start));
        let found = walker.finish(&mut false)?;
        self.take(found);
        if !ends.cuts.is_empty() {
            let config = self.moves.part(std::slice::from_ref(item));
            let found = self.walk_cuts(trie, &ends.cuts, config)?;
            self.take(found);
        }
        Ok(())
    }

    /// What stays above the items' frames is known from their skeleton, the rest is walked.
    fn walk_together(&mut self, items: &[Item]) -> Result<()> {
        let skeleton = self.skeleton(items, Over::Vocabulary)?;
        let config = self.moves.part(items);
        self.take_skeleton(&skeleton, config)
    }

    /// Add the tokens that begin with no character of the class; `based`: those that stay within the rule are there already.
    pub(super) fn outer(&mut self, config: ConfigId, part: &Part, based: bool) -> Result<()> {
        let trie = &self.index.vocabulary.trie;
        let lead = self.index.vocabulary.lead().filter(|&lead| !part.begins(lead, lead));
        let led = match lead {
            Some(lead) if self.by_led_part(config, lead, based)? => Some(lead),
            _ => None,
        };
        if self.cut {
            return Ok(());
        }
        let shallow = self.shallow(&self.moves.cache.configs.get(config).items);
        let skeleton = self.known_skeleton(shallow, Over::Outer(part.serial, led), |composer| {
            let bytes = part.outer_bytes().filter(|byte| Some(*byte) != led);
            let (found, ends) = composer.walk_to_cuts(trie, bytes, shallow)?;
            Ok(Skeleton::of_walk(found, ends, trie))
        })?;
        self.take(Found { sure: skeleton.ids.to_vec(), doubtful: skeleton.doubtful.to_vec() });
        let found = self.walk_ends(trie, &skeleton, config)?;
        self.take(found);
        Ok(())
    }

    /// What a configuration allows of some rests; its ids are those of the rests.
    pub(super) fn rest_skeleton(
        &mut self,
        config: ConfigId,
        rests: &Rests,
        over: Over,
    ) -> Result<Arc<Skeleton>> {
        let items = &self.moves.cache.configs.get(config).items;
        let shallow = self.shallow(items);
        self.known_skeleton(shallow, over, |composer| {
            let (found, ends) = composer.walk_to_cuts(&rests.trie, 0..=u8::MAX, shallow)?;
            Ok(Skeleton::of_walk(found, ends, &rests.trie))
        })
    }

    /// What the items allow whatever their frames are: walked once for all stacks.
    fn skeleton(&mut self, items: &[Item], over: Over) -> Result<Arc<Skeleton>> {
        let config = self.shallow(items);
        self.known_skeleton(config, over, |composer| {
            let trie = &composer.index.vocabulary.trie;
            let (found, ends) = composer.walk_to_cuts(trie, 0..=u8::MAX, config)?;
            let mut inner = Composer::new(composer.index, composer.moves, composer.work);
            inner.take(found);
            let base = (inner.ids.len() > MAX_LISTED).then(|| inner.dense());
            let ids = if base.is_some() { Box::default() } else { inner.ids.into() };
            let (doubtful, cuts) = (inner.doubtful.into(), ends.cuts);
            let leaves = Leaves::new(ends.leaves, trie);
            Ok(Skeleton { base, ids, doubtful, cuts, leaves })
        })
    }

    /// The skeleton of a configuration without frames: known here, or to the vocabulary, or made now.
    pub(super) fn known_skeleton(
        &mut self,
        config: ConfigId,
        over: Over,
        make: impl FnOnce(&mut Self) -> Result<Skeleton>,
    ) -> Result<Arc<Skeleton>> {
        if let Some(known) = self.moves.cache.skeleton(config, over) {
            return Ok(known);
        }
        let key = self.shared_key(config, over);
        let found = key.as_ref().map_or(Err(false), |key| self.index.vocabulary.shared.find(key));
        let skeleton = match found {
            Ok(known) => known,
            Err(worth) => {
                let made = Arc::new(make(self)?);
                if let (Some(key), true) = (key, worth) {
                    self.index.vocabulary.shared.keep(key, made.clone());
                }
                made
            }
        };
        Ok(self.moves.cache.set_skeleton(config, over, skeleton))
    }

    /// What a skeleton is called in all formats that have the rule; none if it hangs on what was written.
    fn shared_key(&self, config: ConfigId, over: Over) -> Option<SharedKey> {
        let [item] = &self.moves.cache.configs.get(config).items[..] else { return None };
        let held = self.moves.held(item).filter(|_| self.moves.passed == NOTHING)?;
        if held == Held::InKey {
            let origin = Origin { group: self.index.open_place(item.state)?, rule: 0 };
            return Some(SharedKey { origin, state: 0, count: item.count, held, over });
        }
        let rule = self.moves.program.states[item.state as usize].rule as usize;
        let state = item.state - self.index.first_states[rule];
        Some(SharedKey { origin: self.moves.program.origins[rule], state, count: item.count, held, over })
    }

    /// The configuration of some items without their frames.
    fn shallow(&self, items: &[Item]) -> ConfigId {
        let mut shallow: Vec<Item> =
            items.iter().map(|item| Item { frame: CUT, ..self.moves.blanked(item) }).collect();
        shallow.sort_unstable();
        shallow.dedup();
        self.moves.part(&shallow)
    }

    fn walk_to_cuts(
        &mut self,
        trie: &Trie,
        bytes: impl IntoIterator<Item = u8> + Clone,
        config: ConfigId,
    ) -> Result<(Found, Ends)> {
        let start = self.moves.cache.configs.get(config);
        // With several items it would not be clear whose frame is left.
        if start.items.len() == 1 {
            let mut work = self.work.fresh();
            let mut walker = ConfigWalker::new(self.moves, &mut work, trie.sink(), true).noting_leaves();
            let ends = walk_to_cuts(trie, bytes.clone(), &mut walker, Place::start(start));
            let found = walker.finish(&mut false)?;
            if !ends.too_many_leaves() {
                return Ok((found, ends));
            }
        }
        let mut work = self.work.fresh();
        let mut walker = ConfigWalker::new(self.moves, &mut work, trie.sink(), true);
        let ends = walk_to_cuts(trie, bytes, &mut walker, Place::start(start));
        Ok((walker.finish(&mut false)?, ends))
    }

    /// Take what a skeleton has, and walk from `config` where it was cut off.
    fn take_skeleton(&mut self, skeleton: &Skeleton, config: ConfigId) -> Result<()> {
        match &skeleton.base {
            Some(words) => self.add_base(words.clone()),
            None => self.ids.extend_from_slice(&skeleton.ids),
        }
        self.doubtful.extend_from_slice(&skeleton.doubtful);
        let found = self.walk_ends(&self.index.vocabulary.trie, skeleton, config)?;
        self.take(found);
        Ok(())
    }

    /// Walk on where a skeleton ends.
    pub(super) fn walk_ends(&mut self, trie: &Trie, skeleton: &Skeleton, config: ConfigId) -> Result<Found> {
        let mut found = Found::default();
        if !skeleton.cuts.is_empty() {
            found = self.walk_cuts(trie, &skeleton.cuts, config)?;
        }
        if !skeleton.leaves.nodes.is_empty() && !self.inside {
            let more = self.walk_leaves(trie, &skeleton.leaves, config)?;
            found.sure.extend(more.sure);
            found.doubtful.extend(more.doubtful);
        }
        Ok(found)
    }

    /// Walk below the nodes where the frame of the only item is left, from what follows it.
    fn walk_leaves(&mut self, trie: &Trie, leaves: &Leaves, config: ConfigId) -> Result<Found> {
        let mut found = Found::default();
        // Several items may be one to the skeleton, with all forgotten that they keep.
        let mut frames: Vec<FrameId> =
            self.moves.cache.configs.get(config).items.iter().map(|item| item.frame).collect();
        frames.dedup();
        for frame in frames {
            let Some(next) = self.moves.after_return(frame, self.work)? else { continue };
            let next = self.moves.cache.configs.get(next);
            if next.cut {
                self.cut = true;
                break;
            }
            let start = Place::after_return(next, 0);
            let mut stack = vec![start; trie.longest() + 1];
            let mut walker = ConfigWalker::new(self.moves, self.work, trie.sink(), false);
            for &node in &leaves.nodes {
                walker.reach(trie.id(node as usize), start);
            }
            for below in leaves.below.chunk_by(|a, b| a.0 == b.0) {
                if walker.is_dead(&start, below[0].0) {
                    continue;
                }
                for &(_, node) in below {
                    let length = trie.depth(node as usize);
                    stack[length] = Place::after_return(next, length);
                    let end = trie.end(node as usize);
                    trie.walk_nodes(&mut walker, node as usize..end, &mut stack);
                }
            }
            let more = walker.finish(&mut self.cut)?;
            found.sure.extend(more.sure);
            found.doubtful.extend(more.doubtful);
        }
        Ok(found)
    }

    /// Walk only below the nodes where frames are left.
    fn walk_cuts(&mut self, trie: &Trie, cuts: &[CutNode], config: ConfigId) -> Result<Found> {
        let start = Place::start(self.moves.cache.configs.get(config));
        let mut stack = vec![start; trie.longest() + 1];
        let mut walker = ConfigWalker::new(self.moves, self.work, trie.sink(), self.inside);
        for cut in cuts {
            let mut place = Some(start);
            for (depth, &byte) in cut.path.iter().enumerate() {
                place = place.and_then(|place| walker.step(place, byte));
                if let Some(place) = place {
                    stack[depth + 1] = place;
                }
            }
            if let Some(place) = place {
                let node = cut.node as usize;
                walker.reach(trie.id(node), place);
                trie.walk_below(&mut walker, node, &mut stack);
            }
        }
        walker.finish(&mut self.cut)
    }
}

/// More items than this are walked together: each by itself goes through the top of the trie anew.
const MAX_SINGLE: usize = 16;
/// More ids than this are kept as a bitmask that masks are patches on.
const MAX_LISTED: usize = 192;
