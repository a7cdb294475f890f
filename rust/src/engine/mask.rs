//! Finished masks: kept as ids, as a patch on a bitmask that many share, or dense; equal ones once.

use std::hash::{Hash, Hasher};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use hashbrown::HashTable;
use rustc_hash::FxHasher;

use super::arena::{Arena, lock};
use crate::mask::{clear, contains, set};

pub type MaskId = u32;

/// Which tokens are allowed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mask {
    /// A bitmask that others share; none: nothing.
    pub base: Option<Arc<[u32]>>,
    /// Allowed too; ascending.
    pub add: Box<[u32]>,
    /// Not allowed though the base has them; ascending.
    pub remove: Box<[u32]>,
    /// Nothing is masked, special tokens and ids without a token counted.
    pub is_full: bool,
}

impl Mask {
    /// Write the whole row; words past the vocabulary become zero.
    pub fn fill(&self, row: &mut [u32]) {
        match &self.base {
            Some(base) => {
                row[..base.len()].copy_from_slice(base);
                row[base.len()..].fill(0);
            }
            None => row.fill(0),
        }
        self.add.iter().for_each(|&id| set(row, id));
        self.remove.iter().for_each(|&id| clear(row, id));
    }

    /// The same mask with more ids, ascending.
    pub fn with(&self, ids: Vec<u32>, all: &[u32]) -> Mask {
        let mut add: Vec<u32> = ids.into_iter().filter(|&id| !self.contains(id)).collect();
        add.extend_from_slice(&self.add);
        add.sort_unstable();
        let remove = self.remove.iter().copied().filter(|id| add.binary_search(id).is_err()).collect();
        let mut mask = Mask { base: self.base.clone(), add: add.into(), remove, is_full: false };
        mask.is_full = mask.covers(all);
        mask
    }

    /// Whether it has all tokens of a bitmask.
    pub fn covers(&self, all: &[u32]) -> bool {
        let missing = |at: usize| all[at] & !self.base.as_ref().map_or(0, |base| base[at]);
        // Nearly always the base lacks more than is added, and that shows in the first few words.
        let mut lacking = 0;
        for at in 0..all.len() {
            lacking += missing(at).count_ones() as usize;
            if lacking > self.add.len() {
                return false;
            }
        }
        let mut row = vec![0; all.len()];
        self.fill(&mut row);
        row.iter().zip(all).all(|(have, want)| have & want == *want)
    }

    pub fn contains(&self, id: u32) -> bool {
        self.add.binary_search(&id).is_ok()
            || self.base.as_ref().is_some_and(|base| contains(base, id))
                && self.remove.binary_search(&id).is_err()
    }

    /// Bytes that the mask holds for itself.
    fn heap_bytes(&self) -> usize {
        let own = self
            .base
            .as_ref()
            .map_or(0, |base| if Arc::strong_count(base) == 1 { base.len() * 4 } else { 0 });
        own + (self.add.len() + self.remove.len()) * 4
    }

    fn hash(&self) -> u64 {
        let mut hasher = FxHasher::default();
        self.base.as_ref().map(|base| base.as_ptr() as usize).hash(&mut hasher);
        self.add.hash(&mut hasher);
        self.remove.hash(&mut hasher);
        hasher.finish().wrapping_mul(0x9E37_79B9_7F4A_7C15)
    }

    fn equals(&self, other: &Mask) -> bool {
        let same_base = match (&self.base, &other.base) {
            (Some(a), Some(b)) => Arc::ptr_eq(a, b),
            (None, None) => true,
            _ => false,
        };
        same_base && self.add == other.add && self.remove == other.remove
    }
}

#[derive(Default)]
pub struct MaskStore {
    masks: Arena<Mask>,
    table: Mutex<HashTable<MaskId>>,
    bytes: AtomicUsize,
    shared: AtomicUsize,
}

impl MaskStore {
    #[inline(always)]
    pub fn get(&self, id: MaskId) -> &Mask {
        self.masks.get(id)
    }

    /// How many different masks there are.
    pub fn size(&self) -> u32 {
        self.masks.size()
    }

    pub fn bytes(&self) -> usize {
        self.bytes.load(Ordering::Relaxed)
    }

    /// How many masks are kept as ids, as a patch on a bitmask that others share, and as a bitmask of their own.
    pub fn kinds(&self) -> [usize; 3] {
        let mut kinds = [0; 3];
        for mask in self.masks.iter() {
            let kind = match &mask.base {
                None => 0,
                Some(base) if Arc::strong_count(base) > 1 => 1,
                Some(_) => 2,
            };
            kinds[kind] += 1;
        }
        kinds
    }

    /// How often a mask turned out to be there already.
    pub fn shared(&self) -> usize {
        self.shared.load(Ordering::Relaxed)
    }

    pub fn intern(&self, mask: Mask) -> MaskId {
        let hash = mask.hash();
        let mut table = lock(&self.table);
        if let Some(&id) = table.find(hash, |&id| self.masks.get(id).equals(&mask)) {
            self.shared.fetch_add(1, Ordering::Relaxed);
            return id;
        }
        self.bytes.fetch_add(mask.heap_bytes() + size_of::<Mask>() + 12, Ordering::Relaxed);
        let id = self.masks.push(mask);
        table.insert_unique(hash, id, |&id| self.masks.get(id).hash());
        id
    }
}

/// The smallest mask: what is in the base already is not added, what is added is not removed.
pub fn patch(base: Option<Arc<[u32]>>, mut remove: Vec<u32>, mut ids: Vec<u32>, all: &[u32]) -> Mask {
    let Some(base) = base else { return sparse_or_dense(ids, all) };
    if !remove.is_empty() {
        ids.sort_unstable();
        remove.retain(|id| ids.binary_search(id).is_err());
        remove.sort_unstable();
    }
    ids.retain(|&id| !contains(&base, id));
    let add = ascending(ids);
    with_fullness(Mask { base: Some(base), add, remove: remove.into(), is_full: false }, all)
}

/// A list of ids takes 4 bytes each, a bitmask an eighth of a byte a token.
fn sparse_or_dense(ids: Vec<u32>, all: &[u32]) -> Mask {
    if ids.len() <= all.len() {
        let mask = Mask { base: None, add: ascending(ids), remove: Box::default(), is_full: false };
        return with_fullness(mask, all);
    }
    let mut words = vec![0; all.len()];
    ids.iter().for_each(|&id| crate::mask::set(&mut words, id));
    with_fullness(
        Mask { base: Some(words.into()), add: Box::default(), remove: Box::default(), is_full: false },
        all,
    )
}

fn ascending(mut ids: Vec<u32>) -> Box<[u32]> {
    ids.sort_unstable();
    ids.dedup();
    ids.into()
}

fn with_fullness(mut mask: Mask, all: &[u32]) -> Mask {
    mask.is_full = mask.covers(all);
    mask
}
