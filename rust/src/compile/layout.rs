//! Lays the automata of a group out as a small program of its own, from where `link` copies it into the whole.

use super::Budget;
use super::draft::{Edge, Label};
use super::epsilon::{Automata, Rule, RuleState};
use super::ir::UNBOUNDED;
use super::kept::HeapBytes;
use crate::error::Result;
use crate::memory::Memory;
use crate::program::{Action, ByteEdge, CallEdge, Ending, NO_ACTION, Names, Program, State, TokenEdge};

/// The rules of a group, ready to be copied into programs. In `program` states are counted from the first of the group, a call
/// has the callee's slot for its start, and names, classes and ranks are missing.
#[derive(Debug)]
pub struct Fragment {
    pub program: Program,
    /// Which rules have the empty text, and which have another one.
    pub nullable: Vec<bool>,
    pub lives: Vec<bool>,
}

impl Fragment {
    pub fn new(
        automata: &Automata,
        lives: Vec<bool>,
        actions: Vec<Action>,
        memories: Vec<Memory>,
        budget: &mut Budget,
    ) -> Result<Fragment> {
        let rules = &automata.rules;
        let mut layout = Layout {
            automata,
            numbers: vec![u32::MAX; automata.states.len()],
            order: Vec::with_capacity(automata.states.len()),
            fragment: Fragment {
                program: empty_program(automata, actions),
                nullable: rules.iter().map(|rule| rule.nullable).collect(),
                lives,
            },
        };
        rules.iter().for_each(|rule| layout.rule(rule));
        let mut fragment = layout.fragment;
        fragment.program.starts.push(fragment.program.states.len() as u32);
        if !memories.is_empty() {
            crate::memory::settle(&mut fragment.program, memories, budget)?;
        }
        Ok(fragment)
    }

    /// A group without rules: an intersection that cannot be counted.
    pub fn none(budget: &mut Budget) -> Result<Fragment> {
        Fragment::new(&Automata::default(), Vec::new(), Vec::new(), Vec::new(), budget)
    }
}

impl HeapBytes for Fragment {
    fn heap_bytes(&self) -> usize {
        self.program.heap_bytes() + self.lives.len() * 2
    }
}

fn empty_program(automata: &Automata, actions: Vec<Action>) -> Program {
    Program {
        states: Vec::with_capacity(automata.states.len()),
        byte_edges: Vec::with_capacity(automata.edges.len()),
        call_edges: Vec::new(),
        token_edges: Vec::new(),
        actions,
        endings: automata.rules.iter().map(|rule| rule.ending).collect(),
        remembers: automata.rules.iter().map(|rule| remembers(rule.ending)).collect(),
        memories: Vec::new(),
        origins: Vec::new(),
        starts: Vec::with_capacity(automata.rules.len() + 1),
        names: Names::default(),
        thresholds: Vec::with_capacity(automata.rules.len()),
        nullable: false,
        classes: [0; 256],
        n_classes: 1,
        first_bytes: Vec::new(),
    }
}

fn remembers(ending: Ending) -> bool {
    matches!(ending, Ending::Members { .. } | Ending::Items { .. } | Ending::Decimal { .. })
}

struct Layout<'a> {
    automata: &'a Automata,
    numbers: Vec<u32>,
    /// The states laid out, by their number.
    order: Vec<u32>,
    fragment: Fragment,
}

impl Layout<'_> {
    /// Lay out the states that the start of a rule reaches, breadth first.
    fn rule(&mut self, rule: &Rule) {
        self.fragment.program.starts.push(self.order.len() as u32);
        let mut at = self.order.len();
        self.number(rule.start);
        let mut counts = Vec::new();
        while let Some(&id) = self.order.get(at) {
            let state = self.automata.states[id as usize];
            let guards = [state.accept_from, state.valid_from, state.valid_to];
            counts.extend(guards.into_iter().filter(|&count| count != 0 && count != UNBOUNDED));
            self.state(id, &state, rule);
            at += 1;
        }
        counts.sort_unstable();
        counts.dedup();
        self.fragment.program.thresholds.push(counts);
    }

    fn number(&mut self, state: u32) -> u32 {
        let number = &mut self.numbers[state as usize];
        if *number == u32::MAX {
            *number = self.order.len() as u32;
            self.order.push(state);
        }
        *number
    }

    fn state(&mut self, id: u32, state: &RuleState, rule: &Rule) {
        let program = &self.fragment.program;
        let starts = [program.byte_edges.len(), program.call_edges.len(), program.token_edges.len()];
        let automata = self.automata;
        let mut recorded = false;
        for edge in automata.edges(id) {
            recorded |= self.fragment.program.actions[edge.action as usize].records();
            self.edge(edge, rule);
        }
        let program = &mut self.fragment.program;
        let range = |start: usize, end: usize| start as u32..end as u32;
        program.states.push(State {
            bytes: range(starts[0], program.byte_edges.len()),
            calls: range(starts[1], program.call_edges.len()),
            tokens: range(starts[2], program.token_edges.len()),
            accept: state.accept,
            accept_from: state.accept_from,
            valid_from: state.valid_from,
            valid_to: state.valid_to,
            saturate: match rule.bounds {
                Some(bounds) if bounds.max == UNBOUNDED => bounds.min,
                _ => UNBOUNDED,
            },
            guard: state.guard,
            records: recorded,
            rule: state.rule,
            rank: 0,
        });
    }

    fn edge(&mut self, &Edge { label, target, action }: &Edge, rule: &Rule) {
        let to = self.number(target);
        let program = &mut self.fragment.program;
        match label {
            Label::Bytes(low, high) => program.byte_edges.push(ByteEdge { low, high, action, target: to }),
            Label::Special(token) => program.token_edges.push(TokenEdge { token, action, target: to }),
            Label::Call(callee) | Label::Nest(callee) => {
                let back = &self.automata.states[target as usize];
                let ends = back.accept && back.accept_from == 0 && back.first == back.last;
                let tail = action == NO_ACTION && ends && rule.ending == Ending::Free;
                let nests = matches!(label, Label::Nest(_));
                program.call_edges.push(CallEdge { start: callee, back: to, action, nests, tail });
            }
        }
    }
}
