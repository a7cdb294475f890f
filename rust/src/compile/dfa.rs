//! Deterministic automata over byte classes, for parts with `&` and `~`: always minimal, and every state is live.

use rustc_hash::FxHashMap;

use super::Budget;
use super::draft::{Draft, DraftRule, Label, byte_classes};
use super::words::FewWords;
use crate::error::Result;

const DEAD: u32 = u32::MAX;

/// A minimal DFA; state 0 is the start, and a DFA without states is the empty language.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dfa {
    /// The class of each byte; bytes of a class are never told apart.
    classes: Box<[u8; 256]>,
    n_classes: usize,
    /// At `state * n_classes + class`: the next state, or `DEAD`.
    next: Vec<u32>,
    accept: Vec<bool>,
}

impl Dfa {
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

    /// A shortest text, empty if there is none.
    pub fn shortest_word(&self) -> Vec<u8> {
        let mut seen = vec![false; self.accept.len()];
        let mut open = std::collections::VecDeque::from([(0u32, Vec::new())]);
        while let Some((state, word)) = open.pop_front() {
            if self.accept.get(state as usize).copied().unwrap_or(true) {
                return word;
            }
            for byte in 0..=255 {
                if let Some(to) = self.step(state, byte)
                    && !std::mem::replace(&mut seen[to as usize], true)
                {
                    open.push_back((to, [word.as_slice(), &[byte]].concat()));
                }
            }
        }
        Vec::new()
    }

    /// All texts, if there are at most `most`.
    pub fn words(&self, most: usize) -> Option<Vec<Vec<u8>>> {
        if self.accept.is_empty() {
            return Some(Vec::new());
        }
        let few =
            FewWords::new(self.accept.len(), |state| self.accepts(state), |state| self.outgoing(state), most);
        few.words(0)
    }

    fn outgoing(&self, state: u32) -> Vec<(u8, u8, u32)> {
        self.ranges_of(state).map(|(_, low, high, to)| (low, high, to)).collect()
    }

    /// Whether there are endless texts, but only zeros and white space make them so.
    pub fn only_zeros_repeat(&self) -> bool {
        let component = super::components::components(self.accept.len(), |state| {
            self.outgoing(state).into_iter().map(|edge| edge.2)
        });
        let mut repeats =
            self.ranges().filter(|&(from, _, _, to)| component[from as usize] == component[to as usize]);
        let idle = |&(_, low, high, _): &(u32, u8, u8, u32)| low == high && b"0 \t\n\r".contains(&low);
        repeats.next().is_some_and(|first| idle(&first)) && repeats.all(|edge| idle(&edge))
    }

