//! What nodes that remember mean: which members, items and digits may follow what was read.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::below::Below;
use crate::compile::Budget;
use crate::compile::bare_words::{BareWords, SharedWords};
use crate::compile::words::{self, FewWords};
use crate::decimal::DecimalSet;
use crate::error::Result;
use crate::names::Names;
use crate::program::{Action, Ending, Guard, NO_ACTION, Program, StateId};

/// A language with more words than this is taken to have one that was not read yet.
pub const MAX_WORDS: usize = 4_096;

/// What an object may need of members whose keys are not declared: a bit each.
pub const MAX_NEEDS: u32 = 6;

pub type Words = Vec<Box<[u8]>>;

/// What one rule keeps to. Programs share it: its states are counted from the first of the rule.
#[derive(Debug)]
pub enum Memory {
    Members(Members),
    Items(Items),
    Decimal(DecimalSet),
}

impl Memory {
    /// About how many bytes it holds on the heap.
    pub fn heap_bytes(&self) -> usize {
        match self {
            Memory::Members(members) => members.heap_bytes(),
            Memory::Items(items) => {
                let rest = items.rest_words.as_deref().map_or(0, words_bytes);
                shared_bytes(&items.words) + items.finite.len() + rest
            }
            // A few numbers of at most 1,000 digits.
            Memory::Decimal(_) => size_of::<DecimalSet>(),
        }
    }
}

/// A list counts once, however many states have it.
fn shared_bytes(words: &FxHashMap<StateId, SharedWords>) -> usize {
    let mut each: Vec<&SharedWords> = words.values().collect();
    each.sort_unstable_by_key(|words| words.as_ptr());
    each.dedup_by_key(|words| words.as_ptr());
    each.iter().map(|words| words_bytes(words)).sum::<usize>() + words.len() * 32
}

fn words_bytes(words: &[Box<[u8]>]) -> usize {
    words.iter().map(|word| word.len() + size_of::<Box<[u8]>>()).sum()
}

/// Keys and values, no key twice.
#[derive(Debug, Default)]
pub struct Members {
    pub ordered: bool,
    pub min: u32,
    pub max: u32,
    pub json: bool,
    pub required: Vec<bool>,
    /// What each declared key is, whatever its spelling; only open keys ask.
    pub names: Names,
    pub has_open: bool,
    /// Some state within open keys may have few texts to its end.
    pub some_few: bool,
    /// Declared members that have a value at all.
    pub written: Vec<bool>,
    pub below: Below,
    /// For each open language: its keys by identity, without the declared ones, if they are few.
    pub open_languages: Vec<Option<Words>>,
    /// For each open language: which needs a member with such a key meets, as bits. All needs of an object must be met.
    pub meets: Vec<u8>,
    /// For each set of needs, as bits: how many open members meet it, at least.
    pub cover: Vec<u32>,
    /// All open keys that have a value, if they are few.
    pub open_words: Option<Words>,
    /// For each state within open keys from where few texts are left: those texts.
    pub words: FxHashMap<StateId, SharedWords>,
    /// How many written members come at or after each place.
    pub after: Vec<u32>,
    /// The first required member at or after each place.
    pub next_required: Vec<u32>,
}

/// What a text has of an object so far.
#[derive(Debug, Clone, Copy)]
pub struct Written<'d> {
    /// Bit i: declared member i is there; after those, needs that open members met.
    pub used: &'d [u64],
    /// One past the last declared member; past all of them once an open one is there.
    pub last: u32,
    pub count: u32,
}

impl Written<'_> {
    fn has(&self, member: u32) -> bool {
        self.used.get(member as usize / 64).is_some_and(|word| word >> (member % 64) & 1 == 1)
    }
}

impl Members {
    fn heap_bytes(&self) -> usize {
        let open =
            self.open_languages.iter().flatten().chain(&self.open_words).map(|words| words_bytes(words));
        let words = shared_bytes(&self.words);
        let places = 10 * self.required.len() + self.meets.len() + 4 * self.cover.len();
        self.names.heap_bytes() + self.below.heap_bytes() + open.sum::<usize>() + words + places
    }

    /// How many required members are missing, and open ones for what the object needs.
    fn missing(&self, written: Written) -> u32 {
        self.missing_declared(written) + self.to_cover(self.unmet(written))
    }

