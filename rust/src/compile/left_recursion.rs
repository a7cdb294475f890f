//! Rewrites rules that call themselves before they have read anything, so that stacks stay acyclic.
//!
//! For recognition a left spine `X0 → X1 r0 → X2 r1 r0 ...` needs no stack: start at its lowest end, where something is
//! read, and each time a rule X of the component ends, go on after one of the places that call X first. That is the
//! left-corner transformation (Rosenkrantz and Lewis, 1970), done on automata: the rule for a goal holds a copy of each
//! automaton of its component, and leaves when a text of the goal itself ends.

use rustc_hash::{FxHashMap, FxHashSet};

use super::Budget;
use super::components::components;
use super::draft::{Bounds, Edge, Guard, Label, sort_edges};
use super::epsilon::{Automata, RuleState};
use super::ir::UNBOUNDED;
use crate::error::{Error, Result};
use crate::program::{COUNT, NO_ACTION};

/// Rewrite the rules of a group. Returns whether there was anything to do.
pub fn remove(automata: &mut Automata, budget: &mut Budget) -> Result<bool> {
    let n_rules = automata.rules.len();
    if (0..n_rules).all(|rule| own_left_calls(automata, rule).next().is_none()) {
        return Ok(false);
    }
    let calls: Vec<Vec<u32>> = (0..n_rules).map(|rule| own_left_calls(automata, rule).collect()).collect();
    let component = components(n_rules, |rule, at| calls[rule as usize].get(at as usize).copied());
    let mut members: FxHashMap<u32, Vec<u32>> = FxHashMap::default();
    for (rule, &id) in (0u32..).zip(&component) {
        members.entry(id).or_default().push(rule);
    }
    let is_cyclic = |group: &Vec<u32>| group.len() > 1 || calls[group[0] as usize].contains(&group[0]);
    let mut cyclic: Vec<Vec<u32>> = members.into_values().filter(is_cyclic).collect();
    if cyclic.is_empty() {
        return Ok(false);
    }
    cyclic.sort_unstable();
    let mut rules: Vec<Rule> = (0..n_rules).map(|rule| Rule::taken(automata, rule)).collect();
    for group in cyclic {
        rewrite(&mut rules, &group, budget)?;
    }
    put_back(automata, &rules);
    Ok(true)
}

fn rewrite(rules: &mut [Rule], group: &[u32], budget: &mut Budget) -> Result<()> {
    for &rule in group {
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
    let rewritten =
        group.iter().map(|&goal| Spine::new(rules, group).rule(goal, budget)).collect::<Result<Vec<_>>>()?;
    for (&goal, rule) in group.iter().zip(rewritten) {
        rules[goal as usize] = rule;
    }
    Ok(())
}

/// A rule on its own: its states are counted from 0, the start.
struct Rule {
    states: Vec<State>,
    bounds: Option<Bounds>,
}

struct State {
    edges: Vec<Edge>,
    accept: bool,
    accept_from: u32,
    valid_from: u32,
    valid_to: u32,
    guard: Guard,
}

impl Rule {
    fn taken(automata: &Automata, rule: usize) -> Rule {
        let start = automata.rules[rule].start;
        let end = automata.rules.get(rule + 1).map_or(automata.states.len() as u32, |next| next.start);
        let states = (start..end).map(|id| {
            let state = &automata.states[id as usize];
            let edges = automata.edges(id).iter();
            State {
                edges: edges.map(|edge| Edge { target: edge.target - start, ..*edge }).collect(),
                accept: state.accept,
                accept_from: state.accept_from,
                valid_from: state.valid_from,
                valid_to: state.valid_to,
                guard: state.guard,
            }
        });
        Rule { states: states.collect(), bounds: automata.rules[rule].bounds }
    }
}

fn put_back(automata: &mut Automata, rules: &[Rule]) {
    automata.states.clear();
    automata.edges.clear();
    for (id, rule) in (0u32..).zip(rules) {
        let base = automata.states.len() as u32;
        automata.rules[id as usize].start = base;
        automata.rules[id as usize].bounds = rule.bounds;
        for state in &rule.states {
            let first = automata.edges.len() as u32;
            automata
                .edges
                .extend(state.edges.iter().map(|edge| Edge { target: base + edge.target, ..*edge }));
            automata.states.push(RuleState {
                first,
                last: automata.edges.len() as u32,
                rule: id,
                accept: state.accept,
                accept_from: state.accept_from,
                valid_from: state.valid_from,
                valid_to: state.valid_to,
                guard: state.guard,
            });
        }
    }
}

/// The rules of the group that a rule can call before it has read anything.
fn own_left_calls(automata: &Automata, rule: usize) -> impl Iterator<Item = u32> + '_ {
    let edges = automata.edges(automata.rules[rule].start).iter();
    let callees = edges.filter_map(|edge| match edge.label {
        Label::Call(callee) | Label::Nest(callee) => Some(callee),
        _ => None,
    });
    callees.filter(|&callee| (callee as usize) < automata.rules.len())
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
        sort(&mut start);
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
                sort(&mut edges);
                budget.spend_edges(edges.len() as u64)?;
                states.push(plain_state(edges, accept));
            }
        }
        let mut rule = Rule { states, bounds: None };
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

fn sort(edges: &mut Vec<Edge>) {
    let kept = sort_edges(edges);
    edges.truncate(kept);
}

fn plain_state(edges: Vec<Edge>, accept: bool) -> State {
    State { edges, accept, accept_from: 0, valid_from: 0, valid_to: UNBOUNDED, guard: Guard::None }
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
                let counts = edge.action == COUNT;
                let next =
                    if counts && max == UNBOUNDED { (count + 1).min(top) } else { count + u32::from(counts) };
                let to = &rule.states[edge.target as usize];
                if next <= top && (to.valid_from..=to.valid_to).contains(&next) {
                    edges.push(Edge { target: next * n + edge.target, action: NO_ACTION, ..*edge });
                }
            }
            states.push(plain_state(edges, state.accept && count >= state.accept_from));
        }
    }
    let mut rule = Rule { states, bounds: None };
    drop_unreachable(&mut rule);
    Ok(rule)
}

/// Renumber the states that the start still reaches.
fn drop_unreachable(rule: &mut Rule) {
    let mut number = vec![u32::MAX; rule.states.len()];
    let mut order = vec![0usize];
    number[0] = 0;
    let mut at = 0;
    while at < order.len() {
        for edge in &rule.states[order[at]].edges {
            if number[edge.target as usize] == u32::MAX {
                number[edge.target as usize] = order.len() as u32;
                order.push(edge.target as usize);
            }
        }
        at += 1;
    }
    let mut old: Vec<Option<State>> = std::mem::take(&mut rule.states).into_iter().map(Some).collect();
    for state in order {
        let mut state = old[state].take().expect("each state once");
        state.edges.iter_mut().for_each(|edge| edge.target = number[edge.target as usize]);
        rule.states.push(state);
    }
}
