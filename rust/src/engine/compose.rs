//! How is the mask of a configuration made? From the parts of the vocabulary where they pay, else by walking the trie.
//!
//! A mask is the union of what each item allows. An item that loops on a large class of characters gets the
//! bitmask of the runs of that class, and walks the small trie of rests; all other items walk the vocabulary together.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::closure::Moves;
use super::index::Index;
use super::mask::Mask;
use super::part::Part;
use super::plan::{Chain, Kind};
use super::stack::{Config, ConfigId, DEAD, FIRST_ID, Item, UNKNOWN};
use super::work::Work;
use crate::error::{Error, Result};
use crate::mask::contains;
use crate::program::{Program, UNBOUNDED};
use crate::trie::{Trie, Walker};

/// What a composition ends with.
pub enum Outcome {
    Mask(Mask),
    /// A frame that was cut off would have been left: more frames are needed to tell.
    TooShallow,
}

pub struct Composer<'e> {
    index: &'e Index,
    moves: Moves<'e>,
    work: &'e mut Work,
    /// The bitmask of runs that was taken first, and runs in it that do not count.
    base: Option<(Arc<[u32]>, Vec<u32>)>,
    /// Runs of all items after the first.
    more: Vec<Arc<[u32]>>,
    ids: Vec<u32>,
    cut: bool,
}

impl<'e> Composer<'e> {
    pub fn new(index: &'e Index, moves: Moves<'e>, work: &'e mut Work) -> Self {
        Composer { index, moves, work, base: None, more: Vec::new(), ids: Vec::new(), cut: false }
    }

    pub fn compose(mut self, id: ConfigId) -> Result<Outcome> {
        let config = self.moves.cache.configs.get(id);
        let mut walked: Vec<Item> = Vec::new();
        for item in &config.items {
            let state = &self.moves.program.states[item.state as usize];
            self.ids.extend(self.moves.program.token_edges(item.state).iter().map(|edge| edge.token));
            if !state.bytes.is_empty() && !self.by_part(item)? {
                walked.push(*item);
            }
            if self.cut {
                return Ok(Outcome::TooShallow);
            }
        }
        if !walked.is_empty() {
            let rest = if walked.len() == config.items.len() { id } else { self.moves.part(&walked) };
            self.walk_vocabulary(rest)?;
        }
        if self.cut {
            return Ok(Outcome::TooShallow);
        }
        if config.complete {
            self.ids.extend_from_slice(&self.index.vocabulary.eos);
        }
        Ok(Outcome::Mask(self.finish()))
    }

    /// Take an item's tokens from a part; false if it has no plan, or its plan does not hold here.
    fn by_part(&mut self, item: &Item) -> Result<bool> {
        let Some(plan) = self.index.plan(item.state) else { return Ok(false) };
        let Some(part) = self.index.vocabulary.part(&plan.class) else { return Ok(false) };
        if let Kind::Uniform(chain) = &plan.kind {
            let steps = Steps::new(self.moves.program, item, chain, part.rests.longest() as u32);
            if let Some(places) = self.places(&steps, &part)? {
                self.uniform(&steps, &places, &part)?;
                return Ok(true);
            }
            if steps.longest != u32::MAX {
                return Ok(false);
            }
        }
        self.loose(item, &part)
    }

    /// The item reads every run, and may do other things too: take the runs, and walk all tokens that are none.
    fn loose(&mut self, item: &Item, part: &Part) -> Result<bool> {
        let Some((trie, ids)) = &part.others else { return Ok(false) };
        let config = self.moves.part(std::slice::from_ref(item));
        self.take_runs(part, u32::MAX);
        let from = self.ids.len();
        self.walk(trie, config)?;
        let twins: Vec<u32> = trie
            .twins()
            .iter()
            .filter(|(first, _)| self.ids[from..].contains(first))
            .map(|(_, twin)| *twin)
            .collect();
        self.ids.extend(twins);
        self.ids[from..].iter_mut().for_each(|id| *id = ids[*id as usize]);
        Ok(true)
    }

    /// Where the item is after 0, 1, 2, ... characters of a run, as (characters, last number alike, configuration). `None` if
    /// the rule can be left on the way to read characters of the class elsewhere: then the run alone does not tell.
    fn places(&mut self, steps: &Steps, part: &Part) -> Result<Option<Vec<(u32, u32, ConfigId)>>> {
        let mut places: Vec<(u32, u32, ConfigId)> = Vec::new();
        let mut before = 0;
        loop {
            // What else could be done before the first character, other items do; after it, it has to be found out.
            let last = if before == 0 { 0 } else { steps.last_alike(before).min(steps.longest) };
            let item = steps.item(before);
            let config = if before == 0 { self.moves.part(&[item]) } else { self.moves.closed(item, self.work)? };
            let config_at = self.moves.cache.configs.get(config);
            self.cut |= config_at.cut;
            let elsewhere = |other: &Item| {
                let edges = self.moves.program.byte_edges(other.state);
                *other != item && edges.iter().any(|edge| part.begins(edge.low, edge.high))
            };
            if config_at.items.iter().any(elsewhere) {
                return Ok(None);
            }
            match places.last_mut() {
                Some(place) if place.2 == config => place.1 = last,
                _ => places.push((before, last, config)),
            }
            if self.cut || last >= part.max_before.min(steps.longest) {
                return Ok(Some(places));
            }
            before = last + 1;
        }
    }

