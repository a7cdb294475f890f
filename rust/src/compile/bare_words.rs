//! Which texts are left of a JSON value from each state, if they are few? White space between JSON's tokens is left out of them, and
//! characters that are spelled as escapes are written in one way, and so are numbers, as far as their beginning is not needed for that:
//! 64 blanks at each place make endless spellings of one value, and 20 characters, each plain or escaped, a million.

use std::sync::Arc;

use super::Budget;
use super::components::components;
use super::words::Range;
use crate::error::Result;
use crate::identity::{escaped_char, first_number};

/// Where a text is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    Between,
    /// After a minus.
    Sign,
    /// In a number that is 0 so far, and past the letter of its exponent.
    Zero,
    ZeroPower,
    /// In a number before its point, and past it.
    Integer,
    Fraction,
    /// In a number past the letter of its exponent, before all digits but zeros.
    Exponent,
    /// Somewhere in a number, or between.
    Number,
    Quoted,
    /// After a backslash.
    Escaped,
    /// Before so many digits of an escape.
    Hex(u8),
    /// At several of these, or it is no JSON.
    Unclear,
}

impl Place {
    fn is_between(self) -> bool {
        use Place::*;
        matches!(self, Between | Sign | Zero | ZeroPower | Integer | Fraction | Exponent | Number)
    }
}

/// Automata whose states all have a way to the end.
pub struct BareWords {
    component: Vec<u32>,
    /// For each component of states: its texts, ascending; `None`: too many, or without end.
    words: Vec<Option<SharedWords>>,
    places: Vec<Option<Place>>,
    /// For each component of states in a fraction: whether other digits than zeros may follow in it.
    fixed: Vec<bool>,
}

/// The same for several states.
pub type SharedWords = Arc<[Box<[u8]>]>;

/// More texts than this are taken to be without end: each is kept for each state from where it may follow.
pub const MOST: usize = 1_024;

impl BareWords {
    /// `edges` adds those of a state to a list; a text begins in `start`. `None` if there is nothing that can be spelled in several ways:
    /// no white space between tokens, no escape, no fraction and no exponent.
    pub fn new(
        n: usize,
        accept: impl Fn(u32) -> bool,
        edges: impl Fn(u32, &mut Vec<Range>),
        start: u32,
        budget: &mut Budget,
    ) -> Result<Option<BareWords>> {
        let edges: Vec<Vec<Range>> = (0..n as u32)
            .map(|state| {
                let mut found = Vec::new();
                edges(state, &mut found);
                found
            })
            .collect();
        let places = places(&edges, start);
        let is_blank = |from: usize, &(low, high, _): &Range| {
            places[from].is_some_and(Place::is_between) && is_white_space(low, high)
        };
        let some = |(from, edges): (usize, &Vec<Range>)| edges.iter().any(|edge| is_blank(from, edge));
        let has_ways = |place: &Option<Place>| {
            matches!(place, Some(Place::Escaped | Place::Zero | Place::Fraction | Place::Exponent))
        };
        if !places.iter().any(has_ways) && !edges.iter().enumerate().any(some) {
            return Ok(None);
        }
        let component = components(n, |state, at| edges[state as usize].get(at as usize).map(|edge| edge.2));
        let n_components = component.iter().map(|&id| id as usize + 1).max().unwrap_or(0);
        let words = vec![None; n_components];
        let fixed = vec![false; n_components];
        let mut bare = BareWords { component, words, places: places.clone(), fixed };
        let mut order: Vec<u32> = (0..n as u32).collect();
        // Components are numbered with successors first.
        order.sort_unstable_by_key(|&state| bare.component[state as usize]);
        for states in order.chunk_by(|&a, &b| bare.component[a as usize] == bare.component[b as usize]) {
            let own = bare.component[states[0] as usize];
            if let &[state] = states
                && let Some(next) = next_blank(&edges[state as usize], |edge| {
                    edge.2 != state && is_blank(state as usize, edge)
                })
                && edges[state as usize]
                    .iter()
                    .all(|edge| is_blank(state as usize, edge) || edges[next as usize].contains(edge))
                && (!accept(state) || accept(next))
            {
                bare.words[own as usize] = bare.words[bare.component[next as usize] as usize].clone();
                continue;
            }
            let is_fixed = |&state: &u32| edges[state as usize].iter().any(|edge| bare.is_fixed(edge));
            bare.fixed[own as usize] = states.iter().any(is_fixed);
            let mut found = Some(Vec::new());
            for &state in states {
                if accept(state) {
                    found = found.map(|words: Vec<Box<[u8]>>| [words, vec![Box::default()]].concat());
                }
                for edge in &edges[state as usize] {
                    found = bare.after(found, state, edge, is_blank(state as usize, edge));
                }
            }
            let found = found.map(distinct).filter(|words| words.len() <= MOST);
            budget.spend_texts(found.as_deref().unwrap_or_default())?;
            bare.words[own as usize] = found.map(SharedWords::from);
        }
        Ok(Some(bare))
    }

