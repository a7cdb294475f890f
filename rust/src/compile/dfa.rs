//! Deterministic automata over byte classes, for parts with `&` and `~`: always minimal, and every state is live.

use std::hash::Hasher;
use std::ops::Range;
use std::sync::OnceLock;

use hashbrown::HashTable;
use rustc_hash::{FxHashMap, FxHasher};

use super::Budget;
use super::bare_words::{BareWords, in_strings_and_zeros, is_digit, is_white_space};
use super::draft::{Draft, DraftRule, Label, byte_classes};
use super::kept::HeapBytes;
use super::rows::Rows;
use super::words::FewWords;
use crate::error::Result;
use crate::memory::MAX_WORDS;

const DEAD: u32 = u32::MAX;

/// A minimal DFA; state 0 is the start, and a DFA without states is the empty language.
#[derive(Debug)]
pub struct Dfa {
    /// The class of each byte; bytes of a class are never told apart.
    classes: [u8; 256],
    n_classes: usize,
    /// At `state * n_classes + class`: the next state, or `DEAD`.
    next: Vec<u32>,
    accept: Vec<bool>,
    /// The longest runs of bytes of one class: most questions are asked of runs, and 256 bytes have some 20.
    runs: Vec<(u8, u8)>,
    /// Whether there are too many texts to list them: every node that remembers asks that again.
    endless: OnceLock<bool>,
    /// Whether only few texts are left somewhere within: every object with such keys asks that.
    few_ends: OnceLock<bool>,
    repeats: OnceLock<Repeats>,
}

/// What is in the cycles of an automaton of JSON values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Repeats {
    /// Nothing but white space between tokens, if anything: there are only so many values.
    Nothing,
    /// Zeros of a number, too, or the exponent of 0: most spellings are the same value.
    Zeros,
    Characters,
}

impl Dfa {
    fn new(classes: [u8; 256], n_classes: usize, next: Vec<u32>, accept: Vec<bool>) -> Dfa {
        let (runs, endless, few_ends, repeats) =
            (Vec::new(), OnceLock::new(), OnceLock::new(), OnceLock::new());
        Dfa { classes, n_classes, next, accept, runs, endless, few_ends, repeats }
    }

    pub fn copy(&self) -> Dfa {
        let mut copy = Dfa::new(self.classes, self.n_classes, self.next.clone(), self.accept.clone());
        copy.runs.clone_from(&self.runs);
        copy
    }

    pub fn n_states(&self) -> u32 {
        self.accept.len() as u32
    }

    pub fn accepts(&self, state: u32) -> bool {
        self.accept[state as usize]
    }

    pub fn step(&self, state: u32, byte: u8) -> Option<u32> {
        Some(self.next[state as usize * self.n_classes + self.classes[byte as usize] as usize])
            .filter(|&to| to != DEAD)
    }

    /// A shortest text, if there is any.
    pub fn shortest_word(&self) -> Option<Vec<u8>> {
        if self.accept.is_empty() {
            return None;
        }
        let mut seen = vec![false; self.accept.len()];
        let mut open = std::collections::VecDeque::from([(0u32, Vec::new())]);
        while let Some((state, word)) = open.pop_front() {
            if self.accepts(state) {
                return Some(word);
            }
            for byte in 0..=255 {
                if let Some(to) = self.step(state, byte)
                    && !std::mem::replace(&mut seen[to as usize], true)
                {
                    open.push_back((to, [word.as_slice(), &[byte]].concat()));
                }
            }
        }
        None
    }

    /// All texts, if there are at most `MAX_WORDS`.
    pub fn words(&self) -> Option<Vec<Vec<u8>>> {
        if self.accept.is_empty() {
            return Some(Vec::new());
        }
        if self.endless.get() == Some(&true) {
            return None;
        }
        let n = self.accept.len();
        let edges = |state: u32, edges: &mut Vec<(u8, u8, u32)>| {
            edges.extend(self.ranges_of(state).map(|(_, low, high, to)| (low, high, to)));
        };
        let words = FewWords::new(n, |state| self.accepts(state), edges, MAX_WORDS).words(0);
        self.endless.get_or_init(|| words.is_none());
        words
    }

    /// Whether few texts are left to the end in some state that is none.
    pub fn has_few_ends(&self) -> bool {
        *self.few_ends.get_or_init(|| {
            let edges = |state: u32, edges: &mut Vec<(u8, u8, u32)>| edges.extend(self.outgoing(state));
            let few = FewWords::new(self.accept.len(), |state| self.accepts(state), edges, MAX_WORDS);
            (0..self.n_states()).any(|state| !self.accepts(state) && few.has_few(state))
        })
    }

