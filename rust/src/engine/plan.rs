//! Which class of characters does a state loop on? Found by following its byte edges through whole characters.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::alike::are_alike;
use super::char_groups::{Group, groups};
use super::chars::{CharSet, contains, intersection, intersects, n_letters, n_others, normal};
use crate::program::{Guard, Program, StateId};

/// A class is worth a part from this many ASCII letters or this many other characters on: below that
/// few tokens are runs, and walking the trie is cheap.
const MIN_LETTERS: usize = 20;
const MIN_OTHERS: u32 = 1_000;
/// From so many letters on where all digits are in it: hexadecimal ids have 24 places or more, each a walk of 60 µs.
const MIN_HEX_LETTERS: usize = 6;
/// A state may go on through this many others before it loops or stops: keys of up to 255 characters are written out.
const MAX_CHAIN: usize = 512;

/// A class is closed over at most so many states: a search for a date has 12, and each is looked at once for each narrower class.
const MAX_CLOSED: usize = 48;

/// Past so many bytes all that was found out is forgotten: a chain of 512 states that read any letter takes 3 MB.
const MAX_BYTES: usize = 8 << 20;
/// About what an entry takes beside its ranges and states.
const ENTRY_BYTES: usize = 128;

/// How a state reads a class of characters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    pub class: CharSet,
    pub kind: Kind,
}

impl Plan {
    fn heap_bytes(&self) -> usize {
        let states = match &self.kind {
            Kind::Uniform(chain) => chain.states.len() + chain.alike.len() / 4,
            Kind::Loose => 0,
        };
        self.class.len() * 8 + states * (size_of::<StateId>() + size_of::<bool>())
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kind {
    /// On every character of the class, the state goes to the next of the chain and nowhere else.
    Uniform(Chain),
    /// The state stays where it is on every character of the class, and may go elsewhere too.
    Loose,
}

/// States after 0, 1, 2, ... characters of the class; `counts` tells whether the step to the next one counts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chain {
    pub states: Vec<StateId>,
    pub counts: Vec<bool>,
    /// At i: whether what begins with no character of the class leads to the same places from states i and i + 1.
    pub alike: Vec<bool>,
    /// The last state stays where it is; else it reads no character of the class.
    pub loops: bool,
}

/// What was found out about the states of a program.
#[derive(Debug, Default)]
pub struct Plans {
    plans: FxHashMap<StateId, Option<Arc<Plan>>>,
    closed_classes: FxHashMap<StateId, Option<CharSet>>,
    neighbours: FxHashMap<StateId, Option<u8>>,
    /// A chain of 255 states is looked at anew from each of them.
    groups: FxHashMap<StateId, Option<Arc<[Group]>>>,
    bytes: usize,
}

impl Plans {
    /// The plan of a state, if it has one.
    pub fn plan(&mut self, program: &Program, state: StateId) -> Option<Arc<Plan>> {
        if let Some(known) = self.plans.get(&state) {
            return known.clone();
        }
        self.make_room();
        let found = self.find_plan(program, state).map(Arc::new);
        self.bytes += ENTRY_BYTES + found.as_ref().map_or(0, |plan| plan.heap_bytes());
        self.plans.insert(state, found.clone());
        found
    }

    /// The class of characters that can be read on and on from a state, through whatever states: none of them is ever refused.
    ///
    /// Where a pattern is searched for, the states differ in what was found so far, and all of them read any text on.
    pub fn closed_class(&mut self, program: &Program, state: StateId) -> Option<CharSet> {
        if let Some(known) = self.closed_classes.get(&state) {
            return known.clone();
        }
        self.make_room();
        let found = self.find_closed_class(program, state);
        self.bytes += ENTRY_BYTES + found.as_ref().map_or(0, |class| class.len() * 8);
        self.closed_classes.insert(state, found.clone());
        found
    }

    /// A character of a large class that leads a state to its neighbour, which stays where it is on a larger class; see `neighbour`.
    pub fn neighbour(&mut self, program: &Program, state: StateId) -> Option<u8> {
        if let Some(&known) = self.neighbours.get(&state) {
            return known;
        }
        self.make_room();
        let found = self.find_neighbour(program, state);
        self.bytes += ENTRY_BYTES;
        self.neighbours.insert(state, found);
        found
    }

    /// Heap bytes held.
    pub fn heap_bytes(&self) -> usize {
        self.bytes
    }