    /// What was found, and the texts that begin with an edge of a state; those of the components that it leads to are known.
    fn after(
        &self,
        found: Option<Vec<Box<[u8]>>>,
        from: u32,
        edge: &Range,
        blank: bool,
    ) -> Option<Vec<Box<[u8]>>> {
        let to = self.component[edge.2 as usize];
        let rests = match (blank, to == self.component[from as usize]) {
            (true, true) => return found,
            (false, true) if self.is_idle(from, edge) => return found,
            (false, true) => return None,
            _ => self.words[to as usize].as_ref(),
        };
        let place = if blank { None } else { self.places[from as usize] };
        extended(found?, rests?, edge, blank, place)
    }

    /// Whether an edge in a fraction is a digit that is no zero, or leads on to one.
    fn is_fixed(&self, &(low, high, to): &Range) -> bool {
        let digit = low <= b'9' && high >= b'0';
        digit && ((low, high) != (b'0', b'0') || self.fixed[self.component[to as usize] as usize])
    }

    /// Whether a number is the same without the digits of a loop.
    fn is_idle(&self, from: u32, &(low, high, _): &Range) -> bool {
        let zeros = (low, high) == (b'0', b'0');
        match self.places[from as usize] {
            Some(Place::Zero | Place::Fraction) => {
                zeros && !self.fixed[self.component[from as usize] as usize]
            }
            Some(Place::Exponent) => zeros,
            Some(Place::ZeroPower) => is_digit(low, high),
            _ => false,
        }
    }

    /// All texts from a state to an end, by what they spell, if they are few.
    pub fn words(&self, state: u32) -> Option<&SharedWords> {
        self.words[self.component[state as usize] as usize].as_ref()
    }
}

/// Whether a range of bytes has nothing but JSON's white space.
pub fn is_white_space(low: u8, high: u8) -> bool {
    (low..=high).all(|byte| b" \t\n\r".contains(&byte))
}

/// The only state that a state's white space leads to, past itself: in a row of blanks it reads what the state reads.
fn next_blank(edges: &[Range], is_other_blank: impl Fn(&Range) -> bool) -> Option<u32> {
    let mut ways = edges.iter().filter(|edge| is_other_blank(edge)).map(|edge| edge.2);
    let first = ways.next()?;
    ways.all(|way| way == first).then_some(first)
}

/// What was found, and the texts that begin with an edge.
fn extended(
    mut found: Vec<Box<[u8]>>,
    rests: &[Box<[u8]>],
    &(low, high, _): &Range,
    blank: bool,
    place: Option<Place>,
) -> Option<Vec<Box<[u8]>>> {
    if blank {
        found.extend_from_slice(rests);
    } else {
        if rests.len() * (usize::from(high - low) + 1) > MOST {
            return None;
        }
        let with = |byte: u8| rests.iter().map(move |rest| spelled(place, byte, rest));
        found.extend((low..=high).flat_map(with));
    }
    // White space makes many ways to one text.
    if found.len() <= 2 * MOST {
        return Some(found);
    }
    let found = distinct(found);
    (found.len() <= MOST).then_some(found)
}

/// Where a byte outside of strings leads.
fn in_number(place: Place, low: u8, high: u8) -> Place {
    let all = |bytes: &[u8]| (low..=high).all(|byte| bytes.contains(&byte));
    match place {
        Place::Between if all(b"-") => Place::Sign,
        Place::Between | Place::Sign if all(b"0") => Place::Zero,
        Place::Between | Place::Sign if all(b"123456789") => Place::Integer,
        Place::Between if !all(b"-0123456789") => Place::Between,
        Place::Zero if all(b".") || all(b"0") => Place::Zero,
        Place::Zero if all(b"123456789") => Place::Fraction,
        Place::Zero if all(b"e") || all(b"E") => Place::ZeroPower,
        Place::ZeroPower if all(b"+-0123456789") => Place::ZeroPower,
        Place::Integer if all(b".") => Place::Fraction,
        Place::Integer | Place::Fraction if all(b"e") || all(b"E") => Place::Exponent,
        Place::Integer | Place::Fraction if all(b"0123456789") => place,
        Place::Exponent if all(b"+-0") => place,
        _ if all(b"+-.eE") || low <= b'9' && high >= b'0' => Place::Number,
        _ => Place::Between,
    }
}