    /// All texts of a language, if they are few; of a language of JSON values, one for each value.
    pub fn few_words(&self, json: bool, budget: &mut Budget) -> Result<Option<Vec<Vec<u8>>>> {
        let words = self.words();
        if words.is_some() || !json || self.repeats() == Repeats::Characters {
            return Ok(words);
        }
        let edges = |state: u32, edges: &mut Vec<(u8, u8, u32)>| edges.extend(self.outgoing(state));
        let bare = BareWords::new(self.accept.len(), |state| self.accepts(state), edges, 0, budget)?;
        let words = bare.and_then(|bare| Some(bare.words(0)?.iter().map(|word| word.to_vec()).collect()));
        Ok(words)
    }

    fn outgoing(&self, state: u32) -> impl Iterator<Item = (u8, u8, u32)> + '_ {
        self.ranges_of(state).map(|(_, low, high, to)| (low, high, to))
    }

    /// What makes the texts of a language of JSON values endless.
    pub fn repeats(&self) -> Repeats {
        *self.repeats.get_or_init(|| self.find_repeats())
    }

    fn find_repeats(&self) -> Repeats {
        let edges: Vec<Vec<(u8, u8, u32)>> =
            (0..self.n_states()).map(|state| self.outgoing(state).collect()).collect();
        let targets = |state: u32, at: u32| Some(edges[state as usize].get(at as usize)?.2);
        let component = super::components::components(edges.len(), targets);
        if edges.is_empty() {
            return Repeats::Nothing;
        }
        let (within, zero) = in_strings_and_zeros(&edges, 0);
        let n_components = component.iter().map(|&id| id as usize + 1).max().unwrap_or(0);
        let mut after = vec![Repeats::Nothing; n_components];
        let mut order: Vec<usize> = (0..edges.len()).collect();
        // Components are numbered with successors first.
        order.sort_unstable_by_key(|&state| component[state]);
        for &state in &order {
            let own = component[state] as usize;
            for &(low, high, to) in &edges[state] {
                let further = if component[to as usize] as usize != own {
                    after[component[to as usize] as usize]
                } else if is_white_space(low, high) && !within[state] {
                    Repeats::Nothing
                } else if (low, high) == (b'0', b'0') && !within[state] || is_digit(low, high) && zero[state]
                {
                    Repeats::Zeros
                } else {
                    Repeats::Characters
                };
                after[own] = after[own].max(further);
            }
        }
        after[component[0] as usize]
    }

    /// Every edge as (state, lowest byte, highest byte, next state).
    pub fn ranges(&self) -> impl Iterator<Item = (u32, u8, u8, u32)> + '_ {
        (0..self.n_states()).flat_map(move |state| self.ranges_of(state))
    }

    fn ranges_of(&self, state: u32) -> impl Iterator<Item = (u32, u8, u8, u32)> + '_ {
        let mut runs = self.runs.iter().copied().peekable();
        std::iter::from_fn(move || {
            loop {
                let (low, mut high) = runs.next()?;
                let Some(target) = self.step(state, low) else { continue };
                // Runs follow each other without a gap.
                while let Some((_, further)) =
                    runs.next_if(|&(next, _)| self.step(state, next) == Some(target))
                {
                    high = further;
                }
                return Some((state, low, high, target));
            }
        })
    }

    /// The texts of both.
    pub fn intersection(&self, other: &Dfa, budget: &mut Budget) -> Result<Dfa> {
        if self.accept.is_empty() || other.accept.is_empty() {
            return Ok(empty());
        }
        let (classes, pairs) = joint_classes(self, other);
        let n_classes = pairs.len();
        let mut ids = FxHashMap::from_iter([((0, 0), 0u32)]);
        let mut open = vec![(0u32, 0u32)];
        let (mut next, mut accept) = (Vec::new(), Vec::new());
        let mut at = 0;
        while at < open.len() {
            budget.spend_dfa_states(1)?;
            let (a, b) = open[at];
            accept.push(self.accepts(a) && other.accepts(b));
            for &(class_a, class_b) in &pairs {
                let to_a = self.next[a as usize * self.n_classes + class_a as usize];
                let to_b = other.next[b as usize * other.n_classes + class_b as usize];
                next.push(if to_a == DEAD || to_b == DEAD {
                    DEAD
                } else {
                    *ids.entry((to_a, to_b)).or_insert_with(|| {
                        open.push((to_a, to_b));
                        open.len() as u32 - 1
                    })
                });
            }
            at += 1;
        }
        Ok(Dfa::new(classes, n_classes, next, accept).minimal())
    }

    /// Every byte string that is not in this language.
    pub fn complement(&self, budget: &mut Budget) -> Result<Dfa> {
        budget.spend_dfa_states(u64::from(self.n_states()) + 1)?;
        let sink = self.n_states();
        let n_classes = self.n_classes.max(1);
        let mut next: Vec<u32> = self.next.iter().map(|&to| if to == DEAD { sink } else { to }).collect();
        next.extend(std::iter::repeat_n(sink, n_classes));
        let accept = self.accept.iter().map(|&accepts| !accepts).chain([true]).collect();
        Ok(Dfa::new(self.classes, n_classes, next, accept).minimal())
    }

    /// The same language with live states only, equivalent ones merged.
    fn minimal(self) -> Dfa {
        let live = self.live();
        if !live.first().copied().unwrap_or(false) {
            return empty();
        }
        let blocks = self.blocks(&live);
        self.quotient(&blocks)
    }

    fn live(&self) -> Vec<bool> {
        let mut into = Rows::default();
        let edges = self.next.iter().enumerate().filter(|edge| *edge.1 != DEAD);
        into.sort(self.accept.len(), edges.map(|(at, &to)| (to, (at / self.n_classes) as u32)));
        let mut live = self.accept.clone();
        let mut open: Vec<u32> = (0..self.n_states()).filter(|&s| self.accepts(s)).collect();
        while let Some(state) = open.pop() {
            for &from in into.of(state) {
                if !std::mem::replace(&mut live[from as usize], true) {
                    open.push(from);
                }
            }
        }
        live
    }

    /// Hopcroft's partition refinement; dead states are in block 0 (one sink), which may be unused.
    fn blocks(&self, live: &[bool]) -> Vec<u32> {
        let n = self.accept.len();
        let sink = n;
        let target = |state: usize, class: usize| match self.next[state * self.n_classes + class] {
            DEAD => sink,
            to if live[to as usize] => to as usize,
            _ => sink,
        };
        let mut refine =
            Refine::new(n + 1, |s| if s == sink || !live[s] { 0 } else { 1 + usize::from(self.accept[s]) });
        // Inverse edges, by class and target.
        let n_classes = self.n_classes;
        let row = |class: usize, state: usize| (class * (n + 1) + state) as u32;
        let states = (0..n).filter(|&s| live[s]);
        let edges =
            states.flat_map(|s| (0..n_classes).map(move |class| (row(class, target(s, class)), s as u32)));
        let mut inverse = Rows::default();
        inverse.sort(n_classes * (n + 1), edges);
        let mut members = Vec::new();
        while let Some(block) = refine.pop_waiting() {
            refine.members(block, &mut members);
            for class in 0..n_classes {
                for &member in &members {
                    inverse.of(row(class, member as usize)).iter().for_each(|&state| refine.mark(state));
                }
                refine.split_marked();
            }
        }
        refine.block_of
    }

    /// One state a block of live states, numbered breadth first.
    fn quotient(&self, blocks: &[u32]) -> Dfa {
        let dead_block = blocks[self.accept.len()];
        let mut number = vec![DEAD; blocks.len()];
        number[blocks[0] as usize] = 0;
        let mut order = vec![0usize];
        let (mut next, mut accept) = (Vec::new(), Vec::new());
        let mut at = 0;
        while at < order.len() {
            let state = order[at];
            accept.push(self.accept[state]);
            for class in 0..self.n_classes {
                let to = self.next[state * self.n_classes + class];
                if to == DEAD || blocks[to as usize] == dead_block {
                    next.push(DEAD);
                    continue;
                }
                let number = &mut number[blocks[to as usize] as usize];
                if *number == DEAD {
                    *number = order.len() as u32;
                    order.push(to as usize);
                }
                next.push(*number);
            }
            at += 1;
        }
        let mut dfa = Dfa::new(self.classes, self.n_classes, next, accept);
        dfa.runs = runs(&dfa.classes);
        dfa
    }
}

