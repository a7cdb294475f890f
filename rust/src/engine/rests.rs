//! What is left of tokens after a run of characters of a class: rests that begin with one byte, or one group of bytes.

use super::chars::CharSet;
use super::part::Table;
use super::vocabulary::Vocabulary;
use crate::mask::{contains, set_bits};
use crate::trie::{Trie, leading_bytes};

/// Digits are a group, and so are all bytes past ASCII; every other byte stands for itself.
pub const N_GROUPS: usize = 130;
/// The bytes past ASCII.
pub const HIGH: u8 = 128;
/// All bytes: where many groups are read, one walk over all rests is cheaper.
pub const ALL: u8 = 129;

/// The group of a byte.
pub fn group(byte: u8) -> u8 {
    match byte {
        b'0'..=b'9' => b'0',
        _ => byte.min(HIGH),
    }
}

/// The bytes of a group.
pub fn bytes(group: u8) -> std::ops::RangeInclusive<u8> {
    match group {
        b'0' => b'0'..=b'9',
        HIGH => HIGH..=u8::MAX,
        ALL => 0..=u8::MAX,
        byte => byte..=byte,
    }
}

/// The rests of one group, and their tokens.
#[derive(Debug)]
pub struct Rests {
    pub trie: Trie,
    /// For each rest: tokens as (characters before it, id), ascending.
    pub(super) tokens: Vec<(u32, u32)>,
    pub(super) token_starts: Vec<u32>,
    /// Tokens with `EARLY` or more characters before their rest, by that number: few.
    late: Vec<Late>,
    /// The length of each rest in bytes.
    lengths: Vec<u32>,
    /// The longest rest that begins with each byte, in bytes; no other begins any.
    longest: Vec<(u8, u32)>,
}

/// A token with many characters before its rest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Late {
    pub chars: u32,
    pub token: u32,
    /// Bytes of the rest.
    pub length: u32,
}

/// Of Llama 3's tokens that cross a JSON string's closing quote none has more than 5 characters before it.
pub const EARLY: u32 = 6;

/// A token that is no run: its rest starts at byte `at`, after `chars` characters.
#[derive(Clone, Copy)]
struct Rest {
    id: u32,
    at: u32,
    chars: u32,
}

impl Rests {
    /// The rests of a group of bytes after runs of a class, themselves after the lead of a part; `runs` are tokens that leave none.
    pub fn new(
        group: u8,
        (lead, class): (Option<u8>, &CharSet),
        runs: &[u32],
        vocabulary: &Vocabulary,
    ) -> Rests {
        let table = &Table::new(class);
        let chars = vocabulary.chars();
        let ends_runs = bytes(group).filter(|&byte| !table.begins(byte));
        let candidates: Box<dyn Iterator<Item = u32>> = match group {
            ALL => Box::new(set_bits(&vocabulary.ordinary)),
            HIGH => Box::new(chars.past_ascii()),
            _ => Box::new(ends_runs.flat_map(|byte| chars.having(byte).iter().copied())),
        };
        let cut = |id: u32| {
            let token = vocabulary.bytes(id);
            let start = lead.iter().len();
            let (length, chars) = table.cut(&token[start..]);
            let at = start + length;
            let ends_so = token.get(at).is_some_and(|&byte| group == ALL || self::group(byte) == group);
            let begins_so = lead.map_or(table.begins(token[0]), |lead| token[0] == lead);
            (ends_so && begins_so).then_some(Rest { id, at: at as u32, chars })
        };
        let rests = candidates.filter(|&id| !contains(runs, id)).filter_map(cut).collect();
        Rests::assemble(rests, vocabulary)
    }

