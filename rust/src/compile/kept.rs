//! Which parts of a format were compiled before?
//!
//! Most formats share rules: nearly every JSON Schema has "any JSON value" and "a JSON string" in it. A group of rules
//! is made from its key alone (`groups.rs`), so its automata are kept under the key, and so are the DFAs of regular
//! parts. What is kept changes no program and no verdict: what building would have spent is spent when it is used again.

use std::hash::Hasher;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use hashbrown::HashTable;
use rustc_hash::FxHasher;

use super::Spent;
use super::components::Search;
use super::dfa::Dfa;
use super::groups::Groups;
use super::layout::{self, Fragment};
use super::shape::Shapes;
use super::trim::{self, Incoming};
use super::{epsilon, reduce, thompson};

/// Half of what may be held: a generation is given up when the next one is full, and what is used lives on in the next.
const GENERATION_BYTES: usize = 4 << 20;
/// What takes more than this belongs to one format, and would only crowd others out.
const MAX_BYTES: usize = 64 << 10;

/// Scratch memory for more nodes or edges goes back to the allocator: what is kept stays below 2 MB.
pub const MAX_SCRATCH: usize = 4_096;

/// What compiles leave for later ones. Shared between threads.
#[derive(Debug, Default)]
pub struct Kept {
    groups: Mutex<Generations<Fragment>>,
    dfas: Mutex<Generations<Dfa>>,
    scratch: Mutex<Scratch>,
}

/// Memory to work in, grown already: growing it anew takes 200 calls of the allocator, a fifth of a compile.
///
/// A compile takes it and gives it back when all went well: one that fails half-way leaves none, and of two at the same time
/// the second one grows its own.
#[derive(Debug, Default)]
pub struct Scratch {
    pub shapes: Shapes,
    pub groups: Groups,
    pub key: Vec<u8>,
    pub thompson: thompson::Buffers,
    pub passes: Passes,
    pub search: Search,
}

/// What the passes over the automata of a group work in. A typical format has ten groups, of fifty states each.
#[derive(Debug, Default)]
pub struct Passes {
    pub epsilon: epsilon::Buffers,
    pub into: Incoming,
    pub trim: trim::Buffers,
    pub reduce: reduce::Buffers,
    pub layout: layout::Buffers,
}

impl Scratch {
    fn is_small(&self) -> bool {
        self.shapes.is_small(MAX_SCRATCH)
            && self.groups.is_small(MAX_SCRATCH)
            && self.thompson.is_small(MAX_SCRATCH)
            && self.passes.epsilon.is_small(MAX_SCRATCH)
    }
}

/// Something built, and what it took.
#[derive(Debug)]
pub struct Built<T> {
    pub value: T,
    pub spent: Spent,
    /// No two things built by this process have the same number.
    pub number: u64,
}

impl<T> Built<T> {
    pub fn new(value: T, spent: Spent) -> Built<T> {
        Built { value, spent, number: unique_number() }
    }
}

/// A number that this process has not given before.
pub fn unique_number() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

/// What is kept, with its key, the hash of that, and its bytes. A key is some hundred bytes long, and is hashed once.
#[derive(Debug)]
struct Entry<T> {
    hash: u64,
    key: Box<[u8]>,
    built: Arc<Built<T>>,
    bytes: usize,
}

#[derive(Debug)]
struct Generations<T> {
    new: HashTable<Entry<T>>,
    old: HashTable<Entry<T>>,
    /// Of `new`.
    bytes: usize,
    old_bytes: usize,
}

impl<T> Default for Generations<T> {
    fn default() -> Self {
        Generations { new: HashTable::new(), old: HashTable::new(), bytes: 0, old_bytes: 0 }
    }
}

/// What can be kept knows its size.
pub trait HeapBytes {
    /// Heap bytes held.
    fn heap_bytes(&self) -> usize;
}

impl<T: HeapBytes> Generations<T> {
    fn find(&mut self, key: &[u8]) -> Option<Arc<Built<T>>> {
        let hash = hash_of(key);
        let same = |entry: &Entry<T>| entry.hash == hash && *entry.key == *key;
        if let Some(entry) = self.new.find(hash, same) {
            return Some(Arc::clone(&entry.built));
        }
        let (entry, _) = self.old.find_entry(hash, same).ok()?.remove();
        self.old_bytes -= entry.bytes;
        let found = Arc::clone(&entry.built);
        self.insert(entry);
        Some(found)
    }

