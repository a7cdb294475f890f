//! A format compiled for a vocabulary: the program, and a cache that fills as constraints ask. Shared between threads.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, RwLock};

use rustc_hash::FxHashMap;

use super::arena::lock;
use super::cache::Cache;
use super::chars::CharSet;
use super::closure::Moves;
use super::compose::{Composer, Outcome};
use super::count_bytes::CountBytes;
use super::data::NOTHING;
use super::mask::MaskId;
use super::open_keys;
use super::outline::outline;
use super::plan::{Plan, Plans};
use super::stack::{ConfigId, FIRST_ID};
use super::vocabulary::Vocabulary;
use super::work::Work;
use crate::error::{Error, Result};
use crate::program::{Program, StateId};

/// Ceilings of the serve phase. All count work or bytes.
#[derive(Debug, Clone, Copy)]
pub struct ServeLimits {
    /// Steps of one mask or one advance.
    pub mask_work: u64,
    /// Frames on a stack.
    pub stack_depth: u32,
    /// Bytes of the cache of one index.
    pub cache_bytes: u64,
}

impl Default for ServeLimits {
    fn default() -> Self {
        ServeLimits { mask_work: 5_000_000, stack_depth: 100_000, cache_bytes: 64 << 20 }
    }
}

/// One configuration may have an item for so many units of the work of a mask: the root of the trie alone has 256 bytes to
/// step over.
const WORK_OF_AN_ITEM: u64 = 512;
/// However little work is granted: so many take a configuration less than a millisecond.
const MIN_ITEMS: u64 = 1_024;

/// How many frames are kept at first to see whether they settle a mask; doubled until they do.
const FIRST_DEPTH: u32 = 2;
/// Past this many frames the whole stack is taken.
const LAST_DEPTH: u32 = 256;

pub struct Index {
    pub program: Program,
    pub vocabulary: Arc<Vocabulary>,
    pub limits: ServeLimits,
    /// Of the program, counted while it is made: who asks later would have all of it to read again.
    pub program_bytes: usize,
    cache: RwLock<Arc<Cache>>,
    plans: Mutex<Plans>,
    /// For places within open keys, their number among those of all formats.
    open_places: Mutex<FxHashMap<StateId, Option<u64>>>,
    count_bytes: CountBytes,
    pub n_caches: AtomicU64,
}

impl Index {
    pub fn new(program: Program, vocabulary: Arc<Vocabulary>, limits: ServeLimits) -> Index {
        Index {
            program_bytes: program.heap_bytes(),
            program,
            vocabulary,
            limits,
            cache: RwLock::new(Arc::new(Cache::new(0))),
            plans: Mutex::default(),
            open_places: Mutex::default(),
            count_bytes: CountBytes::default(),
            n_caches: AtomicU64::new(1),
        }
    }

    /// A new index, unless the vocabulary lacks what the format needs.
    pub fn checked(program: Program, vocabulary: Arc<Vocabulary>, limits: ServeLimits) -> Result<Index> {
        if let Some(token) = program.tokens().find(|&token| !vocabulary.is_special(token)) {
            let what = format!("the format names token {token}, which is no special token of the vocabulary");
            return Err(Error::grammar(what, "an ordinary token is named by its text"));
        }
        let missing = super::reach::missing_bytes(&program, &vocabulary);
        if !missing.is_empty() {
            let bytes: Vec<String> = missing.iter().map(|&byte| shown(byte)).collect();
            let what =
                format!("the vocabulary has no token for bytes that the format needs: {}", bytes.join(" "));
            return Err(Error::vocabulary(what, "the bytes of the tokens"));
        }
        Ok(Index::new(program, vocabulary, limits))
    }

    /// The cache in use; a new one if it is full.
    pub fn cache(&self) -> Arc<Cache> {
        let cache = self.cache.read().unwrap_or_else(std::sync::PoisonError::into_inner).clone();
        if !self.is_full(&cache) {
            return cache;
        }
        let mut current = self.cache.write().unwrap_or_else(std::sync::PoisonError::into_inner);
        if self.is_full(&current) {
            let serial = self.n_caches.fetch_add(1, Ordering::Relaxed);
            *current = Arc::new(Cache::new(serial));
        }
        current.clone()
    }

