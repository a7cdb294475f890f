//! Which texts are left of a JSON value from each state, if they are few? White space between JSON's tokens is left out of them:
//! it says nothing, and 64 blanks at each place make endless spellings of one value.

use std::sync::Arc;

use super::components::components;
use super::words::Range;

/// Where a text is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    Between,
    Quoted,
    Escaped,
    /// At several of these, or it is no JSON.
    Unclear,
}

/// Automata whose states all have a way to the end.
pub struct BareWords {
    component: Vec<u32>,
    /// For each component of states: its texts, ascending; `None`: too many, or without end.
    words: Vec<Option<SharedWords>>,
}

/// The same for several states.
pub type SharedWords = Arc<[Box<[u8]>]>;

/// More texts than this are taken to be without end: each is kept for each state from where it may follow.
const MOST: usize = 1_024;

impl BareWords {
    /// `edges` adds those of a state to a list; a text begins in `start`. `None` if there is no white space between tokens.
    pub fn new(
        n: usize,
        accept: impl Fn(u32) -> bool,
        edges: impl Fn(u32, &mut Vec<Range>),
        start: u32,
    ) -> Option<BareWords> {
        let edges: Vec<Vec<Range>> = (0..n as u32)
            .map(|state| {
                let mut found = Vec::new();
                edges(state, &mut found);
                found
            })
            .collect();
        let places = places(&edges, start);
        let is_blank = |from: usize, &(low, high, _): &Range| {
            places[from] == Some(Place::Between) && is_white_space(low, high)
        };
        let some = |(from, edges): (usize, &Vec<Range>)| edges.iter().any(|edge| is_blank(from, edge));
        if !edges.iter().enumerate().any(some) {
            return None;
        }
        let component = components(n, |state| edges[state as usize].iter().map(|edge| edge.2));
        let n_components = component.iter().map(|&id| id as usize + 1).max().unwrap_or(0);
        let mut bare = BareWords { component, words: vec![None; n_components] };
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
            let mut found = Some(Vec::new());
            for &state in states {
                if accept(state) {
                    found = found.map(|words: Vec<Box<[u8]>>| [words, vec![Box::default()]].concat());
                }
                for edge in &edges[state as usize] {
                    found = bare.after(found, state, edge, is_blank(state as usize, edge));
                }
            }
            bare.words[own as usize] =
                found.map(distinct).filter(|words| words.len() <= MOST).map(SharedWords::from);
        }
        Some(bare)
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
            (false, true) => return None,
            _ => self.words[to as usize].as_ref(),
        };
        extended(found?, rests?, edge, blank)
    }

    /// All texts from a state to an end, without white space, if they are few.
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
) -> Option<Vec<Box<[u8]>>> {
    if blank {
        found.extend_from_slice(rests);
    } else {
        if rests.len() * (usize::from(high - low) + 1) > MOST {
            return None;
        }
        let with = |byte| rests.iter().map(move |rest| [&[byte], &rest[..]].concat().into());
        found.extend((low..=high).flat_map(with));
    }
    // White space makes many ways to one text.
    if found.len() <= 2 * MOST {
        return Some(found);
    }
    let found = distinct(found);
    (found.len() <= MOST).then_some(found)
}

fn distinct(mut words: Vec<Box<[u8]>>) -> Vec<Box<[u8]>> {
    words.sort_unstable();
    words.dedup();
    words
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
            let united = if known.is_none_or(|known| known == reached) { reached } else { Place::Unclear };
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
        Place::Escaped => Place::Quoted,
        Place::Between if !special(b'"') => Place::Between,
        Place::Quoted if !special(b'"') && !special(b'\\') => Place::Quoted,
        _ if low != high => Place::Unclear,
        Place::Between => Place::Quoted,
        Place::Quoted if low == b'"' => Place::Between,
        Place::Quoted => Place::Escaped,
    }
}
