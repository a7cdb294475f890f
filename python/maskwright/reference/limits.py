"""How much work and memory the readable semantics may spend on one format."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ReferenceLimits:
    """Ceilings on one compile and on one mask cache; past any of them comes a `LimitError` that names it.

    They count work and bytes, never seconds, so a pattern gets the same verdict on every machine. The values
    let an object of some hundred members through and stop hostile input within a few seconds of plain Python.

    >>> ReferenceLimits().max_dfa_states
    65536
    """

    max_pattern_length: int = 4_000_000
    """Characters of a pattern. Ten optional objects of ten optional strings each make 220,000."""

    max_repeat: int = 100_000
    """The largest bound in `{m,n}`."""

    max_nfa_states: int = 1_000_000
    """States of the Thompson automaton, which holds every copy that `{m,n}` asks for."""

    max_dfa_states: int = 65_536
    """States before minimisation; the table of as many takes 67 MB."""

    max_steps: int = 8_000_000
    """Edges read by the subset construction, about 0.25 µs each; 150 optional strings take 1,300,000."""

    max_schema_depth: int = 100
    """Nesting of a JSON Schema, and of the values that it lists."""

    max_cached_mask_bytes: int = 64_000_000
    """Bytes of finished masks that one `TokenIndex` keeps: 500 states at 128,000 tokens."""
