//! Merges states with the same future, as far as that shows in their edges.
//!
//! A state whose edges, guards and acceptance equal another's is the same state; merging it may make others equal. This
//! finds what Thompson's construction doubles (the ends of `a|b` in a loop, the tails of literals) in linear time. It is not
//! the full bisimulation: two separate cycles with the same language stay two.

use std::hash::{Hash, Hasher};

use hashbrown::HashTable;
use rustc_hash::FxHasher;

use super::draft::sort_edges;
use super::epsilon::{Automata, RuleState};
use super::kept::MAX_SCRATCH;
use super::trim::Incoming;

const NONE: u32 = u32::MAX;

/// Merge states; edges lead to the states that stay. `into` may hold more edges than there are.
pub fn reduce(automata: &mut Automata, into: &Incoming, buffers: &mut Buffers) {
    let n = automata.states.len();
    buffers.merged.clear();
    buffers.merged.extend(0..n as u32);
    buffers.open.clear();
    buffers.open.extend(0..n as u32);
    buffers.next.clear();
    buffers.next.resize(n, NONE);
    buffers.waiting.clear();
    buffers.waiting.resize(n, true);
    // To clear a table takes as long as its capacity: after a large group that would be paid for each small one.
    if buffers.known.capacity() > MAX_SCRATCH {
        buffers.known = HashTable::with_capacity(n);
    }
    buffers.known.clear();
    let mut reducer = Reducer { automata, into, found: buffers };
    // Last states first: in a chain the tail is settled before what leads to it.
    while let Some(state) = reducer.found.open.pop() {
        reducer.found.waiting[state as usize] = false;
        if reducer.found.merged[state as usize] == state {
            reducer.look_at(state);
        }
    }
}

/// Memory that is used again for the next group.
#[derive(Debug, Default)]
pub struct Buffers {
    /// For each state the one that it was merged with, itself if none.
    merged: Vec<u32>,
    /// The states merged with one another are a list: the next one of each.
    next: Vec<u32>,
    /// States by content. An entry whose state has changed since costs a missed merge at most, never a wrong one.
    known: HashTable<u32>,
    open: Vec<u32>,
    waiting: Vec<bool>,
}

struct Reducer<'a> {
    automata: &'a mut Automata,
    into: &'a Incoming,
    found: &'a mut Buffers,
}

impl Reducer<'_> {
    fn look_at(&mut self, state: u32) {
        self.redirect(state);
        let rule = self.automata.states[state as usize].rule;
        if state == self.automata.rules[rule as usize].start {
            return;
        }
        let hash = content_hash(self.automata, state);
        let (automata, merged) = (&*self.automata, &self.found.merged);
        let same = |&other: &u32| merged[other as usize] == other && same_content(automata, state, other);
        match self.found.known.find(hash, same) {
            Some(&other) if other != state => self.merge(state, other),
            Some(_) => {}
            None => {
                self.found.known.insert_unique(hash, state, |&known| content_hash(self.automata, known));
            }
        }
    }

    /// Let the edges of a state lead to states that stay.
    fn redirect(&mut self, state: u32) {
        let RuleState { first, last, .. } = self.automata.states[state as usize];
        let edges = &mut self.automata.edges[first as usize..last as usize];
        let mut changed = false;
        for edge in &mut *edges {
            let mut target = edge.target;
            while self.found.merged[target as usize] != target {
                let next = self.found.merged[target as usize];
                self.found.merged[target as usize] = self.found.merged[next as usize];
                target = next;
            }
            changed |= target != edge.target;
            edge.target = target;
        }
        if changed && edges.len() > 1 {
            self.automata.states[state as usize].last = first + sort_edges(edges) as u32;
        }
    }

    fn merge(&mut self, state: u32, other: u32) {
        self.found.merged[state as usize] = other;
        let mut member = state;
        loop {
            for &(from, _) in self.into.of(member) {
                if !self.found.waiting[from as usize] && self.found.merged[from as usize] == from {
                    self.found.waiting[from as usize] = true;
                    self.found.open.push(from);
                }
            }
            match self.found.next[member as usize] {
                NONE => break,
                next => member = next,
            }
        }
        // The list of `state` goes in front of what follows `other`.
        self.found.next[member as usize] = self.found.next[other as usize];
        self.found.next[other as usize] = state;
    }
}

fn same_content(automata: &Automata, a: u32, b: u32) -> bool {
    let (one, other) = (&automata.states[a as usize], &automata.states[b as usize]);
    let places = |state: &RuleState| RuleState { first: 0, last: 0, ..*state };
    a == b || (places(one) == places(other) && automata.edges(a) == automata.edges(b))
}

fn content_hash(automata: &Automata, state: u32) -> u64 {
    let content = &automata.states[state as usize];
    let mut hasher = FxHasher::default();
    hasher.write_u64(u64::from(content.rule) << 1 | u64::from(content.accept));
    hasher.write_u64(u64::from(content.valid_from) << 32 | u64::from(content.valid_to));
    content.guard.hash(&mut hasher);
    for edge in automata.edges(state) {
        let key = edge.key();
        hasher.write_u64(key as u64);
        hasher.write_u64((key >> 64) as u64);
    }
    // The table takes its control bits from the top, where this hash is weak.
    hasher.finish().wrapping_mul(0x9E37_79B9_7F4A_7C15)
}
