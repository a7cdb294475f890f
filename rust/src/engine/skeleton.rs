//! What do some items allow whatever their frames are, and how is a mask made on top of that?
//!
//! What an item allows without leaving its frame is the same over every stack: its skeleton, walked once. Only where the
//! frame is left, or more has to be known, is the trie walked again for each stack.

use std::sync::Arc;

use super::closure::Moves;
use super::compose::Composer;
use super::cuts::{CutNode, Ends, Leaves, MAX_BELOW, walk_to_cuts};
use super::data::NOTHING;
use super::left_open::Declared;
use super::outline::alike_count;
use super::part::Part;
use super::rests::Rests;
use super::shared::{Held, SharedKey};
use super::stack::{CUT, ConfigId, FrameId, Item};
use super::vocabulary::SHORT;
use super::walk::{ConfigWalker, Doubt, Found, Place};
use crate::error::Result;
use crate::program::Origin;
use crate::trie::{Trie, Walker};

/// Which strings a skeleton tells of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Over {
    Vocabulary(Lengths),
    /// The tokens of the vocabulary that stay within the rule.
    Inside,
    /// The tokens that begin with no character of the class of the part with this serial, nor with this lead.
    Outer(u64, Option<u8>, Lengths),
    /// The rests of the part with this serial, and of this group.
    Rests(u64, u8),
}

impl Over {
    /// Rests and what stays within a rule are not taken apart by length.
    fn lengths(self) -> Lengths {
        match self {
            Over::Vocabulary(lengths) | Over::Outer(_, _, lengths) => lengths,
            Over::Inside | Over::Rests(..) => Lengths::All,
        }
    }
}

