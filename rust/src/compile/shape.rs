//! What can be said of each IR node before anything is built: how large, whether it can be empty, which rules to inline.

use super::components::Search;
use super::draft::Bounds;
use super::ir::{Ir, Node, UNBOUNDED};
use super::rows::Rows;

/// A rule of at most this many positions is copied to where it is used; a call costs a frame at run time.
const MAX_INLINED: u64 = 12;

/// The same for a rule that is used once. A larger one may be in other formats too, and on its own is the same rule there:
/// an e-mail address, whose masks take 0.4 ms to make, has 200 positions.
const MAX_INLINED_ONCE: u64 = 128;

/// A repeat is unrolled into copies while they have at most this many positions; past that it is counted.
///
/// Copies make plain states, which need no counter in the frame; 32 keeps `\d{4}-\d{2}` and hex groups plain.
const MAX_UNROLLED: u64 = 32;

/// A part that is wanted deterministic is left as it is where that takes more states: a URI takes 714 before they are
/// merged, and `a.{20}` anywhere in a text would take a million.
pub const MAX_SMALL: u64 = 1_000;

/// A repeat of more is counted even in a part that is wanted deterministic: one state with a counter, and not a chain.
const MAX_COPIED: u32 = 40;

/// A node changes once, and again for each `~` around what it depends on; those are nested at most 100 deep.
const MAX_FLIPS: u8 = 200;

/// Of a node.
#[derive(Debug, Clone, Copy, Default)]
struct NodeShape {
    positions: u64,
    /// Where its children begin in `Shapes::children`.
    first_child: u32,
    /// How often other nodes and rules refer to it, at least.
    uses: u32,
    /// The last rule whose body it was found in.
    rule: u32,
    nullable: bool,
    /// There is a repeat in it that becomes a rule with a counter, and counts far.
    counting: bool,
    /// Its positions are settled.
    settled: bool,
}

/// Of a rule.
#[derive(Debug, Clone, Copy, Default)]
struct RuleShape {
    uses: u32,
    recursive: bool,
    inlined: bool,
}

#[derive(Debug, Default)]
pub struct Shapes {
    nodes: Vec<NodeShape>,
    rules: Vec<RuleShape>,
    /// The children of all nodes, one node after the other.
    children: Vec<u32>,
    /// Nodes that refer to rules, ascending, with the rule.
    references: Vec<(u32, u32)>,
    /// For each rule, the rules that its body refers to.
    graph: Rows<u32>,
    search: Search,
    /// Rules, callees first.
    order: Vec<u32>,
    open: Vec<u32>,
    found: Vec<(u32, u32)>,
    listed: Vec<u32>,
}

impl Shapes {
    /// Look at the nodes and rules of a format; what was known of another goes, its memory stays.
    pub fn read(&mut self, ir: &Ir) {
        self.rules.clear();
        self.rules.resize(ir.rules.len(), RuleShape::default());
        self.read_nodes(ir);
        self.count_uses(ir);
        self.settle_rules(ir);
        self.settle_nullable(ir);
        self.settle_positions(ir);
    }

    /// List the children of each node, and whether it has the empty text, as far as that hangs on no reference. What
    /// comes after goes along the lists: to look at 140 nodes by their kinds takes a microsecond each time.
    fn read_nodes(&mut self, ir: &Ir) {
        self.nodes.clear();
        self.nodes.reserve(ir.n_nodes());
        self.children.clear();
        self.references.clear();
        for id in 0..ir.n_nodes() as u32 {
            let (node, first_child) = (ir.node(id), self.children.len() as u32);
            for_each_child(node, |child| self.children.push(child));
            match node {
                Node::Reference(rule) => self.references.push((id, rule)),
                // It may be unrolled: then its body is used more than once.
                Node::Repeat { body, .. } => self.nodes[body as usize].uses += 1,
                _ => {}
            }
            let nullable = self.is_nullable(ir, node);
            self.nodes.push(NodeShape { first_child, nullable, rule: u32::MAX, ..NodeShape::default() });
        }
    }