impl HeapBytes for Dfa {
    fn heap_bytes(&self) -> usize {
        256 + self.next.len() * 4 + self.accept.len() + self.runs.len() * 2
    }
}

fn empty() -> Dfa {
    Dfa::new([0; 256], 1, Vec::new(), Vec::new())
}

fn runs(classes: &[u8; 256]) -> Vec<(u8, u8)> {
    let mut runs: Vec<(u8, u8)> = Vec::new();
    for byte in 0..=255u8 {
        match runs.last_mut() {
            Some(run) if classes[run.0 as usize] == classes[byte as usize] => run.1 = byte,
            _ => runs.push((byte, byte)),
        }
    }
    runs
}

/// The coarsest classes that both automata respect, and the class of each automaton for each.
fn joint_classes(a: &Dfa, b: &Dfa) -> ([u8; 256], Vec<(u8, u8)>) {
    let mut classes = [0; 256];
    let mut pairs: Vec<(u8, u8)> = Vec::new();
    for (class_of, pair) in classes.iter_mut().zip(a.classes.into_iter().zip(b.classes)) {
        let class = pairs.iter().position(|&known| known == pair).unwrap_or_else(|| {
            pairs.push(pair);
            pairs.len() - 1
        });
        *class_of = class as u8;
    }
    (classes, pairs)
}

