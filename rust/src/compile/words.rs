//! Which states of an automaton have few texts before them, and what are they? Decided without spelling any text out.

use super::components::components;

/// (lowest byte, highest byte, next state).
pub type Range = (u8, u8, u32);

/// An automaton whose states all have a way to the end.
pub struct FewWords {
    edges: Vec<Vec<Range>>,
    accept: Vec<bool>,
    /// How many texts lead from each state to an end; `None`: too many, or without end.
    counts: Vec<Option<usize>>,
}

impl FewWords {
    pub fn new(
        n: usize,
        accept: impl Fn(u32) -> bool,
        edges: impl Fn(u32) -> Vec<Range>,
        most: usize,
    ) -> FewWords {
        let edges: Vec<Vec<Range>> = (0..n as u32).map(edges).collect();
        let accept: Vec<bool> = (0..n as u32).map(accept).collect();
        let component = components(n, |state| edges[state as usize].iter().map(|edge| edge.2));
        let mut size = vec![0u32; n];
        component.iter().for_each(|&id| size[id as usize] += 1);
        let mut order: Vec<u32> = (0..n as u32).collect();
        // Components are numbered with successors first.
        order.sort_by_key(|&state| component[state as usize]);
        let mut counts: Vec<Option<usize>> = vec![None; n];
        for state in order {
            let loops = edges[state as usize].iter().any(|edge| edge.2 == state);
            if size[component[state as usize] as usize] > 1 || loops {
                continue;
            }
            let mut count = Some(usize::from(accept[state as usize]));
            for &(low, high, to) in &edges[state as usize] {
                let words = counts[to as usize].map(|words| words * (usize::from(high - low) + 1));
                count = count.zip(words).map(|(a, b)| a + b).filter(|&total| total <= most);
            }
            counts[state as usize] = count;
        }
        FewWords { edges, accept, counts }
    }

    /// All texts from a state to an end, if they are few.
    pub fn words(&self, state: u32) -> Option<Vec<Vec<u8>>> {
        self.counts[state as usize]?;
        let mut words = Vec::new();
        let mut open = vec![(state, Vec::new())];
        while let Some((state, word)) = open.pop() {
            for &(low, high, to) in &self.edges[state as usize] {
                open.extend((low..=high).map(|byte| (to, [word.as_slice(), &[byte]].concat())));
            }
            if self.accept[state as usize] {
                words.push(word);
            }
        }
        Some(words)
    }
}
