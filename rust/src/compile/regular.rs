//! Parts with `&` and `~`, and whatever else must be deterministic: built as a DFA, then copied in.

use std::sync::Arc;

use super::dfa::{Dfa, determinise};
use super::draft::{Draft, Ending, Label};
use super::groups::Kind;
use super::ir::Node;
use super::kept::Built;
use super::shape::MAX_SMALL;
use super::thompson::{Task, Thompson};
use crate::error::{Error, Result};

/// `&` and `~` are built by recursion, which ends here.
const MAX_REGULAR_DEPTH: u32 = 100;

impl Thompson<'_, '_> {
    /// A part with `&` or `~`: built as one DFA, then copied in.
    pub(super) fn regular(&mut self, draft: &mut Draft, node: u32, from: u32, to: u32) -> Result<()> {
        if self.regular_depth == 0
            && let Some(vertex) = self.groups.find(node, Kind::Intersection)
            && !self.uncounted.contains(&vertex)
        {
            draft.edge(from, Label::Call(self.slots[vertex as usize]), to);
            return Ok(());
        }
        let dfa = match self.ir().node(node) {
            Node::Intersection(parts @ &[body]) if self.regular_depth == 0 => {
                if self.shapes().is_left_open(parts) {
                    return self.run(draft, Task { node: body, from, to });
                }
                match self.small_dfa(body)? {
                    Some(dfa) => dfa,
                    None => return self.copied(draft, Task { node: body, from, to }),
                }
            }
            _ => self.dfa(node)?,
        };
        let dfa = &dfa.value;
        self.budget.spend_states(u64::from(dfa.n_states()))?;
        let base = draft.n_states;
        draft.n_states += dfa.n_states();
        for (state, low, high, target) in dfa.ranges() {
            draft.edge(base + state, Label::Bytes(low, high), base + target);
        }
        if dfa.n_states() > 0 {
            draft.epsilons.push((from, base));
        }
        for state in (0..dfa.n_states()).filter(|&state| dfa.accepts(state)) {
            draft.epsilons.push((base + state, to));
        }
        Ok(())
    }

    /// The minimal DFA of a regular node, if finding it takes no more than `MAX_SMALL` states.
    fn small_dfa(&mut self, node: u32) -> Result<Option<Arc<Built<Dfa>>>> {
        let whole = self.budget.narrow_dfa_states(MAX_SMALL);
        let found = self.dfa(node);
        self.budget.widen_dfa_states(whole);
        match found {
            Err(Error::Limit { limit: "dfa_states", .. }) => Ok(None),
            found => found.map(Some),
        }
    }

    /// Build a regular node with everything copied in.
    fn copied(&mut self, draft: &mut Draft, task: Task) -> Result<()> {
        self.regular_depth += 1;
        let built = self.run(draft, task);
        self.regular_depth -= 1;
        built
    }

    /// The minimal DFA of a regular node. It costs what building it costs, however often it is asked for.
    pub(super) fn dfa(&mut self, node: u32) -> Result<Arc<Built<Dfa>>> {
        if let Some(dfa) = self.regular.get(&node)
            && self.budget.spend_again(dfa.spent)
        {
            return Ok(Arc::clone(dfa));
        }
        // What is inside another regular part is not kept on its own.
        let built = if self.regular_depth > 0 { self.built_dfa(node)? } else { self.kept_dfa(node)? };
        self.regular.insert(node, Arc::clone(&built));
        Ok(built)
    }

    fn kept_dfa(&mut self, node: u32) -> Result<Arc<Built<Dfa>>> {
        let mut key = std::mem::take(&mut self.key);
        key.clear();
        self.speller.spell_regular(node, &mut key);
        let known = self.kept.dfa(&key).filter(|known| self.budget.spend_again(known.spent));
        let dfa = match known {
            Some(known) => known,
            None => {
                let built = self.built_dfa(node)?;
                self.kept.add_dfa(&key, built)
            }
        };
        self.key = key;
        Ok(dfa)
    }

    fn built_dfa(&mut self, node: u32) -> Result<Arc<Built<Dfa>>> {
        self.regular_depth += 1;
        if self.regular_depth > MAX_REGULAR_DEPTH {
            let what = format!("& and ~ are nested more than {MAX_REGULAR_DEPTH} deep");
            return Err(Error::Limit { what, limit: "regular_depth", value: u64::from(MAX_REGULAR_DEPTH) });
        }
        let before = self.budget.spent();
        let dfa = match self.ir().node(node) {
            Node::Intersection(parts) => self.intersection(parts),
            Node::Complement(body) => self.dfa(body).and_then(|body| body.value.complement(self.budget)),
            _ => self.determinised(node),
        };
        self.regular_depth -= 1;
        Ok(Arc::new(Built::new(dfa?, self.budget.spent().minus(before))))
    }

    /// A part alone is copied: an intersection is a node of its own.
    pub(super) fn intersection(&mut self, parts: &[u32]) -> Result<Dfa> {
        let first = self.dfa(parts[0])?;
        let mut whole: Option<Dfa> = None;
        for &part in &parts[1..] {
            let other = self.dfa(part)?;
            let so_far = whole.as_ref().unwrap_or(&first.value);
            whole = Some(so_far.intersection(&other.value, self.budget)?);
        }
        Ok(whole.unwrap_or_else(|| first.value.copy()))
    }

    fn determinised(&mut self, node: u32) -> Result<Dfa> {
        let outer = std::mem::take(&mut self.suffixes);
        let mut draft = Draft::default();
        let rule = draft.rule(Ending::Free);
        let drafted = self.run(&mut draft, Task { node, from: rule.start, to: rule.end });
        self.suffixes = outer;
        drafted?;
        determinise(&draft, &rule, self.budget)
    }
}
