"""What can be shown of a format without an automaton at hand? What the engine says of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from maskwright._native import Constraint
from maskwright.cli.bad_input import BadInput, left_at
from maskwright.cli.shown import byte_set, quoted
from maskwright.compiler import Compiler
from maskwright.index import Index
from maskwright.vocabulary import Vocabulary

_END = 256
"""The end token of the vocabulary of single bytes."""


@dataclass(frozen=True)
class EngineFormat:
    """A format for the engine. `compile` gives its index.

    It came from `schema` or from `pattern`. `is_plain`: the schema has no keyword that others read otherwise.
    """

    compile: Callable[[Compiler], Index]
    schema: Any = None
    is_schema: bool = False
    is_plain: bool = False
    pattern: str | None = None

    @cached_property
    def _over_bytes(self) -> Index:
        tokens = [*(bytes([byte]) for byte in range(_END)), None]
        return self.compile(Compiler(Vocabulary.from_tokens(tokens, eos_id=_END)))

    def check(self) -> None:
        """Raise what the engine has against the format."""
        self._over_bytes.constraint()

    def matches(self, text: bytes) -> bool:
        """Whether the whole text is in the format."""
        constraint = self._over_bytes.constraint()
        return constraint.try_advance(text) == len(text) and constraint.is_complete()

    def walk(self, text: bytes) -> None:
        """`BadInput` with the place where the text leaves the format, if it does."""
        constraint = self._over_bytes.constraint()
        offset = constraint.try_advance(text)
        if offset < len(text):
            expected = byte_set(np.flatnonzero(constraint.mask()[:_END]).tolist())
            raise left_at(text, offset, [*expected, *["the end"] * constraint.is_complete()])

    def after(self, text: bytes, vocabulary: Vocabulary) -> Constraint:
        """The constraint over a vocabulary after a text, which `walk` raises for if it is no beginning."""
        self.walk(text)
        constraint = self.compile(Compiler(vocabulary)).constraint()
        constraint.try_advance(spelled(text, vocabulary))
        return constraint


def spelled(text: bytes, vocabulary: Vocabulary) -> list[int]:
    """Token ids that spell the text, as few as can be; `BadInput` if there are none.

    >>> from maskwright import Vocabulary
    >>> spelled(b"abc", Vocabulary.from_tokens([b"ab", b"a", b"bc", None], eos_id=3))
    [1, 2]
    """
    ids = {token: token_id for token_id, token in reversed(list(enumerate(vocabulary.tokens))) if token}
    longest = max(map(len, ids), default=0)
    # For each beginning that can be spelled: how many tokens that takes, and the last of them.
    ways: dict[int, tuple[int, bytes]] = {0: (0, b"")}
    for end in range(1, len(text) + 1):
        for start in range(max(0, end - longest), end):
            token = text[start:end]
            if start in ways and token in ids and (end not in ways or ways[start][0] + 1 < ways[end][0]):
                ways[end] = ways[start][0] + 1, token
    if len(text) not in ways:
        raise BadInput(
            "the text cannot be spelled in this vocabulary",
            where=f"after {quoted(text[: max(ways)])}",
            why="no tokens together are what follows",
        )
    found, end = [], len(text)
    while end:
        found.append(ids[ways[end][1]])
        end -= len(ways[end][1])
    return found[::-1]
