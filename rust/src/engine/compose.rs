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
use super::stack::{CUT, Config, ConfigId, DEAD, FIRST_ID, Item, UNKNOWN};
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
    /// Texts that rules record are left open here; what depends on them is `doubtful`.
    moves: Moves<'e>,
    work: &'e mut Work,
    /// The bitmask of runs that was taken first, and runs in it that do not count.
    base: Option<(Arc<[u32]>, Vec<u32>)>,
    /// Runs of all items after the first.
    more: Vec<Arc<[u32]>>,
    ids: Vec<u32>,
    /// Tokens that are allowed unless they write a key or an item twice: to be read exactly.
    doubtful: Vec<u32>,
    cut: bool,
    /// Only tokens that stay within the rule are wanted: what would leave it is passed over.
    inside: bool,
}

impl<'e> Composer<'e> {
    pub fn new(index: &'e Index, moves: Moves<'e>, work: &'e mut Work) -> Self {
        let moves = Moves { opaque: index.program.has_memory(), ..moves };
        Composer {
            index,
            moves,
            work,
            base: None,
            more: Vec::new(),
            ids: Vec::new(),
            doubtful: Vec::new(),
            cut: false,
            inside: false,
        }
    }

    pub fn compose(mut self, id: ConfigId) -> Result<Outcome> {
        let config = self.moves.cache.configs.get(id);
        let mut walked: Vec<Item> = Vec::new();
        let items: Vec<Item> = config.items.iter().map(|item| self.moves.left_open(item, false)).collect();
        for item in &items {
            let state = &self.moves.program.states[item.state as usize];
            self.special_tokens(id, item)?;
            if !state.bytes.is_empty() && !self.by_part(item)? {
                walked.push(*item);
            }
            if self.cut {
                return Ok(Outcome::TooShallow);
            }
        }
        if !walked.is_empty() {
            walked.sort_unstable();
            self.walk_vocabulary(&walked)?;
        }
        self.resolve_doubts(id)?;
        if self.cut {
            return Ok(Outcome::TooShallow);
        }
        if config.complete {
            self.ids.extend_from_slice(&self.index.vocabulary.eos);
        }
        Ok(Outcome::Mask(self.finish()))
    }

    /// Special tokens that the item reads, where no guard forbids them.
    fn special_tokens(&mut self, id: ConfigId, item: &Item) -> Result<()> {
        for edge in self.moves.program.token_edges(item.state) {
            if let Some(next) = self.moves.token_step(id, edge.token, self.work)? {
                self.cut |= self.moves.cache.configs.get(next).cut;
                self.ids.push(edge.token);
            }
        }
        Ok(())
    }

    /// Read each doubtful token as it is, from the configuration itself.
    fn resolve_doubts(&mut self, id: ConfigId) -> Result<()> {
        let mut doubtful = std::mem::take(&mut self.doubtful);
        doubtful.sort_unstable();
        doubtful.dedup();
        let exact = Moves { opaque: false, ..self.moves };
        for token in doubtful {
            let mut at = Some(id);
            for &byte in self.index.vocabulary.bytes(token) {
                let Some(from) = at else { break };
                at = exact.step(exact.cache.configs.get(from), byte, self.work)?;
                self.cut |= at.is_some_and(|to| exact.cache.configs.get(to).cut);
            }
            if at.is_some() {
                self.ids.push(token);
            }
        }
        Ok(())
    }

