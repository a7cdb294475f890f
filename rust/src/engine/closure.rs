//! The moves of a configuration: read a byte or a special token, make the calls, leave the rules that end.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use rustc_hash::FxHashMap;

use super::cache::{Cache, EMPTY};
use super::data::{Acted, DataId};
use super::stack::{BOTTOM, Config, ConfigId, Content, DEAD, FIRST_ID, FrameId, Item, UNKNOWN};
use super::work::Work;
use crate::error::{Error, Result};
use crate::program::{ActionId, ByteEdge, COUNT, NO_ACTION, Program, StateId};

/// Past this many items a set is searched through a table and not from end to end.
const MAX_SCANNED: usize = 24;

/// The moves of one program over one cache.
#[derive(Clone, Copy)]
pub struct Moves<'e> {
    pub program: &'e Program,
    pub cache: &'e Cache,
    pub max_depth: u32,
    /// Items of one configuration.
    pub max_items: usize,
    /// Open keys and items are left open: what is reached is right for all of them at once.
    pub opaque: bool,
    /// Open keys whose object keeps this are passed over; `NOTHING`: none. See `Moves::declared`.
    pub passed: DataId,
}

impl<'e> Moves<'e> {
    /// The configuration of the empty text.
    pub fn start(&self, work: &mut Work) -> Result<ConfigId> {
        let mut closure = Closure::new(*self);
        closure.end = self.program.nullable;
        closure.add(Item { state: Program::START, count: 0, data: 0, frame: BOTTOM });
        Ok(closure.finish(work)?.unwrap_or_else(|| self.intern(&[], self.program.nullable)))
    }

    /// The configuration after one more byte, or `None` where no text of the format goes on like that.
    #[inline(always)]
    pub fn step(&self, config: &'e Config, byte: u8, work: &mut Work) -> Result<Option<ConfigId>> {
        work.spend(config.cost())?;
        let row = config.row(self.program, |bytes| self.cache.add_row_bytes(bytes));
        match row.get(self.program.classes[byte as usize]) {
            UNKNOWN => {
                let Step { next, alike, records } = self.compute_step(config, byte, &mut work.fresh())?;
                if !records {
                    let classes = alike.map(|byte| self.program.classes[byte as usize]);
                    row.set(classes, next.map_or(DEAD, |id| id + FIRST_ID));
                }
                Ok(next)
            }
            DEAD => Ok(None),
            next => Ok(Some(next - FIRST_ID)),
        }
    }

    /// The configuration after the special token `token`.
    pub fn token_step(&self, id: ConfigId, token: u32, work: &mut Work) -> Result<Option<ConfigId>> {
        if let Some(known) = self.cache.token_step(id, token) {
            return Ok(if known == DEAD { None } else { Some(known - FIRST_ID) });
        }
        let mut closure = Closure::new(*self);
        for item in &self.cache.configs.get(id).items {
            for edge in self.program.token_edges(item.state).iter().filter(|edge| edge.token == token) {
                closure.take(item, edge.target, edge.action, 0);
            }
        }
        let next = closure.finish(&mut work.fresh())?;
        self.cache.set_token_step(id, token, next.map_or(DEAD, |id| id + FIRST_ID));
        Ok(next)
    }

    #[inline(never)]
    fn compute_step(&self, config: &Config, byte: u8, work: &mut Work) -> Result<Step> {
        work.spend(config.items.len() as u64)?;
        if let [item] = config.items[..]
            && let Some(step) = self.plain_step(&item, byte)
        {
            return Ok(step);
        }
        let mut closure = Closure::new(*self);
        let mut alike = [0, u8::MAX];
        let mut records = false;
        for item in &config.items {
            self.for_each_reading(item.state, byte, &mut alike, |edge| {
                records |= config.direct && self.program.actions[edge.action as usize].records();
                closure.take(item, edge.target, edge.action, byte);
            });
        }
        Ok(Step { next: closure.finish(work)?, alike, records })
    }

    /// Visit the edges of a state that read a byte; `alike` is narrowed to the bytes around it that the same edges read.
    #[inline(always)]
    fn for_each_reading(
        &self,
        state: StateId,
        byte: u8,
        [low, high]: &mut [u8; 2],
        mut visit: impl FnMut(&ByteEdge),
    ) {
        for edge in self.program.byte_edges(state) {
            // Edges are sorted by their lower bound.
            if edge.low > byte {
                *high = (*high).min(edge.low - 1);
                break;
            }
            if edge.high < byte {
                *low = (*low).max(edge.high + 1);
            } else {
                (*low, *high) = ((*low).max(edge.low), (*high).min(edge.high));
                visit(edge);
            }
        }
    }

