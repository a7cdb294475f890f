//! What did the front end ask for? Reads the flat record of `maskwright.ir` and checks every index in it.

use crate::error::{Error, Result};
use crate::memory::MAX_NEEDS;
use crate::program::RuleNames;

pub const UNBOUNDED: u32 = u32::MAX;

/// A node of the IR; children come before their parents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Node<'a> {
    /// No text at all.
    Empty,
    Literal(&'a [u8]),
    /// One byte: bit b of the set is byte b.
    ByteClass(&'a [u8; 32]),
    /// One code point, as pairs of inclusive bounds in little-endian words.
    Chars(&'a [u8]),
    Sequence(&'a [u32]),
    Choice(&'a [u32]),
    Repeat {
        body: u32,
        min: u32,
        max: u32,
    },
    Reference(u32),
    Intersection(&'a [u32]),
    Complement(u32),
    /// Sorted byte strings: all of them in one blob, and their lengths as little-endian words.
    Literals {
        text: &'a [u8],
        lengths: &'a [u8],
    },
    Special(u32),
    Members(Members<'a>),
    Distinct(Distinct<'a>),
    Decimal {
        fields: &'a [u8],
        flags: u32,
        max_fraction: u32,
        max_digits: u32,
    },
    Nested(u32),
    Indentation {
        lead: &'a [u8],
        unit: &'a [u8],
    },
}

/// Keys and values with a separator between them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Members<'a> {
    pub separator: u32,
    pub ordered: bool,
    pub min: u32,
    pub max: u32,
    /// Keys are compared as JSON strings, else as bytes.
    pub json: bool,
    declared: &'a [u32],
    open: &'a [u32],
}

impl Members<'_> {
    /// (key, tail, required) of each declared member.
    pub fn declared(&self) -> impl ExactSizeIterator<Item = (u32, u32, bool)> + '_ {
        self.declared.chunks_exact(3).map(|member| (member[0], member[1], member[2] != 0))
    }

    /// (key, tail, needs that it meets) of each open language.
    pub fn open(&self) -> impl ExactSizeIterator<Item = (u32, u32, u8)> + '_ {
        self.open.chunks_exact(3).map(|member| (member[0], member[1], member[2] as u8))
    }

    pub fn nullable(&self) -> bool {
        self.min == 0 && self.declared().all(|member| !member.2) && self.open().all(|member| member.2 == 0)
    }
}

/// Items with a separator between them, no two alike.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Distinct<'a> {
    pub separator: u32,
    pub min: u32,
    pub max: u32,
    pub json: bool,
    pub rest: u32,
    pub prefix: &'a [u32],
}

/// A checked IR. Node ids count records; rule ids count rules.
#[derive(Debug)]
pub struct Ir<'a> {
    nodes: Vec<Node<'a>>,
    pub rules: Vec<u32>,
    pub names: RuleNames,
    pub root: u32,
}

impl<'a> Ir<'a> {
    pub fn read(
        words: &'a [u32],
        blob: &'a [u8],
        rules: Vec<u32>,
        names: RuleNames,
        root: u32,
    ) -> Result<Ir<'a>> {
        // A record has five words or so.
        let nodes = Vec::with_capacity(words.len() / 4);
        let mut reader = Reader { blob, n_rules: rules.len() as u32, nodes };
        let mut at = 0;
        while at < words.len() {
            let length = words.get(at + 1).copied().unwrap_or(u32::MAX) as usize;
            let args =
                words.get(at + 2..(at + 2).saturating_add(length)).ok_or_else(|| malformed("record"))?;
            let node = reader.node(words[at], args)?;
            reader.nodes.push(node);
            at += 2 + length;
        }
        let n_nodes = reader.nodes.len() as u32;
        if rules.iter().any(|&node| node >= n_nodes) || root as usize >= rules.len() {
            return Err(malformed("rule"));
        }
        Ok(Ir { nodes: reader.nodes, rules, names, root })
    }

    pub fn node(&self, id: u32) -> Node<'a> {
        self.nodes[id as usize]
    }

    pub fn n_nodes(&self) -> usize {
        self.nodes.len()
    }
}

fn malformed(part: &str) -> Error {
    Error::argument("grammar", format!("the IR has a malformed {part}"))
}

struct Reader<'a> {
    blob: &'a [u8],
    n_rules: u32,
    nodes: Vec<Node<'a>>,
}

