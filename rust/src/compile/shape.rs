//! What can be said of each IR node before anything is built: how large, whether it can be empty, which rules to inline.

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

pub struct Shapes {
    nullable: Vec<bool>,
    positions: Vec<u64>,
    /// Nodes with a repeat in them that becomes a rule with a counter, and counts far.
    counting: Vec<bool>,
    inlined: Vec<bool>,
    recursive: Vec<bool>,
}

impl Shapes {
    pub fn new(ir: &Ir) -> Shapes {
        let (recursive, order) = recursive_rules(ir);
        let mut shapes = Shapes {
            nullable: vec![false; ir.n_nodes()],
            positions: vec![0; ir.n_nodes()],
            counting: vec![false; ir.n_nodes()],
            inlined: vec![false; ir.rules.len()],
            recursive,
        };
        shapes.settle_nullable(ir);
        shapes.settle_positions(ir, &order);
        shapes
    }

    /// Whether the node has the empty text.
    pub fn nullable(&self, node: u32) -> bool {
        self.nullable[node as usize]
    }

    /// About how many states the node makes; calls count one, counted loops too.
    pub fn positions(&self, node: u32) -> u64 {
        self.positions[node as usize]
    }

    /// Whether the rule can reach itself.
    pub fn recursive(&self, rule: u32) -> bool {
        self.recursive[rule as usize]
    }

    /// Whether the rule is copied to where it is used.
    pub fn inlined(&self, rule: u32) -> bool {
        self.inlined[rule as usize]
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
        matches!(parts, &[body] if self.positions(body) > MAX_SMALL || self.counting[body as usize])
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
        let n = ir.n_nodes() as u32;
        for id in 0..n {
            self.nullable[id as usize] = self.is_nullable(ir, ir.node(id));
        }
        let is_open = |id: &u32| {
            let node = ir.node(*id);
            matches!(node, Node::Reference(_)) && self.is_nullable(ir, node) != self.nullable[*id as usize]
        };
        let mut open: Vec<u32> = (0..n).filter(is_open).collect();
        if open.is_empty() {
            return;
        }
        let parents = parents(ir);
        let mut flips = vec![0u8; ir.n_nodes()];
        while let Some(id) = open.pop() {
            let now = self.is_nullable(ir, ir.node(id));
            if now != self.nullable[id as usize] {
                flips[id as usize] += 1;
            }
            // `S = ~S` would change for ever; it is refused when it is built.
            if flips[id as usize] > MAX_FLIPS {
                continue;
            }
            if now != std::mem::replace(&mut self.nullable[id as usize], now) {
                open.extend_from_slice(parents.of(id));
            }
        }
    }

    fn is_nullable(&self, ir: &Ir, node: Node) -> bool {
        let null = |&part: &u32| self.nullable[part as usize];
        match node {
            Node::Empty | Node::ByteClass(_) | Node::Chars(_) | Node::Special(_) => false,
            Node::Literal(text) => text.is_empty(),
            Node::Literals { lengths, .. } => lengths.first_chunk() == Some(&[0; 4]),
            Node::Sequence(parts) | Node::Intersection(parts) => parts.iter().all(null),
            Node::Choice(branches) => branches.iter().any(null),
            Node::Repeat { body, min, .. } => min == 0 || null(&body),
            Node::Reference(rule) => null(&ir.rules[rule as usize]),
            // Not monotone, but regular: no cycle goes through it, so it settles after its body.
            Node::Complement(body) => !null(&body),
            Node::Members(members) => members.nullable(),
            Node::Distinct(distinct) => distinct.min == 0,
            Node::Decimal { .. } | Node::Indentation { .. } => false,
            Node::Nested(body) => null(&body),
        }
    }

