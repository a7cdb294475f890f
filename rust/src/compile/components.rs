//! Strongly connected components (Tarjan, 1972), without recursion.

/// The component of each vertex. Components are numbered in reverse topological order: an edge between two
/// components goes from the higher number to the lower.
///
/// `successor` gives the n-th vertex that a vertex leads to, if it has so many.
pub fn components(n: usize, successor: impl Fn(u32, u32) -> Option<u32>) -> Vec<u32> {
    let mut search = Search::default();
    search.run(n, successor);
    search.component
}

/// A search, with memory that is used again for the next one: a compile makes three, of some ten vertices each.
#[derive(Debug, Default)]
pub struct Search {
    /// What `run` finds.
    pub component: Vec<u32>,
    index: Vec<u32>,
    low: Vec<u32>,
    next: u32,
    stack: Vec<u32>,
    /// The vertices on the way, and how many successors of each were looked at.
    calls: Vec<(u32, u32)>,
}

impl Search {
    /// What `components` says, in `component`.
    pub fn run(&mut self, n: usize, successor: impl Fn(u32, u32) -> Option<u32>) {
        for numbers in [&mut self.component, &mut self.index, &mut self.low] {
            numbers.clear();
            numbers.resize(n, u32::MAX);
        }
        self.next = 0;
        let mut n_components = 0;
        for root in 0..n as u32 {
            if self.index[root as usize] != u32::MAX {
                continue;
            }
            self.open(root);
            while let Some((vertex, place)) = self.calls.last_mut() {
                let (vertex, to) = (*vertex, successor(*vertex, *place));
                *place += 1;
                match to {
                    Some(to) if self.index[to as usize] == u32::MAX => self.open(to),
                    Some(to) => self.see(vertex, to),
                    None => {
                        self.calls.pop();
                        n_components += self.close(vertex, n_components);
                        if let Some(&(parent, _)) = self.calls.last() {
                            self.see(parent, vertex);
                        }
                    }
                }
            }
        }
    }

    fn open(&mut self, vertex: u32) {
        self.index[vertex as usize] = self.next;
        self.low[vertex as usize] = self.next;
        self.next += 1;
        self.stack.push(vertex);
        self.calls.push((vertex, 0));
    }

    fn see(&mut self, from: u32, to: u32) {
        if self.component[to as usize] == u32::MAX {
            self.low[from as usize] = self.low[from as usize].min(self.low[to as usize]);
        }
    }

    /// Returns how many components were completed: one or none.
    fn close(&mut self, vertex: u32, number: u32) -> u32 {
        if self.low[vertex as usize] != self.index[vertex as usize] {
            return 0;
        }
        loop {
            let member = self.stack.pop().expect("the vertex is on the stack");
            self.component[member as usize] = number;
            if member == vertex {
                return 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Search, components};

    /// Whether there is a way between two vertices.
    fn leads(graph: &[Vec<u32>], from: u32, to: u32) -> bool {
        let (mut seen, mut open) = (vec![false; graph.len()], vec![from]);
        while let Some(vertex) = open.pop() {
            if !std::mem::replace(&mut seen[vertex as usize], true) {
                open.extend(&graph[vertex as usize]);
            }
        }
        seen[to as usize]
    }

    #[test]
    fn a_search_that_is_used_again_finds_who_reaches_whom() {
        let mut random = 1u64;
        let mut below = |n: usize| {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (random >> 33) as usize % n
        };
        let mut search = Search::default();
        for n in [5, 9, 0, 2, 12, 1, 7, 3, 12, 4] {
            let mut graph = vec![Vec::new(); n];
            (0..n + n / 2).filter(|_| n > 0).for_each(|_| graph[below(n)].push(below(n) as u32));
            let successor = |vertex: u32, at: u32| graph[vertex as usize].get(at as usize).copied();
            search.run(n, successor);
            assert_eq!(search.component, components(n, successor));
            for (a, b) in (0..n as u32).flat_map(|a| (0..n as u32).map(move |b| (a, b))) {
                let (one, other) = (search.component[a as usize], search.component[b as usize]);
                assert_eq!(one == other, leads(&graph, a, b) && leads(&graph, b, a), "{graph:?} {a} {b}");
                assert!(one >= other || !leads(&graph, a, b), "{graph:?} {a} {b}");
            }
        }
    }
}
