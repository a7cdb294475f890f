//! The part of a mask that belongs to the vocabulary: what a class of characters makes of every token.
//!
//! A token is made of characters of the class alone (a run), or it is a run of k such characters and a rest that starts
//! with something else. From a state that stays where it is on every character of the class, all runs are allowed, and
//! the others depend on their rest only: many tokens share few rests. So one bitmask and some small tries of rests answer
//! for every such state of every format.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use super::chars::{CharSet, n_chars};
use super::rests::{ALL, HIGH, N_GROUPS, Rests, group};
use super::token_chars::Blocks;
use super::vocabulary::Vocabulary;
use crate::compile::acyclic::Acyclic;
use crate::compile::utf8::utf8_automaton;
use crate::mask::{contains, set, set_bits};
use crate::trie::Trie;

/// Runs of up to this many characters have a bitmask a length; longer ones are few (3 % of the runs in Llama 3's vocabulary).
pub const LEVELS: usize = 16;
/// Up to this many tokens that are no runs, they have a trie of their own: a JSON string leaves some 5,000 of Llama 3's, and past
/// an eighth of the vocabulary a walk over them saves little.
const MAX_OTHERS: usize = 16_384;

/// A class that leaves more tokens with a rest has no part: all characters but a few letters leave 50,000, which take 25 ms
/// to sort, and a walk over the vocabulary 4.
const MAX_RESTS: usize = 24_576;

/// Where more groups of rests are read, all rests are walked together: each has a skeleton that must be found, 0.1 us, and a
/// JSON string reads 3.
const MAX_GROUPS: usize = 8;

#[derive(Debug)]
pub struct Part {
    /// Tells parts apart, from 1 on.
    pub serial: u64,
    /// Only tokens that begin with this byte count, and what is told of them is about what comes after it.
    pub lead: Option<u8>,
    class: CharSet,
    /// At i: the runs of at most i characters, once a bound was near.
    levels: OnceLock<Vec<Arc<[u32]>>>,
    /// All runs.
    all: Arc<[u32]>,
    /// Runs of more than `LEVELS` characters, as (characters, id), ascending.
    long_runs: Vec<(u32, u32)>,
    /// Whether a character of the class begins with the byte.
    begins: Box<[bool; 256]>,
    /// By group of their first byte: the rests of tokens with a run, and of those without one that begin with a byte of the
    /// class. Made when they are asked for: most places read a quote of them, and nothing else.
    rests: Box<[OnceLock<Box<Rests>>; N_GROUPS]>,
    /// All tokens that are no runs, where they are few: a trie of whole tokens, and their ids.
    others: OnceLock<Option<(Trie, Vec<u32>)>>,
}

/// What of a part is kept on disk.
#[derive(Debug)]
pub struct SavedPart<'p> {
    /// None: they were not asked for yet.
    pub levels: &'p [Arc<[u32]>],
    pub all: &'p Arc<[u32]>,
    pub long_runs: &'p [(u32, u32)],
    /// Those that were asked for, by group.
    pub rests: Vec<(u8, &'p Rests)>,
}

const BROKEN: u32 = u32::MAX;

impl Part {
    /// The part of a class, of what comes after a lead if there is one; `None` if it leaves too many rests.
    pub fn new(lead: Option<u8>, class: &CharSet, vocabulary: &Vocabulary) -> Option<Part> {
        let table = Table::new(class);
        let (all, n_rests) = match lead {
            None => runs(class, &table, vocabulary),
            Some(lead) => runs_after(lead, class, &table, vocabulary),
        };
        if n_rests > MAX_RESTS {
            return None;
        }
        let long = vocabulary.chars().long().iter().filter(|run| contains(&all, run.1));
        let long = long.map(|&(chars, id)| (chars - lead.iter().len() as u32, id)).collect();
        Some(Part::of(lead, class, &table, all.into(), long))
    }

    fn of(
        lead: Option<u8>,
        class: &CharSet,
        table: &Table,
        all: Arc<[u32]>,
        long_runs: Vec<(u32, u32)>,
    ) -> Part {
        static LAST: AtomicU64 = AtomicU64::new(0);
        Part {
            serial: LAST.fetch_add(1, Ordering::Relaxed) + 1,
            lead,
            class: class.clone(),
            levels: OnceLock::new(),
            all,
            long_runs,
            begins: Box::new(std::array::from_fn(|byte| table.begins(byte as u8))),
            rests: Box::new([const { OnceLock::new() }; N_GROUPS]),
            others: OnceLock::new(),
        }
    }

