//! Takes the ε-edges out of a draft. After this no rule reads the empty text: where a callee could,
//! the caller has an edge past the call instead.

use super::Budget;
use super::draft::{Bounds, Draft, DraftRule, Edge, Ending, Guard, Label, sort_edges};
use super::ir::UNBOUNDED;
use super::rows::Rows;
use crate::error::Result;
use crate::program::COUNT;

/// A state of an ε-free rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RuleState {
    /// Its edges are those of `Automata::edges` from here on,
    pub first: u32,
    /// and before here.
    pub last: u32,
    pub rule: u32,
    pub accept: bool,
    /// The state accepts from this count on.
    pub accept_from: u32,
    /// The state can be entered from this count on,
    pub valid_from: u32,
    /// up to this one.
    pub valid_to: u32,
    pub guard: Guard,
}

/// An ε-free automaton. No edge leads to its start, and the start does not accept.
#[derive(Debug, Clone, Copy)]
pub struct Rule {
    pub start: u32,
    pub bounds: Option<Bounds>,
    pub ending: Ending,
    /// Whether the empty text belongs to the rule; callers know, the automaton does not.
    pub nullable: bool,
}

/// The rules of a group, their states and edges side by side.
#[derive(Debug, Default)]
pub struct Automata {
    pub rules: Vec<Rule>,
    pub states: Vec<RuleState>,
    pub edges: Vec<Edge>,
}

impl Automata {
    pub fn edges(&self, state: u32) -> &[Edge] {
        let state = &self.states[state as usize];
        &self.edges[state.first as usize..state.last as usize]
    }
}

const NONE: u32 = u32::MAX;

/// Memory that is used again for the next group: a typical format has ten, of fifty states each.
#[derive(Debug, Default)]
pub struct Buffers {
    edges: Rows<Edge>,
    epsilons: Rows<u32>,
    guards: Vec<u32>,
    ranges: Vec<u32>,
    alias: Vec<u32>,
    ids: Vec<u32>,
    reaches: Vec<Reach>,
    stamps: Vec<u32>,
    closure: Vec<u32>,
    spare: Vec<u32>,
    kept: Vec<u32>,
    reached: Vec<bool>,
    open: Vec<(u32, u32)>,
    way: Vec<u32>,
    result: Automata,
}

/// Callees below the number of rules are rules of the draft; `is_nullable` knows all others.
pub fn remove(
    draft: &Draft,
    is_nullable: impl Fn(u32) -> bool,
    buffers: &mut Buffers,
    budget: &mut Budget,
) -> Result<Automata> {
    let n = draft.n_states as usize;
    let mut graph = Graph::new(draft, buffers);
    let nullable = EmptySearch::new(&graph, &is_nullable, buffers).run();
    let empty = |callee: u32| nullable.get(callee as usize).copied().unwrap_or_else(|| is_nullable(callee));
    let past = |&(from, edge): &(u32, Edge)| match edge.label {
        Label::Call(callee) | Label::Nest(callee) if empty(callee) => Some((from, edge.target)),
        _ => None,
    };
    if draft.edges.iter().any(|edge| past(edge).is_some()) {
        let passed = draft.edges.iter().filter_map(past);
        graph.epsilons.sort(n, draft.epsilons.iter().copied().chain(passed));
    }
    let mut alias = std::mem::take(&mut buffers.alias);
    graph.aliases(&mut alias, &mut buffers.way);
    let taken = std::mem::take(buffers);
    let (reached, open, way) = (taken.reached, taken.open, taken.way);
    let mut remover = Remover {
        alias,
        graph: &graph,
        ids: filled(taken.ids, n, NONE),
        reaches: filled(taken.reaches, n, Reach::default()),
        stamps: filled(taken.stamps, n, 0),
        stamp: 0,
        closure: taken.closure,
        spare: taken.spare,
        kept: taken.kept,
        result: taken.result,
    };
    for (rule, nullable) in (0u32..).zip(nullable) {
        remover.rule(rule, nullable, budget)?;
    }
    let Remover { alias, ids, reaches, stamps, closure, spare, kept, result, .. } = remover;
    let Graph { edges, epsilons, guards, ranges, .. } = graph;
    let none = Automata::default();
    *buffers = Buffers {
        edges,
        epsilons,
        guards,
        ranges,
        alias,
        ids,
        reaches,
        stamps,
        closure,
        spare,
        kept,
        reached,
        open,
        way,
        result: none,
    };
    Ok(result)
}

