//! From IR nodes to a draft a rule: Thompson's construction, with an explicit stack instead of recursion.
//!
//! A reference to a rule becomes a call, or the rule's body where that is small or used once. A repeat with
//! large bounds becomes a rule of its own with a counter: `x{0,100000}` costs what `x{0,10}` costs.

use std::collections::VecDeque;

use rustc_hash::FxHashMap;

use super::Budget;
use super::acyclic::{Acyclic, AcyclicBuilder};
use super::dfa::{Dfa, determinise};
use super::draft::{Bounds, Draft, Label};
use super::ir::{Ir, Node, UNBOUNDED, little_words};
use super::shape::Shapes;
use super::utf8::utf8_automaton;
use crate::error::{Error, Result};
use crate::memory::Memory;

/// A repeat is unrolled into copies while they have at most this many positions; past that it is counted.
///
/// Copies make plain states, which need no counter in the frame; 32 keeps `\d{4}-\d{2}` and hex groups plain.
pub(super) const MAX_UNROLLED: u64 = 32;
/// Literals in a choice are merged into one acyclic automaton from this many on.
const MIN_MERGED_LITERALS: usize = 3;

/// `&` and `~` are built by recursion, which ends here.
const MAX_REGULAR_DEPTH: u32 = 100;

/// Builds the drafts of all rules that the root reaches.
pub struct Thompson<'i, 'a> {
    ir: &'i Ir<'a>,
    shapes: &'i Shapes,
    budget: &'i mut Budget,
    pub drafts: Vec<Draft>,
    pub names: Vec<String>,
    rule_of: FxHashMap<u32, u32>,
    counter_of: FxHashMap<(u32, u32, u32), u32>,
    utf8: FxHashMap<u32, Acyclic>,
    regular: FxHashMap<u32, Dfa>,
    /// How many & and ~ enclose what is being built; inside one, everything is copied in.
    regular_depth: u32,
    /// What nodes that remember keep to.
    pub memories: Vec<Memory>,
    /// Rules of nodes that remember, and of counted intersections.
    memory_of: FxHashMap<u32, u32>,
    nested_of: FxHashMap<u32, u32>,
    /// Rules declared and not built yet: (draft, node, kind).
    queue: VecDeque<(u32, u32, Kind)>,
}

/// How a rule is built.
#[derive(Debug, Clone, Copy)]
enum Kind {
    Plain,
    /// A counted loop over its node.
    Counted(Bounds),
    /// Its node remembers.
    Memory,
}

/// One node to be built between two states.
pub(super) struct Task {
    pub node: u32,
    pub from: u32,
    pub to: u32,
}

impl<'i, 'a> Thompson<'i, 'a> {
    pub fn new(ir: &'i Ir<'a>, shapes: &'i Shapes, budget: &'i mut Budget) -> Self {
        Thompson {
            ir,
            shapes,
            budget,
            drafts: Vec::new(),
            names: Vec::new(),
            rule_of: FxHashMap::default(),
            counter_of: FxHashMap::default(),
            utf8: FxHashMap::default(),
            regular: FxHashMap::default(),
            regular_depth: 0,
            memories: Vec::new(),
            memory_of: FxHashMap::default(),
            nested_of: FxHashMap::default(),
            queue: VecDeque::new(),
        }
    }

    pub(super) fn ir(&self) -> &'i Ir<'a> {
        self.ir
    }

    pub(super) fn positions(&self, node: u32) -> u64 {
        self.shapes.positions(node)
    }

    pub(super) fn intersect(&mut self, a: &Dfa, b: &Dfa) -> Result<Dfa> {
        a.intersection(b, self.budget)
    }

    pub(super) fn spend_states(&mut self, n: u64) -> Result<()> {
        self.budget.spend_states(n)
    }

