//! Takes out what no text can use: calls to rules without a text, states without a way to the end, unused rules.

use super::draft::{Action, Ending, Label};
use super::epsilon::Rule;
use crate::error::{Error, Result};
use crate::memory::Memory;

/// Trim all rules in place; rule 0 is the root. An empty language is an error.
pub fn trim(rules: &mut [Rule], names: &[String], memories: &[Memory]) -> Result<()> {
    let live = Liveness::new(rules).settle(rules, memories);
    if !live[0][0] && !rules[0].nullable {
        return Err(Error::Grammar {
            what: format!("no text at all is in the format: rule {:?} can never end", names[0]),
            why: "every way through it runs into a part that no text can match, or into itself again".into(),
            code: Some("grammar.empty"),
        });
    }
    for (rule, live_states) in rules.iter_mut().zip(&live) {
        for state in &mut rule.states {
            state.edges.retain(|edge| {
                let callee_lives = |callee: u32| live[callee as usize][0];
                live_states[edge.target as usize]
                    && !matches!(edge.label, Label::Call(callee) | Label::Nest(callee) if !callee_lives(callee))
            });
        }
        drop_unreachable(rule);
    }
    Ok(())
}

/// Whether what the rule keeps can ever let it end.
fn can_end(rule: &Rule, live: &[bool], memories: &[Memory]) -> bool {
    let edges =
        || rule.states.iter().flat_map(|state| &state.edges).filter(|edge| live[edge.target as usize]);
    match rule.ending {
        Ending::Members { spec } => {
            let Memory::Members(members) = &memories[spec as usize] else { return true };
            let mut written = vec![false; members.required.len()];
            for edge in edges() {
                if let Action::Declare { member, .. } = edge.action {
                    written[member as usize] = true;
                }
            }
            let open = edges().filter_map(|edge| match edge.action {
                Action::Close { open, .. } => Some(open),
                _ => None,
            });
            let open_words = members.words_of(&open.collect()).map(|words| words.len());
            let needed = members.required.iter().filter(|&&required| required).count();
            let declared = written.iter().filter(|&&written| written).count();
            members.required.iter().zip(&written).all(|(&required, &written)| written || !required)
                && open_words.is_none_or(|open| open + declared >= members.min as usize)
                && needed <= members.max as usize
        }
        Ending::Items { spec } => match &memories[spec as usize] {
            Memory::Items(items) => {
                let prefix = items.finite.len() - 1;
                items.rest_words.as_ref().is_none_or(|rest| prefix + rest.len() >= items.min as usize)
            }
            _ => true,
        },
        Ending::Decimal { spec } => match &memories[spec as usize] {
            Memory::Decimal(decimal) => decimal.goes_on(b""),
            _ => true,
        },
        _ => true,
    }
}

/// Renumber the states that the start still reaches.
pub fn drop_unreachable(rule: &mut Rule) {
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
    let mut old = std::mem::take(&mut rule.states);
    rule.states = order
        .into_iter()
        .map(|state| {
            let edges = std::mem::take(&mut old[state].edges);
            let mut state = old[state].clone();
            state.edges = edges;
            state.edges.iter_mut().for_each(|edge| edge.target = number[edge.target as usize]);
            state
        })
        .collect();
}

/// The state before an edge, and its callee if it is a call.
type Into = (u32, Option<u32>);

/// A least fixpoint: which states have a way to the end of their rule.
struct Liveness {
    live: Vec<Vec<bool>>,
    /// For each rule and state: the edges into it, as (state before, callee if the edge is a call).
    into: Vec<Vec<Vec<Into>>>,
    /// For each rule: states of callers that live as soon as the rule has a text.
    waiting: Vec<Vec<(u32, u32)>>,
    open: Vec<(u32, u32)>,
    /// Rules that remember, whose start has a way on, but that lack a member or an item still.
    pending: Vec<u32>,
}

impl Liveness {
    fn new(rules: &[Rule]) -> Liveness {
        let mut liveness = Liveness {
            live: rules.iter().map(|rule| vec![false; rule.states.len()]).collect(),
            into: rules.iter().map(|rule| vec![Vec::new(); rule.states.len()]).collect(),
            waiting: vec![Vec::new(); rules.len()],
            open: Vec::new(),
            pending: Vec::new(),
        };
        for (id, rule) in rules.iter().enumerate() {
            for (from, state) in (0u32..).zip(&rule.states) {
                for edge in &state.edges {
                    let callee = match edge.label {
                        Label::Call(callee) | Label::Nest(callee) => Some(callee),
                        _ => None,
                    };
                    liveness.into[id][edge.target as usize].push((from, callee));
                }
            }
        }
        liveness
    }

    fn settle(mut self, rules: &[Rule], memories: &[Memory]) -> Vec<Vec<bool>> {
        for (id, rule) in (0u32..).zip(rules) {
            for (state, _) in (0u32..).zip(&rule.states).filter(|(_, state)| state.accept) {
                self.mark(id, state);
            }
        }
        loop {
            self.spread(rules, memories);
            let ready = |rule: &u32| can_end(&rules[*rule as usize], &self.live[*rule as usize], memories);
            let (now, later): (Vec<u32>, Vec<u32>) = self.pending.iter().partition(|&rule| ready(rule));
            if now.is_empty() {
                return self.live;
            }
            self.pending = later;
            now.into_iter().for_each(|rule| self.mark(rule, 0));
        }
    }

    fn spread(&mut self, rules: &[Rule], memories: &[Memory]) {
        while let Some((rule, state)) = self.open.pop() {
            for (from, callee) in std::mem::take(&mut self.into[rule as usize][state as usize]) {
                match callee {
                    Some(callee) if !self.live[callee as usize][0] => {
                        self.waiting[callee as usize].push((rule, from));
                    }
                    // A rule that remembers has a text only once what it requires has one.
                    _ if from == 0
                        && !can_end(&rules[rule as usize], &self.live[rule as usize], memories) =>
                    {
                        self.pending.push(rule);
                    }
                    _ => self.mark(rule, from),
                }
            }
            if state == 0 {
                for (caller, from) in std::mem::take(&mut self.waiting[rule as usize]) {
                    if from == 0 && !can_end(&rules[caller as usize], &self.live[caller as usize], memories) {
                        self.pending.push(caller);
                    } else {
                        self.mark(caller, from);
                    }
                }
            }
        }
    }

    fn mark(&mut self, rule: u32, state: u32) {
        if !std::mem::replace(&mut self.live[rule as usize][state as usize], true) {
            self.open.push((rule, state));
        }
    }
}