    /// Rules in the order of their calls, callees first, so that what is inlined counts in full where it is used.
    fn settle_positions(&mut self, ir: &Ir, order: &[u32]) {
        let uses = count_uses(ir);
        let mut known = vec![false; ir.n_nodes()];
        let (mut nodes, mut open) = (Vec::new(), Vec::new());
        for &rule in order {
            let body = ir.rules[rule as usize];
            nodes.clear();
            open.push(body);
            while let Some(node) = open.pop() {
                if !std::mem::replace(&mut known[node as usize], true) {
                    nodes.push(node);
                    for_each_child(ir.node(node), |child| open.push(child));
                }
            }
            nodes.sort_unstable();
            for &node in &nodes {
                self.positions[node as usize] = self.count_positions(ir, ir.node(node));
                self.counting[node as usize] = self.counts(ir.node(node));
            }
            let most = if uses[rule as usize] <= 1 { MAX_INLINED_ONCE } else { MAX_INLINED };
            let small = self.positions[body as usize] <= most;
            self.inlined[rule as usize] = small && !self.recursive[rule as usize];
        }
    }

    fn counts(&self, node: Node) -> bool {
        let far = |min: u32, max: u32| if max == UNBOUNDED { min > MAX_COPIED } else { max > MAX_COPIED };
        let own = matches!(node, Node::Repeat { body, min, max }
            if far(min, max) && self.counted(body, min, max).is_some());
        let mut within = false;
        for_each_child(node, |child| within |= self.counting[child as usize]);
        own || within
    }

    fn count_positions(&self, ir: &Ir, node: Node) -> u64 {
        let of = |&part: &u32| self.positions[part as usize];
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
            Node::Reference(rule) if self.inlined[rule as usize] => of(&ir.rules[rule as usize]).max(1),
            Node::Reference(_) => 1,
        }
    }
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

/// How often each rule is referred to by nodes; nodes are shared, so this is a lower bound of the copies.
fn count_uses(ir: &Ir) -> Vec<u32> {
    let mut node_uses = vec![0u32; ir.n_nodes()];
    for &node in &ir.rules {
        node_uses[node as usize] = node_uses[node as usize].saturating_add(1);
    }
    for id in 0..ir.n_nodes() {
        for_each_child(ir.node(id as u32), |child| {
            // A repeat may be unrolled: its body is used more than once.
            let weight = if matches!(ir.node(id as u32), Node::Repeat { .. }) { 2 } else { 1 };
            node_uses[child as usize] = node_uses[child as usize].saturating_add(weight);
        });
    }
    let mut uses = vec![0u32; ir.rules.len()];
    for (id, &node_uses) in (0u32..).zip(&node_uses) {
        if let Node::Reference(rule) = ir.node(id) {
            uses[rule as usize] = uses[rule as usize].saturating_add(node_uses);
        }
    }
    uses
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
            members.open().for_each(|(key, tail)| [key, tail].into_iter().for_each(&mut visit));
        }
        Node::Distinct(distinct) => {
            visit(distinct.separator);
            visit(distinct.rest);
            distinct.prefix.iter().for_each(|&item| visit(item));
        }
        _ => {}
    }
}

/// Rules that can reach themselves, and all rules with callees first.
fn recursive_rules(ir: &Ir) -> (Vec<bool>, Vec<u32>) {
    let graph = rule_graph(ir);
    let n = ir.rules.len();
    let components = super::components::components(n, |rule| graph.of(rule).iter().copied());
    let mut size = vec![0u32; n];
    components.iter().for_each(|&component| size[component as usize] += 1);
    let loops = |rule: usize| graph.of(rule as u32).contains(&(rule as u32));
    let recursive = (0..n).map(|rule| size[components[rule] as usize] > 1 || loops(rule)).collect();
    let mut order: Vec<u32> = (0..n as u32).collect();
    order.sort_by_key(|&rule| components[rule as usize]);
    (recursive, order)
}

/// For each rule, the rules that its body refers to.
fn rule_graph(ir: &Ir) -> Rows<u32> {
    let mut stamp = vec![u32::MAX; ir.n_nodes()];
    let (mut found, mut open) = (Vec::new(), Vec::new());
    for (rule, &body) in (0u32..).zip(&ir.rules) {
        open.push(body);
        while let Some(node) = open.pop() {
            if std::mem::replace(&mut stamp[node as usize], rule) == rule {
                continue;
            }
            if let Node::Reference(to) = ir.node(node) {
                found.push((rule, to));
            }
            for_each_child(ir.node(node), |child| open.push(child));
        }
    }
    let mut graph = Rows::default();
    graph.sort(ir.rules.len(), found.iter().copied());
    graph
}
