//! Which tokens does a part of the vocabulary give an item that loops on a large class of characters?
//!
//! Its bitmask of runs as it is, or without those that are too long where a count ends; then what goes on after a run, by the
//! trie of rests.

use super::compose::Composer;
use super::part::Part;
use super::plan::{Chain, Kind};
use super::rests::{EARLY, Late, Rests};
use super::skeleton::{Over, Skeleton};
use super::stack::{CUT, ConfigId, Item};
use super::steps::Steps;
use super::walk::{ConfigWalker, Doubt, Found, Place};
use crate::error::Result;
use crate::program::{Program, State, StateId};
use crate::trie::Walker;

/// More tokens than this are found faster by walks over all rests: one is read in 0.1 us, and a walk takes some 5.
const MAX_LATE: usize = 64;

impl Composer<'_> {
    /// Take an item's tokens from a part; false if it has no plan, or its plan does not hold here.
    pub(super) fn by_part(&mut self, item: &Item) -> Result<bool> {
        // Where few texts are left each is read as it is, and a part does not know what its characters spell.
        if self.moves.is_few(item.state) {
            return Ok(false);
        }
        if let Some(byte) = self.index.neighbour(item.state)
            && self.by_neighbour(item, byte)?
        {
            return Ok(true);
        }
        let Some(plan) = self.index.plan(item.state) else { return self.by_closed_part(item) };
        let Some(part) = self.index.vocabulary.part(&plan.class) else { return self.by_closed_part(item) };
        if let Kind::Uniform(chain) = &plan.kind {
            let steps = Steps::new(self.moves.program, item, chain, self.longest_rest(item, chain, &part));
            if let Some(places) = self.places(&steps, &part)? {
                let based = match self.few_ends_from(&steps) {
                    Some(first) => self.doubt_runs(&part, first, steps.longest),
                    None => self.take_base(item, &steps, &part)?,
                };
                self.uniform(&places, &part, based)?;
                return Ok(true);
            }
            if steps.longest != u32::MAX {
                return Ok(false);
            }
        }
        self.loose(item, &part)
    }

    /// Take the tokens that begin with a lead from a part of what comes after it; false if none tells of them here.
    pub(super) fn by_led_part(&mut self, config: ConfigId, lead: u8, based: bool) -> Result<bool> {
        let config = self.moves.cache.configs.get(config);
        let Some(next) = self.moves.step(config, lead, self.work)? else { return Ok(false) };
        let next = self.moves.cache.configs.get(next);
        // Tokens of a key that begins or ends with the lead would hang on it.
        let [item] = next.items[..] else { return Ok(false) };
        if next.cut || next.perhaps || next.opened != config.opened || self.moves.is_few(item.state) {
            return Ok(false);
        }
        // The lead may leave the rule, or begin another one, which may be left within this one: what stays within is not the same.
        let stays = config.items.iter().all(|before| before.frame == item.frame);
        if self.inside && !stays {
            return Ok(false);
        }
        let based = based && stays;
        let Some(plan) = self.index.plan(item.state) else { return Ok(false) };
        let Kind::Uniform(chain) = &plan.kind else { return Ok(false) };
        let vocabulary = &self.index.vocabulary;
        let Some(part) = vocabulary.part_after(Some(lead), &plan.class) else { return Ok(false) };
        let steps = Steps::new(self.moves.program, &item, chain, self.longest_rest(&item, chain, &part));
        let Some(places) = self.places(&steps, &part)? else { return Ok(false) };
        if self.few_ends_from(&steps).is_some() {
            return Ok(false);
        }
        if !based {
            self.take_runs(&part, steps.longest);
        }
        self.uniform(&places, &part, based)?;
        Ok(true)
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
        // Nothing that is not counted has a bound.
        if !chain.counts.contains(&true) {
            return 0;
        }
        let program = self.moves.program;
        let frame = self.moves.cache.frames.get(item.frame);
        let beyond = frame.items.iter().map(|item| item.state);
        let mut read = [false; 256];
        for state in chain.states.iter().copied().chain(beyond) {
            let State { calls, accept, rule, .. } = &program.states[state as usize];
            let own = *rule == program.states[item.state as usize].rule;
            if !calls.is_empty() || (*accept && !own) {
                return self.longest_token();
            }
            mark_read(program, state, &mut read);
        }
        let rests = part.rests_on(&read, &self.index.vocabulary);
        rests.iter().map(|(_, rests)| rests.longest(&read)).max().unwrap_or(0)
    }

    /// The item reads every run, in whatever way, and may do other things too: take the runs, and walk all tokens that are none.
    fn loose(&mut self, item: &Item, part: &Part) -> Result<bool> {
        let Some((trie, ids)) = part.others(&self.index.vocabulary) else { return Ok(false) };
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
        let longest = self.longest_token();
        let checked = longest.min(steps.longest);
        let mut left = steps.longest >= longest;
        let mut places: Vec<(u32, u32, ConfigId)> = Vec::new();
        let mut before = 0;
        loop {
            // What else could be done before the first character, other items do; after it, it has to be found out.
            let last = if before == 0 { 0 } else { steps.last_alike(before).min(steps.longest) };
            let item = self.moves.left_open(&steps.kind(before), before > 0);
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

    /// In bytes; no run and no rest is longer.
    fn longest_token(&self) -> u32 {
        self.index.vocabulary.trie.longest() as u32
    }

    /// From how many characters on only few texts are left that end the key or the item: they may all be there already.
    fn few_ends_from(&self, steps: &Steps) -> Option<u32> {
        if steps.longest == u32::MAX || !self.index.program.has_memory() {
            return None;
        }
        let has_few = |&characters: &u32| self.moves.has_few_ends(steps.item(characters).state);
        let first = (1..=steps.longest).rev().take_while(has_few).last()?;
        (first <= self.longest_token()).then_some(first)
    }

    /// Take the runs of less than `first` characters, and doubt those up to `longest`. Never all that stay within the rule.
    fn doubt_runs(&mut self, part: &Part, first: u32, longest: u32) -> bool {
        self.take_runs(part, first - 1);
        let doubts = part.runs_between(first, longest, &self.index.vocabulary);
        self.doubtful.extend(doubts.map(Doubt::unclosed));
        false
    }

    /// `based`: the base has all that stays within the rule.
    fn uniform(&mut self, places: &[(u32, u32, ConfigId)], part: &Part, based: bool) -> Result<()> {
        for &(before, last, config) in places {
            if before == 0 && part.lead.is_none() {
                self.outer(config, part, based)?;
            }
            let rests = self.rests_read(config, part);
            let late = || rests.iter().flat_map(|(_, rests)| rests.late(before, last));
            if before >= EARLY && late().nth(MAX_LATE).is_none() {
                self.take_late(&late().copied().collect::<Vec<Late>>(), config)?;
                continue;
            }
            // Items of callers, where the rule may be left, are not in the base.
            let alone = self.moves.cache.configs.get(config).items.len() == 1;
            for (group, rests) in rests {
                let skeleton = self.rest_skeleton(config, rests, Over::Rests(part.serial, group))?;
                if !(based && alone) {
                    self.take_rests(rests, &skeleton.ids, before, last)?;
                }
                self.doubt_rests(rests, &skeleton.doubtful, before, last)?;
                let Found { sure, doubtful } = self.walk_ends(&rests.trie, &skeleton, config)?;
                self.take_rests(rests, &sure, before, last)?;
                self.doubt_rests(rests, &doubtful, before, last)?;
            }
            if self.cut {
                break;
            }
        }
        Ok(())
    }

    /// The rests that begin with what a configuration reads, by group.
    fn rests_read<'p>(&self, config: ConfigId, part: &'p Part) -> Vec<(u8, &'p Rests)> {
        let mut read = [false; 256];
        for item in &self.moves.cache.configs.get(config).items {
            mark_read(self.moves.program, item.state, &mut read);
        }
        part.rests_on(&read, &self.index.vocabulary)
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
    fn take_rests(&mut self, of: &Rests, rests: &[u32], from: u32, to: u32) -> Result<()> {
        let before = self.ids.len();
        for &rest in rests {
            self.ids.extend(of.tokens(rest, from, to).iter().map(|token| token.1));
        }
        self.work.spend((self.ids.len() - before) as u64 / 8)
    }

    fn doubt_rests(&mut self, of: &Rests, rests: &[Doubt], from: u32, to: u32) -> Result<()> {
        for doubt in rests {
            let length = of.length(doubt.id);
            for &(_, token) in of.tokens(doubt.id, from, to) {
                let more = self.index.vocabulary.bytes(token).len() - length;
                self.doubtful.push(doubt.later(token, more));
            }
        }
        self.work.spend(rests.len() as u64)
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
        let hangs = self.moves.program.rules[rule as usize].remembers() && key.data == item.data;
        if self.inside || steps.longest != u32::MAX || hangs {
            self.take_runs(part, steps.longest);
            return Ok(false);
        }
        let words = match self.moves.cache.inside(&key) {
            Some(words) => words,
            None => {
                let config = self.moves.part(std::slice::from_ref(&key));
                let skeleton = self.known_skeleton(config, Over::Inside, |composer| {
                    let mut work = composer.work.fresh();
                    let mut inner = Composer::new(composer.index, composer.moves, &mut work);
                    inner.inside = true;
                    inner.by_part(&key)?;
                    Ok(Skeleton::of_words(inner.dense()))
                })?;
                let words = skeleton.base.clone().expect("it was made with one");
                self.moves.cache.set_inside(key, words)
            }
        };
        self.add_base(words);
        Ok(true)
    }
}

fn mark_read(program: &Program, state: StateId, read: &mut [bool; 256]) {
    let edges = program.byte_edges(state).iter();
    edges.for_each(|edge| read[edge.low as usize..=edge.high as usize].fill(true));
}
