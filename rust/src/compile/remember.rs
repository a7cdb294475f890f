//! Automata of the nodes that remember: members, distinct items, decimals, indentation.
//!
//! The automaton reads; actions on its edges and guards on its states keep to what was read before. What they mean is in
//! `crate::memory`, and what a running text keeps in `crate::engine::data`.

use std::borrow::Cow;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::dfa::Dfa;
use super::draft::{Action, Draft, DraftRule, Ending, Guard, Label};
use super::ir::{Distinct, Members, Node};
use super::kept::Built;
use super::thompson::{Task, Thompson};
use crate::decimal::DecimalSet;
use crate::error::{Error, Result};
use crate::memory::{self, Memory, identity};
use crate::program::{COUNT, NO_ACTION};

impl<'a> Thompson<'_, 'a> {
    /// The rule of a node that remembers.
    pub(super) fn memory_rule(&mut self, draft: &mut Draft, node: u32) -> Result<DraftRule> {
        match self.ir().node(node) {
            Node::Members(members) => self.members(draft, members),
            Node::Distinct(distinct) => self.distinct(draft, distinct),
            Node::Decimal { fields, flags, max_fraction, max_digits } => {
                Ok(self.decimal(draft, DecimalSet::read(fields, flags, max_fraction, max_digits)?))
            }
            Node::Indentation { lead, unit } => Ok(indentation(draft, lead, unit)),
            other => unreachable!("{other:?} remembers nothing"),
        }
    }

    fn members(&mut self, draft: &mut Draft, members: Members) -> Result<DraftRule> {
        let keys = members.declared().map(|(key, ..)| self.key(key)).collect::<Result<Vec<_>>>()?;
        let open = members.open().map(|(key, _)| self.dfa(key)).collect::<Result<Vec<_>>>()?;
        let named = |(key, member): (&Key, u32)| Some((identity(members.json, &key.word()?), member));
        let names: FxHashMap<Box<[u8]>, u32> = keys.iter().zip(0..).filter_map(named).collect();
        let words_of = |dfa: &Arc<Built<Dfa>>| {
            let mut words = few_words(members.json, &dfa.value)?;
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
            names: Arc::new(names),
            open_languages,
            ..Default::default()
        }));
        let mut rule = draft.rule(Ending::Members { spec });
        rule.may_be_empty = Some(members.nullable());
        let (head, after) = (draft.state(), draft.state());
        draft.epsilons.push((rule.start, head));
        draft.epsilons.push((after, rule.end));
        // Members with equal tails go on in one state: most objects have a few kinds of value.
        let mut begun: FxHashMap<u32, u32> = FxHashMap::default();
        let tails: Vec<u32> = members
            .declared()
            .map(|(_, tail, _)| *begun.entry(tail).or_insert_with(|| draft.state()))
            .collect();
        for (_, tail, _) in members.declared() {
            if let Some(from) = begun.remove(&tail) {
                self.run(draft, Task { node: tail, from, to: after })?;
            }
        }
        self.declared_keys(draft, spec, &keys, head, &tails)?;
        let append = self.action(Action::Append);
        for (number, ((_, tail), dfa)) in (0u32..).zip(members.open().zip(&open)) {
            let from = draft.state();
            let actions = (append, self.action(Action::Close { spec, open: number }));
            self.open_key(draft, spec, actions, &dfa.value, head, from)?;
            self.run(draft, Task { node: tail, from, to: after })?;
        }
        let guard = Guard::MoreMembers { spec };
        self.separator(draft, Task { node: members.separator, from: after, to: head }, guard, NO_ACTION)?;
        draft.guards.push((head, guard));
        Ok(rule)
    }

    /// A separator: all its states are guarded, so it is begun only where something may follow.
    fn separator(&mut self, draft: &mut Draft, task: Task, guard: Guard, action: u32) -> Result<()> {
        let (states, edges) = (draft.n_states, draft.edges.len());
        self.run(draft, task)?;
        draft.guards.extend((states..draft.n_states).map(|state| (state, guard)));
        draft.edges[edges..].iter_mut().for_each(|(_, edge)| edge.action = action);
        Ok(())
    }

    fn key(&mut self, node: u32) -> Result<Key<'a>> {
        match self.ir().node(node) {
            Node::Literal(text) => Ok(Key::Literal(text)),
            _ => Ok(Key::Language(self.dfa(node)?)),
        }
    }

    /// The keys of all declared members side by side, each up to where its tail begins.
    ///
    /// A state is the set of keys that are still possible, so keys with a common beginning share it.
    fn declared_keys(
        &mut self,
        draft: &mut Draft,
        spec: u32,
        keys: &[Key],
        head: u32,
        tails: &[u32],
    ) -> Result<()> {
        let declare: Vec<u32> =
            (0..keys.len() as u32).map(|member| self.action(Action::Declare { spec, member })).collect();
        let start: Vec<(u32, u32)> = (0..keys.len() as u32).map(|key| (key, 0)).collect();
        let mut ids = FxHashMap::default();
        let mut open = vec![(start, head)];
        let mut targets: Vec<(u32, u32)> = Vec::new();
        let mut steps: Vec<(u8, (u32, u32))> = Vec::new();
        while let Some((set, from)) = open.pop() {
            if let [(member, state)] = set[..]
                && let Key::Literal(text) = &keys[member as usize]
            {
                let at = member as usize;
                self.rest_of_key(draft, &text[state as usize..], spec, from, (tails[at], declare[at]))?;
                continue;
            }
            self.spend_states(1 + set.len() as u64 / 16)?;
            steps.clear();
            for &(key, state) in &set {
                keys[key as usize].steps(state, |byte, to| steps.push((byte, (key, to))));
            }
            steps.sort_by_key(|step| step.0);
            for alike in steps.chunk_by(|a, b| a.0 == b.0) {
                let byte = alike[0].0;
                if let Some(&(_, (member, _))) =
                    alike.iter().find(|&&(_, (key, state))| keys[key as usize].ends(state))
                {
                    if alike.len() > 1 {
                        return Err(overlap());
                    }
                    let at = member as usize;
                    draft.act(from, Label::Bytes(byte, byte), tails[at], declare[at]);
                    continue;
                }
                // A single literal is possible after one way only.
                if let [(_, (member, state))] = alike
                    && let Key::Literal(text) = &keys[*member as usize]
                {
                    let at = *member as usize;
                    self.rest_of_key(
                        draft,
                        &text[*state as usize - 1..],
                        spec,
                        from,
                        (tails[at], declare[at]),
                    )?;
                    continue;
                }
                targets.clear();
                targets.extend(alike.iter().map(|step| step.1));
                let to = match ids.get(&targets) {
                    Some(&known) => known,
                    None => {
                        let state = draft.state();
                        draft.guards.push((state, Guard::Key { spec }));
                        open.push((targets.clone(), state));
                        ids.insert(targets.clone(), state);
                        state
                    }
                };
                draft.edge(from, Label::Bytes(byte, byte), to);
            }
        }
        Ok(())
    }

    /// What is left of the only key that is still possible.
    fn rest_of_key(
        &mut self,
        draft: &mut Draft,
        text: &[u8],
        spec: u32,
        mut from: u32,
        (tail, declare): (u32, u32),
    ) -> Result<()> {
        self.spend_states(text.len() as u64)?;
        for (at, &byte) in text.iter().enumerate() {
            if at + 1 == text.len() {
                draft.act(from, Label::Bytes(byte, byte), tail, declare);
                break;
            }
            let next = draft.state();
            draft.guards.push((next, Guard::Key { spec }));
            draft.edge(from, Label::Bytes(byte, byte), next);
            from = next;
        }
        Ok(())
    }

    fn open_key(
        &mut self,
        draft: &mut Draft,
        spec: u32,
        (append, close): (u32, u32),
        dfa: &Dfa,
        head: u32,
        tail: u32,
    ) -> Result<()> {
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
                false => (base + target, append),
            };
            draft.act(base + state, Label::Bytes(low, high), to, action);
            if state == 0 {
                draft.act(head, Label::Bytes(low, high), to, action);
            }
        }
        Ok(())
    }

    fn distinct(&mut self, draft: &mut Draft, distinct: Distinct) -> Result<DraftRule> {
        let items = distinct.prefix.iter().chain([&distinct.rest]);
        let items = items.map(|&item| self.dfa(item)).collect::<Result<Vec<_>>>()?;
        if distinct.json && items.iter().any(|item| item.value.only_zeros_repeat()) {
            return Err(Error::grammar(
                "different items that are spelled in endless ways but may be few",
                "only zeros or white space can be repeated in them, so most spellings are the same value",
            ));
        }
        let finite: Vec<bool> = items.iter().map(|item| item.value.words().is_some()).collect();
        let rest = &items[items.len() - 1].value;
        let places = items.len() - usize::from(rest.n_states() == 0);
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
        let mut rule = draft.rule(Ending::Items { spec });
        rule.may_be_empty = Some(distinct.min == 0);
        let heads: Vec<u32> = items.iter().map(|_| draft.state()).collect();
        draft.epsilons.push((rule.start, heads[0]));
        let guard = Guard::MoreItems { spec };
        let (append, close) = (self.action(Action::Append), self.action(Action::CloseItem { spec }));
        for (place, item) in (0u32..).zip(&items) {
            let (after, head) = (draft.state(), heads[place as usize]);
            draft.epsilons.push((after, rule.end));
            self.item(draft, &item.value, (Guard::Item { spec, place }, append), head, after)?;
            let next = heads[(place as usize + 1).min(heads.len() - 1)];
            self.separator(draft, Task { node: distinct.separator, from: after, to: next }, guard, close)?;
            if place > 0 || heads.len() == 1 {
                draft.guards.push((head, guard));
            }
        }
        Ok(rule)
    }

    fn item(
        &mut self,
        draft: &mut Draft,
        dfa: &Dfa,
        (guard, append): (Guard, u32),
        head: u32,
        after: u32,
    ) -> Result<()> {
        self.spend_states(u64::from(dfa.n_states()))?;
        let base = draft.n_states;
        draft.n_states += dfa.n_states();
        draft.guards.extend((base..draft.n_states).map(|state| (state, guard)));
        for (state, low, high, target) in dfa.ranges() {
            draft.act(base + state, Label::Bytes(low, high), base + target, append);
            if state == 0 {
                draft.act(head, Label::Bytes(low, high), base + target, append);
            }
        }
        let accepting = (0..dfa.n_states()).filter(|&state| dfa.accepts(state));
        draft.epsilons.extend(accepting.map(|state| (base + state, after)));
        Ok(())
    }

    fn decimal(&mut self, draft: &mut Draft, set: DecimalSet) -> DraftRule {
        let spec = self.remember(Memory::Decimal(set));
        let rule = draft.rule(Ending::Decimal { spec });
        let (body, digit) = (draft.state(), self.action(Action::Digit { spec }));
        for (low, high) in [(b'-', b'-'), (b'.', b'.'), (b'0', b'9')] {
            draft.act(rule.start, Label::Bytes(low, high), body, digit);
            draft.act(body, Label::Bytes(low, high), body, digit);
        }
        draft.epsilons.push((body, rule.end));
        rule
    }
}

