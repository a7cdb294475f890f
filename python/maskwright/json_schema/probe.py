"""What is in a small regular language? The engine is asked, over a vocabulary of the 256 bytes.

The front end has to know which values a set holds, and whether it holds any. The engine answers that in
time linear in the text, for patterns on which a backtracking matcher would not come back.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from maskwright._native import Constraint, EngineIndex, EngineVocabulary
from maskwright.errors import GrammarError
from maskwright.ir import Builder, Grammar, Node
from maskwright.limits import Limits

__all__ = ["PROBE_LIMITS", "Probe", "compile_bytes"]

PROBE_LIMITS = Limits(
    rules=2_000, states=200_000, dfa_states=20_000, edges=400_000, mask_work=5_000_000, cache_bytes=1 << 20
)
"""What such a question may cost: some 0.1 seconds."""


_END = 256
_LONGEST = 256
"""Bytes of a text that is listed."""


class Probe:
    """A language of byte strings that answers questions. Raises `LimitError` past its limits.

    >>> builder = Builder()
    >>> probe = Probe(builder, builder.repeat(builder.literal(b"ab"), 1, 3))
    >>> probe.is_empty, probe.contains(b"abab"), probe.contains(b"aba")
    (False, True, False)
    """

    __slots__ = ("_index",)

    def __init__(self, builder: Builder, node: Node, limits: Limits = PROBE_LIMITS) -> None:
        grammar = builder.grammar(builder.rule("probe", node))
        try:
            self._index: EngineIndex | None = _compiled(grammar, limits)
        except GrammarError as error:
            if error.code != "grammar.empty":
                raise
            self._index = None

    @property
    def is_empty(self) -> bool:
        """Is there no text in the language?"""
        return self._index is None

    def contains(self, text: bytes) -> bool:
        """Is the text in the language?"""
        if self._index is None:
            return False
        constraint: Constraint = self._index.constraint()
        return bool(constraint.try_advance(list(text)) == len(text) and constraint.is_complete())

    def texts(self, most: int) -> list[bytes] | None:
        """All texts of the language; None if they are more than `most`, or one has more than 256 bytes.

        >>> builder = Builder()
        >>> Probe(builder, builder.repeat(builder.literal(b"ab"), 0, 2)).texts(3)
        [b'', b'ab', b'abab']
        """
        found: list[bytes] = []
        if self._index is None:
            return found
        constraint: Constraint = self._index.constraint()
        ways = [iter(_allowed(constraint))]
        text = bytearray()
        while ways:
            byte = next(ways[-1], None)
            if byte is None:
                ways.pop()
                if text:
                    text.pop()
                    constraint.rollback(1)
            elif byte == _END:
                found.append(bytes(text))
            else:
                text.append(byte)
                constraint.advance(byte)
                ways.append(iter(_allowed(constraint)))
            if len(found) > most or len(text) > _LONGEST:
                return None
        return found


def _allowed(constraint: Constraint) -> list[int]:
    """The bytes that may come next, the end first."""
    tokens: list[int] = np.flatnonzero(constraint.mask()).tolist()
    return sorted(tokens, reverse=True) if _END in tokens else tokens


def compile_bytes(grammar: Grammar) -> list[tuple[str, int, int]]:
    """Compile a whole format over the 256 bytes; (rule, states, bytes) of its rules, most bytes first."""
    sizes = _compiled(grammar, Limits()).stats()["rule_sizes"]
    return [(name, states, size) for name, states, size in sizes]


def _compiled(grammar: Grammar, limits: Limits) -> EngineIndex:
    rules, names = list(grammar.rules), list(grammar.names)
    return EngineIndex(_bytes(), grammar.words, grammar.blob, rules, names, grammar.root, limits.as_words())


@cache
def _bytes() -> EngineVocabulary:
    """Token i is the byte i; token 256 ends the text."""
    offsets = np.array([*range(257), 256], np.int64)
    return EngineVocabulary(bytes(range(256)), offsets, [256])
