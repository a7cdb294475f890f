//! The serve phase: where a text is in a format, and which tokens may come next.
//!
//! One byte's way: `constraint` asks `index` for the mask of its configuration; a hit is a copy (`mask`). A miss looks for the
//! configuration's `outline`; if that is new, `compose` makes the mask, from a `part` of the `vocabulary` where the
//! state has a `plan`, else by walking the trie; each step of a walk is a look-up in a `stack::Config`, or one of the
//! moves in `closure`.
//!
//! To read in order: `stack` (what a position is), `closure`, `data` and `left_open` (its moves), `arena` and `cache` (where all that
//! lives), `index`, `outline` and `count_bytes` (is a mask known?), `vocabulary`, `token_chars`, `chars`, `part` and `rests` (what a class of characters
//! makes of every token), `plan`, `char_groups` and `alike` (which class a state reads), `compose`, `by_part`, `apart`, `neighbour`, `skeleton`, `cuts`, `shared`,
//! `open_keys`, `walk`, `steps`, `draft` and `mask` (how a mask is made and kept), `constraint`, `onward` and `batch` (requests); `reach`, `saved`,
//! `work` beside them.
//! The reasons are in ARCHITECTURE.md.

pub mod alike;
pub mod apart;
pub mod arena;
pub mod batch;
pub mod by_part;
pub mod cache;
pub mod char_groups;
pub mod chars;
pub mod closure;
pub mod compose;
pub mod constraint;
pub mod count_bytes;
pub mod cuts;
pub mod data;
pub mod draft;
pub mod index;
pub mod left_open;
pub mod mask;
pub mod neighbour;
pub mod onward;
pub mod open_keys;
pub mod outline;
pub mod part;
pub mod plan;
pub mod reach;
pub mod rests;
pub mod saved;
pub mod shared;
pub mod skeleton;
pub mod stack;
pub mod steps;
pub mod token_chars;
pub mod vocabulary;
pub mod walk;
pub mod work;
