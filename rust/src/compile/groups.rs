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
use super::components::components;
use super::ir::Ir;
use super::shape::Shapes;
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

/// One group: its vertices, then those of other groups that they call. Calls in its automata are places in this list.
#[derive(Debug)]
pub struct GroupPlan {
    pub n_rules: u32,
    pub slots: Vec<u32>,
}

pub struct Groups {
    pub vertices: Vec<Vertex>,
    /// Callees first; the last one has the root, which is vertex 0.
    pub plans: Vec<GroupPlan>,
    keys: Vec<u8>,
    callees: Vec<u32>,
    by_place: FxHashMap<(u32, Kind), u32>,
}

impl Groups {
    pub fn new(ir: &Ir, shapes: &Shapes, budget: &mut Budget) -> Result<Groups> {
        let mut finder = Finder {
            speller: Speller::new(ir, shapes),
            groups: Groups {
                vertices: Vec::new(),
                plans: Vec::new(),
                keys: Vec::new(),
                callees: Vec::new(),
                by_place: FxHashMap::default(),
            },
        };
        finder.groups.vertex(ir.rules[ir.root as usize], Kind::Plain, Some(ir.root));
        let mut at = 0;
        while at < finder.groups.vertices.len() {
            finder.look_at(at as u32, budget)?;
            at += 1;
        }
        let mut groups = finder.groups;
        groups.plan();
        Ok(groups)
    }

    /// The vertex of a node, if it was found.
    pub fn find(&self, node: u32, kind: Kind) -> Option<u32> {
        self.by_place.get(&(node, kind)).copied()
    }

    /// The key of a group; `number` gives the number of a group built before.
    pub fn key(&self, group: u32, number: impl Fn(u32) -> u64, key: &mut Vec<u8>) {
        let plan = &self.plans[group as usize];
        key.clear();
        for &member in &plan.slots[..plan.n_rules as usize] {
            let vertex = &self.vertices[member as usize];
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
        let numbers = components(self.vertices.len(), |vertex| {
            self.callees_of(&self.vertices[vertex as usize]).iter().copied()
        });
        let n = numbers.iter().max().map_or(0, |&last| last as usize + 1);
        let mut plans: Vec<GroupPlan> = (0..n).map(|_| GroupPlan { n_rules: 0, slots: Vec::new() }).collect();
        for (vertex, &group) in (0u32..).zip(&numbers) {
            self.vertices[vertex as usize].group = group;
            plans[group as usize].slots.push(vertex);
        }
        let mut stamps = vec![u32::MAX; self.vertices.len()];
        for (group, plan) in (0u32..).zip(&mut plans) {
            // Whoever finds the group first, its order is the same.
            if plan.slots.len() > 1 {
                plan.slots.sort_by(|&a, &b| self.spelling(a).cmp(self.spelling(b)));
            }
            plan.n_rules = plan.slots.len() as u32;
            for place in 0..plan.n_rules {
                self.vertices[plan.slots[place as usize] as usize].place = place;
            }
            for place in 0..plan.n_rules as usize {
                for &callee in self.callees_of(&self.vertices[plan.slots[place] as usize]) {
                    let is_new = std::mem::replace(&mut stamps[callee as usize], group) != group;
                    if is_new && self.vertices[callee as usize].group != group {
                        plan.slots.push(callee);
                    }
                }
            }
        }
        self.plans = plans;
    }

    fn spelling(&self, vertex: u32) -> &[u8] {
        let key = &self.vertices[vertex as usize].key;
        &self.keys[key.start as usize..key.end as usize]
    }
}

struct Finder<'i, 'a> {
    speller: Speller<'i, 'a>,
    groups: Groups,
}

impl Finder<'_, '_> {
    /// Spell out a vertex, and find what it calls.
    fn look_at(&mut self, id: u32, budget: &mut Budget) -> Result<()> {
        let Vertex { node, kind, .. } = self.groups.vertices[id as usize];
        let groups = &mut self.groups;
        let key = groups.keys.len() as u32;
        let callees = groups.callees.len() as u32;
        let mut keys = std::mem::take(&mut groups.keys);
        let spelled = self.speller.spell(node, kind, &mut keys, budget, |node, kind, rule| {
            let callee = groups.vertex(node, kind, rule);
            groups.callees.push(callee);
        });
        groups.keys = keys;
        spelled?;
        let vertex = &mut groups.vertices[id as usize];
        vertex.key = key..groups.keys.len() as u32;
        vertex.callees = callees..groups.callees.len() as u32;
        Ok(())
    }
}