    /// Take an item's tokens from a part; false if it has no plan, or its plan does not hold here.
    fn by_part(&mut self, item: &Item) -> Result<bool> {
        let Some(plan) = self.index.plan(item.state) else { return Ok(false) };
        let Some(part) = self.index.vocabulary.part(&plan.class) else { return Ok(false) };
        if let Kind::Uniform(chain) = &plan.kind {
            let steps = Steps::new(self.moves.program, item, chain, part.rests.longest() as u32);
            if let Some(places) = self.places(&steps, &part)? {
                let based = self.take_base(item, &steps, &part)?;
                self.uniform(&places, &part, based)?;
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
        let Found { sure, doubtful } = self.walk(trie, config)?;
        for (found, to) in [(sure, &mut self.ids), (doubtful, &mut self.doubtful)] {
            let reached: rustc_hash::FxHashSet<u32> = found.iter().copied().collect();
            let twins =
                trie.twins().iter().filter(|(first, _)| reached.contains(first)).map(|&(_, twin)| twin);
            to.extend(found.iter().copied().chain(twins).map(|place| ids[place as usize]));
        }
        Ok(true)
    }

    /// Where the item is after 0, 1, 2, ... characters of a run, as (characters, last number alike, configuration). `None` if
    /// the rule can be left on the way to read characters of the class elsewhere: then the run alone does not tell.
    fn places(&mut self, steps: &Steps, part: &Part) -> Result<Option<Vec<(u32, u32, ConfigId)>>> {
        // Where runs have an end, what comes after it counts too; where they have none, only what comes before a rest.
        let checked = if steps.longest == u32::MAX { part.max_before } else { steps.longest };
        let mut places: Vec<(u32, u32, ConfigId)> = Vec::new();
        let mut before = 0;
        loop {
            // What else could be done before the first character, other items do; after it, it has to be found out.
            let last = if before == 0 { 0 } else { steps.last_alike(before).min(steps.longest) };
            let item = self.moves.left_open(&steps.item(before), before > 0);
            let config =
                if before == 0 { self.moves.part(&[item]) } else { self.moves.closed(item, self.work)? };
            let config_at = self.moves.cache.configs.get(config);
            self.cut |= config_at.cut && !self.inside;
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
            if self.cut || last >= checked {
                return Ok(Some(places));
            }
            before = last + 1;
        }
    }

    /// `based`: the base has all that stays within the rule.
    fn uniform(&mut self, places: &[(u32, u32, ConfigId)], part: &Part, based: bool) -> Result<()> {
        for &(before, last, config) in places {
            if before == 0 {
                let start = self.moves.cache.configs.get(config);
                self.walk_bytes(start, &part.outer_bytes)?;
            }
            let skeleton = self.rest_skeleton(config, part)?;
            // Items of callers, where the rule may be left, are not in the base.
            let alone = self.moves.cache.configs.get(config).items.len() == 1;
            if !(based && alone) {
                self.take_rests(part, &skeleton.ids, before, last, false)?;
            }
            self.take_rests(part, &skeleton.doubtful, before, last, true)?;
            let Found { sure, doubtful } = self.walk_cuts(&part.rests, &skeleton.cuts, config)?;
            self.take_rests(part, &sure, before, last, false)?;
            self.take_rests(part, &doubtful, before, last, true)?;
            if self.cut {
                break;
            }
        }
        Ok(())
    }

    /// Add the tokens on some rests with so many characters before them.
    fn take_rests(&mut self, part: &Part, rests: &[u32], from: u32, to: u32, doubtful: bool) -> Result<()> {
        let ids = if doubtful { &mut self.doubtful } else { &mut self.ids };
        let before = ids.len();
        for &rest in rests {
            ids.extend(part.tokens(rest, from, to).iter().map(|token| token.1));
        }
        let added = ids.len() - before;
        self.work.spend(added as u64 / 8)
    }

    /// The bitmask that the mask is a patch on: the tokens that stay within the rule where many texts share it, else the runs.
    ///
    /// From inside a JSON string 1,100 of Llama 3's tokens stay in it and are no runs (escapes, halves of characters): added one
    /// by one they double the cost of a hit.
    ///
    /// Returns whether it has all tokens that stay within the rule.
    fn take_base(&mut self, item: &Item, steps: &Steps, part: &Part) -> Result<bool> {
        let rule = self.moves.program.states[item.state as usize].rule;
        if self.inside || steps.longest != u32::MAX || self.moves.program.remembers[rule as usize] {
            self.take_runs(part, steps.longest);
            return Ok(false);
        }
        let key = Item { frame: CUT, ..*item };
        let words = match self.moves.cache.inside(&key) {
            Some(words) => words,
            None => {
                let mut composer = Composer::new(self.index, self.moves, self.work);
                composer.inside = true;
                composer.by_part(&key)?;
                self.moves.cache.set_inside(key, composer.dense())
            }
        };
        self.add_base(words);
        Ok(true)
    }

    /// All ids found so far, as one bitmask.
    fn dense(&self) -> Arc<[u32]> {
        let mut words = vec![0; self.index.vocabulary.n_words()];
        if let Some((base, remove)) = &self.base {
            words.copy_from_slice(base);
            remove.iter().for_each(|&id| crate::mask::clear(&mut words, id));
        }
        self.ids.iter().for_each(|&id| crate::mask::set(&mut words, id));
        words.into()
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

    /// Walk the vocabulary with some items: what stays above their frames is known from the skeleton, the rest is walked.
    fn walk_vocabulary(&mut self, items: &[Item]) -> Result<()> {
        let skeleton = self.skeleton(items)?;
        match &skeleton.base {
            Some(words) => self.add_base(words.clone()),
            None => self.ids.extend_from_slice(&skeleton.ids),
        }
        self.doubtful.extend_from_slice(&skeleton.doubtful);
        let config = self.moves.part(items);
        let found = self.walk_cuts(&self.index.vocabulary.trie, &skeleton.cuts, config)?;
        self.take(found);
        Ok(())
    }

    /// Walk only below the nodes where frames are left.
    fn walk_cuts(&mut self, trie: &Trie, cuts: &[CutNode], config: ConfigId) -> Result<Found> {
        let start = Place { config: self.moves.cache.configs.get(config), perhaps: false };
        let mut stack = vec![start; trie.longest() + 1];
        let mut walker = ConfigWalker::new(self.moves, self.work, trie.sink(), self.inside);
        for cut in cuts {
            let mut place = Some(start);
            for (depth, &byte) in cut.path.iter().enumerate() {
                place = place.and_then(|place| walker.step(place, byte));
                if let Some(place) = place {
                    stack[depth + 1] = place;
                }
            }
            if let Some(place) = place {
                let node = cut.node as usize;
                walker.reach(trie.id(node), place);
                trie.walk_nodes(&mut walker, node + 1..trie.end(node), &mut stack);
            }
        }
        walker.finish(&mut self.cut)
    }

    /// What the items allow whatever their frames are: walked once for all stacks.
    fn skeleton(&mut self, items: &[Item]) -> Result<Arc<Skeleton>> {
        let config = self.shallow(items);
        if let Some(known) = self.moves.cache.skeleton(config, WHOLE) {
            return Ok(known);
        }
        let (found, cuts) = self.walk_to_cuts(&self.index.vocabulary.trie, config)?;
        let mut composer = Composer::new(self.index, self.moves, self.work);
        composer.take(found);
        let base = (composer.ids.len() > MAX_LISTED).then(|| composer.dense());
        let ids = if base.is_some() { Box::default() } else { composer.ids.into() };
        let skeleton = Skeleton { base, ids, doubtful: composer.doubtful.into(), cuts };
        Ok(self.moves.cache.set_skeleton(config, WHOLE, skeleton))
    }

    /// The same for the rests of a part; its ids are those of the rests.
    fn rest_skeleton(&mut self, config: ConfigId, part: &Part) -> Result<Arc<Skeleton>> {
        let items = &self.moves.cache.configs.get(config).items;
        let shallow = self.shallow(items);
        if let Some(known) = self.moves.cache.skeleton(shallow, part.serial) {
            return Ok(known);
        }
        let (found, cuts) = self.walk_to_cuts(&part.rests, shallow)?;
        let skeleton = Skeleton { base: None, ids: found.sure.into(), doubtful: found.doubtful.into(), cuts };
        Ok(self.moves.cache.set_skeleton(shallow, part.serial, skeleton))
    }

    /// The configuration of some items without their frames.
    fn shallow(&self, items: &[Item]) -> ConfigId {
        let mut shallow: Vec<Item> = items.iter().map(|item| Item { frame: CUT, ..*item }).collect();
        shallow.sort_unstable();
        shallow.dedup();
        self.moves.part(&shallow)
    }

    fn walk_to_cuts(&mut self, trie: &Trie, config: ConfigId) -> Result<(Found, Vec<CutNode>)> {
        let start = Place { config: self.moves.cache.configs.get(config), perhaps: false };
        let mut walker = ConfigWalker::new(self.moves, self.work, trie.sink(), true);
        let cuts = walk_to_cuts(trie, &mut walker, start);
        let mut ignored = false;
        Ok((walker.finish(&mut ignored)?, cuts))
    }

    fn add_base(&mut self, words: Arc<[u32]>) {
        match self.base {
            None => self.base = Some((words, Vec::new())),
            Some(_) => self.more.push(words),
        }
    }

    /// Walk the tokens that begin with one of some bytes.
    fn walk_bytes(&mut self, start: &'e Config, bytes: &[u8]) -> Result<()> {
        let trie = &self.index.vocabulary.trie;
        let start = Place { config: start, perhaps: false };
        let mut stack = vec![start; trie.longest() + 1];
        let mut walker = ConfigWalker::new(self.moves, self.work, trie.sink(), self.inside);
        for &byte in bytes {
            let nodes = trie.subtree(byte);
            if nodes.is_empty() {
                continue;
            }
            if let Some(place) = walker.step(start, byte) {
                walker.reach(trie.id(nodes.start), place);
                stack[1] = place;
                trie.walk_nodes(&mut walker, nodes.start + 1..nodes.end, &mut stack);
            }
        }
        let found = walker.finish(&mut self.cut)?;
        self.take(found);
        Ok(())
    }

    /// Add tokens of the vocabulary, and those with the same bytes.
    fn take(&mut self, found: Found) {
        let vocabulary = &self.index.vocabulary;
        for (found, to) in [(found.sure, &mut self.ids), (found.doubtful, &mut self.doubtful)] {
            if !vocabulary.trie.twins().is_empty() {
                to.extend(found.iter().flat_map(|&id| vocabulary.twins(id)));
            }
            to.extend(found);
        }
    }

    /// Walk a trie from a configuration.
    fn walk(&mut self, trie: &Trie, config: ConfigId) -> Result<Found> {
        let start = Place { config: self.moves.cache.configs.get(config), perhaps: false };
        let mut walker = ConfigWalker::new(self.moves, self.work, trie.sink(), self.inside);
        trie.walk(&mut walker, start, &mut Vec::new());
        walker.finish(&mut self.cut)
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
        return with_fullness(
            Mask { base: None, add: ids.into(), remove: Box::default(), is_full: false },
            ordinary,
        );
    }
    let mut words = vec![0; ordinary.len()];
    ids.iter().for_each(|&id| crate::mask::set(&mut words, id));
    with_fullness(
        Mask { base: Some(words.into()), add: Box::default(), remove: Box::default(), is_full: false },
        ordinary,
    )
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
            if !program.states[state as usize].takes(count) {
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
            Some(next) => {
                characters.saturating_add((next - item.count).saturating_sub(self.longest_rest + 1))
            }
        }
    }
}

/// What some items allow whatever their frames are, and where that depends on a frame.
#[derive(Debug)]
pub struct Skeleton {
    /// The ids as a bitmask, where they are many; else as a list.
    pub base: Option<Arc<[u32]>>,
    pub ids: Box<[u32]>,
    pub doubtful: Box<[u32]>,
    /// Nodes of the trie where a frame is left.
    pub cuts: Vec<CutNode>,
}

#[derive(Debug)]
pub struct CutNode {
    node: u32,
    /// The bytes of the node's string.
    path: Box<[u8]>,
}

/// The key of skeletons over the whole vocabulary; parts have serials from 1 on.
const WHOLE: u64 = 0;

/// More ids than this are kept as a bitmask that masks are patches on.
const MAX_LISTED: usize = 192;

/// Walk the whole trie, but stop below each node where a frame that was cut off is left; returns those nodes.
fn walk_to_cuts<'e>(trie: &Trie, walker: &mut ConfigWalker<'e, '_>, start: Place<'e>) -> Vec<CutNode> {
    let mut stack = vec![start; trie.longest() + 1];
    let mut path: Vec<u8> = Vec::new();
    let mut cuts = Vec::new();
    let mut node = 0;
    while node < trie.n_nodes() {
        let (depth, byte) = (trie.depth(node), trie.byte(node));
        path.truncate(depth);
        match walker.step(stack[depth], byte) {
            Some(place) => {
                walker.reach(trie.id(node), place);
                stack[depth + 1] = place;
                path.push(byte);
                node += 1;
            }
            None => {
                if std::mem::take(&mut walker.was_cut) {
                    cuts.push(CutNode { node: node as u32, path: [&*path, &[byte]].concat().into() });
                }
                node = trie.end(node);
            }
        }
    }
    cuts
}

/// What a walk reached: ids, and ids that are right only if no key or item is written twice.
struct Found {
    sure: Vec<u32>,
    doubtful: Vec<u32>,
}

/// Where a walk is.
#[derive(Clone, Copy)]
struct Place<'e> {
    config: &'e Config,
    perhaps: bool,
}