impl<'a> Reader<'a> {
    /// dispatch: one arm a kind of node.
    fn node(&self, op: u32, args: &'a [u32]) -> Result<Node<'a>> {
        Ok(match (op, args) {
            (0, []) => Node::Empty,
            (1, &[at, n]) => Node::Literal(self.bytes(at, n)?),
            (2, &[at, 32]) => Node::ByteClass(self.bytes(at, 32)?.try_into().expect("32 bytes")),
            (3, &[at, n]) if n % 8 == 0 => Node::Chars(self.bytes(at, n)?),
            (4, parts) => Node::Sequence(self.children(parts)?),
            (5, parts) => Node::Choice(self.children(parts)?),
            (6, &[body, min, max]) if min <= max && min != UNBOUNDED => {
                self.children(&args[..1])?;
                Node::Repeat { body, min, max }
            }
            (7, &[rule]) if rule < self.n_rules => Node::Reference(rule),
            (8, parts) if !parts.is_empty() => Node::Intersection(self.children(parts)?),
            (9, &[body]) => {
                self.children(args)?;
                Node::Complement(body)
            }
            (10, &[at, n, lengths, count]) => self.literals(self.bytes(at, n)?, lengths, count)?,
            (11, &[token]) => Node::Special(token),
            (12, &[separator, ordered, min, max, spelling, count, ..]) if min <= max => {
                let split = (count as usize).checked_mul(3).filter(|&n| n <= args.len() - 6);
                let (declared, open) = args[6..].split_at(split.ok_or_else(|| malformed("member"))?);
                let is_need = |member: &[u32]| member[2] < 1 << MAX_NEEDS;
                if open.len() % 3 != 0 || !open.chunks_exact(3).all(is_need) {
                    return Err(malformed("member"));
                }
                let members = Members {
                    separator,
                    ordered: ordered != 0,
                    min,
                    max,
                    json: spelling != 0,
                    declared,
                    open,
                };
                self.children(&args[..1])?;
                members.declared().try_for_each(|(key, tail, _)| self.known(&[key, tail]))?;
                members.open().try_for_each(|(key, tail, _)| self.known(&[key, tail]))?;
                Node::Members(members)
            }
            (13, &[separator, min, max, spelling, rest, ..]) if min <= max => {
                self.known(&[separator, rest])?;
                let prefix = self.children(&args[5..])?;
                Node::Distinct(Distinct { separator, min, max, json: spelling != 0, rest, prefix })
            }
            (14, &[at, n, flags, max_fraction, max_digits]) => {
                Node::Decimal { fields: self.bytes(at, n)?, flags, max_fraction, max_digits }
            }
            (15, &[body]) => {
                self.children(args)?;
                Node::Nested(body)
            }
            (16, &[lead, n_lead, unit, n_unit]) if n_lead > 0 => {
                Node::Indentation { lead: self.bytes(lead, n_lead)?, unit: self.bytes(unit, n_unit)? }
            }
            _ => return Err(malformed("node")),
        })
    }

    fn bytes(&self, at: u32, n: u32) -> Result<&'a [u8]> {
        let (at, n) = (at as usize, n as usize);
        self.blob.get(at..at.saturating_add(n)).ok_or_else(|| malformed("blob"))
    }

    fn children(&self, parts: &'a [u32]) -> Result<&'a [u32]> {
        let known = self.nodes.len() as u32;
        if parts.iter().all(|&part| part < known) { Ok(parts) } else { Err(malformed("child")) }
    }

    fn known(&self, parts: &[u32]) -> Result<()> {
        let known = self.nodes.len() as u32;
        if parts.iter().all(|&part| part < known) { Ok(()) } else { Err(malformed("child")) }
    }

    fn literals(&self, text: &'a [u8], lengths: u32, count: u32) -> Result<Node<'a>> {
        let lengths = self.bytes(lengths, count.checked_mul(4).ok_or_else(|| malformed("count"))?)?;
        let total: u64 = little_words(lengths).map(u64::from).sum();
        if total != text.len() as u64 {
            Err(malformed("length"))
        } else {
            Ok(Node::Literals { text, lengths })
        }
    }
}

/// Little-endian words in a slice of bytes.
pub fn little_words(bytes: &[u8]) -> impl Iterator<Item = u32> + '_ {
    bytes.chunks_exact(4).map(|word| u32::from_le_bytes(word.try_into().expect("4 bytes")))
}