/// A partition that only gets finer, with the blocks that still have to be used as splitters.
struct Refine {
    elements: Vec<u32>,
    place: Vec<u32>,
    pub block_of: Vec<u32>,
    /// For each block: start, end, and how many marked elements stand at its start.
    blocks: Vec<(u32, u32, u32)>,
    touched: Vec<u32>,
    waiting: Vec<u32>,
    is_waiting: Vec<bool>,
}

impl Refine {
    fn new(n: usize, kind: impl Fn(usize) -> usize) -> Refine {
        let mut elements: Vec<u32> = (0..n as u32).collect();
        elements.sort_by_key(|&e| kind(e as usize));
        let mut refine = Refine {
            place: vec![0; n],
            block_of: vec![0; n],
            blocks: Vec::new(),
            touched: Vec::new(),
            waiting: Vec::new(),
            is_waiting: Vec::new(),
            elements,
        };
        let mut last = None;
        for at in 0..n {
            let element = refine.elements[at] as usize;
            if last != Some(kind(element)) {
                last = Some(kind(element));
                refine.add_block(at as u32, at as u32, true);
            }
            let block = refine.blocks.len() - 1;
            refine.blocks[block].1 += 1;
            refine.place[element] = at as u32;
            refine.block_of[element] = block as u32;
        }
        refine
    }

    fn add_block(&mut self, start: u32, end: u32, waiting: bool) {
        if waiting {
            self.waiting.push(self.blocks.len() as u32);
        }
        self.blocks.push((start, end, 0));
        self.is_waiting.push(waiting);
    }

    fn pop_waiting(&mut self) -> Option<u32> {
        let block = self.waiting.pop()?;
        self.is_waiting[block as usize] = false;
        Some(block)
    }

    fn members(&self, block: u32, members: &mut Vec<u32>) {
        let (start, end, _) = self.blocks[block as usize];
        members.clear();
        members.extend_from_slice(&self.elements[start as usize..end as usize]);
    }

    fn mark(&mut self, element: u32) {
        let block = self.block_of[element as usize];
        let (start, _, marked) = &mut self.blocks[block as usize];
        let (at, to) = (self.place[element as usize], *start + *marked);
        if at < to {
            return;
        }
        if *marked == 0 {
            self.touched.push(block);
        }
        *marked += 1;
        let other = self.elements[to as usize];
        self.elements.swap(at as usize, to as usize);
        self.place[other as usize] = at;
        self.place[element as usize] = to;
    }

    fn split_marked(&mut self) {
        while let Some(block) = self.touched.pop() {
            let (start, end, marked) = std::mem::take(&mut self.blocks[block as usize]);
            let middle = start + marked;
            if middle == end {
                self.blocks[block as usize] = (start, end, 0);
                continue;
            }
            // The smaller half becomes the new block.
            let (kept, split) = if marked <= end - middle {
                ((middle, end), (start, middle))
            } else {
                ((start, middle), (middle, end))
            };
            self.blocks[block as usize] = (kept.0, kept.1, 0);
            let new = self.blocks.len() as u32;
            self.add_block(split.0, split.1, true);
            for at in split.0..split.1 {
                self.block_of[self.elements[at as usize] as usize] = new;
            }
        }
    }
}

