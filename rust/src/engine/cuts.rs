//! Where does a walk over items without their frames end? At leaves, where the frame is left, and at cuts, where more must be known.

use super::walk::{ConfigWalker, Place};
use crate::trie::{Trie, Walker};

/// A rule that can be left at more nodes is walked with what follows it. The name in an e-mail address can be left after each
/// letter, which are 14,000 nodes below a dot, and of what is below those only the `@` goes on.
const MAX_LEAVES: usize = 32_768;
/// Where there are more leaves than this, and what follows reads on to more than `MAX_BELOW` nodes below them, the rule is walked once
/// more with what follows: a node may lie below many leaves.
const MANY_LEAVES: usize = 256;
/// Each node as often as there are leaves above it.
pub const MAX_BELOW: usize = 4_096;

/// Nodes of a trie where a rule is left.
#[derive(Debug, Default)]
pub struct Leaves {
    /// The tokens on those where nothing goes on within the rule, so that it is not known yet whether they may end there.
    pub ends: Vec<u32>,
    /// The nodes right below leaves, by their byte, and where those of each byte end. What follows a rule reads few bytes, and
    /// what the trie knows of the others is far away.
    below: Vec<u32>,
    bytes: Vec<(u8, u32)>,
    /// Where they are many, those that something lies below and that lie below no other; else none. Not all `ends` are below them.
    pub tops: Vec<CutNode>,
}

impl Leaves {
    fn new(ends: Vec<u32>, leaves: &[u32], mut tops: Vec<CutNode>, trie: &Trie) -> Leaves {
        if leaves.len() <= MANY_LEAVES {
            tops.clear();
        }
        let mut below: Vec<(u8, u32)> =
            leaves.iter().flat_map(|&node| trie.children(node as usize)).collect();
        below.sort_unstable();
        let mut bytes: Vec<(u8, u32)> = Vec::new();
        for (end, &(byte, _)) in (1..).zip(&below) {
            match bytes.last_mut() {
                Some(last) if last.0 == byte => last.1 = end,
                _ => bytes.push((byte, end)),
            }
        }
        Leaves { ends, below: below.into_iter().map(|below| below.1).collect(), bytes, tops }
    }

    pub fn is_empty(&self) -> bool {
        self.ends.is_empty() && self.below.is_empty()
    }

    /// The nodes right below leaves whose byte is wanted, by byte.
    pub fn below(&self, is_wanted: impl Fn(u8) -> bool) -> Vec<&[u32]> {
        let mut wanted = Vec::new();
        let mut start = 0;
        for &(byte, end) in &self.bytes {
            if is_wanted(byte) {
                wanted.push(&self.below[start..end as usize]);
            }
            start = end as usize;
        }
        wanted
    }

    pub fn heap_bytes(&self) -> usize {
        4 * (self.ends.len() + self.below.len()) + 8 * self.bytes.len() + CutNode::heap_bytes(&self.tops)
    }
}

/// A node of a trie where more must be known.
#[derive(Debug)]
pub struct CutNode {
    pub node: u32,
    /// The bytes of the node's string.
    pub path: Box<[u8]>,
}

impl CutNode {
    pub fn heap_bytes(nodes: &[CutNode]) -> usize {
        nodes.iter().map(|cut| size_of::<CutNode>() + cut.path.len()).sum()
    }
}

/// Where a walk over items without their frames ends.
#[derive(Default)]
pub struct Ends {
    pub cuts: Vec<CutNode>,
    /// As `Leaves` has them.
    ends: Vec<u32>,
    leaves: Vec<u32>,
    tops: Vec<CutNode>,
}

impl Ends {
    /// The walk was given up: the items are to be walked with what follows them.
    pub fn too_many_leaves(&self) -> bool {
        self.leaves.len() > MAX_LEAVES
    }

    /// The cuts, and the leaves in order.
    pub fn split(self, trie: &Trie) -> (Vec<CutNode>, Leaves) {
        (self.cuts, Leaves::new(self.ends, &self.leaves, self.tops, trie))
    }
}

