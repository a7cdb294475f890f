//! Takes the ε-edges out of every draft. After this no rule reads the empty text: where a callee could,
//! the caller has an edge past the call instead.

use rustc_hash::{FxHashMap, FxHashSet};

use super::Budget;
use super::draft::{Action, Bounds, Draft, Ending, Guard, Label};
use super::ir::UNBOUNDED;
use crate::error::Result;

/// An edge of an ε-free rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Edge {
    pub label: Label,
    pub target: u32,
    pub action: Action,
}

/// A state of an ε-free rule.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct RuleState {
    pub edges: Vec<Edge>,
    pub accept: bool,
    /// The state accepts from this count on.
    pub accept_from: u32,
    /// The state can be entered from this count on,
    pub valid_from: u32,
    /// up to this one.
    pub valid_to: u32,
    pub guard: Guard,
}

/// An ε-free automaton. State 0 is the start; no edge leads to it, and it does not accept.
#[derive(Debug, Clone)]
pub struct Rule {
    pub states: Vec<RuleState>,
    pub bounds: Option<Bounds>,
    pub ending: Ending,
    /// Whether the empty text belongs to the rule; callers know, the automaton does not.
    pub nullable: bool,
}

pub fn remove_epsilons(mut drafts: Vec<Draft>, budget: &mut Budget) -> Result<Vec<Rule>> {
    let nullable = nullable_rules(&drafts);
    for draft in &mut drafts {
        let Draft { edges, epsilons, .. } = draft;
        epsilons.extend(
            edges
                .iter()
                .filter_map(|&(from, label, to, _)| empty_call(label, &nullable).then_some((from, to))),
        );
    }
    drafts.iter().zip(nullable).map(|(draft, nullable)| Remover::new(draft).rule(nullable, budget)).collect()
}

/// Which rules have the empty text: a least fixpoint over (rule, state) pairs that are reached without reading.
///
/// Looking at a whole rule again for each callee that turns out to be nullable takes 34 s for 20,000 of them in a row.
fn nullable_rules(drafts: &[Draft]) -> Vec<bool> {
    let mut search = EmptySearch::new(drafts);
    (0..drafts.len() as u32).for_each(|rule| search.begin(rule));
    search.run();
    search.nullable
}

/// The rule called, if it is a call, and the state after.
type Onward = (Option<u32>, u32);

struct EmptySearch<'d> {
    drafts: &'d [Draft],
    nullable: Vec<bool>,
    reached: Vec<FxHashSet<u32>>,
    /// For each rule, where ε-edges and calls lead from each state.
    next: Vec<FxHashMap<u32, Vec<Onward>>>,
    /// For each rule, the calls of it as (caller, state before, state after).
    calls: Vec<Vec<(u32, u32, u32)>>,
    open: Vec<(u32, u32)>,
}

impl<'d> EmptySearch<'d> {
    fn new(drafts: &'d [Draft]) -> Self {
        let mut search = EmptySearch {
            drafts,
            nullable: vec![false; drafts.len()],
            reached: vec![FxHashSet::default(); drafts.len()],
            next: vec![FxHashMap::default(); drafts.len()],
            calls: vec![Vec::new(); drafts.len()],
            open: Vec::new(),
        };
        for (rule, draft) in (0u32..).zip(drafts) {
            let next = &mut search.next[rule as usize];
            draft.epsilons.iter().for_each(|&(from, to)| next.entry(from).or_default().push((None, to)));
            for &(from, label, to, _) in &draft.edges {
                if let Label::Call(callee) | Label::Nest(callee) = label {
                    next.entry(from).or_default().push((Some(callee), to));
                    search.calls[callee as usize].push((rule, from, to));
                }
            }
        }
        search
    }

    fn begin(&mut self, rule: u32) {
        let draft = &self.drafts[rule as usize];
        match draft.may_be_empty.or(draft.bounds.map(|bounds| bounds.min == 0)) {
            Some(true) => self.found(rule),
            Some(false) => {}
            None => self.reach(rule, draft.start),
        }
    }

    fn reach(&mut self, rule: u32, state: u32) {
        if self.reached[rule as usize].insert(state) {
            self.open.push((rule, state));
        }
    }

    fn found(&mut self, rule: u32) {
        if std::mem::replace(&mut self.nullable[rule as usize], true) {
            return;
        }
        for (caller, from, to) in std::mem::take(&mut self.calls[rule as usize]) {
            if self.reached[caller as usize].contains(&from) {
                self.reach(caller, to);
            }
        }
    }

    fn run(&mut self) {
        while let Some((rule, state)) = self.open.pop() {
            if state == self.drafts[rule as usize].end {
                self.found(rule);
            }
            for (callee, to) in self.next[rule as usize].remove(&state).unwrap_or_default() {
                // A callee that turns out to be nullable later comes back to this state.
                if callee.is_none_or(|callee| self.nullable[callee as usize]) {
                    self.reach(rule, to);
                }
            }
        }
    }
}

fn empty_call(label: Label, nullable: &[bool]) -> bool {
    matches!(label, Label::Call(rule) | Label::Nest(rule) if nullable[rule as usize])
}

/// Works on one draft.
struct Remover<'d> {
    draft: &'d Draft,
    edges: Vec<Vec<(Label, u32, Action)>>,
    epsilons: Vec<Vec<u32>>,
    alias: Vec<u32>,
}

