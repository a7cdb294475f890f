//! From the IR to a program: the compile phase. Nothing here looks at the vocabulary.
//!
//! In order: `ir` reads the record, `shape` measures it, `thompson` builds a draft a rule (with `acyclic`, `utf8`,
//! `dfa`, `words` and `counted` for regular parts, `remember` for nodes that remember), `epsilon` takes ε-edges out, `trim`
//! useless states, `left_recursion` first calls in a circle, `reduce` merges equal states, `link` lays all rules out as
//! one `Program`.

pub mod acyclic;
pub mod components;
pub mod counted;
pub mod dfa;
pub mod draft;
pub mod epsilon;
pub mod ir;
pub mod left_recursion;
pub mod link;
pub mod reduce;
pub mod remember;
pub mod shape;
pub mod thompson;
pub mod trim;
pub mod utf8;
pub mod words;
pub mod words_only;

use crate::error::{Error, Result};
use crate::program::Program;

/// Ceilings of one compile. All count work or size, so that a verdict is the same on every machine.
#[derive(Debug, Clone, Copy)]
pub struct CompileLimits {
    pub rules: u64,
    pub states: u64,
    pub dfa_states: u64,
    pub edges: u64,
}

impl Default for CompileLimits {
    fn default() -> Self {
        CompileLimits { rules: 100_000, states: 500_000, dfa_states: 100_000, edges: 2_000_000 }
    }
}

/// What a compile has spent of its limits.
#[derive(Debug)]
pub struct Budget {
    limits: CompileLimits,
    rules: u64,
    states: u64,
    dfa_states: u64,
    edges: u64,
}

impl Budget {
    pub fn new(limits: CompileLimits) -> Budget {
        Budget { limits, rules: 0, states: 0, dfa_states: 0, edges: 0 }
    }

    pub fn spend_rules(&mut self, n: u64) -> Result<()> {
        spend(&mut self.rules, n, self.limits.rules, "rules")
    }

    pub fn spend_states(&mut self, n: u64) -> Result<()> {
        spend(&mut self.states, n, self.limits.states, "states")
    }

    pub fn spend_dfa_states(&mut self, n: u64) -> Result<()> {
        spend(&mut self.dfa_states, n, self.limits.dfa_states, "dfa_states")
    }

    pub fn spend_edges(&mut self, n: u64) -> Result<()> {
        spend(&mut self.edges, n, self.limits.edges, "edges")
    }
}

fn spend(spent: &mut u64, n: u64, limit: u64, name: &'static str) -> Result<()> {
    *spent = spent.saturating_add(n);
    if *spent > limit {
        let what = format!("the format needs more than {limit} {}", name.replace('_', " "));
        return Err(Error::Limit { what, limit: name, value: limit });
    }
    Ok(())
}

/// Compile a checked IR.
pub fn compile(ir: &ir::Ir, limits: CompileLimits) -> Result<Program> {
    let mut budget = Budget::new(limits);
    if let ir::Node::Literals { text, lengths } = ir.node(ir.rules[ir.root as usize]) {
        return words_only::program(text, lengths, &ir.names[ir.root as usize], &mut budget);
    }
    let shapes = shape::Shapes::new(ir);
    let (drafts, names, memories) = thompson::Thompson::new(ir, &shapes, &mut budget).build()?;
    let mut rules = epsilon::remove_epsilons(drafts, &mut budget)?;
    trim::trim(&mut rules, &names, &memories)?;
    left_recursion::remove(&mut rules, &mut budget)?;
    rules.iter_mut().for_each(reduce::reduce);
    link::link(rules, names, memories)
}
