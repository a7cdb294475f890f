//! Do two states fare alike with all that is no character of a class?

use crate::program::{Program, State, StateId};

/// Whether two states side by side on a chain, which lead on to the `next` ones, fare alike with all that is no character of the class.
///
/// `{1,255}` next to other keys is written out, state by state: without this the rests are walked from each of them.
pub fn are_alike(program: &Program, pair: [StateId; 2], next: [StateId; 2]) -> bool {
    go_alike(program, pair, next, None)
}

/// The same for states within a character, if some of it was read; recursion ends after three bytes.
fn go_alike(program: &Program, pair: [StateId; 2], next: [StateId; 2], within: Option<Within>) -> bool {
    if !have_equal_ends(program, pair) {
        return false;
    }
    let [a, b] = pair.map(|state| program.byte_edges(state));
    a.len() == b.len()
        && a.iter().zip(b).all(|(a, b)| {
            let (targets, bounds) = ([a.target, b.target], [a.low, a.high]);
            let same = (a.low, a.high, a.action) == (b.low, b.high, b.action);
            same && (a.target == b.target
                || match OfChar::new(bounds, within) {
                    // All that reaches the next ones are whole characters: those of the class, as it is exact.
                    OfChar::End => targets == next,
                    OfChar::GoOn(within) => go_alike(program, targets, next, Some(within)),
                    OfChar::Unclear => false,
                })
        })
}

/// Whether two states differ at most in where their bytes lead.
fn have_equal_ends(program: &Program, pair: [StateId; 2]) -> bool {
    let [a, b] = pair.map(|state| &program.states[state as usize]);
    let plain = |state: &State| state.calls.is_empty() && state.tokens.is_empty();
    plain(a)
        && plain(b)
        && (a.accept, a.guard, a.rule, a.records) == (b.accept, b.guard, b.rule, b.records)
        && (a.accept_from, a.valid_from, a.valid_to, a.saturate)
            == (b.accept_from, b.valid_from, b.valid_to, b.saturate)
        && !pair.iter().any(|&state| program.has_few_ends(state))
}

/// Within a character of several bytes: the bounds of its first one, and how many were read.
#[derive(Clone, Copy)]
struct Within {
    first: [u8; 2],
    read: usize,
}

/// What bytes between two bounds do to a character.
enum OfChar {
    End,
    GoOn(Within),
    /// Not all of them do either.
    Unclear,
}

impl OfChar {
    fn new([low, high]: [u8; 2], within: Option<Within>) -> OfChar {
        let Some(Within { first, read }) = within else {
            return match (low, high) {
                (_, 0..=0x7F) => OfChar::End,
                (0xC2.., ..=0xF4) => OfChar::GoOn(Within { first: [low, high], read: 1 }),
                _ => OfChar::Unclear,
            };
        };
        let length = |byte: u8| 2 + usize::from(byte >= 0xE0) + usize::from(byte >= 0xF0);
        let has = |byte: u8| read == 1 && first[0] <= byte && byte <= first[1];
        // Neither overlong forms, nor surrogates, nor what is past the last plane.
        let bounds_of = |lowest: u8, highest: u8| lowest <= low && high <= highest;
        let fits = length(first[0]) == length(first[1])
            && bounds_of(0x80, 0xBF)
            && (!has(0xE0) || bounds_of(0xA0, 0xBF))
            && (!has(0xED) || bounds_of(0x80, 0x9F))
            && (!has(0xF0) || bounds_of(0x90, 0xBF))
            && (!has(0xF4) || bounds_of(0x80, 0x8F));
        match read + 1 < length(first[0]) {
            _ if !fits => OfChar::Unclear,
            true => OfChar::GoOn(Within { first, read: read + 1 }),
            false => OfChar::End,
        }
    }
}
