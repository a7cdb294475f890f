//! A regular language whose texts have so many characters: `pattern & char{min,max}` as one counted rule.
//!
//! Unrolling `char{0,10000}` next to a pattern makes 10,000 copies of its states. Here the pattern's DFA runs beside that
//! of one character, a counter ticks at each character's end, and each state knows which counts can still be finished.
//! That works where the lengths that lead from a state to the end are all from a shortest to a longest one; where they
//! are not (`(aa)*`), the caller falls back to copies.

use rustc_hash::FxHashMap;

use super::dfa::Dfa;
use super::draft::{Bounds, Draft, DraftRule, Ending, Label};
use super::ir::{Node, UNBOUNDED};
use super::thompson::Thompson;
use crate::error::Result;
use crate::program::{COUNT, NO_ACTION};

impl Thompson<'_, '_> {
    /// The counted rule of an intersection; `None` if the lengths do not allow it.
    pub(super) fn counted_rule(&mut self, draft: &mut Draft, node: u32) -> Result<Option<DraftRule>> {
        let Node::Intersection(parts) = self.ir().node(node) else { return Ok(None) };
        let Some((body, bounds, others)) = self.shapes().counted_parts(self.ir(), parts) else {
            return Ok(None);
        };
        let unit = self.dfa(body)?;
        let unit = &unit.value;
        if !is_prefix_free(unit) {
            return Ok(None);
        }
        let pattern = self.intersection(&others)?;
        let Some(product) = Product::new(&pattern, unit) else { return Ok(None) };
        self.spend_states(product.states.len() as u64)?;
        Ok(product.build(bounds, draft))
    }
}

fn is_prefix_free(unit: &Dfa) -> bool {
    unit.n_states() > 0 && !unit.accepts(0) && unit.ranges().all(|(state, ..)| !unit.accepts(state))
}

/// A pattern beside one character, over and over.
struct Product {
    /// (state of the pattern, state of the character); the latter is 0 between characters.
    states: Vec<(u32, u32)>,
    /// (from, low, high, to, whether a character ends).
    edges: Vec<(u32, u8, u8, u32, bool)>,
    accept: Vec<bool>,
}

/// More states than this are better left to the limits of copying.
const MAX_STATES: usize = 100_000;

impl Product {
    fn new(pattern: &Dfa, unit: &Dfa) -> Option<Product> {
        let mut product = Product { states: vec![(0, 0)], edges: Vec::new(), accept: Vec::new() };
        if pattern.n_states() == 0 {
            product.accept.push(false);
            return Some(product);
        }
        let mut ids = FxHashMap::from_iter([((0, 0), 0u32)]);
        let mut at = 0;
        while at < product.states.len() {
            let (state, within) = product.states[at];
            product.accept.push(within == 0 && pattern.accepts(state));
            let mut last: Option<(u8, u8, u32, bool)> = None;
            for byte in 0..=255u8 {
                let Some((next, to)) = pattern.step(state, byte).zip(unit.step(within, byte)) else {
                    continue;
                };
                let ends = unit.accepts(to);
                let pair = (next, if ends { 0 } else { to });
                let states = &mut product.states;
                let id = *ids.entry(pair).or_insert_with(|| {
                    states.push(pair);
                    states.len() as u32 - 1
                });
                match &mut last {
                    Some((_, high, known, known_ends))
                        if *high + 1 == byte && *known == id && *known_ends == ends =>
                    {
                        *high = byte;
                    }
                    _ => {
                        product
                            .edges
                            .extend(last.map(|(low, high, to, ends)| (at as u32, low, high, to, ends)));
                        last = Some((byte, byte, id, ends));
                    }
                }
            }
            product.edges.extend(last.map(|(low, high, to, ends)| (at as u32, low, high, to, ends)));
            if product.states.len() > MAX_STATES {
                return None;
            }
            at += 1;
        }
        Some(product)
    }

    /// Set up the rule. `None` if some state's lengths to the end have gaps.
    fn build(&self, bounds: Bounds, draft: &mut Draft) -> Option<DraftRule> {
        let lengths = Lengths::new(self, bounds.min > 0)?;
        let mut rule = draft.rule(Ending::Free);
        rule.bounds = Some(bounds);
        rule.may_be_empty = Some(self.accept[0] && bounds.min == 0);
        let base = draft.n_states;
        draft.n_states += self.states.len() as u32;
        let ranges: Vec<Option<(u32, u32)>> =
            (0..self.states.len() as u32).map(|state| lengths.counts(state, bounds)).collect();
        for (state, range) in (base..).zip(&ranges) {
            draft.ranges.extend(range.map(|counts| (state, counts)));
        }
        for &(from, low, high, to, ends) in &self.edges {
            if ranges[to as usize].is_none() {
                continue;
            }
            let action = if ends { COUNT } else { NO_ACTION };
            draft.act(base + from, Label::Bytes(low, high), base + to, action);
            if from == 0 && ranges[0].is_some_and(|(first, _)| first == 0) {
                draft.act(rule.start, Label::Bytes(low, high), base + to, action);
            }
        }
        let accepting = (0u32..).zip(&self.accept).filter(|(_, accepts)| **accepts);
        draft.epsilons.extend(accepting.map(|(state, _)| (base + state, rule.end)));
        Some(rule)
    }
}

/// For each state, the shortest and the longest number of characters to the end.
struct Lengths {
    shortest: Vec<u32>,
    /// `UNBOUNDED` where there is no longest.
    longest: Vec<u32>,
}

const NEVER: u32 = u32::MAX;

