//! The part of a mask that belongs to the vocabulary: what a class of characters makes of every token.
//!
//! A token is made of characters of the class alone (a run), or it is a run of k such characters and a rest that starts
//! with something else. From a state that stays where it is on every character of the class, all runs are allowed, and
//! the others depend on their rest only: many tokens share few rests. So one bitmask and a small trie of rests answer
//! for every such state of every format.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use super::chars::CharSet;
use super::vocabulary::Vocabulary;
use crate::compile::acyclic::Acyclic;
use crate::compile::utf8::utf8_automaton;
use crate::mask::{clear, contains, set};
use crate::trie::{Trie, leading_bytes};

/// Runs of up to this many characters have a bitmask a length; longer ones are few (3 % of the runs in Llama 3's vocabulary).
const LEVELS: usize = 16;
/// Up to this many tokens that are no runs, they have a trie of their own.
const MAX_OTHERS: usize = 16_384;

/// A class that leaves more tokens with a rest has no part: all characters but a few letters leave 50,000, which take 25 ms
/// to sort, and a walk over the vocabulary 4.
const MAX_RESTS: usize = 24_576;

#[derive(Debug)]
pub struct Part {
    /// Tells parts apart, from 1 on.
    pub serial: u64,
    /// At i: the runs of at most i characters, once a bound was near.
    levels: OnceLock<Vec<Arc<[u32]>>>,
    /// All runs.
    all: Arc<[u32]>,
    /// Runs of more than `LEVELS` characters, as (characters, id), ascending.
    long_runs: Vec<(u32, u32)>,
    pub n_runs: usize,
    /// Bytes that no character of the class begins with: tokens that begin so have no run.
    pub outer_bytes: Vec<u8>,
    /// The rests of tokens with a run, and of those without one that begin with a byte of the class.
    pub rests: Trie,
    /// For each rest: tokens as (characters before it, id), ascending.
    tokens: Vec<(u32, u32)>,
    token_starts: Vec<u32>,
    /// The largest number of characters before a rest.
    pub max_before: u32,
    /// Tokens with `EARLY` or more characters before their rest, by that number: few.
    late: Vec<Late>,
    /// The length of each rest in bytes.
    rest_lengths: Vec<u32>,
    /// For each byte, the length of the longest rest that begins with it.
    longest_rests: Box<[u32; 256]>,
    /// All tokens that are no runs, where they are few: a trie of whole tokens, and their ids.
    pub others: Option<(Trie, Vec<u32>)>,
}

/// A token with many characters before its rest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Late {
    pub chars: u32,
    pub token: u32,
    /// Bytes of the rest.
    pub length: u32,
}

/// Of Llama 3's tokens that cross a JSON string's closing quote none has more than 5 characters before it.
const EARLY: u32 = 6;

/// The arrays of a part.
#[derive(Debug)]
pub struct SavedPart<'p> {
    /// None: they were not asked for yet.
    pub levels: &'p [Arc<[u32]>],
    pub all: &'p Arc<[u32]>,
    pub long_runs: &'p [(u32, u32)],
    pub outer_bytes: &'p [u8],
    pub rests: &'p Trie,
    pub tokens: &'p [(u32, u32)],
    pub token_starts: &'p [u32],
    pub others: Option<&'p (Trie, Vec<u32>)>,
}

const BROKEN: u32 = u32::MAX;

impl Part {
    /// The part of a class; `None` if it leaves too many rests.
    pub fn new(class: &CharSet, vocabulary: &Vocabulary) -> Option<Part> {
        let automaton = Table::new(&utf8_automaton(class.iter().copied()));
        let outer_bytes: Vec<u8> = (0..=255).filter(|&byte| automaton.next(0, byte) == BROKEN).collect();
        let mut cutter = Cutter::new(&automaton, vocabulary);
        for byte in (0..=255).filter(|&byte| automaton.next(0, byte) != BROKEN) {
            cutter.walk(vocabulary.trie.subtree(byte));
            if cutter.rests.len() > MAX_RESTS {
                return None;
            }
        }
        let Cutter { runs, rests, .. } = cutter;
        let others = others(vocabulary, &outer_bytes, &rests);
        Some(Part::assemble(vocabulary, runs, rests, outer_bytes, others))
    }