/// What can be done from a state without reading.
#[derive(Clone, Copy, Default)]
struct Reach {
    reads: bool,
    ends: bool,
    counted: bool,
}

impl<'d> Remover<'d> {
    fn new(draft: &'d Draft) -> Self {
        let n = draft.n_states as usize;
        let mut remover =
            Remover { draft, edges: vec![Vec::new(); n], epsilons: vec![Vec::new(); n], alias: Vec::new() };
        for &(from, label, to, action) in &draft.edges {
            remover.edges[from as usize].push((label, to, action));
        }
        for &(from, to) in &draft.epsilons {
            remover.epsilons[from as usize].push(to);
        }
        remover.alias = remover.aliases();
        remover
    }

    /// For each state where it leads, if it does nothing but go on. In a loop over 10,000 literals all their ends
    /// are one state then, and not 10,000 states with 10,000 edges each.
    fn aliases(&self) -> Vec<u32> {
        const OPEN: u32 = u32::MAX;
        const ON_THE_WAY: u32 = u32::MAX - 1;
        let mut alias = vec![OPEN; self.draft.n_states as usize];
        let mut way = Vec::new();
        for mut state in 0..self.draft.n_states {
            while alias[state as usize] == OPEN {
                alias[state as usize] = ON_THE_WAY;
                way.push(state);
                match self.only_goes_on(state) {
                    Some(next) => state = next,
                    None => break,
                }
            }
            // A circle of such states leads nowhere: any of them stands for all.
            let last = alias[state as usize];
            let end = if last == ON_THE_WAY { state } else { last };
            way.drain(..).for_each(|state| alias[state as usize] = end);
        }
        alias
    }

    /// The state after one that does nothing but go on.
    fn only_goes_on(&self, state: u32) -> Option<u32> {
        let kept = state == self.draft.end
            || Some(state) == self.draft.counted
            || self.draft.guards.contains_key(&state)
            || self.draft.ranges.contains_key(&state);
        match (&self.edges[state as usize][..], &self.epsilons[state as usize][..]) {
            ([], &[next]) if !kept => Some(next),
            _ => None,
        }
    }

    /// The states reached without reading, and what can be done from them. Each of them counts as an edge of the budget.
    fn closure(&self, state: u32, budget: &mut Budget) -> Result<(Vec<u32>, Reach)> {
        let mut states = vec![state];
        let mut reach = Reach::default();
        let mut seen = FxHashSet::default();
        if !self.epsilons[state as usize].is_empty() {
            seen.insert(state);
        }
        let mut at = 0;
        while at < states.len() {
            let state = states[at];
            reach.reads |= !self.edges[state as usize].is_empty();
            reach.ends |= state == self.draft.end;
            reach.counted |= Some(state) == self.draft.counted;
            for &next in &self.epsilons[state as usize] {
                if seen.insert(next) {
                    states.push(next);
                }
            }
            at += 1;
        }
        budget.spend_edges(states.len() as u64 - 1)?;
        Ok((states, reach))
    }

    fn rule(self, nullable: bool, budget: &mut Budget) -> Result<Rule> {
        let mut ids: FxHashMap<u32, u32> = FxHashMap::default();
        let mut reaches: FxHashMap<u32, Reach> = FxHashMap::default();
        let mut kept = vec![self.draft.start];
        let mut states = Vec::new();
        let mut at = 0;
        while at < kept.len() {
            let (from, reach) = self.closure(kept[at], budget)?;
            let mut edges = Vec::new();
            for &state in &from {
                for &(label, to, action) in &self.edges[state as usize] {
                    let to = self.alias[to as usize];
                    let reach = match reaches.get(&to) {
                        Some(&known) => known,
                        None => *reaches.entry(to).or_insert(self.closure(to, budget)?.1),
                    };
                    let mut push = |to: u32, action: Action| {
                        let target = *ids.entry(to).or_insert_with(|| {
                            kept.push(to);
                            kept.len() as u32 - 1
                        });
                        edges.push(Edge { label, target, action });
                    };
                    if reach.reads || reach.ends {
                        push(to, action);
                    }
                    if reach.counted {
                        push(self.draft.end, Action::Count);
                    }
                }
            }
            edges.sort_unstable();
            edges.dedup();
            budget.spend_edges(edges.len() as u64)?;
            let is_head = kept[at] == self.draft.end || at == 0;
            let (accept_from, mut valid_to) = guards(self.draft.bounds, is_head || reach.ends);
            let mut valid_from = 0;
            if let Some(&range) = self.draft.ranges.get(&kept[at]) {
                (valid_from, valid_to) = range;
            } else if at == 0 {
                valid_to = UNBOUNDED;
            }
            let guard = self.draft.guards.get(&kept[at]).copied().unwrap_or_default();
            states.push(RuleState {
                edges,
                accept: reach.ends && at != 0,
                accept_from,
                valid_from,
                valid_to,
                guard,
            });
            at += 1;
        }
        Ok(Rule { states, bounds: self.draft.bounds, ending: self.draft.ending, nullable })
    }
}

/// The head of a counted loop compares the count with the bounds; inside the body one more round has begun.
fn guards(bounds: Option<Bounds>, is_head: bool) -> (u32, u32) {
    match bounds {
        None => (0, UNBOUNDED),
        Some(Bounds { min, max }) if is_head => (min, max),
        Some(Bounds { max: UNBOUNDED, .. }) => (0, UNBOUNDED),
        Some(Bounds { max, .. }) => (0, max - 1),
    }
}
