//! Lays the automata of all rules out as one program.

use rustc_hash::FxHashMap;

use super::draft::{Action, Ending, Label, byte_classes};
use super::epsilon::Rule;
use super::ir::UNBOUNDED;
use crate::error::{Error, Result};
use crate::memory::Memory;
use crate::program::{ActionId, ByteEdge, CallEdge, Program, State, TokenEdge};

pub fn link(rules: Vec<Rule>, names: Vec<String>, memories: Vec<Memory>) -> Result<Program> {
    let order = reachable(&rules);
    let mut base = vec![u32::MAX; rules.len()];
    let mut next = 0u32;
    for &rule in &order {
        base[rule as usize] = next;
        let n = rules[rule as usize].states.len() as u64;
        next = u32::try_from(u64::from(next) + n).map_err(|_| Error::Limit {
            what: "the format has too many states".into(),
            limit: "states",
            value: u64::from(u32::MAX),
        })?;
    }
    let states = order.iter().flat_map(|&rule| &rules[rule as usize].states);
    let labels = states.flat_map(|state| &state.edges).map(|edge| edge.label);
    let (classes, first_bytes) = byte_classes(labels);
    let mut program = Program {
        states: Vec::with_capacity(next as usize),
        byte_edges: Vec::new(),
        call_edges: Vec::new(),
        token_edges: Vec::new(),
        actions: vec![Action::None, Action::Count],
        endings: order.iter().map(|&rule| rules[rule as usize].ending).collect(),
        remembers: order.iter().map(|&rule| remembers(rules[rule as usize].ending)).collect(),
        memories,
        names: order.iter().map(|&rule| names[rule as usize].clone()).collect(),
        thresholds: order.iter().map(|&rule| thresholds(&rules[rule as usize])).collect(),
        nullable: rules[0].nullable,
        classes,
        n_classes: first_bytes.len(),
        first_bytes,
    };
    let mut actions = FxHashMap::default();
    for (id, &rule) in (0u32..).zip(&order) {
        lay_out(&mut program, &mut actions, id, rule, &rules, &base);
    }
    crate::memory::settle(&mut program);
    rank_starts(&mut program, &order, &base);
    Ok(program)
}

/// Rules that the root can call, the root first.
fn reachable(rules: &[Rule]) -> Vec<u32> {
    let mut seen = vec![false; rules.len()];
    let mut order = vec![0u32];
    seen[0] = true;
    let mut at = 0;
    while at < order.len() {
        for edge in rules[order[at] as usize].states.iter().flat_map(|state| &state.edges) {
            if let Label::Call(callee) | Label::Nest(callee) = edge.label
                && !std::mem::replace(&mut seen[callee as usize], true)
            {
                order.push(callee);
            }
        }
        at += 1;
    }
    order
}

/// First calls are acyclic once left recursion is out: number the starts along them.
fn rank_starts(program: &mut Program, order: &[u32], base: &[u32]) {
    let starts: Vec<u32> = order.iter().map(|&rule| base[rule as usize]).collect();
    let rule_of = |start: u32| program.states[start as usize].rule;
    let numbers = super::components::components(starts.len(), |rule| {
        program.call_edges(starts[rule as usize]).iter().map(|edge| rule_of(edge.start))
    });
    let n = numbers.len() as u32;
    for (rule, number) in numbers.into_iter().enumerate() {
        program.states[starts[rule] as usize].rank = n - number;
    }
}

fn thresholds(rule: &Rule) -> Vec<u32> {
    let guards = rule.states.iter().flat_map(|state| [state.accept_from, state.valid_from, state.valid_to]);
    let mut all: Vec<u32> = guards.filter(|&count| count != 0 && count != UNBOUNDED).collect();
    all.sort_unstable();
    all.dedup();
    all
}

fn remembers(ending: Ending) -> bool {
    matches!(ending, Ending::Members { .. } | Ending::Items { .. } | Ending::Decimal { .. })
}

fn action_id(program: &mut Program, known: &mut FxHashMap<Action, ActionId>, action: Action) -> ActionId {
    match action {
        Action::None => 0,
        Action::Count => 1,
        _ => *known.entry(action).or_insert_with(|| {
            program.actions.push(action);
            program.actions.len() as u32 - 1
        }),
    }
}

fn lay_out(
    program: &mut Program,
    actions: &mut FxHashMap<Action, ActionId>,
    id: u32,
    rule: u32,
    rules: &[Rule],
    base: &[u32],
) {
    let from = &rules[rule as usize];
    let saturate = match from.bounds {
        Some(bounds) if bounds.max == UNBOUNDED => bounds.min,
        _ => UNBOUNDED,
    };
    for state in &from.states {
        let starts = [program.byte_edges.len(), program.call_edges.len(), program.token_edges.len()];
        for edge in &state.edges {
            let (action, target) =
                (action_id(program, actions, edge.action), base[rule as usize] + edge.target);
            match edge.label {
                Label::Bytes(low, high) => program.byte_edges.push(ByteEdge { low, high, action, target }),
                Label::Special(token) => program.token_edges.push(TokenEdge { token, action, target }),
                Label::Call(callee) | Label::Nest(callee) => {
                    let back = &from.states[edge.target as usize];
                    let ends = back.accept && back.accept_from == 0 && back.edges.is_empty();
                    let tail = action == 0 && ends && from.ending == Ending::Free;
                    let (start, nests) = (base[callee as usize], matches!(edge.label, Label::Nest(_)));
                    program.call_edges.push(CallEdge { start, back: target, action, nests, tail });
                }
            }
        }
        let range = |start: usize, end: usize| start as u32..end as u32;
        program.states.push(State {
            bytes: range(starts[0], program.byte_edges.len()),
            calls: range(starts[1], program.call_edges.len()),
            tokens: range(starts[2], program.token_edges.len()),
            accept: state.accept,
            accept_from: state.accept_from,
            valid_from: state.valid_from,
            valid_to: state.valid_to,
            saturate,
            guard: state.guard,
            records: state.edges.iter().any(|edge| edge.action.records()),
            rule: id,
            rank: 0,
        });
    }
}
