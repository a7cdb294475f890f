//! From IR nodes to drafts of rules: Thompson's construction, with an explicit stack instead of recursion.
//!
//! A reference to a rule becomes a call, or the rule's body where that is small or used once. A repeat with
//! large bounds becomes a rule of its own with a counter: `x{0,100000}` costs what `x{0,10}` costs.

use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::Budget;
use super::acyclic::{Acyclic, AcyclicBuilder};
use super::dfa::{Dfa, determinise};
use super::draft::{Bounds, Draft, DraftRule, Ending, Label};
use super::groups::{Groups, Kind};
use super::ir::{Ir, Node, UNBOUNDED, little_words};
use super::kept::{Built, Kept};
use super::members::KeyRoom;
use super::shape::{MAX_SMALL, Shapes};
use super::spelling::{Speller, SpellerMemory};
use super::utf8::utf8_automaton;
use crate::error::{Error, Result};
use crate::memory::Memory;
use crate::program::Action;

/// Literals in a choice are merged into one acyclic automaton from this many on.
const MIN_MERGED_LITERALS: usize = 3;

/// `&` and `~` are built by recursion, which ends here.
const MAX_REGULAR_DEPTH: u32 = 100;

/// Builds the drafts of groups.
pub struct Thompson<'i, 'a> {
    ir: &'i Ir<'a>,
    shapes: &'i Shapes,
    groups: &'i Groups,
    pub budget: &'i mut Budget,
    utf8: FxHashMap<u32, Acyclic>,
    kept: &'i Kept,
    /// Spells regular parts out, and one spelling.
    speller: Speller<'i, 'a>,
    key: Vec<u8>,
    regular: FxHashMap<u32, Arc<Built<Dfa>>>,
    /// How many & and ~ enclose what is being built; inside one, everything is copied in.
    regular_depth: u32,
    /// For each vertex, its place among the slots of the group being built.
    slots: Vec<u32>,
    /// Intersections that turned out not to be counted.
    uncounted: FxHashSet<u32>,
    /// What the group's nodes that remember keep to.
    memories: Vec<Memory>,
    /// What the group's edges do.
    actions: Vec<Action>,
    tasks: Vec<Task>,
    /// An empty draft, with the memory of the last one.
    draft: Draft,
    /// In the draft being built, the state after a part of a sequence that leads to a state: (sequence, part, state).
    suffixes: FxHashMap<(u32, u32, u32), u32>,
    pub(super) keys: KeyRoom,
}

/// Memory that is used again for the next format.
#[derive(Debug, Default)]
pub struct Buffers {
    draft: Draft,
    speller: SpellerMemory,
    key: Vec<u8>,
    slots: Vec<u32>,
    tasks: Vec<Task>,
    suffixes: FxHashMap<(u32, u32, u32), u32>,
    keys: KeyRoom,
}

impl Buffers {
    pub fn take_speller(&mut self) -> SpellerMemory {
        std::mem::take(&mut self.speller)
    }

    /// Whether there is little to give back.
    pub fn is_small(&self, most: usize) -> bool {
        self.draft.edges.capacity() <= most
            && self.tasks.capacity() <= 4 * most
            && self.key.capacity() <= 64 * most
    }
}

/// The drafts of a group.
pub struct Drafts {
    pub draft: Draft,
    pub memories: Vec<Memory>,
    pub actions: Vec<Action>,
}

/// One node to be built between two states.
#[derive(Debug, Clone, Copy)]
pub(super) struct Task {
    pub node: u32,
    pub from: u32,
    pub to: u32,
}

impl<'i, 'a> Thompson<'i, 'a> {
    pub fn new(
        ir: &'i Ir<'a>,
        shapes: &'i Shapes,
        groups: &'i Groups,
        speller: Speller<'i, 'a>,
        buffers: Buffers,
        kept: &'i Kept,
        budget: &'i mut Budget,
    ) -> Self {
        let Buffers { draft, key, mut slots, tasks, suffixes, keys, .. } = buffers;
        slots.clear();
        slots.resize(groups.vertices.len(), 0);
        Thompson {
            ir,
            shapes,
            groups,
            budget,
            utf8: FxHashMap::default(),
            kept,
            speller,
            key,
            regular: FxHashMap::default(),
            regular_depth: 0,
            uncounted: FxHashSet::default(),
            slots,
            memories: Vec::new(),
            actions: Vec::new(),
            tasks,
            draft,
            suffixes,
            keys,
        }
    }

