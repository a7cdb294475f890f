//! What an index has found out so far: frames, configurations, masks. Shared by all constraints of the index.
//!
//! A cache only grows. When it is full the index starts a new one and constraints move over, each when it takes its next
//! token; the old one goes with the last of them.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use rustc_hash::FxHashMap;

use super::arena::{Interner, lock};
use super::data::{Data, DataKey, NOTHING, Text};
use super::draft::Draft;
use super::mask::MaskStore;
use super::skeleton::{Over, Skeleton};
use super::stack::{BOTTOM, CUT, Config, ConfigId, Content, Frame, FrameId, Item, Opened};

/// Content without anything.
pub const EMPTY: Content<'static> = Content {
    items: &[],
    end: false,
    cut: false,
    beyond: false,
    depth: 0,
    direct: false,
    perhaps: false,
    opened: Opened::None,
};

/// About what an entry of a table takes, with its key and the table's spare room.
const ENTRY_BYTES: usize = 32;

/// Some bitmasks, and all their tokens in one.
struct United {
    _parts: Vec<Arc<[u32]>>,
    words: Arc<[u32]>,
}

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
    /// Unions of bitmasks that masks are patches on, by where those are; with them, so that they stay there.
    united: Mutex<FxHashMap<Vec<usize>, United>>,
    /// For a configuration without frames, what it allows whatever they are.
    skeletons: Mutex<FxHashMap<(ConfigId, Over), Arc<Skeleton>>>,
    /// For a frame, the configuration after it was left.
    returns: Mutex<FxHashMap<FrameId, Option<ConfigId>>>,
    /// For a configuration with its texts left open, its mask as far as it is sure; none if it was cut off.
    drafts: Mutex<FxHashMap<ConfigId, Arc<Option<Draft>>>>,
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
            united: Mutex::default(),
            drafts: Mutex::default(),
            returns: Mutex::default(),
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

    /// The frame that goes on where either does; counts its work in `steps`.
    ///
    /// Frames with the same tops are united all the way down, so that equal sets of stacks are one frame: keeping both
    /// where they differ below some depth doubles the set at each level above. No recursion: a stack may be 100,000 deep.
    pub fn union(&self, a: FrameId, b: FrameId, steps: &mut u64) -> FrameId {
        if a == b {
            return a;
        }
        let mut open = vec![(a.min(b), a.max(b))];
        while let Some(&pair) = open.last() {
            *steps += 1;
            if self.known_union(pair).is_some() {
                open.pop();
                continue;
            }
            let before = open.len();
            if let Some(items) = self.merged(pair, &mut open) {
                let (frame_a, frame_b) = (self.frames.get(pair.0), self.frames.get(pair.1));
                *steps += items.len() as u64;
                let mut items = items;
                let union = self.frame(&mut items, frame_a.end || frame_b.end, frame_a.cut || frame_b.cut);
                lock(&self.unions).insert(pair, union);
                open.truncate(before - 1);
            }
        }
        self.known_union((a.min(b), a.max(b))).expect("it has just been made")
    }

    fn known_union(&self, pair: (FrameId, FrameId)) -> Option<FrameId> {
        if pair.0 == pair.1 { Some(pair.0) } else { lock(&self.unions).get(&pair).copied() }
    }

    /// The items of both frames; where they meet, unions below are needed: those missing are put on `open`.
    fn merged(&self, pair: (FrameId, FrameId), open: &mut Vec<(FrameId, FrameId)>) -> Option<Vec<Item>> {
        let (mut left, mut right) = (&*self.frames.get(pair.0).items, &*self.frames.get(pair.1).items);
        let mut items = Vec::with_capacity(left.len() + right.len());
        let mut complete = true;
        while let (Some(x), Some(y)) = (left.first(), right.first()) {
            match x.key().cmp(&y.key()) {
                std::cmp::Ordering::Equal => {
                    let below = (x.frame.min(y.frame), x.frame.max(y.frame));
                    match self.known_union(below) {
                        Some(frame) => items.push(Item { frame, ..*x }),
                        None => {
                            complete = false;
                            open.push(below);
                        }
                    }
                    (left, right) = (&left[1..], &right[1..]);
                }
                std::cmp::Ordering::Less => {
                    items.push(*x);
                    left = &left[1..];
                }
                std::cmp::Ordering::Greater => {
                    items.push(*y);
                    right = &right[1..];
                }
            }
        }
        items.extend_from_slice(left);
        items.extend_from_slice(right);
        complete.then_some(items)
    }

    pub fn token_step(&self, config: ConfigId, token: u32) -> Option<u32> {
        lock(&self.token_steps).get(&(config, token)).copied()
    }

    pub fn set_token_step(&self, config: ConfigId, token: u32, to: u32) {
        if lock(&self.token_steps).insert((config, token), to).is_none() {
            self.add_row_bytes(ENTRY_BYTES);
        }
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
        self.add_row_bytes(ENTRY_BYTES + words.len() * 4);
        lock(&self.insides).entry(item).or_insert(words).clone()
    }

    pub fn skeleton(&self, config: ConfigId, over: Over) -> Option<Arc<Skeleton>> {
        lock(&self.skeletons).get(&(config, over)).cloned()
    }

    /// Keep a skeleton, unless another thread was faster.
    pub fn set_skeleton(&self, config: ConfigId, over: Over, skeleton: Arc<Skeleton>) -> Arc<Skeleton> {
        self.add_row_bytes(ENTRY_BYTES + skeleton.heap_bytes());
        lock(&self.skeletons).entry((config, over)).or_insert(skeleton).clone()
    }

    pub fn after_return(&self, frame: FrameId) -> Option<Option<ConfigId>> {
        lock(&self.returns).get(&frame).copied()
    }

    pub fn set_after_return(&self, frame: FrameId, config: Option<ConfigId>) {
        if lock(&self.returns).insert(frame, config).is_none() {
            self.add_row_bytes(ENTRY_BYTES);
        }
    }

    pub fn draft(&self, config: ConfigId) -> Option<Arc<Option<Draft>>> {
        lock(&self.drafts).get(&config).cloned()
    }

    pub fn set_draft(&self, config: ConfigId, draft: Option<Draft>) -> Arc<Option<Draft>> {
        self.add_row_bytes(64 + draft.as_ref().map_or(0, Draft::heap_bytes));
        lock(&self.drafts).entry(config).or_insert_with(|| Arc::new(draft)).clone()
    }

    /// All tokens of some bitmasks in one that is shared by all who ask for the same.
    pub fn united(&self, mut parts: Vec<Arc<[u32]>>) -> Arc<[u32]> {
        parts.sort_unstable_by_key(|words| words.as_ptr());
        parts.dedup_by_key(|words| words.as_ptr());
        if let [only] = &parts[..] {
            return only.clone();
        }
        let key: Vec<usize> = parts.iter().map(|words| words.as_ptr() as usize).collect();
        let mut known = lock(&self.united);
        let united = known.entry(key).or_insert_with(|| {
            let mut words = parts[0].to_vec();
            for part in &parts[1..] {
                words.iter_mut().zip(part.iter()).for_each(|(word, more)| *word |= more);
            }
            self.add_row_bytes(words.len() * 4);
            United { _parts: parts, words: words.into() }
        });
        united.words.clone()
    }
}
