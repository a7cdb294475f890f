//! Where is an item after 0, 1, 2, ... characters of the class that it loops on?

use super::plan::Chain;
use super::stack::Item;
use crate::program::{Program, UNBOUNDED};

/// An item after 0, 1, 2, ... characters of a class.
pub struct Steps<'e> {
    program: &'e Program,
    /// Along the chain; the last one may loop.
    items: Vec<Item>,
    /// At i: whether rests fare alike after i and i + 1 characters, as far as it is known.
    alike: &'e [bool],
    /// The loop at the end counts, and has not stopped counting.
    counts: bool,
    /// The most characters that can be read.
    pub longest: u32,
    /// No rest that can be read here is longer than this, in bytes.
    longest_rest: u32,
}

impl<'e> Steps<'e> {
    pub fn new(program: &'e Program, item: &Item, chain: &'e Chain, longest_rest: u32) -> Self {
        let mut steps = Steps {
            program,
            items: vec![*item],
            alike: if chain.counts.contains(&true) { &[] } else { &chain.alike },
            counts: false,
            longest: u32::MAX,
            longest_rest,
        };
        let mut last = *item;
        for (&state, &counts) in chain.states[1..].iter().zip(&chain.counts) {
            let count = if counts { program.count_up(last.state, last.count) } else { last.count };
            if !program.states[state as usize].takes(count) {
                steps.longest = steps.items.len() as u32 - 1;
                return steps;
            }
            last = Item { state, count, ..last };
            steps.items.push(last);
        }
        let read = steps.items.len() as u32 - 1;
        let state = &program.states[last.state as usize];
        if !chain.loops {
            steps.longest = read;
        } else if chain.counts[read as usize] && program.count_up(last.state, last.count) != last.count {
            steps.counts = true;
            // A loop without an upper bound stops counting and goes on.
            if state.saturate == UNBOUNDED {
                steps.longest = read.saturating_add(state.valid_to - last.count);
            }
        }
        steps
    }

    /// The item that stands for all that fare alike, whatever is read but characters of the class: walks from it serve them all.
    pub fn kind(&self, characters: u32) -> Item {
        self.item(self.last_of_kind(characters))
    }

    fn last_of_kind(&self, characters: u32) -> u32 {
        let alike = self.alike.iter().skip(characters as usize).take_while(|&&alike| alike);
        characters + alike.count() as u32
    }

    pub fn item(&self, characters: u32) -> Item {
        let last = self.items.len() as u32 - 1;
        let mut item = self.items[characters.min(last) as usize];
        if self.counts && characters > last {
            let saturate = self.program.states[item.state as usize].saturate;
            item.count = item.count.saturating_add(characters - last).min(saturate);
        }
        item
    }

    /// The last number of characters after which every rest fares as after `characters`: no guard is
    /// near enough to be met within a rest.
    pub fn last_alike(&self, characters: u32) -> u32 {
        if (characters as usize) < self.items.len() - 1 {
            return self.last_of_kind(characters);
        }
        let item = self.item(characters);
        if !self.counts || item.count == self.program.states[item.state as usize].saturate {
            return u32::MAX;
        }
        match self.program.next_threshold(item.state, item.count) {
            None => u32::MAX,
            Some(next) => {
                characters.saturating_add((next - item.count).saturating_sub(self.longest_rest + 1))
            }
        }
    }
}