    /// The part as it is kept on disk; what is not there follows from it.
    pub fn saved(&self) -> SavedPart<'_> {
        let rests = (0u8..).zip(&*self.rests);
        SavedPart {
            levels: self.levels.get().map_or(&[], |levels| levels),
            all: &self.all,
            long_runs: &self.long_runs,
            rests: rests.filter_map(|(group, rests)| Some((group, &**rests.get()?))).collect(),
        }
    }

    /// A part from what `saved` gave. `None` if the arrays do not fit together; ids and bitmasks have been checked.
    pub fn restore(
        class: &CharSet,
        (all, levels): (Arc<[u32]>, Vec<Arc<[u32]>>),
        long_runs: Vec<(u32, u32)>,
        rests: Vec<(u8, Rests)>,
    ) -> Option<Part> {
        let part = Part::of(None, class, &Table::new(class), all, long_runs);
        let fits = [0, LEVELS + 1].contains(&levels.len());
        if !levels.is_empty() {
            part.levels.set(levels).ok()?;
        }
        for (group, rests) in rests {
            part.rests.get(group as usize)?.set(Box::new(rests)).ok()?;
        }
        fits.then_some(part)
    }

    /// Make what nearly every text asks for: the levels, and the rests after which a JSON string may go on or end.
    pub fn warm(&self, vocabulary: &Vocabulary) {
        self.levels(vocabulary);
        for group in [b'"', b'\\', HIGH] {
            self.rests(group, vocabulary);
        }
    }

    /// The rests that begin with bytes that are read, and perhaps others, by group.
    pub fn rests_on(&self, read: &[bool; 256], vocabulary: &Vocabulary) -> Vec<(u8, &Rests)> {
        let ends_runs = |byte: u8| read[byte as usize] && !(byte.is_ascii() && self.begins[byte as usize]);
        let mut groups: Vec<u8> = (0..=255).filter(|&byte| ends_runs(byte)).map(group).collect();
        groups.dedup();
        if groups.len() > MAX_GROUPS {
            groups = vec![ALL];
        }
        groups.into_iter().map(|group| (group, self.rests(group, vocabulary))).collect()
    }

    /// The rests that begin with a group of bytes.
    pub fn rests(&self, of: u8, vocabulary: &Vocabulary) -> &Rests {
        let make = || Box::new(Rests::new(of, (self.lead, &self.class), &self.all, vocabulary));
        self.rests[of as usize].get_or_init(make)
    }

    /// All tokens that are no runs, where they are few: a trie of whole tokens, and their ids.
    pub fn others(&self, vocabulary: &Vocabulary) -> Option<&(Trie, Vec<u32>)> {
        let make = || {
            let words = vocabulary.ordinary.iter().zip(&*self.all).map(|(word, runs)| word & !runs);
            let words: Vec<u32> = words.collect();
            let n: u32 = words.iter().map(|word| word.count_ones()).sum();
            if n as usize > MAX_OTHERS {
                return None;
            }
            let ids: Vec<u32> = set_bits(&words).collect();
            let strings: Vec<&[u8]> = ids.iter().map(|&id| vocabulary.bytes(id)).collect();
            Some((Trie::build(&strings).expect("they are tokens of the vocabulary"), ids))
        };
        self.others.get_or_init(make).as_ref()
    }

    /// Bytes that no character of the class begins with: tokens that begin so have no run.
    pub fn outer_bytes(&self) -> impl Iterator<Item = u8> + Clone + '_ {
        (0..=255).filter(|&byte| !self.begins[byte as usize])
    }

    /// Whether a character of the class begins with a byte between two bounds.
    pub fn begins(&self, low: u8, high: u8) -> bool {
        self.begins[low as usize..=high as usize].contains(&true)
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
                if let Some(level) = levels.get_mut(n_chars(vocabulary.bytes(id)) - self.lead.iter().len()) {
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
        let others = self.others.get().and_then(Option::as_ref);
        let others = others.map_or(0, |(trie, ids)| trie.heap_bytes() + ids.len() * 4);
        let levels = self.levels.get().map_or(1, |levels| levels.len() + 1) * self.all.len() * 4;
        let rests: usize = self.rests.iter().filter_map(OnceLock::get).map(|rests| rests.heap_bytes()).sum();
        let own = N_GROUPS * size_of::<OnceLock<Box<Rests>>>() + self.class.len() * 8;
        levels + rests + others + own + self.long_runs.len() * 8
    }
}