    fn make_room(&mut self) {
        if self.bytes > MAX_BYTES {
            *self = Plans::default();
        }
    }

    fn groups(&mut self, program: &Program, state: StateId) -> Option<Arc<[Group]>> {
        if let Some(known) = self.groups.get(&state) {
            return known.clone();
        }
        let found: Option<Arc<[Group]>> = groups(program, state).map(Arc::from);
        let each = found.iter().flat_map(|groups| groups.iter());
        self.bytes += ENTRY_BYTES + each.map(|group| ENTRY_BYTES + group.class.len() * 8).sum::<usize>();
        self.groups.insert(state, found.clone());
        found
    }

    fn find_plan(&mut self, program: &Program, state: StateId) -> Option<Plan> {
        if !worth_a_look(program, state) {
            return None;
        }
        let groups = self.groups(program, state)?;
        let stays = groups.iter().find(|group| group.target == state && is_large(&group.class));
        let best = stays.or_else(|| groups.iter().max_by_key(|group| weight(&group.class)))?;
        if !is_large(&best.class) {
            return None;
        }
        if let Some(chain) = self.chain(program, state, &groups, best) {
            return Some(Plan { class: best.class.clone(), kind: Kind::Uniform(chain) });
        }
        let loose = best.target == state && !best.counts;
        loose.then(|| Plan { class: best.class.clone(), kind: Kind::Loose })
    }

    fn find_neighbour(&mut self, program: &Program, state: StateId) -> Option<u8> {
        if !worth_a_look(program, state) {
            return None;
        }
        let groups = self.groups(program, state)?;
        let best = groups.iter().max_by_key(|group| weight(&group.class))?;
        if best.target == state || best.counts || !is_large(&best.class) {
            return None;
        }
        let of_other = self.groups(program, best.target)?;
        let stays = of_other.iter().find(|group| group.target == best.target && !group.counts)?;
        let is_narrower = weight(&best.class) < weight(&stays.class) && contains(&stays.class, &best.class);
        let byte = (b'!'..=b'~').find(|&byte| contains(&best.class, &vec![(byte.into(), byte.into())]))?;
        is_narrower.then_some(byte)
    }

    fn chain(&mut self, program: &Program, state: StateId, groups: &[Group], first: &Group) -> Option<Chain> {
        let mut chain = Chain { states: vec![state], counts: Vec::new(), alike: Vec::new(), loops: false };
        let mut next = uniform(groups, &first.class)?;
        let mut was_exact = false;
        loop {
            let (target, counts) = next?;
            chain.counts.push(counts);
            // Where more than the class goes on along the chain, a rest can too.
            let is_exact = self.is_exact(program, chain.states[chain.states.len() - 1], target, &first.class);
            if let [.., before, last] = chain.states[..] {
                let alike = was_exact && is_exact;
                chain.alike.push(alike && are_alike(program, [before, last], [last, target]));
            }
            was_exact = is_exact;
            if chain.states.last() == Some(&target) {
                chain.loops = true;
                return Some(chain);
            }
            if chain.states.len() == MAX_CHAIN || chain.states.contains(&target) {
                return None;
            }
            chain.states.push(target);
            next = match uniform(&self.groups(program, target)?, &first.class) {
                Some(Some(step)) => Some(step),
                Some(None) => return Some(chain),
                None => return None,
            };
        }
    }

    /// Whether all characters that lead from a state to another are those of a class.
    fn is_exact(&mut self, program: &Program, state: StateId, target: StateId, class: &CharSet) -> bool {
        let Some(groups) = self.groups(program, state) else { return false };
        let mut leading = groups.iter().filter(|group| group.target == target);
        leading.next().is_some_and(|group| group.class == *class) && leading.next().is_none()
    }

    fn find_closed_class(&mut self, program: &Program, state: StateId) -> Option<CharSet> {
        // Where a rule counts, a count may let no further state in.
        let counts = !program.rule_of(state).thresholds.is_empty();
        if counts || !worth_a_look(program, state) {
            return None;
        }
        let mut class: CharSet = vec![(0, 0x10_FFFF)];
        loop {
            let before = class.clone();
            let mut states = vec![state];
            let mut at = 0;
            while at < states.len() {
                if states.len() > MAX_CLOSED || program.states[states[at] as usize].guard != Guard::None {
                    return None;
                }
                let on = self.leads_on(program, states[at])?;
                let read = normal(on.iter().flat_map(|(_, class)| class.iter().copied()).collect());
                class = intersection(&class, &read);
                for (target, on) in on {
                    if intersects(&on, &class) && !states.contains(&target) {
                        states.push(target);
                    }
                }
                at += 1;
            }
            if !is_large(&class) {
                return None;
            }
            // States that only characters outside the class led to do not count: once more without them.
            if class == before {
                return Some(class);
            }
        }
    }

