//! Where do whole characters lead from a state? Its byte edges, followed through characters of several bytes.

use super::chars::{CharSet, normal};
use crate::program::{Action, ByteEdge, COUNT, Program, StateId};

/// Where the characters of a class lead from a state.
#[derive(Debug)]
pub struct Group {
    pub target: StateId,
    pub counts: bool,
    pub class: CharSet,
    /// No state within a character can do anything but go on.
    pub clean: bool,
}

/// Steps through characters of several bytes: any script takes 5,000, and every code point by itself 20,000. Where states lead
/// to many others at each byte the ways through a character have no bound.
const MAX_STEPS: u32 = 100_000;

/// All characters that the state reads, by where they lead; `None` if there are too many ways through them.
pub fn groups(program: &Program, state: StateId) -> Option<Vec<Group>> {
    let mut finder = Finder { program, found: Vec::new(), lowest: 0, left: MAX_STEPS };
    for edge in program.byte_edges(state) {
        let ascii_high = edge.high.min(0x7F);
        if edge.low <= ascii_high {
            finder.lowest = 0;
            finder.add(
                edge.target,
                edge.action == COUNT,
                edge_is_plain(program, edge),
                u32::from(edge.low),
                u32::from(ascii_high),
            );
        }
        for lead in edge.low.max(0xC2)..=edge.high.min(0xF4) {
            let (more, bits, lowest) = match lead {
                0xC2..=0xDF => (1, lead & 0x1F, 0x80),
                0xE0..=0xEF => (2, lead & 0x0F, 0x800),
                _ => (3, lead & 0x07, 0x1_0000),
            };
            finder.lowest = lowest;
            // A count on the first byte of a longer character is no use: the loop counts at its end.
            finder.follow(
                edge.target,
                u32::from(bits),
                more,
                edge.action != COUNT && edge_is_plain(program, edge),
            )?;
        }
    }
    finder.found.iter_mut().for_each(|group| {
        let ranges = std::mem::take(&mut group.class);
        group.class = normal(ranges);
    });
    Some(finder.found)
}

/// An edge that does no more than count, or record what is left open in a mask anyway.
fn edge_is_plain(program: &Program, edge: &ByteEdge) -> bool {
    matches!(program.actions[edge.action as usize], Action::None | Action::Count | Action::Append)
}

struct Finder<'p> {
    program: &'p Program,
    found: Vec<Group>,
    /// The lowest code point that needs as many bytes as the character being followed: an automaton over all bytes
    /// also reads overlong forms, which are no characters.
    lowest: u32,
    left: u32,
}

impl Finder<'_> {
    /// Follow the `more` continuation bytes that are left of a character; recursion ends after three, and all of it after
    /// `MAX_STEPS`.
    fn follow(&mut self, state: StateId, code: u32, more: u32, clean: bool) -> Option<()> {
        self.left = self.left.checked_sub(1)?;
        let info = &self.program.states[state as usize];
        let clean = clean && !info.accept && info.calls.is_empty() && info.tokens.is_empty();
        if let Some((target, counts)) = self.whole_block(state, more) {
            let (low, high) = (code << (6 * more), (code << (6 * more)) + (1 << (6 * more)) - 1);
            self.add(target, counts, clean, low, high);
            return Some(());
        }
        for edge in self.program.byte_edges(state) {
            let (low, high) = (edge.low.max(0x80), edge.high.min(0xBF));
            if low > high {
                continue;
            }
            let point = |byte: u8| code << 6 | u32::from(byte & 0x3F);
            if more == 1 {
                self.left = self.left.checked_sub(1)?;
                let clean = clean && edge_is_plain(self.program, edge);
                self.add(edge.target, edge.action == COUNT, clean, point(low), point(high));
            } else {
                let clean = clean && edge.action != COUNT && edge_is_plain(self.program, edge);
                for byte in low..=high {
                    self.follow(edge.target, point(byte), more - 1, clean)?;
                }
            }
        }
        Some(())
    }

    /// Where all characters of a block lead, if the states on the way read every continuation byte alike.
    fn whole_block(&self, mut state: StateId, more: u32) -> Option<(StateId, bool)> {
        let mut counts = false;
        for left in (1..=more).rev() {
            let info = &self.program.states[state as usize];
            let plain = !info.accept && info.calls.is_empty() && info.tokens.is_empty();
            match self.program.byte_edges(state) {
                [edge]
                    if edge.low == 0x80
                        && edge.high == 0xBF
                        && plain
                        && edge_is_plain(self.program, edge)
                        && (left == 1 || edge.action != COUNT) =>
                {
                    state = edge.target;
                    counts = edge.action == COUNT;
                }
                _ => return None,
            }
        }
        Some((state, counts))
    }

    fn add(&mut self, target: StateId, counts: bool, clean: bool, low: u32, high: u32) {
        let (low, high) = (low.max(self.lowest), high.min(0x10_FFFF));
        if low > high {
            return;
        }
        let group = match self.found.iter_mut().find(|group| group.target == target && group.counts == counts)
        {
            Some(group) => group,
            None => {
                self.found.push(Group { target, counts, class: Vec::new(), clean: true });
                self.found.last_mut().expect("just pushed")
            }
        };
        group.clean &= clean;
        group.class.push((low, high));
    }
}

#[cfg(test)]
mod tests {
    use super::groups;
    use crate::compile::ir::Ir;
    use crate::compile::kept::Kept;
    use crate::compile::{CompileLimits, compile};
    use crate::program::{Program, RuleNames};

    /// Where whole characters lead from the start, if `n` bytes may come, each of them any, and each followed by its own
    /// one or not.
    fn n_groups(n: u8) -> Option<usize> {
        let mut blob = vec![0xFF; 32];
        let mut words: Vec<u32> = vec![2, 2, 0, 32];
        let mut pairs = Vec::new();
        for byte in 0..n {
            let first = 1 + 4 * u32::from(byte);
            words.extend([1, 2, blob.len() as u32, 1, 6, 3, first, 0, 1]);
            words.extend([4, 2, 0, first + 1, 6, 3, first + 2, 0, 1]);
            pairs.push(first + 3);
            blob.push(b'a' + byte);
        }
        words.extend([4, u32::from(n)]);
        words.extend(&pairs);
        let root = 1 + 4 * u32::from(n);
        let names = RuleNames::new(|_| "root".into());
        let ir = Ir::read(&words, &blob, vec![root], names, 0).expect("a record");
        let program = compile(&ir, CompileLimits::default(), &Kept::default()).expect("a format");
        groups(&program, Program::START).map(|groups| groups.len())
    }

    #[test]
    fn ways_through_a_character_are_counted() {
        assert!(n_groups(1).is_some());
        assert!(n_groups(2).is_some());
        assert_eq!(n_groups(24), None);
    }
}
