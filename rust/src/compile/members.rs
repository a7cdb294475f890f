//! Automata of members: how are keys told apart, declared and open ones, and what is done where one ends?
//!
//! What the actions and guards mean is in `crate::memory`.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::dfa::Dfa;
use super::draft::{Action, Draft, DraftRule, Ending, Guard, Label};
use super::groups::Kind;
use super::ir::{Members, Node};
use super::kept::Built;
use super::remember::identities;
use super::thompson::{Task, Thompson};
use crate::error::{Error, Result};
use crate::identity::identity;
use crate::memory::{self, Memory};
use crate::names::Names;
use crate::program::NO_ACTION;

impl<'a> Thompson<'_, 'a> {
    pub(super) fn members(&mut self, draft: &mut Draft, members: Members) -> Result<DraftRule> {
        let keys = members.declared().map(|(key, ..)| self.key(key)).collect::<Result<Vec<_>>>()?;
        let open = members.open().map(|(key, ..)| self.dfa(key)).collect::<Result<Vec<_>>>()?;
        let names = if open.is_empty() { Names::default() } else { names(&keys, members.json) };
        let words_of = |dfa: &Arc<Built<Dfa>>| {
            let Some(words) = dfa.value.few_words(members.json, self.budget)? else { return Ok(None) };
            let mut words = identities(members.json, &words);
            words.retain(|word| !names.contains(word));
            Ok(Some(words))
        };
        let open_languages: Vec<Option<memory::Words>> = open.iter().map(words_of).collect::<Result<_>>()?;
        let meets: Vec<u8> = members.open().map(|member| member.2).collect();
        let few = |words: &Option<memory::Words>| words.as_ref().is_some_and(|words| !words.is_empty());
        if meets.iter().zip(&open_languages).any(|(&meets, words)| meets != 0 && few(words)) {
            return Err(Error::grammar(
                "a member must be there whose key is one of few that are not declared",
                "whether one of those keys is left is a matching problem, which is not enforced",
            ));
        }
        let spec = self.remember(Memory::Members(memory::Members {
            ordered: members.ordered,
            min: members.min,
            max: members.max,
            json: members.json,
            required: members.declared().map(|member| member.2).collect(),
            names,
            some_few: open.iter().any(|dfa| dfa.value.has_few_ends()),
            written: vec![false; keys.len()],
            open_languages,
            meets,
            ..Default::default()
        }));
        let mut rule = draft.rule(Ending::Members { spec });
        rule.may_be_empty = Some(members.nullable());
        let (head, after) = (draft.state(), draft.state());
        draft.epsilons.push((rule.start, head));
        draft.epsilons.push((after, rule.end));
        // Members with equal tails go on in one state: most objects have a few kinds of value.
        let mut room = std::mem::take(&mut self.keys);
        room.ends.clear();
        self.reserve_actions(keys.len());
        for (member, (_, tail, _)) in (0u32..).zip(members.declared()) {
            let from = *room.begun.entry(tail).or_insert_with(|| draft.state());
            room.ends.push((from, self.action(Action::Declare { spec, member })));
        }
        for (_, tail, _) in members.declared() {
            if let Some(from) = room.begun.remove(&tail) {
                draft.edge(from, Label::Call(self.slot(tail, Kind::Tail)), after);
            }
        }
        self.declared_keys(draft, spec, &keys, head, &mut room)?;
        self.keys = room;
        let append = self.action(Action::Append);
        for (number, ((_, tail, _), dfa)) in (0u32..).zip(members.open().zip(&open)) {
            let from = draft.state();
            let actions = (append, self.action(Action::Close { spec, open: number }));
            self.open_key(draft, (spec, number), actions, &dfa.value, head, from)?;
            draft.edge(from, Label::Call(self.slot(tail, Kind::Tail)), after);
        }
        let guard = Guard::MoreMembers { spec };
        self.separator(draft, Task { node: members.separator, from: after, to: head }, guard, NO_ACTION)?;
        draft.guards.push((head, guard));
        Ok(rule)
    }

    fn key(&mut self, node: u32) -> Result<Key<'a>> {
        match self.ir().node(node) {
            Node::Literal(text) => Ok(Key::Literal(text)),
            _ => Ok(Key::Language(self.dfa(node)?)),
        }
    }

    /// The keys of all declared members side by side, each up to where its tail begins.
    fn declared_keys(
        &mut self,
        draft: &mut Draft,
        spec: u32,
        keys: &[Key],
        head: u32,
        room: &mut KeyRoom,
    ) -> Result<()> {
        if keys.iter().all(|key| matches!(key, Key::Literal(_))) {
            self.literal_keys(draft, spec, keys, head, room)
        } else {
            self.all_keys(draft, spec, keys, head, &room.ends)
        }
    }

    /// Keys that are spelled in one way each: a tree. A node of it is a run of the sorted keys, which begin alike.
    fn literal_keys(
        &mut self,
        draft: &mut Draft,
        spec: u32,
        keys: &[Key],
        head: u32,
        room: &mut KeyRoom,
    ) -> Result<()> {
        let KeyRoom { ends, order, open, .. } = room;
        let text = |key: u32| keys[key as usize].text();
        order.clear();
        // A key without any byte is never read.
        order.extend((0..keys.len() as u32).filter(|&key| !text(key).is_empty()));
        order.sort_unstable_by(|&a, &b| text(a).cmp(text(b)));
        open.clear();
        open.push((0..order.len() as u32, 0, head));
        while let Some((run, depth, from)) = open.pop() {
            let run = run.start as usize..run.end as usize;
            if run.len() != 1 {
                self.spend_states(1 + run.len() as u64 / 16)?;
            }
            let mut start = run.start;
            // No key ends here: it would be the beginning of those that go on.
            for alike in order[run].chunk_by(|&a, &b| text(a)[depth] == text(b)[depth]) {
                let end = start + alike.len();
                let rest = &text(alike[0])[depth..];
                if let &[only] = alike {
                    self.rest_of_key(draft, rest, spec, from, ends[only as usize])?;
                } else if rest.len() == 1 {
                    return Err(overlap());
                } else {
                    let to = draft.state();
                    draft.guards.push((to, Guard::Key { spec }));
                    draft.edge(from, Label::Bytes(rest[0], rest[0]), to);
                    open.push((start as u32..end as u32, depth + 1, to));
                }
                start = end;
            }
        }
        Ok(())
    }

    /// Keys of which some have several spellings. A state is the set of keys that are still possible, so keys with a common
    /// beginning share it.
    fn all_keys(
        &mut self,
        draft: &mut Draft,
        spec: u32,
        keys: &[Key],
        head: u32,
        ends: &[(u32, u32)],
    ) -> Result<()> {
        let start: Vec<(u32, u32)> = (0..keys.len() as u32).map(|key| (key, 0)).collect();
        let mut walk = KeyWalk { spec, keys, ends, ids: FxHashMap::default(), open: vec![(start, head)] };
        let mut steps: Vec<(u8, (u32, u32))> = Vec::new();
        while let Some((set, from)) = walk.open.pop() {
            if let [only] = set[..]
                && let Some((text, end)) = walk.literal(only)
            {
                self.rest_of_key(draft, text, spec, from, end)?;
                continue;
            }
            self.spend_states(1 + set.len() as u64 / 16)?;
            steps.clear();
            for &(key, state) in &set {
                keys[key as usize].steps(state, |byte, to| steps.push((byte, (key, to))));
            }
            steps.sort_by_key(|step| step.0);
            for alike in steps.chunk_by(|a, b| a.0 == b.0) {
                self.read_key_byte(draft, &mut walk, from, alike)?;
            }
        }
        Ok(())
    }

    /// Read one byte of declared keys: it ends a key, or leads to those that are still possible after it.
    fn read_key_byte(
        &mut self,
        draft: &mut Draft,
        walk: &mut KeyWalk,
        from: u32,
        alike: &[(u8, (u32, u32))],
    ) -> Result<()> {
        let byte = alike[0].0;
        let read = Label::Bytes(byte, byte);
        let ended = alike.iter().find(|&&(_, (key, state))| walk.keys[key as usize].ends(state));
        if let Some(&(_, (member, _))) = ended {
            if alike.len() > 1 {
                return Err(overlap());
            }
            let (tail, declare) = walk.ends[member as usize];
            draft.act(from, read, tail, declare);
            return Ok(());
        }
        // A single literal is possible after one way only.
        if let &[(_, (member, state))] = alike
            && let Some((text, end)) = walk.literal((member, state - 1))
        {
            return self.rest_of_key(draft, text, walk.spec, from, end);
        }
        let to = walk.state(draft, alike.iter().map(|step| step.1).collect());
        draft.edge(from, read, to);
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
        (spec, open): (u32, u32),
        (append, close): (u32, u32),
        dfa: &Dfa,
        head: u32,
        tail: u32,
    ) -> Result<()> {
        self.spend_states(u64::from(dfa.n_states()))?;
        let base = draft.n_states;
        draft.n_states += dfa.n_states();
        draft.guards.extend((base..draft.n_states).map(|state| (state, Guard::OpenKey { spec, open })));
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
}

