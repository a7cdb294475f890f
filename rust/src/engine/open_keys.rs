//! Which places within open keys are the same in many formats?
//!
//! Any object that takes more than its declared members reads the same strings as keys, and after them a value of the same
//! kind. The rule of its members is its own; but what an open key can go on with, up to where its object goes on, is spelled
//! out here, and places that spell alike share what was found out about them.

use crate::program::{Action, ByteEdge, Guard, NO_ACTION, Program, State, StateId};

/// Any JSON string has 25 states; longer chains, for keys with a bound, are not spelled out.
const MAX_STATES: usize = 64;

/// All that a place within an open key can go on with: the states that it leads to, in the order of their finding, and what
/// follows the key. `None`: it hangs on more than that.
pub fn spelling(program: &Program, place: StateId) -> Option<Box<[u64]>> {
    let mut speller = Speller { program, states: vec![place], ends: Vec::new(), words: Vec::new() };
    let mut at = 0;
    while at < speller.states.len() {
        speller.state(speller.states[at], program.states[place as usize].guard)?;
        at += 1;
    }
    for end in std::mem::take(&mut speller.ends) {
        speller.end(end)?;
    }
    Some(speller.words.into())
}

struct Speller<'p> {
    program: &'p Program,
    states: Vec<StateId>,
    /// Where keys have ended.
    ends: Vec<StateId>,
    words: Vec<u64>,
}

impl Speller<'_> {
    fn state(&mut self, id: StateId, guard: Guard) -> Option<()> {
        let state = &self.program.states[id as usize];
        let plain = !state.accept && state.calls.is_empty() && state.tokens.is_empty() && is_uncounted(state);
        if !plain || state.guard != guard || self.program.has_few_ends(id) {
            return None;
        }
        let edges = self.program.byte_edges(id);
        self.words.push(edges.len() as u64);
        edges.iter().try_for_each(|edge| self.edge(edge))
    }

    fn edge(&mut self, edge: &ByteEdge) -> Option<()> {
        let (list, ends) = match self.program.actions[edge.action as usize] {
            Action::Append => (&mut self.states, 0),
            Action::Close { .. } => (&mut self.ends, 1),
            _ => return None,
        };
        let number = list.iter().position(|&known| known == edge.target).unwrap_or_else(|| {
            list.push(edge.target);
            list.len() - 1
        });
        let bounds = u64::from(edge.low) | u64::from(edge.high) << 8;
        self.words.push((number as u64) << 32 | bounds << 8 | ends);
        (self.states.len() <= MAX_STATES).then_some(())
    }

    /// After a key: calls of the rules of its value, and then its object goes on.
    fn end(&mut self, id: StateId) -> Option<()> {
        let state = &self.program.states[id as usize];
        let calls = self.program.call_edges(id);
        let plain = !state.accept && state.bytes.is_empty() && state.tokens.is_empty() && is_uncounted(state);
        if !plain || state.guard != Guard::None {
            return None;
        }
        self.words.push(calls.len() as u64);
        for call in calls {
            let back = &self.program.states[call.back as usize];
            // What comes then is asked of what the object keeps, so it is cut off.
            let asks = back.accept || matches!(back.guard, Guard::MoreMembers { .. });
            if !asks || call.tail || call.nests || call.action != NO_ACTION || !is_uncounted(back) {
                return None;
            }
            let origin = self.program.rule_of(call.start).origin;
            self.words.extend([origin.group, u64::from(origin.rule)]);
        }
        Some(())
    }
}

fn is_uncounted(state: &State) -> bool {
    state.takes(0)
}
