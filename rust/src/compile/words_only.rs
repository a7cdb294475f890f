//! A format that is nothing but a list of words: its minimal automaton, laid out as a program at once.
//!
//! The passes of the long way find nothing to do on it, and take 0.7 s for 100,000 random words (280,000 states).

use super::Budget;
use super::acyclic::Acyclic;
use super::ir::Ir;
use super::kept::unique_number;
use super::thompson::{split_words, word_automaton};
use crate::error::Result;
use crate::program::{
    Action, ByteEdge, Ending, Guard, NO_ACTION, Name, Origin, Program, Rule, State, UNBOUNDED,
};

pub fn program(text: &[u8], lengths: &[u8], ir: &Ir, budget: &mut Budget) -> Result<Program> {
    let automaton = word_automaton(split_words(text, lengths));
    budget.spend_states(automaton.states.len() as u64)?;
    budget.spend_edges(automaton.states.iter().map(|state| state.edges.len() as u64).sum())?;
    let (classes, first_bytes) = byte_classes(&automaton);
    let mut program = Program {
        states: Vec::with_capacity(automaton.states.len()),
        byte_edges: Vec::new(),
        call_edges: Vec::new(),
        token_edges: Vec::new(),
        actions: vec![Action::None, Action::Count],
        rules: vec![Rule {
            start: 0,
            n_states: automaton.states.len() as u32,
            ending: Ending::Free,
            origin: Origin { group: unique_number(), rule: 0 },
            name: Name::Given(ir.root),
            thresholds: Vec::new(),
        }],
        memories: Vec::new(),
        names: ir.names.clone(),
        nullable: automaton.states[0].accept,
        classes,
        n_classes: first_bytes.len(),
        first_bytes,
    };
    for (id, state) in automaton.states.iter().enumerate() {
        let start = program.byte_edges.len() as u32;
        let edge =
            |&((low, high), target): &((u8, u8), u32)| ByteEdge { low, high, action: NO_ACTION, target };
        program.byte_edges.extend(state.edges.iter().map(edge));
        program.states.push(State {
            bytes: start..program.byte_edges.len() as u32,
            calls: 0..0,
            tokens: 0..0,
            // The start is never entered again: whether it accepts is `nullable`.
            accept: state.accept && id > 0,
            accept_from: 0,
            valid_from: 0,
            valid_to: UNBOUNDED,
            saturate: UNBOUNDED,
            guard: Guard::None,
            records: false,
            rule: 0,
            rank: u32::from(id == 0),
        });
    }
    Ok(program)
}

/// One class for each byte that a word has, and one for all others.
fn byte_classes(automaton: &Acyclic) -> ([u8; 256], Vec<u8>) {
    let mut used = [false; 256];
    for &((byte, _), _) in automaton.states.iter().flat_map(|state| &state.edges) {
        used[byte as usize] = true;
    }
    let mut classes = [0; 256];
    let mut firsts = Vec::new();
    let mut others = None;
    for byte in 0..=255u8 {
        let class = if used[byte as usize] { None } else { others };
        let class = class.unwrap_or_else(|| {
            firsts.push(byte);
            firsts.len() as u8 - 1
        });
        if !used[byte as usize] {
            others = Some(class);
        }
        classes[byte as usize] = class;
    }
    (classes, firsts)
}