    fn assemble(
        vocabulary: &Vocabulary,
        mut runs: Runs,
        rests: Vec<Rest>,
        outer_bytes: Vec<u8>,
        others: Option<(Trie, Vec<u32>)>,
    ) -> Part {
        let rest_of = |rest: &Rest| &vocabulary.bytes(rest.id)[rest.at as usize..];
        // PERF: most comparisons end in the first 8 bytes.
        let mut inner: Vec<(u64, Rest)> =
            rests.into_iter().map(|rest| (leading_bytes(rest_of(&rest)), rest)).collect();
        inner.sort_unstable_by(|(a_key, a), (b_key, b)| {
            let all = || rest_of(a).cmp(rest_of(b)).then((a.chars, a.id).cmp(&(b.chars, b.id)));
            a_key.cmp(b_key).then_with(all)
        });
        let (mut strings, mut token_starts, mut tokens): (Vec<&[u8]>, _, _) =
            (Vec::new(), Vec::new(), Vec::new());
        for (_, rest) in &inner {
            if strings.last() != Some(&rest_of(rest)) {
                strings.push(rest_of(rest));
                token_starts.push(tokens.len() as u32);
            }
            tokens.push((rest.chars, rest.id));
        }
        token_starts.push(tokens.len() as u32);
        let rests = Trie::build(&strings).expect("rests are no larger than the vocabulary");
        runs.settle(vocabulary);
        let n_runs = runs.all.iter().map(|word| word.count_ones() as usize).sum();
        Part {
            serial: next_serial(),
            levels: OnceLock::new(),
            all: runs.all.into(),
            n_runs,
            long_runs: runs.long,
            outer_bytes,
            max_before: tokens.iter().map(|token| token.0).max().unwrap_or(0),
            rest_lengths: rest_lengths(&rests),
            late: late(&rests, &tokens, &token_starts),
            longest_rests: longest_rests(&rests),
            rests,
            tokens,
            token_starts,
            others,
        }
    }

