//! The raw automaton of a rule, with ε-edges: what Thompson's construction makes before anything is simplified.

use rustc_hash::FxHashMap;

/// What an edge reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Label {
    /// One byte between two inclusive bounds.
    Bytes(u8, u8),
    /// A text of another rule.
    Call(u32),
    /// A text of another rule, one level deeper.
    Nest(u32),
    /// A special token, by its id.
    Special(u32),
}

/// What taking an edge does to what the rule keeps. A `spec` is a place in `Program::memories`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub enum Action {
    #[default]
    None,
    /// One more round of the counted loop.
    Count,
    /// Ends the key of a declared member.
    Declare { spec: u32, member: u32 },
    /// Reads a byte of an open key or of a distinct item.
    Append,
    /// Ends an open key with this byte: none before it, and no declared one, may be the same.
    Close { spec: u32, open: u32 },
    /// Leaves a distinct item: none before it may be the same.
    CloseItem { spec: u32 },
    /// Reads a byte of a decimal: some number of the set must go on like that.
    Digit { spec: u32 },
}

impl Action {
    /// Whether taking it depends on the byte that is read.
    pub fn records(self) -> bool {
        matches!(self, Action::Append | Action::Close { .. } | Action::Digit { .. })
    }
}

/// What must hold for a state to be entered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub enum Guard {
    #[default]
    None,
    /// Some declared key below this one may still be written; `memory::settle` finds out which.
    Key { spec: u32 },
    /// Some open key may still be written.
    OpenKey { spec: u32 },
    /// Some member may follow.
    MoreMembers { spec: u32 },
    /// Within a distinct item.
    Item { spec: u32, place: u32 },
    /// Some item may follow.
    MoreItems { spec: u32 },
    /// Fewer units of indentation than levels so far.
    BelowDepth,
    /// As many units as levels, or fewer.
    AtMostDepth,
}

/// What must hold for a rule to end, besides its count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub enum Ending {
    #[default]
    Free,
    Members {
        spec: u32,
    },
    Items {
        spec: u32,
    },
    Decimal {
        spec: u32,
    },
    /// As many units of indentation as levels.
    Depth,
}

/// The bounds of a counted loop; a rule has at most one counter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    pub min: u32,
    pub max: u32,
}

/// An NFA with ε-edges over labels, one start and one final state.
#[derive(Debug, Clone, Default)]
pub struct Draft {
    pub n_states: u32,
    pub start: u32,
    pub end: u32,
    pub edges: Vec<(u32, Label, u32, Action)>,
    pub epsilons: Vec<(u32, u32)>,
    /// A counted loop `body{min,max}`: `end` is its head, where the counter is compared with the bounds.
    pub bounds: Option<Bounds>,
    /// Guards of states, for those that have one.
    pub guards: FxHashMap<u32, Guard>,
    /// Counts with which a state can be entered, where the bounds of the loop do not say it.
    pub ranges: FxHashMap<u32, (u32, u32)>,
    pub ending: Ending,
    /// Whether the rule can be empty, whatever its ε-edges say: what it keeps decides.
    pub may_be_empty: Option<bool>,
    /// In a counted loop: the state after the body. Going from there to the head counts one.
    pub counted: Option<u32>,
}

impl Draft {
    pub fn state(&mut self) -> u32 {
        self.n_states += 1;
        self.n_states - 1
    }

    /// Add an edge that does nothing but read.
    pub fn edge(&mut self, from: u32, label: Label, to: u32) {
        self.edges.push((from, label, to, Action::None));
    }
}

/// The class of each byte, and the lowest byte of each class: bytes of a class are told apart by no label.
pub fn byte_classes(labels: impl Iterator<Item = Label>) -> (Box<[u8; 256]>, Vec<u8>) {
    let mut starts = [false; 257];
    starts[0] = true;
    for label in labels {
        if let Label::Bytes(low, high) = label {
            starts[low as usize] = true;
            starts[high as usize + 1] = true;
        }
    }
    let mut classes = Box::new([0; 256]);
    let mut firsts = Vec::new();
    for byte in 0..=255u8 {
        if starts[byte as usize] {
            firsts.push(byte);
        }
        classes[byte as usize] = (firsts.len() - 1) as u8;
    }
    (classes, firsts)
}