    /// Keep something; returns what is kept under the key, which another thread may have built meanwhile.
    fn add(&mut self, key: &[u8], built: Arc<Built<T>>) -> Arc<Built<T>> {
        let bytes = key.len() + built.value.heap_bytes() + size_of::<Built<T>>() + 64;
        if bytes > MAX_BYTES {
            return built;
        }
        if let Some(known) = self.find(key) {
            return known;
        }
        self.insert(Entry { hash: hash_of(key), key: key.into(), built: Arc::clone(&built), bytes });
        built
    }

    fn insert(&mut self, entry: Entry<T>) {
        if self.bytes + entry.bytes > GENERATION_BYTES {
            self.old = std::mem::take(&mut self.new);
            self.old_bytes = std::mem::take(&mut self.bytes);
        }
        self.bytes += entry.bytes;
        self.new.insert_unique(entry.hash, entry, |entry| entry.hash);
    }
}

fn hash_of(key: &[u8]) -> u64 {
    let mut hasher = FxHasher::default();
    hasher.write(key);
    // The table takes its control bits from the top, where this hash is weak.
    hasher.finish().wrapping_mul(0x9E37_79B9_7F4A_7C15)
}

impl Kept {
    pub fn group(&self, key: &[u8]) -> Option<Arc<Built<Fragment>>> {
        lock(&self.groups).find(key)
    }

    pub fn add_group(&self, key: &[u8], built: Arc<Built<Fragment>>) -> Arc<Built<Fragment>> {
        lock(&self.groups).add(key, built)
    }

    pub fn dfa(&self, key: &[u8]) -> Option<Arc<Built<Dfa>>> {
        lock(&self.dfas).find(key)
    }

    pub fn add_dfa(&self, key: &[u8], built: Arc<Built<Dfa>>) -> Arc<Built<Dfa>> {
        lock(&self.dfas).add(key, built)
    }

    /// Memory to work in; that of the last compile, unless another thread has it or it was large.
    pub fn scratch(&self) -> Scratch {
        std::mem::take(&mut *lock(&self.scratch))
    }

    pub fn give_back(&self, scratch: Scratch) {
        if scratch.is_small() {
            *lock(&self.scratch) = scratch;
        }
    }

    /// Heap bytes held.
    pub fn heap_bytes(&self) -> usize {
        let (groups, dfas) = (lock(&self.groups), lock(&self.dfas));
        groups.bytes + groups.old_bytes + dfas.bytes + dfas.old_bytes
    }
}

/// What is kept is whole after a panic: nothing is changed half-way.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::{Built, GENERATION_BYTES, Generations, HeapBytes, MAX_BYTES};

    #[derive(Debug)]
    struct Sized(usize);

    impl HeapBytes for Sized {
        fn heap_bytes(&self) -> usize {
            self.0
        }
    }

    fn add(kept: &mut Generations<Sized>, key: u32, bytes: usize) -> u64 {
        kept.add(&key.to_le_bytes(), Arc::new(Built::new(Sized(bytes), Default::default()))).number
    }

    #[test]
    fn what_is_used_outlives_what_is_not_and_the_bytes_stay_bounded() {
        let mut kept = Generations::default();
        let number = add(&mut kept, 0, 1_000);
        for key in 1..1_000 {
            add(&mut kept, key, 20_000);
            assert_eq!(kept.find(&0u32.to_le_bytes()).map(|built| built.number), Some(number));
            assert!(kept.bytes <= GENERATION_BYTES && kept.old_bytes <= GENERATION_BYTES);
        }
        assert!(kept.find(&1u32.to_le_bytes()).is_none());
        assert_eq!(kept.old.iter().map(|entry| entry.bytes).sum::<usize>(), kept.old_bytes);
    }

    #[test]
    fn the_first_of_two_with_one_key_stays_and_large_ones_do_not() {
        let mut kept = Generations::default();
        let number = add(&mut kept, 7, 10);
        assert_eq!(add(&mut kept, 7, 10), number);
        assert_ne!(add(&mut kept, 8, MAX_BYTES), add(&mut kept, 8, MAX_BYTES));
    }
}