    /// Build everything that the root needs; draft 0 is the root.
    pub fn build(mut self) -> Result<(Vec<Draft>, Vec<String>, Vec<Memory>)> {
        self.rule(self.ir.root)?;
        while let Some((draft, node, kind)) = self.queue.pop_front() {
            let built = match kind {
                Kind::Plain => self.draft(node, None)?,
                Kind::Counted(bounds) => self.draft(node, Some(bounds))?,
                Kind::Memory => self.memory_draft(node)?,
            };
            self.drafts[draft as usize] = built;
        }
        Ok((self.drafts, self.names, self.memories))
    }

    fn declare(&mut self, name: String, node: u32, kind: Kind) -> Result<u32> {
        self.budget.spend_rules(1)?;
        let id = self.drafts.len() as u32;
        self.drafts.push(Draft::default());
        self.names.push(name);
        self.queue.push_back((id, node, kind));
        Ok(id)
    }

    fn rule(&mut self, rule: u32) -> Result<u32> {
        if let Some(&id) = self.rule_of.get(&rule) {
            return Ok(id);
        }
        let id =
            self.declare(self.ir.names[rule as usize].clone(), self.ir.rules[rule as usize], Kind::Plain)?;
        self.rule_of.insert(rule, id);
        Ok(id)
    }

    fn counter(&mut self, body: u32, bounds: Bounds) -> Result<u32> {
        let key = (body, bounds.min, bounds.max);
        if let Some(&id) = self.counter_of.get(&key) {
            return Ok(id);
        }
        let name = format!("{{{},{}}}", bounds.min, display_max(bounds.max));
        let id = self.declare(name, body, Kind::Counted(bounds))?;
        self.counter_of.insert(key, id);
        Ok(id)
    }

    fn draft(&mut self, node: u32, bounds: Option<Bounds>) -> Result<Draft> {
        let mut draft = Draft::default();
        draft.start = draft.state();
        draft.end = draft.state();
        draft.bounds = bounds;
        let mut tasks = Vec::new();
        if bounds.is_some() {
            let after = draft.state();
            draft.counted = Some(after);
            draft.epsilons.push((draft.start, draft.end));
            tasks.push(Task { node, from: draft.end, to: after });
        } else {
            tasks.push(Task { node, from: draft.start, to: draft.end });
        }
        while let Some(task) = tasks.pop() {
            self.step(&mut draft, task, &mut tasks)?;
        }
        Ok(draft)
    }

    /// Build one node into a draft.
    pub(super) fn run(&mut self, draft: &mut Draft, task: Task) -> Result<()> {
        let mut tasks = vec![task];
        while let Some(task) = tasks.pop() {
            self.step(draft, task, &mut tasks)?;
        }
        Ok(())
    }

    fn memory(&mut self, draft: &mut Draft, Task { node, from, to }: Task, name: &str) -> Result<()> {
        if self.regular_depth > 0 {
            return Err(not_regular(name));
        }
        let rule = match self.memory_of.get(&node) {
            Some(&rule) => rule,
            None => self.declare(name.into(), node, Kind::Memory)?,
        };
        self.memory_of.insert(node, rule);
        draft.edge(from, Label::Call(rule), to);
        Ok(())
    }

    fn nested(&mut self, draft: &mut Draft, body: u32, from: u32, to: u32) -> Result<()> {
        if self.regular_depth > 0 {
            return Err(not_regular("a nested part"));
        }
        let rule = match self.nested_of.get(&body) {
            Some(&rule) => rule,
            None => self.declare("nested".into(), body, Kind::Plain)?,
        };
        self.nested_of.insert(body, rule);
        draft.edge(from, Label::Nest(rule), to);
        Ok(())
    }