/// Subset construction over the classes that the draft's edges tell apart. The draft has no calls and no tokens.
pub fn determinise(draft: &Draft, rule: &DraftRule, budget: &mut Budget) -> Result<Dfa> {
    let (classes, firsts) = byte_classes(draft.edges.iter().map(|edge| edge.1.label));
    let n_classes = firsts.len();
    let mut sets = Sets::new(draft, &classes);
    sets.closure(&mut vec![rule.start]);
    let (mut next, mut accept) = (Vec::new(), Vec::new());
    // For each class, the states that it leads to from the set being looked at.
    let mut targets: Vec<Vec<u32>> = vec![Vec::new(); n_classes];
    let mut last = Vec::new();
    let mut at = 0;
    while at < sets.len() {
        let set = sets.range(at);
        // A large set costs as much as many small ones.
        budget.spend_dfa_states(1 + set.len() as u64 / 64)?;
        accept.push(sets.states[set.clone()].contains(&rule.end));
        for &state in &sets.states[set] {
            for &(low, high, to) in sets.edges.of(state) {
                targets[low as usize..=high as usize].iter_mut().for_each(|class| class.push(to));
            }
        }
        last.clear();
        let mut id = DEAD;
        for class in &mut targets {
            // Most neighbours lead to the same states.
            if *class != last {
                last.clone_from(class);
                id = if class.is_empty() { DEAD } else { sets.closure(class) };
            }
            class.clear();
            next.push(id);
        }
        at += 1;
    }
    Ok(Dfa::new(classes, n_classes, next, accept).minimal())
}

/// The sets of states found so far, each sorted and closed under ε-edges, and the draft by state.
struct Sets {
    /// Edges as (lowest class, highest class, next state): classes of a draft ascend with the bytes.
    edges: Rows<(u8, u8, u32)>,
    epsilons: Rows<u32>,
    states: Vec<u32>,
    starts: Vec<u32>,
    known: HashTable<u32>,
    stamps: Vec<u32>,
    stamp: u32,
}

impl Sets {
    fn new(draft: &Draft, classes: &[u8; 256]) -> Sets {
        let n = draft.n_states as usize;
        let (mut edges, mut epsilons) = (Rows::default(), Rows::default());
        let ranges = draft.edges.iter().filter_map(|&(from, edge)| match edge.label {
            Label::Bytes(low, high) => {
                Some((from, (classes[low as usize], classes[high as usize], edge.target)))
            }
            _ => None,
        });
        edges.sort(n, ranges);
        epsilons.sort(n, draft.epsilons.iter().copied());
        let (states, starts, known) = (Vec::new(), vec![0], HashTable::new());
        Sets { edges, epsilons, states, starts, known, stamps: vec![0; n], stamp: 0 }
    }

    fn len(&self) -> usize {
        self.starts.len() - 1
    }

    fn range(&self, id: usize) -> Range<usize> {
        self.starts[id] as usize..self.starts[id + 1] as usize
    }

    /// The number of the set that some states are closed to.
    fn closure(&mut self, set: &mut Vec<u32>) -> u32 {
        self.stamp += 1;
        let stamps = &mut self.stamps;
        set.retain(|&state| std::mem::replace(&mut stamps[state as usize], self.stamp) != self.stamp);
        let mut at = 0;
        while at < set.len() {
            for &to in self.epsilons.of(set[at]) {
                if std::mem::replace(&mut stamps[to as usize], self.stamp) != self.stamp {
                    set.push(to);
                }
            }
            at += 1;
        }
        set.sort_unstable();
        let next = self.len() as u32;
        let hash = hash_of(set);
        let same = |&id: &u32| self.states[self.range(id as usize)] == set[..];
        if let Some(&id) = self.known.find(hash, same) {
            return id;
        }
        self.states.extend_from_slice(set);
        self.starts.push(self.states.len() as u32);
        let (states, starts) = (&self.states, &self.starts);
        let content = |id: u32| &states[starts[id as usize] as usize..starts[id as usize + 1] as usize];
        self.known.insert_unique(hash, next, |&id| hash_of(content(id)));
        next
    }
}

fn hash_of(set: &[u32]) -> u64 {
    let mut hasher = FxHasher::default();
    set.iter().for_each(|&state| hasher.write_u32(state));
    // The table takes its control bits from the top, where this hash is weak.
    hasher.finish().wrapping_mul(0x9E37_79B9_7F4A_7C15)
}
