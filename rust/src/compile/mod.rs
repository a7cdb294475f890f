//! From the IR to a program: the compile phase. Nothing here looks at the vocabulary.
//!
//! In order: `ir` reads the record, `shape` measures it, `groups` finds what must be built together, and `spelling` what makes two
//! groups the same. Then group by group, callees first: `thompson` builds drafts (with `acyclic`, `utf8`, `regular`, `dfa`, `words` and
//! `counted` for regular parts, `remember`, `members` and `bare_words` for nodes that remember), `epsilon` takes ε-edges out, `trim`
//! useless states, `left_recursion` first calls in a circle, `reduce` merges equal states, `layout` writes the tables of the
//! group. `link` copies all groups into one `Program`.

pub mod acyclic;
pub mod bare_words;
pub mod components;
pub mod counted;
pub mod dfa;
pub mod draft;
pub mod epsilon;
pub mod groups;
pub mod ir;
pub mod kept;
pub mod layout;
pub mod left_recursion;
pub mod link;
pub mod members;
pub mod reduce;
pub mod regular;
pub mod remember;
pub mod rows;
pub mod shape;
pub mod spelling;
pub mod thompson;
pub mod trim;
pub mod utf8;
pub mod words;
pub mod words_only;

use std::sync::Arc;

use groups::Groups;
use kept::{Built, Kept, Passes, Scratch};
use layout::Fragment;
use spelling::Speller;
use thompson::{Drafts, Thompson};

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

/// What something has spent of the limits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Spent {
    rules: u64,
    states: u64,
    dfa_states: u64,
    edges: u64,
    text_bytes: u64,
}

impl Spent {
    fn minus(self, before: Spent) -> Spent {
        Spent {
            rules: self.rules - before.rules,
            states: self.states - before.states,
            dfa_states: self.dfa_states - before.dfa_states,
            edges: self.edges - before.edges,
            text_bytes: self.text_bytes - before.text_bytes,
        }
    }
}

/// Bytes of the texts that are left to different items and keys, from all their states: 2,000 texts, each the beginning of the next,
/// have a billion.
const MAX_TEXT_BYTES: u64 = 64 << 20;

/// What a compile has spent of its limits.
#[derive(Debug)]
pub struct Budget {
    limits: CompileLimits,
    spent: Spent,
    visits: u64,
    /// What was given up for want of DFA states would have been built with more of them.
    cut_short: bool,
}

impl Budget {
    pub fn new(limits: CompileLimits) -> Budget {
        Budget { limits, spent: Spent::default(), visits: 0, cut_short: false }
    }

    pub fn spent(&self) -> Spent {
        self.spent
    }

    /// Spend what something took that was built before. If it is too much nothing is spent: building it again
    /// finds the limit that it exceeds first.
    pub fn spend_again(&mut self, cost: Spent) -> bool {
        let (spent, limits) = (self.spent, self.limits);
        let fits = |spent: u64, cost: u64, limit: u64| spent.saturating_add(cost) <= limit;
        let all = fits(spent.rules, cost.rules, limits.rules)
            && fits(spent.states, cost.states, limits.states)
            && fits(spent.dfa_states, cost.dfa_states, limits.dfa_states)
            && fits(spent.edges, cost.edges, limits.edges)
            && fits(spent.text_bytes, cost.text_bytes, MAX_TEXT_BYTES);
        if all {
            self.spent = Spent {
                rules: spent.rules + cost.rules,
                states: spent.states + cost.states,
                dfa_states: spent.dfa_states + cost.dfa_states,
                edges: spent.edges + cost.edges,
                text_bytes: spent.text_bytes + cost.text_bytes,
            };
        }
        all
    }

    /// Texts that different items or keys may still become.
    pub fn spend_texts(&mut self, texts: &[Box<[u8]>]) -> Result<()> {
        let bytes: usize = texts.iter().map(|text| text.len() + size_of::<Box<[u8]>>()).sum();
        spend(&mut self.spent.text_bytes, bytes as u64, MAX_TEXT_BYTES, "text_bytes").map_err(|_| {
            let what = format!(
                "what different items or keys may still become takes more than {MAX_TEXT_BYTES} bytes"
            );
            Error::Limit { what, limit: "text_bytes", value: MAX_TEXT_BYTES }
        })
    }

    /// Nodes looked at to find out what is built together: as many as there may be edges.
    pub fn spend_visits(&mut self, n: u64) -> Result<()> {
        spend(&mut self.visits, n, self.limits.edges, "edges")
    }

    pub fn spend_rules(&mut self, n: u64) -> Result<()> {
        spend(&mut self.spent.rules, n, self.limits.rules, "rules")
    }

