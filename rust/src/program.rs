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

/// What the rules of a format are called. Messages and statistics ask, and few of them: to copy ten strings for each compile
/// takes 3 µs.
#[derive(Clone)]
pub struct RuleNames(Arc<dyn Fn(u32) -> String + Send + Sync>);

impl RuleNames {
    pub fn new(name_of: impl Fn(u32) -> String + Send + Sync + 'static) -> RuleNames {
        RuleNames(Arc::new(name_of))
    }

    pub fn of(&self, rule: u32) -> String {
        (self.0)(rule)
    }
}

impl std::fmt::Debug for RuleNames {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("RuleNames")
    }
}

#[derive(Debug, Clone)]
pub struct Rule {
    /// Its states are side by side, and this one is the first.
    pub start: StateId,
    pub n_states: u32,
    /// What must hold for it to end, besides its count.
    pub ending: Ending,
    pub origin: Origin,
    pub name: Name,
    /// Ascending: every count that some guard of it compares with.
    pub thresholds: Vec<u32>,
}

impl Rule {
    pub fn states(&self) -> Range<StateId> {
        self.start..self.start + self.n_states
    }

    /// Whether it keeps something of its own: it starts with nothing kept then.
    pub fn remembers(&self) -> bool {
        matches!(self.ending, Ending::Members { .. } | Ending::Items { .. } | Ending::Decimal { .. })
    }
}

#[derive(Debug)]
pub struct Program {
    pub states: Vec<State>,
    pub byte_edges: Vec<ByteEdge>,
    pub call_edges: Vec<CallEdge>,
    pub token_edges: Vec<TokenEdge>,
    pub actions: Vec<Action>,
    pub rules: Vec<Rule>,
    pub memories: Vec<Arc<Memory>>,
    pub names: RuleNames,
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
        let (Guard::Item { spec, .. } | Guard::OpenKey { spec, .. }) = self.states[state as usize].guard
        else {
            return false;
        };
        match &*self.memories[spec as usize] {
            Memory::Items(items) => items.words.contains_key(&self.place_in_rule(state)),
            Memory::Members(members) => members.words.contains_key(&self.place_in_rule(state)),
            Memory::Decimal(_) => false,
        }
    }

    /// The rule of a state.
    pub fn rule_of(&self, state: StateId) -> &Rule {
        &self.rules[self.states[state as usize].rule as usize]
    }

    /// Which state of its rule a state is. Memories know states by that.
    pub fn place_in_rule(&self, state: StateId) -> StateId {
        state - self.rule_of(state).start
    }

    pub fn name(&self, rule: &Rule) -> String {
        match rule.name {
            Name::Given(given) => self.names.of(given),
            Name::Kind(kind) => kind.into(),
            Name::Counted { min, max: UNBOUNDED } => format!("{{{min},}}"),
            Name::Counted { min, max } => format!("{{{min},{max}}}"),
        }
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
        let all = &self.rule_of(state).thresholds;
        all.get(all.partition_point(|&threshold| threshold < count)).copied()
    }

    /// The lowest count that no text can tell from `count` in which `most` more are counted.
    pub fn alike_count(&self, state: StateId, count: u32, most: u32) -> u32 {
        let rule = self.rule_of(state);
        if rule.ending == Ending::Depth {
            return count;
        }
        let all = &rule.thresholds;
        let at = all.partition_point(|&threshold| threshold < count);
        match all.get(at) {
            Some(&next) if next - count <= most => count,
            _ if at == 0 => 0,
            _ => all[at - 1] + 1,
        }
    }

    /// Heap bytes held. Memories that programs share are counted in each of them.
    pub fn heap_bytes(&self) -> usize {
        self.states.len() * size_of::<State>()
            + self.byte_edges.len() * size_of::<ByteEdge>()
            + self.call_edges.len() * size_of::<CallEdge>()
            + self.token_edges.len() * size_of::<TokenEdge>()
            + self.actions.len() * size_of::<Action>()
            + self.rules.iter().map(|rule| size_of::<Rule>() + size_of_val(&*rule.thresholds)).sum::<usize>()
            + self.memories.iter().map(|memory| memory.heap_bytes()).sum::<usize>()
    }

    pub fn n_edges(&self) -> usize {
        self.byte_edges.len() + self.call_edges.len() + self.token_edges.len()
    }

    /// The name, the states and the bytes of each rule, most bytes first.
    pub fn sizes_by_rule(&self) -> Vec<(String, usize, usize)> {
        let mut all: Vec<_> = self.rules.iter().map(|rule| (self.name(rule), 0, 0)).collect();
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
