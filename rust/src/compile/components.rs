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
