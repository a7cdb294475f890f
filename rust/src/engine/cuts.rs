//! Where does a walk over items without their frames end? At leaves, where the frame is left, and at cuts, where more must be known.

use super::walk::{ConfigWalker, Place};
use crate::trie::{Trie, Walker};

/// A rule that can be left at more nodes, as a word after each letter, is walked with what follows it.
const MAX_LEAVES: usize = 256;

/// Nodes of a trie where a rule is left.
#[derive(Debug, Default)]
pub struct Leaves {
    pub nodes: Vec<u32>,
    /// The nodes right below them, by their byte. What follows a rule reads few bytes, and what the trie knows of the others
    /// is far away.
    pub below: Vec<(u8, u32)>,
}

impl Leaves {
    pub fn new(nodes: Vec<u32>, trie: &Trie) -> Leaves {
        let mut below: Vec<(u8, u32)> = nodes.iter().flat_map(|&node| trie.children(node as usize)).collect();
        below.sort_unstable();
        Leaves { nodes, below }
    }

    pub fn heap_bytes(&self) -> usize {
        4 * self.nodes.len() + 8 * self.below.len()
    }
}

/// A node of a trie where more must be known.
#[derive(Debug)]
pub struct CutNode {
    pub node: u32,
    /// The bytes of the node's string.
    pub path: Box<[u8]>,
}

/// Where a walk over items without their frames ends.
#[derive(Default)]
pub struct Ends {
    pub cuts: Vec<CutNode>,
    pub leaves: Vec<u32>,
}

impl Ends {
    /// The walk was given up: the items are to be walked with what follows them.
    pub fn too_many_leaves(&self) -> bool {
        self.leaves.len() > MAX_LEAVES
    }
}

/// Walk the strings that begin with some bytes, but stop where frames that were cut off are left or more has to be known.
pub fn walk_to_cuts<'e>(
    trie: &Trie,
    bytes: impl IntoIterator<Item = u8>,
    walker: &mut ConfigWalker<'e, '_>,
    start: Place<'e>,
) -> Ends {
    let longest = trie.longest();
    let (stack, path) = (vec![start; longest + 1], vec![0; longest]);
    let mut walk = WalkToCuts { trie, walker, stack, path, ends: Ends::default() };
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
        // A string that nothing follows is right as it is: 1,000 of Llama 3's tokens are numbers of three digits.
        if std::mem::take(&mut self.walker.was_left) && (step.is_none() || self.trie.end(node) > node + 1) {
            self.ends.leaves.push(node as u32);
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

    fn below(&mut self, top: usize) {
        let (mut node, end) = (top + 1, self.trie.end(top));
        while node < end && !self.ends.too_many_leaves() {
            let read = self.enter(node, self.trie.depth(node), self.trie.byte(node));
            node = if read { node + 1 } else { self.trie.end(node) };
        }
    }
}
