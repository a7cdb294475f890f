//! Rewrites rules that call themselves before they have read anything, so that stacks stay acyclic.
//!
//! For recognition a left spine `X0 → X1 r0 → X2 r1 r0 ...` needs no stack: start at its lowest end, where something is
//! read, and each time a rule X of the component ends, go on after one of the places that call X first. That is the
//! left-corner transformation (Rosenkrantz and Lewis, 1970), done on automata: the rule for a goal holds a copy of each
//! automaton of its component, and leaves when a text of the goal itself ends.

use rustc_hash::{FxHashMap, FxHashSet};

use super::Budget;
use super::components::components;
use super::draft::{Action, Bounds, Ending, Guard, Label};
use super::epsilon::{Edge, Rule, RuleState};
use super::ir::UNBOUNDED;
use super::trim::drop_unreachable;
use crate::error::{Error, Result};

pub fn remove(rules: &mut [Rule], budget: &mut Budget) -> Result<()> {
    let left =
        |rule: u32| -> Vec<u32> { left_calls(&rules[rule as usize]).map(|(callee, _)| callee).collect() };
    let component = components(rules.len(), |rule| left(rule).into_iter());
    let mut members: FxHashMap<u32, Vec<u32>> = FxHashMap::default();
    for (rule, &id) in (0u32..).zip(&component) {
        members.entry(id).or_default().push(rule);
    }
    let mut cyclic: Vec<Vec<u32>> =
        members.into_values().filter(|group| group.len() > 1 || left(group[0]).contains(&group[0])).collect();
    cyclic.sort_unstable();
    for group in cyclic {
        for &rule in &group {
            let nests = |edge: &Edge| matches!(edge.label, Label::Nest(callee) if group.contains(&callee));
            if rules[rule as usize].states[0].edges.iter().any(nests) {
                return Err(Error::grammar(
                    "a rule goes one level deeper into itself before it reads anything",
                    "then a text could be any number of levels deep at the same place",
                ));
            }
            if rules[rule as usize].bounds.is_some() {
                rules[rule as usize] = unroll(&rules[rule as usize], budget)?;
            }
        }
        let rewritten = group
            .iter()
            .map(|&goal| Spine::new(rules, &group).rule(goal, budget))
            .collect::<Result<Vec<_>>>()?;
        for (&goal, rule) in group.iter().zip(rewritten) {
            rules[goal as usize] = rule;
        }
    }
    Ok(())
}

/// The calls that a rule can make before it has read anything, with the state after each.
fn left_calls(rule: &Rule) -> impl Iterator<Item = (u32, u32)> + '_ {
    rule.states[0].edges.iter().filter_map(|edge| match edge.label {
        Label::Call(callee) | Label::Nest(callee) => Some((callee, edge.target)),
        _ => None,
    })
}

/// One component of mutually left-recursive rules, laid out side by side.
struct Spine<'r> {
    rules: &'r [Rule],
    group: &'r [u32],
    /// The number of the first state of each member in the joint automaton; state 0 is the new start.
    base: FxHashMap<u32, u32>,
    /// For each member: where some member goes on after having called it first, as (rule, state).
    after: FxHashMap<u32, Vec<(u32, u32)>>,
}

impl<'r> Spine<'r> {
    fn new(rules: &'r [Rule], group: &'r [u32]) -> Self {
        let mut base = FxHashMap::default();
        let mut after: FxHashMap<u32, Vec<(u32, u32)>> = FxHashMap::default();
        let mut next = 1;
        for &member in group {
            base.insert(member, next);
            next += rules[member as usize].states.len() as u32;
        }
        for &member in group {
            for (callee, state) in left_calls(&rules[member as usize]) {
                if base.contains_key(&callee) {
                    after.entry(callee).or_default().push((member, state));
                }
            }
        }
        Spine { rules, group, base, after }
    }