/// What the keys of an object are built in.
#[derive(Debug, Default)]
pub struct KeyRoom {
    /// The state before each tail.
    begun: FxHashMap<u32, u32>,
    /// For each member, the state of its tail and the action at the end of its key.
    ends: Vec<(u32, u32)>,
    /// Members by the spelling of their keys.
    order: Vec<u32>,
    /// Runs of that which begin alike, with how many bytes are read, and the state after those.
    open: Vec<(Range<u32>, usize, u32)>,
}

/// What the declared keys are, whatever their spelling.
fn names(keys: &[Key], json: bool) -> Names {
    let words = keys.iter().filter_map(|key| key.word());
    Names::new(words.map(|word| if json { Cow::Owned(identity(true, &word).into()) } else { word }).collect())
}

/// The walk along all declared keys at once.
struct KeyWalk<'k, 'a> {
    spec: u32,
    keys: &'k [Key<'a>],
    /// For each member, the state of its tail and the action at the end of its key.
    ends: &'k [(u32, u32)],
    /// The state of each set of keys, each with how far it was read.
    ids: FxHashMap<Vec<(u32, u32)>, u32>,
    open: Vec<(Vec<(u32, u32)>, u32)>,
}

impl<'k> KeyWalk<'k, '_> {
    /// What is left of a key that is spelled in one way, and its end.
    fn literal(&self, (member, state): (u32, u32)) -> Option<(&'k [u8], (u32, u32))> {
        match &self.keys[member as usize] {
            Key::Literal(text) => Some((&text[state as usize..], self.ends[member as usize])),
            Key::Language(_) => None,
        }
    }

    /// The state of a set of keys.
    fn state(&mut self, draft: &mut Draft, set: Vec<(u32, u32)>) -> u32 {
        if let Some(&known) = self.ids.get(&set) {
            return known;
        }
        let state = draft.state();
        draft.guards.push((state, Guard::Key { spec: self.spec }));
        self.open.push((set.clone(), state));
        self.ids.insert(set, state);
        state
    }
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
    /// Its only spelling, none of a language.
    fn text(&self) -> &[u8] {
        match self {
            Key::Literal(text) => text,
            Key::Language(_) => b"",
        }
    }

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

