//! The raw automata of rules, with ε-edges: what Thompson's construction makes before anything is simplified.

use crate::program::NO_ACTION;

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
    OpenKey { spec: u32, open: u32 },
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

/// An edge of a draft, or of a rule without ε-edges. `action` is a place in the actions of the group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Edge {
    pub label: Label,
    pub target: u32,
    pub action: u32,
}

impl Edge {
    /// Edges are sorted by label, target and action. Comparing one number takes a third of comparing the fields.
    pub fn key(&self) -> u128 {
        let label = match self.label {
            Label::Bytes(low, high) => u64::from(low) << 8 | u64::from(high),
            Label::Call(rule) => 1 << 32 | u64::from(rule),
            Label::Nest(rule) => 2 << 32 | u64::from(rule),
            Label::Special(token) => 3 << 32 | u64::from(token),
        };
        u128::from(label) << 64 | u128::from(self.target) << 32 | u128::from(self.action)
    }
}

impl Edge {
    fn from_key(key: u128) -> Edge {
        let label = (key >> 64) as u64;
        let number = label as u32;
        Edge {
            label: match label >> 32 {
                0 => Label::Bytes((number >> 8) as u8, number as u8),
                1 => Label::Call(number),
                2 => Label::Nest(number),
                _ => Label::Special(number),
            },
            target: (key >> 32) as u32,
            action: key as u32,
        }
    }
}

/// Sort edges, and put doubles behind the others; returns how many others there are.
pub fn sort_edges(edges: &mut [Edge]) -> usize {
    // A state has two edges or three; their keys are made once then, and not for each comparison.
    const FEW: usize = 16;
    let mut few = [0; FEW];
    let mut many = Vec::new();
    let keys = if edges.len() <= FEW {
        &mut few[..edges.len()]
    } else {
        many.resize(edges.len(), 0);
        &mut many[..]
    };
    keys.iter_mut().zip(&*edges).for_each(|(key, edge)| *key = edge.key());
    keys.sort_unstable();
    let mut kept = 0;
    for at in 0..keys.len() {
        if at == 0 || keys[at] != keys[at - 1] {
            edges[kept] = Edge::from_key(keys[at]);
            kept += 1;
        }
    }
    kept
}

impl Default for Edge {
    fn default() -> Edge {
        Edge { label: Label::Call(0), target: 0, action: 0 }
    }
}

/// Where a rule begins and ends in a draft, and what holds for it as a whole.
#[derive(Debug, Clone, Copy, Default)]
pub struct DraftRule {
    pub start: u32,
    pub end: u32,
    /// A counted loop `body{min,max}`: `end` is its head, where the counter is compared with the bounds.
    pub bounds: Option<Bounds>,
    pub ending: Ending,
    /// Whether the rule can be empty, whatever its ε-edges say: what it keeps decides.
    pub may_be_empty: Option<bool>,
    /// In a counted loop: the state after the body. Going from there to the head counts one.
    pub counted: Option<u32>,
}

/// NFAs with ε-edges over labels, one for each rule of a group; no edge leads from one to another.
#[derive(Debug, Default)]
pub struct Draft {
    pub n_states: u32,
    pub rules: Vec<DraftRule>,
    /// Each edge with the state that it leaves.
    pub edges: Vec<(u32, Edge)>,
    pub epsilons: Vec<(u32, u32)>,
    /// Guards of states, for those that have one; the last one given to a state holds.
    pub guards: Vec<(u32, Guard)>,
    /// Counts with which a state can be entered, where the bounds of the loop do not say it.
    pub ranges: Vec<(u32, (u32, u32))>,
}

impl Draft {
    pub fn state(&mut self) -> u32 {
        self.n_states += 1;
        self.n_states - 1
    }

    pub fn clear(&mut self) {
        self.n_states = 0;
        self.rules.clear();
        self.edges.clear();
        self.epsilons.clear();
        self.guards.clear();
        self.ranges.clear();
    }

    /// Add an edge that does nothing but read.
    pub fn edge(&mut self, from: u32, label: Label, to: u32) {
        self.act(from, label, to, NO_ACTION);
    }

    /// Add an edge with an action.
    pub fn act(&mut self, from: u32, label: Label, to: u32, action: u32) {
        self.edges.push((from, Edge { label, target: to, action }));
    }

    /// Begin a rule: its start and its end.
    pub fn rule(&mut self, ending: Ending) -> DraftRule {
        let (start, end) = (self.state(), self.state());
        DraftRule { start, end, ending, ..Default::default() }
    }
}

/// The class of each byte, and the lowest byte of each class: bytes of a class are told apart by no label.
pub fn byte_classes(labels: impl Iterator<Item = Label>) -> ([u8; 256], Vec<u8>) {
    let mut starts = [false; 257];
    starts[0] = true;
    for label in labels {
        if let Label::Bytes(low, high) = label {
            starts[low as usize] = true;
            starts[high as usize + 1] = true;
        }
    }
    let mut classes = [0; 256];
    let mut firsts = Vec::with_capacity(starts.iter().filter(|&&start| start).count());
    for byte in 0..=255u8 {
        if starts[byte as usize] {
            firsts.push(byte);
        }
        classes[byte as usize] = (firsts.len() - 1) as u8;
    }
    (classes, firsts)
}

#[cfg(test)]
mod tests {
    use super::{Edge, Label, sort_edges};

    #[test]
    fn sorted_edges_are_the_same_edges_once_each() {
        let labels = [
            Label::Special(7),
            Label::Bytes(9, 255),
            Label::Nest(u32::MAX),
            Label::Bytes(0, 3),
            Label::Call(0),
        ];
        for copies in [1, 2, 9] {
            let mut edges: Vec<Edge> = (0..copies)
                .flat_map(|target| {
                    labels.map(|label| Edge { label, target: target % 4, action: u32::MAX - target % 4 })
                })
                .collect();
            let mut expected = edges.clone();
            expected.sort_by_key(Edge::key);
            expected.dedup();
            let kept = sort_edges(&mut edges);
            assert_eq!(edges[..kept], expected);
        }
    }
}
