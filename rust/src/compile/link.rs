//! Copies the groups that the root reaches into one program.

use std::sync::Arc;

use super::components::Search;
use super::draft::{Label, byte_classes};
use super::groups::{Groups, Kind, Vertex};
use super::ir::{Ir, Node};
use super::kept::Built;
use super::layout::Fragment;
use crate::error::{Error, Result};
use crate::program::{
    Action, ByteEdge, CallEdge, Ending, Guard, Name, Origin, Program, Rule, State, TokenEdge,
};

const NONE: u32 = u32::MAX;

/// `search` is memory to work in.
pub fn link(
    ir: &Ir,
    groups: &Groups,
    built: &[Arc<Built<Fragment>>],
    search: &mut Search,
) -> Result<Program> {
    let linker = Linker { ir, groups, built };
    let (order, numbers) = linker.reachable();
    let mut program = linker.empty(&order)?;
    // For each group, where its actions and memories begin in the program.
    let mut offsets = vec![(NONE, NONE); built.len()];
    for (id, &vertex) in (0u32..).zip(&order) {
        let group = linker.vertex(vertex).group;
        if offsets[group as usize].0 == NONE {
            offsets[group as usize] = (program.actions.len() as u32, program.memories.len() as u32);
            linker.copy_shared(&mut program, group);
        }
        let Vertex { place, .. } = *linker.vertex(vertex);
        let from = &built[group as usize].value.program.rules[place as usize];
        let shift = Shift {
            state: program.rules[id as usize].start.wrapping_sub(from.start),
            // The first two actions are everyone's.
            action: offsets[group as usize].0 - 2,
            memory: offsets[group as usize].1,
        };
        linker.copy_rule(&mut program, id, vertex, &shift, &numbers);
    }
    let labels = program.byte_edges.iter().map(|edge| Label::Bytes(edge.low, edge.high));
    (program.classes, program.first_bytes) = byte_classes(labels);
    program.n_classes = program.first_bytes.len();
    rank_starts(&mut program, search);
    Ok(program)
}

/// What is added to a number of a group to make it one of the program; state numbers wrap.
struct Shift {
    state: u32,
    action: u32,
    memory: u32,
}

impl Shift {
    fn state(&self, state: u32) -> u32 {
        state.wrapping_add(self.state)
    }

    fn action(&self, action: u32) -> u32 {
        if action < 2 { action } else { action + self.action }
    }
}

struct Linker<'l, 'a> {
    ir: &'l Ir<'a>,
    groups: &'l Groups,
    built: &'l [Arc<Built<Fragment>>],
}

impl Linker<'_, '_> {
    fn vertex(&self, vertex: u32) -> &Vertex {
        &self.groups.vertices[vertex as usize]
    }

    /// The program of a vertex's group, and its states there.
    fn states(&self, vertex: u32) -> (&Program, &[State]) {
        let Vertex { group, place, .. } = *self.vertex(vertex);
        let program = &self.built[group as usize].value.program;
        let range = program.rules[place as usize].states();
        (program, &program.states[range.start as usize..range.end as usize])
    }

    /// The vertices that the root can call, the root first, and the number of each vertex in that order.
    fn reachable(&self) -> (Vec<u32>, Vec<u32>) {
        let mut numbers = vec![NONE; self.groups.vertices.len()];
        let mut order = Vec::with_capacity(numbers.len());
        order.push(0u32);
        numbers[0] = 0;
        let mut at = 0;
        while at < order.len() {
            let vertex = order[at];
            let (program, states) = self.states(vertex);
            let slots = self.groups.slots(self.vertex(vertex).group);
            for edge in &program.call_edges[calls(states)] {
                let callee = slots[edge.start as usize];
                if numbers[callee as usize] == NONE {
                    numbers[callee as usize] = order.len() as u32;
                    order.push(callee);
                }
            }
            at += 1;
        }
        (order, numbers)
    }

    /// A program that has the rules, but not their states and edges yet.
    fn empty(&self, order: &[u32]) -> Result<Program> {
        let mut rules = Vec::with_capacity(order.len());
        let (mut start, mut n_bytes, mut n_calls) = (0u32, 0, 0);
        for &id in order {
            let vertex = self.vertex(id);
            let built = &self.built[vertex.group as usize];
            let from = &built.value.program.rules[vertex.place as usize];
            rules.push(Rule {
                start,
                origin: Origin { group: built.number, rule: vertex.place },
                name: self.name(vertex),
                ..from.clone()
            });
            start = start.checked_add(from.n_states).ok_or_else(|| Error::Limit {
                what: "the format has too many states".into(),
                limit: "states",
                value: u64::from(u32::MAX),
            })?;
            let (_, states) = self.states(id);
            n_bytes += bytes(states).len();
            n_calls += calls(states).len();
        }
        let Vertex { group, place, .. } = *self.vertex(0);
        Ok(Program {
            states: Vec::with_capacity(start as usize),
            byte_edges: Vec::with_capacity(n_bytes),
            call_edges: Vec::with_capacity(n_calls),
            token_edges: Vec::new(),
            actions: vec![Action::None, Action::Count],
            rules,
            memories: Vec::new(),
            names: self.ir.names.clone(),
            nullable: self.built[group as usize].value.texts[place as usize].empty,
            classes: [0; 256],
            n_classes: 1,
            first_bytes: Vec::new(),
        })
    }

