//! What a running text keeps of a rule that remembers: its depth, the members written, the items seen, the text being read.

use std::hash::Hash;

use super::arena::Interned;
use super::closure::Moves;
use super::stack::Item;
use crate::identity::identity;
use crate::memory::{Items, Members, Memory, Written};
use crate::program::{Action, Ending, Guard, StateId};

pub type DataId = u32;
pub type TextId = u32;

/// Nothing kept, at the outermost level.
pub const NOTHING: DataId = 0;

/// The content of a `Data`, not yet stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct DataKey<'k> {
    pub depth: u32,
    /// One past the last declared member.
    pub last: u32,
    /// Members written, or items ended.
    pub count: u32,
    /// Bit i: declared member i is written.
    pub used: &'k [u64],
    /// Open keys or items that were read: identities, ascending.
    pub seen: &'k [TextId],
    /// The open key, item or number being read.
    pub text: Option<&'k [u8]>,
    /// Something is being read, and what it is is left open: masks are made for all texts at once.
    pub opaque: bool,
    /// Nothing is known but the depth: what needs more is cut off. See `Moves::blanked`. The `count` says
    /// whether something is known of what comes first: `OPEN_FIRST`, `DECLARED_FIRST`.
    pub blank: bool,
}

#[derive(Debug)]
pub struct Data {
    pub depth: u32,
    last: u32,
    count: u32,
    used: Box<[u64]>,
    seen: Box<[TextId]>,
    text: Option<Box<[u8]>>,
    pub opaque: bool,
    pub blank: bool,
}

impl Interned for Data {
    type Key<'k> = DataKey<'k>;

    fn key(&self) -> DataKey<'_> {
        DataKey {
            depth: self.depth,
            last: self.last,
            count: self.count,
            used: &self.used,
            seen: &self.seen,
            text: self.text.as_deref(),
            opaque: self.opaque,
            blank: self.blank,
        }
    }

    fn equals(&self, key: DataKey<'_>) -> bool {
        self.key() == key
    }

    fn build(key: DataKey<'_>) -> Data {
        Data {
            depth: key.depth,
            last: key.last,
            count: key.count,
            used: key.used.into(),
            seen: key.seen.into(),
            text: key.text.map(Into::into),
            opaque: key.opaque,
            blank: key.blank,
        }
    }

    fn heap_bytes(&self) -> usize {
        self.used.len() * 8 + self.seen.len() * 4 + self.text.as_ref().map_or(0, |text| text.len())
    }
}

/// The `count` of a blank where an open key comes first. See `Moves::keys_apart`.
pub const OPEN_FIRST: u32 = 1;
/// The same where a declared key comes first, whichever. See `Moves::declared`.
pub const DECLARED_FIRST: u32 = 2;

impl Data {
    /// Nothing is known but that an open key comes first.
    pub(super) fn is_first(&self) -> bool {
        self.blank && self.count == OPEN_FIRST
    }

    /// Nothing is known but that a declared key comes first.
    pub(super) fn is_declared(&self) -> bool {
        self.blank && self.count == DECLARED_FIRST
    }
}

/// A text that was seen, as its identity.
#[derive(Debug)]
pub struct Text(Box<[u8]>);

impl Interned for Text {
    type Key<'k> = &'k [u8];

    fn key(&self) -> &[u8] {
        &self.0
    }

    fn equals(&self, key: &[u8]) -> bool {
        &*self.0 == key
    }

    fn build(key: &[u8]) -> Text {
        Text(key.into())
    }

    fn heap_bytes(&self) -> usize {
        self.0.len()
    }
}

/// What an action leads to.
pub enum Acted {
    To(DataId),
    /// The same, but only if a text that was left open is none of those seen.
    Perhaps(DataId),
    Dead,
}

