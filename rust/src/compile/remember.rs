//! Automata of the nodes that remember: distinct items, decimals, indentation; `members.rs` has those of members.
//!
//! The automaton reads; actions on its edges and guards on its states keep to what was read before. What they mean is in
//! `crate::memory`, and what a running text keeps in `crate::engine::data`.

use std::sync::Arc;

use super::bare_words::MOST;
use super::dfa::{Dfa, Repeats};
use super::draft::{Action, Draft, DraftRule, Ending, Guard, Label};
use super::ir::{Distinct, Node};
use super::kept::Built;
use super::thompson::{Task, Thompson};
use crate::decimal::DecimalSet;
use crate::error::{Error, Result};
use crate::identity::identity;
use crate::memory::{self, Memory};
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

    /// A separator: all its states are guarded, so it is begun only where something may follow.
    pub(super) fn separator(
        &mut self,
        draft: &mut Draft,
        task: Task,
        guard: Guard,
        action: u32,
    ) -> Result<()> {
        let (states, edges) = (draft.n_states, draft.edges.len());
        self.run(draft, task)?;
        draft.guards.extend((states..draft.n_states).map(|state| (state, guard)));
        draft.edges[edges..].iter_mut().for_each(|(_, edge)| edge.action = action);
        Ok(())
    }

    fn distinct(&mut self, draft: &mut Draft, distinct: Distinct) -> Result<DraftRule> {
        let items = distinct.prefix.iter().chain([&distinct.rest]);
        let items = items.map(|&item| self.dfa(item)).collect::<Result<Vec<_>>>()?;
        let few = items.iter().map(|item| item.value.few_words(distinct.json, self.budget));
        let few = few.collect::<Result<Vec<_>>>()?;
        let unclear = |(few, item): (&Option<_>, &Arc<Built<Dfa>>)| {
            distinct.json && few.is_none() && item.value.repeats() == Repeats::Zeros
        };
        if few.iter().zip(&items).any(unclear) {
            return Err(Error::grammar(
                "different items that are spelled in endless ways but may be few",
                "only zeros or white space can be repeated in them, so most spellings are the same value",
            ));
        }
        let finite: Vec<bool> = few.iter().map(Option::is_some).collect();
        let rest = &items[items.len() - 1].value;
        let rest_words = few.last().expect("there is a rest").as_deref();
        let many = distinct.min as usize > MOST && rest_words.is_none();
        if many && distinct.json && rest.repeats() == Repeats::Nothing {
            return Err(Error::grammar(
                format!("more than {MOST} different items at least, of a language without endless texts"),
                "whether it has so many values is not found out",
            ));
        }
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
            rest_words: rest_words.map(|words| identities(distinct.json, words)),
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

/// Texts by identity, ascending.
pub(super) fn identities(json: bool, words: &[Vec<u8>]) -> Vec<Box<[u8]>> {
    let mut names: Vec<_> = words.iter().map(|word| identity(json, word)).collect();
    names.sort_unstable();
    names.dedup();
    names
}