    pub fn spend_states(&mut self, n: u64) -> Result<()> {
        spend(&mut self.spent.states, n, self.limits.states, "states")
    }

    pub fn spend_dfa_states(&mut self, n: u64) -> Result<()> {
        spend(&mut self.spent.dfa_states, n, self.limits.dfa_states, "dfa_states")
    }

    /// Allow no more than `n` further states of DFAs; returns what was allowed before, for `widen_dfa_states`.
    pub fn narrow_dfa_states(&mut self, n: u64) -> u64 {
        let narrow = self.limits.dfa_states.min(self.spent.dfa_states.saturating_add(n));
        std::mem::replace(&mut self.limits.dfa_states, narrow)
    }

    pub fn widen_dfa_states(&mut self, limit: u64) {
        self.limits.dfa_states = limit;
        self.cut_short |= self.spent.dfa_states > limit;
        self.spent.dfa_states = self.spent.dfa_states.min(limit);
    }

    /// Whether anything since the last time it was asked hangs on how much was left.
    fn take_cut_short(&mut self) -> bool {
        std::mem::take(&mut self.cut_short)
    }

    pub fn spend_edges(&mut self, n: u64) -> Result<()> {
        spend(&mut self.spent.edges, n, self.limits.edges, "edges")
    }
}

#[inline(always)]
fn spend(spent: &mut u64, n: u64, limit: u64, name: &'static str) -> Result<()> {
    *spent = spent.saturating_add(n);
    if *spent > limit { Err(exceeded(limit, name)) } else { Ok(()) }
}

#[cold]
fn exceeded(limit: u64, name: &'static str) -> Error {
    let what = format!("the format needs more than {limit} {}", name.replace('_', " "));
    Error::Limit { what, limit: name, value: limit }
}

/// Compile a checked IR. What is `kept` of earlier compiles saves work, and makes no difference to the program.
pub fn compile(ir: &ir::Ir, limits: CompileLimits, kept: &Kept) -> Result<Program> {
    let mut budget = Budget::new(limits);
    if let ir::Node::Literals { text, lengths } = ir.node(ir.rules[ir.root as usize]) {
        return words_only::program(text, lengths, ir, &mut budget);
    }
    let Scratch { mut shapes, mut groups, mut key, thompson: mut buffers, mut passes, mut search } =
        kept.scratch();
    shapes.read(ir);
    let mut speller = Speller::new(ir, &shapes, buffers.take_speller());
    groups.read(ir, &mut speller, &mut budget)?;
    let mut thompson = Thompson::new(ir, &shapes, &groups, speller, buffers, kept, &mut budget);
    let mut built: Vec<Arc<Built<Fragment>>> = Vec::with_capacity(groups.n_groups());
    for group in 0..groups.n_groups() as u32 {
        groups.key(group, |callee| built[callee as usize].number, &mut key);
        let known = kept.group(&key).filter(|known| thompson.budget.spend_again(known.spent));
        let made = match known {
            Some(known) => known,
            None => {
                let before = thompson.budget.spent();
                let fragment = fragment(&mut thompson, &groups, &built, group, &mut passes)?;
                let spent = thompson.budget.spent().minus(before);
                let made = Arc::new(Built::new(fragment, spent));
                // It would be another one with more left of the limits, so it is not for other compiles.
                if thompson.budget.take_cut_short() { made } else { kept.add_group(&key, made) }
            }
        };
        if made.value.program.rules.is_empty() {
            thompson.refuse_count(group);
        }
        built.push(made);
    }
    let thompson = thompson.into_buffers();
    let root = &groups.vertices[0];
    let (last, place) = (&built[root.group as usize].value, root.place as usize);
    if !last.texts[place].some && !last.texts[place].empty {
        return Err(Error::Grammar {
            what: format!("no text at all is in the format: rule {:?} can never end", ir.names.of(ir.root)),
            why: "every way through it runs into a part that no text can match, or into itself again".into(),
            code: Some("grammar.empty"),
        });
    }
    let program = link::link(ir, &groups, &built, &mut search)?;
    kept.give_back(Scratch { shapes, groups, key, thompson, passes, search });
    Ok(program)
}

