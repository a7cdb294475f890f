//! Takes out what no text can use: calls to rules without a text, and states without a way to the end.

use super::draft::{Edge, Ending, Label};
use super::epsilon::Automata;
use super::rows::Rows;
use crate::memory::Memory;
use crate::program::Action;

/// Memory that is used again for the next group.
#[derive(Debug, Default)]
pub struct Buffers {
    /// Which rules have a text besides the empty one.
    pub rules: Vec<bool>,
    live: Vec<bool>,
    /// For each rule: states that live as soon as the rule has a text.
    waiting: Vec<Vec<u32>>,
    /// Rules whose start was reached.
    asked: Vec<bool>,
    open: Vec<u32>,
    /// Starts of rules that remember, which have a way on, but lack a member or an item still.
    pending: Vec<u32>,
}

/// Take edges out that no text can use; states that nothing leads to any more stay. Finds which rules have a text besides
/// the empty one: `Buffers::rules`.
///
/// `lives` says it of the callees that are no rules of the group.
pub fn trim(
    automata: &mut Automata,
    into: &Incoming,
    memories: &[Memory],
    actions: &[Action],
    buffers: &mut Buffers,
    lives: impl Fn(u32) -> bool,
) {
    buffers.live.clear();
    buffers.live.resize(automata.states.len(), false);
    buffers.asked.clear();
    buffers.asked.resize(automata.rules.len(), false);
    buffers.waiting.clear();
    buffers.waiting.resize(automata.rules.len(), Vec::new());
    Liveness { automata, into, memories, actions, lives: &lives, found: buffers }.settle();
    let Buffers { rules, live, .. } = buffers;
    rules.clear();
    rules.extend(automata.rules.iter().map(|rule| live[rule.start as usize]));
    let callee_lives = |callee: u32| rules.get(callee as usize).copied().unwrap_or_else(|| lives(callee));
    let stays = |edge: &Edge| {
        live[edge.target as usize]
            && !matches!(edge.label, Label::Call(callee) | Label::Nest(callee) if !callee_lives(callee))
    };
    retain(automata, stays);
}

fn retain(automata: &mut Automata, stays: impl Fn(&Edge) -> bool) {
    if automata.edges.iter().all(&stays) {
        return;
    }
    let mut kept = 0;
    for state in &mut automata.states {
        let range = state.first as usize..state.last as usize;
        state.first = kept;
        for at in range {
            let edge = automata.edges[at];
            if stays(&edge) {
                automata.edges[kept as usize] = edge;
                kept += 1;
            }
        }
        state.last = kept;
    }
    automata.edges.truncate(kept as usize);
}

/// For each state the edges that lead to it: the state before, and the callee if it is a call.
pub type Incoming = Rows<(u32, u32)>;

pub const NO_CALL: u32 = u32::MAX;

/// Find them; what `into` held goes.
pub fn incoming(automata: &Automata, into: &mut Incoming) {
    let pairs = (0u32..).zip(&automata.states).flat_map(|(from, state)| {
        automata.edges[state.first as usize..state.last as usize].iter().map(move |edge| {
            let callee = match edge.label {
                Label::Call(callee) | Label::Nest(callee) => callee,
                _ => NO_CALL,
            };
            (edge.target, (from, callee))
        })
    });
    into.sort(automata.states.len(), pairs);
}

/// A least fixpoint: which states have a way to the end of their rule.
struct Liveness<'a, F> {
    automata: &'a Automata,
    into: &'a Incoming,
    memories: &'a [Memory],
    actions: &'a [Action],
    lives: &'a F,
    found: &'a mut Buffers,
}