    fn missing_declared(&self, written: Written) -> u32 {
        (0u32..).zip(&self.required).filter(|&(member, &required)| required && !written.has(member)).count()
            as u32
    }

    /// All needs, as bits.
    pub fn needs(&self) -> u8 {
        self.meets.iter().fold(0, |all, meets| all | meets)
    }

    /// The needs that are not met.
    fn unmet(&self, written: Written) -> u8 {
        let needs = self.needs();
        if needs == 0 {
            return 0;
        }
        let first = self.required.len() as u32;
        (0..u8::BITS).filter(|&need| !written.has(first + need)).map(|need| 1 << need).sum::<u8>() & needs
    }

    fn to_cover(&self, unmet: u8) -> u32 {
        if unmet == 0 { 0 } else { self.cover[unmet as usize] }
    }

    /// Note that a declared member is there; after those come needs.
    pub fn note(&self, used: &mut Vec<u64>, member: u32) {
        let bits = self.required.len() + (u8::BITS - self.needs().leading_zeros()) as usize;
        used.resize(bits.div_ceil(64), 0);
        used[member as usize / 64] |= 1 << (member % 64);
    }

    /// Note the needs that a member of an open language meets.
    pub fn note_needs(&self, used: &mut Vec<u64>, open: u32) {
        let (meets, first) = (self.meets[open as usize], self.required.len() as u32);
        for need in (0..u8::BITS).filter(|need| meets >> need & 1 == 1) {
            self.note(used, first + need);
        }
    }

    /// How many open members meet all needs, at least, where only some languages have a member; `None`: those cannot.
    pub fn to_meet(&self, open: &[bool]) -> Option<u32> {
        let all = *self.covers(open).last().expect("there is the set of no needs");
        (all != u32::MAX).then_some(all)
    }

    /// For each set of needs: how many open members meet it, at least. `u32::MAX`: none do.
    fn covers(&self, open: &[bool]) -> Vec<u32> {
        let needs = self.needs();
        if needs == 0 {
            return Vec::new();
        }
        let can = |number: usize| {
            open.get(number) == Some(&true)
                && self.open_languages[number].as_ref().is_none_or(|words| !words.is_empty())
        };
        let meets: Vec<u8> =
            (0..self.meets.len()).filter(|&number| can(number)).map(|number| self.meets[number]).collect();
        let mut cover = vec![0; usize::from(needs) + 1];
        for set in 1..=needs {
            let rests =
                meets.iter().filter(|&&meets| meets & set != 0).map(|meets| cover[usize::from(set & !meets)]);
            cover[usize::from(set)] = rests.min().map_or(u32::MAX, |rest: u32| rest.saturating_add(1));
        }
        cover
    }

    /// Whether some declared member out of a list may be the next one.
    pub fn some_available(&self, written: Written, members: &[u32], left: Option<u32>) -> bool {
        let missing = self.missing(written);
        members.iter().any(|&member| self.is_available(written, member, missing, left))
    }

    /// Whether a declared member may be the next one.
    pub fn may_declare(&self, written: Written, member: u32, left: Option<u32>) -> bool {
        self.is_available(written, member, self.missing(written), left)
    }

    fn is_available(&self, written: Written, member: u32, missing: u32, left: Option<u32>) -> bool {
        if !self.written[member as usize] || written.has(member) {
            return false;
        }
        if self.ordered && (member < written.last || self.next_required[written.last as usize] < member) {
            return false;
        }
        let missing = missing - u32::from(self.required[member as usize]);
        self.can_finish(written.count + 1, missing, left, || {
            if self.ordered {
                return self.after[member as usize + 1];
            }
            self.unwritten(written) - 1
        })
    }

    /// How many declared members can still be written after an open one, or in any order.
    fn unwritten(&self, written: Written) -> u32 {
        if self.ordered {
            return 0;
        }
        let used: u32 = written.used.iter().map(|word| word.count_ones()).sum();
        let met = (self.needs() & !self.unmet(written)).count_ones();
        self.after[0] - (used - met)
    }

    /// Whether `count` members, with `missing` required ones to come, leave room for enough and not too many:
    /// `more` declared ones can follow, and `left` open ones, `None`: any number.
    fn can_finish(&self, count: u32, missing: u32, left: Option<u32>, more: impl FnOnce() -> u32) -> bool {
        count <= self.max
            && missing <= self.max - count
            && (left.is_none() || count >= self.min || more() + left.unwrap_or(0) >= self.min - count)
    }

