//! What can a single token see of a configuration? The frames near the top, and counts only where a guard is near.
//!
//! Two configurations with one outline have one mask, unless the walk reaches a frame that was cut off. A thousand records
//! in a counted array make a thousand configurations, and a handful of outlines.

use super::cache::Cache;
use super::closure::Moves;
use super::stack::{BOTTOM, CUT, ConfigId, FrameId, Item};
use crate::program::Program;

/// The configuration with `depth` frames below each item, and counts as low as `longest` bytes cannot tell.
pub fn outline(moves: Moves, id: ConfigId, depth: u32, longest: u32) -> ConfigId {
    let config = moves.cache.configs.get(id);
    let outliner = Outliner { program: moves.program, cache: moves.cache, longest };
    let mut items: Vec<Item> = config.items.iter().map(|item| outliner.item(item, depth)).collect();
    items.sort_unstable();
    items.dedup();
    moves.whole(&items, config.complete)
}

struct Outliner<'e> {
    program: &'e Program,
    cache: &'e Cache,
    longest: u32,
}

impl Outliner<'_> {
    fn item(&self, item: &Item, depth: u32) -> Item {
        let count = self.program.alike_count(item.state, item.count, self.longest);
        Item { count, frame: self.frame(item.frame, depth), ..*item }
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
