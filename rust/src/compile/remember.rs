//! Automata of the nodes that remember: members, distinct items, decimals, indentation.
//!
//! The automaton reads; actions on its edges and guards on its states keep to what was read before. What they mean is in
//! `crate::memory`, and what a running text keeps in `crate::engine::data`.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use super::dfa::Dfa;
use super::draft::{Action, Draft, Ending, Guard, Label};
use super::ir::{Distinct, Members, Node};
use super::thompson::{Task, Thompson};
use crate::decimal::DecimalSet;
use crate::error::{Error, Result};
use crate::memory::{self, Memory, identity};

impl Thompson<'_, '_> {
    /// The draft of a node that remembers.
    pub(super) fn memory_draft(&mut self, node: u32) -> Result<Draft> {
        match self.ir().node(node) {
            Node::Members(members) => self.members(members),
            Node::Distinct(distinct) => self.distinct(distinct),
            Node::Decimal { fields, flags, max_fraction, max_digits } => {
                self.decimal(DecimalSet::read(fields, flags, max_fraction, max_digits)?)
            }
            Node::Indentation { lead, unit } => Ok(indentation(lead, unit)),
            other => unreachable!("{other:?} remembers nothing"),
        }
    }

    fn remember(&mut self, memory: Memory) -> u32 {
        self.memories.push(memory);
        self.memories.len() as u32 - 1
    }

    fn members(&mut self, members: Members) -> Result<Draft> {
        let keys = members.declared().map(|(key, ..)| self.key(key)).collect::<Result<Vec<_>>>()?;
        let open = members.open().map(|(key, _)| self.dfa(key)).collect::<Result<Vec<_>>>()?;
        let names: FxHashMap<Box<[u8]>, u32> =
            keys.iter().map(|key| identity(members.json, &key.word())).zip(0..).collect();
        let words_of = |dfa: &Dfa| {
            let mut words = few_words(members.json, std::slice::from_ref(dfa))?;
            words.retain(|word| !names.contains_key(word));
            Some(words)
        };
        let open_languages = open.iter().map(words_of).collect();
        let spec = self.remember(Memory::Members(memory::Members {
            ordered: members.ordered,
            min: members.min,
            max: members.max,
            json: members.json,
            required: members.declared().map(|member| member.2).collect(),
            names,
            open_languages,
            ..Default::default()
        }));
        let mut draft = new_draft(Ending::Members { spec });
        draft.may_be_empty = Some(members.nullable());
        let (head, after) = (draft.state(), draft.state());
        draft.epsilons.push((draft.start, head));
        draft.epsilons.push((after, draft.end));
        let tails = self.declared_keys(&mut draft, spec, &keys, head)?;
        for ((_, tail, _), from) in members.declared().zip(tails) {
            self.run(&mut draft, Task { node: tail, from, to: after })?;
        }
        for (number, ((_, tail), dfa)) in (0u32..).zip(members.open().zip(&open)) {
            let from = draft.state();
            self.open_key(&mut draft, Action::Close { spec, open: number }, dfa, head, from)?;
            self.run(&mut draft, Task { node: tail, from, to: after })?;
        }
        self.separator(
            &mut draft,
            members.separator,
            after,
            head,
            Guard::MoreMembers { spec },
            Action::None,
        )?;
        draft.guards.insert(head, Guard::MoreMembers { spec });
        Ok(draft)
    }

    /// A separator: all its states are guarded, so it is begun only where something may follow.
    fn separator(
        &mut self,
        draft: &mut Draft,
        node: u32,
        from: u32,
        to: u32,
        guard: Guard,
        action: Action,
    ) -> Result<()> {
        let (states, edges) = (draft.n_states, draft.edges.len());
        self.run(draft, Task { node, from, to })?;
        draft.guards.extend((states..draft.n_states).map(|state| (state, guard)));
        draft.edges[edges..].iter_mut().for_each(|edge| edge.3 = action);
        Ok(())
    }

    fn key(&mut self, node: u32) -> Result<Key> {
        match self.ir().node(node) {
            Node::Literal(text) => Ok(Key::Literal(text.into())),
            _ => Ok(Key::Language(self.dfa(node)?)),
        }
    }