    fn children(&self, node: u32) -> &[u32] {
        children(&self.nodes, &self.children, node)
    }

    /// Whether there is little to give back. A few nodes may have many children, and many rules one body.
    pub fn is_small(&self, most: usize) -> bool {
        self.nodes.capacity() <= most
            && self.children.capacity() <= 4 * most
            && self.rules.capacity() <= most
            && self.found.capacity() <= most
    }

    /// Whether the node has the empty text.
    pub fn nullable(&self, node: u32) -> bool {
        self.nodes[node as usize].nullable
    }

    /// About how many states the node makes; calls count one, counted loops too.
    pub fn positions(&self, node: u32) -> u64 {
        self.nodes[node as usize].positions
    }

    /// Whether the rule can reach itself.
    pub fn recursive(&self, rule: u32) -> bool {
        self.rules[rule as usize].recursive
    }

    /// Whether the rule is copied to where it is used.
    pub fn inlined(&self, rule: u32) -> bool {
        self.rules[rule as usize].inlined
    }

    /// The bounds of a repeat that becomes a rule with a counter.
    pub fn counted(&self, body: u32, min: u32, max: u32) -> Option<Bounds> {
        // An empty body counts for nothing: (x?){3,5} is x{0,5}.
        let min = if self.nullable(body) { 0 } else { min };
        let copies = if max == UNBOUNDED { min.max(1) } else { max };
        let unrolled = u64::from(copies).saturating_mul(self.positions(body));
        (copies > 1 && unrolled > MAX_UNROLLED).then_some(Bounds { min, max })
    }

    /// Whether a part alone, which is wanted deterministic, is built as it is: it is too large to try, or it counts.
    pub fn is_left_open(&self, parts: &[u32]) -> bool {
        matches!(parts, &[body] if self.positions(body) > MAX_SMALL || self.nodes[body as usize].counting)
    }

    /// The counted parts of an intersection as one, and all others, if there is a counted one with large bounds.
    pub fn counted_parts(&self, ir: &Ir, parts: &[u32]) -> Option<(u32, Bounds, Vec<u32>)> {
        let mut found: Option<(u32, Bounds)> = None;
        let mut others = Vec::new();
        if parts.len() == 1 {
            return None;
        }
        for &part in parts {
            let Node::Repeat { body, min, max } = ir.node(part) else {
                others.push(part);
                continue;
            };
            let copies = u64::from(if max == UNBOUNDED { min } else { max });
            if copies.saturating_mul(self.positions(body)) <= MAX_UNROLLED {
                others.push(part);
                continue;
            }
            let (known, bounds) = *found.get_or_insert((body, Bounds { min, max }));
            if known != body {
                return None;
            }
            found = Some((body, Bounds { min: bounds.min.max(min), max: bounds.max.min(max) }));
        }
        let (body, bounds) = found?;
        (!others.is_empty() && bounds.min <= bounds.max).then_some((body, bounds, others))
    }

    /// One round, children first, settles all but what hangs on a reference to a rule further on. The rest is a fixpoint over
    /// a work list: a node is looked at again when a child or the rule it refers to has changed.
    ///
    /// Rounds over all nodes until nothing changes take a round a rule on a chain of 20,000 rules.
    fn settle_nullable(&mut self, ir: &Ir) {
        let body = |rule: u32| ir.rules[rule as usize];
        let is_open = |&&(id, rule): &&(u32, u32)| self.nullable(body(rule)) != self.nullable(id);
        let mut open: Vec<u32> =
            self.references.iter().filter(is_open).map(|reference| reference.0).collect();
        if open.is_empty() {
            return;
        }
        let parents = parents(ir);
        let mut flips = vec![0u8; ir.n_nodes()];
        while let Some(id) = open.pop() {
            let now = self.is_nullable(ir, ir.node(id));
            if now != self.nullable(id) {
                flips[id as usize] += 1;
            }
            // `S = ~S` would change for ever; it is refused when it is built.
            if flips[id as usize] > MAX_FLIPS {
                continue;
            }
            if now != std::mem::replace(&mut self.nodes[id as usize].nullable, now) {
                open.extend_from_slice(parents.of(id));
            }
        }
    }