    /// Every edge as (state, lowest byte, highest byte, next state).
    pub fn ranges(&self) -> impl Iterator<Item = (u32, u8, u8, u32)> + '_ {
        (0..self.n_states()).flat_map(move |state| self.ranges_of(state))
    }

    fn ranges_of(&self, state: u32) -> impl Iterator<Item = (u32, u8, u8, u32)> + '_ {
        let mut low = 0usize;
        std::iter::from_fn(move || {
            while low < 256 {
                let Some(target) = self.step(state, low as u8) else {
                    low += 1;
                    continue;
                };
                let run = (low..256).take_while(|&byte| self.step(state, byte as u8) == Some(target)).count();
                let edge = (state, low as u8, (low + run - 1) as u8, target);
                low += run;
                return Some(edge);
            }
            None
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
        Ok(Dfa { classes, n_classes, next, accept }.minimal())
    }

    /// Every byte string that is not in this language.
    pub fn complement(&self, budget: &mut Budget) -> Result<Dfa> {
        budget.spend_dfa_states(u64::from(self.n_states()) + 1)?;
        let sink = self.n_states();
        let n_classes = self.n_classes.max(1);
        let mut next: Vec<u32> = self.next.iter().map(|&to| if to == DEAD { sink } else { to }).collect();
        next.extend(std::iter::repeat_n(sink, n_classes));
        let accept = self.accept.iter().map(|&accepts| !accepts).chain([true]).collect();
        Ok(Dfa { classes: self.classes.clone(), n_classes, next, accept }.minimal())
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
        let mut into = vec![Vec::new(); self.accept.len()];
        for (at, &to) in self.next.iter().enumerate() {
            if to != DEAD {
                into[to as usize].push((at / self.n_classes) as u32);
            }
        }
        let mut live = self.accept.clone();
        let mut open: Vec<u32> = (0..self.n_states()).filter(|&s| self.accepts(s)).collect();
        while let Some(state) = open.pop() {
            for &from in &into[state as usize] {
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
        // Inverse edges by class, as one array a class.
        let mut refine =
            Refine::new(n + 1, |s| if s == sink || !live[s] { 0 } else { 1 + usize::from(self.accept[s]) });
        let states: Vec<usize> = (0..n).filter(|&s| live[s]).collect();
        let mut inverse: Vec<(Vec<u32>, Vec<u32>)> = Vec::with_capacity(self.n_classes);
        for class in 0..self.n_classes {
            let mut starts = vec![0u32; n + 2];
            states.iter().for_each(|&s| starts[target(s, class) + 1] += 1);
            (1..starts.len()).for_each(|i| starts[i] += starts[i - 1]);
            let mut fill = starts.clone();
            let mut from = vec![0u32; states.len()];
            for &s in &states {
                let slot = &mut fill[target(s, class)];
                from[*slot as usize] = s as u32;
                *slot += 1;
            }
            inverse.push((starts, from));
        }
        while let Some(block) = refine.pop_waiting() {
            let members = refine.members(block);
            for (starts, from) in &inverse {
                for &member in &members {
                    let range = starts[member as usize] as usize..starts[member as usize + 1] as usize;
                    from[range].iter().for_each(|&state| refine.mark(state));
                }
                refine.split_marked();
            }
        }
        refine.block_of
    }

    /// One state a block of live states, numbered breadth first.
    fn quotient(&self, blocks: &[u32]) -> Dfa {
        let dead_block = blocks[self.accept.len()];
        let mut number = FxHashMap::from_iter([(blocks[0], 0u32)]);
        let mut order = vec![0usize];
        let (mut next, mut accept) = (Vec::new(), Vec::new());
        let mut at = 0;
        while at < order.len() {
            let state = order[at];
            accept.push(self.accept[state]);
            for class in 0..self.n_classes {
                let to = self.next[state * self.n_classes + class];
                next.push(if to == DEAD || blocks[to as usize] == dead_block {
                    DEAD
                } else {
                    *number.entry(blocks[to as usize]).or_insert_with(|| {
                        order.push(to as usize);
                        order.len() as u32 - 1
                    })
                });
            }
            at += 1;
        }
        Dfa { classes: self.classes.clone(), n_classes: self.n_classes, next, accept }
    }
}

fn empty() -> Dfa {
    Dfa { classes: Box::new([0; 256]), n_classes: 1, next: Vec::new(), accept: Vec::new() }
}

/// The coarsest classes that both automata respect, and the class of each automaton for each.
fn joint_classes(a: &Dfa, b: &Dfa) -> (Box<[u8; 256]>, Vec<(u8, u8)>) {
    let mut classes = Box::new([0; 256]);
    let mut pairs: Vec<(u8, u8)> = Vec::new();
    for byte in 0..256 {
        let pair = (a.classes[byte], b.classes[byte]);
        let class = pairs.iter().position(|&known| known == pair).unwrap_or_else(|| {
            pairs.push(pair);
            pairs.len() - 1
        });
        classes[byte] = class as u8;
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

    fn members(&self, block: u32) -> Vec<u32> {
        let (start, end, _) = self.blocks[block as usize];
        self.elements[start as usize..end as usize].to_vec()
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
        for block in std::mem::take(&mut self.touched) {
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
    let nfa = Sets::new(draft);
    let start = nfa.closure(vec![rule.start]);
    let mut ids = FxHashMap::from_iter([(start.clone(), 0u32)]);
    let mut sets = vec![start];
    let (mut next, mut accept) = (Vec::new(), Vec::new());
    let mut at = 0;
    while at < sets.len() {
        // A large set costs as much as many small ones.
        budget.spend_dfa_states(1 + sets[at].len() as u64 / 64)?;
        accept.push(sets[at].contains(&rule.end));
        for &byte in &firsts {
            let target = nfa.step(&sets[at], byte);
            if target.is_empty() {
                next.push(DEAD);
                continue;
            }
            let known = ids.get(&target).copied();
            next.push(known.unwrap_or_else(|| {
                let id = sets.len() as u32;
                ids.insert(target.clone(), id);
                sets.push(target);
                id
            }));
        }
        at += 1;
    }
    Ok(Dfa { classes, n_classes, next, accept }.minimal())
}

/// The draft, indexed by state.
struct Sets {
    edges: Vec<Vec<(u8, u8, u32)>>,
    epsilons: Vec<Vec<u32>>,
}

impl Sets {
    fn new(draft: &Draft) -> Sets {
        let mut sets = Sets {
            edges: vec![Vec::new(); draft.n_states as usize],
            epsilons: vec![Vec::new(); draft.n_states as usize],
        };
        for &(from, edge) in &draft.edges {
            if let Label::Bytes(low, high) = edge.label {
                sets.edges[from as usize].push((low, high, edge.target));
            }
        }
        for &(from, to) in &draft.epsilons {
            sets.epsilons[from as usize].push(to);
        }
        sets
    }

    fn closure(&self, mut set: Vec<u32>) -> Vec<u32> {
        let mut seen: rustc_hash::FxHashSet<u32> = set.iter().copied().collect();
        let mut at = 0;
        while at < set.len() {
            for &to in &self.epsilons[set[at] as usize] {
                if seen.insert(to) {
                    set.push(to);
                }
            }
            at += 1;
        }
        set.sort_unstable();
        set.dedup();
        set
    }

    fn step(&self, set: &[u32], byte: u8) -> Vec<u32> {
        let reads = |&&(low, high, _): &&(u8, u8, u32)| low <= byte && byte <= high;
        let mut targets: Vec<u32> = set
            .iter()
            .flat_map(|&s| self.edges[s as usize].iter().filter(reads).map(|edge| edge.2))
            .collect();
        targets.sort_unstable();
        targets.dedup();
        self.closure(targets)
    }
}
