//! The hot loop: which strings of a trie can be read from a configuration?

use super::closure::Moves;
use super::left_open::Declared;
use super::stack::{Config, DEAD, FIRST_ID, Opened, UNKNOWN};
use super::work::Work;
use crate::error::{Error, Result};
use crate::trie::Walker;

/// What a walk reached: ids, and ids that are right only if no key or item is written twice.
#[derive(Default)]
pub struct Found {
    pub sure: Vec<u32>,
    pub doubtful: Vec<Doubt>,
}

impl Found {
    pub fn add(&mut self, more: Found) {
        self.sure.extend(more.sure);
        self.doubtful.extend(more.doubtful);
    }
}

/// A string that can be read unless it writes a key or an item twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Doubt {
    pub id: u32,
    /// As many of its bytes reach the first one of the key that it hangs on, with it; 0: the key is being read already.
    /// `TANGLED`: there is more to it than one key.
    pub before: u16,
    /// As many reach its last one; 0 where `before` is 0 too: the key goes on, and only few ends are left for it.
    pub end: u16,
}

pub const TANGLED: u16 = u16::MAX;

impl Doubt {
    /// On a token after which only few texts are left that end the key or the item being read.
    pub fn unclosed(id: u32) -> Doubt {
        Doubt { id, before: 0, end: 0 }
    }

    pub fn is_unclosed(self) -> bool {
        (self.before, self.end) == (0, 0)
    }

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

    /// Whether all that follows fares alike from both, which are places on one node: there `depth` says nothing.
    #[inline(always)]
    pub fn is_same(&self, other: &Place) -> bool {
        std::ptr::eq(self.config, other.config) && (self.before, self.end) == (other.before, other.end)
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
    pub was_cut: bool,
    /// Leaving a frame that was cut off is noted, and what stays within it is walked on.
    leaves: bool,
    pub was_left: bool,
    cut: bool,
    /// Of declared keys only those of members that can come next are read.
    declared: Option<Declared<'e>>,
    error: Option<Error>,
}

impl<'e, 'w> ConfigWalker<'e, 'w> {
    pub fn new(moves: Moves<'e>, work: &'w mut Work, sink: u32, inside: bool) -> Self {
        ConfigWalker {
            moves,
            work,
            found: Found::default(),
            sink,
            inside,
            was_cut: false,
            leaves: false,
            was_left: false,
            cut: false,
            declared: None,
            error: None,
        }
    }

    /// For the walk of one item without its frame.
    pub fn noting_leaves(self) -> Self {
        ConfigWalker { leaves: true, ..self }
    }

    /// Read no key of a declared member that cannot come next.
    pub fn passing_by(self, declared: Declared<'e>) -> Self {
        ConfigWalker { declared: Some(declared), ..self }
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
    fn is_dead(&self, place: &Place<'e>, byte: u8) -> bool {
        let program = self.moves.program;
        let row = place.config.row(program, |bytes| self.moves.cache.add_row_bytes(bytes));
        row.get(program.classes[byte as usize]) == DEAD
    }

    #[inline(always)]
    fn step(&mut self, place: Place<'e>, byte: u8) -> Option<Place<'e>> {
        let program = self.moves.program;
        let row = place.config.row(program, |bytes| self.moves.cache.add_row_bytes(bytes));
        let next = row.get(program.classes[byte as usize]);
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
        if self.declared.is_some_and(|declared| !declared.may_step(program, place.config, byte, config)) {
            return None;
        }
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