impl Lengths {
    fn new(product: &Product, has_minimum: bool) -> Option<Lengths> {
        let n = product.states.len();
        let mut into = vec![Vec::new(); n];
        let mut out = vec![Vec::new(); n];
        for &(from, _, _, to, ends) in &product.edges {
            into[to as usize].push((from, u32::from(ends)));
            out[from as usize].push((to, u32::from(ends)));
        }
        let accepting = || (0..n as u32).filter(|&state| product.accept[state as usize]);
        let shortest = distances(&into, accepting().map(|state| (state, 0)));
        if !has_minimum {
            // Nothing is too short: gaps do not matter.
            let longest = vec![UNBOUNDED; n];
            return Some(Lengths { shortest, longest });
        }
        // From a state that can stay where it is for one character, every length from the shortest on leads to the end.
        let stays = |state: u32| shortest[state as usize] != NEVER && returns_in_one(&out, state);
        let staying =
            (0..n as u32).filter(|&state| stays(state)).map(|state| (state, shortest[state as usize]));
        let through_stay = distances(&into, staying);
        let mut longest = vec![0; n];
        for component in by_component(&out, &shortest) {
            for &state in &component.states {
                let at = state as usize;
                if component.cyclic && (through_stay[at] != shortest[at]) {
                    return None;
                }
                longest[at] = if through_stay[at] == shortest[at] && shortest[at] != NEVER {
                    UNBOUNDED
                } else {
                    let further = out[at].iter().filter(|(to, _)| shortest[*to as usize] != NEVER);
                    let lengths: Vec<(u32, u32)> = further
                        .map(|&(to, step)| (shortest[to as usize] + step, add(longest[to as usize], step)))
                        .collect();
                    interval(lengths, product.accept[at])?
                };
            }
        }
        Some(Lengths { shortest, longest })
    }

    /// The counts with which a state can be entered: `None` if there are none.
    fn counts(&self, state: u32, bounds: Bounds) -> Option<(u32, u32)> {
        let (shortest, longest) = (self.shortest[state as usize], self.longest[state as usize]);
        if shortest == NEVER || (bounds.max != UNBOUNDED && shortest > bounds.max) {
            return None;
        }
        let from = if longest == UNBOUNDED { 0 } else { bounds.min.saturating_sub(longest) };
        let to = if bounds.max == UNBOUNDED { UNBOUNDED } else { bounds.max - shortest };
        (from <= to).then_some((from, to))
    }
}

/// Whether a state can come back to itself within one character, which may take several bytes.
fn returns_in_one(out: &[Vec<(u32, u32)>], state: u32) -> bool {
    let mut seen = rustc_hash::FxHashSet::default();
    let mut open = vec![state];
    while let Some(at) = open.pop() {
        for &(to, step) in &out[at as usize] {
            if step == 1 && to == state {
                return true;
            }
            if step == 0 && seen.insert(to) {
                open.push(to);
            }
        }
    }
    false
}

fn add(length: u32, step: u32) -> u32 {
    if length == UNBOUNDED { UNBOUNDED } else { length + step }
}

/// The longest of some lengths, if together they leave no gap.
fn interval(mut lengths: Vec<(u32, u32)>, ends_here: bool) -> Option<u32> {
    if ends_here {
        lengths.push((0, 0));
    }
    lengths.sort_unstable();
    let mut reached: Option<u32> = None;
    for (low, high) in lengths {
        match reached {
            Some(top) if top != UNBOUNDED && low > top + 1 => return None,
            Some(top) => reached = Some(top.max(high)),
            None => reached = Some(high),
        }
    }
    Some(reached.unwrap_or(0))
}

/// The least number of characters from each state to one of the sources, over edges of 0 or 1.
fn distances(into: &[Vec<(u32, u32)>], sources: impl Iterator<Item = (u32, u32)>) -> Vec<u32> {
    let mut best = vec![NEVER; into.len()];
    let mut open: std::collections::BinaryHeap<_> =
        sources.map(|(state, d)| std::cmp::Reverse((d, state))).collect();
    while let Some(std::cmp::Reverse((distance, state))) = open.pop() {
        if distance >= best[state as usize] {
            continue;
        }
        best[state as usize] = distance;
        open.extend(
            into[state as usize].iter().map(|&(from, step)| std::cmp::Reverse((distance + step, from))),
        );
    }
    best
}

struct Component {
    states: Vec<u32>,
    cyclic: bool,
}

/// Components of the states that have a way to the end, those nearest to the end first.
fn by_component(out: &[Vec<(u32, u32)>], shortest: &[u32]) -> Vec<Component> {
    let numbers =
        super::components::components(out.len(), |state, at| Some(out[state as usize].get(at as usize)?.0));
    let n = numbers.iter().max().map_or(0, |&last| last as usize + 1);
    let mut components: Vec<Component> =
        (0..n).map(|_| Component { states: Vec::new(), cyclic: false }).collect();
    for (state, &number) in (0u32..).zip(&numbers) {
        if shortest[state as usize] != NEVER {
            let component = &mut components[number as usize];
            component.states.push(state);
            component.cyclic |=
                component.states.len() > 1 || out[state as usize].iter().any(|edge| edge.0 == state);
        }
    }
    components
}

#[cfg(test)]
mod tests {
    use super::interval;

    #[test]
    fn intervals_join_without_gaps() {
        assert_eq!(interval(vec![(2, 3), (4, 9)], false), Some(9));
        assert_eq!(interval(vec![(2, 3), (5, 9)], false), None);
        assert_eq!(interval(vec![(1, 1)], true), Some(1));
        assert_eq!(interval(vec![(2, 2)], true), None);
        assert_eq!(interval(vec![], true), Some(0));
    }
}
