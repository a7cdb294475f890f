//! How does a set of characters look in bytes? A minimal acyclic automaton over the UTF-8 of its code points.

use regex_syntax::utf8::{Utf8Range, Utf8Sequences};

use super::acyclic::{Acyclic, AcyclicBuilder};

/// The automaton of the characters whose code points are in the inclusive ranges; surrogates drop out.
pub fn utf8_automaton(ranges: impl Iterator<Item = (u32, u32)>) -> Acyclic {
    let mut builder = AcyclicBuilder::new();
    for (low, high) in ranges {
        // Ascending code points have ascending UTF-8, so all sequences come in order.
        for (low, high) in without_surrogates(low, high) {
            for sequence in Utf8Sequences::new(low, high) {
                builder.push(sequence.as_slice().iter().map(|&Utf8Range { start, end }| (start, end)));
            }
        }
    }
    builder.finish()
}

fn without_surrogates(low: u32, high: u32) -> impl Iterator<Item = (char, char)> {
    let part =
        |low: u32, high: u32| Some((char::from_u32(low)?, char::from_u32(high)?)).filter(|_| low <= high);
    [part(low, high.min(0xD7FF)), part(low.max(0xE000), high.min(0x10_FFFF))].into_iter().flatten()
}