#[cfg(test)]
mod tests {
    use crate::compile::ir::{Ir, UNBOUNDED};
    use crate::compile::kept::Kept;
    use crate::compile::{CompileLimits, compile};
    use crate::program::RuleNames;

    /// Members with some keys and one value, shown, or the error; `as_language`: no key is known to have one spelling.
    fn shown(keys: &[&str], as_language: bool) -> Result<String, String> {
        let blob = [&keys.concat()[..], "v,"].concat();
        let at = blob.len() as u32;
        let mut words = vec![1, 2, at - 2, 1, 1, 2, at - 1, 1];
        let mut start = 0;
        for key in keys {
            words.extend([1, 2, start, key.len() as u32]);
            start += key.len() as u32;
        }
        let n = keys.len() as u32;
        if as_language {
            (2..2 + n).for_each(|key| words.extend([5, 1, key]));
        }
        let first = if as_language { 2 + n } else { 2 };
        words.extend([12, 6 + 3 * n, 1, 0, 1, UNBOUNDED, 0, n]);
        (first..first + n).for_each(|key| words.extend([key, 0, 0]));
        let names = RuleNames::new(|_| "root".into());
        let ir = Ir::read(&words, blob.as_bytes(), vec![first + n], names, 0).expect("a record");
        let program = compile(&ir, CompileLimits::default(), &Kept::default());
        program
            .map(|made| {
                format!("{:?} {:?} {:?} {:?}", made.states, made.byte_edges, made.actions, made.memories)
            })
            .map_err(|error| format!("{error:?}"))
    }

    #[test]
    fn the_tree_of_literals_is_the_automaton_of_their_languages() {
        let good: [&[&str]; 7] = [
            &["a."],
            &["a.", "b."],
            &["ab.", "a.", "abc.", "b."],
            &["b.", "", "ba.", "bab.", "a."],
            &["\u{e4}.", "\u{e9}.", "e."],
            &["", "x."],
            &["same.", "sane.", "name.", "nameless.", "n."],
        ];
        for keys in good {
            let tree = shown(keys, false);
            assert!(tree.is_ok(), "{keys:?}: {tree:?}");
            assert_eq!(tree, shown(keys, true), "{keys:?}");
        }
        for keys in
            [&["a", "ab"][..], &["ab", "a"], &["a.", "a."], &["x", "ab", "abcd"], &["", "a", "b", "a"]]
        {
            let refused = shown(keys, false);
            assert!(
                refused.as_ref().is_err_and(|error| error.contains("beginning")),
                "{keys:?}: {refused:?}"
            );
            assert_eq!(refused, shown(keys, true), "{keys:?}");
        }
    }
}