    /// Whether a member of an open language, `None`: of any, may be the next one; `left` open keys were not written yet,
    /// `None`: any number.
    pub fn open_available(&self, written: Written, left: Option<u32>, open: Option<u32>) -> bool {
        let declared = self.missing_declared(written);
        self.has_open
            && left != Some(0)
            && (declared == 0 || !self.ordered)
            && self.can_finish(
                written.count + 1,
                declared + self.to_cover_after(self.unmet(written), open),
                left.map(|left| left - 1),
                || self.unwritten(written),
            )
    }

    /// How many open members are still needed after one of a language, `None`: of the one that helps most.
    fn to_cover_after(&self, unmet: u8, open: Option<u32>) -> u32 {
        match open {
            Some(open) => self.to_cover(unmet & !self.meets[open as usize]),
            None => self.to_cover(unmet).saturating_sub(1),
        }
    }

    pub fn more_available(&self, written: Written, left: Option<u32>) -> bool {
        let missing = self.missing(written);
        self.open_available(written, left, None)
            || (0..self.required.len() as u32).any(|member| self.is_available(written, member, missing, left))
    }

    pub fn may_end(&self, written: Written) -> bool {
        written.count >= self.min && self.missing(written) == 0
    }

    /// All keys of some open languages, if they are few.
    pub fn words_of(&self, open: &[bool]) -> Option<Words> {
        let mut all = Words::new();
        for (words, _) in self.open_languages.iter().zip(open).filter(|&(_, &open)| open) {
            all.extend(words.as_ref()?.iter().cloned());
        }
        Some(all)
    }

    /// Find out what hangs on which declared members, and which languages of open keys, have a value.
    fn settle(&mut self, open: &[bool]) {
        self.has_open = open.contains(&true);
        self.open_words = self.words_of(open);
        self.cover = self.covers(open);
        let n = self.written.len();
        self.after = vec![0; n + 1];
        self.next_required = vec![u32::MAX; n + 1];
        for member in (0..n).rev() {
            self.after[member] = self.after[member + 1] + u32::from(self.written[member]);
            let required = self.required[member];
            self.next_required[member] =
                if required { member as u32 } else { self.next_required[member + 1] };
        }
    }
}

/// Items, no two alike.
#[derive(Debug, Default)]
pub struct Items {
    pub min: u32,
    pub max: u32,
    pub json: bool,
    /// For each place, and for all places after: whether its language has few words.
    pub finite: Vec<bool>,
    /// For each state of an item from where few words are left: those words.
    pub words: FxHashMap<StateId, SharedWords>,
    /// The items of the rest by identity, if they are few.
    pub rest_words: Option<Words>,
}

/// Find out, once the program is laid out, what its guards need to know of it. `memories` are those of its rules.
pub fn settle(program: &mut Program, mut memories: Vec<Memory>, budget: &mut Budget) -> Result<()> {
    settle_members(program, &mut memories);
    for (spec, state, list) in few_words(program, &memories, budget)? {
        let state = program.place_in_rule(state);
        match &mut memories[spec as usize] {
            Memory::Items(items) => drop(items.words.insert(state, list)),
            Memory::Members(members) => drop(members.words.insert(state, list)),
            Memory::Decimal(_) => {}
        }
    }
    program.memories = memories.into_iter().map(Arc::new).collect();
    Ok(())
}

/// Find out which members and languages of open keys can be written at all, and which members are below which states.
fn settle_members(program: &Program, memories: &mut [Memory]) {
    let mut open = vec![Vec::new(); memories.len()];
    for edge in program.byte_edges.iter().filter(|edge| edge.action != NO_ACTION) {
        match program.actions[edge.action as usize] {
            Action::Declare { spec, member } => {
                if let Memory::Members(members) = &mut memories[spec as usize] {
                    members.written[member as usize] = true;
                }
            }
            Action::Close { spec, open: number } => {
                let open = &mut open[spec as usize];
                open.resize(open.len().max(number as usize + 1), false);
                open[number as usize] = true;
            }
            _ => {}
        }
    }
    for rule in &program.rules {
        if let Ending::Members { spec } = rule.ending
            && let Memory::Members(members) = &mut memories[spec as usize]
        {
            members.settle(&open[spec as usize]);
            members.below = Below::new(program, rule, members.required.len());
        }
    }
}