    /// dispatch: one arm a kind of node.
    fn step(
        &mut self,
        draft: &mut Draft,
        Task { node, from, to }: Task,
        tasks: &mut Vec<Task>,
    ) -> Result<()> {
        self.budget.spend_states(1)?;
        match self.ir.node(node) {
            Node::Empty => {}
            Node::Literal(text) => self.literal(draft, text, from, to)?,
            Node::ByteClass(set) => class_ranges(set).for_each(|(low, high)| {
                draft.edge(from, Label::Bytes(low, high), to);
            }),
            Node::Chars(pairs) => {
                let automaton = self.utf8.remove(&node).unwrap_or_else(|| utf8_automaton(char_ranges(pairs)));
                self.splice(draft, &automaton, from, to)?;
                self.utf8.insert(node, automaton);
            }
            Node::Literals { text, lengths } => {
                let words = split_words(text, lengths);
                self.splice(draft, &word_automaton(words), from, to)?;
            }
            Node::Sequence(parts) => chain(draft, parts, from, to, tasks),
            Node::Choice(branches) => self.choice(draft, branches, from, to, tasks)?,
            Node::Repeat { body, min, max } => {
                self.repeat(draft, Task { node: body, from, to }, min, max, tasks)?
            }
            Node::Reference(rule) => self.reference(draft, rule, from, to, tasks)?,
            Node::Intersection(_) | Node::Complement(_) => self.regular(draft, node, from, to)?,
            Node::Members(_) => self.memory(draft, Task { node, from, to }, "members")?,
            Node::Distinct(_) => self.memory(draft, Task { node, from, to }, "distinct items")?,
            Node::Decimal { .. } => self.memory(draft, Task { node, from, to }, "decimal")?,
            Node::Indentation { .. } => self.memory(draft, Task { node, from, to }, "indentation")?,
            Node::Nested(body) => self.nested(draft, body, from, to)?,
            Node::Special(_) if self.regular_depth > 0 => return Err(not_regular("a special token")),
            Node::Special(token) => draft.edge(from, Label::Special(token), to),
        }
        Ok(())
    }

    fn literal(&mut self, draft: &mut Draft, text: &[u8], from: u32, to: u32) -> Result<()> {
        self.budget.spend_states(text.len() as u64)?;
        let mut at = from;
        for (i, &byte) in text.iter().enumerate() {
            let next = if i + 1 == text.len() { to } else { draft.state() };
            draft.edge(at, Label::Bytes(byte, byte), next);
            at = next;
        }
        if text.is_empty() {
            draft.epsilons.push((from, to));
        }
        Ok(())
    }

    fn splice(&mut self, draft: &mut Draft, automaton: &Acyclic, from: u32, to: u32) -> Result<()> {
        let n = automaton.states.len() as u32;
        self.budget.spend_states(u64::from(n))?;
        let base = draft.n_states;
        draft.n_states += n - 1;
        let place = |state: u32| if state == 0 { from } else { base + state - 1 };
        for (id, state) in (0..).zip(&automaton.states) {
            for &((low, high), target) in &state.edges {
                let next = &automaton.states[target as usize];
                let last = next.accept && next.edges.is_empty();
                let target = if last { to } else { place(target) };
                draft.edge(place(id), Label::Bytes(low, high), target);
            }
            if state.accept && !(id > 0 && state.edges.is_empty()) {
                draft.epsilons.push((place(id), to));
            }
        }
        Ok(())
    }

    fn choice(
        &mut self,
        draft: &mut Draft,
        branches: &[u32],
        from: u32,
        to: u32,
        tasks: &mut Vec<Task>,
    ) -> Result<()> {
        let literal = |&branch: &u32| match self.ir.node(branch) {
            Node::Literal(text) => Some(text),
            _ => None,
        };
        let mut words: Vec<&[u8]> = branches.iter().filter_map(literal).collect();
        let merged = words.len() >= MIN_MERGED_LITERALS;
        if merged {
            words.sort_unstable();
            self.splice(draft, &word_automaton(words.iter().copied()), from, to)?;
        }
        for &node in branches {
            if !(merged && matches!(self.ir.node(node), Node::Literal(_))) {
                tasks.push(Task { node, from, to });
            }
        }
        Ok(())
    }