/// The tokens that are runs of a class, and how many others begin with a byte of it.
fn runs(class: &CharSet, table: &Table, vocabulary: &Vocabulary) -> (Vec<u32>, usize) {
    let chars = vocabulary.chars();
    let words = made_of(class, ascii(class), table, vocabulary);
    let n_begun: usize = (0..=255).filter(|&byte| table.begins(byte)).map(|byte| chars.n_first(byte)).sum();
    let n_runs = n_set(&words);
    (words, n_begun - n_runs)
}

/// The tokens that are runs of a class after a byte below 128, and how many others begin with that byte.
fn runs_after(lead: u8, class: &CharSet, table: &Table, vocabulary: &Vocabulary) -> (Vec<u32>, usize) {
    let mut words = made_of(class, ascii(class) | 1 << lead, table, vocabulary);
    let is_run = |id: u32| match vocabulary.bytes(id) {
        [first, rest @ ..] => *first == lead && (table.begins(lead) || !rest.contains(&lead)),
        [] => false,
    };
    for (at, word) in (0..).zip(&mut words) {
        let made = [*word];
        let kept = set_bits(&made).filter(|bit| is_run(at * 32 + bit));
        *word = kept.fold(0, |kept, bit| kept | 1 << bit);
    }
    let n_runs = n_set(&words);
    (words, vocabulary.chars().n_first(lead) - n_runs)
}

/// The tokens made of some characters below 128 and those of a class past it.
fn made_of(class: &CharSet, ascii: u128, table: &Table, vocabulary: &Vocabulary) -> Vec<u32> {
    let chars = vocabulary.chars();
    let (mut words, whole): (Vec<u32>, Vec<u32>) = chars.made_of(ascii).unzip();
    let class_blocks = Blocks::new(class);
    for &(id, blocks) in chars.blocks().iter().filter(|token| contains(&whole, token.0)) {
        let in_class = || {
            let text = std::str::from_utf8(vocabulary.bytes(id)).expect("it was made of whole characters");
            let mut past = text.chars().filter(|char| !char.is_ascii());
            past.all(|char| table.cut(char.encode_utf8(&mut [0; 4]).as_bytes()).1 == 1)
        };
        if blocks & !class_blocks.some == 0 && (blocks & !class_blocks.all == 0 || in_class()) {
            set(&mut words, id);
        }
    }
    words
}

/// The characters of a class below 128, as a set.
fn ascii(class: &CharSet) -> u128 {
    let has = |code: &u32| class.iter().any(|&(low, high)| low <= *code && *code <= high);
    (0..128).filter(has).fold(0, |set, code| set | 1 << code)
}

fn n_set(words: &[u32]) -> usize {
    words.iter().map(|word| word.count_ones() as usize).sum()
}

/// The automaton of a class as a full table that is back at 0 after each character.
pub struct Table {
    next: Vec<[u32; 256]>,
}

impl Table {
    pub fn new(class: &CharSet) -> Table {
        let automaton: Acyclic = utf8_automaton(class.iter().copied());
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

    /// Whether a character of the class begins with the byte.
    pub fn begins(&self, byte: u8) -> bool {
        self.next[0][byte as usize] != BROKEN
    }

    /// The length of a token's run, in bytes and in characters.
    pub fn cut(&self, token: &[u8]) -> (usize, u32) {
        let (mut end, mut chars, mut state) = (0, 0, 0);
        for (at, &byte) in token.iter().enumerate() {
            state = self.next[state as usize][byte as usize];
            match state {
                BROKEN => break,
                0 => (end, chars) = (at + 1, chars + 1),
                _ => {}
            }
        }
        (end, chars)
    }
}
