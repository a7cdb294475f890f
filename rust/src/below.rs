//! Which declared members can still be meant within a key?

use std::ops::Range;

use rustc_hash::FxHashSet;

use crate::program::{Action, ByteEdge, Guard, Program, Rule, StateId};

/// For each state within declared keys: the members below it.
#[derive(Debug, Default)]
pub struct Below {
    /// Where those of a state are in `members`; an empty range for a state that is not within declared keys.
    spans: Vec<Range<u32>>,
    members: Vec<u32>,
}

impl Below {
    /// Find them for the states of a rule.
    pub fn new(program: &Program, rule: &Rule) -> Below {
        Search::new(program, rule).run()
    }

    /// The members below a state, ascending.
    pub fn of(&self, state: StateId) -> Option<&[u32]> {
        let span = self.spans.get(state as usize).filter(|span| !span.is_empty())?;
        Some(&self.members[span.start as usize..span.end as usize])
    }

    pub fn heap_bytes(&self) -> usize {
        self.spans.len() * size_of::<Range<u32>>() + self.members.len() * size_of::<u32>()
    }
}

/// The search for the members below the states of one rule.
struct Search<'p> {
    program: &'p Program,
    first: StateId,
    found: Below,
}

impl<'p> Search<'p> {
    fn new(program: &'p Program, rule: &Rule) -> Self {
        let states = rule.states();
        let spans = vec![0..0; states.len()];
        // Each member's end, and about as much for common beginnings.
        let members = Vec::with_capacity(2 * program.actions.len());
        Search { program, first: states.start, found: Below { spans, members } }
    }

    fn run(mut self) -> Below {
        // Last states first: then what is below most of them is known from the states that they lead to.
        for place in (0..self.found.spans.len()).rev() {
            let state = self.first + place as u32;
            if let Guard::Key { .. } = self.program.states[state as usize].guard {
                self.found.spans[place] = self.span(state);
            }
        }
        self.found
    }

    fn span(&mut self, state: StateId) -> Range<u32> {
        let edges = self.program.byte_edges(state);
        if let [edge] = edges
            && self.member(edge).is_none()
            && let Some(span) = self.known(edge.target)
        {
            return span;
        }
        let start = self.found.members.len();
        if !self.unite(edges) {
            self.found.members.truncate(start);
            self.look_for(state);
        }
        let members = &mut self.found.members[start..];
        members.sort_unstable();
        let kept = first_of_each(members);
        self.found.members.truncate(start + kept);
        start as u32..self.found.members.len() as u32
    }

    fn known(&self, state: StateId) -> Option<Range<u32>> {
        Some(self.found.spans[(state - self.first) as usize].clone()).filter(|span| !span.is_empty())
    }

    fn member(&self, edge: &ByteEdge) -> Option<u32> {
        match self.program.actions[edge.action as usize] {
            Action::Declare { member, .. } => Some(member),
            _ => None,
        }
    }

    /// Add what is below some edges; false if it is not known where they lead.
    fn unite(&mut self, edges: &[ByteEdge]) -> bool {
        for edge in edges {
            if let Some(member) = self.member(edge) {
                self.found.members.push(member);
            } else if let Some(span) = self.known(edge.target) {
                self.found.members.extend_from_within(span.start as usize..span.end as usize);
            } else {
                return false;
            }
        }
        true
    }

    fn look_for(&mut self, state: StateId) {
        let mut seen = FxHashSet::from_iter([state]);
        let mut open = vec![state];
        while let Some(state) = open.pop() {
            for edge in self.program.byte_edges(state) {
                match self.member(edge) {
                    Some(member) => self.found.members.push(member),
                    None if seen.insert(edge.target) => open.push(edge.target),
                    None => {}
                }
            }
        }
    }
}

/// Put the first of each run of equal numbers in front; returns how many there are.
fn first_of_each(sorted: &mut [u32]) -> usize {
    let mut kept = 0;
    for at in 0..sorted.len() {
        if at == 0 || sorted[at] != sorted[at - 1] {
            sorted[kept] = sorted[at];
            kept += 1;
        }
    }
    kept
}
