//! Can the vocabulary write what the format asks for?
//!
//! A format may offer more bytes than a vocabulary has; that is no fault as long as every state that its bytes reach
//! can still be finished with them. Otherwise a constraint could be left with an empty mask.

use super::vocabulary::Vocabulary;
use crate::program::{Program, StateId};

/// Bytes without which some state that the vocabulary can reach has no way to the end. Empty if all is well.
pub fn missing_bytes(program: &Program, vocabulary: &Vocabulary) -> Vec<u8> {
    let has = vocabulary.used_bytes();
    if has.iter().all(|&has| has) {
        return Vec::new();
    }
    let live = live_states(program, has);
    let mut needed = [false; 256];
    for state in reached_states(program, has).into_iter().filter(|&state| !live[state as usize]) {
        for edge in program.byte_edges(state) {
            (edge.low..=edge.high)
                .filter(|&byte| !has[byte as usize])
                .for_each(|byte| needed[byte as usize] = true);
        }
    }
    (0..=255u8).filter(|&byte| needed[byte as usize]).collect()
}

fn reads(has: &[bool; 256], low: u8, high: u8) -> bool {
    (low..=high).any(|byte| has[byte as usize])
}

fn reached_states(program: &Program, has: &[bool; 256]) -> Vec<StateId> {
    let mut seen = vec![false; program.states.len()];
    let mut open = vec![Program::START];
    seen[0] = true;
    let mut at = 0;
    while at < open.len() {
        let state = open[at];
        let bytes = program
            .byte_edges(state)
            .iter()
            .filter(|edge| reads(has, edge.low, edge.high))
            .map(|edge| edge.target);
        let calls = program.call_edges(state).iter().flat_map(|edge| [edge.start, edge.back]);
        let tokens = program.token_edges(state).iter().map(|edge| edge.target);
        for next in bytes.chain(calls).chain(tokens) {
            if !std::mem::replace(&mut seen[next as usize], true) {
                open.push(next);
            }
        }
        at += 1;
    }
    open
}

/// States with a way to the end of their rule over the bytes that there are: a least fixpoint.
fn live_states(program: &Program, has: &[bool; 256]) -> Vec<bool> {
    let n = program.states.len();
    let mut into: Vec<Vec<(StateId, Option<StateId>)>> = vec![Vec::new(); n];
    for state in 0..n as u32 {
        for edge in program.byte_edges(state).iter().filter(|edge| reads(has, edge.low, edge.high)) {
            into[edge.target as usize].push((state, None));
        }
        program.token_edges(state).iter().for_each(|edge| into[edge.target as usize].push((state, None)));
        program
            .call_edges(state)
            .iter()
            .for_each(|edge| into[edge.back as usize].push((state, Some(edge.start))));
    }
    let mut waiting: Vec<Vec<StateId>> = vec![Vec::new(); n];
    let mut live: Vec<bool> = program.states.iter().map(|state| state.accept).collect();
    let mut open: Vec<StateId> = (0..n as u32).filter(|&state| live[state as usize]).collect();
    while let Some(state) = open.pop() {
        let mut mark = |from: StateId| {
            if !std::mem::replace(&mut live[from as usize], true) {
                open.push(from);
            }
        };
        std::mem::take(&mut waiting[state as usize]).into_iter().for_each(&mut mark);
        for (from, callee) in std::mem::take(&mut into[state as usize]) {
            match callee {
                Some(callee) if !live[callee as usize] => waiting[callee as usize].push(from),
                _ => {
                    if !std::mem::replace(&mut live[from as usize], true) {
                        open.push(from);
                    }
                }
            }
        }
    }
    live
}
