//! What may be forgotten of what a text keeps, so that one walk serves many texts?
//!
//! A key that is being read is left open; what was written before it is forgotten once it is (`Moves::blanked`), and for what
//! comes next if that is an open key (`Moves::keys_apart`) or, with those that cannot come passed by, a declared one
//! (`Moves::declared`).

use super::arena::Interned;
use super::closure::Moves;
use super::data::{DECLARED_FIRST, DataId, DataKey, NOTHING, OPEN_FIRST};
use super::shared::Held;
use super::stack::{Config, ConfigId, Item, Opened};
use crate::identity::identity;
use crate::memory::{Members, Written};
use crate::program::{Action, Ending, Guard, Program, StateId};

/// The declared keys of an object of which some members are written.
#[derive(Clone, Copy)]
pub struct Declared<'e> {
    /// Where the walk starts.
    pub start: Item,
    /// What open keys keep that it passes over.
    pub passed: DataId,
    /// No open key comes next.
    pub alone: bool,
    members: &'e Members,
    written: Written<'e>,
    /// How many open keys are left to write; `None`: any number.
    left: Option<u32>,
}

impl Declared<'_> {
    /// Whether some member that can come next is read from one configuration to another.
    pub fn may_step(&self, program: &Program, from: &Config, byte: u8, to: &Config) -> bool {
        let key = |config: &Config| match config.items[..] {
            // An object within a value may be of the same rule: its keys are not asked for here.
            [item] if item.data == self.start.data => {
                self.members.below.of(program.place_in_rule(item.state))
            }
            _ => None,
        };
        let may_come = |members: &[u32]| self.members.some_available(self.written, members, self.left);
        match (key(from), key(to)) {
            (_, Some(below)) => may_come(below),
            (Some(_), None) => {
                let edges = program.byte_edges(from.items[0].state).iter();
                edges.filter(|edge| edge.low <= byte && byte <= edge.high).any(|edge| {
                    match program.actions[edge.action as usize] {
                        Action::Declare { member, .. } => may_come(&[member]),
                        _ => true,
                    }
                })
            }
            (None, None) => true,
        }
    }
}

/// An open key that is being read.
pub struct KeyRead<'e> {
    members: &'e Members,
    data: DataKey<'e>,
    text: &'e [u8],
    /// Its identity so far; none within an escape.
    value: Option<Box<[u8]>>,
}

impl<'e> Moves<'e> {
    /// The item with the text that it is reading left open, where that makes one mask out of many.
    ///
    /// `reading`: it has read some of it, whatever its data says.
    pub fn left_open(&self, item: &Item, reading: bool) -> Item {
        let records = self.program.states[item.state as usize].records;
        let data = self.data(item.data);
        let reading = reading || data.text.is_some();
        if !self.opaque || !records || !reading || data.opaque || self.reads_exactly(item.state) {
            return *item;
        }
        let data = self.cache.datas.intern(DataKey { text: None, opaque: true, ..data });
        Item { data, ..*item }
    }

    /// Numbers and items with few words are read as they are.
    fn reads_exactly(&self, state: StateId) -> bool {
        matches!(self.program.rule_of(state).ending, Ending::Decimal { .. }) || self.is_few(state)
    }

    /// What some items read that was left open.
    pub fn opened(&self, items: &[Item]) -> Opened {
        let mut found = Opened::None;
        for item in items.iter().filter(|item| self.cache.datas.get(item.data).opaque) {
            let this = Opened::One(item.data);
            if found != Opened::None && found != this {
                return Opened::More;
            }
            found = this;
        }
        found
    }

    /// An item within an open key with all forgotten but the depth: what follows the key, up to where its object goes on,
    /// is the same whatever was written before.
    pub fn blanked(&self, item: &Item) -> Item {
        let guard = self.program.states[item.state as usize].guard;
        let data = self.data(item.data);
        if !matches!(guard, Guard::OpenKey { .. }) || !data.opaque {
            return *item;
        }
        let blank = DataKey { depth: data.depth, opaque: true, blank: true, ..Default::default() };
        Item { data: self.cache.datas.intern(blank), ..*item }
    }