impl Buffers {
    /// Whether there is little to give back; what the later passes hold is as much as the result.
    pub fn is_small(&self, most: usize) -> bool {
        self.alias.capacity() <= most && self.result.edges.capacity() <= most
    }

    /// Give the memory of a result back.
    pub fn give_back(&mut self, mut automata: Automata) {
        automata.rules.clear();
        automata.states.clear();
        automata.edges.clear();
        self.result = automata;
    }
}

fn filled<T: Clone>(mut buffer: Vec<T>, n: usize, value: T) -> Vec<T> {
    buffer.clear();
    buffer.resize(n, value);
    buffer
}

/// The draft, by state.
struct Graph<'d> {
    draft: &'d Draft,
    edges: Rows<Edge>,
    epsilons: Rows<u32>,
    /// For each state, the place of its guard or of its range of counts in the draft, plus one; 0 if it has none.
    guards: Vec<u32>,
    ranges: Vec<u32>,
}

impl<'d> Graph<'d> {
    fn new(draft: &'d Draft, buffers: &mut Buffers) -> Graph<'d> {
        let n = draft.n_states as usize;
        let mut edges = std::mem::take(&mut buffers.edges);
        let mut epsilons = std::mem::take(&mut buffers.epsilons);
        edges.sort(n, draft.edges.iter().copied());
        epsilons.sort(n, draft.epsilons.iter().copied());
        let taken = |buffer: &mut Vec<u32>| std::mem::take(buffer);
        let guards = places(taken(&mut buffers.guards), n, draft.guards.iter().map(|guard| guard.0));
        let ranges = places(taken(&mut buffers.ranges), n, draft.ranges.iter().map(|range| range.0));
        Graph { draft, edges, epsilons, guards, ranges }
    }

    fn guard(&self, state: u32) -> Guard {
        match self.guards.get(state as usize) {
            None | Some(0) => Guard::None,
            Some(&place) => self.draft.guards[place as usize - 1].1,
        }
    }

    fn range(&self, state: u32) -> Option<(u32, u32)> {
        match self.ranges.get(state as usize) {
            None | Some(0) => None,
            Some(&place) => Some(self.draft.ranges[place as usize - 1].1),
        }
    }

    /// For each state where it leads, if it does nothing but go on. In a loop over 10,000 literals all their ends
    /// are one state then, and not 10,000 states with 10,000 edges each.
    fn aliases(&self, alias: &mut Vec<u32>, way: &mut Vec<u32>) {
        const ON_THE_WAY: u32 = NONE - 1;
        let n = self.draft.n_states;
        alias.clear();
        alias.resize(n as usize, NONE);
        for rule in &self.draft.rules {
            alias[rule.end as usize] = rule.end;
            rule.counted.into_iter().for_each(|state| alias[state as usize] = state);
        }
        for mut state in 0..n {
            while alias[state as usize] == NONE {
                let Some(next) = self.only_goes_on(state) else {
                    alias[state as usize] = state;
                    break;
                };
                alias[state as usize] = ON_THE_WAY;
                way.push(state);
                state = next;
            }
            // A circle of such states leads nowhere: any of them stands for all.
            let last = alias[state as usize];
            let end = if last == ON_THE_WAY { state } else { last };
            way.drain(..).for_each(|state| alias[state as usize] = end);
        }
    }

    /// The state after one that does nothing but go on.
    fn only_goes_on(&self, state: u32) -> Option<u32> {
        let &[next] = self.epsilons.of(state) else { return None };
        let kept = self.guard(state) != Guard::None || self.range(state).is_some();
        (!kept && self.edges.of(state).is_empty()).then_some(next)
    }
}

/// For each state the last of its places among `states`, counted from 1; nothing at all if there are none.
fn places(mut places: Vec<u32>, n: usize, states: impl ExactSizeIterator<Item = u32>) -> Vec<u32> {
    places.clear();
    if states.len() > 0 {
        places.resize(n, 0);
        (1..).zip(states).for_each(|(place, state)| places[state as usize] = place);
    }
    places
}

/// Which rules have the empty text: a least fixpoint over states that are reached without reading.
///
/// Looking at a whole rule again for each callee that turns out to be nullable takes 34 s for 20,000 of them in a row.
struct EmptySearch<'g, F> {
    graph: &'g Graph<'g>,
    is_nullable: F,
    nullable: Vec<bool>,
    reached: &'g mut Vec<bool>,
    /// The rule and the state reached.
    open: &'g mut Vec<(u32, u32)>,
    /// For each rule, who waits for it to have the empty text: (caller, state after the call). Empty until somebody does.
    waiting: Vec<Vec<(u32, u32)>>,
}

