//! Which small automaton reads a sorted list of strings? Built in one pass, with equal tails shared
//! (Daciuk, Mihov, Watson and Watson, "Incremental Construction of Minimal Acyclic Finite-State Automata", 2000).
//! Symbols are ranges of bytes, so that it serves word lists (one byte a range) and UTF-8 sequences alike;
//! two ranges that follow the same prefix must be equal or disjoint.

use std::hash::{Hash, Hasher};

use hashbrown::HashTable;
use rustc_hash::FxHasher;

type Symbol = (u8, u8);

/// State 0 is the start. A state accepts where a string ends.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Acyclic {
    pub states: Vec<AcyclicState>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct AcyclicState {
    pub accept: bool,
    pub edges: Vec<(Symbol, u32)>,
}

#[derive(Default)]
pub struct AcyclicBuilder {
    finished: Vec<AcyclicState>,
    /// Finished states by content.
    register: HashTable<u32>,
    /// The states along the last string; the edge to the next one has no target yet.
    open: Vec<(AcyclicState, Option<Symbol>)>,
    last: Vec<Symbol>,
}

impl AcyclicBuilder {
    pub fn new() -> Self {
        AcyclicBuilder { open: vec![Default::default()], ..Default::default() }
    }

    /// Add a string; strings come in ascending order.
    pub fn push(&mut self, string: impl Iterator<Item = Symbol>) {
        let mut depth = 0;
        let mut diverged = false;
        for symbol in string {
            if !diverged && self.last.get(depth) == Some(&symbol) {
                depth += 1;
                continue;
            }
            if !diverged {
                self.close(depth);
                diverged = true;
            }
            self.open[depth].1 = Some(symbol);
            self.open.push(Default::default());
            self.last.push(symbol);
            depth += 1;
        }
        self.open[depth].0.accept = true;
    }

    /// Finish the states of the last string below its first `depth` symbols.
    fn close(&mut self, depth: usize) {
        while self.open.len() > depth + 1 {
            let (state, _) = self.open.pop().expect("longer than depth + 1");
            let id = self.intern(state);
            let (parent, symbol) = self.open.last_mut().expect("the start stays open");
            parent.edges.push((symbol.take().expect("an open edge"), id));
        }
        self.last.truncate(depth);
    }

    fn intern(&mut self, state: AcyclicState) -> u32 {
        let finished = &mut self.finished;
        let hash = hash_of(&state);
        if let Some(&id) = self.register.find(hash, |&id| finished[id as usize] == state) {
            return id;
        }
        let id = finished.len() as u32;
        finished.push(state);
        self.register.insert_unique(hash, id, |&id| hash_of(&finished[id as usize]));
        id
    }

    pub fn finish(mut self) -> Acyclic {
        self.close(0);
        let (start, _) = self.open.pop().expect("the start");
        // The start comes first: all other ids move up by one.
        let mut states = Vec::with_capacity(self.finished.len() + 1);
        for mut state in std::iter::once(start).chain(self.finished) {
            state.edges.iter_mut().for_each(|edge| edge.1 += 1);
            states.push(state);
        }
        Acyclic { states }
    }
}

fn hash_of(state: &AcyclicState) -> u64 {
    let mut hasher = FxHasher::default();
    state.hash(&mut hasher);
    // The table takes its control bits from the top, where this hash is weak.
    hasher.finish().wrapping_mul(0x9E37_79B9_7F4A_7C15)
}
