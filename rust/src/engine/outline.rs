//! What can a single token see of a configuration? The frames near the top, and counts only where a guard is near.
//!
//! Two configurations with one outline have one mask, unless the walk reaches a frame that was cut off. A thousand records
//! in a counted array make a thousand configurations, and a handful of outlines.

use super::cache::Cache;
use super::closure::Moves;
use super::index::Index;
use super::stack::{BOTTOM, CUT, ConfigId, FrameId, Item};

/// The configuration with `depth` frames below each item, and counts as low as no token can tell.
pub fn outline(index: &Index, moves: Moves, id: ConfigId, depth: u32) -> ConfigId {
    let config = moves.cache.configs.get(id);
    let outliner = Outliner { index, cache: moves.cache };
    let mut items: Vec<Item> = config.items.iter().map(|item| outliner.item(item, depth)).collect();
    items.sort_unstable();
    items.dedup();
    moves.whole(&items, config.complete)
}

/// The lowest count of an item from which all texts of at most `longest` bytes fare alike.
pub fn alike_count(index: &Index, item: &Item, longest: u32) -> u32 {
    if item.count == 0 {
        return 0;
    }
    let program = &index.program;
    // The first count may be a byte away.
    let near = program.next_threshold(item.state, item.count).filter(|next| next - item.count <= longest + 1);
    let counts = near.map_or(longest + 1, |_| 1 + longest / index.bytes_to_count(item.state));
    program.alike_count(item.state, item.count, counts)
}

struct Outliner<'e> {
    index: &'e Index,
    cache: &'e Cache,
}

impl Outliner<'_> {
    fn item(&self, item: &Item, depth: u32) -> Item {
        Item { count: self.count(item), frame: self.frame(item.frame, depth), ..*item }
    }

    fn count(&self, item: &Item) -> u32 {
        alike_count(self.index, item, self.index.vocabulary.trie.longest() as u32)
    }

    /// Recursion is no deeper than `depth`.
    fn frame(&self, id: FrameId, depth: u32) -> FrameId {
        if id == BOTTOM {
            return BOTTOM;
        }
        if depth == 0 {
            return CUT;
        }
        if let Some(known) = self.cache.outline(id, depth) {
            return known;
        }
        let frame = self.cache.frames.get(id);
        let mut items: Vec<Item> = frame.items.iter().map(|item| self.item(item, depth - 1)).collect();
        let found = self.cache.frame(&mut items, frame.end, frame.cut);
        self.cache.set_outline(id, depth, found);
        found
    }
}
