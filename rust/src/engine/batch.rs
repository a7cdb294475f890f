//! Many masks at once, over threads.
//!
//! Threads are made for a batch and end with it: nothing is left running that a fork would lose. Making two costs about
//! 40 µs, so a batch with little cold work stays on one.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::arena::lock;
use super::constraint::Constraint;
use super::work::Work;
use crate::error::Error;

/// A thread is worth making from this many cold masks on.
const MIN_COLD: usize = 8;

/// Make the masks of all constraints; returns the errors of those that have none after it, in their order.
pub fn prepare(cold: &[&Constraint], threads: usize) -> Vec<Error> {
    let threads = threads.min(cold.len() / MIN_COLD).max(1);
    if threads == 1 {
        return cold.iter().filter_map(|constraint| make(constraint).err()).collect();
    }
    let next = AtomicUsize::new(0);
    let failures = std::sync::Mutex::new(Vec::new());
    let run = || {
        while let Some(at) = Some(next.fetch_add(1, Ordering::Relaxed)).filter(|&at| at < cold.len()) {
            if let Err(error) = make(cold[at]) {
                lock(&failures).push((at, error));
            }
        }
    };
    std::thread::scope(|scope| {
        (1..threads).for_each(|_| {
            scope.spawn(run);
        });
        run();
    });
    let mut failures = failures.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    failures.sort_unstable_by_key(|failure| failure.0);
    failures.into_iter().map(|(_, error)| error).collect()
}

fn make(constraint: &Constraint) -> Result<(), Error> {
    let mut work: Work = constraint.index().work();
    constraint.mask(&mut work).map(drop)
}