impl<'e> Moves<'e> {
    pub fn data(&self, id: DataId) -> DataKey<'e> {
        self.cache.datas.get(id).key()
    }

    /// What a rule keeps when it is entered from a place that keeps `caller`.
    pub fn entered(&self, caller: DataId, nests: bool) -> DataId {
        if caller == NOTHING && !nests {
            return NOTHING;
        }
        let depth = self.data(caller).depth + u32::from(nests);
        self.cache.datas.intern(DataKey { depth, ..Default::default() })
    }

    pub fn act(&self, id: DataId, action: Action, byte: u8, target: StateId) -> Acted {
        let data = self.data(id);
        match action {
            Action::None | Action::Count => Acted::To(id),
            Action::Declare { spec, member } => self.declare(data, spec, member),
            Action::Append => self.append(data, byte, target),
            Action::Close { spec, open } => self.close(data, spec, open, byte),
            Action::CloseItem { spec } => self.close_item(id, data, spec),
            Action::Digit { spec } => {
                let text = [data.text.unwrap_or_default(), &[byte]].concat();
                match &*self.program.memories[spec as usize] {
                    Memory::Decimal(set) if set.goes_on(&text) => {
                        self.keep(DataKey { text: Some(&text), ..data })
                    }
                    _ => Acted::Dead,
                }
            }
        }
    }

    fn keep(&self, key: DataKey) -> Acted {
        Acted::To(self.cache.datas.intern(key))
    }

    pub(super) fn members(&self, spec: u32) -> &'e Members {
        match &*self.program.memories[spec as usize] {
            Memory::Members(members) => members,
            other => unreachable!("spec {spec} is {other:?}"),
        }
    }

    pub(super) fn items(&self, spec: u32) -> &'e Items {
        match &*self.program.memories[spec as usize] {
            Memory::Items(items) => items,
            other => unreachable!("spec {spec} is {other:?}"),
        }
    }

    fn declare(&self, data: DataKey, spec: u32, member: u32) -> Acted {
        let members = self.members(spec);
        if data.blank {
            return self.keep(DataKey { count: 0, ..data });
        }
        let written = Written { used: data.used, last: data.last, count: data.count };
        if !members.may_declare(written, member, self.open_left(members, &data)) {
            return Acted::Dead;
        }
        let mut used = data.used.to_vec();
        members.note(&mut used, member);
        self.keep(DataKey {
            used: &used,
            last: member + 1,
            count: data.count + 1,
            text: None,
            opaque: false,
            ..data
        })
    }

    fn append(&self, data: DataKey, byte: u8, target: StateId) -> Acted {
        if data.opaque || (self.opaque && !self.is_few(target)) {
            let count = if data.blank { 0 } else { data.count };
            let next = self.cache.datas.intern(DataKey { text: None, opaque: true, count, ..data });
            // Where only a few ends are left, the text may have to be one that was there before.
            return if self.has_few_ends(target) { Acted::Perhaps(next) } else { Acted::To(next) };
        }
        let text = [data.text.unwrap_or_default(), &[byte]].concat();
        self.keep(DataKey { text: Some(&text), ..data })
    }

    pub(super) fn has_few_ends(&self, state: StateId) -> bool {
        self.program.has_few_ends(state)
    }

    /// Whether the item or key that the state is in has few words: then each is read as it is.
    pub(super) fn is_few(&self, state: StateId) -> bool {
        match self.program.states[state as usize].guard {
            Guard::Item { spec, place } => {
                let finite = &self.items(spec).finite;
                finite[(place as usize).min(finite.len() - 1)]
            }
            Guard::OpenKey { spec, .. } => {
                self.members(spec).words.contains_key(&self.program.place_in_rule(state))
            }
            _ => false,
        }
    }

    fn close(&self, data: DataKey, spec: u32, open: u32, byte: u8) -> Acted {
        let members = self.members(spec);
        let mut used = std::borrow::Cow::Borrowed(data.used);
        if members.meets[open as usize] != 0 && !data.blank {
            members.note_needs(used.to_mut(), open);
        }
        let next = DataKey {
            last: if data.blank { 0 } else { members.required.len() as u32 },
            count: if data.blank { 0 } else { data.count + 1 },
            used: &used,
            text: None,
            opaque: false,
            ..data
        };
        if data.opaque || (self.opaque && data.text.is_none()) {
            return Acted::Perhaps(self.cache.datas.intern(next));
        }
        let text = [data.text.unwrap_or_default(), &[byte]].concat();
        let name = identity(members.json, &text);
        if members.names.contains(&name) {
            return Acted::Dead;
        }
        self.see(&name, next)
    }

    fn close_item(&self, id: DataId, data: DataKey, spec: u32) -> Acted {
        let next = DataKey { count: data.count + 1, text: None, opaque: false, ..data };
        match data.text {
            _ if data.opaque => Acted::Perhaps(self.cache.datas.intern(next)),
            None => Acted::To(id),
            Some(text) => {
                let items = self.items(spec);
                let name = identity(items.json, text);
                if self.leaves_enough(items, &data, &name) { self.see(&name, next) } else { Acted::Dead }
            }
        }
    }

    fn see(&self, name: &[u8], data: DataKey) -> Acted {
        let text = self.cache.texts.intern(name);
        match data.seen.binary_search(&text) {
            Ok(_) => Acted::Dead,
            Err(place) => {
                let mut seen = data.seen.to_vec();
                seen.insert(place, text);
                self.keep(DataKey { seen: &seen, ..data })
            }
        }
    }

    pub(super) fn has_seen(&self, data: &DataKey, name: &[u8]) -> bool {
        let known = || self.cache.texts.find(name).is_some_and(|text| data.seen.binary_search(&text).is_ok());
        !data.seen.is_empty() && known()
    }

    /// Whether a state may be entered with what is kept.
    pub fn guard_holds(&self, item: &Item) -> bool {
        let guard = self.program.states[item.state as usize].guard;
        if guard == Guard::None {
            return true;
        }
        let data = self.data(item.data);
        if data.blank {
            return true;
        }
        let written = Written { used: data.used, last: data.last, count: data.count };
        match guard {
            Guard::None => true,
            Guard::Key { spec } => {
                let members = self.members(spec);
                members.below.of(self.program.place_in_rule(item.state)).is_some_and(|below| {
                    members.some_available(written, below, self.open_left(members, &data))
                })
            }
            Guard::OpenKey { spec, open } => {
                let members = self.members(spec);
                members.open_available(written, self.open_left(members, &data), Some(open))
                    && self.some_key(members, item, &data)
            }
            Guard::MoreMembers { spec } => {
                let members = self.members(spec);
                members.more_available(written, self.open_left(members, &data))
            }
            Guard::Item { spec, .. } => self.some_item(self.items(spec), item, &data),
            Guard::MoreItems { spec } => self.more_items(self.items(spec), &data),
            Guard::BelowDepth => item.count < data.depth,
            Guard::AtMostDepth => item.count <= data.depth,
        }
    }

    /// How many open keys are left to write; `None`: any number.
    pub(super) fn open_left(&self, members: &Members, data: &DataKey) -> Option<u32> {
        let words = members.open_words.as_ref()?;
        Some(words.iter().filter(|word| !self.has_seen(data, word)).count() as u32)
    }

    /// Whether some open key goes on from here that was not written yet.
    fn some_key(&self, members: &Members, item: &Item, data: &DataKey) -> bool {
        let place = self.program.place_in_rule(item.state);
        let (Some(text), Some(words)) = (data.text, members.words.get(&place)) else { return true };
        words.iter().any(|word| {
            let name = identity(members.json, &[text, word].concat());
            !members.names.contains(&name) && !self.has_seen(data, &name)
        })
    }

    fn some_item(&self, items: &Items, item: &Item, data: &DataKey) -> bool {
        let place = self.program.place_in_rule(item.state);
        let (Some(text), Some(words)) = (data.text, items.words.get(&place)) else { return true };
        words.iter().any(|word| {
            let name = identity(items.json, &[text, word].concat());
            !self.has_seen(data, &name) && self.leaves_enough(items, data, &name)
        })
    }

    /// Whether enough different items are left for the rest once `name` is one of those before.
    fn leaves_enough(&self, items: &Items, data: &DataKey, name: &[u8]) -> bool {
        let Some(words) = &items.rest_words else { return true };
        let prefix = items.finite.len() as u32 - 1;
        let needed = items.min.saturating_sub(prefix.max(data.count + 1));
        let left = words.iter().filter(|word| &***word != name && !self.has_seen(data, word)).count();
        left >= needed as usize
    }

    fn more_items(&self, items: &Items, data: &DataKey) -> bool {
        let ended = data.count;
        let left =
            |words: &Vec<Box<[u8]>>| words.iter().filter(|word| !self.has_seen(data, word)).count() as u32;
        let prefix = items.finite.len() as u32 - 1;
        ended < items.max
            && (ended < prefix
                || items
                    .rest_words
                    .as_ref()
                    .is_none_or(|words| left(words) >= items.min.saturating_sub(ended).max(1)))
    }

    /// Whether a rule may end with what is kept: yes, no, or yes if a text that was left open is none of those seen.
    pub fn ending(&self, item: &Item) -> Acted {
        let ending = self.program.rule_of(item.state).ending;
        if ending == Ending::Free {
            return Acted::To(item.data);
        }
        let data = self.data(item.data);
        if data.blank {
            return Acted::Dead;
        }
        let holds = match ending {
            Ending::Free => true,
            Ending::Members { spec } => {
                let written = Written { used: data.used, last: data.last, count: data.count };
                self.members(spec).may_end(written)
            }
            Ending::Items { spec } => {
                let items = self.items(spec);
                let count = data.count + 1;
                let repeated =
                    data.text.is_some_and(|text| self.has_seen(&data, &identity(items.json, text)));
                if data.opaque && items.min <= count && count <= items.max {
                    return Acted::Perhaps(item.data);
                }
                items.min <= count && count <= items.max && !repeated
            }
            Ending::Decimal { spec } => match &*self.program.memories[spec as usize] {
                Memory::Decimal(set) => set.accepts(data.text.unwrap_or_default()),
                _ => false,
            },
            Ending::Depth => item.count == data.depth,
        };
        if holds { Acted::To(item.data) } else { Acted::Dead }
    }
}