    fn uniform(&mut self, steps: &Steps, places: &[(u32, u32, ConfigId)], part: &Part) -> Result<()> {
        self.take_runs(part, steps.longest);
        for &(before, last, config) in places {
            if before == 0 {
                let start = self.moves.cache.configs.get(config);
                self.walk_bytes(start, &part.outer_bytes)?;
            }
            let mut ids = std::mem::take(&mut self.ids);
            let from = ids.len();
            self.walk(&part.rests, config)?;
            for &rest in &self.ids {
                ids.extend(part.tokens(rest, before, last).iter().map(|token| token.1));
            }
            self.work.spend((ids.len() - from) as u64 / 8)?;
            self.ids = ids;
            if self.cut {
                break;
            }
        }
        Ok(())
    }

    fn take_runs(&mut self, part: &Part, longest: u32) {
        let (runs, beyond) = part.runs(longest);
        if self.base.is_none() {
            self.base = Some((runs.clone(), beyond.iter().map(|run| run.1).collect()));
        } else if beyond.is_empty() {
            self.more.push(runs.clone());
        } else {
            let mut words = runs.to_vec();
            beyond.iter().for_each(|run| crate::mask::clear(&mut words, run.1));
            self.more.push(words.into());
        }
    }

    fn walk_vocabulary(&mut self, config: ConfigId) -> Result<()> {
        let vocabulary = &self.index.vocabulary;
        let from = self.ids.len();
        self.walk(&vocabulary.trie, config)?;
        self.add_twins(from);
        Ok(())
    }

    /// Walk the tokens that begin with one of some bytes.
    fn walk_bytes(&mut self, start: &'e Config, bytes: &[u8]) -> Result<()> {
        let vocabulary = &self.index.vocabulary;
        let from = self.ids.len();
        let mut stack = vec![start; vocabulary.trie.longest() + 1];
        let mut walker = ConfigWalker { moves: self.moves, work: self.work, ids: &mut self.ids, sink: vocabulary.trie.sink(), cut: false, error: None };
        for &byte in bytes {
            let nodes = vocabulary.trie.subtree(byte);
            if nodes.is_empty() {
                continue;
            }
            if let Some(state) = walker.step(start, byte) {
                walker.reach(vocabulary.trie.id(nodes.start), state);
                stack[1] = state;
                vocabulary.trie.walk_nodes(&mut walker, nodes.start + 1..nodes.end, &mut stack);
            }
        }
        self.cut |= walker.cut;
        if let Some(error) = walker.error {
            return Err(error);
        }
        self.add_twins(from);
        Ok(())
    }

    fn add_twins(&mut self, from: usize) {
        let vocabulary = &self.index.vocabulary;
        if !vocabulary.trie.twins().is_empty() {
            let twins: Vec<u32> = self.ids[from..].iter().flat_map(|&id| vocabulary.twins(id)).collect();
            self.ids.extend(twins);
        }
    }

    /// Walk a trie and collect the ids that it reports.
    fn walk(&mut self, trie: &Trie, config: ConfigId) -> Result<()> {
        let start = self.moves.cache.configs.get(config);
        let mut walker = ConfigWalker { moves: self.moves, work: self.work, ids: &mut self.ids, sink: trie.sink(), cut: false, error: None };
        trie.walk(&mut walker, start, &mut Vec::new());
        self.cut |= walker.cut;
        walker.error.map_or(Ok(()), Err)
    }

    fn finish(mut self) -> Mask {
        let vocabulary = &self.index.vocabulary;
        self.ids.sort_unstable();
        self.ids.dedup();
        let (base, remove) = match self.base.take() {
            Some((base, remove)) => (Some(base), remove),
            None => (None, Vec::new()),
        };
        if self.more.is_empty() {
            return patch(base, remove, self.ids, vocabulary.ordinary.as_ref());
        }
        let mut words = base.expect("more runs come after the first").to_vec();
        remove.iter().for_each(|&id| crate::mask::clear(&mut words, id));
        for more in &self.more {
            words.iter_mut().zip(more.iter()).for_each(|(word, more)| *word |= more);
        }
        patch(Some(words.into()), Vec::new(), self.ids, vocabulary.ordinary.as_ref())
    }
}

/// The smallest mask: what is in the base already is not added, what is added is not removed.
fn patch(base: Option<Arc<[u32]>>, remove: Vec<u32>, ids: Vec<u32>, ordinary: &[u32]) -> Mask {
    let Some(base) = base else { return sparse_or_dense(ids, ordinary) };
    let remove: Vec<u32> = remove.into_iter().filter(|id| ids.binary_search(id).is_err()).collect();
    let mut remove = remove;
    remove.sort_unstable();
    let add: Vec<u32> = ids.into_iter().filter(|&id| !contains(&base, id)).collect();
    with_fullness(Mask { base: Some(base), add: add.into(), remove: remove.into(), is_full: false }, ordinary)
}