    /// Whether a guard or an ending needs more than a blank knows.
    pub fn is_beyond_blank(&self, item: &Item) -> bool {
        let state = &self.program.states[item.state as usize];
        let asks = state.accept || !matches!(state.guard, Guard::None | Guard::OpenKey { .. });
        let data = self.cache.datas.get(item.data);
        if !asks || !data.blank || !self.program.rules[state.rule as usize].remembers() || data.is_first() {
            return false;
        }
        let within = matches!(state.guard, Guard::Key { .. } | Guard::MoreMembers { .. });
        !(within && !state.accept && data.is_declared())
    }

    /// The walk of the declared keys from an item before one or within one: it goes as if all members could come next, and
    /// passes by those that cannot. So its configurations are the same after each member of an object.
    pub fn declared(&self, item: &Item) -> Option<Declared<'e>> {
        let state = &self.program.states[item.state as usize];
        let (Guard::Key { spec } | Guard::MoreMembers { spec }) = state.guard else { return None };
        let (members, data) = (self.members(spec), self.data(item.data));
        if !self.opaque || state.accept || data.opaque || data.blank || data.text.is_some() {
            return None;
        }
        let blank = DataKey { depth: data.depth, blank: true, ..Default::default() };
        let passed = self.cache.datas.intern(DataKey { opaque: true, ..blank });
        let start = self.cache.datas.intern(DataKey { count: DECLARED_FIRST, ..blank });
        let written = Written { used: data.used, last: data.last, count: data.count };
        let left = self.open_left(members, &data);
        // Keys of which there are few are read as they are, and so cannot be passed over.
        let none_open =
            !members.has_open || (members.words.is_empty() && !members.open_available(written, left, None));
        let alone = matches!(state.guard, Guard::Key { .. }) || none_open;
        Some(Declared { start: Item { data: start, ..*item }, passed, alone, members, written, left })
    }

    /// An item before a key with nothing known but that an open key comes first; the declared ones are another walk.
    ///
    /// What begins with an open key is the same whatever was written before; all that depends on it is small. So the
    /// many tokens that begin with a quote are walked once for an object's rule, and not after each of its members.
    pub fn keys_apart(&self, item: &Item) -> Option<Item> {
        let Guard::MoreMembers { spec } = self.program.states[item.state as usize].guard else { return None };
        let (members, data) = (self.members(spec), self.data(item.data));
        let few = members.open_words.is_some() || !members.words.is_empty();
        if !self.opaque || few || data.opaque || data.blank || data.text.is_some() {
            return None;
        }
        let written = Written { used: data.used, last: data.last, count: data.count };
        // Where some open keys can come next and others cannot, they are not the same after each member.
        let differ = members.needs() != 0 && members.max != u32::MAX;
        if differ || !members.open_available(written, None, None) {
            return None;
        }
        let first = DataKey { depth: data.depth, blank: true, count: OPEN_FIRST, ..Default::default() };
        Some(Item { data: self.cache.datas.intern(first), ..*item })
    }

    /// Whether an item is none of those that are walked now: the walk of the open keys passes the declared ones, and the
    /// other way round.
    pub fn is_passed(&self, item: &Item) -> bool {
        if item.data == NOTHING {
            return false;
        }
        let guard = self.program.states[item.state as usize].guard;
        match guard {
            Guard::OpenKey { .. } => item.data == self.passed,
            Guard::Key { .. } => self.cache.datas.get(item.data).is_first(),
            _ => false,
        }
    }

    /// What is known of what an item keeps, where that is the same in every format.
    pub fn held(&self, item: &Item) -> Option<Held> {
        if item.data == NOTHING {
            return Some(Held::Nothing);
        }
        let data = self.cache.datas.get(item.data);
        match (data.blank && data.depth == 0, data.opaque, data.is_first()) {
            (true, true, _) => Some(Held::InKey),
            (true, false, true) => Some(Held::BeforeKey),
            _ => None,
        }
    }

    /// The one open key that a configuration is reading; `None` if it reads something else too.
    pub fn key_read(&self, id: ConfigId) -> Option<KeyRead<'e>> {
        let mut found: Option<(u32, DataId)> = None;
        for item in self.cache.configs.get(id).items.iter() {
            if item.data == NOTHING || self.data(item.data).text.is_none() {
                continue;
            }
            let this = (self.program.states[item.state as usize].rule, item.data);
            if found.is_some_and(|found| found != this) {
                return None;
            }
            found = Some(this);
        }
        let (rule, data) = found?;
        let Ending::Members { spec } = self.program.rules[rule as usize].ending else { return None };
        let (members, data) = (self.members(spec), self.data(data));
        let text = data.text.unwrap_or_default();
        // Within an escape the value so far is not known yet.
        let plain = !members.json || text.strip_prefix(b"\"").is_some_and(ends_plainly);
        Some(KeyRead { members, data, text, value: plain.then(|| identity(members.json, text)) })
    }

    /// Whether what a configuration is reading are strings, and no key or item that was there before begins as they do.
    pub fn begins_anew(&self, id: ConfigId) -> bool {
        let items = &self.cache.configs.get(id).items;
        items.iter().filter(|item| item.data != NOTHING).all(|item| {
            let data = self.data(item.data);
            let Some(text) = data.text else { return true };
            // A string that goes on: what it spells so far stays.
            let goes_on = |body: &[u8]| ends_plainly(body) && !body.contains(&b'"');
            if !text.strip_prefix(b"\"").is_some_and(goes_on) {
                return false;
            }
            let name = identity(true, text);
            let declares = |members: &Members| members.names.iter().any(|known| known.starts_with(&name));
            let known = match self.program.states[item.state as usize].guard {
                Guard::OpenKey { spec, .. } => !self.members(spec).json || declares(self.members(spec)),
                Guard::Item { spec, .. } => !self.items(spec).json || self.items(spec).rest_words.is_some(),
                _ => true,
            };
            !known && !data.seen.iter().any(|&seen| self.cache.texts.get(seen).key().starts_with(&name))
        })
    }

    /// How the keys that are there, declared ones among them, go on where they begin as the key that is being read does.
    /// `None`: what it spells so far is not known, or its ends may spell the same in several ways.
    pub fn old_ends(&self, key: &KeyRead<'e>) -> Option<Vec<&'e [u8]>> {
        let value = key.value.as_deref()?;
        let seen = key.data.seen.iter().map(|&seen| self.cache.texts.get(seen).key());
        let there = key.members.names.iter().chain(seen);
        Some(there.filter_map(|name| name.strip_prefix(value)).collect())
    }

    /// Whether the key that is being read may end with `end`: it is none of those there, declared ones among them.
    /// `name` is scratch space.
    pub fn is_new_key(&self, key: &KeyRead, end: &[u8], name: &mut Vec<u8>) -> bool {
        name.clear();
        match &key.value {
            Some(value) if !key.members.json || !end.contains(&b'\\') => {
                name.extend_from_slice(value);
                name.extend_from_slice(end);
            }
            _ => name.extend_from_slice(&identity(key.members.json, &[key.text, end].concat())),
        }
        !key.members.names.contains(name) && !self.has_seen(&key.data, name)
    }
}

/// Whether a beginning of a JSON string's body ends between two characters, as far as escapes go.
fn ends_plainly(body: &[u8]) -> bool {
    let Some(last) = body.iter().rposition(|&byte| byte == b'\\') else { return true };
    let slashes = body[..=last].iter().rev().take_while(|&&byte| byte == b'\\').count();
    if slashes % 2 == 0 {
        return true;
    }
    match body.get(last + 1) {
        None => false,
        Some(b'u') => body.len() >= last + 6,
        Some(_) => true,
    }
}
