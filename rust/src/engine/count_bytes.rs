//! How many bytes does it take at least to count once more in a loop?
//!
//! A token has up to 128 bytes in Llama 3's vocabulary, so without this every count of a list of at most 100 records would be
//! near its bound. A record takes 20 bytes or more: a token counts a few of them.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Mutex;

use rustc_hash::FxHashMap;

use super::arena::lock;
use crate::program::{COUNT, Program, StateId};

/// Rules within rules that are looked into; deeper ones count as empty.
const MAX_DEPTH: u32 = 8;
/// States looked at for one loop; what is not looked at counts as empty. They take 0.1 ms.
const MAX_STATES: usize = 2_000;

/// What was found out about the rules of a program.
#[derive(Debug, Default)]
pub struct CountBytes {
    known: Mutex<FxHashMap<u32, u32>>,
}

impl CountBytes {
    /// The least number of bytes between two counts of a rule, or less; at least 1.
    pub fn of(&self, program: &Program, rule: u32) -> u32 {
        if let Some(&known) = lock(&self.known).get(&rule) {
            return known;
        }
        let mut finder = Finder { program, lengths: FxHashMap::default(), left: MAX_STATES };
        let found = finder.between_counts(rule).max(1);
        lock(&self.known).insert(rule, found);
        found
    }

    pub fn heap_bytes(&self) -> usize {
        lock(&self.known).len() * 16
    }
}

struct Finder<'p> {
    program: &'p Program,
    /// The length of the shortest text of a rule, or less.
    lengths: FxHashMap<StateId, u32>,
    left: usize,
}

impl Finder<'_> {
    fn between_counts(&mut self, rule: u32) -> u32 {
        let counted: Vec<StateId> = self.program.rules[rule as usize]
            .states()
            .flat_map(|state| {
                let bytes = self.program.byte_edges(state).iter().filter(|edge| edge.action == COUNT);
                let calls = self.program.call_edges(state).iter().filter(|edge| edge.action == COUNT);
                bytes.map(|edge| edge.target).chain(calls.map(|edge| edge.back))
            })
            .collect();
        self.shortest(&counted, true, 0)
    }

    /// The shortest way from some states to a count, or else to the end of their rule; 0 if not all was looked at.
    fn shortest(&mut self, from: &[StateId], to_count: bool, depth: u32) -> u32 {
        let mut queue: BinaryHeap<Reverse<(u32, StateId, bool)>> =
            from.iter().map(|&state| Reverse((0, state, false))).collect();
        let mut seen: FxHashMap<StateId, ()> = FxHashMap::default();
        while let Some(Reverse((length, state, done))) = queue.pop() {
            if done || (!to_count && self.program.states[state as usize].accept) {
                return length;
            }
            if seen.insert(state, ()).is_some() {
                continue;
            }
            if self.left == 0 {
                return 0;
            }
            self.left -= 1;
            for edge in self.program.byte_edges(state) {
                queue.push(Reverse((length + 1, edge.target, to_count && edge.action == COUNT)));
            }
            for edge in self.program.token_edges(state) {
                queue.push(Reverse((length, edge.target, to_count && edge.action == COUNT)));
            }
            for edge in self.program.call_edges(state) {
                let length = length.saturating_add(self.rule(edge.start, depth));
                if edge.tail {
                    // The rule ends where the callee does, and counts no more.
                    if !to_count {
                        queue.push(Reverse((length, edge.start, true)));
                    }
                } else {
                    queue.push(Reverse((length, edge.back, to_count && edge.action == COUNT)));
                }
            }
        }
        // No way there: as far as can be.
        u32::MAX
    }

    fn rule(&mut self, start: StateId, depth: u32) -> u32 {
        if depth == MAX_DEPTH {
            return 0;
        }
        if let Some(&known) = self.lengths.get(&start) {
            return known;
        }
        // A rule within itself counts as empty.
        self.lengths.insert(start, 0);
        let found = self.shortest(&[start], false, depth + 1);
        self.lengths.insert(start, found);
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compile::ir::Ir;
    use crate::compile::kept::Kept;
    use crate::compile::{CompileLimits, compile};
    use crate::program::RuleNames;

    /// 2 to 100 times what the records have last.
    fn step(blob: &[u8], records: &[&[u32]]) -> u32 {
        let last = records.len() as u32;
        let words = [records, &[&[6, 3, last - 1, 2, 100]]].concat().concat();
        let ir = Ir::read(&words, blob, vec![last], RuleNames::new(|_| "root".into()), 0).expect("a record");
        let program = compile(&ir, CompileLimits::default(), &Kept::default()).expect("a format");
        let counts = |state: &&crate::program::State| state.valid_to < 100 || state.accept_from > 0;
        let counted = program.states.iter().find(counts).expect("a counted loop");
        CountBytes::default().of(&program, counted.rule)
    }

    #[test]
    fn a_count_takes_as_many_bytes_as_the_shortest_body() {
        assert_eq!(step(b"abcd", &[&[1, 2, 0, 1]]), 1);
        assert_eq!(step(b"abcd", &[&[1, 2, 0, 4]]), 4);
        // "abcd" or "ab".
        assert_eq!(step(b"abcdab", &[&[1, 2, 0, 4], &[1, 2, 4, 2], &[5, 2, 0, 1]]), 2);
        // A rule of more states than are looked at: 3,000 bytes, or what is not known to be longer than one.
        let long = [vec![b'x'; 3_000], b"ab".to_vec()].concat();
        assert!(step(&long, &[&[1, 2, 0, 3_000], &[1, 2, 3_000, 2], &[5, 2, 0, 1]]) <= 2);
    }
}