impl<'g, F: Fn(u32) -> bool> EmptySearch<'g, F> {
    fn new(graph: &'g Graph<'g>, is_nullable: F, buffers: &'g mut Buffers) -> Self {
        let n_rules = graph.draft.rules.len();
        let Buffers { reached, open, .. } = buffers;
        reached.clear();
        reached.resize(graph.draft.n_states as usize, false);
        EmptySearch { graph, is_nullable, nullable: vec![false; n_rules], reached, open, waiting: Vec::new() }
    }

    fn run(mut self) -> Vec<bool> {
        for (id, rule) in (0u32..).zip(&self.graph.draft.rules) {
            match rule.may_be_empty.or(rule.bounds.map(|bounds| bounds.min == 0)) {
                Some(true) => self.found(id),
                Some(false) => {}
                None => self.reach(id, rule.start),
            }
        }
        while let Some((rule, state)) = self.open.pop() {
            if state == self.graph.draft.rules[rule as usize].end {
                self.found(rule);
            }
            self.graph.epsilons.of(state).iter().for_each(|&to| self.reach(rule, to));
            for edge in self.graph.edges.of(state) {
                if let Label::Call(callee) | Label::Nest(callee) = edge.label {
                    self.call(rule, callee, edge.target);
                }
            }
        }
        self.nullable
    }

    fn call(&mut self, rule: u32, callee: u32, after: u32) {
        match self.nullable.get(callee as usize) {
            Some(true) => self.reach(rule, after),
            Some(false) => {
                self.waiting.resize(self.nullable.len(), Vec::new());
                self.waiting[callee as usize].push((rule, after));
            }
            None if (self.is_nullable)(callee) => self.reach(rule, after),
            None => {}
        }
    }

    fn reach(&mut self, rule: u32, state: u32) {
        if !std::mem::replace(&mut self.reached[state as usize], true) {
            self.open.push((rule, state));
        }
    }

    fn found(&mut self, rule: u32) {
        if !std::mem::replace(&mut self.nullable[rule as usize], true) {
            let waiting = self.waiting.get_mut(rule as usize).map(std::mem::take).unwrap_or_default();
            waiting.into_iter().for_each(|(caller, after)| self.reach(caller, after));
        }
    }
}

/// What can be done from a state without reading.
#[derive(Debug, Clone, Copy, Default)]
struct Reach {
    known: bool,
    reads: bool,
    ends: bool,
    counted: bool,
}

struct Remover<'g> {
    graph: &'g Graph<'g>,
    alias: Vec<u32>,
    /// The number of each state that is kept.
    ids: Vec<u32>,
    reaches: Vec<Reach>,
    /// A state is in the closure being made if it has its stamp.
    stamps: Vec<u32>,
    stamp: u32,
    closure: Vec<u32>,
    spare: Vec<u32>,
    /// The states kept of the rule being made.
    kept: Vec<u32>,
    result: Automata,
}

