//! The hot loop: a trie walked with configurations, and where such a walk leaves the frames it knows.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::closure::Moves;
use super::stack::{Config, DEAD, FIRST_ID, Opened, UNKNOWN};
use super::work::Work;
use crate::error::{Error, Result};
use crate::trie::{Trie, Walker};

/// What some items allow whatever their frames are, and where that depends on a frame.
#[derive(Debug)]
pub struct Skeleton {
    /// The ids as a bitmask, where they are many; else as a list.
    pub base: Option<Arc<[u32]>>,
    pub ids: Box<[u32]>,
    pub doubtful: Box<[Doubt]>,
    /// Nodes of the trie where more must be known.
    pub cuts: Vec<CutNode>,
    /// Nodes where the frame of the only item is left: what follows it may follow them.
    pub leaves: Vec<u32>,
}

impl Skeleton {
    pub fn new(
        base: Option<Arc<[u32]>>,
        ids: Box<[u32]>,
        doubtful: Box<[Doubt]>,
        Ends { cuts, leaves }: Ends,
    ) -> Skeleton {
        Skeleton { base, ids, doubtful, cuts, leaves }
    }

    pub fn heap_bytes(&self) -> usize {
        let words = self.base.as_ref().map_or(0, |words| words.len());
        let cuts: usize = self.cuts.iter().map(|cut| size_of::<CutNode>() + cut.path.len()).sum();
        4 * (words + self.ids.len() + self.leaves.len()) + size_of_val(&*self.doubtful) + cuts
    }
}

#[derive(Debug)]
pub struct CutNode {
    pub node: u32,
    /// The bytes of the node's string.
    pub path: Box<[u8]>,
}

/// Where a walk over items without their frames ends.
#[derive(Default)]
pub struct Ends {
    pub cuts: Vec<CutNode>,
    pub leaves: Vec<u32>,
}

impl Ends {
    /// The walk was given up: the items are to be walked with what follows them.
    pub fn too_many_leaves(&self) -> bool {
        self.leaves.len() > MAX_LEAVES
    }
}

/// A rule that can be left at more nodes, as a word after each letter, is walked with what follows it.
const MAX_LEAVES: usize = 256;

/// Walk the strings that begin with some bytes, but stop where frames that were cut off are left or more has to be known.
pub fn walk_to_cuts<'e>(
    trie: &Trie,
    bytes: impl IntoIterator<Item = u8>,
    walker: &mut ConfigWalker<'e, '_>,
    start: Place<'e>,
) -> Ends {
    let mut walk = WalkToCuts { walker, stack: vec![start; trie.longest() + 1], ends: Ends::default() };
    for first in bytes {
        let nodes = trie.subtree(first);
        if nodes.is_empty() || !walk.enter(trie, nodes.start, &[first]) {
            continue;
        }
        for &(second, node) in trie.seconds(first) {
            if walk.ends.too_many_leaves() {
                return walk.ends;
            }
            if walk.enter(trie, node as usize, &[first, second]) {
                walk.below(trie, node as usize, &[first, second]);
            }
        }
    }
    walk.ends
}

struct WalkToCuts<'e, 'w, 'v> {
    walker: &'v mut ConfigWalker<'e, 'w>,
    stack: Vec<Place<'e>>,
    ends: Ends,
}

impl WalkToCuts<'_, '_, '_> {
    /// Read the last byte of `path`, which leads to `node`; false: nothing under it is wanted.
    fn enter(&mut self, trie: &Trie, node: usize, path: &[u8]) -> bool {
        let depth = path.len() - 1;
        let step = self.walker.step(self.stack[depth], path[depth]);
        // A string that nothing follows is right as it is: 1,000 of Llama 3's tokens are numbers of three digits.
        let followed = step.is_none() || trie.end(node) > node + 1;
        if std::mem::take(&mut self.walker.was_left) && followed {
            self.ends.leaves.push(node as u32);
        }
        match step {
            Some(place) => {
                self.walker.reach(trie.id(node), place);
                self.stack[depth + 1] = place;
                true
            }
            None => {
                if std::mem::take(&mut self.walker.was_cut) {
                    self.ends.cuts.push(CutNode { node: node as u32, path: path.into() });
                }
                false
            }
        }
    }

    fn below(&mut self, trie: &Trie, top: usize, path: &[u8]) {
        let mut path = path.to_vec();
        let mut node = top + 1;
        while node < trie.end(top) && !self.ends.too_many_leaves() {
            path.truncate(trie.depth(node));
            path.push(trie.byte(node));
            node = if self.enter(trie, node, &path) { node + 1 } else { trie.end(node) };
        }
    }
}

#[derive(Default)]
/// What a walk reached: ids, and ids that are right only if no key or item is written twice.
pub struct Found {
    pub sure: Vec<u32>,
    pub doubtful: Vec<Doubt>,
}

/// A string that can be read unless it writes a key or an item twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Doubt {
    pub id: u32,
    /// As many of its bytes reach the first one of the key that it hangs on, with it; 0: the key is being read already.
    /// `TANGLED`: there is more to it than one key.
    pub before: u16,
    /// As many reach its last one.
    pub end: u16,
}

pub const TANGLED: u16 = u16::MAX;

