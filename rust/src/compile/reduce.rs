//! Merges states with the same future, as far as that shows in their edges.
//!
//! A state whose edges, guards and acceptance equal another's is the same state; merging it may make others equal. This
//! finds what Thompson's construction doubles (the ends of `a|b` in a loop, the tails of literals) in linear time. It is not
//! the full bisimulation: two separate cycles with the same language stay two.

use rustc_hash::FxHashMap;

use super::epsilon::{Rule, RuleState};
use super::trim::drop_unreachable;

pub fn reduce(rule: &mut Rule) {
    let n = rule.states.len();
    let mut into = vec![Vec::new(); n];
    for (from, state) in (0u32..).zip(&rule.states) {
        state.edges.iter().for_each(|edge| into[edge.target as usize].push(from));
    }
    let mut known: FxHashMap<RuleState, u32> = FxHashMap::default();
    let mut merged: Vec<Option<u32>> = vec![None; n];
    // Last states first: in a chain the tail is settled before what leads to it.
    let mut open: Vec<u32> = (1..n as u32).collect();
    let mut waiting = vec![true; n];
    while let Some(state) = open.pop() {
        waiting[state as usize] = false;
        if merged[state as usize].is_some() || state == 0 {
            continue;
        }
        // A stale entry (its state has changed since) only costs a missed merge, never a wrong one: it is checked.
        let content = rule.states[state as usize].clone();
        match known.get(&content).copied() {
            Some(other)
                if other != state
                    && merged[other as usize].is_none()
                    && rule.states[other as usize] == content =>
            {
                merged[state as usize] = Some(other);
                for from in std::mem::take(&mut into[state as usize]) {
                    redirect(&mut rule.states[from as usize], state, other);
                    into[other as usize].push(from);
                    if !std::mem::replace(&mut waiting[from as usize], true) {
                        open.push(from);
                    }
                }
            }
            _ => {
                known.insert(content, state);
            }
        }
    }
    drop_unreachable(rule);
}

fn redirect(state: &mut RuleState, from: u32, to: u32) {
    state.edges.iter_mut().filter(|edge| edge.target == from).for_each(|edge| edge.target = to);
    state.edges.sort_unstable();
    state.edges.dedup();
}