impl<F: Fn(u32) -> bool> Liveness<'_, F> {
    fn settle(mut self) {
        for (id, state) in (0u32..).zip(&self.automata.states) {
            if state.accept {
                self.mark(id);
            }
        }
        loop {
            self.spread();
            let pending = std::mem::take(&mut self.found.pending);
            let (now, later): (Vec<u32>, Vec<u32>) = pending.iter().partition(|&&start| self.can_end(start));
            if now.is_empty() {
                return;
            }
            self.found.pending = later;
            now.into_iter().for_each(|start| self.mark(start));
        }
    }

    fn spread(&mut self) {
        while let Some(state) = self.found.open.pop() {
            let into = self.into;
            for &(from, callee) in into.of(state) {
                if callee == NO_CALL || self.callee_lives(callee) {
                    self.reach(from);
                } else if let Some(waiting) = self.found.waiting.get_mut(callee as usize) {
                    waiting.push(from);
                }
            }
            let rule = self.automata.states[state as usize].rule as usize;
            if state == self.automata.rules[rule].start {
                std::mem::take(&mut self.found.waiting[rule]).into_iter().for_each(|from| self.reach(from));
            }
        }
    }

    fn callee_lives(&self, callee: u32) -> bool {
        match self.automata.rules.get(callee as usize) {
            Some(rule) => self.found.live[rule.start as usize],
            None => (self.lives)(callee),
        }
    }

    fn reach(&mut self, state: u32) {
        let rule = self.automata.states[state as usize].rule as usize;
        if state != self.automata.rules[rule].start {
            self.mark(state);
        } else if !std::mem::replace(&mut self.found.asked[rule], true) {
            // A rule that remembers has a text only once what it requires has one.
            if self.can_end(state) { self.mark(state) } else { self.found.pending.push(state) }
        }
    }

    fn mark(&mut self, state: u32) {
        if !std::mem::replace(&mut self.found.live[state as usize], true) {
            self.found.open.push(state);
        }
    }

    /// Whether what the rule of a start keeps can ever let it end.
    fn can_end(&self, start: u32) -> bool {
        let rule = self.automata.states[start as usize].rule;
        match self.automata.rules[rule as usize].ending {
            Ending::Members { spec } => self.members_can_end(rule, spec),
            Ending::Items { spec } => match &self.memories[spec as usize] {
                Memory::Items(items) => {
                    let prefix = items.finite.len() - 1;
                    items.rest_words.as_ref().is_none_or(|rest| prefix + rest.len() >= items.min as usize)
                }
                _ => true,
            },
            Ending::Decimal { spec } => match &self.memories[spec as usize] {
                Memory::Decimal(decimal) => decimal.goes_on(b""),
                _ => true,
            },
            _ => true,
        }
    }

    fn members_can_end(&self, rule: u32, spec: u32) -> bool {
        let Memory::Members(members) = &self.memories[spec as usize] else { return true };
        let actions = || {
            let next = self.automata.rules.get(rule as usize + 1);
            let end = next.map_or(self.automata.states.len() as u32, |next| next.start);
            let states = self.automata.rules[rule as usize].start..end;
            let edges = states.flat_map(|state| self.automata.edges(state));
            edges
                .filter(|edge| self.found.live[edge.target as usize])
                .map(|edge| self.actions[edge.action as usize])
        };
        let mut written = vec![false; members.required.len()];
        for action in actions() {
            if let Action::Declare { member, .. } = action {
                written[member as usize] = true;
            }
        }
        let declared = written.iter().filter(|&&written| written).count();
        let required = || members.required.iter().filter(|&&required| required).count();
        let has_required =
            members.required.iter().zip(&written).all(|(&required, &written)| written || !required);
        let open = || {
            let mut open = vec![false; members.open_languages.len()];
            for action in actions() {
                if let Action::Close { open: number, .. } = action {
                    open[number as usize] = true;
                }
            }
            open
        };
        let needed = if members.needs() == 0 { Some(0) } else { members.to_meet(&open()) };
        // Listing the open keys takes long, and nearly all objects may be small.
        let has_enough = || {
            let open = open();
            let open_words = members.words_of(&open).map(|words| words.len());
            open_words.is_none_or(|open| open + declared >= members.min as usize)
        };
        has_required
            && needed.is_some_and(|needed| required() + needed as usize <= members.max as usize)
            && (declared >= members.min as usize || has_enough())
    }
}