    /// The step of an item alone to a state that only reads on: within words and strings nearly all are no more than that.
    fn plain_step(&self, item: &Item, byte: u8) -> Option<Step> {
        let mut alike = [0, u8::MAX];
        let (mut taken, mut n) = (None, 0);
        self.for_each_reading(item.state, byte, &mut alike, |edge| (taken, n) = (Some(*edge), n + 1));
        let edge = taken.filter(|_| n == 1)?;
        let count = match edge.action {
            NO_ACTION => item.count,
            COUNT => self.program.count_up(item.state, item.count),
            _ => return None,
        };
        let state = &self.program.states[edge.target as usize];
        let item = Item { state: edge.target, count, ..*item };
        let plain = !state.accept && state.calls.is_empty() && !state.bytes.is_empty() && state.takes(count);
        let held = plain && !self.is_passed(&item) && !self.is_beyond_blank(&item) && self.guard_holds(&item);
        held.then(|| Step { next: Some(self.intern(&[item], false)), alike, records: false })
    }

    /// The configuration with these sorted items.
    fn intern(&self, items: &[Item], end: bool) -> ConfigId {
        self.intern_flagged(Content { items, end, ..EMPTY })
    }

    /// The same, where the flags of the content but those that follow from its items are set.
    fn intern_flagged(&self, content: Content) -> ConfigId {
        if !self.program.has_memory() {
            return self.cache.configs.intern(content);
        }
        let direct = content.items.iter().any(|item| self.records(item));
        self.cache.configs.intern(Content { direct, opened: self.opened(content.items), ..content })
    }

    fn records(&self, item: &Item) -> bool {
        self.program.states[item.state as usize].records && !self.cache.datas.get(item.data).opaque
    }

    /// The configuration with these sorted items, and with the end of the text if it is `complete`.
    pub fn whole(&self, items: &[Item], complete: bool) -> ConfigId {
        self.intern(items, complete)
    }

    /// The configuration of an item that has just been entered: its calls made, and its rule left if it may end.
    pub fn closed(&self, item: Item, work: &mut Work) -> Result<ConfigId> {
        let mut closure = Closure::new(*self);
        closure.add(item);
        Ok(closure.finish(&mut work.fresh())?.unwrap_or_else(|| self.intern(&[], false)))
    }

    /// The configuration after the frame `frame` was left; `None` if nothing can follow.
    pub fn after_return(&self, frame: FrameId, work: &mut Work) -> Result<Option<ConfigId>> {
        if let Some(known) = self.cache.after_return(frame) {
            return Ok(known);
        }
        let mut closure = Closure::new(*self);
        closure.go_back(frame, work)?;
        let config = closure.finish(&mut work.fresh())?;
        self.cache.set_after_return(frame, config);
        Ok(config)
    }

    /// A configuration with some of the items of another.
    pub fn part(&self, items: &[Item]) -> ConfigId {
        self.intern(items, false)
    }
}

/// Where one more byte leads.
struct Step {
    next: Option<ConfigId>,
    /// The bytes around it that the same edges read. A JSON string has some 60 classes of bytes in a usual schema, and 3
    /// ways to go on.
    alike: [u8; 2],
    /// Some edge records what it reads: each byte leads elsewhere.
    records: bool,
}

/// Collects items and closes them under calls and returns.
struct Closure<'e> {
    moves: Moves<'e>,
    items: Vec<Item>,
    /// Places of items by key, once there are many.
    places: FxHashMap<(u32, u32, u32), u32>,
    /// Items to be looked at, callers before what they call first.
    queue: BinaryHeap<(Reverse<u32>, u32)>,
    end: bool,
    cut: bool,
    beyond: bool,
    perhaps: bool,
    /// Work of unions, not yet accounted for.
    steps: u64,
}

impl<'e> Closure<'e> {
    fn new(moves: Moves<'e>) -> Self {
        Closure {
            moves,
            items: Vec::new(),
            places: FxHashMap::default(),
            queue: BinaryHeap::new(),
            end: false,
            cut: false,
            beyond: false,
            perhaps: false,
            steps: 0,
        }
    }

    /// Take an edge of an item.
    fn take(&mut self, item: &Item, target: StateId, action: ActionId, byte: u8) {
        if let Some(item) = self.moved(item, target, action, byte) {
            self.add(item);
        }
    }

    fn moved(&mut self, item: &Item, target: StateId, action: ActionId, byte: u8) -> Option<Item> {
        let program = self.moves.program;
        match action {
            NO_ACTION => Some(Item { state: target, ..*item }),
            COUNT => Some(Item { state: target, count: program.count_up(item.state, item.count), ..*item }),
            _ => {
                let action = program.actions[action as usize];
                let data = match self.moves.act(item.data, action, byte, target) {
                    Acted::Dead => return None,
                    Acted::To(data) => data,
                    Acted::Perhaps(data) => {
                        self.perhaps = true;
                        data
                    }
                };
                Some(Item { state: target, data, ..*item })
            }
        }
    }