    pub fn into_buffers(self) -> Buffers {
        let Thompson { draft, key, slots, tasks, suffixes, keys, speller, .. } = self;
        Buffers { draft, speller: speller.into_memory(), key, slots, tasks, suffixes, keys }
    }

    pub(super) fn ir(&self) -> &'i Ir<'a> {
        self.ir
    }

    pub(super) fn shapes(&self) -> &'i Shapes {
        self.shapes
    }

    pub(super) fn spend_states(&mut self, n: u64) -> Result<()> {
        self.budget.spend_states(n)
    }

    /// Build the rules of a group. An intersection that cannot be counted has no rule then: `None`.
    pub fn build(&mut self, group: u32) -> Result<Option<Drafts>> {
        let (slots, members) = (self.groups.slots(group), self.groups.members(group));
        (0..).zip(slots).for_each(|(slot, &vertex)| self.slots[vertex as usize] = slot);
        self.budget.spend_rules(members.len() as u64)?;
        self.actions = vec![Action::None, Action::Count];
        let mut draft = std::mem::take(&mut self.draft);
        self.suffixes.clear();
        for &vertex in members {
            let vertex = &self.groups.vertices[vertex as usize];
            let rule = match vertex.kind {
                Kind::Plain | Kind::Tail => self.plain(&mut draft, vertex.node)?,
                Kind::Counted { min, max } => self.counted(&mut draft, vertex.node, Bounds { min, max })?,
                Kind::Memory => self.memory_rule(&mut draft, vertex.node)?,
                Kind::Intersection => match self.counted_rule(&mut draft, vertex.node)? {
                    Some(rule) => rule,
                    None => return Ok(None),
                },
            };
            draft.rules.push(rule);
        }
        let (memories, actions) = (std::mem::take(&mut self.memories), std::mem::take(&mut self.actions));
        Ok(Some(Drafts { draft, memories, actions }))
    }

    /// Give the memory of a draft back.
    pub fn give_back(&mut self, mut draft: Draft) {
        draft.clear();
        self.draft = draft;
    }

    /// Remember that the intersection of a group is not counted.
    pub fn refuse_count(&mut self, group: u32) {
        self.uncounted.insert(self.groups.slots(group)[0]);
    }

    fn plain(&mut self, draft: &mut Draft, node: u32) -> Result<DraftRule> {
        let rule = draft.rule(Ending::Free);
        self.run(draft, Task { node, from: rule.start, to: rule.end })?;
        Ok(rule)
    }

    fn counted(&mut self, draft: &mut Draft, node: u32, bounds: Bounds) -> Result<DraftRule> {
        let mut rule = draft.rule(Ending::Free);
        let after = draft.state();
        (rule.bounds, rule.counted) = (Some(bounds), Some(after));
        draft.epsilons.push((rule.start, rule.end));
        self.run(draft, Task { node, from: rule.end, to: after })?;
        Ok(rule)
    }

    /// Build one node into a draft.
    pub(super) fn run(&mut self, draft: &mut Draft, task: Task) -> Result<()> {
        let mut tasks = std::mem::take(&mut self.tasks);
        tasks.push(task);
        while let Some(task) = tasks.pop() {
            self.step(draft, task, &mut tasks)?;
        }
        self.tasks = tasks;
        Ok(())
    }

    pub(super) fn remember(&mut self, memory: Memory) -> u32 {
        self.memories.push(memory);
        self.memories.len() as u32 - 1
    }

    /// The number of an action that no edge has yet.
    pub(super) fn action(&mut self, action: Action) -> u32 {
        self.actions.push(action);
        self.actions.len() as u32 - 1
    }

    pub(super) fn reserve_actions(&mut self, n: usize) {
        self.actions.reserve(n + 2);
    }

    /// Call the rule of a node.
    fn call(&self, draft: &mut Draft, Task { node, from, to }: Task, kind: Kind, name: &str) -> Result<()> {
        if self.regular_depth > 0 {
            return Err(not_regular(name));
        }
        draft.edge(from, Label::Call(self.slot(node, kind)), to);
        Ok(())
    }

    pub(super) fn slot(&self, node: u32, kind: Kind) -> u32 {
        let vertex = self.groups.find(node, kind).expect("the groups have all callees");
        self.slots[vertex as usize]
    }

    /// dispatch: one arm a kind of node.
    fn step(&mut self, draft: &mut Draft, task: Task, tasks: &mut Vec<Task>) -> Result<()> {
        let Task { node, from, to } = task;
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
            Node::Sequence(parts) => self.chain(draft, task, parts, tasks),
            Node::Choice(branches) => self.choice(draft, branches, from, to, tasks)?,
            Node::Repeat { body, min, max } => {
                self.repeat(draft, Task { node: body, from, to }, min, max, tasks)?
            }
            Node::Reference(rule) => self.reference(draft, rule, from, to, tasks)?,
            Node::Intersection(_) | Node::Complement(_) => self.regular(draft, node, from, to)?,
            Node::Members(_) => self.call(draft, task, Kind::Memory, "members")?,
            Node::Distinct(_) => self.call(draft, task, Kind::Memory, "distinct items")?,
            Node::Decimal { .. } => self.call(draft, task, Kind::Memory, "decimal")?,
            Node::Indentation { .. } => self.call(draft, task, Kind::Memory, "indentation")?,
            Node::Nested(_) if self.regular_depth > 0 => return Err(not_regular("a nested part")),
            Node::Nested(body) => draft.edge(from, Label::Nest(self.slot(body, Kind::Plain)), to),
            Node::Special(_) if self.regular_depth > 0 => return Err(not_regular("a special token")),
            Node::Special(token) => draft.edge(from, Label::Special(token), to),
        }
        Ok(())
    }

    /// The parts one after another. What follows a part is the same wherever the sequence begins, so it is built once for
    /// each state that the sequence leads to.
    fn chain(&mut self, draft: &mut Draft, task: Task, parts: &[u32], tasks: &mut Vec<Task>) {
        let Task { node, from, to } = task;
        let mut at = from;
        for (i, &part) in (0u32..).zip(parts) {
            if i as usize + 1 == parts.len() {
                tasks.push(Task { node: part, from: at, to });
                return;
            }
            let next = draft.n_states;
            let known = *self.suffixes.entry((node, i, to)).or_insert(next);
            tasks.push(Task { node: part, from: at, to: known });
            if known != next {
                return;
            }
            at = draft.state();
        }
        draft.epsilons.push((from, to));
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
        if self.regular_depth == 0
            && let Some(Bounds { min, max }) = self.shapes.counted(body, min, max)
        {
            draft.edge(from, Label::Call(self.slot(body, Kind::Counted { min, max })), to);
            return Ok(());
        }
        // An empty body counts for nothing: (x?){3,5} is x{0,5}.
        let min = if self.shapes.nullable(body) { 0 } else { min };
        self.budget.spend_states(u64::from(if max == UNBOUNDED { min.max(1) } else { max }))?;
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
            return Err(not_regular(&format!("the recursive rule {:?}", self.ir.names.of(rule))));
        }
        if self.regular_depth > 0 || self.shapes.inlined(rule) {
            tasks.push(Task { node: self.ir.rules[rule as usize], from, to });
        } else {
            let node = self.ir.rules[rule as usize];
            draft.edge(from, Label::Call(self.slot(node, Kind::Plain)), to);
        }
        Ok(())
    }

    /// A part with `&` or `~`: built as one DFA, then copied in.
    fn regular(&mut self, draft: &mut Draft, node: u32, from: u32, to: u32) -> Result<()> {
        if self.regular_depth == 0
            && let Some(vertex) = self.groups.find(node, Kind::Intersection)
            && !self.uncounted.contains(&vertex)
        {
            draft.edge(from, Label::Call(self.slots[vertex as usize]), to);
            return Ok(());
        }
        let dfa = match self.ir.node(node) {
            Node::Intersection(parts @ &[body]) if self.regular_depth == 0 => {
                if self.shapes.is_left_open(parts) {
                    return self.run(draft, Task { node: body, from, to });
                }
                match self.small_dfa(body)? {
                    Some(dfa) => dfa,
                    None => return self.copied(draft, Task { node: body, from, to }),
                }
            }
            _ => self.dfa(node)?,
        };
        let dfa = &dfa.value;
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
        Ok(())
    }

    /// The minimal DFA of a regular node, if finding it takes no more than `MAX_SMALL` states.
    fn small_dfa(&mut self, node: u32) -> Result<Option<Arc<Built<Dfa>>>> {
        let whole = self.budget.narrow_dfa_states(MAX_SMALL);
        let found = self.dfa(node);
        self.budget.widen_dfa_states(whole);
        match found {
            Err(Error::Limit { limit: "dfa_states", .. }) => Ok(None),
            found => found.map(Some),
        }
    }

    /// Build a regular node with everything copied in.
    fn copied(&mut self, draft: &mut Draft, task: Task) -> Result<()> {
        self.regular_depth += 1;
        let built = self.run(draft, task);
        self.regular_depth -= 1;
        built
    }

    /// The minimal DFA of a regular node. It costs what building it costs, however often it is asked for.
    pub(super) fn dfa(&mut self, node: u32) -> Result<Arc<Built<Dfa>>> {
        if let Some(dfa) = self.regular.get(&node)
            && self.budget.spend_again(dfa.spent)
        {
            return Ok(Arc::clone(dfa));
        }
        // What is inside another regular part is not kept on its own.
        let built = if self.regular_depth > 0 { self.built_dfa(node)? } else { self.kept_dfa(node)? };
        self.regular.insert(node, Arc::clone(&built));
        Ok(built)
    }

    fn kept_dfa(&mut self, node: u32) -> Result<Arc<Built<Dfa>>> {
        let mut key = std::mem::take(&mut self.key);
        key.clear();
        self.speller.spell_regular(node, &mut key);
        let known = self.kept.dfa(&key).filter(|known| self.budget.spend_again(known.spent));
        let dfa = match known {
            Some(known) => known,
            None => {
                let built = self.built_dfa(node)?;
                self.kept.add_dfa(&key, built)
            }
        };
        self.key = key;
        Ok(dfa)
    }

    fn built_dfa(&mut self, node: u32) -> Result<Arc<Built<Dfa>>> {
        self.regular_depth += 1;
        if self.regular_depth > MAX_REGULAR_DEPTH {
            let what = format!("& and ~ are nested more than {MAX_REGULAR_DEPTH} deep");
            return Err(Error::Limit { what, limit: "regular_depth", value: u64::from(MAX_REGULAR_DEPTH) });
        }
        let before = self.budget.spent();
        let dfa = match self.ir.node(node) {
            Node::Intersection(parts) => self.intersection(parts),
            Node::Complement(body) => self.dfa(body).and_then(|body| body.value.complement(self.budget)),
            _ => self.determinised(node),
        };
        self.regular_depth -= 1;
        Ok(Arc::new(Built::new(dfa?, self.budget.spent().minus(before))))
    }

    /// A part alone is copied: an intersection is a node of its own.
    pub(super) fn intersection(&mut self, parts: &[u32]) -> Result<Dfa> {
        let first = self.dfa(parts[0])?;
        let mut whole: Option<Dfa> = None;
        for &part in &parts[1..] {
            let other = self.dfa(part)?;
            let so_far = whole.as_ref().unwrap_or(&first.value);
            whole = Some(so_far.intersection(&other.value, self.budget)?);
        }
        Ok(whole.unwrap_or_else(|| first.value.copy()))
    }

    fn determinised(&mut self, node: u32) -> Result<Dfa> {
        let outer = std::mem::take(&mut self.suffixes);
        let mut draft = Draft::default();
        let rule = draft.rule(Ending::Free);
        let drafted = self.run(&mut draft, Task { node, from: rule.start, to: rule.end });
        self.suffixes = outer;
        drafted?;
        determinise(&draft, &rule, self.budget)
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

pub fn char_ranges(pairs: &[u8]) -> impl Iterator<Item = (u32, u32)> + '_ {
    let mut words = little_words(pairs);
    std::iter::from_fn(move || Some((words.next()?, words.next()?)))
}

/// The maximal runs of a set of bytes.
pub fn class_ranges(set: &[u8; 32]) -> impl Iterator<Item = (u8, u8)> + '_ {
    let mut at = 0;
    std::iter::from_fn(move || {
        let low = next_bit(set, at, 0)?;
        at = next_bit(set, low, u64::MAX).unwrap_or(256);
        Some((low as u8, (at - 1) as u8))
    })
}

/// The first bit from `at` on that is not the one in `flip`. 64 at a time: a class has two runs or three, and 256 bits.
fn next_bit(set: &[u8; 32], at: u32, flip: u64) -> Option<u32> {
    let mut keep = u64::MAX << (at % 64);
    for word in at / 64..4 {
        let bytes = &set[word as usize * 8..word as usize * 8 + 8];
        let bits = (u64::from_le_bytes(bytes.try_into().expect("8 bytes")) ^ flip) & keep;
        if bits != 0 {
            return Some(word * 64 + bits.trailing_zeros());
        }
        keep = u64::MAX;
    }
    None
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