    fn name(&self, vertex: &Vertex) -> Name {
        match (vertex.kind, vertex.rule) {
            (_, Some(rule)) => Name::Given(rule),
            (Kind::Plain, _) => Name::Kind("nested"),
            (Kind::Tail, _) => Name::Kind("member"),
            (Kind::Counted { min, max }, _) => Name::Counted { min, max },
            (Kind::Intersection, _) => Name::Kind("counted"),
            (Kind::Memory, _) => Name::Kind(match self.ir.node(vertex.node) {
                Node::Members(_) => "members",
                Node::Distinct(_) => "distinct items",
                Node::Decimal { .. } => "decimal",
                _ => "indentation",
            }),
        }
    }

    /// Copy what the rules of a group have together: actions and memories.
    fn copy_shared(&self, program: &mut Program, group: u32) {
        let from = &self.built[group as usize].value.program;
        let offset = program.memories.len() as u32;
        program.actions.extend(from.actions[2..].iter().map(|&action| moved_action(action, offset)));
        program.memories.extend_from_slice(&from.memories);
    }

    fn copy_rule(&self, program: &mut Program, id: u32, vertex: u32, shift: &Shift, numbers: &[u32]) {
        let (from, states) = self.states(vertex);
        let slots = self.groups.slots(self.vertex(vertex).group);
        let rule = &mut program.rules[id as usize];
        rule.ending = moved_ending(rule.ending, shift.memory);
        let (Some(first), Some(last)) = (states.first(), states.last()) else { return };
        let delta = |to: usize, from: u32| (to as u32).wrapping_sub(from);
        let bytes = delta(program.byte_edges.len(), first.bytes.start);
        let calls = delta(program.call_edges.len(), first.calls.start);
        let tokens = delta(program.token_edges.len(), first.tokens.start);
        let added =
            |range: &std::ops::Range<u32>, by: u32| range.start.wrapping_add(by)..range.end.wrapping_add(by);
        program.states.extend(states.iter().map(|state| State {
            bytes: added(&state.bytes, bytes),
            calls: added(&state.calls, calls),
            tokens: added(&state.tokens, tokens),
            guard: moved_guard(state.guard, shift.memory),
            rule: id,
            ..*state
        }));
        program.byte_edges.extend(from.byte_edges[self::bytes(states)].iter().map(|edge| ByteEdge {
            action: shift.action(edge.action),
            target: shift.state(edge.target),
            ..*edge
        }));
        let rules = &program.rules;
        program.call_edges.extend(from.call_edges[self::calls(states)].iter().map(|edge| CallEdge {
            start: rules[numbers[slots[edge.start as usize] as usize] as usize].start,
            back: shift.state(edge.back),
            action: shift.action(edge.action),
            ..*edge
        }));
        let token_edges = first.tokens.start as usize..last.tokens.end as usize;
        program.token_edges.extend(from.token_edges[token_edges].iter().map(|edge| TokenEdge {
            action: shift.action(edge.action),
            target: shift.state(edge.target),
            ..*edge
        }));
    }
}

/// The edges over bytes of all states of a rule.
fn bytes(states: &[State]) -> std::ops::Range<usize> {
    match (states.first(), states.last()) {
        (Some(first), Some(last)) => first.bytes.start as usize..last.bytes.end as usize,
        _ => 0..0,
    }
}

/// The calls of all states of a rule.
fn calls(states: &[State]) -> std::ops::Range<usize> {
    match (states.first(), states.last()) {
        (Some(first), Some(last)) => first.calls.start as usize..last.calls.end as usize,
        _ => 0..0,
    }
}

fn moved_action(action: Action, by: u32) -> Action {
    match action {
        Action::Declare { spec, member } => Action::Declare { spec: spec + by, member },
        Action::Close { spec, open } => Action::Close { spec: spec + by, open },
        Action::CloseItem { spec } => Action::CloseItem { spec: spec + by },
        Action::Digit { spec } => Action::Digit { spec: spec + by },
        Action::None | Action::Count | Action::Append => action,
    }
}

fn moved_guard(guard: Guard, by: u32) -> Guard {
    match guard {
        Guard::Key { spec } => Guard::Key { spec: spec + by },
        Guard::OpenKey { spec, open } => Guard::OpenKey { spec: spec + by, open },
        Guard::MoreMembers { spec } => Guard::MoreMembers { spec: spec + by },
        Guard::Item { spec, place } => Guard::Item { spec: spec + by, place },
        Guard::MoreItems { spec } => Guard::MoreItems { spec: spec + by },
        Guard::None | Guard::BelowDepth | Guard::AtMostDepth => guard,
    }
}

fn moved_ending(ending: Ending, by: u32) -> Ending {
    match ending {
        Ending::Members { spec } => Ending::Members { spec: spec + by },
        Ending::Items { spec } => Ending::Items { spec: spec + by },
        Ending::Decimal { spec } => Ending::Decimal { spec: spec + by },
        Ending::Free | Ending::Depth => ending,
    }
}

/// First calls are acyclic once left recursion is out: number the starts along them.
fn rank_starts(program: &mut Program, search: &mut Search) {
    search.run(program.rules.len(), |rule, at| {
        let calls = program.call_edges(program.rules[rule as usize].start);
        Some(program.states[calls.get(at as usize)?.start as usize].rule)
    });
    let n = program.rules.len() as u32;
    for (rule, &number) in program.rules.iter().zip(&search.component) {
        program.states[rule.start as usize].rank = n - number;
    }
}
