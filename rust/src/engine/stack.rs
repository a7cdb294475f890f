//! Where a text can be in a format: items over frames, and the configurations made of them.
//!
//! An item is a state of the program with the frame to go back to when its rule ends. A frame holds the items that go on
//! then; equal frames are one, so all the stacks of an ambiguous text are one small acyclic graph. A configuration is
//! the set of items that can read on, all calls made and all ended rules left.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use super::arena::Interned;
use crate::program::{ByteEdge, Program, StateId};

pub type FrameId = u32;
pub type ConfigId = u32;

/// The frame under the root: the text may end where the root ends.
pub const BOTTOM: FrameId = 0;
/// Stands for frames that were cut off to see whether a mask depends on them.
pub const CUT: FrameId = 1;

/// A state, the count of its rule's loop, what else the rule keeps, and the frame to return to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Item {
    pub state: StateId,
    pub count: u32,
    pub data: u32,
    pub frame: FrameId,
}

impl Item {
    /// What tells items of one set apart; the frames of equal ones are united.
    pub fn key(&self) -> (StateId, u32, u32) {
        (self.state, self.count, self.data)
    }
}

/// The content of a frame or a configuration: sorted items and two flags.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Content<'k> {
    pub items: &'k [Item],
    /// The text may end here.
    pub end: bool,
    /// Something was cut off here.
    pub cut: bool,
    /// What was cut off asks for more than is kept of an object, not only for the frame that was left.
    pub beyond: bool,
    /// Frames below, and this one. Configurations leave it at 0.
    pub depth: u32,
    /// Some item records bytes that it reads: those transitions differ byte by byte and are not kept.
    pub direct: bool,
    /// It was reached only if a text that was left open is none of those seen.
    pub perhaps: bool,
    /// What is being read that was left open; it follows from the items.
    pub opened: Opened,
}

/// What a configuration reads that was left open.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Opened {
    None,
    /// One text, kept in this data.
    One(u32),
    More,
}

#[derive(Debug)]
pub struct Frame {
    pub items: Box<[Item]>,
    pub end: bool,
    pub cut: bool,
    pub depth: u32,
}

impl Interned for Frame {
    type Key<'k> = Content<'k>;

    fn key(&self) -> Content<'_> {
        Content {
            items: &self.items,
            end: self.end,
            cut: self.cut,
            depth: self.depth,
            beyond: false,
            direct: false,
            perhaps: false,
            opened: Opened::None,
        }
    }

    fn equals(&self, key: Content<'_>) -> bool {
        self.key() == key
    }

    fn build(key: Content<'_>) -> Frame {
        Frame { items: key.items.into(), end: key.end, cut: key.cut, depth: key.depth }
    }

    fn heap_bytes(&self) -> usize {
        size_of_val(&*self.items)
    }
}

/// No transition has been computed yet.
pub const UNKNOWN: u32 = 0;
/// No text of the format goes on this way.
pub const DEAD: u32 = 1;
/// Transitions and mask slots hold ids from here on.
pub const FIRST_ID: u32 = 2;

/// A set of items that can read on, with what has been found out about it.
#[derive(Debug)]
pub struct Config {
    pub items: Box<[Item]>,
    pub complete: bool,
    pub cut: bool,
    pub beyond: bool,
    pub direct: bool,
    pub perhaps: bool,
    pub opened: Opened,
    row: OnceLock<Row>,
    /// `UNKNOWN`, `DEAD` (it takes more frames to tell) or a mask + `FIRST_ID`.
    pub mask: AtomicU32,
}

impl Config {
    /// The transitions; `added` hears of the bytes when they are allocated.
    #[inline(always)]
    pub fn row(&self, program: &Program, added: impl FnOnce(usize)) -> &Row {
        self.row.get_or_init(|| {
            let row = Row::new(&self.items, program);
            added(size_of_val(&*row.slots));
            row
        })
    }

    /// What one step from here counts as work: it looks at each item, and may make a configuration of some 100 bytes.
    pub fn cost(&self) -> u64 {
        4 + self.items.len() as u64
    }

    pub fn mask_slot(&self) -> u32 {
        self.mask.load(Ordering::Acquire)
    }
}

/// The transitions of a configuration by byte class, from the lowest class that is read to the highest.
///
/// PERF: in a key one byte is read, and a usual schema has 60 classes: whole rows would push all else out of the cache.
#[derive(Debug)]
pub struct Row {
    lowest: u32,
    /// `UNKNOWN`, `DEAD` or a configuration + `FIRST_ID`. What no edge reads is dead from the start.
    slots: Box<[AtomicU32]>,
}

impl Row {
    fn new(items: &[Item], program: &Program) -> Row {
        let classes = |edge: &ByteEdge| [edge.low, edge.high].map(|byte| program.classes[byte as usize]);
        let edges = || items.iter().flat_map(|item| program.byte_edges(item.state)).map(classes);
        let lowest = edges().map(|[low, _]| low).min().unwrap_or(0);
        let n = edges().map(|[_, high]| u32::from(high - lowest) + 1).max().unwrap_or(0);
        let mut slots: Box<[AtomicU32]> = (0..n).map(|_| AtomicU32::new(DEAD)).collect();
        for [low, high] in edges() {
            let of_edge = &mut slots[usize::from(low - lowest)..=usize::from(high - lowest)];
            of_edge.iter_mut().for_each(|slot| *slot.get_mut() = UNKNOWN);
        }
        Row { lowest: lowest.into(), slots }
    }

    /// The transition on a class.
    #[inline(always)]
    pub fn get(&self, class: u8) -> u32 {
        let at = u32::from(class).wrapping_sub(self.lowest);
        self.slots.get(at as usize).map_or(DEAD, |slot| slot.load(Ordering::Acquire))
    }

    /// Remember the transition on the classes between two bounds that are read.
    pub fn set(&self, [low, high]: [u8; 2], to: u32) {
        let at = |class: u8| (u32::from(class) - self.lowest) as usize;
        self.slots[at(low)..=at(high)].iter().for_each(|slot| slot.store(to, Ordering::Release));
    }
}

impl Interned for Config {
    type Key<'k> = Content<'k>;

    fn key(&self) -> Content<'_> {
        Content {
            items: &self.items,
            end: self.complete,
            cut: self.cut,
            depth: 0,
            beyond: self.beyond,
            direct: self.direct,
            perhaps: self.perhaps,
            opened: self.opened,
        }
    }

    fn equals(&self, key: Content<'_>) -> bool {
        self.key() == key
    }

    fn build(key: Content<'_>) -> Config {
        Config {
            items: key.items.into(),
            complete: key.end,
            cut: key.cut,
            beyond: key.beyond,
            direct: key.direct,
            perhaps: key.perhaps,
            opened: key.opened,
            row: OnceLock::new(),
            mask: AtomicU32::new(UNKNOWN),
        }
    }

    fn heap_bytes(&self) -> usize {
        size_of_val(&*self.items)
    }
}