    /// The characters that lead to a state which reads a large class too: after a backslash little can follow.
    fn leads_on(&mut self, program: &Program, state: StateId) -> Option<Vec<(StateId, CharSet)>> {
        let all = self.groups(program, state)?;
        let mut on = Vec::new();
        for group in all.iter().filter(|group| !group.counts) {
            let next = self.groups(program, group.target)?;
            let read = next.iter().filter(|next| !next.counts).flat_map(|next| next.class.iter().copied());
            if is_large(&normal(read.collect())) {
                on.push((group.target, group.class.clone()));
            }
        }
        Some(on)
    }
}

/// Where all characters of the class lead together: `Some(None)` if none of them leads anywhere.
fn uniform(groups: &[Group], class: &CharSet) -> Option<Option<(StateId, bool)>> {
    let mut meeting = groups.iter().filter(|group| intersects(&group.class, class));
    match (meeting.next(), meeting.next()) {
        (None, _) => Some(None),
        (Some(group), None) if group.clean && contains(&group.class, class) => {
            Some(Some((group.target, group.counts)))
        }
        _ => None,
    }
}

fn worth_a_look(program: &Program, state: StateId) -> bool {
    let edges = program.byte_edges(state);
    let letters = |low: u8, high: u8| edges.iter().any(|edge| edge.low <= low && high <= edge.high);
    letters(b'a', b'z') || letters(b'A', b'Z') || edges.iter().any(|edge| edge.high >= 0xC2) || {
        let read = |byte: &u8| edges.iter().any(|edge| edge.low <= *byte && *byte <= edge.high);
        (b'0'..=b'z').filter(read).count() >= MIN_LETTERS.min(10 + MIN_HEX_LETTERS)
    }
}

fn weight(class: &CharSet) -> u64 {
    let letters = n_letters(class) as u64;
    letters * 100_000 + u64::from(n_others(class))
}

fn is_large(class: &CharSet) -> bool {
    n_letters(class) >= MIN_LETTERS || n_others(class) >= MIN_OTHERS || {
        let digits = contains(class, &vec![(u32::from(b'0'), u32::from(b'9'))]);
        digits && n_letters(class) >= MIN_HEX_LETTERS
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compile::ir::Ir;
    use crate::compile::kept::Kept;
    use crate::compile::{CompileLimits, compile};
    use crate::program::RuleNames;

    /// Of the first state of a rule that reads a character of a class, and then any of another; or a word.
    fn neighbour(first: [char; 2], then: [char; 2], word: &str) -> Option<u8> {
        let bounds = first.into_iter().chain(then).flat_map(|bound| u32::from(bound).to_le_bytes());
        let blob: Vec<u8> = bounds.chain(word.bytes()).collect();
        let records: [&[u32]; 6] = [
            &[3, 2, 0, 8],
            &[3, 2, 8, 8],
            &[6, 3, 1, 0, u32::MAX],
            &[4, 2, 0, 2],
            &[1, 2, 16, word.len() as u32],
            &[5, 2, 3, 4],
        ];
        let words = records.concat();
        let ir = Ir::read(&words, &blob, vec![5], RuleNames::new(|_| "root".into()), 0).expect("a record");
        let program = compile(&ir, CompileLimits::default(), &Kept::default()).expect("a format");
        Plans::default().neighbour(&program, Program::START)
    }

    #[test]
    fn a_neighbour_stays_on_a_larger_class() {
        assert_eq!(neighbour(['b', 'z'], ['a', 'z'], "an"), Some(b'b'));
        // The same class: that is a plan. None that contains it. A class that few tokens begin with.
        assert_eq!(neighbour(['b', 'z'], ['b', 'z'], "an"), None);
        assert_eq!(neighbour(['b', 'z'], ['a', 'y'], "an"), None);
        assert_eq!(neighbour(['b', 'c'], ['a', 'z'], "an"), None);
    }
}