fn indentation(draft: &mut Draft, lead: &[u8], unit: &[u8]) -> DraftRule {
    let mut rule = draft.rule(Ending::Depth);
    let mut at = rule.start;
    for &byte in lead {
        let next = draft.state();
        draft.edge(at, Label::Bytes(byte, byte), next);
        at = next;
    }
    let head = at;
    draft.epsilons.push((head, rule.end));
    if unit.is_empty() {
        rule.ending = Ending::Free;
        return rule;
    }
    draft.guards.push((head, Guard::AtMostDepth));
    for (i, &byte) in unit.iter().enumerate() {
        let last = i + 1 == unit.len();
        let next = if last { head } else { draft.state() };
        if !last {
            draft.guards.push((next, Guard::BelowDepth));
        }
        draft.act(at, Label::Bytes(byte, byte), next, if last { COUNT } else { NO_ACTION });
        at = next;
    }
    rule
}

/// All texts of a language by identity, if they are few.
fn few_words(json: bool, dfa: &Dfa) -> Option<Vec<Box<[u8]>>> {
    let mut names: Vec<_> = dfa.words()?.iter().map(|word| identity(json, word)).collect();
    names.sort_unstable();
    names.dedup();
    Some(names)
}

fn overlap() -> Error {
    Error::grammar(
        "one key is the beginning of another",
        "then nothing tells where a key ends; a closing quote would",
    )
}

/// The spellings of one declared key.
enum Key<'a> {
    Literal(&'a [u8]),
    Language(Arc<Built<Dfa>>),
}

impl Key<'_> {
    fn ends(&self, state: u32) -> bool {
        match self {
            Key::Literal(text) => state as usize == text.len(),
            Key::Language(dfa) => dfa.value.accepts(state),
        }
    }

    fn steps(&self, state: u32, mut visit: impl FnMut(u8, u32)) {
        match self {
            Key::Literal(text) => {
                if let Some(&byte) = text.get(state as usize) {
                    visit(byte, state + 1);
                }
            }
            // A member whose key has no text is never written.
            Key::Language(dfa) if dfa.value.n_states() == 0 => {}
            Key::Language(dfa) => (0..=255).for_each(|byte| {
                if let Some(to) = dfa.value.step(state, byte) {
                    visit(byte, to);
                }
            }),
        }
    }

    /// One of the spellings, a shortest, if there is any.
    fn word(&self) -> Option<Cow<'_, [u8]>> {
        match self {
            Key::Literal(text) => Some(Cow::Borrowed(text)),
            Key::Language(dfa) => dfa.value.shortest_word().map(Cow::Owned),
        }
    }
}
