//! The native core of Maskwright: what must be fast, and nothing that decides meaning.

pub mod dfa_masks;
pub mod error;
pub mod mask;
mod python;
pub mod trie;
