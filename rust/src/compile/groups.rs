//! Which rules are built together, and in what order?
//!
//! A *vertex* is anything that becomes a rule of the program: a rule of the IR that is not copied in, a counted loop, a node
//! that remembers. Vertices that can reach one another form a group, and groups come callees first, so that all that a
//! group needs to know of others is known when it is built.
//!
//! The *key* of a group spells out all that its rules are made from (`spelling.rs`), other groups by their numbers. Groups with
//! equal keys become equal automata.

use std::ops::Range;

use rustc_hash::FxHashMap;

use super::Budget;
use super::components::Search;
use super::ir::Ir;
use super::rows::Rows;
use super::spelling::Speller;
use crate::error::Result;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    Plain,
    /// What follows a key: a rule of its own, because it is the same in many objects, and hangs on nothing that they keep.
    Tail,
    /// A counted loop over its node.
    Counted {
        min: u32,
        max: u32,
    },
    /// Its node remembers.
    Memory,
    /// An intersection with a counted part, which may turn out to be none.
    Intersection,
}

#[derive(Debug)]
pub struct Vertex {
    pub node: u32,
    pub kind: Kind,
    /// The rule of the IR whose name it has.
    pub rule: Option<u32>,
    /// Its group, and its place in it.
    pub group: u32,
    pub place: u32,
    key: Range<u32>,
    callees: Range<u32>,
}

/// One group, by its places in `Groups::slots`.
#[derive(Debug)]
struct GroupPlan {
    slots: Range<u32>,
    n_rules: u32,
}

#[derive(Debug, Default)]
pub struct Groups {
    pub vertices: Vec<Vertex>,
    /// Callees first; the last one has the root, which is vertex 0.
    plans: Vec<GroupPlan>,
    /// Those of all groups, one group after the other; `keys` and `callees` are those of all vertices.
    slots: Vec<u32>,
    keys: Vec<u8>,
    callees: Vec<u32>,
    by_place: FxHashMap<(u32, Kind), u32>,
    search: Search,
    /// The vertices of each group.
    rows: Rows<u32>,
    /// For each vertex, the last group that has it among its slots.
    stamps: Vec<u32>,
}

impl Groups {
    /// Find the groups of a format; what was known of another goes, its memory stays.
    pub fn read(&mut self, ir: &Ir, speller: &mut Speller, budget: &mut Budget) -> Result<()> {
        self.vertices.clear();
        self.keys.clear();
        self.callees.clear();
        self.by_place.clear();
        self.vertex(ir.rules[ir.root as usize], Kind::Plain, Some(ir.root));
        let mut at = 0;
        while at < self.vertices.len() {
            self.look_at(at as u32, speller, budget)?;
            at += 1;
        }
        self.plan();
        Ok(())
    }

    /// Whether there is little to give back.
    pub fn is_small(&self, most: usize) -> bool {
        self.vertices.capacity() <= most
            && self.callees.capacity() <= most
            && self.keys.capacity() <= 64 * most
    }

    /// How many groups there are.
    pub fn n_groups(&self) -> usize {
        self.plans.len()
    }

    /// The vertices of a group, then those of other groups that they call. Calls in its automata are places in this list.
    pub fn slots(&self, group: u32) -> &[u32] {
        let slots = &self.plans[group as usize].slots;
        &self.slots[slots.start as usize..slots.end as usize]
    }

    /// The vertices of a group.
    pub fn vertices_of(&self, group: u32) -> &[u32] {
        &self.slots(group)[..self.plans[group as usize].n_rules as usize]
    }

    /// The vertex of a node, if it was found.
    pub fn find(&self, node: u32, kind: Kind) -> Option<u32> {
        self.by_place.get(&(node, kind)).copied()
    }

