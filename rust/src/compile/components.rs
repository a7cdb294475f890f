//! Strongly connected components (Tarjan, 1972), without recursion.

/// The component of each vertex. Components are numbered in reverse topological order: an edge between two
/// components goes from the higher number to the lower.
pub fn components<I: Iterator<Item = u32>>(n: usize, successors: impl Fn(u32) -> I) -> Vec<u32> {
    let mut search =
        Search { index: vec![u32::MAX; n], low: vec![0; n], component: vec![u32::MAX; n], next: 0 };
    let (mut stack, mut calls) = (Vec::new(), Vec::new());
    let mut n_components = 0;
    for root in 0..n as u32 {
        if search.index[root as usize] != u32::MAX {
            continue;
        }
        search.open(root, &mut stack);
        calls.push((root, successors(root)));
        while let Some((vertex, rest)) = calls.last_mut() {
            let vertex = *vertex;
            match rest.next() {
                Some(to) if search.index[to as usize] == u32::MAX => {
                    search.open(to, &mut stack);
                    calls.push((to, successors(to)));
                }
                Some(to) => search.see(vertex, to),
                None => {
                    calls.pop();
                    n_components += search.close(vertex, n_components, &mut stack);
                    if let Some((parent, _)) = calls.last() {
                        search.see(*parent, vertex);
                    }
                }
            }
        }
    }
    search.component
}

struct Search {
    index: Vec<u32>,
    low: Vec<u32>,
    component: Vec<u32>,
    next: u32,
}

impl Search {
    fn open(&mut self, vertex: u32, stack: &mut Vec<u32>) {
        self.index[vertex as usize] = self.next;
        self.low[vertex as usize] = self.next;
        self.next += 1;
        stack.push(vertex);
    }

    fn see(&mut self, from: u32, to: u32) {
        if self.component[to as usize] == u32::MAX {
            self.low[from as usize] = self.low[from as usize].min(self.low[to as usize]);
        }
    }

    /// Returns how many components were completed: one or none.
    fn close(&mut self, vertex: u32, number: u32, stack: &mut Vec<u32>) -> u32 {
        if self.low[vertex as usize] != self.index[vertex as usize] {
            return 0;
        }
        loop {
            let member = stack.pop().expect("the vertex is on the stack");
            self.component[member as usize] = number;
            if member == vertex {
                return 1;
            }
        }
    }
}
