//! The native core of Maskwright: what must be fast, and nothing that decides meaning.
//!
//! `compile` turns the IR into a `program`, `engine` serves masks of it, over the `trie` of a vocabulary. `memory` (with `below`
//! and `names`), `identity` and `decimal` are what nodes that remember mean. `mask` and `dfa_masks` are the kernel for one DFA,
//! `logits` applies a bitmask. `allocator` is where the memory comes from.

mod allocator;
mod below;
pub mod compile;
pub mod decimal;
pub mod dfa_masks;
pub mod engine;
pub mod error;
pub mod identity;
pub mod logits;
pub mod mask;
pub mod memory;
mod names;
pub mod program;
mod python;
pub mod trie;
