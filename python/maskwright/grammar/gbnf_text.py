"""What do the strings and character classes of GBNF spell? Escapes, ranges, negation."""

from __future__ import annotations

import re
from functools import lru_cache

from maskwright.ir import MAX_CODE_POINT, merge_ranges
from maskwright.regex.ranges import invert

SURROGATES = (0xD800, 0xDFFF)

_ESCAPE = re.compile(
    r"\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([ntr\\\"\[\]-])|)", re.DOTALL
)
_UNIT = re.compile(_ESCAPE.pattern + r"|[^\\]", re.DOTALL)
_SIMPLE = {"n": "\n", "t": "\t", "r": "\r"}


class TextError(ValueError):
    """A string or class that spells nothing: `reason`, and `at` in characters of its text."""

    def __init__(self, reason: str, at: int) -> None:
        super().__init__(reason)
        self.reason = reason
        self.at = at


def unescape(raw: str) -> str:
    r"""The characters that the inside of a string spells.

    >>> unescape(r"a\n\x41\u00e9")
    'a\nAé'
    """
    return _ESCAPE.sub(_character, raw) if "\\" in raw else raw


def encode(text: str) -> bytes:
    """UTF-8; a surrogate is a `TextError`, for no byte string spells it."""
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        raise TextError("a surrogate is not a character: UTF-8 has no bytes for it", error.start) from None


@lru_cache(maxsize=1024)  # [0-9] and its like come in every grammar; they are a fifth of the time of JSON's
def class_ranges(raw: str) -> tuple[tuple[int, int], ...]:
    """The code points that the inside of `[...]` names, as inclusive ranges in order.

    >>> class_ranges("a-cx-"), class_ranges("^b-\\U0010FFFF")
    (((45, 45), (97, 99), (120, 120)), ((0, 97),))
    """
    negated = raw.startswith("^")
    ranges = tuple(merge_ranges(_listed(raw, 1 if negated else 0)))
    if negated:
        ranges = invert(ranges)
    if all(SURROGATES[0] <= low and high <= SURROGATES[1] for low, high in ranges):
        raise TextError("this character class has no character", 0)
    return ranges


def _listed(raw: str, at: int) -> list[tuple[int, int]]:
    """Single characters and `a-z` ranges, as they come. A `-` at the end stands for itself."""
    ranges = []
    end = len(raw)
    while at < end:
        low, after = _unit(raw, at)
        high = low
        if after + 1 < end and raw[after] == "-":
            high, after = _unit(raw, after + 1)
            if high < low:
                raise TextError("this range runs backwards", at)
        ranges.append((low, high))
        at = after
    if not ranges:
        raise TextError("this character class is empty", 0)
    return ranges


def _unit(raw: str, at: int) -> tuple[int, int]:
    """One character, escaped or not: its code point and where it ends."""
    match = _UNIT.match(raw, at)
    assert match is not None  # a character is an escape or anything else
    text = match.group()
    return ord(_character(match) if text[0] == "\\" else text), match.end()


def _character(match: re.Match[str]) -> str:
    index = match.lastindex
    if index is None:
        raise TextError(
            'unknown escape (GBNF has \\n \\t \\r \\\\ \\" \\[ \\] \\- \\xHH \\uHHHH \\UHHHHHHHH)',
            match.start(),
        )
    digits = match.group(index)
    if index == 4:
        return _SIMPLE.get(digits, digits)
    code = int(digits, 16)
    if code > MAX_CODE_POINT:
        raise TextError("past U+10FFFF, the last code point", match.start())
    return chr(code)