    /// The keys of all declared members side by side; returns where each one's tail begins.
    ///
    /// A state is the set of keys that are still possible, so keys with a common beginning share it.
    fn declared_keys(&mut self, draft: &mut Draft, spec: u32, keys: &[Key], head: u32) -> Result<Vec<u32>> {
        let tails: Vec<u32> = keys.iter().map(|_| draft.state()).collect();
        let start: Vec<(u32, u32)> = (0..keys.len() as u32).map(|key| (key, 0)).collect();
        let mut ids = FxHashMap::from_iter([(start.clone(), head)]);
        let mut open = vec![(start, head)];
        while let Some((set, from)) = open.pop() {
            self.spend_states(1 + set.len() as u64 / 16)?;
            let mut next: BTreeMap<u8, Vec<(u32, u32)>> = BTreeMap::new();
            for &(key, state) in &set {
                keys[key as usize].steps(state, |byte, to| next.entry(byte).or_default().push((key, to)));
            }
            for (byte, targets) in next {
                let ended = targets.iter().find(|&&(key, state)| keys[key as usize].ends(state));
                if let Some(&(member, _)) = ended {
                    if targets.len() > 1 {
                        return Err(overlap());
                    }
                    let action = Action::Declare { spec, member };
                    draft.edges.push((from, Label::Bytes(byte, byte), tails[member as usize], action));
                    continue;
                }
                let to = *ids.entry(targets.clone()).or_insert_with(|| {
                    let state = draft.state();
                    draft.guards.insert(state, Guard::Key { spec });
                    open.push((targets, state));
                    state
                });
                draft.edge(from, Label::Bytes(byte, byte), to);
            }
        }
        Ok(tails)
    }

    fn open_key(&mut self, draft: &mut Draft, close: Action, dfa: &Dfa, head: u32, tail: u32) -> Result<()> {
        let Action::Close { spec, .. } = close else { unreachable!("an open key is closed") };
        self.spend_states(u64::from(dfa.n_states()))?;
        let base = draft.n_states;
        draft.n_states += dfa.n_states();
        draft.guards.extend((base..draft.n_states).map(|state| (state, Guard::OpenKey { spec })));
        for (state, low, high, target) in dfa.ranges() {
            if dfa.accepts(state) {
                return Err(overlap());
            }
            let (to, action) = match dfa.accepts(target) {
                true => (tail, close),
                false => (base + target, Action::Append),
            };
            draft.edges.push((base + state, Label::Bytes(low, high), to, action));
            if state == 0 {
                draft.edges.push((head, Label::Bytes(low, high), to, action));
            }
        }
        Ok(())
    }

    fn distinct(&mut self, distinct: Distinct) -> Result<Draft> {
        let items = distinct.prefix.iter().chain([&distinct.rest]);
        let items = items.map(|&item| self.dfa(item)).collect::<Result<Vec<_>>>()?;
        if distinct.json && items.iter().any(Dfa::only_zeros_repeat) {
            return Err(Error::grammar(
                "different items that are spelled in endless ways but may be few",
                "only zeros or white space can be repeated in them, so most spellings are the same value",
            ));
        }
        let finite: Vec<bool> = items.iter().map(|item| item.words(memory::MAX_WORDS).is_some()).collect();
        let rest = &items[items.len() - 1..];
        let places = items.len() - usize::from(rest[0].n_states() == 0);
        if places > 1 && finite[..items.len() - 1].contains(&true) {
            return Err(Error::grammar(
                "different items where one place of several has few values",
                "whether the places after it can still differ is a matching problem, which is not enforced",
            ));
        }
        let spec = self.remember(Memory::Items(memory::Items {
            min: distinct.min,
            max: distinct.max,
            json: distinct.json,
            finite,
            rest_words: few_words(distinct.json, rest),
            ..Default::default()
        }));
        let mut draft = new_draft(Ending::Items { spec });
        draft.may_be_empty = Some(distinct.min == 0);
        let heads: Vec<u32> = items.iter().map(|_| draft.state()).collect();
        draft.epsilons.push((draft.start, heads[0]));
        for (place, item) in (0u32..).zip(&items) {
            let after = draft.state();
            draft.epsilons.push((after, draft.end));
            self.item(&mut draft, item, Guard::Item { spec, place }, heads[place as usize], after)?;
            let next = heads[(place as usize + 1).min(heads.len() - 1)];
            let (guard, action) = (Guard::MoreItems { spec }, Action::CloseItem { spec });
            self.separator(&mut draft, distinct.separator, after, next, guard, action)?;
            if place > 0 || heads.len() == 1 {
                draft.guards.insert(heads[place as usize], guard);
            }
        }
        Ok(draft)
    }