    pub fn is_full(&self, cache: &Cache) -> bool {
        cache.bytes() as u64 > self.limits.cache_bytes
    }

    pub fn moves<'e>(&'e self, cache: &'e Cache) -> Moves<'e> {
        let max_items = (self.limits.mask_work / WORK_OF_AN_ITEM).max(MIN_ITEMS) as usize;
        let max_depth = self.limits.stack_depth;
        Moves { program: &self.program, cache, max_depth, max_items, opaque: false, passed: NOTHING }
    }

    pub fn work(&self) -> Work {
        Work::new("mask_work", self.limits.mask_work)
    }

    /// How many bytes it takes at least to count once more in the rule of a state.
    pub fn bytes_to_count(&self, state: StateId) -> u32 {
        self.count_bytes.of(&self.program, self.program.states[state as usize].rule)
    }

    /// The number of a place within an open key among those of all formats; equal ones have one.
    pub fn open_place(&self, place: StateId) -> Option<u64> {
        let mut known = lock(&self.open_places);
        let number = || Some(self.vocabulary.shared.number(open_keys::spelling(&self.program, place)?));
        *known.entry(place).or_insert_with(number)
    }

    /// How a state reads the large class of characters that it loops on, if there is one.
    pub fn plan(&self, state: StateId) -> Option<Arc<Plan>> {
        lock(&self.plans).plan(&self.program, state)
    }

    /// A character of a large class that leads a state to its neighbour, if it has one; see `neighbour`.
    pub fn neighbour(&self, state: StateId) -> Option<u8> {
        lock(&self.plans).neighbour(&self.program, state)
    }

    /// The class of characters that a state reads on for ever, if there is a large one.
    pub fn closed_class(&self, state: StateId) -> Option<CharSet> {
        lock(&self.plans).closed_class(&self.program, state)
    }

    /// The mask of a configuration: remembered, or that of its outline, or composed now.
    #[inline]
    pub fn mask(&self, cache: &Cache, id: ConfigId, work: &mut Work) -> Result<MaskId> {
        let slot = cache.configs.get(id).mask_slot();
        if slot >= FIRST_ID {
            cache.hits.fetch_add(1, Ordering::Relaxed);
            return Ok(slot - FIRST_ID);
        }
        cache.misses.fetch_add(1, Ordering::Relaxed);
        let mask = self.mask_by_outline(cache, id, work)?;
        cache.configs.get(id).mask.store(mask + FIRST_ID, Ordering::Release);
        Ok(mask)
    }

    /// Masks are looked up and stored by footprint: the frames near the top, and counts only where a guard is near.
    fn mask_by_outline(&self, cache: &Cache, id: ConfigId, work: &mut Work) -> Result<MaskId> {
        let moves = self.moves(cache);
        let mut depth = FIRST_DEPTH;
        while depth <= LAST_DEPTH {
            let outline = outline(self, moves, id, depth);
            let compose = || Composer::new(self, moves, work).compose(outline);
            if let Some(mask) = Outcome::remembered(cache, outline, compose)? {
                return Ok(mask);
            }
            depth *= 2;
        }
        let mask = Composer::new(self, moves, work).compose(id)?.interned(cache);
        Ok(mask.expect("a whole stack has nothing cut off"))
    }

    /// Heap bytes of the program, the cache in use and the plans, without the vocabulary.
    pub fn heap_bytes(&self) -> usize {
        let cache = self.cache.read().unwrap_or_else(std::sync::PoisonError::into_inner);
        self.program_bytes + cache.bytes() + lock(&self.plans).heap_bytes() + self.count_bytes.heap_bytes()
    }

    /// The cache in use, full or not.
    pub fn current(&self) -> Arc<Cache> {
        self.cache.read().unwrap_or_else(std::sync::PoisonError::into_inner).clone()
    }
}

/// A byte as a character where it is a printable one, else in hexadecimal.
fn shown(byte: u8) -> String {
    if byte.is_ascii_graphic() { format!("{:?}", byte as char) } else { format!("{byte:#04x}") }
}