    /// The key of a group; `number` gives the number of a group built before.
    pub fn key(&self, group: u32, number: impl Fn(u32) -> u64, key: &mut Vec<u8>) {
        key.clear();
        for &vertex in self.vertices_of(group) {
            let vertex = &self.vertices[vertex as usize];
            key.extend_from_slice(&self.keys[vertex.key.start as usize..vertex.key.end as usize]);
            for &callee in self.callees_of(vertex) {
                let callee = &self.vertices[callee as usize];
                let own = callee.group == group;
                key.extend_from_slice(&(if own { u64::MAX } else { number(callee.group) }).to_le_bytes());
                key.extend_from_slice(&callee.place.to_le_bytes());
            }
        }
    }

    fn callees_of(&self, vertex: &Vertex) -> &[u32] {
        &self.callees[vertex.callees.start as usize..vertex.callees.end as usize]
    }

    fn vertex(&mut self, node: u32, kind: Kind, rule: Option<u32>) -> u32 {
        let next = self.vertices.len() as u32;
        let id = *self.by_place.entry((node, kind)).or_insert(next);
        if id == next {
            self.vertices.push(Vertex { node, kind, rule, group: 0, place: 0, key: 0..0, callees: 0..0 });
        }
        id
    }

    fn plan(&mut self) {
        let (vertices, callees) = (&self.vertices, &self.callees);
        self.search.run(vertices.len(), |vertex, at| {
            let own = &vertices[vertex as usize].callees;
            callees[own.start as usize..own.end as usize].get(at as usize).copied()
        });
        let n = self.search.component.iter().max().map_or(0, |&last| last + 1);
        self.rows.sort(n as usize, self.search.component.iter().copied().zip(0..));
        for (vertex, &group) in self.vertices.iter_mut().zip(&self.search.component) {
            vertex.group = group;
        }
        self.stamps.clear();
        self.stamps.resize(self.vertices.len(), u32::MAX);
        self.plans.clear();
        self.slots.clear();
        (0..n).for_each(|group| self.plan_group(group));
    }

    fn plan_group(&mut self, group: u32) {
        let (start, vertices) = (self.slots.len(), self.rows.of(group));
        let end = start + vertices.len();
        self.slots.extend_from_slice(vertices);
        // Whoever finds the group first, its order is the same.
        if vertices.len() > 1 {
            let spelling = |vertex: u32| {
                let key = &self.vertices[vertex as usize].key;
                &self.keys[key.start as usize..key.end as usize]
            };
            self.slots[start..].sort_by(|&a, &b| spelling(a).cmp(spelling(b)));
        }
        for (place, &vertex) in (0..).zip(&self.slots[start..]) {
            self.vertices[vertex as usize].place = place;
        }
        let mut at = start;
        while at < end {
            let own = &self.vertices[self.slots[at] as usize].callees;
            for &callee in &self.callees[own.start as usize..own.end as usize] {
                let is_new = std::mem::replace(&mut self.stamps[callee as usize], group) != group;
                if is_new && self.vertices[callee as usize].group != group {
                    self.slots.push(callee);
                }
            }
            at += 1;
        }
        let slots = start as u32..self.slots.len() as u32;
        self.plans.push(GroupPlan { slots, n_rules: (end - start) as u32 });
    }

    /// Spell out a vertex, and find what it calls.
    fn look_at(&mut self, id: u32, speller: &mut Speller, budget: &mut Budget) -> Result<()> {
        let Vertex { node, kind, .. } = self.vertices[id as usize];
        let (key, callees) = (self.keys.len() as u32, self.callees.len() as u32);
        let mut keys = std::mem::take(&mut self.keys);
        let spelled = speller.spell(node, kind, &mut keys, budget, |node, kind, rule| {
            let callee = self.vertex(node, kind, rule);
            self.callees.push(callee);
        });
        self.keys = keys;
        spelled?;
        let vertex = &mut self.vertices[id as usize];
        vertex.key = key..self.keys.len() as u32;
        vertex.callees = callees..self.callees.len() as u32;
        Ok(())
    }
}
