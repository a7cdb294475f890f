//! What nodes that remember mean: which members, items and digits may follow what was read.

use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::compile::Budget;
use crate::compile::bare_words::{BareWords, SharedWords};
use crate::compile::words::{FewWords, Range};
use crate::decimal::DecimalSet;
use crate::error::Result;
use crate::program::{Action, ByteEdge, Guard, Program, StateId};

/// A language with more words than this is taken to have one that was not read yet.
pub const MAX_WORDS: usize = 4_096;

pub type Words = Vec<Box<[u8]>>;

#[derive(Debug, Clone)]
pub enum Memory {
    Members(Members),
    Items(Items),
    Decimal(DecimalSet),
}

impl Memory {
    /// The same for states that are numbered otherwise; `None`: the state is not there.
    pub fn moved(&self, number: impl Fn(StateId) -> Option<StateId>) -> Memory {
        // Each field by itself: a clone of all copies the tables that are made anew.
        match self {
            Memory::Members(members) => Memory::Members(Members {
                ordered: members.ordered,
                min: members.min,
                max: members.max,
                json: members.json,
                required: members.required.clone(),
                names: Arc::clone(&members.names),
                has_open: members.has_open,
                written: members.written.clone(),
                below: renumbered(&members.below, &number),
                open_languages: members.open_languages.clone(),
                open_words: members.open_words.clone(),
                words: renumbered(&members.words, &number),
                after: members.after.clone(),
                next_required: members.next_required.clone(),
            }),
            Memory::Items(items) => {
                Memory::Items(Items { words: renumbered(&items.words, &number), ..items.clone() })
            }
            Memory::Decimal(set) => Memory::Decimal(set.clone()),
        }
    }

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

fn renumbered<T: Clone>(
    map: &FxHashMap<StateId, T>,
    number: impl Fn(StateId) -> Option<StateId>,
) -> FxHashMap<StateId, T> {
    let mut made = FxHashMap::with_capacity_and_hasher(map.len(), Default::default());
    made.extend(map.iter().filter_map(|(&state, value)| Some((number(state)?, value.clone()))));
    made
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
#[derive(Debug, Clone, Default)]
pub struct Members {
    pub ordered: bool,
    pub min: u32,
    pub max: u32,
    pub json: bool,
    pub required: Vec<bool>,
    /// What each declared key is, whatever its spelling.
    pub names: Arc<FxHashMap<Box<[u8]>, u32>>,
    pub has_open: bool,
    /// Declared members that have a value at all.
    pub written: Vec<bool>,
    /// For each state within declared keys: the members below it, ascending.
    pub below: FxHashMap<StateId, Arc<[u32]>>,
    /// For each open language: its keys by identity, without the declared ones, if they are few.
    pub open_languages: Vec<Option<Words>>,
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
    /// Bit i: declared member i is there.
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
        let names: usize = self.names.keys().map(|name| name.len() + 32).sum();
        let below: usize = self.below.values().map(|members| size_of_val(&**members) + 32).sum();
        let open =
            self.open_languages.iter().flatten().chain(&self.open_words).map(|words| words_bytes(words));
        let words = shared_bytes(&self.words);
        let places = 10 * self.required.len();
        names + below + open.sum::<usize>() + words + places
    }

    fn missing(&self, written: Written) -> u32 {
        (0u32..).zip(&self.required).filter(|&(member, &required)| required && !written.has(member)).count()
            as u32
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
        self.after[0] - used
    }

    /// Whether `count` members, with `missing` required ones to come, leave room for enough and not too many:
    /// `more` declared ones can follow, and `left` open ones, `None`: any number.
    fn can_finish(&self, count: u32, missing: u32, left: Option<u32>, more: impl FnOnce() -> u32) -> bool {
        count <= self.max
            && missing <= self.max - count
            && (left.is_none() || count >= self.min || more() + left.unwrap_or(0) >= self.min - count)
    }

    /// Whether an open member may be the next one; `left` open keys were not written yet, `None`: any number.
    pub fn open_available(&self, written: Written, left: Option<u32>) -> bool {
        let missing = self.missing(written);
        self.has_open
            && left != Some(0)
            && (missing == 0 || !self.ordered)
            && self
                .can_finish(written.count + 1, missing, left.map(|left| left - 1), || self.unwritten(written))
    }

    pub fn more_available(&self, written: Written, left: Option<u32>) -> bool {
        let missing = self.missing(written);
        self.open_available(written, left)
            || (0..self.required.len() as u32).any(|member| self.is_available(written, member, missing, left))
    }

    pub fn may_end(&self, written: Written) -> bool {
        written.count >= self.min && self.missing(written) == 0
    }

    /// All keys of some open languages, if they are few.
    pub fn words_of(&self, open: &FxHashSet<u32>) -> Option<Words> {
        let mut all = Words::new();
        for (_, words) in (0u32..).zip(&self.open_languages).filter(|(number, _)| open.contains(number)) {
            all.extend(words.as_ref()?.iter().cloned());
        }
        Some(all)
    }

    fn settle(&mut self, written: Vec<bool>, open: &FxHashSet<u32>) {
        self.has_open = !open.is_empty();
        self.open_words = self.words_of(open);
        let n = written.len();
        self.after = vec![0; n + 1];
        self.next_required = vec![u32::MAX; n + 1];
        for member in (0..n).rev() {
            self.after[member] = self.after[member + 1] + u32::from(written[member]);
            let required = self.required[member];
            self.next_required[member] =
                if required { member as u32 } else { self.next_required[member + 1] };
        }
        self.written = written;
    }
}

/// Items, no two alike.
#[derive(Debug, Clone, Default)]
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

/// Find out, once the program is laid out, what its guards need to know of it.
pub fn settle(program: &mut Program, budget: &mut Budget) -> Result<()> {
    let mut written: FxHashMap<u32, FxHashSet<u32>> = FxHashMap::default();
    let mut opened: FxHashMap<u32, FxHashSet<u32>> = FxHashMap::default();
    for edge in &program.byte_edges {
        match program.actions[edge.action as usize] {
            Action::Declare { spec, member } => drop(written.entry(spec).or_default().insert(member)),
            Action::Close { spec, open } => drop(opened.entry(spec).or_default().insert(open)),
            _ => {}
        }
    }
    let below = declared_below(program);
    let words = few_words(program, budget)?;
    for (spec, memory) in (0u32..).zip(&mut program.memories) {
        if let Memory::Members(members) = memory {
            let found = written.remove(&spec).unwrap_or_default();
            let written = (0..members.required.len() as u32).map(|member| found.contains(&member)).collect();
            members.settle(written, &opened.remove(&spec).unwrap_or_default());
        }
    }
    let mut n_below = vec![0; program.memories.len()];
    below.iter().for_each(|state| n_below[state.0 as usize] += 1);
    for (memory, n) in program.memories.iter_mut().zip(n_below) {
        if let Memory::Members(members) = memory {
            members.below.reserve(n);
        }
    }
    for (spec, state, list) in below {
        if let Memory::Members(members) = &mut program.memories[spec as usize] {
            members.below.insert(state, list);
        }
    }
    for (spec, state, list) in words {
        match &mut program.memories[spec as usize] {
            Memory::Items(items) => drop(items.words.insert(state, list)),
            Memory::Members(members) => drop(members.words.insert(state, list)),
            Memory::Decimal(_) => {}
        }
    }
    Ok(())
}

fn is_within(program: &Program, state: StateId) -> bool {
    matches!(program.states[state as usize].guard, Guard::OpenKey { .. } | Guard::Item { .. })
}

/// For each state within declared keys: the spec, the state, and the members below it.
fn declared_below(program: &Program) -> Vec<(u32, StateId, Arc<[u32]>)> {
    let mut found = Vec::new();
    let mut below = Below { program, known: vec![None; program.states.len()] };
    // Last states first: then what is below most of them is known from the states that they lead to.
    for id in (0..program.states.len() as u32).rev() {
        if let Guard::Key { spec } = program.states[id as usize].guard {
            found.push((spec, id, below.find(id)));
        }
    }
    found
}

struct Below<'p> {
    program: &'p Program,
    known: Vec<Option<Arc<[u32]>>>,
}

