"""What is a format compiled for a vocabulary? An `Index`: shared by all requests, it remembers what they find out."""

from __future__ import annotations

from typing import Any

from maskwright._native import Constraint, EngineIndex, EngineVocabulary
from maskwright.ir import Grammar
from maskwright.limits import Limits

__all__ = ["Index"]


class Index:
    """A format compiled for a vocabulary. Made by `Compiler`; safe to use from many threads."""

    __slots__ = ("_native", "compile_seconds", "key", "notes", "source")

    def __init__(
        self,
        vocabulary: EngineVocabulary,
        grammar: Grammar,
        limits: Limits,
        *,
        source: str,
        notes: tuple[Any, ...] = (),
    ) -> None:
        self._native = EngineIndex(
            vocabulary,
            grammar.words,
            grammar.blob,
            list(grammar.rules),
            list(grammar.names),
            grammar.root,
            limits.as_words(),
        )
        self.source = source
        """What it was made from, shortened, for messages and statistics."""
        self.notes = notes
        """What the front end has to say: rules that are never used, say."""
        self.key = ""
        """The key in the compiler's cache."""
        self.compile_seconds = 0.0
        """How long the front end and the compile took."""

    def constraint(self) -> Constraint:
        """One request's position, at the beginning of the text."""
        return self._native.constraint()

    @property
    def n_bytes(self) -> int:
        """Bytes held now, without what the vocabulary shares."""
        return self._native.n_bytes

    def stats(self) -> dict[str, Any]:
        """Sizes and counts: states and edges, masks and what sharing them saves, hits and misses, time spent compiling.

        `rule_states` lists (rule, states), largest first: what is large. `compile_seconds` and `misses` tell
        why a first request was slow.
        """
        return {**self._native.stats(), "compile_seconds": self.compile_seconds}

    def __repr__(self) -> str:
        return f"<Index of {self.source}, {self.n_bytes:,} bytes>"