    /// Add an item, or unite its frame with that of an equal one.
    fn add(&mut self, item: Item) {
        let state = &self.moves.program.states[item.state as usize];
        if self.moves.program.has_memory() {
            if self.moves.is_passed(&item) {
                return;
            }
            if self.moves.is_beyond_blank(&item) {
                (self.cut, self.beyond) = (true, true);
                return;
            }
        }
        if !state.takes(item.count) || !self.moves.guard_holds(&item) {
            return;
        }
        let place = match self.find(&item) {
            Some(place) => {
                let known = &mut self.items[place as usize];
                let union = self.moves.cache.union(known.frame, item.frame, &mut self.steps);
                if union == known.frame {
                    return;
                }
                known.frame = union;
                place
            }
            None => {
                let place = self.items.len() as u32;
                self.items.push(item);
                if self.items.len() > MAX_SCANNED {
                    if self.places.is_empty() {
                        self.places.extend((0..).zip(&self.items).map(|(place, item)| (item.key(), place)));
                    }
                    self.places.insert(item.key(), place);
                }
                place
            }
        };
        if state.accept || !state.calls.is_empty() {
            self.queue.push((Reverse(state.rank), place));
        }
    }

    fn find(&self, item: &Item) -> Option<u32> {
        if self.items.len() > MAX_SCANNED {
            return self.places.get(&item.key()).copied();
        }
        self.items.iter().position(|known| known.key() == item.key()).map(|place| place as u32)
    }

    /// Make all calls and returns; `None` if nothing is left.
    fn finish(mut self, work: &mut Work) -> Result<Option<ConfigId>> {
        while let Some((_, place)) = self.queue.pop() {
            let item = self.items[place as usize];
            work.spend(1 + std::mem::take(&mut self.steps))?;
            self.leave(item, work)?;
            self.call(item)?;
            self.bounded(work)?;
        }
        self.bounded(work)?;
        work.spend(self.items.len() as u64)?;
        let program = self.moves.program;
        let reads = |item: &Item| {
            let state = &program.states[item.state as usize];
            !state.bytes.is_empty() || !state.tokens.is_empty()
        };
        self.items.retain(reads);
        if self.items.is_empty() && !self.end && !self.cut {
            return Ok(None);
        }
        self.items.sort_unstable();
        let Closure { items, end, cut, beyond, perhaps, .. } = self;
        let flags = Content { items: &items, end, cut, beyond, perhaps, ..EMPTY };
        Ok(Some(self.moves.intern_flagged(flags)))
    }

    fn bounded(&self, work: &Work) -> Result<()> {
        if self.items.len() > self.moves.max_items { Err(work.exhausted()) } else { Ok(()) }
    }

    fn leave(&mut self, item: Item, work: &mut Work) -> Result<()> {
        let state = &self.moves.program.states[item.state as usize];
        if !state.leaves_at(item.count) {
            return Ok(());
        }
        match self.moves.ending(&item) {
            Acted::Dead => return Ok(()),
            Acted::Perhaps(_) => self.perhaps = true,
            Acted::To(_) => {}
        }
        self.go_back(item.frame, work)
    }

    fn go_back(&mut self, frame: FrameId, work: &mut Work) -> Result<()> {
        let frame = self.moves.cache.frames.get(frame);
        work.spend(frame.items.len() as u64)?;
        self.end |= frame.end;
        self.cut |= frame.cut;
        frame.items.iter().for_each(|&item| self.add(item));
        Ok(())
    }

    fn call(&mut self, item: Item) -> Result<()> {
        let program = self.moves.program;
        for edge in program.call_edges(item.state) {
            let frame = if edge.tail {
                item.frame
            } else {
                let Some(back) = self.moved(&item, edge.back, edge.action, 0) else { continue };
                let valid = program.states[back.state as usize].takes(back.count);
                if !valid || !self.moves.guard_holds(&back) {
                    continue;
                }
                self.push(back)?
            };
            let data = self.moves.entered(item.data, edge.nests);
            self.add(Item { state: edge.start, count: 0, data, frame });
        }
        Ok(())
    }

    fn push(&self, back: Item) -> Result<FrameId> {
        let below = self.moves.cache.frames.get(back.frame).depth;
        if below >= self.moves.max_depth {
            let limit = self.moves.max_depth;
            let what = format!("the text is nested more than {limit} rules deep");
            return Err(Error::Limit { what, limit: "stack_depth", value: u64::from(limit) });
        }
        Ok(self.moves.cache.frames.intern(Content { items: &[back], depth: below + 1, ..EMPTY }))
    }
}
