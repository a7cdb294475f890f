"""What may come next, from masks alone? The oracle for `forced_text` and for what a refusal lists."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from typing import Any

import numpy as np
from maskwright import TokenNotAllowed

__all__ = ["Expected", "expected_by_mask", "expected_by_refusal", "forced_by_masks"]

Expected = tuple[set[int], set[int], bool]
"""First bytes, special tokens, and whether the end is among what may come."""

_PART = re.compile(r'"((?:\\.|[^"\\])+)"(?: to "((?:\\.|[^"\\])+)")?|special token (\d+)|the end of the text')


def expected_by_mask(constraint: Any, tokens: Sequence[bytes | None], eos_ids: set[int]) -> Expected:
    allowed = [int(token) for token in np.flatnonzero(constraint.mask())]
    first = {text[0] for token in allowed if (text := tokens[token])}
    special = {token for token in allowed if not tokens[token] and token not in eos_ids}
    return first, special, bool(eos_ids & set(allowed))


def expected_by_refusal(constraint: Any) -> Expected:
    """Read what the message lists; a token outside every vocabulary is always refused."""
    try:
        constraint.advance(-1)
    except TokenNotAllowed as error:
        why = error.why or ""
    first: set[int] = set()
    special: set[int] = set()
    ends = False
    rest = why.removeprefix("expected ").removeprefix("no token of the vocabulary goes on here")
    while rest:
        part = _PART.match(rest)
        assert part, why
        if part[1]:
            low, high = _byte(part[1]), _byte(part[2] or part[1])
            first |= set(range(low, high + 1))
        elif part[3]:
            special.add(int(part[3]))
        else:
            ends = True
        rest = rest[part.end() :].removeprefix(", ")
    return first, special, ends


def _byte(shown: str) -> int:
    (byte,) = ast.literal_eval(f'b"{shown}"')
    return int(byte)


def forced_by_masks(constraint: Any, tokens: Sequence[bytes | None], length: int) -> bytes:
    """The first `length` bytes, at most, that all ways to go on share; by trying every allowed token."""
    allowed = [int(token) for token in np.flatnonzero(constraint.mask())]
    if not allowed or any(not tokens[token] for token in allowed):
        return b""
    common: bytes | None = None
    # The longest first: what they have in common bounds how far the others are followed.
    for token in sorted(allowed, key=lambda token: -len(tokens[token] or b"")):
        text = (tokens[token] or b"")[:length]
        if common is None or common.startswith(text):
            constraint.advance(token)
            most = length if common is None else len(common)
            text += forced_by_masks(constraint, tokens, most - len(text)) if most > len(text) else b""
            constraint.rollback(1)
        common = text if common is None else _shared(common, text)
        if not common:
            break
    return common or b""


def _shared(a: bytes, b: bytes) -> bytes:
    n = next((at for at, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))
    return a[:n]
