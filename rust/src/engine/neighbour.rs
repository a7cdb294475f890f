//! What does a state allow that nearly always goes on to a neighbour, whose mask is cheap?
//!
//! Before the first character of an open key the declared names are still possible, and so are the words of patterns. All that begins
//! otherwise leads to the state within any other key, which stays where it is. So the mask is the neighbour's but for the
//! tokens on which the two do not come together: those that begin as a name does.

use super::compose::{Composer, without};
use super::plan::Kind;
use super::stack::{ConfigId, Item};
use super::walk::{ConfigWalker, Found, Place};
use crate::error::Result;
use crate::mask::contains;
use crate::trie::Walker;

/// Two states that do not come together on more nodes of the trie than this are walked each by itself.
const MAX_APART: usize = 8_192;

impl Composer<'_> {
    /// Take an item's tokens from its neighbour on `byte`; false if there is none, or if they differ too much.
    pub(super) fn by_neighbour(&mut self, item: &Item, byte: u8) -> Result<bool> {
        let start = self.moves.part(std::slice::from_ref(item));
        let config = self.moves.cache.configs.get(start);
        let Some(next) = self.moves.step(config, byte, self.work)? else { return Ok(false) };
        let neighbour = self.moves.cache.configs.get(next);
        let [other] = neighbour.items[..] else { return Ok(false) };
        let is_elsewhere = neighbour.cut || neighbour.perhaps || neighbour.opened != config.opened;
        if is_elsewhere || other.frame != item.frame || !self.stays(&other) {
            return Ok(false);
        }
        let Some((found, mut apart)) = self.differences(start, next)? else { return Ok(false) };
        let mut inner = Composer::new(self.index, self.moves, self.work);
        inner.inside = self.inside;
        if !inner.by_part(&other)? {
            return Ok(false);
        }
        apart.sort_unstable();
        inner.forget(&apart);
        let Composer { base, more, ids, doubtful, cut, .. } = inner;
        self.cut |= cut;
        self.take_all(base, more);
        self.ids.extend(ids);
        self.doubtful.extend(doubtful);
        self.take(found);
        Ok(true)
    }

    /// Whether the item stays where it is on a large class.
    fn stays(&self, item: &Item) -> bool {
        let plan = self.index.plan(item.state);
        plan.is_some_and(|plan| match &plan.kind {
            Kind::Uniform(chain) => chain.loops && chain.states.len() == 1 && !chain.counts[0],
            Kind::Loose => false,
        })
    }

    /// What the first of two configurations allows where they do not come together, and all tokens there, with twins; `None` if they
    /// are too many.
    fn differences(&mut self, first: ConfigId, second: ConfigId) -> Result<Option<(Found, Vec<u32>)>> {
        let vocabulary = &self.index.vocabulary;
        let trie = &vocabulary.trie;
        let [first, second] = [first, second].map(|id| Place::start(self.moves.cache.configs.get(id)));
        let walker = ConfigWalker::new(self.moves, self.work, trie.sink(), self.inside);
        let mut pair = Pair { walker, sink: trie.sink(), apart: Vec::new(), left: MAX_APART };
        trie.walk(&mut pair, (Some(first), Some(second)), &mut Vec::new());
        if pair.left == 0 {
            return Ok(None);
        }
        let mut apart = pair.apart;
        let twins: Vec<u32> = apart.iter().flat_map(|&id| vocabulary.twins(id)).collect();
        apart.extend(twins);
        Ok(Some((pair.walker.finish(&mut self.cut)?, apart)))
    }

    /// Take back all that was said of some tokens, ascending.
    fn forget(&mut self, tokens: &[u32]) {
        let is_kept = |id: u32| tokens.binary_search(&id).is_err();
        self.ids.retain(|&id| is_kept(id));
        self.doubtful.retain(|doubt| is_kept(doubt.id));
        if let Some((words, remove)) = &mut self.base {
            remove.extend(tokens.iter().filter(|&&id| contains(words, id)));
        }
        for more in &mut self.more {
            let theirs: Vec<u32> = tokens.iter().copied().filter(|&id| contains(more, id)).collect();
            *more = without(more.clone(), &theirs);
        }
    }
}

/// Walks a trie from two configurations at once, as long as they differ: where both are in one place, or neither goes on, all
/// that lies below fares alike.
struct Pair<'e, 'w> {
    walker: ConfigWalker<'e, 'w>,
    sink: u32,
    /// The tokens where they do.
    apart: Vec<u32>,
    /// Nodes that may still be looked at; at 0 the walk was given up.
    left: usize,
}

impl<'e> Walker for Pair<'e, '_> {
    type State = (Option<Place<'e>>, Option<Place<'e>>);

    #[inline(always)]
    fn step(&mut self, (first, second): Self::State, byte: u8) -> Option<Self::State> {
        let mut step = |place: Option<Place<'e>>| place.and_then(|place| self.walker.step(place, byte));
        let (first, second) = (step(first), step(second));
        let differ = match (&first, &second) {
            (Some(first), Some(second)) => !first.is_same(second),
            (None, None) => false,
            _ => true,
        };
        if !differ || self.left == 0 {
            return None;
        }
        self.left -= 1;
        Some((first, second))
    }

    #[inline(always)]
    fn reach(&mut self, id: u32, (first, _): Self::State) {
        if id == self.sink {
            return;
        }
        self.apart.push(id);
        if let Some(place) = first {
            self.walker.reach(id, place);
        }
    }
}
