//! Which states of an automaton have few texts before them, and what are they? Decided without spelling any text out.

use super::components::components;

/// (lowest byte, highest byte, next state).
pub type Range = (u8, u8, u32);

/// An automaton whose states all have a way to the end.
pub struct FewWords {
    edges: Vec<Range>,
    /// Where the edges of each state begin.
    starts: Vec<u32>,
    accept: Vec<bool>,
    /// How many texts lead from each state to an end; `None`: too many, or without end.
    counts: Vec<Option<usize>>,
}

impl FewWords {
    /// `edges` adds those of a state to a list.
    pub fn new(
        n: usize,
        accept: impl Fn(u32) -> bool,
        edges: impl Fn(u32, &mut Vec<Range>),
        most: usize,
    ) -> FewWords {
        let mut few = FewWords {
            edges: Vec::new(),
            starts: Vec::with_capacity(n + 1),
            accept: (0..n as u32).map(accept).collect(),
            counts: vec![None; n],
        };
        few.starts.push(0);
        for state in 0..n as u32 {
            edges(state, &mut few.edges);
            few.starts.push(few.edges.len() as u32);
        }
        few.count(most);
        few
    }

    fn count(&mut self, most: usize) {
        let n = self.accept.len();
        let component = components(n, |state, at| self.edges(state).get(at as usize).map(|edge| edge.2));
        let mut size = vec![0u32; n];
        component.iter().for_each(|&id| size[id as usize] += 1);
        let mut order: Vec<u32> = (0..n as u32).collect();
        // Components are numbered with successors first.
        order.sort_unstable_by_key(|&state| component[state as usize]);
        for state in order {
            let loops = self.edges(state).iter().any(|edge| edge.2 == state);
            if size[component[state as usize] as usize] > 1 || loops {
                continue;
            }
            let mut count = Some(usize::from(self.accept[state as usize]));
            for &(low, high, to) in self.edges(state) {
                let words = self.counts[to as usize].map(|words| words * (usize::from(high - low) + 1));
                count = count.zip(words).map(|(a, b)| a + b).filter(|&total| total <= most);
            }
            self.counts[state as usize] = count;
        }
    }

    fn edges(&self, state: u32) -> &[Range] {
        &self.edges[self.starts[state as usize] as usize..self.starts[state as usize + 1] as usize]
    }

    /// Whether few texts lead from a state to an end.
    pub fn has_few(&self, state: u32) -> bool {
        self.counts[state as usize].is_some()
    }

    /// All texts from a state to an end, if they are few.
    pub fn words(&self, state: u32) -> Option<Vec<Vec<u8>>> {
        self.counts[state as usize]?;
        let mut words = Vec::new();
        let mut open = vec![(state, Vec::new())];
        while let Some((state, word)) = open.pop() {
            for &(low, high, to) in self.edges(state) {
                open.extend((low..=high).map(|byte| (to, [word.as_slice(), &[byte]].concat())));
            }
            if self.accept[state as usize] {
                words.push(word);
            }
        }
        Some(words)
    }
}
