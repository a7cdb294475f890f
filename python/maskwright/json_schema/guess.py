"""Has a set of strings surely a member, or surely none? What can be told without building the whole language.

Half of such questions in real schemas are about `not` of a few constants or of one pattern, a fifth about two
patterns that begin with other characters. To build what is left takes 1 ms and more.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from itertools import combinations
from typing import TYPE_CHECKING

from maskwright.errors import LimitError
from maskwright.limits import Limits
from maskwright.regex import read_regex
from maskwright.regex.example import example, first_characters
from maskwright.regex.ranges import Ranges, intersect

if TYPE_CHECKING:
    from maskwright.json_schema.strings import StringSet

__all__ = ["guess_empty"]

_TRIED = ("", "a", "0", "A", "aa", "~", "/")
"""Texts that no pattern is found in mostly."""

MAX_PAIRS = 100


def guess_empty(strings: StringSet, limits: Limits) -> bool | None:
    """Whether there is no such string; None if that takes another look. `strings` has no `allowed`."""
    if strings.formats or strings.not_formats:
        return None
    if not (strings.patterns or strings.not_patterns):
        return strings.max_length == 0 and "" in strings.excluded
    if _begin_otherwise(strings.patterns):
        return True
    try:
        if any(strings.contains(text, limits) for text in _candidates(strings)):
            return False
    except LimitError:
        return None
    return None


def _candidates(strings: StringSet) -> Iterator[str]:
    """Texts that may well be in the set. Patterns without anchors are found in their texts one after the
    other."""
    if not strings.patterns:
        yield from _TRIED
    found = [text for text in map(_example, strings.patterns) if text is not None]
    yield from found
    if len(found) > 1:
        yield "".join(found)


def _begin_otherwise(patterns: tuple[str, ...]) -> bool:
    """Whether two of the patterns ask for other first characters."""
    firsts = [first for first in map(_firsts, patterns[:MAX_PAIRS]) if first is not None]
    return any(not intersect(one, other) for one, other in combinations(firsts, 2))


@lru_cache(1024)
def _example(pattern: str) -> str | None:
    return example(read_regex(pattern, "ecma"))


@lru_cache(1024)
def _firsts(pattern: str) -> Ranges | None:
    return first_characters(read_regex(pattern, "ecma"))
