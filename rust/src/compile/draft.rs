//! The raw automaton of a rule, with ε-edges: what Thompson's construction makes before anything is simplified.

/// What an edge reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Label {
    /// One byte between two inclusive bounds.
    Bytes(u8, u8),
    /// A text of another rule.
    Call(u32),
    /// A special token, by its id.
    Special(u32),
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
    pub edges: Vec<(u32, Label, u32)>,
    pub epsilons: Vec<(u32, u32)>,
    /// A counted loop `body{min,max}`: `end` is its head, where the counter is compared with the bounds.
    pub bounds: Option<Bounds>,
    /// In a counted loop: the state after the body. Going from there to the head counts one.
    pub counted: Option<u32>,
}

impl Draft {
    pub fn state(&mut self) -> u32 {
        self.n_states += 1;
        self.n_states - 1
    }
}