    fn repeat(
        &mut self,
        draft: &mut Draft,
        task: Task,
        min: u32,
        max: u32,
        tasks: &mut Vec<Task>,
    ) -> Result<()> {
        let Task { node: body, from, to } = task;
        // An empty body counts for nothing: (x?){3,5} is x{0,5}.
        let min = if self.shapes.nullable(body) { 0 } else { min };
        let copies = if max == UNBOUNDED { min.max(1) } else { max };
        let unrolled = u64::from(copies).saturating_mul(self.shapes.positions(body));
        if copies > 1 && unrolled > MAX_UNROLLED && self.regular_depth == 0 {
            let bounds = Bounds { min, max };
            let rule = self.counter(body, bounds)?;
            draft.edge(from, Label::Call(rule), to);
            return Ok(());
        }
        self.budget.spend_states(u64::from(copies))?;
        unroll(draft, body, from, to, min, max, tasks);
        Ok(())
    }

    fn reference(
        &mut self,
        draft: &mut Draft,
        rule: u32,
        from: u32,
        to: u32,
        tasks: &mut Vec<Task>,
    ) -> Result<()> {
        if self.regular_depth > 0 && self.shapes.recursive(rule) {
            return Err(not_regular(&format!("the recursive rule {:?}", self.ir.names[rule as usize])));
        }
        if self.regular_depth > 0 || self.shapes.inlined(rule) {
            tasks.push(Task { node: self.ir.rules[rule as usize], from, to });
        } else {
            let rule = self.rule(rule)?;
            draft.edge(from, Label::Call(rule), to);
        }
        Ok(())
    }

    /// A part with `&` or `~`: built as one DFA, then copied in.
    fn regular(&mut self, draft: &mut Draft, node: u32, from: u32, to: u32) -> Result<()> {
        if self.regular_depth == 0
            && let Node::Intersection(parts) = self.ir.node(node)
            && let Some(rule) = self.counted_rule(node, parts)?
        {
            draft.edge(from, Label::Call(rule), to);
            return Ok(());
        }
        let dfa = self.dfa(node)?;
        self.budget.spend_states(u64::from(dfa.n_states()))?;
        let base = draft.n_states;
        draft.n_states += dfa.n_states();
        for (state, low, high, target) in dfa.ranges() {
            draft.edge(base + state, Label::Bytes(low, high), base + target);
        }
        if dfa.n_states() > 0 {
            draft.epsilons.push((from, base));
        }
        for state in (0..dfa.n_states()).filter(|&state| dfa.accepts(state)) {
            draft.epsilons.push((base + state, to));
        }
        self.regular.insert(node, dfa);
        Ok(())
    }

    /// The rule of an intersection with a counted part, if it can be counted.
    fn counted_rule(&mut self, node: u32, parts: &[u32]) -> Result<Option<u32>> {
        if let Some(&rule) = self.memory_of.get(&node) {
            return Ok(Some(rule));
        }
        let Some((body, bounds, others)) = self.counted_parts(parts) else { return Ok(None) };
        let Some(built) = self.counted_draft(body, bounds, &others)? else { return Ok(None) };
        self.budget.spend_rules(1)?;
        let id = self.drafts.len() as u32;
        self.drafts.push(built);
        self.names.push(format!("{{{},{}}}", bounds.min, display_max(bounds.max)));
        self.memory_of.insert(node, id);
        Ok(Some(id))
    }

