//! What is a node made from? All of it, spelled out: two parts with one spelling become one automaton.
//!
//! What is a vertex of its own (`groups.rs`) is only called, and a node that comes again is a number.

use super::Budget;
use super::draft::Bounds;
use super::groups::Kind;
use super::ir::{Ir, Node};
use super::shape::Shapes;
use crate::error::Result;

/// Spells nodes out.
pub struct Speller<'i, 'a> {
    ir: &'i Ir<'a>,
    shapes: &'i Shapes,
    memory: SpellerMemory,
}

/// What a speller works in.
#[derive(Debug, Default)]
pub struct SpellerMemory {
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
    /// What `memory` holds goes.
    pub fn new(ir: &'i Ir<'a>, shapes: &'i Shapes, mut memory: SpellerMemory) -> Self {
        memory.seen.clear();
        memory.seen.resize(ir.n_nodes(), [(0, 0); 2]);
        memory.spelling = 0;
        Speller { ir, shapes, memory }
    }

    pub fn into_memory(self) -> SpellerMemory {
        self.memory
    }

    /// Add the spelling of a vertex; `call` is told what it calls, in order.
    pub(super) fn spell(
        &mut self,
        node: u32,
        kind: Kind,
        key: &mut Vec<u8>,
        budget: &mut Budget,
        mut call: impl FnMut(u32, Kind, Option<u32>),
    ) -> Result<()> {
        match kind {
            Kind::Plain | Kind::Tail => key.push(0),
            Kind::Counted { min, max } => {
                key.push(1);
                words(key, &[min, max]);
            }
            Kind::Memory => key.push(2),
            Kind::Intersection => key.push(3),
        }
        self.begin();
        match kind {
            Kind::Memory => self.content(node, false, key, &mut call),
            Kind::Intersection => self.content(node, true, key, &mut call),
            _ => self.memory.open.push((node, false)),
        }
        while let Some(work) = self.next(key, &mut call) {
            budget.spend_visits(work)?;
        }
        Ok(())
    }

    /// Add the spelling of a node within a part with & or ~. It is no longer than what building the node costs.
    pub fn spell_regular(&mut self, node: u32, key: &mut Vec<u8>) {
        self.begin();
        self.memory.open.push((node, true));
        while self.next(key, &mut |_, _, _| unreachable!("a regular part calls nothing")).is_some() {}
    }

    fn begin(&mut self) {
        self.memory.spelling += 1;
        self.memory.number = 0;
        self.memory.open.clear();
    }

    /// Spell the next node out; returns what that took.
    fn next(&mut self, key: &mut Vec<u8>, call: &mut impl FnMut(u32, Kind, Option<u32>)) -> Option<u64> {
        let (node, regular) = self.memory.open.pop()?;
        let seen = &mut self.memory.seen[node as usize][usize::from(regular)];
        if seen.0 == self.memory.spelling {
            key.push(AGAIN);
            words(key, &[seen.1]);
            return Some(1);
        }
        *seen = (self.memory.spelling, self.memory.number);
        self.memory.number += 1;
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
                self.memory.open.push((self.ir.rules[rule as usize], regular));
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
                None => self.content(id, regular, key, call),
            },
            Node::Intersection(parts) if !regular && self.shapes.counted_parts(self.ir, parts).is_some() => {
                key.push(CALL);
                call(id, Kind::Intersection, None);
            }
            _ => self.content(id, regular, key, call),
        }
    }

    /// dispatch: one arm a kind of node.
    fn content(
        &mut self,
        node: u32,
        regular: bool,
        key: &mut Vec<u8>,
        call: &mut impl FnMut(u32, Kind, Option<u32>),
    ) {
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
            Node::Intersection(parts) => {
                self.children(key, 11, parts, regular || !self.shapes.is_left_open(parts));
            }
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
                self.memory.open.push((members.separator, false));
                for (name, tail, required) in members.declared() {
                    key.push(u8::from(required));
                    self.memory.open.push((name, true));
                    call(tail, Kind::Tail, None);
                }
                for (name, tail, meets) in members.open() {
                    key.push(meets);
                    self.memory.open.push((name, true));
                    call(tail, Kind::Tail, None);
                }
            }
            Node::Distinct(distinct) => {
                key.extend([16, u8::from(distinct.json)]);
                words(key, &[distinct.min, distinct.max, distinct.prefix.len() as u32]);
                self.memory.open.extend([(distinct.separator, false), (distinct.rest, true)]);
                self.memory.open.extend(distinct.prefix.iter().map(|&item| (item, true)));
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
        self.memory.open.extend(parts.iter().rev().map(|&part| (part, regular)));
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