    fn is_nullable(&self, ir: &Ir, node: Node) -> bool {
        let null = |&part: &u32| self.nullable(part);
        match node {
            Node::Empty | Node::ByteClass(_) | Node::Chars(_) | Node::Special(_) => false,
            Node::Literal(text) => text.is_empty(),
            Node::Literals { lengths, .. } => lengths.first_chunk() == Some(&[0; 4]),
            Node::Sequence(parts) | Node::Intersection(parts) => parts.iter().all(null),
            Node::Choice(branches) => branches.iter().any(null),
            Node::Repeat { body, min, .. } => min == 0 || null(&body),
            // A rule whose body comes later is looked at again.
            Node::Reference(rule) => {
                self.nodes.get(ir.rules[rule as usize] as usize).is_some_and(|body| body.nullable)
            }
            // Not monotone, but regular: no cycle goes through it, so it settles after its body.
            Node::Complement(body) => !null(&body),
            Node::Members(members) => members.nullable(),
            Node::Distinct(distinct) => distinct.min == 0,
            Node::Decimal { .. } | Node::Indentation { .. } => false,
            Node::Nested(body) => null(&body),
        }
    }

    /// Rules in the order of their calls, callees first, so that what is inlined counts in full where it is used.
    fn settle_positions(&mut self, ir: &Ir) {
        let mut listed = std::mem::take(&mut self.listed);
        for at in 0..self.order.len() {
            let rule = self.order[at] as usize;
            let body = ir.rules[rule];
            listed.clear();
            self.open.push(body);
            while let Some(node) = self.open.pop() {
                if !std::mem::replace(&mut self.nodes[node as usize].settled, true) {
                    listed.push(node);
                    self.open.extend_from_slice(children(&self.nodes, &self.children, node));
                }
            }
            listed.sort_unstable();
            for &node in &listed {
                let positions = self.count_positions(ir, ir.node(node));
                let counting = self.counts(ir, node);
                let shape = &mut self.nodes[node as usize];
                (shape.positions, shape.counting) = (positions, counting);
            }
            let small = self.positions(body);
            let rule = &mut self.rules[rule];
            let most = if rule.uses <= 1 { MAX_INLINED_ONCE } else { MAX_INLINED };
            rule.inlined = small <= most && !rule.recursive;
        }
        self.listed = listed;
    }

    /// How often each rule is referred to by nodes; nodes are shared, so this is a lower bound of the copies.
    fn count_uses(&mut self, ir: &Ir) {
        let mut use_once = |node: u32| {
            let uses = &mut self.nodes[node as usize].uses;
            *uses = uses.saturating_add(1);
        };
        ir.rules.iter().for_each(|&body| use_once(body));
        self.children.iter().for_each(|&child| use_once(child));
        for &(id, rule) in &self.references {
            let uses = &mut self.rules[rule as usize].uses;
            *uses = uses.saturating_add(self.nodes[id as usize].uses);
        }
    }

    /// Find the rules that can reach themselves, and an order with callees first.
    fn settle_rules(&mut self, ir: &Ir) {
        self.find_calls(ir);
        let (graph, n) = (&self.graph, ir.rules.len());
        self.search.run(n, |rule, at| graph.of(rule).get(at as usize).copied());
        let component = &self.search.component;
        self.order.clear();
        self.order.extend(0..n as u32);
        self.order.sort_unstable_by_key(|&rule| (component[rule as usize], rule));
        for together in self.order.chunk_by(|&a, &b| component[a as usize] == component[b as usize]) {
            for &rule in together {
                self.rules[rule as usize].recursive = together.len() > 1 || graph.of(rule).contains(&rule);
            }
        }
    }