    /// The minimal DFA of a regular node.
    pub(super) fn dfa(&mut self, node: u32) -> Result<Dfa> {
        if let Some(dfa) = self.regular.remove(&node) {
            return Ok(dfa);
        }
        self.regular_depth += 1;
        if self.regular_depth > MAX_REGULAR_DEPTH {
            let what = format!("& and ~ are nested more than {MAX_REGULAR_DEPTH} deep");
            return Err(Error::Limit { what, limit: "regular_depth", value: u64::from(MAX_REGULAR_DEPTH) });
        }
        let dfa = match self.ir.node(node) {
            Node::Intersection(parts) => {
                let mut dfa = self.dfa(parts[0])?;
                for &part in &parts[1..] {
                    let other = self.dfa(part)?;
                    dfa = dfa.intersection(&other, self.budget)?;
                }
                dfa
            }
            Node::Complement(body) => self.dfa(body)?.complement(self.budget)?,
            _ => determinise(&self.draft(node, None)?, self.budget)?,
        };
        self.regular_depth -= 1;
        Ok(dfa)
    }
}

fn chain(draft: &mut Draft, parts: &[u32], from: u32, to: u32, tasks: &mut Vec<Task>) {
    let mut at = from;
    for (i, &node) in parts.iter().enumerate() {
        let next = if i + 1 == parts.len() { to } else { draft.state() };
        tasks.push(Task { node, from: at, to: next });
        at = next;
    }
    if parts.is_empty() {
        draft.epsilons.push((from, to));
    }
}

/// Copies of the body: `min` of them required, the rest optional, or a loop at the end.
fn unroll(draft: &mut Draft, body: u32, from: u32, to: u32, min: u32, max: u32, tasks: &mut Vec<Task>) {
    let mut at = from;
    let required = if max == UNBOUNDED { min.saturating_sub(1) } else { min };
    for _ in 0..required {
        let next = draft.state();
        tasks.push(Task { node: body, from: at, to: next });
        at = next;
    }
    if max == UNBOUNDED {
        let head = draft.state();
        let tail = if min == 0 { head } else { draft.state() };
        draft.epsilons.push((at, head));
        tasks.push(Task { node: body, from: head, to: tail });
        if tail != head {
            draft.epsilons.push((tail, head));
        }
        draft.epsilons.push((tail, to));
        return;
    }
    for _ in min..max {
        draft.epsilons.push((at, to));
        let next = draft.state();
        tasks.push(Task { node: body, from: at, to: next });
        at = next;
    }
    draft.epsilons.push((at, to));
}

fn display_max(max: u32) -> String {
    if max == UNBOUNDED { String::new() } else { max.to_string() }
}

pub fn char_ranges(pairs: &[u8]) -> impl Iterator<Item = (u32, u32)> + '_ {
    let mut words = little_words(pairs);
    std::iter::from_fn(move || Some((words.next()?, words.next()?)))
}

/// The maximal runs of a set of bytes.
pub fn class_ranges(set: &[u8; 32]) -> impl Iterator<Item = (u8, u8)> + '_ {
    let has = |byte: usize| set[byte / 8] >> (byte % 8) & 1 == 1;
    let mut at = 0;
    std::iter::from_fn(move || {
        let low = (at..256).find(|&byte| has(byte))?;
        let high = (low..256).take_while(|&byte| has(byte)).last().expect("low is in the set");
        at = high + 1;
        Some((low as u8, high as u8))
    })
}

pub fn split_words<'a>(text: &'a [u8], lengths: &'a [u8]) -> impl Iterator<Item = &'a [u8]> {
    let mut rest = text;
    little_words(lengths).map(move |length| {
        let (word, tail) = rest.split_at(length as usize);
        rest = tail;
        word
    })
}

pub fn word_automaton<'a>(sorted: impl Iterator<Item = &'a [u8]>) -> Acyclic {
    let mut builder = AcyclicBuilder::new();
    for word in sorted {
        builder.push(word.iter().map(|&byte| (byte, byte)));
    }
    builder.finish()
}

/// What a node that must be regular says when it is not.
pub fn not_regular(what: &str) -> Error {
    Error::grammar(
        format!("{what} cannot stand inside & or ~"),
        "intersection and complement are enforced on regular parts only",
    )
}
