//! Where shared, growing things live: append-only arenas that readers use without a lock, and tables that intern.

use std::hash::{Hash, Hasher};
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock};

use hashbrown::HashTable;
use rustc_hash::FxHasher;

/// The first chunk holds 2^FIRST entries, each later chunk as many as all before it.
const FIRST: u32 = 5;
const CHUNKS: usize = (32 - FIRST) as usize;

/// An append-only list: entries never move and are never freed before the arena is.
pub struct Arena<T> {
    chunks: [OnceLock<Box<[OnceLock<T>]>>; CHUNKS],
    len: AtomicU32,
}

impl<T> Default for Arena<T> {
    fn default() -> Self {
        Arena { chunks: [const { OnceLock::new() }; CHUNKS], len: AtomicU32::new(0) }
    }
}

impl<T> Arena<T> {
    /// How many entries there are.
    pub fn size(&self) -> u32 {
        self.len.load(Ordering::Acquire)
    }

    /// Add an entry; its id is visible to others only through what the caller does with it.
    pub fn push(&self, value: T) -> u32 {
        let id = self.len.fetch_add(1, Ordering::AcqRel);
        let (chunk, at) = place(id);
        let slots = self.chunks[chunk].get_or_init(|| {
            let size = if chunk == 0 { 1usize << FIRST } else { 1usize << (FIRST as usize + chunk - 1) };
            (0..size).map(|_| OnceLock::new()).collect()
        });
        // An id is handed out once, so the slot is empty.
        let _ = slots[at].set(value);
        id
    }

    #[inline(always)]
    pub fn get(&self, id: u32) -> &T {
        let (chunk, at) = place(id);
        self.chunks[chunk].get().and_then(|slots| slots[at].get()).expect("ids come from push")
    }

    /// Entries that are there already; one that is being added by another thread may be missing.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        (0..self.size()).filter_map(|id| {
            let (chunk, at) = place(id);
            self.chunks[chunk].get().and_then(|slots| slots[at].get())
        })
    }
}

#[inline(always)]
fn place(id: u32) -> (usize, usize) {
    let chunk = (32 - (id >> FIRST).leading_zeros()) as usize;
    let start = if chunk == 0 { 0 } else { 1u32 << (FIRST as usize + chunk - 1) };
    (chunk, (id - start) as usize)
}

const SHARDS: usize = 16;
/// A table begins with room for so many: a usual format comes to 2,000 configurations.
const FIRST_ENTRIES: usize = 28;

/// An arena of distinct values: equal values have one id.
pub struct Interner<T> {
    arena: Arena<T>,
    /// Half of the hash and the id of each value: a table that grows need not look at the values again.
    tables: [Mutex<HashTable<(u32, u32)>>; SHARDS],
    bytes: AtomicUsize,
}

/// A value that the interner can compare with a key not yet stored.
pub trait Interned {
    type Key<'k>: Hash + Copy
    where
        Self: 'k;
    fn key(&self) -> Self::Key<'_>;
    fn equals(&self, key: Self::Key<'_>) -> bool;
    fn build(key: Self::Key<'_>) -> Self;
    /// Bytes on the heap.
    fn heap_bytes(&self) -> usize;
}

impl<T> Default for Interner<T> {
    fn default() -> Self {
        Interner {
            arena: Arena::default(),
            tables: std::array::from_fn(|_| Mutex::new(HashTable::new())),
            bytes: AtomicUsize::new(0),
        }
    }
}

impl<T: Interned> Interner<T> {
    #[inline(always)]
    pub fn get(&self, id: u32) -> &T {
        self.arena.get(id)
    }

    /// How many distinct values there are.
    pub fn size(&self) -> u32 {
        self.arena.size()
    }

    /// About how many bytes the entries hold, with their places in the arena and the table.
    pub fn bytes(&self) -> usize {
        self.bytes.load(Ordering::Relaxed)
    }

    /// The id of a value, if it is there.
    pub fn find(&self, key: T::Key<'_>) -> Option<u32> {
        let half = half_hash(&key);
        let table = lock(&self.tables[half as usize % SHARDS]);
        table
            .find(spread(half), |&(known, id)| known == half && self.get(id).equals(key))
            .map(|entry| entry.1)
    }

    pub fn intern(&self, key: T::Key<'_>) -> u32 {
        let half = half_hash(&key);
        let mut table = lock(&self.tables[half as usize % SHARDS]);
        let known = table.find(spread(half), |&(known, id)| known == half && self.get(id).equals(key));
        if let Some(&(_, id)) = known {
            return id;
        }
        let value = T::build(key);
        self.bytes.fetch_add(value.heap_bytes() + size_of::<OnceLock<T>>() + 16, Ordering::Relaxed);
        let id = self.arena.push(value);
        if table.capacity() == 0 {
            table.reserve(FIRST_ENTRIES, |entry| spread(entry.0));
        }
        table.insert_unique(spread(half), (half, id), |entry| spread(entry.0));
        id
    }

    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.arena.iter()
    }
}

/// Lock, whatever a thread that panicked left: the tables hold no half-made entry.
pub fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

fn half_hash(key: &impl Hash) -> u32 {
    let mut hasher = FxHasher::default();
    key.hash(&mut hasher);
    (hasher.finish().wrapping_mul(GOLDEN) >> 32) as u32
}

/// A hash for a table out of half of one: tables take the place from one end and a mark from the other.
fn spread(half: u32) -> u64 {
    u64::from(half).wrapping_mul(GOLDEN)
}

const GOLDEN: u64 = 0x9E37_79B9_7F4A_7C15;