/// Walks a trie with configurations; collects the ids of all strings that can be read.
struct ConfigWalker<'e, 'w> {
    moves: Moves<'e>,
    work: &'w mut Work,
    found: Found,
    sink: u32,
    inside: bool,
    /// Inside: the last step would have left a frame that was cut off.
    was_cut: bool,
    cut: bool,
    error: Option<Error>,
}

impl<'e, 'w> ConfigWalker<'e, 'w> {
    fn new(moves: Moves<'e>, work: &'w mut Work, sink: u32, inside: bool) -> Self {
        let found = Found { sure: Vec::new(), doubtful: Vec::new() };
        ConfigWalker { moves, work, found, sink, inside, was_cut: false, cut: false, error: None }
    }

    fn finish(self, cut: &mut bool) -> Result<Found> {
        *cut |= self.cut;
        self.error.map_or(Ok(self.found), Err)
    }

    /// A transition that is not known yet, or is never kept.
    #[cold]
    fn find(&mut self, config: &'e Config, byte: u8) -> Option<u32> {
        match self.moves.step(config, byte, self.work) {
            Ok(next) => next,
            Err(error) => {
                self.error = Some(error);
                None
            }
        }
    }
}

impl<'e> Walker for ConfigWalker<'e, '_> {
    type State = Place<'e>;

    #[inline(always)]
    fn step(&mut self, place: Place<'e>, byte: u8) -> Option<Place<'e>> {
        let program = self.moves.program;
        let mut next = UNKNOWN;
        if !place.config.direct {
            let row = place.config.row(program.n_classes, |bytes| self.moves.cache.add_row_bytes(bytes));
            next = row[program.classes[byte as usize] as usize].load(Ordering::Acquire);
        }
        if next == DEAD || self.cut || self.error.is_some() {
            return None;
        }
        let id = if next == UNKNOWN { self.find(place.config, byte)? } else { next - FIRST_ID };
        if let Err(error) = self.work.spend(1) {
            self.error = Some(error);
            return None;
        }
        let config = self.moves.cache.configs.get(id);
        if config.cut {
            self.cut = !self.inside;
            self.was_cut = true;
            return None;
        }
        Some(Place { config, perhaps: place.perhaps | config.perhaps })
    }

    #[inline(always)]
    fn reach(&mut self, id: u32, place: Place<'e>) {
        if id != self.sink {
            let found = if place.perhaps { &mut self.found.doubtful } else { &mut self.found.sure };
            found.push(id);
        }
    }
}