    /// For each rule, the rules that its body refers to.
    fn find_calls(&mut self, ir: &Ir) {
        self.found.clear();
        for (rule, &body) in (0u32..).zip(&ir.rules) {
            self.open.push(body);
            while let Some(node) = self.open.pop() {
                if std::mem::replace(&mut self.nodes[node as usize].rule, rule) == rule {
                    continue;
                }
                let children = children(&self.nodes, &self.children, node);
                self.open.extend_from_slice(children);
                if children.is_empty()
                    && let Node::Reference(to) = ir.node(node)
                {
                    self.found.push((rule, to));
                }
            }
        }
        self.graph.sort(ir.rules.len(), self.found.iter().copied());
    }

    fn counts(&self, ir: &Ir, id: u32) -> bool {
        let far = |min: u32, max: u32| if max == UNBOUNDED { min > MAX_COPIED } else { max > MAX_COPIED };
        let own = matches!(ir.node(id), Node::Repeat { body, min, max }
            if far(min, max) && self.counted(body, min, max).is_some());
        own || self.children(id).iter().any(|&child| self.nodes[child as usize].counting)
    }

    fn count_positions(&self, ir: &Ir, node: Node) -> u64 {
        let of = |&part: &u32| self.positions(part);
        match node {
            Node::Empty => 0,
            Node::Literal(text) => text.len() as u64,
            Node::Literals { text, .. } => text.len() as u64,
            Node::ByteClass(_) | Node::Special(_) => 1,
            Node::Members(_) | Node::Distinct(_) | Node::Decimal { .. } => 1,
            Node::Nested(_) | Node::Indentation { .. } => 1,
            Node::Chars(pairs) => 1 + pairs.len() as u64 / 32,
            Node::Sequence(parts) | Node::Choice(parts) => parts.iter().map(of).fold(0, u64::saturating_add),
            Node::Intersection(parts) => parts.iter().map(of).fold(1, u64::saturating_mul),
            Node::Complement(body) => 2 * of(&body).min(u64::MAX / 4),
            Node::Repeat { body, min, max } => {
                let copies = u64::from(if max == UNBOUNDED { min.max(1) } else { max });
                copies.saturating_mul(of(&body)).max(1)
            }
            Node::Reference(rule) if self.inlined(rule) => of(&ir.rules[rule as usize]).max(1),
            Node::Reference(_) => 1,
        }
    }
}

/// The children of a node, out of those of all nodes.
fn children<'c>(nodes: &[NodeShape], children: &'c [u32], node: u32) -> &'c [u32] {
    let next = nodes.get(node as usize + 1).map_or(children.len(), |next| next.first_child as usize);
    &children[nodes[node as usize].first_child as usize..next]
}

/// For each node, the nodes whose language depends on it.
fn parents(ir: &Ir) -> Rows<u32> {
    let mut pairs = Vec::new();
    for id in 0..ir.n_nodes() as u32 {
        for_each_child(ir.node(id), |child| pairs.push((child, id)));
        if let Node::Reference(rule) = ir.node(id) {
            pairs.push((ir.rules[rule as usize], id));
        }
    }
    let mut parents = Rows::default();
    parents.sort(ir.n_nodes(), pairs.iter().copied());
    parents
}

pub fn for_each_child(node: Node, mut visit: impl FnMut(u32)) {
    match node {
        Node::Sequence(parts) | Node::Choice(parts) | Node::Intersection(parts) => {
            parts.iter().for_each(|&part| visit(part));
        }
        Node::Repeat { body, .. } | Node::Complement(body) | Node::Nested(body) => visit(body),
        Node::Members(members) => {
            visit(members.separator);
            members.declared().for_each(|(key, tail, _)| [key, tail].into_iter().for_each(&mut visit));
            members.open().for_each(|(key, tail, _)| [key, tail].into_iter().for_each(&mut visit));
        }
        Node::Distinct(distinct) => {
            visit(distinct.separator);
            visit(distinct.rest);
            distinct.prefix.iter().for_each(|&item| visit(item));
        }
        _ => {}
    }
}