    /// The part as it is kept on disk; what is not there follows from it.
    pub fn saved(&self) -> SavedPart<'_> {
        SavedPart {
            levels: self.levels.get().map_or(&[], |levels| levels),
            all: &self.all,
            long_runs: &self.long_runs,
            outer_bytes: &self.outer_bytes,
            rests: &self.rests,
            tokens: &self.tokens,
            token_starts: &self.token_starts,
            others: self.others.as_ref(),
        }
    }

    /// A part from what `saved` gave. `None` if the arrays do not fit together; ids and bitmasks have been checked.
    pub fn restore(
        (all, levels): (Arc<[u32]>, Vec<Arc<[u32]>>),
        long_runs: Vec<(u32, u32)>,
        outer_bytes: Vec<u8>,
        rests: Trie,
        tokens: Vec<(u32, u32)>,
        token_starts: Vec<u32>,
        others: Option<(Trie, Vec<u32>)>,
    ) -> Option<Part> {
        let n_runs = all.iter().map(|word| word.count_ones() as usize).sum();
        let max_before = tokens.iter().map(|token| token.0).max().unwrap_or(0);
        let fits = [0, LEVELS + 1].contains(&levels.len())
            && token_starts.len() == rests.n_ids() as usize + 1
            && token_starts.is_sorted()
            && token_starts.last().is_some_and(|&end| end as usize == tokens.len())
            && outer_bytes.is_sorted();
        if !fits {
            return None;
        }
        Some(Part {
            serial: next_serial(),
            levels: if levels.is_empty() { OnceLock::new() } else { levels.into() },
            all,
            long_runs,
            n_runs,
            outer_bytes,
            rest_lengths: rest_lengths(&rests),
            late: late(&rests, &tokens, &token_starts),
            longest_rests: longest_rests(&rests),
            rests,
            tokens,
            token_starts,
            max_before,
            others,
        })
    }

    /// Whether every token is as long as its rest.
    pub fn fits(&self, vocabulary: &Vocabulary) -> bool {
        (0..self.rests.n_ids()).all(|rest| {
            let tokens = self.tokens(rest, 0, u32::MAX);
            tokens.iter().all(|token| vocabulary.bytes(token.1).len() >= self.rest_length(rest))
        })
    }

    /// The tokens on rest `id` with `from..=to` characters before it, as (characters, token).
    pub fn tokens(&self, id: u32, from: u32, to: u32) -> &[(u32, u32)] {
        let all = &self.tokens
            [self.token_starts[id as usize] as usize..self.token_starts[id as usize + 1] as usize];
        let start = all.partition_point(|token| token.0 < from);
        let end = all.partition_point(|token| token.0 <= to);
        &all[start..end]
    }

    /// The tokens with so many characters before their rest, if all of them are known to be few.
    pub fn late(&self, from: u32, to: u32) -> Option<&[Late]> {
        let start = self.late.partition_point(|late| late.chars < from);
        let end = self.late.partition_point(|late| late.chars <= to);
        (from >= EARLY && end - start <= MAX_LATE).then(|| &self.late[start..end])
    }

    /// The length of a rest in bytes.
    pub fn rest_length(&self, rest: u32) -> usize {
        self.rest_lengths[rest as usize] as usize
    }

    /// The length in bytes of the longest rest that begins with a byte between two bounds.
    pub fn longest_rest(&self, low: u8, high: u8) -> u32 {
        self.longest_rests[low as usize..=high as usize].iter().copied().max().unwrap_or(0)
    }

    /// More characters than this are in no run, and before no rest.
    pub fn longest_run(&self) -> u32 {
        self.long_runs.last().map_or(LEVELS as u32, |run| run.0).max(self.max_before)
    }

    /// Whether a character of the class begins with a byte between two bounds.
    pub fn begins(&self, low: u8, high: u8) -> bool {
        (low..=high).any(|byte| self.outer_bytes.binary_search(&byte).is_err())
    }

    /// A bitmask of runs, and runs in it that have more than `longest` characters and do not count.
    pub fn runs(&self, longest: u32, vocabulary: &Vocabulary) -> (&Arc<[u32]>, &[(u32, u32)]) {
        if longest as usize <= LEVELS {
            return (&self.levels(vocabulary)[longest as usize], &[]);
        }
        let beyond = self.long_runs.partition_point(|run| run.0 <= longest);
        (&self.all, &self.long_runs[beyond..])
    }

    /// At i: the runs of at most i characters. Made when a bound is near: most classes never see one, and they take 270 kB.
    pub fn levels(&self, vocabulary: &Vocabulary) -> &[Arc<[u32]>] {
        self.levels.get_or_init(|| {
            let mut levels = vec![vec![0; self.all.len()]; LEVELS + 1];
            for id in set_bits(&self.all) {
                let starts = vocabulary.bytes(id).iter().filter(|&&byte| !(0x80..0xC0).contains(&byte));
                if let Some(level) = levels.get_mut(starts.count()) {
                    set(level, id);
                }
            }
            for longest in 1..=LEVELS {
                let (shorter, these) = levels.split_at_mut(longest);
                these[0].iter_mut().zip(&shorter[longest - 1]).for_each(|(word, more)| *word |= more);
            }
            levels.into_iter().map(Into::into).collect()
        })
    }

    /// The runs of `from` to `to` characters.
    pub fn runs_between(&self, from: u32, to: u32, vocabulary: &Vocabulary) -> impl Iterator<Item = u32> {
        let levels = self.levels(vocabulary);
        let at = |length: u32| &levels[(length as usize).min(LEVELS)];
        let (less, most) = (at(from - 1), at(to));
        let short = (0..most.len() as u32 * 32).filter(|&id| contains(most, id) && !contains(less, id));
        let long = self.long_runs.iter().filter(move |run| (from..=to).contains(&run.0)).map(|run| run.1);
        short.chain(long)
    }

    pub fn heap_bytes(&self) -> usize {
        let others = self.others.as_ref().map_or(0, |(trie, ids)| trie.heap_bytes() + ids.len() * 4);
        let levels = self.levels.get().map_or(1, |levels| levels.len() + 1) * self.all.len() * 4;
        let late = self.late.len() * size_of::<Late>();
        levels
            + self.rests.heap_bytes()
            + others
            + late
            + (self.long_runs.len() + self.tokens.len()) * 8
            + self.rest_lengths.len() * 4
    }
}

