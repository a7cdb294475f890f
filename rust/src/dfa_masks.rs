//! What is remembered of a DFA over a vocabulary: finished bitmasks by state, within a bound of bytes.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::error::{Error, Result};
use crate::mask::{Table, bitmask, n_words};
use crate::trie::Trie;

/// A DFA, a vocabulary, and the bitmasks made so far. Shared between threads.
pub struct DfaMasks {
    trie: Arc<Trie>,
    table: Table,
    eos: Vec<u32>,
    cache: Mutex<Cache>,
}

/// A finished bitmask.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bitmask {
    pub words: Vec<u32>,
    /// False where every id of the vocabulary is allowed.
    pub restricts: bool,
}

impl DfaMasks {
    /// `cache_bytes` bounds the memory of finished bitmasks; below the size of one, none is kept.
    pub fn new(trie: Arc<Trie>, table: Table, eos: &[i64], cache_bytes: usize) -> Result<DfaMasks> {
        let eos = eos.iter().map(|&id| check_eos(id, trie.n_ids())).collect::<Result<Vec<_>>>()?;
        let capacity = cache_bytes / (n_words(trie.n_ids()) * 4).max(1);
        let cache = Mutex::new(Cache::new(table.n_states(), capacity));
        Ok(DfaMasks { trie, table, eos, cache })
    }

    pub fn table(&self) -> &Table {
        &self.table
    }

    pub fn n_words(&self) -> usize {
        n_words(self.trie.n_ids())
    }

    /// The number of bitmasks kept now.
    pub fn n_cached(&self) -> usize {
        self.cache().slots.len()
    }

    /// Compute the bitmask of a state, whatever the cache has.
    pub fn walk(&self, state: u32) -> Bitmask {
        let words = bitmask(&self.trie, &self.table, state, &self.eos);
        let restricts = count(&words) < self.trie.n_ids();
        Bitmask { words, restricts }
    }

    /// Hand the bitmask of a state to `take` if it is in the cache.
    ///
    /// The cache is locked meanwhile: `take` may copy, but must not wait for anything.
    pub fn cached<T>(&self, state: u32, take: impl FnOnce(&Bitmask) -> T) -> Option<T> {
        self.cache().get(state).map(take)
    }

    /// Keep the bitmask of a state.
    pub fn keep(&self, state: u32, bitmask: Bitmask) {
        self.cache().insert(state, bitmask);
    }

    fn cache(&self) -> MutexGuard<'_, Cache> {
        self.cache.lock().unwrap_or_else(|poisoned: PoisonError<_>| {
            // A panic under the lock may have left it half changed: start it afresh, stay usable.
            self.cache.clear_poison();
            let mut cache = poisoned.into_inner();
            *cache = Cache::new(self.table.n_states(), cache.capacity);
            cache
        })
    }
}

fn count(words: &[u32]) -> u32 {
    words.iter().map(|word| word.count_ones()).sum()
}

fn check_eos(id: i64, n_tokens: u32) -> Result<u32> {
    let known = u32::try_from(id).ok().filter(|&id| id < n_tokens);
    known.ok_or_else(|| {
        Error::vocabulary(
            format!("the vocabulary has no token {id}"),
            format!("eos_id, of {n_tokens} tokens"),
        )
    })
}

const EMPTY: u32 = u32::MAX;

/// Bitmasks by state; when full, the clock hand evicts the first one not used since it last came by.
struct Cache {
    /// By state: the index of its slot, or `EMPTY`. Beside the table's 1 KB a state this is small.
    slot_of: Vec<u32>,
    slots: Vec<Slot>,
    capacity: usize,
    hand: usize,
}

struct Slot {
    state: u32,
    used: bool,
    bitmask: Bitmask,
}

impl Cache {
    fn new(n_states: u32, capacity: usize) -> Cache {
        Cache { slot_of: vec![EMPTY; n_states as usize], slots: Vec::new(), capacity, hand: 0 }
    }

    fn get(&mut self, state: u32) -> Option<&Bitmask> {
        let slot = self.slots.get_mut(self.slot_of[state as usize] as usize)?;
        slot.used = true;
        Some(&slot.bitmask)
    }

    fn insert(&mut self, state: u32, bitmask: Bitmask) {
        if self.capacity == 0 || self.slot_of[state as usize] != EMPTY {
            return;
        }
        let slot = Slot { state, used: false, bitmask };
        let at = if self.slots.len() < self.capacity {
            self.slots.push(slot);
            self.slots.len() - 1
        } else {
            let at = self.evict();
            self.slots[at] = slot;
            at
        };
        self.slot_of[state as usize] = at as u32;
    }

    fn evict(&mut self) -> usize {
        loop {
            let at = self.hand;
            self.hand = (self.hand + 1) % self.slots.len();
            if !std::mem::take(&mut self.slots[at].used) {
                self.slot_of[self.slots[at].state as usize] = EMPTY;
                return at;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(word: u32) -> Bitmask {
        Bitmask { words: vec![word], restricts: true }
    }

    fn cached(cache: &mut Cache) -> Vec<u32> {
        let n = cache.slot_of.len() as u32;
        (0..n).filter(|&s| cache.slot_of[s as usize] != EMPTY).collect()
    }

    #[test]
    fn the_clock_evicts_what_was_not_used() {
        let mut cache = Cache::new(9, 3);
        (0..3).for_each(|state| cache.insert(state, one(state)));
        assert_eq!(cache.get(0), Some(&one(0)));
        cache.insert(3, one(3));
        assert_eq!(cached(&mut cache), [0, 2, 3]);
        cache.insert(4, one(4));
        assert_eq!(cached(&mut cache), [0, 3, 4]);
        for state in [0, 3, 4] {
            assert_eq!(cache.get(state), Some(&one(state)));
        }
        cache.insert(5, one(5));
        assert_eq!((cached(&mut cache).len(), cache.get(5)), (3, Some(&one(5))));
    }

    #[test]
    fn no_room_keeps_nothing() {
        let mut cache = Cache::new(2, 0);
        cache.insert(1, one(1));
        assert_eq!(cache.get(1), None);
    }

    #[test]
    fn a_panic_under_the_lock_leaves_it_usable() {
        let trie = Arc::new(Trie::build(&[b"a"]).unwrap());
        let table = Table::new(&[-1; 256], vec![true]).unwrap();
        let masks = DfaMasks::new(trie, table, &[0], 1 << 10).unwrap();
        masks.keep(0, masks.walk(0));
        let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            masks.cached(0, |_| panic!("while copying"));
        }));
        assert!(panicked.is_err());
        assert_eq!((masks.n_cached(), masks.cached(0, Bitmask::clone)), (0, None));
        masks.keep(0, masks.walk(0));
        assert_eq!(masks.cached(0, Bitmask::clone), Some(Bitmask { words: vec![1], restricts: false }));
    }
}
