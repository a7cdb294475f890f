//! Copies the groups that the root reaches into one program.

use std::sync::Arc;

use super::components::components;
use super::draft::{Label, byte_classes};
use super::groups::{Groups, Kind, Vertex};
use super::ir::{Ir, Node, UNBOUNDED};
use super::kept::Built;
use super::layout::Fragment;
use crate::error::{Error, Result};
use crate::program::{Action, ByteEdge, CallEdge, Ending, Guard, Origin, Program, State, TokenEdge};

const NONE: u32 = u32::MAX;

pub fn link(ir: &Ir, groups: &Groups, built: &[Arc<Built<Fragment>>]) -> Result<Program> {
    let linker = Linker { ir, groups, built };
    let (order, numbers) = linker.reachable();
    let bases = linker.bases(&order)?;
    let mut program = linker.empty(&order, *bases.last().expect("one past the last state"));
    // For each group, where its actions and memories begin in the program.
    let mut offsets = vec![(NONE, NONE); built.len()];
    for (id, &vertex) in (0u32..).zip(&order) {
        let group = linker.vertex(vertex).group;
        if offsets[group as usize].0 == NONE {
            offsets[group as usize] = (program.actions.len() as u32, program.memories.len() as u32);
            linker.copy_shared(&mut program, group, &numbers, &bases);
        }
        let Vertex { place, .. } = *linker.vertex(vertex);
        let fragment = &built[group as usize].value;
        let shift = Shift {
            state: bases[id as usize].wrapping_sub(fragment.starts[place as usize]),
            // The first two actions are everyone's.
            action: offsets[group as usize].0 - 2,
            memory: offsets[group as usize].1,
        };
        linker.copy_rule(&mut program, id, vertex, &shift, |callee| bases[numbers[callee as usize] as usize]);
    }
    let labels = program.byte_edges.iter().map(|edge| Label::Bytes(edge.low, edge.high));
    (program.classes, program.first_bytes) = byte_classes(labels);
    program.n_classes = program.first_bytes.len();
    rank_starts(&mut program, &bases);
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

    /// The fragment of a vertex, and its states there.
    fn states(&self, vertex: u32) -> (&Fragment, &[State]) {
        let Vertex { group, place, .. } = *self.vertex(vertex);
        let fragment = &self.built[group as usize].value;
        let range = fragment.starts[place as usize] as usize..fragment.starts[place as usize + 1] as usize;
        (fragment, &fragment.program.states[range])
    }

    /// The vertices that the root can call, the root first, and the number of each vertex in that order.
    fn reachable(&self) -> (Vec<u32>, Vec<u32>) {
        let mut numbers = vec![NONE; self.groups.vertices.len()];
        let mut order = vec![0u32];
        numbers[0] = 0;
        let mut at = 0;
        while at < order.len() {
            let vertex = order[at];
            let (fragment, states) = self.states(vertex);
            let slots = &self.groups.plans[self.vertex(vertex).group as usize].slots;
            for edge in &fragment.program.call_edges[calls(states)] {
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

    /// Where each rule starts, and one past the last state.
    fn bases(&self, order: &[u32]) -> Result<Vec<u32>> {
        let mut bases = Vec::with_capacity(order.len() + 1);
        let mut next = 0u32;
        for &vertex in order {
            bases.push(next);
            next = next.checked_add(self.states(vertex).1.len() as u32).ok_or_else(|| Error::Limit {
                what: "the format has too many states".into(),
                limit: "states",
                value: u64::from(u32::MAX),
            })?;
        }
        bases.push(next);
        Ok(bases)
    }

    fn empty(&self, order: &[u32], n_states: u32) -> Program {
        let rule = |vertex: u32| {
            let Vertex { group, place, .. } = *self.vertex(vertex);
            (&self.built[group as usize].value, place as usize)
        };
        let (root, place) = rule(0);
        Program {
            states: Vec::with_capacity(n_states as usize),
            byte_edges: Vec::with_capacity(3 * n_states as usize),
            call_edges: Vec::new(),
            token_edges: Vec::new(),
            actions: vec![Action::None, Action::Count],
            endings: Vec::with_capacity(order.len()),
            remembers: Vec::with_capacity(order.len()),
            memories: Vec::new(),
            origins: order.iter().map(|&vertex| self.origin(vertex)).collect(),
            names: order.iter().map(|&vertex| self.name(vertex)).collect(),
            thresholds: Vec::with_capacity(order.len()),
            nullable: root.nullable[place],
            classes: Box::new([0; 256]),
            n_classes: 1,
            first_bytes: Vec::new(),
        }
    }

    fn origin(&self, vertex: u32) -> Origin {
        let Vertex { group, place, .. } = *self.vertex(vertex);
        Origin { group: self.built[group as usize].number, rule: place }
    }

    fn name(&self, vertex: u32) -> String {
        let vertex = self.vertex(vertex);
        match (vertex.kind, vertex.rule) {
            (_, Some(rule)) => self.ir.names[rule as usize].clone(),
            (Kind::Plain, _) => "nested".into(),
            (Kind::Tail, _) => "member".into(),
            (Kind::Counted { min, max: UNBOUNDED }, _) => format!("{{{min},}}"),
            (Kind::Counted { min, max }, _) => format!("{{{min},{max}}}"),
            (Kind::Intersection, _) => "counted".into(),
            (Kind::Memory, _) => match self.ir.node(vertex.node) {
                Node::Members(_) => "members".into(),
                Node::Distinct(_) => "distinct items".into(),
                Node::Decimal { .. } => "decimal".into(),
                _ => "indentation".into(),
            },
        }
    }

    /// Copy what the rules of a group have together: actions and memories.
    fn copy_shared(&self, program: &mut Program, group: u32, numbers: &[u32], bases: &[u32]) {
        let fragment = &self.built[group as usize].value;
        let offset = program.memories.len() as u32;
        program
            .actions
            .extend(fragment.program.actions[2..].iter().map(|&action| moved_action(action, offset)));
        let slots = &self.groups.plans[group as usize].slots;
        let moved = |state: u32| {
            let place = fragment.program.states[state as usize].rule as usize;
            let number = numbers[slots[place] as usize];
            (number != NONE).then(|| bases[number as usize] + state - fragment.starts[place])
        };
        program.memories.extend(fragment.program.memories.iter().map(|memory| memory.moved(moved)));
    }

    fn copy_rule(
        &self,
        program: &mut Program,
        id: u32,
        vertex: u32,
        shift: &Shift,
        start_of: impl Fn(u32) -> u32,
    ) {
        let (fragment, states) = self.states(vertex);
        let Vertex { group, place, .. } = *self.vertex(vertex);
        let from = &fragment.program;
        let slots = &self.groups.plans[group as usize].slots;
        program.endings.push(moved_ending(from.endings[place as usize], shift.memory));
        program.remembers.push(from.remembers[place as usize]);
        program.thresholds.push(from.thresholds[place as usize].clone());
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
        let range = |start: u32, end: u32| start as usize..end as usize;
        program.byte_edges.extend(from.byte_edges[range(first.bytes.start, last.bytes.end)].iter().map(
            |edge| ByteEdge { action: shift.action(edge.action), target: shift.state(edge.target), ..*edge },
        ));
        program.call_edges.extend(from.call_edges[self::calls(states)].iter().map(|edge| CallEdge {
            start: start_of(slots[edge.start as usize]),
            back: shift.state(edge.back),
            action: shift.action(edge.action),
            ..*edge
        }));
        program.token_edges.extend(from.token_edges[range(first.tokens.start, last.tokens.end)].iter().map(
            |edge| TokenEdge { action: shift.action(edge.action), target: shift.state(edge.target), ..*edge },
        ));
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
        Guard::OpenKey { spec } => Guard::OpenKey { spec: spec + by },
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
fn rank_starts(program: &mut Program, bases: &[u32]) {
    let starts = &bases[..bases.len() - 1];
    let rule_of = |start: u32| program.states[start as usize].rule;
    let numbers = components(starts.len(), |rule| {
        program.call_edges(starts[rule as usize]).iter().map(|edge| rule_of(edge.start))
    });
    let n = numbers.len() as u32;
    for (rule, number) in numbers.into_iter().enumerate() {
        program.states[starts[rule] as usize].rank = n - number;
    }
}
