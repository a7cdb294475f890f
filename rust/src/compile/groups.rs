//! Which rules are built together, in what order, and what makes two of them the same?
//!
//! A *vertex* is anything that becomes a rule of the program: a rule of the IR that is not copied in, a counted loop, a node
//! that remembers. Vertices that can reach one another form a group, and groups come callees first, so that all that a
//! group needs to know of others is known when it is built.
//!
//! The *key* of a group spells out all that its rules are made from, with other groups by their numbers. Groups with
//! equal keys become equal automata.

use std::ops::Range;

use rustc_hash::FxHashMap;

use super::Budget;
use super::components::components;
use super::draft::Bounds;
use super::ir::{Ir, Node};
use super::shape::Shapes;
use crate::error::Result;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    Plain,
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

/// Spells nodes out.
pub struct Speller<'i, 'a> {
    ir: &'i Ir<'a>,
    shapes: &'i Shapes,
    /// For each node, in a part with & or ~ and out of one: the last spelling that it was in, and its number there.
    seen: Vec<[(u32, u32); 2]>,
    spelling: u32,
    /// How many nodes it has so far.
    number: u32,
    open: Vec<(u32, bool)>,
}

/// What stands for something else than the node itself.
const AGAIN: u8 = 0x80;
const CALL: u8 = 0x81;
const NEST: u8 = 0x82;
const COPY: u8 = 0x83;
const REFUSED: u8 = 0x84;

impl<'i, 'a> Speller<'i, 'a> {
    pub fn new(ir: &'i Ir<'a>, shapes: &'i Shapes) -> Self {
        Speller {
            ir,
            shapes,
            seen: vec![[(0, 0); 2]; ir.n_nodes()],
            spelling: 0,
            number: 0,
            open: Vec::new(),
        }
    }

    /// Add the spelling of a vertex; `call` is told what it calls, in order.
    fn spell(
        &mut self,
        node: u32,
        kind: Kind,
        key: &mut Vec<u8>,
        budget: &mut Budget,
        mut call: impl FnMut(u32, Kind, Option<u32>),
    ) -> Result<()> {
        match kind {
            Kind::Plain => key.push(0),
            Kind::Counted { min, max } => {
                key.push(1);
                words(key, &[min, max]);
            }
            Kind::Memory => key.push(2),
            Kind::Intersection => key.push(3),
        }
        self.begin();
        match kind {
            Kind::Memory => self.content(node, false, key),
            Kind::Intersection => self.content(node, true, key),
            _ => self.open.push((node, false)),
        }
        while let Some(work) = self.next(key, &mut call) {
            budget.spend_visits(work)?;
        }
        Ok(())
    }

    /// Add the spelling of a node within a part with & or ~. It is no longer than what building the node costs.
    pub fn spell_regular(&mut self, node: u32, key: &mut Vec<u8>) {
        self.begin();
        self.open.push((node, true));
        while self.next(key, &mut |_, _, _| unreachable!("a regular part calls nothing")).is_some() {}
    }

    fn begin(&mut self) {
        self.spelling += 1;
        self.number = 0;
        self.open.clear();
    }

    /// Spell the next node out; returns what that took.
    fn next(&mut self, key: &mut Vec<u8>, call: &mut impl FnMut(u32, Kind, Option<u32>)) -> Option<u64> {
        let (node, regular) = self.open.pop()?;
        let seen = &mut self.seen[node as usize][usize::from(regular)];
        if seen.0 == self.spelling {
            key.push(AGAIN);
            words(key, &[seen.1]);
            return Some(1);
        }
        *seen = (self.spelling, self.number);
        self.number += 1;
        let before = key.len();
        self.node(node, regular, key, call);
        Some(1 + (key.len() - before) as u64 / 64)
    }

