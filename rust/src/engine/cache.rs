//! What an index has found out so far: frames, configurations, masks. Shared by all constraints of the index.
//!
//! A cache only grows. When it is full the index starts a new one and constraints move over; the old one lives as long
//! as some history still points into it.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use rustc_hash::FxHashMap;

use super::arena::{Interner, lock};
use super::compose::Skeleton;
use super::data::{Data, DataKey, NOTHING, Text};
use super::mask::MaskStore;
use super::stack::{BOTTOM, CUT, Config, ConfigId, Content, Frame, FrameId, Item};

/// How deep two frames with the same tops are united; below that both are kept, which is right but larger.
const MAX_UNION_DEPTH: u32 = 48;

/// Content without anything.
pub const EMPTY: Content<'static> =
    Content { items: &[], end: false, cut: false, depth: 0, direct: false, perhaps: false };

pub struct Cache {
    /// Which cache of its index it is.
    pub serial: u64,
    pub frames: Interner<Frame>,
    pub configs: Interner<Config>,
    pub datas: Interner<Data>,
    pub texts: Interner<Text>,
    pub masks: MaskStore,
    unions: Mutex<FxHashMap<(FrameId, FrameId), FrameId>>,
    /// (configuration, special token) to a transition.
    token_steps: Mutex<FxHashMap<(ConfigId, u32), u32>>,
    /// (frame, depth) to its outline.
    outlines: Mutex<FxHashMap<(FrameId, u32), FrameId>>,
    /// For an item, the tokens that stay within its rule.
    insides: Mutex<FxHashMap<Item, Arc<[u32]>>>,
    /// For a configuration without frames and a trie, what it allows whatever they are.
    skeletons: Mutex<FxHashMap<(ConfigId, u64), Arc<Skeleton>>>,
    row_bytes: AtomicUsize,
    pub hits: AtomicU64,
    pub misses: AtomicU64,
}

impl Cache {
    pub fn new(serial: u64) -> Cache {
        let cache = Cache {
            serial,
            frames: Interner::default(),
            configs: Interner::default(),
            datas: Interner::default(),
            texts: Interner::default(),
            masks: MaskStore::default(),
            unions: Mutex::default(),
            token_steps: Mutex::default(),
            outlines: Mutex::default(),
            insides: Mutex::default(),
            skeletons: Mutex::default(),
            row_bytes: AtomicUsize::new(0),
            hits: AtomicU64::new(0),
            misses: AtomicU64::new(0),
        };
        let nothing = cache.datas.intern(DataKey::default());
        debug_assert_eq!(nothing, NOTHING);
        let bottom = cache.frames.intern(Content { end: true, ..EMPTY });
        let cut = cache.frames.intern(Content { cut: true, ..EMPTY });
        debug_assert_eq!((bottom, cut), (BOTTOM, CUT));
        cache
    }

    /// About how many bytes it holds.
    pub fn bytes(&self) -> usize {
        self.frames.bytes()
            + self.configs.bytes()
            + self.datas.bytes()
            + self.texts.bytes()
            + self.masks.bytes()
            + self.row_bytes.load(Ordering::Relaxed)
            + 24 * (lock(&self.unions).len() + lock(&self.outlines).len())
    }

    pub fn add_row_bytes(&self, bytes: usize) {
        self.row_bytes.fetch_add(bytes, Ordering::Relaxed);
    }

    /// The frame with these items; they need not be sorted.
    pub fn frame(&self, items: &mut Vec<Item>, end: bool, cut: bool) -> FrameId {
        items.sort_unstable();
        items.dedup();
        let depth = 1 + items.iter().map(|item| self.frames.get(item.frame).depth).max().unwrap_or(0);
        self.frames.intern(Content { items, end, cut, depth, ..EMPTY })
    }

    /// The frame that goes on where either does.
    pub fn union(&self, a: FrameId, b: FrameId) -> FrameId {
        self.union_below(a, b, 0)
    }

    fn union_below(&self, a: FrameId, b: FrameId, depth: u32) -> FrameId {
        if a == b {
            return a;
        }
        let pair = (a.min(b), a.max(b));
        if let Some(&known) = lock(&self.unions).get(&pair) {
            return known;
        }
        let (frame_a, frame_b) = (self.frames.get(pair.0), self.frames.get(pair.1));
        let mut items: Vec<Item> = Vec::with_capacity(frame_a.items.len() + frame_b.items.len());
        let (mut left, mut right) = (&*frame_a.items, &*frame_b.items);
        while let (Some(x), Some(y)) = (left.first(), right.first()) {
            if x.key() == y.key() && depth < MAX_UNION_DEPTH {
                items.push(Item { frame: self.union_below(x.frame, y.frame, depth + 1), ..*x });
                (left, right) = (&left[1..], &right[1..]);
            } else if x < y {
                items.push(*x);
                left = &left[1..];
            } else {
                items.push(*y);
                right = &right[1..];
            }
        }
        items.extend_from_slice(left);
        items.extend_from_slice(right);
        let union = self.frame(&mut items, frame_a.end || frame_b.end, frame_a.cut || frame_b.cut);
        lock(&self.unions).insert(pair, union);
        union
    }

    pub fn token_step(&self, config: ConfigId, token: u32) -> Option<u32> {
        lock(&self.token_steps).get(&(config, token)).copied()
    }

    pub fn set_token_step(&self, config: ConfigId, token: u32, to: u32) {
        lock(&self.token_steps).insert((config, token), to);
    }

    pub fn outline(&self, frame: FrameId, depth: u32) -> Option<FrameId> {
        lock(&self.outlines).get(&(frame, depth)).copied()
    }

    pub fn set_outline(&self, frame: FrameId, depth: u32, outline: FrameId) {
        lock(&self.outlines).insert((frame, depth), outline);
    }

    pub fn inside(&self, item: &Item) -> Option<Arc<[u32]>> {
        lock(&self.insides).get(item).cloned()
    }

    /// Keep the tokens that stay within the rule of an item, unless another thread was faster.
    pub fn set_inside(&self, item: Item, words: Arc<[u32]>) -> Arc<[u32]> {
        self.add_row_bytes(words.len() * 4);
        lock(&self.insides).entry(item).or_insert(words).clone()
    }

    pub fn skeleton(&self, config: ConfigId, trie: u64) -> Option<Arc<Skeleton>> {
        lock(&self.skeletons).get(&(config, trie)).cloned()
    }

    /// Keep a skeleton, unless another thread was faster.
    pub fn set_skeleton(&self, config: ConfigId, trie: u64, skeleton: Skeleton) -> Arc<Skeleton> {
        let words = skeleton.base.as_ref().map_or(0, |words| words.len());
        self.add_row_bytes(4 * (words + skeleton.ids.len()) + 64 * skeleton.cuts.len());
        lock(&self.skeletons).entry((config, trie)).or_insert_with(|| Arc::new(skeleton)).clone()
    }
}
