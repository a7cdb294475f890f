//! What may come next, byte by byte? The answers of `forced_text` and of a refused token: they agree with the mask.
//!
//! The mask is the measure, so a byte counts if some token that the mask has begins with it, or goes on with it. Where each
//! byte is a token by itself, as in nearly all vocabularies, that is the same as what the format reads.

use super::closure::Moves;
use super::stack::{Config, ConfigId};
use super::vocabulary::Vocabulary;
use super::work::Work;
use crate::error::Result;

/// `forced_text` returns at most this many bytes.
const MAX_FORCED_BYTES: usize = 1 << 16;

pub struct Onward<'e> {
    pub moves: Moves<'e>,
    pub vocabulary: &'e Vocabulary,
    pub work: Work,
}

/// Where in the trie the token can be that is being written: at its root, where a token has just ended, and at nodes.
struct Begun {
    ended: bool,
    nodes: Vec<usize>,
}

impl Onward<'_> {
    /// The bytes that every completion goes on with. It ends where finding more would take too much work: what was
    /// found is true all the same.
    pub fn forced_text(mut self, from: ConfigId) -> Vec<u8> {
        let mut text = Vec::new();
        let mut begun = Begun { ended: true, nodes: Vec::new() };
        let mut at = from;
        while text.len() < MAX_FORCED_BYTES
            && let Ok(Some((byte, next))) = self.only_byte(at, &begun)
        {
            begun = self.below(&begun, byte);
            at = next;
            text.push(byte);
        }
        text
    }

    /// The bytes that some allowed token begins with, ascending.
    pub fn first_bytes(&mut self, from: ConfigId) -> Vec<u8> {
        let begun = Begun { ended: true, nodes: Vec::new() };
        (0..=u8::MAX).filter(|&byte| matches!(self.step(from, &begun, byte), Ok(Some(_)))).collect()
    }

    /// The special tokens that the format takes here, ascending.
    pub fn special_tokens(&mut self, from: ConfigId) -> Vec<u32> {
        let items = &self.moves.cache.configs.get(from).items;
        let edges = items.iter().flat_map(|item| self.moves.program.token_edges(item.state));
        let mut tokens: Vec<u32> = edges.map(|edge| edge.token).collect();
        tokens.sort_unstable();
        tokens.dedup();
        tokens.retain(|&token| !matches!(self.moves.token_step(from, token, &mut self.work), Ok(None)));
        tokens
    }

    /// The one byte that can come next, with where it leads; none where there are several, or where the text may end or
    /// a special token come.
    fn only_byte(&mut self, at: ConfigId, begun: &Begun) -> Result<Option<(u8, ConfigId)>> {
        let config = self.moves.cache.configs.get(at);
        if begun.ended && (config.complete || !self.special_tokens(at).is_empty()) {
            return Ok(None);
        }
        let mut only = None;
        for byte in 0..=u8::MAX {
            if !self.reads(config, byte) {
                continue;
            }
            let Some(next) = self.step(at, begun, byte)? else { continue };
            if only.replace((byte, next)).is_some() {
                return Ok(None);
            }
        }
        Ok(only)
    }

    fn reads(&self, config: &Config, byte: u8) -> bool {
        let reads = |state| {
            let mut edges = self.moves.program.byte_edges(state).iter();
            edges.any(|edge| edge.low <= byte && byte <= edge.high)
        };
        config.items.iter().any(|item| reads(item.state))
    }

    /// Where a byte leads, if some token goes on with it.
    fn step(&mut self, at: ConfigId, begun: &Begun, byte: u8) -> Result<Option<ConfigId>> {
        let below = self.below(begun, byte);
        if !below.ended && below.nodes.is_empty() {
            return Ok(None);
        }
        let config = self.moves.cache.configs.get(at);
        let Some(next) = self.moves.step(config, byte, &mut self.work)? else { return Ok(None) };
        if below.ended {
            return Ok(Some(next));
        }
        for node in below.nodes {
            if self.some_token(node, next)? {
                return Ok(Some(next));
            }
        }
        Ok(None)
    }

    fn below(&self, begun: &Begun, byte: u8) -> Begun {
        let trie = &self.vocabulary.trie;
        let root = begun.ended.then(|| trie.subtree(byte)).filter(|nodes| !nodes.is_empty());
        let child = |&node: &usize| {
            trie.children(node).find(|&(label, _)| label == byte).map(|(_, child)| child as usize)
        };
        let all = begun.nodes.iter().filter_map(child).chain(root.map(|nodes| nodes.start));
        let nodes: Vec<usize> = all.collect();
        Begun { ended: nodes.iter().any(|&node| trie.id(node) != trie.sink()), nodes }
    }

    /// Whether a token below a node, where none ends, can be read on from a configuration.
    fn some_token(&mut self, node: usize, from: ConfigId) -> Result<bool> {
        let trie = &self.vocabulary.trie;
        let (top, end) = (trie.depth(node), trie.end(node));
        let mut places = vec![from];
        let mut node = node + 1;
        while node < end {
            places.truncate(trie.depth(node) - top);
            let config = self.moves.cache.configs.get(*places.last().expect("a node has a parent"));
            match self.moves.step(config, trie.byte(node), &mut self.work)? {
                Some(_) if trie.id(node) != trie.sink() => return Ok(true),
                Some(next) => {
                    places.push(next);
                    node += 1;
                }
                None => node = trie.end(node),
            }
        }
        Ok(false)
    }
}
