//! What do the formats of one vocabulary share? The skeletons of rules that are in many of them.
//!
//! A JSON string, any JSON value and white space are the same rules in every schema. What a place in one of them allows,
//! whatever its frame is, was found out for the first format that asked.

use std::sync::{Arc, Mutex};

use rustc_hash::{FxHashMap, FxHashSet};

use super::arena::lock;
use super::skeleton::{Over, Skeleton};
use crate::program::Origin;

/// A place in a rule, by where the rule comes from, and what is walked from there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct SharedKey {
    pub origin: Origin,
    /// Its number in the rule.
    pub state: u32,
    pub count: u32,
    pub held: Held,
    pub over: Over,
}

/// What is known of what the rule keeps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Held {
    Nothing,
    /// An open key is being read, as in `Moves::blanked`: the origin's group is the number of the place. See `open_keys`.
    InKey,
    /// An open key comes first, as in `Moves::keys_apart`.
    BeforeKey,
}

/// Past so many bytes all is forgotten; the 40 of the usual rules take half a megabyte.
const MAX_BYTES: usize = 16 << 20;
/// Past so many places that were asked for once, all of them are forgotten.
const MAX_ASKED: usize = 1 << 16;
/// Past so many places within open keys, their numbers are forgotten; each takes some 2 kB.
const MAX_PLACES: usize = 1 << 10;

#[derive(Debug, Default)]
pub struct Shared {
    table: Mutex<Table>,
}

#[derive(Debug, Default)]
struct Table {
    known: FxHashMap<SharedKey, Arc<Skeleton>>,
    /// Most rules are in one format only: what is asked for once is not kept.
    asked: FxHashSet<SharedKey>,
    bytes: usize,
    /// Places within open keys, by what they can go on with.
    places: FxHashMap<Box<[u64]>, u64>,
    n_places: u64,
}

impl Shared {
    /// What is known of a place, or else whether it is worth to be kept.
    pub fn find(&self, key: &SharedKey) -> Result<Arc<Skeleton>, bool> {
        let mut table = lock(&self.table);
        if let Some(known) = table.known.get(key) {
            return Ok(known.clone());
        }
        if table.asked.len() >= MAX_ASKED {
            table.asked.clear();
        }
        Err(!table.asked.insert(*key))
    }

    pub fn keep(&self, key: SharedKey, skeleton: Arc<Skeleton>) {
        let mut table = lock(&self.table);
        if table.bytes > MAX_BYTES {
            table.known.clear();
            table.asked.clear();
            table.bytes = 0;
        }
        table.bytes += skeleton.heap_bytes() + size_of::<(SharedKey, Skeleton)>();
        table.known.insert(key, skeleton);
    }

    /// The number of a place within an open key that can go on so; none is given twice.
    pub fn number(&self, spelling: Box<[u64]>) -> u64 {
        let mut table = lock(&self.table);
        if table.places.len() >= MAX_PLACES {
            table.places.clear();
        }
        let next = table.n_places;
        let number = *table.places.entry(spelling).or_insert(next);
        table.n_places += u64::from(number == next);
        number
    }

    pub fn heap_bytes(&self) -> usize {
        let table = lock(&self.table);
        let places: usize = table.places.keys().map(|place| size_of_val(&**place) + 32).sum();
        table.bytes + table.asked.capacity() * size_of::<SharedKey>() + places
    }
}
