//! A compiled format: the automata of all rules in one table. Immutable, shared by everything that runs it.

use std::ops::Range;
use std::sync::Arc;

pub use crate::compile::draft::{Action, Ending, Guard};
use crate::memory::Memory;

/// A state of the program; states of all rules are numbered together.
pub type StateId = u32;

/// What taking an edge does: a place in `Program::actions`.
pub type ActionId = u32;

pub const NO_ACTION: ActionId = 0;
/// One more round of the rule's counted loop.
pub const COUNT: ActionId = 1;

pub const UNBOUNDED: u32 = u32::MAX;

/// Reads one byte between two bounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ByteEdge {
    pub low: u8,
    pub high: u8,
    pub action: ActionId,
    pub target: StateId,
}

/// Reads a text of another rule, then goes on at `back`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CallEdge {
    /// The start of the rule called.
    pub start: StateId,
    pub back: StateId,
    pub action: ActionId,
    /// The callee is one level deeper.
    pub nests: bool,
    /// Nothing is left to do after the call: no frame is needed, the callee ends where the caller would.
    pub tail: bool,
}

/// Reads one special token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TokenEdge {
    pub token: u32,
    pub action: ActionId,
    pub target: StateId,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct State {
    pub bytes: Range<u32>,
    pub calls: Range<u32>,
    pub tokens: Range<u32>,
    /// The rule may end here, from count `accept_from` on.
    pub accept: bool,
    pub accept_from: u32,
    /// The state can be entered from this count on,
    pub valid_from: u32,
    /// up to this one.
    pub valid_to: u32,
    /// Counts of the rule stop growing here (a loop without an upper bound counts up to its lower one).
    pub saturate: u32,
    pub guard: Guard,
    /// Some edge records the byte that it reads.
    pub records: bool,
    pub rule: u32,
    /// 0, and for the start of a rule its place in the order of first calls: a caller comes before what it calls first.
    pub rank: u32,
}

impl State {
    /// Whether the state can be entered with this count.
    #[inline(always)]
    pub fn takes(&self, count: u32) -> bool {
        self.valid_from <= count && count <= self.valid_to
    }

    /// Whether the rule may end here with this count.
    pub fn leaves_at(&self, count: u32) -> bool {
        self.accept && self.accept_from <= count
    }
}

/// What a rule was copied from. Rules with equal origins have the same automaton, and so have all the rules that they
/// call: the n-th state of one does what the n-th state of the other does, in whatever programs of this process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Origin {
    pub group: u64,
    pub rule: u32,
}

/// What a rule is called.
#[derive(Debug, Clone, Copy)]
pub enum Name {
    /// As the rule of the format with this number.
    Given(u32),
    /// After what it is.
    Kind(&'static str),
    /// A counted loop, by its bounds.
    Counted { min: u32, max: u32 },
}

/// Names of the rules of a program, for messages and statistics.
#[derive(Debug, Default)]
pub struct Names {
    /// Those of the format's rules.
    pub given: Vec<String>,
    /// For each rule of the program.
    pub rules: Vec<Name>,
}

impl Names {
    /// The name of a rule of the program.
    pub fn of(&self, rule: usize) -> String {
        match self.rules[rule] {
            Name::Given(given) => self.given[given as usize].clone(),
            Name::Kind(kind) => kind.into(),
            Name::Counted { min, max: UNBOUNDED } => format!("{{{min},}}"),
            Name::Counted { min, max } => format!("{{{min},{max}}}"),
        }
    }

    fn heap_bytes(&self) -> usize {
        let given = self.given.iter().map(|name| name.len() + size_of::<String>());
        given.sum::<usize>() + self.rules.len() * size_of::<Name>()
    }
}

#[derive(Debug)]
pub struct Program {
    pub states: Vec<State>,
    pub byte_edges: Vec<ByteEdge>,
    pub call_edges: Vec<CallEdge>,
    pub token_edges: Vec<TokenEdge>,
    pub actions: Vec<Action>,
    /// What must hold for each rule to end, besides its count.
    pub endings: Vec<Ending>,
    /// Whether each rule keeps something of its own: it starts with nothing kept then.
    pub remembers: Vec<bool>,
    pub memories: Vec<Arc<Memory>>,
    /// Where each rule comes from.
    pub origins: Vec<Origin>,
    /// The first state of each rule, and one past the last state: the states of a rule are side by side.
    pub starts: Vec<StateId>,
    pub names: Names,
    /// Ascending: every count that some guard of the rule compares with.
    pub thresholds: Vec<Vec<u32>>,
    /// The root may be the empty text.
    pub nullable: bool,
    /// Bytes that no edge of the program tells apart have one class.
    pub classes: [u8; 256],
    pub n_classes: usize,
    /// The lowest byte of each class.
    pub first_bytes: Vec<u8>,
}

impl Program {
    /// The state where the text begins.
    pub const START: StateId = 0;