/// A token that is no run: its rest starts at byte `at`, after `chars` characters.
#[derive(Clone, Copy)]
struct Rest {
    id: u32,
    at: u32,
    chars: u32,
}

/// More tokens than this are found faster by a walk over all rests.
const MAX_LATE: usize = 64;

fn late(rests: &Trie, tokens: &[(u32, u32)], token_starts: &[u32]) -> Vec<Late> {
    let mut late = Vec::new();
    for node in (0..rests.n_nodes()).filter(|&node| rests.id(node) != rests.sink()) {
        let (rest, length) = (rests.id(node) as usize, rests.depth(node) as u32 + 1);
        let all = &tokens[token_starts[rest] as usize..token_starts[rest + 1] as usize];
        let many = all.iter().filter(|token| token.0 >= EARLY);
        late.extend(many.map(|&(chars, token)| Late { chars, token, length }));
    }
    late.sort_unstable();
    late
}

fn rest_lengths(rests: &Trie) -> Vec<u32> {
    let mut lengths = vec![0; rests.n_ids() as usize + 1];
    (0..rests.n_nodes()).for_each(|node| lengths[rests.id(node) as usize] = rests.depth(node) as u32 + 1);
    lengths
}

fn longest_rests(rests: &Trie) -> Box<[u32; 256]> {
    let mut longest = Box::new([0; 256]);
    for byte in 0..=u8::MAX {
        let depths = rests.subtree(byte).map(|node| rests.depth(node) as u32 + 1);
        longest[byte as usize] = depths.max().unwrap_or(0);
    }
    longest
}

fn next_serial() -> u64 {
    static LAST: AtomicU64 = AtomicU64::new(0);
    LAST.fetch_add(1, Ordering::Relaxed) + 1
}

/// One entry a depth of the trie while tokens are cut.
#[derive(Clone, Copy)]
struct Cut {
    /// The state of the class automaton, or `BROKEN` once something else was read.
    state: u32,
    /// Where the run ends so far, in bytes and in characters.
    bytes: u32,
    chars: u32,
}

struct Cutter<'v> {
    automaton: &'v Table,
    vocabulary: &'v Vocabulary,
    stack: Vec<Cut>,
    runs: Runs,
    rests: Vec<Rest>,
}

impl<'v> Cutter<'v> {
    fn new(automaton: &'v Table, vocabulary: &'v Vocabulary) -> Cutter<'v> {
        let stack = vec![Cut { state: 0, bytes: 0, chars: 0 }; vocabulary.trie.longest() + 1];
        Cutter { automaton, vocabulary, stack, runs: Runs::new(vocabulary.n_words()), rests: Vec::new() }
    }

    /// Cut the tokens of a whole subtree.
    fn walk(&mut self, nodes: std::ops::Range<usize>) {
        let trie = &self.vocabulary.trie;
        let mut node = nodes.start;
        while node < nodes.end {
            let depth = trie.depth(node);
            let mut cut = self.stack[depth];
            cut.state = self.automaton.next(cut.state, trie.byte(node));
            // PERF: below a byte that is in no character of the class nothing is left to find out: one cut for all.
            let end = if cut.state == BROKEN { trie.end(node) } else { node + 1 };
            if cut.state == 0 {
                cut = Cut { state: 0, bytes: depth as u32 + 1, chars: cut.chars + 1 };
            }
            self.stack[depth + 1] = cut;
            if cut.state == 0 {
                self.runs.add(cut.chars, trie.id(node), trie.sink());
            } else {
                (node..end).for_each(|node| self.rest(trie.id(node), cut));
            }
            node = end;
        }
    }

    fn rest(&mut self, id: u32, cut: Cut) {
        if id == self.vocabulary.trie.sink() {
            return;
        }
        let rest = |id: u32| Rest { id, at: cut.bytes, chars: cut.chars };
        self.rests.push(rest(id));
        if !self.vocabulary.trie.twins().is_empty() {
            self.rests.extend(self.vocabulary.twins(id).map(rest));
        }
    }
}

