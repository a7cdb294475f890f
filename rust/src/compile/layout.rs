//! Lays the automata of a group out as a small program of its own, from where `link` copies it into the whole.

use super::Budget;
use super::draft::{Edge, Label};
use super::epsilon::{Automata, Rule, RuleState};
use super::ir::UNBOUNDED;
use super::kept::HeapBytes;
use crate::error::Result;
use crate::memory::Memory;
use crate::program::{
    self, Action, ByteEdge, CallEdge, Ending, NO_ACTION, Name, Origin, Program, RuleNames, State, TokenEdge,
};

/// The rules of a group, ready to be copied into programs. In `program` states are counted from the first of the group, a call
/// has the callee's slot for its start, and names, origins, classes and ranks are missing.
#[derive(Debug)]
pub struct Fragment {
    pub program: Program,
    /// For each rule.
    pub texts: Vec<Texts>,
}

/// Which texts a rule has: the empty one, some other one.
#[derive(Debug, Clone, Copy)]
pub struct Texts {
    pub empty: bool,
    pub some: bool,
}

/// Memory that is used again for the next group.
#[derive(Debug, Default)]
pub struct Buffers {
    numbers: Vec<u32>,
    order: Vec<u32>,
    counts: Vec<u32>,
}

impl Fragment {
    /// `lives`: which rules have a text besides the empty one.
    pub fn new(
        automata: &Automata,
        lives: &[bool],
        actions: Vec<Action>,
        memories: Vec<Memory>,
        buffers: &mut Buffers,
        budget: &mut Budget,
    ) -> Result<Fragment> {
        buffers.numbers.clear();
        buffers.numbers.resize(automata.states.len(), u32::MAX);
        buffers.order.clear();
        let mut layout = Layout { automata, buffers, program: empty_program(automata, actions) };
        automata.rules.iter().for_each(|rule| layout.rule(rule));
        let mut program = layout.program;
        if !memories.is_empty() {
            crate::memory::settle(&mut program, memories, budget)?;
        }
        let texts =
            automata.rules.iter().zip(lives).map(|(rule, &some)| Texts { empty: rule.nullable, some });
        Ok(Fragment { program, texts: texts.collect() })
    }

    /// A group without rules: an intersection that cannot be counted.
    pub fn none(budget: &mut Budget) -> Result<Fragment> {
        Fragment::new(&Automata::default(), &[], Vec::new(), Vec::new(), &mut Buffers::default(), budget)
    }
}

impl HeapBytes for Fragment {
    fn heap_bytes(&self) -> usize {
        self.program.heap_bytes() + size_of_val(&*self.texts)
    }
}

fn empty_program(automata: &Automata, actions: Vec<Action>) -> Program {
    let calls = automata.edges.iter().filter(|edge| matches!(edge.label, Label::Call(_) | Label::Nest(_)));
    let n_calls = calls.count();
    Program {
        states: Vec::with_capacity(automata.states.len()),
        byte_edges: Vec::with_capacity(automata.edges.len() - n_calls),
        call_edges: Vec::with_capacity(n_calls),
        token_edges: Vec::new(),
        actions,
        rules: Vec::with_capacity(automata.rules.len()),
        memories: Vec::new(),
        names: RuleNames::new(|_| String::new()),
        nullable: false,
        classes: [0; 256],
        n_classes: 1,
        first_bytes: Vec::new(),
    }
}

struct Layout<'a> {
    automata: &'a Automata,
    /// The states laid out are in `order`, by their number.
    buffers: &'a mut Buffers,
    program: Program,
}

impl Layout<'_> {
    /// Lay out the states that the start of a rule reaches, breadth first.
    fn rule(&mut self, rule: &Rule) {
        let start = self.buffers.order.len();
        self.number(rule.start);
        self.buffers.counts.clear();
        let mut at = start;
        while let Some(&id) = self.buffers.order.get(at) {
            let state = self.automata.states[id as usize];
            let guards = [state.accept_from, state.valid_from, state.valid_to];
            let compared = guards.into_iter().filter(|&count| count != 0 && count != UNBOUNDED);
            self.buffers.counts.extend(compared);
            self.state(id, &state, rule);
            at += 1;
        }
        self.buffers.counts.sort_unstable();
        self.buffers.counts.dedup();
        self.program.rules.push(program::Rule {
            start: start as u32,
            n_states: (at - start) as u32,
            ending: rule.ending,
            origin: Origin { group: 0, rule: self.program.rules.len() as u32 },
            name: Name::Kind(""),
            thresholds: self.buffers.counts.clone(),
        });
    }

    fn number(&mut self, state: u32) -> u32 {
        let number = &mut self.buffers.numbers[state as usize];
        if *number == u32::MAX {
            *number = self.buffers.order.len() as u32;
            self.buffers.order.push(state);
        }
        *number
    }

    fn state(&mut self, id: u32, state: &RuleState, rule: &Rule) {
        let program = &self.program;
        let starts = [program.byte_edges.len(), program.call_edges.len(), program.token_edges.len()];
        let automata = self.automata;
        let mut recorded = false;
        for edge in automata.edges(id) {
            recorded |= self.program.actions[edge.action as usize].records();
            self.edge(edge, rule);
        }
        let program = &mut self.program;
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
        let program = &mut self.program;
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