impl Remover<'_> {
    fn rule(&mut self, id: u32, nullable: bool, budget: &mut Budget) -> Result<()> {
        let rule = self.graph.draft.rules[id as usize];
        let base = self.result.states.len() as u32;
        let DraftRule { start, bounds, ending, .. } = rule;
        self.result.rules.push(Rule { start: base, bounds, ending, nullable });
        self.kept.clear();
        self.kept.push(start);
        let mut at = 0;
        while let Some(&state) = self.kept.get(at) {
            let first = self.result.edges.len();
            let graph = self.graph;
            // Three states of four have no ε-edge.
            let reach = if graph.epsilons.of(state).is_empty() {
                for edge in graph.edges.of(state) {
                    self.edge(edge, &rule, base, budget)?;
                }
                self.alone(state, &rule)
            } else {
                let reach = self.close(state, &rule, budget)?;
                let closure = std::mem::replace(&mut self.closure, std::mem::take(&mut self.spare));
                for &from in &closure {
                    for edge in graph.edges.of(from) {
                        self.edge(edge, &rule, base, budget)?;
                    }
                }
                self.spare = std::mem::replace(&mut self.closure, closure);
                reach
            };
            self.sort_edges(first);
            budget.spend_edges((self.result.edges.len() - first) as u64)?;
            let made = self.state(id, &rule, state, first as u32, reach);
            self.result.states.push(made);
            at += 1;
        }
        Ok(())
    }

    fn state(&self, id: u32, rule: &DraftRule, state: u32, first: u32, reach: Reach) -> RuleState {
        let is_start = state == rule.start;
        let (accept_from, to) = bounds_of(rule.bounds, state == rule.end || is_start || reach.ends);
        let all = (0, if is_start { UNBOUNDED } else { to });
        let (valid_from, valid_to) = self.graph.range(state).unwrap_or(all);
        RuleState {
            first,
            last: self.result.edges.len() as u32,
            rule: id,
            accept: reach.ends && !is_start,
            accept_from,
            valid_from,
            valid_to,
            guard: self.graph.guard(state),
        }
    }

    /// Add an edge to the state being made; two where a round of a counted loop may end or go on.
    fn edge(&mut self, edge: &Edge, rule: &DraftRule, base: u32, budget: &mut Budget) -> Result<()> {
        let to = self.alias[edge.target as usize];
        if rule.counted.is_none() {
            let target = self.number(to, base);
            self.result.edges.push(Edge { target, ..*edge });
            return Ok(());
        }
        let reach = self.reach(to, rule, budget)?;
        if reach.reads || reach.ends {
            let target = self.number(to, base);
            self.result.edges.push(Edge { target, ..*edge });
        }
        if reach.counted {
            let target = self.number(rule.end, base);
            self.result.edges.push(Edge { target, action: COUNT, ..*edge });
        }
        Ok(())
    }

    fn number(&mut self, state: u32, base: u32) -> u32 {
        let id = &mut self.ids[state as usize];
        if *id == NONE {
            *id = base + self.kept.len() as u32;
            self.kept.push(state);
        }
        *id
    }

    /// Sort the edges from `first` on, and drop doubles.
    fn sort_edges(&mut self, first: usize) {
        let edges = &mut self.result.edges;
        if edges.len() - first > 1 {
            let kept = sort_edges(&mut edges[first..]);
            edges.truncate(first + kept);
        }
    }

    fn reach(&mut self, state: u32, rule: &DraftRule, budget: &mut Budget) -> Result<Reach> {
        let known = self.reaches[state as usize];
        if known.known {
            return Ok(known);
        }
        let reach = if self.graph.epsilons.of(state).is_empty() {
            self.alone(state, rule)
        } else {
            self.close(state, rule, budget)?
        };
        self.reaches[state as usize] = reach;
        Ok(reach)
    }

    fn alone(&self, state: u32, rule: &DraftRule) -> Reach {
        Reach {
            known: true,
            reads: !self.graph.edges.of(state).is_empty(),
            ends: state == rule.end,
            counted: Some(state) == rule.counted,
        }
    }

    /// Find the states reached without reading, and what can be done from them. Each of them counts as an edge of the budget.
    fn close(&mut self, state: u32, rule: &DraftRule, budget: &mut Budget) -> Result<Reach> {
        self.closure.clear();
        self.closure.push(state);
        let mut reach = self.alone(state, rule);
        if self.graph.epsilons.of(state).is_empty() {
            return Ok(reach);
        }
        self.stamp += 1;
        self.stamps[state as usize] = self.stamp;
        let mut at = 0;
        while let Some(&state) = self.closure.get(at) {
            let here = self.alone(state, rule);
            reach.reads |= here.reads;
            reach.ends |= here.ends;
            reach.counted |= here.counted;
            for &next in self.graph.epsilons.of(state) {
                if std::mem::replace(&mut self.stamps[next as usize], self.stamp) != self.stamp {
                    self.closure.push(next);
                }
            }
            at += 1;
        }
        budget.spend_edges(self.closure.len() as u64 - 1)?;
        Ok(reach)
    }
}

/// The head of a counted loop compares the count with the bounds; inside the body one more round has begun.
fn bounds_of(bounds: Option<Bounds>, is_head: bool) -> (u32, u32) {
    match bounds {
        None => (0, UNBOUNDED),
        Some(Bounds { min, max }) if is_head => (min, max),
        Some(Bounds { max: UNBOUNDED, .. }) => (0, UNBOUNDED),
        Some(Bounds { max, .. }) => (0, max - 1),
    }
}