/// What follows the power of ten that a text begins with.
fn past_power(text: &[u8]) -> &[u8] {
    let end = text.iter().position(|byte| !b"+-0123456789".contains(byte)).unwrap_or(text.len());
    &text[end..]
}

/// A byte and what follows it, in the one way to spell it.
fn spelled(place: Option<Place>, byte: u8, rest: &[u8]) -> Box<[u8]> {
    let digit = rest.first().is_some_and(u8::is_ascii_digit);
    let zero = rest.first() == Some(&b'0') && !rest.get(1).is_some_and(u8::is_ascii_digit);
    match (place, byte) {
        (Some(Place::Quoted), b'\\') => return escaped_char(rest),
        (Some(Place::Hex(_)), _) => return [&[byte.to_ascii_lowercase()], rest].concat().into(),
        (Some(Place::Between), b'-') | (Some(Place::Between | Place::Sign), b'0'..=b'9') => {
            return first_number([&[byte], rest].concat());
        }
        (Some(Place::Integer | Place::Zero), b'.') if !digit => return rest.into(),
        (Some(Place::Fraction | Place::Zero), b'0') if !digit => return rest.into(),
        (Some(Place::Zero), b'e' | b'E') => return past_power(rest).into(),
        (Some(Place::ZeroPower), b'0'..=b'9') => return [b"0", past_power(rest)].concat().into(),
        (Some(Place::ZeroPower), _) => return rest.into(),
        // The power of ten 0 is none.
        (Some(Place::Integer | Place::Fraction), b'e' | b'E') if zero => return rest[1..].into(),
        (Some(Place::Integer | Place::Fraction), b'E') => return [b"e", rest].concat().into(),
        (Some(Place::Exponent), b'+') => return rest.into(),
        (Some(Place::Exponent), b'-') if zero => return rest.into(),
        (Some(Place::Exponent), b'0') if digit => return rest.into(),
        _ => {}
    }
    [&[byte], rest].concat().into()
}

fn distinct(mut words: Vec<Box<[u8]>>) -> Vec<Box<[u8]>> {
    words.sort_unstable();
    words.dedup();
    words
}

/// Which states are within strings, and which in the exponent of 0.
pub fn in_strings_and_zeros(edges: &[Vec<Range>], start: u32) -> (Vec<bool>, Vec<bool>) {
    let places = places(edges, start);
    let is_within =
        |place: &Option<Place>| matches!(place, Some(Place::Quoted | Place::Escaped | Place::Hex(_)));
    let is_zero = |place: &Option<Place>| *place == Some(Place::ZeroPower);
    (places.iter().map(is_within).collect(), places.iter().map(is_zero).collect())
}

/// Whether a range of bytes has nothing but digits.
pub fn is_digit(low: u8, high: u8) -> bool {
    low.is_ascii_digit() && high.is_ascii_digit()
}

/// Where texts are in each state; `None`: nowhere.
fn places(edges: &[Vec<Range>], start: u32) -> Vec<Option<Place>> {
    let mut places = vec![None; edges.len()];
    places[start as usize] = Some(Place::Between);
    let mut open = vec![start];
    while let Some(state) = open.pop() {
        let place = places[state as usize].expect("it was reached");
        for &(low, high, to) in &edges[state as usize] {
            let reached = after(place, low, high);
            let known = &mut places[to as usize];
            let united = match *known {
                None => reached,
                Some(known) if known == reached => known,
                Some(known) if known.is_between() && reached.is_between() => Place::Number,
                _ => Place::Unclear,
            };
            if *known != Some(united) {
                *known = Some(united);
                open.push(to);
            }
        }
    }
    places
}

fn after(place: Place, low: u8, high: u8) -> Place {
    let special = |byte: u8| (low..=high).contains(&byte);
    match place {
        Place::Unclear => Place::Unclear,
        Place::Escaped if (low, high) == (b'u', b'u') => Place::Hex(4),
        Place::Escaped if special(b'u') => Place::Unclear,
        Place::Escaped | Place::Hex(1) => Place::Quoted,
        Place::Hex(left) => Place::Hex(left - 1),
        place if place.is_between() && !special(b'"') => in_number(place, low, high),
        Place::Quoted if !special(b'"') && !special(b'\\') => Place::Quoted,
        _ if low != high => Place::Unclear,
        Place::Quoted if low == b'"' => Place::Between,
        Place::Quoted => Place::Escaped,
        _ => Place::Quoted,
    }
}