    /// dispatch: what is a rule of its own is called, all else spelled out.
    fn node(
        &mut self,
        id: u32,
        regular: bool,
        key: &mut Vec<u8>,
        call: &mut impl FnMut(u32, Kind, Option<u32>),
    ) {
        match self.ir.node(id) {
            Node::Reference(rule) if regular && self.shapes.recursive(rule) => key.push(REFUSED),
            Node::Reference(rule) if regular || self.shapes.inlined(rule) => {
                key.push(COPY);
                self.open.push((self.ir.rules[rule as usize], regular));
            }
            Node::Reference(rule) => {
                key.push(CALL);
                call(self.ir.rules[rule as usize], Kind::Plain, Some(rule));
            }
            Node::Members(_) | Node::Distinct(_) | Node::Decimal { .. } | Node::Indentation { .. } => {
                if regular {
                    return key.push(REFUSED);
                }
                key.push(CALL);
                call(id, Kind::Memory, None);
            }
            Node::Nested(_) if regular => key.push(REFUSED),
            Node::Nested(body) => {
                key.push(NEST);
                call(body, Kind::Plain, None);
            }
            Node::Repeat { body, min, max } if !regular => match self.shapes.counted(body, min, max) {
                Some(Bounds { min, max }) => {
                    key.push(CALL);
                    call(body, Kind::Counted { min, max }, None);
                }
                None => self.content(id, regular, key),
            },
            Node::Intersection(parts) if !regular && self.shapes.counted_parts(self.ir, parts).is_some() => {
                key.push(CALL);
                call(id, Kind::Intersection, None);
            }
            _ => self.content(id, regular, key),
        }
    }

    /// dispatch: one arm a kind of node.
    fn content(&mut self, node: u32, regular: bool, key: &mut Vec<u8>) {
        match self.ir.node(node) {
            Node::Empty => key.push(4),
            Node::Literal(text) => bytes(key, 5, text),
            Node::ByteClass(set) => bytes(key, 6, set),
            Node::Chars(pairs) => bytes(key, 7, pairs),
            Node::Literals { text, lengths } => {
                bytes(key, 8, text);
                bytes(key, 8, lengths);
            }
            Node::Sequence(parts) => self.children(key, 9, parts, regular),
            Node::Choice(parts) => self.children(key, 10, parts, regular),
            Node::Intersection(parts) => self.children(key, 11, parts, true),
            Node::Complement(body) => self.children(key, 12, &[body], true),
            Node::Repeat { body, min, max } => {
                self.children(key, 13, &[body], regular);
                words(key, &[min, max]);
            }
            Node::Special(token) => {
                key.push(14);
                words(key, &[token]);
            }
            Node::Members(members) => {
                key.extend([15, u8::from(members.ordered), u8::from(members.json)]);
                words(key, &[members.min, members.max, members.declared().len() as u32]);
                words(key, &[members.open().len() as u32]);
                self.open.push((members.separator, false));
                for (name, tail, required) in members.declared() {
                    key.push(u8::from(required));
                    self.open.extend([(name, true), (tail, false)]);
                }
                self.open.extend(members.open().flat_map(|(name, tail)| [(name, true), (tail, false)]));
            }
            Node::Distinct(distinct) => {
                key.extend([16, u8::from(distinct.json)]);
                words(key, &[distinct.min, distinct.max, distinct.prefix.len() as u32]);
                self.open.extend([(distinct.separator, false), (distinct.rest, true)]);
                self.open.extend(distinct.prefix.iter().map(|&item| (item, true)));
            }
            Node::Decimal { fields, flags, max_fraction, max_digits } => {
                bytes(key, 17, fields);
                words(key, &[flags, max_fraction, max_digits]);
            }
            Node::Indentation { lead, unit } => {
                bytes(key, 18, lead);
                bytes(key, 18, unit);
            }
            Node::Reference(_) | Node::Nested(_) => unreachable!("they are called or copied in"),
        }
    }

    fn children(&mut self, key: &mut Vec<u8>, mark: u8, parts: &[u32], regular: bool) {
        key.push(mark);
        words(key, &[parts.len() as u32]);
        self.open.extend(parts.iter().rev().map(|&part| (part, regular)));
    }
}

fn words(key: &mut Vec<u8>, words: &[u32]) {
    words.iter().for_each(|word| key.extend_from_slice(&word.to_le_bytes()));
}

fn bytes(key: &mut Vec<u8>, mark: u8, text: &[u8]) {
    key.push(mark);
    words(key, &[text.len() as u32]);
    key.extend_from_slice(text);
}