impl Below<'_> {
    fn find(&mut self, state: StateId) -> Arc<[u32]> {
        let below = match self.program.byte_edges(state) {
            [edge] if self.member(edge).is_none() => self.known[edge.target as usize].clone(),
            edges => self.united(edges),
        };
        let below = below.unwrap_or_else(|| self.search(state));
        self.known[state as usize] = Some(Arc::clone(&below));
        below
    }

    fn member(&self, edge: &ByteEdge) -> Option<u32> {
        match self.program.actions[edge.action as usize] {
            Action::Declare { member, .. } => Some(member),
            _ => None,
        }
    }

    /// What is below some edges, if it is known where they lead.
    fn united(&self, edges: &[ByteEdge]) -> Option<Arc<[u32]>> {
        let mut found = Vec::new();
        for edge in edges {
            match self.member(edge) {
                Some(member) => found.push(member),
                None => found.extend_from_slice(self.known[edge.target as usize].as_ref()?),
            }
        }
        Some(sorted(found))
    }

    fn search(&self, state: StateId) -> Arc<[u32]> {
        let mut seen = FxHashSet::from_iter([state]);
        let mut open = vec![state];
        let mut found = Vec::new();
        while let Some(state) = open.pop() {
            for edge in self.program.byte_edges(state) {
                match self.member(edge) {
                    Some(member) => found.push(member),
                    None if seen.insert(edge.target) => open.push(edge.target),
                    None => {}
                }
            }
        }
        sorted(found)
    }
}