/// Walk the strings of at most `longest` bytes that begin with some bytes, but stop where frames that were cut off are left or
/// more has to be known.
pub fn walk_to_cuts<'e>(
    trie: &Trie,
    (bytes, longest): (impl IntoIterator<Item = u8>, usize),
    walker: &mut ConfigWalker<'e, '_>,
    start: Place<'e>,
) -> Ends {
    let room = trie.longest();
    let (stack, path) = (vec![start; room + 1], vec![0; room]);
    let mut walk = WalkToCuts { trie, walker, longest, stack, path, ends: Ends::default() };
    for first in bytes {
        // PERF: of 256 first bytes and of 150 second ones a few are read, and what the trie knows of the others is far away.
        if walk.walker.is_dead(&start, first) {
            continue;
        }
        let nodes = trie.subtree(first);
        if nodes.is_empty() || !walk.enter(nodes.start, 0, first) {
            continue;
        }
        let place = walk.stack[1];
        for &(second, node) in trie.seconds(first) {
            if walk.ends.too_many_leaves() {
                return walk.ends;
            }
            if !walk.walker.is_dead(&place, second) && walk.enter(node as usize, 1, second) {
                walk.below(node as usize);
            }
        }
    }
    walk.ends
}

struct WalkToCuts<'e, 'w, 'v> {
    trie: &'v Trie,
    walker: &'v mut ConfigWalker<'e, 'w>,
    longest: usize,
    stack: Vec<Place<'e>>,
    /// The bytes of the node that was entered last.
    path: Vec<u8>,
    ends: Ends,
}

impl WalkToCuts<'_, '_, '_> {
    /// Read the last byte of the string of `node`, which is `depth` bytes after the first; false: nothing under it is wanted.
    #[inline(always)]
    fn enter(&mut self, node: usize, depth: usize, byte: u8) -> bool {
        let step = self.walker.step(self.stack[depth], byte);
        if std::mem::take(&mut self.walker.was_left) {
            self.leave(node, depth, byte, step.is_some());
        }
        match step {
            Some(place) => {
                self.walker.reach(self.trie.id(node), place);
                (self.stack[depth + 1], self.path[depth]) = (place, byte);
                true
            }
            None => {
                if std::mem::take(&mut self.walker.was_cut) {
                    let path = [&self.path[..depth], &[byte]].concat().into();
                    self.ends.cuts.push(CutNode { node: node as u32, path });
                }
                false
            }
        }
    }

    /// Note a leaf. `goes_on`: within the rule, so that a string may end there whatever follows.
    fn leave(&mut self, node: usize, depth: usize, byte: u8, goes_on: bool) {
        if !goes_on {
            self.ends.ends.push(self.trie.id(node));
        }
        // 1,000 of Llama 3's tokens are numbers of three digits, and nothing follows them.
        if self.trie.end(node) == node + 1 {
            return;
        }
        self.ends.leaves.push(node as u32);
        let is_below = |top: &CutNode| node < self.trie.end(top.node as usize);
        if !self.ends.tops.last().is_some_and(is_below) {
            let path = [&self.path[..depth], &[byte]].concat().into();
            self.ends.tops.push(CutNode { node: node as u32, path });
        }
    }

    fn below(&mut self, top: usize) {
        let (mut node, end) = (top + 1, self.trie.end(top));
        while node < end && !self.ends.too_many_leaves() {
            let depth = self.trie.depth(node);
            let read = depth < self.longest && self.enter(node, depth, self.trie.byte(node));
            node = if read { node + 1 } else { self.trie.end(node) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_lies_below_leaves_is_found_by_its_byte() {
        let trie = Trie::build(&[b"ab", b"ac", b"bb", b"bca", b"d"]).unwrap();
        let node = |first: u8| trie.subtree(first).start;
        let leaves = Leaves::new(Vec::new(), &[node(b'a') as u32, node(b'b') as u32], Vec::new(), &trie);
        let below = |bytes: &[u8]| -> Vec<(u8, usize)> {
            let found = leaves.below(|byte| bytes.contains(&byte));
            found
                .concat()
                .iter()
                .map(|&node| (trie.byte(node as usize), trie.end(node as usize) - node as usize))
                .collect()
        };
        assert_eq!(below(b"b"), [(b'b', 1), (b'b', 1)]);
        assert_eq!(below(b"c"), [(b'c', 1), (b'c', 2)]);
        assert_eq!(below(b"bc").len(), 4);
        assert!(below(b"ad").is_empty() && !leaves.is_empty());
    }

    #[test]
    fn tops_are_kept_where_leaves_are_many() {
        let trie = Trie::build(&[b"ab"]).unwrap();
        let tops = || vec![CutNode { node: 0, path: Box::from(*b"a") }];
        let n_tops = |leaves: usize| Leaves::new(Vec::new(), &vec![0; leaves], tops(), &trie).tops.len();
        assert_eq!((n_tops(MANY_LEAVES), n_tops(MANY_LEAVES + 1)), (0, 1));
    }
}