    fn assemble(rests: Vec<Rest>, vocabulary: &Vocabulary) -> Rests {
        let rest_of = |rest: &Rest| &vocabulary.bytes(rest.id)[rest.at as usize..];
        // PERF: most comparisons end in the first 8 bytes.
        let mut inner: Vec<(u64, Rest)> =
            rests.into_iter().map(|rest| (leading_bytes(rest_of(&rest)), rest)).collect();
        inner.sort_unstable_by(|(a_key, a), (b_key, b)| {
            let all = || rest_of(a).cmp(rest_of(b)).then((a.chars, a.id).cmp(&(b.chars, b.id)));
            a_key.cmp(b_key).then_with(all)
        });
        // A token with several digits comes for each of them.
        inner.dedup_by_key(|(_, rest)| rest.id);
        let (mut strings, mut token_starts, mut tokens): (Vec<&[u8]>, _, _) =
            (Vec::new(), Vec::new(), Vec::new());
        for (_, rest) in &inner {
            if strings.last() != Some(&rest_of(rest)) {
                strings.push(rest_of(rest));
                token_starts.push(tokens.len() as u32);
            }
            tokens.push((rest.chars, rest.id));
        }
        token_starts.push(tokens.len() as u32);
        let trie = Trie::build(&strings).expect("rests are no larger than the vocabulary");
        Rests::of(trie, tokens, token_starts)
    }

    fn of(trie: Trie, tokens: Vec<(u32, u32)>, token_starts: Vec<u32>) -> Rests {
        let longest = (0..=255).filter(|&byte| !trie.subtree(byte).is_empty()).map(|byte| {
            let depths = trie.subtree(byte).map(|node| trie.depth(node) as u32 + 1);
            (byte, depths.max().unwrap_or(0))
        });
        let (lengths, longest) = (lengths(&trie), longest.collect());
        let mut rests = Rests { lengths, longest, trie, tokens, token_starts, late: Vec::new() };
        for rest in 0..rests.trie.n_ids() {
            let length = rests.lengths[rest as usize];
            let late = rests.tokens(rest, EARLY, u32::MAX).iter();
            let late: Vec<Late> = late.map(|&(chars, token)| Late { chars, token, length }).collect();
            rests.late.extend(late);
        }
        rests.late.sort_unstable();
        rests
    }

    /// Rests from arrays that were kept on disk; ids have been checked. `None` if they do not fit together.
    pub fn restore(
        trie: Trie,
        tokens: Vec<(u32, u32)>,
        token_starts: Vec<u32>,
        vocabulary: &Vocabulary,
    ) -> Option<Rests> {
        let fits = token_starts.len() == trie.n_ids() as usize + 1
            && token_starts.is_sorted()
            && token_starts.last().is_some_and(|&end| end as usize == tokens.len());
        let rests = fits.then(|| Rests::of(trie, tokens, token_starts))?;
        // Whether every token is as long as its rest.
        let long = |rest: u32| {
            let tokens = rests.tokens(rest, 0, u32::MAX).iter();
            tokens.map(|token| vocabulary.bytes(token.1).len()).all(|length| length >= rests.length(rest))
        };
        (0..rests.trie.n_ids()).all(long).then_some(rests)
    }

    /// The tokens on a rest with `from..=to` characters before it, as (characters, token).
    pub fn tokens(&self, rest: u32, from: u32, to: u32) -> &[(u32, u32)] {
        let [start, end] = [rest, rest + 1].map(|at| self.token_starts[at as usize] as usize);
        let all = &self.tokens[start..end];
        &all[all.partition_point(|token| token.0 < from)..all.partition_point(|token| token.0 <= to)]
    }

    /// The tokens with so many characters before their rest, where there are `EARLY` or more.
    pub fn late(&self, from: u32, to: u32) -> &[Late] {
        let start = self.late.partition_point(|late| late.chars < from);
        &self.late[start..self.late.partition_point(|late| late.chars <= to)]
    }

    /// The length of a rest in bytes.
    pub fn length(&self, rest: u32) -> usize {
        self.lengths[rest as usize] as usize
    }

    /// The length in bytes of the longest rest that begins with a byte that is read.
    pub fn longest(&self, read: &[bool; 256]) -> u32 {
        let read = self.longest.iter().filter(|longest| read[longest.0 as usize]);
        read.map(|longest| longest.1).max().unwrap_or(0)
    }

    pub fn heap_bytes(&self) -> usize {
        let numbers = 2 * self.tokens.len() + self.token_starts.len() + self.lengths.len();
        self.trie.heap_bytes() + numbers * 4 + self.late.len() * size_of::<Late>()
    }
}

fn lengths(trie: &Trie) -> Vec<u32> {
    let mut lengths = vec![0; trie.n_ids() as usize + 1];
    (0..trie.n_nodes()).for_each(|node| lengths[trie.id(node) as usize] = trie.depth(node) as u32 + 1);
    lengths
}