impl Doubt {
    /// The same for the token `id` that has `more` bytes before those of this one.
    pub fn later(self, id: u32, more: usize) -> Doubt {
        let place = |at: u16| usize::from(at).checked_add(more).and_then(|at| u16::try_from(at).ok());
        match (self.before, place(self.before), place(self.end)) {
            (0, _, Some(end)) => Doubt { id, before: 0, end },
            (TANGLED, ..) => Doubt { id, ..self },
            (_, Some(before), Some(end)) if before != TANGLED => Doubt { id, before, end },
            _ => Doubt { id, before: TANGLED, end: 0 },
        }
    }
}

/// Where a walk is.
#[derive(Clone, Copy)]
pub struct Place<'e> {
    pub config: &'e Config,
    depth: u16,
    /// Where the key began that is being read, as in `Doubt`.
    before: u16,
    /// Where a key ended that decides; 0: nothing does.
    end: u16,
}

impl<'e> Place<'e> {
    pub fn start(config: &'e Config) -> Place<'e> {
        let before = if config.opened == Opened::More { TANGLED } else { 0 };
        Place { config, depth: 0, before, end: 0 }
    }

    /// After a frame was left at a string of `length` bytes.
    pub fn after_return(config: &'e Config, length: usize) -> Place<'e> {
        let before = if config.opened == Opened::None { 0 } else { TANGLED };
        Place { config, depth: u16::try_from(length).unwrap_or(TANGLED), before, end: 0 }
    }

    /// One byte further.
    #[inline(always)]
    fn next(self, config: &'e Config) -> Place<'e> {
        let next = Place { config, depth: self.depth.saturating_add(1), ..self };
        if config.perhaps || config.opened != self.config.opened { next.tracked(self) } else { next }
    }

    /// Something that was left open began or ended with the last byte.
    fn tracked(self, last: Place) -> Place<'e> {
        let (from, to) = (last.config.opened, self.config.opened);
        let simple = self.depth < TANGLED && last.before != TANGLED;
        let (before, end) = match (self.config.perhaps, from, to) {
            (true, Opened::One(_), Opened::None) if simple && last.end == 0 => (last.before, self.depth),
            (true, ..) => (TANGLED, self.depth.max(1)),
            (false, ..) if last.end != 0 => (last.before, last.end),
            (false, Opened::None, Opened::One(_)) => (self.depth, 0),
            (false, _, Opened::None) => (0, 0),
            (false, ..) => (TANGLED, 0),
        };
        Place { before, end, ..self }
    }
}

/// Walks a trie with configurations; collects the ids of all strings that can be read.
pub struct ConfigWalker<'e, 'w> {
    moves: Moves<'e>,
    work: &'w mut Work,
    found: Found,
    sink: u32,
    inside: bool,
    /// Inside: the last step would have left a frame that was cut off.
    was_cut: bool,
    /// Leaving a frame that was cut off is noted, and what stays within it is walked on.
    leaves: bool,
    was_left: bool,
    cut: bool,
    error: Option<Error>,
}

impl<'e, 'w> ConfigWalker<'e, 'w> {
    pub fn new(moves: Moves<'e>, work: &'w mut Work, sink: u32, inside: bool) -> Self {
        let found = Found { sure: Vec::new(), doubtful: Vec::new() };
        ConfigWalker {
            moves,
            work,
            found,
            sink,
            inside,
            was_cut: false,
            leaves: false,
            was_left: false,
            cut: false,
            error: None,
        }
    }

    /// For the walk of one item without its frame.
    pub fn noting_leaves(self) -> Self {
        ConfigWalker { leaves: true, ..self }
    }

    pub fn finish(self, cut: &mut bool) -> Result<Found> {
        *cut |= self.cut;
        self.error.map_or(Ok(self.found), Err)
    }

    /// A transition that is not known yet, or is never kept.
    #[cold]
    fn find(&mut self, config: &'e Config, byte: u8) -> Option<u32> {
        match self.moves.step(config, byte, self.work) {
            Ok(next) => next,
            Err(error) => {
                self.error = Some(error);
                None
            }
        }
    }
}

impl<'e> Walker for ConfigWalker<'e, '_> {
    type State = Place<'e>;

    #[inline(always)]
    fn step(&mut self, place: Place<'e>, byte: u8) -> Option<Place<'e>> {
        let program = self.moves.program;
        let row = place.config.row(program, |bytes| self.moves.cache.add_row_bytes(bytes));
        let next = row[program.classes[byte as usize] as usize].load(Ordering::Acquire);
        if next == DEAD || self.cut || self.error.is_some() {
            return None;
        }
        let id = if next == UNKNOWN {
            self.find(place.config, byte)?
        } else {
            if let Err(error) = self.work.spend(place.config.cost()) {
                self.error = Some(error);
                return None;
            }
            next - FIRST_ID
        };
        let config = self.moves.cache.configs.get(id);
        if config.cut {
            let leaves = self.leaves && !config.beyond && !config.perhaps && place.end == 0;
            if leaves {
                self.was_left = true;
                return (!config.items.is_empty()).then(|| place.next(config));
            }
            self.cut = !self.inside;
            self.was_cut = true;
            return None;
        }
        Some(place.next(config))
    }

    #[inline(always)]
    fn reach(&mut self, id: u32, place: Place<'e>) {
        if id != self.sink {
            match place.end {
                0 => self.found.sure.push(id),
                end => self.found.doubtful.push(Doubt { id, before: place.before, end }),
            }
        }
    }
}