/// Build a group; all that it calls is built.
fn fragment(
    thompson: &mut Thompson,
    groups: &Groups,
    built: &[Arc<Built<Fragment>>],
    group: u32,
    passes: &mut Passes,
) -> Result<Fragment> {
    let Some(drafts) = thompson.build(group)? else { return Fragment::none(thompson.budget) };
    let slots = groups.slots(group);
    let callee = |slot: u32| {
        let vertex = &groups.vertices[slots[slot as usize] as usize];
        (&built[vertex.group as usize].value, vertex.place as usize)
    };
    let Drafts { draft, memories, actions } = drafts;
    let nullable = |slot: u32| {
        let (fragment, place) = callee(slot);
        fragment.texts[place].empty
    };
    let mut automata = epsilon::remove(&draft, nullable, &mut passes.epsilon, thompson.budget)?;
    thompson.give_back(draft);
    trim::incoming(&automata, &mut passes.into);
    trim::trim(&mut automata, &passes.into, &memories, &actions, &mut passes.trim, |slot| {
        let (fragment, place) = callee(slot);
        fragment.texts[place].some
    });
    if left_recursion::remove(&mut automata, thompson.budget)? {
        trim::incoming(&automata, &mut passes.into);
    }
    reduce::reduce(&mut automata, &passes.into, &mut passes.reduce);
    let lives = &passes.trim.rules;
    let fragment = Fragment::new(&automata, lives, actions, memories, &mut passes.layout, thompson.budget)?;
    passes.epsilon.give_back(automata);
    Ok(fragment)
}

#[cfg(test)]
mod tests {
    use super::ir::{Ir, UNBOUNDED};
    use super::kept::Kept;
    use super::{CompileLimits, compile};
    use crate::error::Result;
    use crate::program::{Origin, Program, RuleNames};

    /// `open`, a list of numbers and lists, 40 to 90 zeros, a list, zeros that are not `open`, and one member.
    fn lists(open: &[u8], limits: CompileLimits, kept: &Kept) -> Result<Program> {
        let blob = [b"[],0", open].concat();
        let records: [&[u32]; 16] = [
            &[1, 2, 0, 1],
            &[1, 2, 1, 1],
            &[1, 2, 2, 1],
            &[1, 2, 3, 1],
            &[1, 2, 4, open.len() as u32],
            // 5: a number; 6: a list; 7: an item; 8: one more of them; 9: any number more; 10: the rule of lists.
            &[6, 3, 3, 1, UNBOUNDED],
            &[7, 1, 1],
            &[5, 2, 5, 6],
            &[4, 2, 2, 7],
            &[6, 3, 8, 0, UNBOUNDED],
            &[4, 4, 0, 7, 9, 1],
            // 11: a counted loop; 12 and 13: a regular part; 14: members; 15: the root.
            &[6, 3, 3, 40, 90],
            &[9, 1, 4],
            &[8, 2, 12, 5],
            &[12, 9, 2, 1, 1, UNBOUNDED, 0, 1, 0, 7, 1],
            &[4, 6, 4, 6, 11, 6, 13, 14],
        ];
        let names = RuleNames::new(|rule| ["root", "list"][rule as usize].into());
        let words = records.concat();
        let ir = Ir::read(&words, &blob, vec![15, 10], names, 0).expect("a well-formed record");
        compile(&ir, limits, kept)
    }

    /// Everything but where it comes from.
    fn shown(mut program: Program) -> String {
        let nowhere = Origin { group: 0, rule: 0 };
        program.rules.iter_mut().for_each(|rule| rule.origin = nowhere);
        let names: Vec<String> = program.rules.iter().map(|rule| program.name(rule)).collect();
        format!("{program:?} {names:?}")
    }

    #[test]
    fn what_is_kept_changes_no_program() {
        let kept = Kept::default();
        let limits = CompileLimits::default();
        for open in [&b"a"[..], b"b", b"a", b"bb"] {
            let cold = lists(open, limits, &Kept::default()).expect("a format");
            let warm = lists(open, limits, &kept).expect("a format");
            assert_eq!(shown(warm), shown(cold));
        }
    }

    /// A format of some records, the last of which is its root.
    fn of_records(records: &[&[u32]], kept: &Kept) -> Result<Program> {
        let words = records.concat();
        let names = RuleNames::new(|_| "root".into());
        let root = records.len() as u32 - 1;
        let ir = Ir::read(&words, &[b'a'; 100_000], vec![root], names, 0).expect("a well-formed record");
        compile(&ir, CompileLimits::default(), kept)
    }

