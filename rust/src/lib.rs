//! The native core of Maskwright: what must be fast, and nothing that decides meaning.

mod python;
