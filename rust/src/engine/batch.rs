//! Many masks at once, over threads.
//!
//! Threads are made for a batch and end with it: nothing is left running that a fork would lose. Making two costs about
//! 40 µs, so a batch with little cold work stays on one.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::constraint::Constraint;
use super::work::Work;
use crate::error::Error;

/// A thread is worth making from this many cold masks on.
const MIN_COLD: usize = 8;

/// Make the masks of all constraints; returns the error of each, or `None`, in their order.
pub fn prepare(cold: &[&Constraint], threads: usize) -> Vec<Option<Error>> {
    let threads = threads.min(cold.len() / MIN_COLD).max(1);
    if threads == 1 {
        return cold.iter().map(|constraint| make(constraint).err()).collect();
    }
    let next = AtomicUsize::new(0);
    let results: Vec<OnceLock<Option<Error>>> = cold.iter().map(|_| OnceLock::new()).collect();
    let run = || {
        while let Some(at) = Some(next.fetch_add(1, Ordering::Relaxed)).filter(|&at| at < cold.len()) {
            results[at].get_or_init(|| make(cold[at]).err());
        }
    };
    std::thread::scope(|scope| {
        (1..threads).for_each(|_| {
            scope.spawn(run);
        });
        run();
    });
    results.into_iter().map(|result| result.into_inner().flatten()).collect()
}

fn make(constraint: &Constraint) -> Result<(), Error> {
    let mut work: Work = constraint.index().work();
    constraint.mask(&mut work).map(drop)
}