    pub fn byte_edges(&self, state: StateId) -> &[ByteEdge] {
        let range = &self.states[state as usize].bytes;
        &self.byte_edges[range.start as usize..range.end as usize]
    }

    /// Whether a state is in a key or an item that only a few texts are left to end.
    pub fn has_few_ends(&self, state: StateId) -> bool {
        let (Guard::Item { spec, .. } | Guard::OpenKey { spec }) = self.states[state as usize].guard else {
            return false;
        };
        match &*self.memories[spec as usize] {
            Memory::Items(items) => items.words.contains_key(&self.place_in_rule(state)),
            Memory::Members(members) => members.words.contains_key(&self.place_in_rule(state)),
            Memory::Decimal(_) => false,
        }
    }

    pub fn n_rules(&self) -> usize {
        self.starts.len() - 1
    }

    pub fn states_of(&self, rule: u32) -> Range<StateId> {
        self.starts[rule as usize]..self.starts[rule as usize + 1]
    }

    /// Which state of its rule a state is. Memories know states by that.
    pub fn place_in_rule(&self, state: StateId) -> StateId {
        state - self.starts[self.states[state as usize].rule as usize]
    }

    pub fn call_edges(&self, state: StateId) -> &[CallEdge] {
        let range = &self.states[state as usize].calls;
        &self.call_edges[range.start as usize..range.end as usize]
    }

    pub fn token_edges(&self, state: StateId) -> &[TokenEdge] {
        let range = &self.states[state as usize].tokens;
        &self.token_edges[range.start as usize..range.end as usize]
    }

    /// The count after one more round in the rule of `state`.
    pub fn count_up(&self, state: StateId, count: u32) -> u32 {
        (count + 1).min(self.states[state as usize].saturate)
    }

    /// The lowest count from `count` on that a guard of the state's rule compares with.
    pub fn next_threshold(&self, state: StateId, count: u32) -> Option<u32> {
        let all = &self.thresholds[self.states[state as usize].rule as usize];
        all.get(all.partition_point(|&threshold| threshold < count)).copied()
    }

    /// The lowest count that no text can tell from `count` in which `most` more are counted.
    pub fn alike_count(&self, state: StateId, count: u32, most: u32) -> u32 {
        let rule = self.states[state as usize].rule as usize;
        if self.endings[rule] == Ending::Depth {
            return count;
        }
        let all = &self.thresholds[rule];
        let at = all.partition_point(|&threshold| threshold < count);
        match all.get(at) {
            Some(&next) if next - count <= most => count,
            _ if at == 0 => 0,
            _ => all[at - 1] + 1,
        }
    }

    /// Heap bytes held.
    pub fn heap_bytes(&self) -> usize {
        self.states.len() * size_of::<State>()
            + self.byte_edges.len() * size_of::<ByteEdge>()
            + self.call_edges.len() * size_of::<CallEdge>()
            + self.token_edges.len() * size_of::<TokenEdge>()
            + self.actions.len() * size_of::<Action>()
            + self.endings.len() * (size_of::<Ending>() + 1)
            + self.origins.len() * size_of::<Origin>()
            + self.thresholds.iter().map(|all| size_of_val(&**all) + size_of::<Vec<u32>>()).sum::<usize>()
            + self.memories.iter().map(|memory| memory.heap_bytes()).sum::<usize>()
            + self.starts.len() * size_of::<StateId>()
            + self.names.heap_bytes()
    }

    pub fn n_edges(&self) -> usize {
        self.byte_edges.len() + self.call_edges.len() + self.token_edges.len()
    }

    /// The name, the states and the bytes of each rule, most bytes first.
    pub fn sizes_by_rule(&self) -> Vec<(String, usize, usize)> {
        let mut all: Vec<_> = (0..self.n_rules()).map(|rule| (self.names.of(rule), 0, 0)).collect();
        for state in &self.states {
            let (_, states, bytes) = &mut all[state.rule as usize];
            *states += 1;
            *bytes += size_of::<State>()
                + state.bytes.len() * size_of::<ByteEdge>()
                + state.calls.len() * size_of::<CallEdge>()
                + state.tokens.len() * size_of::<TokenEdge>();
        }
        all.sort_by(|a, b| b.2.cmp(&a.2).then_with(|| a.0.cmp(&b.0)));
        all
    }

    /// Whether any rule keeps more than a count.
    pub fn has_memory(&self) -> bool {
        !self.memories.is_empty()
    }

    /// Special tokens that the format names.
    pub fn tokens(&self) -> impl Iterator<Item = u32> + '_ {
        self.token_edges.iter().map(|edge| edge.token)
    }
}