    fn rule(&self, goal: u32, budget: &mut Budget) -> Result<Rule> {
        budget.spend_states(
            self.group.iter().map(|&member| self.rules[member as usize].states.len() as u64).sum(),
        )?;
        let mut start = Vec::new();
        for &member in self.group {
            let outside =
                |edge: &&Edge| !matches!(edge.label, Label::Call(callee) if self.base.contains_key(&callee));
            start.extend(
                self.rules[member as usize].states[0]
                    .edges
                    .iter()
                    .filter(outside)
                    .map(|edge| self.place(member, edge)),
            );
        }
        start.sort_unstable();
        start.dedup();
        let mut states = vec![plain_state(start, false)];
        for &member in self.group {
            for (id, state) in (0u32..).zip(&self.rules[member as usize].states) {
                // The old starts are not entered any more.
                let reached = if id == 0 { Vec::new() } else { self.completions(member, id) };
                let mut edges: Vec<Edge> = if id == 0 {
                    Vec::new()
                } else {
                    state.edges.iter().map(|edge| self.place(member, edge)).collect()
                };
                let mut accept = id != 0 && state.accept && member == goal;
                budget.spend_edges(reached.len() as u64)?;
                for (rule, state) in reached {
                    let state = &self.rules[rule as usize].states[state as usize];
                    edges.extend(state.edges.iter().map(|edge| self.place(rule, edge)));
                    accept |= state.accept && rule == goal;
                }
                edges.sort_unstable();
                edges.dedup();
                budget.spend_edges(edges.len() as u64)?;
                states.push(plain_state(edges, accept));
            }
        }
        let mut rule =
            Rule { states, bounds: None, ending: Ending::Free, nullable: self.rules[goal as usize].nullable };
        drop_dead(&mut rule);
        drop_unreachable(&mut rule);
        Ok(rule)
    }

    fn place(&self, member: u32, edge: &Edge) -> Edge {
        Edge { target: self.base[&member] + edge.target, ..*edge }
    }

    /// All states that can go on when `state` of `member` ends its rule: after each first call of it, and so on up.
    fn completions(&self, member: u32, state: u32) -> Vec<(u32, u32)> {
        let mut seen = FxHashSet::default();
        let mut open = vec![(member, state)];
        let mut found = Vec::new();
        while let Some((rule, state)) = open.pop() {
            if !self.rules[rule as usize].states[state as usize].accept {
                continue;
            }
            for &next in self.after.get(&rule).into_iter().flatten() {
                if seen.insert(next) {
                    found.push(next);
                    open.push(next);
                }
            }
        }
        found.sort_unstable();
        found
    }
}

fn plain_state(edges: Vec<Edge>, accept: bool) -> RuleState {
    RuleState { edges, accept, accept_from: 0, valid_from: 0, valid_to: UNBOUNDED, guard: Guard::None }
}

/// A member that can never end in the goal leaves states without a way to the end; take edges to them out.
fn drop_dead(rule: &mut Rule) {
    let mut into = vec![Vec::new(); rule.states.len()];
    for (from, state) in (0u32..).zip(&rule.states) {
        state.edges.iter().for_each(|edge| into[edge.target as usize].push(from));
    }
    let mut live: Vec<bool> = rule.states.iter().map(|state| state.accept).collect();
    let mut open: Vec<u32> = (0..live.len() as u32).filter(|&state| live[state as usize]).collect();
    while let Some(state) = open.pop() {
        for &from in &into[state as usize] {
            if !std::mem::replace(&mut live[from as usize], true) {
                open.push(from);
            }
        }
    }
    for state in &mut rule.states {
        state.edges.retain(|edge| live[edge.target as usize]);
    }
}

/// A counted loop as plain states, one set a count: a counter cannot be carried along a left spine.
fn unroll(rule: &Rule, budget: &mut Budget) -> Result<Rule> {
    let Bounds { min, max } = rule.bounds.expect("only counted loops are unrolled");
    let top = if max == UNBOUNDED { min } else { max };
    let n = rule.states.len() as u32;
    budget.spend_states(u64::from(n) * (u64::from(top) + 1))?;
    let mut states = Vec::new();
    for count in 0..=top {
        for state in &rule.states {
            let mut edges = Vec::new();
            for edge in &state.edges {
                let counts = edge.action == Action::Count;
                let next =
                    if counts && max == UNBOUNDED { (count + 1).min(top) } else { count + u32::from(counts) };
                let to = &rule.states[edge.target as usize];
                if next <= top && (to.valid_from..=to.valid_to).contains(&next) {
                    edges.push(Edge { target: next * n + edge.target, action: Action::None, ..*edge });
                }
            }
            states.push(plain_state(edges, state.accept && count >= state.accept_from));
        }
    }
    let mut rule = Rule { states, bounds: None, ending: Ending::Free, nullable: rule.nullable };
    drop_unreachable(&mut rule);
    Ok(rule)
}