    fn item(&mut self, draft: &mut Draft, dfa: &Dfa, guard: Guard, head: u32, after: u32) -> Result<()> {
        self.spend_states(u64::from(dfa.n_states()))?;
        let base = draft.n_states;
        draft.n_states += dfa.n_states();
        draft.guards.extend((base..draft.n_states).map(|state| (state, guard)));
        for (state, low, high, target) in dfa.ranges() {
            draft.edges.push((base + state, Label::Bytes(low, high), base + target, Action::Append));
            if state == 0 {
                draft.edges.push((head, Label::Bytes(low, high), base + target, Action::Append));
            }
        }
        let accepting = (0..dfa.n_states()).filter(|&state| dfa.accepts(state));
        draft.epsilons.extend(accepting.map(|state| (base + state, after)));
        Ok(())
    }

    fn decimal(&mut self, set: DecimalSet) -> Result<Draft> {
        let spec = self.remember(Memory::Decimal(set));
        let mut draft = new_draft(Ending::Decimal { spec });
        let body = draft.state();
        for (low, high) in [(b'-', b'-'), (b'.', b'.'), (b'0', b'9')] {
            draft.edges.push((draft.start, Label::Bytes(low, high), body, Action::Digit { spec }));
            draft.edges.push((body, Label::Bytes(low, high), body, Action::Digit { spec }));
        }
        draft.epsilons.push((body, draft.end));
        Ok(draft)
    }
}

fn indentation(lead: &[u8], unit: &[u8]) -> Draft {
    let mut draft = new_draft(Ending::Depth);
    let mut at = draft.start;
    for &byte in lead {
        let next = draft.state();
        draft.edge(at, Label::Bytes(byte, byte), next);
        at = next;
    }
    let head = at;
    draft.epsilons.push((head, draft.end));
    if unit.is_empty() {
        draft.ending = Ending::Free;
        return draft;
    }
    draft.guards.insert(head, Guard::AtMostDepth);
    for (i, &byte) in unit.iter().enumerate() {
        let last = i + 1 == unit.len();
        let next = if last { head } else { draft.state() };
        if !last {
            draft.guards.insert(next, Guard::BelowDepth);
        }
        let action = if last { Action::Count } else { Action::None };
        draft.edges.push((at, Label::Bytes(byte, byte), next, action));
        at = next;
    }
    draft
}

/// All texts of some languages by identity, if they are few.
fn few_words(json: bool, languages: &[Dfa]) -> Option<Vec<Box<[u8]>>> {
    let mut names = Vec::new();
    for dfa in languages {
        names.extend(dfa.words(memory::MAX_WORDS)?.iter().map(|word| identity(json, word)));
    }
    names.sort_unstable();
    names.dedup();
    Some(names)
}

fn new_draft(ending: Ending) -> Draft {
    let mut draft = Draft { ending, ..Default::default() };
    draft.start = draft.state();
    draft.end = draft.state();
    draft
}

fn overlap() -> Error {
    Error::grammar(
        "one key is the beginning of another",
        "then nothing tells where a key ends; a closing quote would",
    )
}

/// The spellings of one declared key.
enum Key {
    Literal(Box<[u8]>),
    Language(Dfa),
}

impl Key {
    fn ends(&self, state: u32) -> bool {
        match self {
            Key::Literal(text) => state as usize == text.len(),
            Key::Language(dfa) => dfa.accepts(state),
        }
    }

    fn steps(&self, state: u32, mut visit: impl FnMut(u8, u32)) {
        match self {
            Key::Literal(text) => {
                if let Some(&byte) = text.get(state as usize) {
                    visit(byte, state + 1);
                }
            }
            Key::Language(dfa) => (0..=255).for_each(|byte| {
                if let Some(to) = dfa.step(state, byte) {
                    visit(byte, to);
                }
            }),
        }
    }

    /// One of the spellings, a shortest.
    fn word(&self) -> Vec<u8> {
        match self {
            Key::Literal(text) => text.to_vec(),
            Key::Language(dfa) => dfa.shortest_word(),
        }
    }
}