fn is_within(program: &Program, state: StateId) -> bool {
    matches!(program.states[state as usize].guard, Guard::OpenKey { .. } | Guard::Item { .. })
}

/// For each state within an open key or an item from where few texts lead to its end: the spec, the state, those texts.
fn few_words(
    program: &Program,
    memories: &[Memory],
    budget: &mut Budget,
) -> Result<Vec<(u32, StateId, SharedWords)>> {
    let none = |memory: &Memory| match memory {
        // Most objects take any key: then it is known of its language, and not looked for in each of them.
        Memory::Members(members) => !members.some_few && !members.json,
        Memory::Items(_) => false,
        Memory::Decimal(_) => true,
    };
    if memories.iter().all(none) {
        return Ok(Vec::new());
    }
    let states: Vec<StateId> =
        (0..program.states.len() as u32).filter(|&state| is_within(program, state)).collect();
    // The places of states among them, where they are any.
    let mut place = vec![u32::MAX; program.states.len()];
    (0..).zip(&states).for_each(|(at, &state)| place[state as usize] = at);
    // One more state, where closing bytes lead.
    let end = states.len() as u32;
    let edges = |at: u32, found: &mut Vec<words::Range>| {
        let Some(&state) = states.get(at as usize) else { return };
        for edge in program.byte_edges(state) {
            match program.actions[edge.action as usize] {
                Action::Close { .. } => found.push((edge.low, edge.high, end)),
                _ if place[edge.target as usize] != u32::MAX => {
                    found.push((edge.low, edge.high, place[edge.target as usize]));
                }
                _ => {}
            }
        }
    };
    let ends = |at: u32| states.get(at as usize).is_none_or(|&state| may_end(program, state));
    let begins = begins_of_values(program, memories, &place);
    let bare = if begins.is_empty() {
        None
    } else {
        let all = |at: u32, found: &mut Vec<words::Range>| match at == end + 1 {
            true => found.extend_from_slice(&begins),
            false => edges(at, found),
        };
        BareWords::new(states.len() + 2, |at| at != end + 1 && ends(at), all, end + 1, budget)?
    };
    let few = FewWords::new(states.len() + 1, ends, edges, MAX_WORDS);
    let mut found = Vec::new();
    for (at, &state) in (0u32..).zip(&states) {
        let (Guard::OpenKey { spec, .. } | Guard::Item { spec, .. }) = program.states[state as usize].guard
        else {
            continue;
        };
        let bare = bare.as_ref().filter(|_| is_json(memories, spec));
        let words = match bare.and_then(|bare| bare.words(at)) {
            Some(shared) => Some(shared.clone()),
            None => few.words(at).map(|words| words.into_iter().map(Vec::into_boxed_slice).collect()),
        };
        if let Some(words) = words {
            if bare.is_none_or(|bare| bare.words(at).is_none()) {
                budget.spend_texts(&words)?;
            }
            found.push((spec, state, words));
        }
    }
    Ok(found)
}

/// Whether keys or items are compared as the JSON values that they spell.
fn is_json(memories: &[Memory], spec: u32) -> bool {
    match &memories[spec as usize] {
        Memory::Items(items) => items.json,
        Memory::Members(members) => members.json,
        Memory::Decimal(_) => false,
    }
}

/// The edges that begin what is compared as JSON values; `place` numbers the states within keys and items.
fn begins_of_values(program: &Program, memories: &[Memory], place: &[u32]) -> Vec<words::Range> {
    if !(0..memories.len() as u32).any(|spec| is_json(memories, spec)) {
        return Vec::new();
    }
    let mut found = Vec::new();
    for state in (0..program.states.len() as u32).filter(|&state| place[state as usize] == u32::MAX) {
        for edge in program.byte_edges(state) {
            match program.states[edge.target as usize].guard {
                Guard::Item { spec, .. } | Guard::OpenKey { spec, .. } if is_json(memories, spec) => {
                    found.push((edge.low, edge.high, place[edge.target as usize]));
                }
                _ => {}
            }
        }
    }
    found
}

/// An item may end in states from where its separator can begin, or the rule end.
fn may_end(program: &Program, state: StateId) -> bool {
    program.states[state as usize].accept
        || program.byte_edges(state).iter().any(|edge| {
            let closes = matches!(program.actions[edge.action as usize], Action::CloseItem { .. });
            closes && !is_within(program, edge.target)
        })
        || !program.call_edges(state).is_empty()
}
