//! The native core of Maskwright: what must be fast, and nothing that decides meaning.

pub mod compile;
pub mod decimal;
pub mod dfa_masks;
pub mod engine;
pub mod error;
pub mod logits;
pub mod mask;
pub mod memory;
pub mod program;
mod python;
pub mod trie;