/// Which tokens by their length.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Lengths {
    All,
    /// Of at most `SHORT` bytes.
    Short,
    /// Of more.
    Long,
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

    fn of_walk(found: Found, ends: Ends, trie: &Trie) -> Skeleton {
        let (cuts, leaves) = ends.split(trie);
        Skeleton { base: None, ids: found.sure.into(), doubtful: found.doubtful.into(), cuts, leaves }
    }

    pub fn heap_bytes(&self) -> usize {
        let words = self.base.as_ref().map_or(0, |words| words.len());
        4 * (words + self.ids.len())
            + size_of_val(&*self.doubtful)
            + CutNode::heap_bytes(&self.cuts)
            + self.leaves.heap_bytes()
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
        let open = self.shallow(std::slice::from_ref(open));
        self.walk_tokens(config, open, 0..=u8::MAX, Over::Vocabulary, false)?;
        self.walk_declared(item, declared)
    }

    /// Walk the declared keys that may come next. Not remembered: it takes a microsecond once its configurations are there.
    fn walk_declared(&mut self, item: &Item, declared: &Declared<'e>) -> Result<()> {
        let trie = &self.index.vocabulary.trie;
        let start = Item { frame: CUT, ..declared.start };
        let start = self.moves.cache.configs.get(self.moves.part(std::slice::from_ref(&start)));
        let moves = Moves { passed: declared.passed, ..self.moves };
        let mut walker = ConfigWalker::new(moves, self.work, trie.sink(), true).passing_by(*declared);
        let ends = walk_to_cuts(trie, (0..=u8::MAX, trie.longest()), &mut walker, Place::start(start));
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
        let config = self.moves.part(items);
        self.walk_tokens(config, self.shallow(items), 0..=u8::MAX, Over::Vocabulary, false)
    }

    /// Add the tokens that begin with no character of the class; `based`: those that stay within the rule are there already.
    pub(super) fn outer(&mut self, config: ConfigId, part: &Part, based: bool) -> Result<()> {
        let lead = self.index.vocabulary.lead().filter(|&lead| !part.begins(lead, lead));
        let led = match lead {
            Some(lead) if self.by_led_part(config, lead, based)? => Some(lead),
            _ => None,
        };
        if self.cut {
            return Ok(());
        }
        let shallow = self.shallow(&self.moves.cache.configs.get(config).items);
        let bytes = part.outer_bytes().filter(|byte| Some(*byte) != led);
        self.walk_tokens(config, shallow, bytes, |lengths| Over::Outer(part.serial, led, lengths), based)
    }

    /// Add the tokens that begin with some bytes: what stays above the frames of `config` is known from the skeleton of `shallow`.
    ///
    /// `based`: what stays within the rule is there already.
    fn walk_tokens(
        &mut self,
        config: ConfigId,
        shallow: ConfigId,
        bytes: impl Iterator<Item = u8> + Clone,
        over: impl Fn(Lengths) -> Over,
        based: bool,
    ) -> Result<()> {
        match self.as_far_as_short(shallow) {
            None => self.walk_lengths(config, shallow, bytes, over(Lengths::All), based),
            Some(short) => {
                self.walk_lengths(config, short, bytes.clone(), over(Lengths::Short), based)?;
                self.walk_lengths(config, shallow, bytes, over(Lengths::Long), based)
            }
        }
    }

    /// The configuration with counts as low as no short token can tell, if long ones can.
    ///
    /// Llama 3 has tokens of 128 bytes, so that each count up to 100 is near its bound; and 1 % of its tokens are long.
    fn as_far_as_short(&self, shallow: ConfigId) -> Option<ConfigId> {
        let lowered = |item: &Item| Item { count: alike_count(self.index, item, SHORT as u32), ..*item };
        let items = &self.moves.cache.configs.get(shallow).items;
        let mut short: Vec<Item> = items.iter().map(lowered).collect();
        if short[..] == items[..] {
            return None;
        }
        short.sort_unstable();
        short.dedup();
        Some(self.moves.part(&short))
    }

    /// The same for the tokens of some lengths, with the counts of `shallow` as low as they cannot tell. What lies below a leaf or a
    /// cut is read from `config` itself, and long tokens below one in a walk over short ones are found there too.
    fn walk_lengths(
        &mut self,
        config: ConfigId,
        shallow: ConfigId,
        bytes: impl Iterator<Item = u8> + Clone,
        over: Over,
        based: bool,
    ) -> Result<()> {
        let vocabulary = &self.index.vocabulary;
        let (trie, longest) = match over.lengths() {
            Lengths::All => (&vocabulary.trie, vocabulary.trie.longest()),
            Lengths::Short => (&vocabulary.trie, SHORT),
            Lengths::Long => (vocabulary.long_tokens(), vocabulary.trie.longest()),
        };
        let skeleton = self.known_skeleton(shallow, over, |composer| {
            let (found, ends) = composer.walk_to_cuts(trie, (bytes, longest), shallow)?;
            let mut inner = Composer::new(composer.index, composer.moves, composer.work);
            inner.take(found);
            let base = (inner.ids.len() > MAX_LISTED).then(|| inner.dense());
            let ids = if base.is_some() { Box::default() } else { inner.ids.into() };
            let (cuts, leaves) = ends.split(trie);
            Ok(Skeleton { base, ids, doubtful: inner.doubtful.into(), cuts, leaves })
        })?;
        match &skeleton.base {
            _ if based => {}
            Some(words) => self.add_base(words.clone()),
            None => self.ids.extend_from_slice(&skeleton.ids),
        }
        self.doubtful.extend_from_slice(&skeleton.doubtful);
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
            let all = (0..=u8::MAX, rests.trie.longest());
            let (found, ends) = composer.walk_to_cuts(&rests.trie, all, shallow)?;
            Ok(Skeleton::of_walk(found, ends, &rests.trie))
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
        let program = self.moves.program;
        let origin = program.rule_of(item.state).origin;
        let state = program.place_in_rule(item.state);
        Some(SharedKey { origin, state, count: item.count, held, over })
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
        bytes: (impl IntoIterator<Item = u8> + Clone, usize),
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

    /// Walk on where a skeleton ends.
    pub(super) fn walk_ends(&mut self, trie: &Trie, skeleton: &Skeleton, config: ConfigId) -> Result<Found> {
        let mut found = Found::default();
        if !skeleton.cuts.is_empty() {
            found = self.walk_cuts(trie, &skeleton.cuts, config)?;
        }
        if !skeleton.leaves.is_empty() && !self.inside {
            found.add(self.walk_leaves(trie, &skeleton.leaves, config)?);
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
        let mut is_wide = false;
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
            leaves.ends.iter().for_each(|&id| walker.reach(id, start));
            let below = leaves.below(|byte| !walker.is_dead(&start, byte));
            let below = || below.iter().copied().flatten().map(|&node| node as usize);
            let n_below = || below().map(|node| trie.end(node) - node).sum::<usize>();
            if !leaves.tops.is_empty() && n_below() > MAX_BELOW {
                is_wide = true;
            } else {
                for node in below() {
                    let length = trie.depth(node);
                    stack[length] = Place::after_return(next, length);
                    trie.walk_nodes(&mut walker, node..trie.end(node), &mut stack);
                }
            }
            found.add(walker.finish(&mut self.cut)?);
        }
        if is_wide && !self.cut {
            // The ends are there already: they may lie below no top.
            found.add(self.walk_cuts(trie, &leaves.tops, config)?);
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
