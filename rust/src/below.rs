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
    /// Find them for the states of a rule that has so many declared members.
    pub fn new(program: &Program, rule: &Rule, n_members: usize) -> Below {
        Search::new(program, rule, n_members).run()
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
    fn new(program: &'p Program, rule: &Rule, n_members: usize) -> Self {
        let states = rule.states();
        let spans = vec![0..0; states.len()];
        // Each member's end, and about as much for common beginnings.
        let members = Vec::with_capacity(2 * n_members);
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
        // Most states are in the middle of one key: they share the span of the next one.
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

    /// What is below a state, if that was found.
    fn known(&self, state: StateId) -> Option<Range<u32>> {
        Some(self.found.spans[(state - self.first) as usize].clone()).filter(|span| !span.is_empty())
    }

    /// The member whose key an edge ends.
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

    /// Add what any text from a state leads to: in keys with loops a state may come before those that it leads to.
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

#[cfg(test)]
mod tests {
    use super::first_of_each;
    use crate::compile::ir::{Ir, UNBOUNDED};
    use crate::compile::kept::Kept;
    use crate::compile::{CompileLimits, compile};
    use crate::memory::Memory;
    use crate::program::{Program, RuleNames};

    /// Members with the keys `<x*y>`, `<xxz>`, `<xz>` and `<b>`; all have the value `<`.
    fn program() -> Program {
        let words: Vec<u32> = [
            &[1, 2, 0, 1][..],
            &[1, 2, 1, 1],
            &[1, 2, 2, 2],
            &[6, 3, 1, 0, UNBOUNDED],
            &[4, 3, 0, 3, 2],
            &[1, 2, 4, 5],
            &[1, 2, 9, 4],
            &[1, 2, 13, 3],
            &[12, 18, 0, 0, 1, UNBOUNDED, 0, 4, 4, 0, 0, 5, 0, 0, 6, 0, 0, 7, 0, 0],
        ]
        .concat();
        let names = RuleNames::new(|_| "root".into());
        let ir = Ir::read(&words, b"<xy><xxz><xz><b>", vec![8], names, 0).expect("a record");
        compile(&ir, CompileLimits::default(), &Kept::default()).expect("a format")
    }

    #[test]
    fn below_the_beginning_of_a_key_are_the_members_that_begin_like_that() {
        let program = program();
        let (Some(rule), Some(Memory::Members(members))) = (
            program.rules.iter().find(|rule| rule.remembers()),
            program.memories.first().map(|memory| &**memory),
        ) else {
            panic!("no members");
        };
        for (read, expected) in [
            ("<", Some(&[0, 1, 2, 3][..])),
            ("<x", Some(&[0, 1, 2])),
            ("<xx", Some(&[0, 1])),
            ("<xxx", Some(&[0])),
            ("<xxxx", Some(&[0])),
            ("<y", Some(&[0])),
            ("<xxz", Some(&[1])),
            ("<xz", Some(&[2])),
            ("<b", Some(&[3])),
            ("", None),
        ] {
            let mut state = rule.start;
            for byte in read.bytes() {
                let edge =
                    program.byte_edges(state).iter().find(|edge| edge.low <= byte && byte <= edge.high);
                state = edge.expect("a way on").target;
            }
            assert_eq!(members.below.of(state - rule.start), expected, "{read}");
        }
        assert_eq!(members.below.of(u32::MAX), None);
    }

    #[test]
    fn equal_numbers_are_counted_once() {
        for (mut all, expected) in [(vec![], 0), (vec![3], 1), (vec![1, 1, 2, 5, 5, 5, 9], 4)] {
            let kept = first_of_each(&mut all);
            assert_eq!(kept, expected);
            assert!(all[..kept].is_sorted_by(|a, b| a < b));
        }
    }
}