/// A list of ids takes 4 bytes each, a bitmask an eighth of a byte a token.
fn sparse_or_dense(ids: Vec<u32>, ordinary: &[u32]) -> Mask {
    if ids.len() <= ordinary.len() {
        return with_fullness(Mask { base: None, add: ids.into(), remove: Box::default(), is_full: false }, ordinary);
    }
    let mut words = vec![0; ordinary.len()];
    ids.iter().for_each(|&id| crate::mask::set(&mut words, id));
    with_fullness(Mask { base: Some(words.into()), add: Box::default(), remove: Box::default(), is_full: false }, ordinary)
}

fn with_fullness(mut mask: Mask, ordinary: &[u32]) -> Mask {
    let mut row = vec![0; ordinary.len()];
    mask.fill(&mut row);
    mask.is_full = row.iter().zip(ordinary).all(|(have, want)| have & want == *want);
    mask
}

/// An item after 0, 1, 2, ... characters of a class.
struct Steps<'e> {
    program: &'e Program,
    /// Along the chain; the last one may loop.
    items: Vec<Item>,
    /// The loop at the end counts, and has not stopped counting.
    counts: bool,
    /// The most characters that can be read.
    longest: u32,
    /// No rest is longer than this, in bytes.
    longest_rest: u32,
}

impl<'e> Steps<'e> {
    fn new(program: &'e Program, item: &Item, chain: &Chain, longest_rest: u32) -> Self {
        let mut steps = Steps { program, items: vec![*item], counts: false, longest: u32::MAX, longest_rest };
        let mut last = *item;
        for (&state, &counts) in chain.states[1..].iter().zip(&chain.counts) {
            let count = if counts { program.count_up(last.state, last.count) } else { last.count };
            if count > program.states[state as usize].valid_to {
                steps.longest = steps.items.len() as u32 - 1;
                return steps;
            }
            last = Item { state, count, ..last };
            steps.items.push(last);
        }
        let read = steps.items.len() as u32 - 1;
        let state = &program.states[last.state as usize];
        if !chain.loops {
            steps.longest = read;
        } else if chain.counts[read as usize] && program.count_up(last.state, last.count) != last.count {
            steps.counts = true;
            // A loop without an upper bound stops counting and goes on.
            if state.saturate == UNBOUNDED {
                steps.longest = read.saturating_add(state.valid_to - last.count);
            }
        }
        steps
    }

    fn item(&self, characters: u32) -> Item {
        let last = self.items.len() as u32 - 1;
        let mut item = self.items[characters.min(last) as usize];
        if self.counts && characters > last {
            let saturate = self.program.states[item.state as usize].saturate;
            item.count = item.count.saturating_add(characters - last).min(saturate);
        }
        item
    }

    /// The last number of characters after which every rest fares as after `characters`: no guard is
    /// near enough to be met within a rest.
    fn last_alike(&self, characters: u32) -> u32 {
        if (characters as usize) < self.items.len() - 1 {
            return characters;
        }
        let item = self.item(characters);
        if !self.counts || item.count == self.program.states[item.state as usize].saturate {
            return u32::MAX;
        }
        match self.program.next_threshold(item.state, item.count) {
            None => u32::MAX,
            Some(next) => characters.saturating_add((next - item.count).saturating_sub(self.longest_rest + 1)),
        }
    }
}

/// Walks a trie with configurations; collects the ids of all strings that can be read.
struct ConfigWalker<'e, 'w> {
    moves: Moves<'e>,
    work: &'w mut Work,
    ids: &'w mut Vec<u32>,
    sink: u32,
    cut: bool,
    error: Option<Error>,
}

impl ConfigWalker<'_, '_> {
    #[cold]
    fn stop(&mut self, error: Option<Error>) {
        self.cut |= error.is_none();
        self.error = self.error.take().or(error);
    }
}

impl<'e> Walker for ConfigWalker<'e, '_> {
    type State = &'e Config;

    #[inline(always)]
    fn step(&mut self, state: &'e Config, byte: u8) -> Option<&'e Config> {
        let program = self.moves.program;
        let class = program.classes[byte as usize] as usize;
        let row = state.row(program.n_classes, |bytes| self.moves.cache.add_row_bytes(bytes));
        let next = row[class].load(Ordering::Acquire);
        if next == DEAD {
            return None;
        }
        if self.cut || self.error.is_some() {
            return None;
        }
        let id = if next == UNKNOWN {
            match self.moves.step(state, byte, self.work) {
                Ok(Some(id)) => id,
                Ok(None) => return None,
                Err(error) => {
                    self.stop(Some(error));
                    return None;
                }
            }
        } else {
            next - FIRST_ID
        };
        if let Err(error) = self.work.spend(1) {
            self.stop(Some(error));
            return None;
        }
        let config = self.moves.cache.configs.get(id);
        if config.cut {
            self.stop(None);
            return None;
        }
        Some(config)
    }

    #[inline(always)]
    fn reach(&mut self, id: u32, _state: &'e Config) {
        if id != self.sink {
            self.ids.push(id);
        }
    }
}