fn sorted(mut members: Vec<u32>) -> Arc<[u32]> {
    members.sort_unstable();
    members.dedup();
    members.into()
}

/// For each state within an open key or an item from where few texts lead to its end: the spec, the state, those texts.
fn few_words(program: &Program, budget: &mut Budget) -> Result<Vec<(u32, StateId, SharedWords)>> {
    let states: Vec<StateId> =
        (0..program.states.len() as u32).filter(|&state| is_within(program, state)).collect();
    if states.is_empty() {
        return Ok(Vec::new());
    }
    // The places of states among them, where they are any.
    let mut place = vec![u32::MAX; program.states.len()];
    (0..).zip(&states).for_each(|(at, &state)| place[state as usize] = at);
    // One more state, where closing bytes lead.
    let end = states.len() as u32;
    let edges = |at: u32, found: &mut Vec<Range>| {
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
    let begins = begins_of_values(program, &place);
    let bare = if begins.is_empty() {
        None
    } else {
        let all = |at: u32, found: &mut Vec<Range>| match at == end + 1 {
            true => found.extend_from_slice(&begins),
            false => edges(at, found),
        };
        BareWords::new(states.len() + 2, |at| at != end + 1 && ends(at), all, end + 1, budget)?
    };
    let few = FewWords::new(states.len() + 1, ends, edges, MAX_WORDS);
    let mut found = Vec::new();
    for (at, &state) in (0u32..).zip(&states) {
        let (Guard::OpenKey { spec } | Guard::Item { spec, .. }) = program.states[state as usize].guard
        else {
            continue;
        };
        let bare = bare.as_ref().filter(|_| is_json(program, spec));
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
fn is_json(program: &Program, spec: u32) -> bool {
    match &program.memories[spec as usize] {
        Memory::Items(items) => items.json,
        Memory::Members(members) => members.json,
        Memory::Decimal(_) => false,
    }
}

/// The edges that begin what is compared as JSON values; `place` numbers the states within keys and items.
fn begins_of_values(program: &Program, place: &[u32]) -> Vec<Range> {
    if !(0..program.memories.len() as u32).any(|spec| is_json(program, spec)) {
        return Vec::new();
    }
    let mut found = Vec::new();
    for state in (0..program.states.len() as u32).filter(|&state| place[state as usize] == u32::MAX) {
        for edge in program.byte_edges(state) {
            match program.states[edge.target as usize].guard {
                Guard::Item { spec, .. } | Guard::OpenKey { spec } if is_json(program, spec) => {
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