/// Tokens made of characters of the class alone.
struct Runs {
    all: Vec<u32>,
    /// Those of more than `LEVELS` characters.
    long: Vec<(u32, u32)>,
}

impl Runs {
    /// `all` has room for the sink.
    fn new(n_words: usize) -> Runs {
        Runs { all: vec![0; n_words + 1], long: Vec::new() }
    }

    /// PERF: the sink is marked like a token; at half of the nodes no token ends, and a branch would be mispredicted.
    fn add(&mut self, chars: u32, id: u32, sink: u32) {
        set(&mut self.all, id);
        if chars as usize > LEVELS && id != sink {
            self.long.push((chars, id));
        }
    }

    /// Take the sink out again, and tokens with the same bytes as others in.
    fn settle(&mut self, vocabulary: &Vocabulary) {
        clear(&mut self.all, vocabulary.trie.sink());
        self.all.truncate(vocabulary.n_words());
        for &(first, other) in vocabulary.trie.twins() {
            if contains(&self.all, first) {
                set(&mut self.all, other);
            }
        }
        let twins = |&(chars, id): &(u32, u32)| vocabulary.twins(id).map(move |twin| (chars, twin));
        let more: Vec<(u32, u32)> = self.long.iter().flat_map(twins).collect();
        self.long.extend(more);
        self.long.sort_unstable();
    }
}

fn set_bits(words: &[u32]) -> impl Iterator<Item = u32> + '_ {
    (0u32..).zip(words).flat_map(|(at, &word)| {
        let mut left = word;
        std::iter::from_fn(move || {
            let bit = (left != 0).then(|| left.trailing_zeros())?;
            left &= left - 1;
            Some(at * 32 + bit)
        })
    })
}

/// `rests` are the tokens that are no runs and begin with a byte of the class; `outer_bytes` begin the others.
fn others(vocabulary: &Vocabulary, outer_bytes: &[u8], rests: &[Rest]) -> Option<(Trie, Vec<u32>)> {
    let trie = &vocabulary.trie;
    let mut ids: Vec<u32> = rests.iter().map(|rest| rest.id).collect();
    for node in outer_bytes.iter().flat_map(|&byte| trie.subtree(byte)) {
        if ids.len() > MAX_OTHERS {
            return None;
        }
        let id = trie.id(node);
        if id != trie.sink() {
            ids.push(id);
            ids.extend(vocabulary.twins(id));
        }
    }
    if ids.len() > MAX_OTHERS {
        return None;
    }
    let strings: Vec<&[u8]> = ids.iter().map(|&id| vocabulary.bytes(id)).collect();
    Some((Trie::build(&strings).expect("they are tokens of the vocabulary"), ids))
}

/// The automaton of the class as a full table that is back at 0 after each character.
struct Table {
    next: Vec<[u32; 256]>,
}

impl Table {
    fn new(automaton: &Acyclic) -> Table {
        let row = |state: &crate::compile::acyclic::AcyclicState| {
            let mut row = [BROKEN; 256];
            for &((low, high), target) in &state.edges {
                let ends = automaton.states[target as usize].accept;
                (low..=high).for_each(|byte| row[byte as usize] = if ends { 0 } else { target });
            }
            row
        };
        Table { next: automaton.states.iter().map(row).collect() }
    }

    fn next(&self, state: u32, byte: u8) -> u32 {
        self.next[state as usize][byte as usize]
    }
}