    #[test]
    fn scratch_memory_stays_after_a_usual_format_and_not_after_a_large_or_a_wrong_one() {
        const N: u32 = 20_000;
        let nodes = |n: u32, record: &[u32]| record.repeat(n as usize);
        let joined = |op: u32, parts: &[u32]| [&[op, parts.len() as u32], parts].concat();
        let literal: &[u32] = &[1, 2, 0, 1];
        let usual: &[&[u32]] = &[literal, &[4, 2, 0, 0]];
        let large: [&[&[u32]]; 5] = [
            &[&[1, 2, 0, N]],
            &[literal, &joined(4, &nodes(N, &[0]))],
            &[literal, &joined(5, &nodes(N, &[0]))],
            &[literal, &[6, 3, 0, 0, 6_000], &[9, 1, 1]],
            &[&[1, 2, 0, 0], &[6, 3, 0, 0, N], &[4, 2, 1, 1]],
        ];
        for format in large {
            let kept = Kept::default();
            of_records(format, &kept).expect("a format");
            assert_eq!(kept.scratch().key.capacity(), 0, "{:?}", format.last());
        }
        let kept = Kept::default();
        of_records(usual, &kept).expect("a format");
        let scratch = kept.scratch();
        assert_ne!(scratch.key.capacity(), 0);
        kept.give_back(scratch);
        of_records(&[&[0, 0]], &kept).expect_err("no text");
        assert_eq!(kept.scratch().key.capacity(), 0);
        of_records(usual, &kept).expect("a format");
        assert_ne!(kept.scratch().key.capacity(), 0);
    }

    #[test]
    fn compiles_side_by_side_make_the_same_programs() {
        let kept = Kept::default();
        let all = [&b"a"[..], b"b", b"bb", b"abc"];
        let cold = |open: &[u8]| lists(open, CompileLimits::default(), &Kept::default()).map(shown);
        let expected = all.map(|open| cold(open).expect("a format"));
        std::thread::scope(|scope| {
            for first in 0..4 {
                let (kept, expected) = (&kept, &expected);
                scope.spawn(move || {
                    for at in (0..40).map(|n| (first + n) % all.len()) {
                        let made = lists(all[at], CompileLimits::default(), kept).expect("a format");
                        assert_eq!(shown(made), expected[at]);
                    }
                });
            }
        });
    }

    #[test]
    fn equal_rules_of_two_formats_have_one_origin() {
        let kept = Kept::default();
        let origins = |open: &[u8]| -> Vec<(String, Origin)> {
            let program = lists(open, CompileLimits::default(), &kept).expect("a format");
            program.rules.iter().map(|rule| (program.name(rule), rule.origin)).collect()
        };
        let (one, other) = (origins(b"a"), origins(b"b"));
        let shared: Vec<&str> =
            one.iter().filter(|rule| other.contains(rule)).map(|rule| rule.0.as_str()).collect();
        assert_eq!(shared, ["list", "{40,90}", "members", "member"]);
    }

    /// An `a` three characters before the end, deterministic if that takes no more states than there are.
    fn third_last(limits: CompileLimits, kept: &Kept) -> Result<Program> {
        let records: [&[u32]; 6] = [
            &[1, 2, 0, 1],
            &[1, 2, 1, 1],
            &[5, 2, 0, 1],
            &[6, 3, 2, 0, UNBOUNDED],
            &[4, 4, 3, 0, 2, 2],
            &[8, 1, 4],
        ];
        let words = records.concat();
        let ir = Ir::read(&words, b"ab", vec![5], RuleNames::new(|_| "root".into()), 0).expect("a record");
        compile(&ir, limits, kept)
    }

    #[test]
    fn what_is_built_short_of_states_is_not_kept() {
        let all = CompileLimits::default();
        let cold = third_last(all, &Kept::default()).expect("a format").states.len();
        for dfa_states in 0..20 {
            let kept = Kept::default();
            let short = third_last(CompileLimits { dfa_states, ..all }, &kept).expect("a format");
            let warm = third_last(all, &kept).expect("a format").states.len();
            assert_eq!(warm, cold, "after one with {dfa_states}, of {} states", short.states.len());
        }
        let short = third_last(CompileLimits { dfa_states: 2, ..all }, &Kept::default()).expect("a format");
        assert_ne!(short.states.len(), cold);
    }

    #[test]
    fn what_is_kept_changes_no_verdict() {
        let warm = Kept::default();
        lists(b"a", CompileLimits::default(), &warm).expect("a format");
        let verdict = |limits: CompileLimits, kept: &Kept| {
            lists(b"a", limits, kept)
                .map(|program| program.states.len())
                .map_err(|error| format!("{error:?}"))
        };
        let all = CompileLimits::default();
        for n in 0..120 {
            for limits in [
                CompileLimits { rules: n, ..all },
                CompileLimits { states: n, ..all },
                CompileLimits { dfa_states: n, ..all },
                CompileLimits { edges: n, ..all },
                CompileLimits { rules: 3, states: n, dfa_states: n / 4, edges: n },
            ] {
                assert_eq!(verdict(limits, &warm), verdict(limits, &Kept::default()), "{limits:?}");
            }
        }
    }
}
