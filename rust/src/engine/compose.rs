//! How is the mask of a configuration made? From the parts of the vocabulary where they pay, else by walking the trie.
//!
//! A mask is the union of what each item allows. An item that loops on a large class of characters gets the
//! bitmask of the runs of that class, and walks the small trie of rests; all other items walk the vocabulary together.

use std::sync::Arc;

use super::closure::Moves;
use super::data::{KeysApart, NOTHING};
use super::draft::{Draft, Resolver};
use super::index::Index;
use super::mask::Mask;
use super::part::{Late, Part};
use super::plan::{Chain, Kind};
use super::shared::SharedKey;
use super::stack::{CUT, ConfigId, FrameId, Item};
use super::steps::Steps;
use super::walk::{ConfigWalker, CutNode, Doubt, Ends, Found, Place, Skeleton, walk_to_cuts};
use super::work::Work;
use crate::error::Result;
use crate::mask::contains;
use crate::program::State;
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
    /// Tokens that are allowed unless they write a key or an item twice.
    doubtful: Vec<Doubt>,
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
        let mut items: Vec<Item> =
            config.items.iter().map(|item| self.moves.left_open(item, false)).collect();
        if !self.index.program.has_memory() {
            self.sketch(id, &items)?;
            return Ok(if self.cut { Outcome::TooShallow } else { Outcome::Mask(self.finish()) });
        }
        items.sort_unstable();
        let open = self.moves.whole(&items, config.complete);
        let draft = match self.moves.cache.draft(open) {
            Some(known) => known,
            None => {
                let mut work = self.work.fresh();
                let mut composer = Composer::new(self.index, self.moves, &mut work);
                composer.sketch(open, &items)?;
                let draft = composer.draft();
                self.moves.cache.set_draft(open, draft)
            }
        };
        let Some(draft) = &*draft else { return Ok(Outcome::TooShallow) };
        Resolver { index: self.index, moves: Moves { opaque: false, ..self.moves }, work: self.work }
            .resolve(draft, id)
    }

    /// Collect what the items allow, doubtful tokens apart.
    fn sketch(&mut self, id: ConfigId, items: &[Item]) -> Result<()> {
        let mut walked: Vec<Item> = Vec::new();
        for item in items {
            let state = &self.moves.program.states[item.state as usize];
            self.special_tokens(id, item)?;
            if !state.bytes.is_empty() && !self.by_part(item)? {
                walked.push(*item);
            }
            if self.cut {
                return Ok(());
            }
        }
        if !walked.is_empty() {
            walked.sort_unstable();
            self.walk_vocabulary(&walked)?;
        }
        if self.moves.cache.configs.get(id).complete {
            self.ids.extend_from_slice(&self.index.vocabulary.eos);
        }
        Ok(())
    }

    /// What was collected, as a mask and groups of doubts; `None` if it was cut off.
    fn draft(&mut self) -> Option<Draft> {
        if self.cut {
            return None;
        }
        let sure = self.finish();
        Some(Draft::new(sure, &self.doubtful, &self.index.vocabulary))
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

    /// Take an item's tokens from a part; false if it has no plan, or its plan does not hold here.
    fn by_part(&mut self, item: &Item) -> Result<bool> {
        let Some(plan) = self.index.plan(item.state) else { return self.by_closed_part(item) };
        let Some(part) = self.index.vocabulary.part(&plan.class) else { return self.by_closed_part(item) };
        if let Kind::Uniform(chain) = &plan.kind {
            let steps = Steps::new(self.moves.program, item, chain, self.longest_rest(item, chain, &part));
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

    /// Take an item's tokens from the part of a class that is read on for ever, through whatever states.
    fn by_closed_part(&mut self, item: &Item) -> Result<bool> {
        let Some(class) = self.index.closed_class(item.state) else { return Ok(false) };
        let Some(part) = self.index.vocabulary.part(&class) else { return Ok(false) };
        self.loose(item, &part)
    }

    /// The length in bytes of the longest rest that can be begun along a chain, or where its rule is left.
    ///
    /// Tabs and line breaks with up to 80 blanks begin rests of a JSON string, which reads none of them: without this
    /// `maxLength: 64` would be near its bound all the time.
    fn longest_rest(&self, item: &Item, chain: &Chain, part: &Part) -> u32 {
        let program = self.moves.program;
        let frame = self.moves.cache.frames.get(item.frame);
        let beyond = frame.items.iter().map(|item| item.state);
        let mut longest = 0;
        for state in chain.states.iter().copied().chain(beyond) {
            let State { calls, accept, rule, .. } = &program.states[state as usize];
            let own = *rule == program.states[item.state as usize].rule;
            if !calls.is_empty() || (*accept && !own) {
                return part.rests.longest() as u32;
            }
            let rests = program.byte_edges(state).iter().map(|edge| part.longest_rest(edge.low, edge.high));
            longest = rests.fold(longest, u32::max);
        }
        longest
    }

    /// The item reads every run, in whatever way, and may do other things too: take the runs, and walk all tokens that are none.
    fn loose(&mut self, item: &Item, part: &Part) -> Result<bool> {
        let Some((trie, ids)) = &part.others else { return Ok(false) };
        let config = self.moves.part(std::slice::from_ref(item));
        self.take_runs(part, u32::MAX);
        let Found { sure, doubtful } = self.walk(trie, config)?;
        let alike = |id: u32| {
            let twins = trie.twins().iter().filter(move |pair| pair.0 == id).map(|pair| pair.1);
            twins.chain([id]).map(|place| ids[place as usize])
        };
        self.ids.extend(sure.iter().flat_map(|&id| alike(id)));
        self.doubtful
            .extend(doubtful.iter().flat_map(|&doubt| alike(doubt.id).map(move |id| Doubt { id, ..doubt })));
        Ok(true)
    }

    /// Where the item is after 0, 1, 2, ... characters of a run, as (characters, last number alike, configuration). `None` if
    /// the rule can be left on the way to read characters of the class elsewhere: then the run alone does not tell.
    fn places(&mut self, steps: &Steps, part: &Part) -> Result<Option<Vec<(u32, u32, ConfigId)>>> {
        // Past the last rest nothing is left to tell apart. But where runs have an end, it has to be seen once that no
        // character of the class follows it, where the rule is left.
        let checked = part.max_before.min(steps.longest);
        let mut left = steps.longest >= part.longest_run();
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
            left |= self.moves.program.states[item.state as usize].leaves_at(item.count);
            if self.cut || (last >= checked && left) || last >= steps.longest {
                return Ok(Some(places));
            }
            before = last + 1;
        }
    }

    /// `based`: the base has all that stays within the rule.
    fn uniform(&mut self, places: &[(u32, u32, ConfigId)], part: &Part, based: bool) -> Result<()> {
        for &(before, last, config) in places {
            if before == 0 {
                self.outer(config, part)?;
            }
            if let Some(late) = part.late(before, last) {
                self.take_late(late, config)?;
                continue;
            }
            let skeleton = self.rest_skeleton(config, part)?;
            // Items of callers, where the rule may be left, are not in the base.
            let alone = self.moves.cache.configs.get(config).items.len() == 1;
            if !(based && alone) {
                self.take_rests(part, &skeleton.ids, before, last)?;
            }
            self.doubt_rests(part, &skeleton.doubtful, before, last)?;
            let Found { sure, doubtful } = self.walk_ends(&part.rests, &skeleton, config)?;
            self.take_rests(part, &sure, before, last)?;
            self.doubt_rests(part, &doubtful, before, last)?;
            if self.cut {
                break;
            }
        }
        Ok(())
    }

    /// Read the rests of some tokens one by one.
    fn take_late(&mut self, tokens: &[Late], config: ConfigId) -> Result<()> {
        let start = Place::start(self.moves.cache.configs.get(config));
        let mut walker = ConfigWalker::new(self.moves, self.work, u32::MAX, self.inside);
        for late in tokens {
            let bytes = self.index.vocabulary.bytes(late.token);
            let rest = &bytes[bytes.len() - late.length as usize..];
            let end = rest.iter().try_fold(start, |place, &byte| walker.step(place, byte));
            if let Some(place) = end {
                walker.reach(late.token, place);
            }
        }
        let Found { sure, doubtful } = walker.finish(&mut self.cut)?;
        self.ids.extend(sure);
        for doubt in doubtful {
            let late = tokens.iter().find(|late| late.token == doubt.id).expect("it was read just now");
            let more = self.index.vocabulary.bytes(doubt.id).len() - late.length as usize;
            self.doubtful.push(doubt.later(doubt.id, more));
        }
        Ok(())
    }

    /// Add the tokens on some rests with so many characters before them.
    fn take_rests(&mut self, part: &Part, rests: &[u32], from: u32, to: u32) -> Result<()> {
        let before = self.ids.len();
        for &rest in rests {
            self.ids.extend(part.tokens(rest, from, to).iter().map(|token| token.1));
        }
        self.work.spend((self.ids.len() - before) as u64 / 8)
    }

    fn doubt_rests(&mut self, part: &Part, rests: &[Doubt], from: u32, to: u32) -> Result<()> {
        for doubt in rests {
            let length = part.rest_length(doubt.id);
            for &(_, token) in part.tokens(doubt.id, from, to) {
                let more = self.index.vocabulary.bytes(token).len() - length;
                self.doubtful.push(doubt.later(token, more));
            }
        }
        self.work.spend(rests.len() as u64)
    }

    /// Add the tokens that begin with no character of the class.
    fn outer(&mut self, config: ConfigId, part: &Part) -> Result<()> {
        let trie = &self.index.vocabulary.trie;
        let shallow = self.shallow(&self.moves.cache.configs.get(config).items);
        let key = part.serial | OUTER;
        let skeleton = self.known_skeleton(shallow, key, |composer| {
            let (found, ends) = composer.walk_to_cuts(trie, part.outer_bytes.iter().copied(), shallow)?;
            Ok(Skeleton::new(None, found.sure.into(), found.doubtful.into(), ends))
        })?;
        self.take(Found { sure: skeleton.ids.to_vec(), doubtful: skeleton.doubtful.to_vec() });
        let found = self.walk_ends(trie, &skeleton, config)?;
        self.take(found);
        Ok(())
    }

    /// The bitmask that the mask is a patch on: the tokens that stay within the rule where many texts share it, else the runs.
    ///
    /// From inside a JSON string 1,100 of Llama 3's tokens stay in it and are no runs (escapes, halves of characters): added one
    /// by one they double the cost of a hit.
    ///
    /// Returns whether it has all tokens that stay within the rule.
    fn take_base(&mut self, item: &Item, steps: &Steps, part: &Part) -> Result<bool> {
        let rule = self.moves.program.states[item.state as usize].rule;
        let key = Item { frame: CUT, ..self.moves.blanked(item) };
        // What else is kept of an object or a list may tell tokens apart.
        let hangs = self.moves.program.remembers[rule as usize] && key.data == item.data;
        if self.inside || steps.longest != u32::MAX || hangs {
            self.take_runs(part, steps.longest);
            return Ok(false);
        }
        let words = match self.moves.cache.inside(&key) {
            Some(words) => words,
            None => {
                let config = self.moves.part(std::slice::from_ref(&key));
                let skeleton = self.known_skeleton(config, INSIDE, |composer| {
                    let mut work = composer.work.fresh();
                    let mut inner = Composer::new(composer.index, composer.moves, &mut work);
                    inner.inside = true;
                    inner.by_part(&key)?;
                    Ok(Skeleton::new(Some(inner.dense()), Box::default(), Box::default(), Ends::default()))
                })?;
                let words = skeleton.base.clone().expect("it was made with one");
                self.moves.cache.set_inside(key, words)
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
        let (runs, beyond) = part.runs(longest, &self.index.vocabulary);
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

    /// Walk the vocabulary with some items. One by one where they are few: the start of a string or a number is the same
    /// item wherever a value may stand, so its skeleton is there already.
    fn walk_vocabulary(&mut self, items: &[Item]) -> Result<()> {
        if items.len() > MAX_SINGLE {
            return self.walk_together(items);
        }
        for item in items {
            match self.moves.keys_apart(item) {
                Some(apart) => self.walk_apart(item, &apart)?,
                None => self.walk_together(std::slice::from_ref(item))?,
            }
        }
        Ok(())
    }

    /// Walk the open keys that may come next, and all else.
    fn walk_apart(&mut self, item: &Item, apart: &KeysApart) -> Result<()> {
        let config = self.moves.part(std::slice::from_ref(item));
        let open = self.skeleton(std::slice::from_ref(&apart.open), WHOLE)?;
        self.take_skeleton(&open, config)?;
        let all = std::mem::replace(&mut self.moves.passed, apart.passed);
        let declared = self.skeleton(std::slice::from_ref(item), DECLARED);
        self.moves.passed = all;
        self.take_skeleton(&*declared?, config)
    }

    /// What stays above the items' frames is known from their skeleton, the rest is walked.
    fn walk_together(&mut self, items: &[Item]) -> Result<()> {
        let skeleton = self.skeleton(items, WHOLE)?;
        let config = self.moves.part(items);
        self.take_skeleton(&skeleton, config)
    }

    /// Take what a skeleton has, and walk from `config` where it was cut off.
    fn take_skeleton(&mut self, skeleton: &Skeleton, config: ConfigId) -> Result<()> {
        match &skeleton.base {
            Some(words) => self.add_base(words.clone()),
            None => self.ids.extend_from_slice(&skeleton.ids),
        }
        self.doubtful.extend_from_slice(&skeleton.doubtful);
        let found = self.walk_ends(&self.index.vocabulary.trie, skeleton, config)?;
        self.take(found);
        Ok(())
    }

    /// Walk on where a skeleton ends.
    fn walk_ends(&mut self, trie: &Trie, skeleton: &Skeleton, config: ConfigId) -> Result<Found> {
        let mut found = Found::default();
        if !skeleton.cuts.is_empty() {
            found = self.walk_cuts(trie, &skeleton.cuts, config)?;
        }
        if !skeleton.leaves.is_empty() && !self.inside {
            let more = self.walk_leaves(trie, &skeleton.leaves, config)?;
            found.sure.extend(more.sure);
            found.doubtful.extend(more.doubtful);
        }
        Ok(found)
    }

    /// Walk below the nodes where the frame of the only item is left, from what follows it.
    fn walk_leaves(&mut self, trie: &Trie, leaves: &[u32], config: ConfigId) -> Result<Found> {
        let mut found = Found::default();
        // Several items may be one to the skeleton, with all forgotten that they keep.
        let mut frames: Vec<FrameId> =
            self.moves.cache.configs.get(config).items.iter().map(|item| item.frame).collect();
        frames.dedup();
        for frame in frames {
            let Some(next) = self.moves.after_return(frame, self.work)? else { continue };
            let next = self.moves.cache.configs.get(next);
            if next.cut {
                self.cut = true;
                break;
            }
            let mut stack = vec![Place::start(next); trie.longest() + 1];
            let mut walker = ConfigWalker::new(self.moves, self.work, trie.sink(), false);
            for &node in leaves {
                let node = node as usize;
                let length = trie.depth(node) + 1;
                stack[length] = Place::after_return(next, length);
                walker.reach(trie.id(node), stack[length]);
                trie.walk_below(&mut walker, node, &mut stack);
            }
            let more = walker.finish(&mut self.cut)?;
            found.sure.extend(more.sure);
            found.doubtful.extend(more.doubtful);
        }
        Ok(found)
    }

    /// Walk only below the nodes where frames are left.
    fn walk_cuts(&mut self, trie: &Trie, cuts: &[CutNode], config: ConfigId) -> Result<Found> {
        let start = Place::start(self.moves.cache.configs.get(config));
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
                trie.walk_below(&mut walker, node, &mut stack);
            }
        }
        walker.finish(&mut self.cut)
    }

    /// What the items allow whatever their frames are: walked once for all stacks.
    fn skeleton(&mut self, items: &[Item], key: u64) -> Result<Arc<Skeleton>> {
        let config = self.shallow(items);
        self.known_skeleton(config, key, |composer| {
            let trie = &composer.index.vocabulary.trie;
            let (found, ends) = composer.walk_to_cuts(trie, 0..=u8::MAX, config)?;
            let mut inner = Composer::new(composer.index, composer.moves, composer.work);
            inner.take(found);
            let base = (inner.ids.len() > MAX_LISTED).then(|| inner.dense());
            let ids = if base.is_some() { Box::default() } else { inner.ids.into() };
            Ok(Skeleton::new(base, ids, inner.doubtful.into(), ends))
        })
    }

    /// The skeleton of a configuration without frames: known here, or to the vocabulary, or made now.
    fn known_skeleton(
        &mut self,
        config: ConfigId,
        trie: u64,
        make: impl FnOnce(&mut Self) -> Result<Skeleton>,
    ) -> Result<Arc<Skeleton>> {
        if let Some(known) = self.moves.cache.skeleton(config, trie) {
            return Ok(known);
        }
        let key = self.shared_key(config, trie);
        let found = key.as_ref().map_or(Err(false), |key| self.index.vocabulary.shared.find(key));
        let skeleton = match found {
            Ok(known) => known,
            Err(worth) => {
                let made = Arc::new(make(self)?);
                if let (Some(key), true) = (key, worth) {
                    self.index.vocabulary.shared.keep(key, made.clone());
                }
                made
            }
        };
        Ok(self.moves.cache.set_skeleton(config, trie, skeleton))
    }

    /// What a skeleton is called in all formats that have the rule; none if it hangs on what was written.
    fn shared_key(&self, config: ConfigId, trie: u64) -> Option<SharedKey> {
        let [item] = &self.moves.cache.configs.get(config).items[..] else { return None };
        let held = self.moves.held(item).filter(|_| self.moves.passed == NOTHING)?;
        let rule = self.moves.program.states[item.state as usize].rule as usize;
        let state = item.state - self.index.first_states[rule];
        Some(SharedKey { origin: self.moves.program.origins[rule], state, count: item.count, held, trie })
    }

    /// The same for the rests of a part; its ids are those of the rests.
    fn rest_skeleton(&mut self, config: ConfigId, part: &Part) -> Result<Arc<Skeleton>> {
        let items = &self.moves.cache.configs.get(config).items;
        let shallow = self.shallow(items);
        self.known_skeleton(shallow, part.serial, |composer| {
            let (found, ends) = composer.walk_to_cuts(&part.rests, 0..=u8::MAX, shallow)?;
            Ok(Skeleton::new(None, found.sure.into(), found.doubtful.into(), ends))
        })
    }

    /// The configuration of some items without their frames.
    fn shallow(&self, items: &[Item]) -> ConfigId {
        let mut shallow: Vec<Item> =
            items.iter().map(|item| Item { frame: CUT, ..self.moves.blanked(item) }).collect();
        shallow.sort_unstable();
        shallow.dedup();
        self.moves.part(&shallow)
    }

    fn walk_to_cuts(
        &mut self,
        trie: &Trie,
        bytes: impl IntoIterator<Item = u8> + Clone,
        config: ConfigId,
    ) -> Result<(Found, Ends)> {
        let start = self.moves.cache.configs.get(config);
        // With several items it would not be clear whose frame is left.
        if start.items.len() == 1 {
            let mut work = self.work.fresh();
            let mut walker = ConfigWalker::new(self.moves, &mut work, trie.sink(), true).noting_leaves();
            let ends = walk_to_cuts(trie, bytes.clone(), &mut walker, Place::start(start));
            let found = walker.finish(&mut false)?;
            if !ends.too_many_leaves() {
                return Ok((found, ends));
            }
        }
        let mut work = self.work.fresh();
        let mut walker = ConfigWalker::new(self.moves, &mut work, trie.sink(), true);
        let ends = walk_to_cuts(trie, bytes, &mut walker, Place::start(start));
        Ok((walker.finish(&mut false)?, ends))
    }

    fn add_base(&mut self, words: Arc<[u32]>) {
        match self.base {
            None => self.base = Some((words, Vec::new())),
            Some(_) => self.more.push(words),
        }
    }

    /// Add tokens of the vocabulary, and those with the same bytes.
    fn take(&mut self, found: Found) {
        let vocabulary = &self.index.vocabulary;
        if !vocabulary.trie.twins().is_empty() {
            self.ids.extend(found.sure.iter().flat_map(|&id| vocabulary.twins(id)));
            self.doubtful.extend(
                found
                    .doubtful
                    .iter()
                    .flat_map(|&doubt| vocabulary.twins(doubt.id).map(move |id| Doubt { id, ..doubt })),
            );
        }
        self.ids.extend(found.sure);
        self.doubtful.extend(found.doubtful);
    }

    /// Walk a trie from a configuration.
    fn walk(&mut self, trie: &Trie, config: ConfigId) -> Result<Found> {
        let start = Place::start(self.moves.cache.configs.get(config));
        let mut walker = ConfigWalker::new(self.moves, self.work, trie.sink(), self.inside);
        trie.walk(&mut walker, start, &mut Vec::new());
        walker.finish(&mut self.cut)
    }

    fn finish(&mut self) -> Mask {
        let vocabulary = &self.index.vocabulary;
        let ids = std::mem::take(&mut self.ids);
        let (base, remove) = match self.base.take() {
            Some((base, remove)) => (Some(base), remove),
            None => (None, Vec::new()),
        };
        if self.more.is_empty() {
            return patch(base, remove, ids, vocabulary.ordinary.as_ref());
        }
        if remove.is_empty() {
            let bases = base.into_iter().chain(std::mem::take(&mut self.more)).collect();
            return patch(Some(self.moves.cache.united(bases)), remove, ids, vocabulary.ordinary.as_ref());
        }
        let mut words = base.expect("more runs come after the first").to_vec();
        remove.iter().for_each(|&id| crate::mask::clear(&mut words, id));
        for more in &self.more {
            words.iter_mut().zip(more.iter()).for_each(|(word, more)| *word |= more);
        }
        patch(Some(words.into()), Vec::new(), ids, vocabulary.ordinary.as_ref())
    }
}

/// The smallest mask: what is in the base already is not added, what is added is not removed.
fn patch(base: Option<Arc<[u32]>>, mut remove: Vec<u32>, mut ids: Vec<u32>, ordinary: &[u32]) -> Mask {
    let Some(base) = base else { return sparse_or_dense(ids, ordinary) };
    if !remove.is_empty() {
        ids.sort_unstable();
        remove.retain(|id| ids.binary_search(id).is_err());
        remove.sort_unstable();
    }
    ids.retain(|&id| !contains(&base, id));
    let add = ascending(ids);
    with_fullness(Mask { base: Some(base), add, remove: remove.into(), is_full: false }, ordinary)
}

/// A list of ids takes 4 bytes each, a bitmask an eighth of a byte a token.
fn sparse_or_dense(ids: Vec<u32>, ordinary: &[u32]) -> Mask {
    if ids.len() <= ordinary.len() {
        let mask = Mask { base: None, add: ascending(ids), remove: Box::default(), is_full: false };
        return with_fullness(mask, ordinary);
    }
    let mut words = vec![0; ordinary.len()];
    ids.iter().for_each(|&id| crate::mask::set(&mut words, id));
    with_fullness(
        Mask { base: Some(words.into()), add: Box::default(), remove: Box::default(), is_full: false },
        ordinary,
    )
}

fn ascending(mut ids: Vec<u32>) -> Box<[u32]> {
    ids.sort_unstable();
    ids.dedup();
    ids.into()
}

fn with_fullness(mut mask: Mask, ordinary: &[u32]) -> Mask {
    mask.is_full = mask.covers(ordinary);
    mask
}

/// More items than this are walked together: each by itself goes through the top of the trie anew.
const MAX_SINGLE: usize = 16;

/// The key of skeletons over the whole vocabulary; parts have serials from 1 on.
const WHOLE: u64 = 0;
/// Set in the key of a part's skeleton over the tokens that begin with no character of its class.
const OUTER: u64 = 1 << 63;

/// The key of the tokens that stay within a rule.
const INSIDE: u64 = 1 << 61;
/// The key of skeletons over the whole vocabulary without the open keys that may come next.
const DECLARED: u64 = 1 << 62;

/// More ids than this are kept as a bitmask that masks are patches on.
const MAX_LISTED: usize = 192;
