r"""Which characters are in \d, \w, \s, \p{..}, and which match regardless of case? All of one Unicode.

The sets are those of Unicode 14.0.0 on every Python, read from `unicode_tables.txt`, which
`scripts/make_unicode_tables.py` writes and describes. A line of the file is decoded when first asked for:
reading it takes about a millisecond, once, and only if a pattern names a Unicode class.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from importlib.resources import files

from maskwright.regex.ranges import EVERYTHING, NOTHING, Ranges, contains, intersect, invert, subtract, union

UNICODE_VERSION = "14.0.0"

ASCII_DIGIT: Ranges = ((0x30, 0x39),)
ASCII_WORD: Ranges = ((0x30, 0x39), (0x41, 0x5A), (0x5F, 0x5F), (0x61, 0x7A))
ASCII_SPACE: Ranges = ((0x09, 0x0D), (0x20, 0x20))
NEWLINE: Ranges = ((0x0A, 0x0A),)

# ECMA-262: WhiteSpace and LineTerminator together; the line terminators alone.
ECMA_SPACE: Ranges = (
    (0x09, 0x0D),
    (0x20, 0x20),
    (0xA0, 0xA0),
    (0x1680, 0x1680),
    (0x2000, 0x200A),
    (0x2028, 0x2029),
    (0x202F, 0x202F),
    (0x205F, 0x205F),
    (0x3000, 0x3000),
    (0xFEFF, 0xFEFF),
)
ECMA_NEWLINE: Ranges = ((0x0A, 0x0A), (0x0D, 0x0D), (0x2028, 0x2029))


@cache
def _lines() -> dict[tuple[str, str], str]:
    """The raw lines of the table, by kind and each of their names."""
    text = files("maskwright.regex").joinpath("unicode_tables.txt").read_text(encoding="ascii")
    found: dict[tuple[str, str], str] = {}
    for line in text.splitlines():
        kind, names, numbers = line.split("\t")
        for name in names.split("|"):
            found[kind, name] = numbers
    return found


@cache
def _table(kind: str, name: str) -> Ranges | None:
    """One set of the table; None if there is no such name."""
    numbers = _lines().get((kind, name))
    if numbers is None:
        return None
    bound = 0
    bounds = [bound := bound + int(number, 36) for number in numbers.split()]
    if len(bounds) % 2:
        bounds.append(EVERYTHING[0][1] + 1)
    return tuple((low, high - 1) for low, high in zip(bounds[::2], bounds[1::2], strict=True))


def python_class(name: str) -> Ranges:
    """`digit`, `space`, `word` or `cased` as Python's `str` patterns have them."""
    found = _table("python", name)
    assert found is not None
    return found


@cache
def is_assigned(code: int) -> bool:
    """Does the fixed Unicode version know this code point?"""
    return not contains(_table("gc", "Cn") or NOTHING, code)


def property_class(name: str, value: str | None) -> Ranges | None:
    r"""The set that ECMA-262 calls `\p{name}` or `\p{name=value}`; None if it has no such property.

    >>> property_class("Script", "Ogham")
    ((5760, 5788),)
    >>> property_class("Lu", None) == property_class("General_Category", "Uppercase_Letter")
    True
    >>> property_class("script", "Ogham") is None
    True
    """
    if value is not None:
        kind = _VALUED.get(name)
        return _table(kind, value) if kind else None
    if name in _MADE:
        return _MADE[name] if _MADE[name] is not None else invert(_table("gc", "Cn") or NOTHING)
    found = _table("gc", name)
    return _table("binary", name) if found is None else found


_VALUED = {
    "General_Category": "gc",
    "gc": "gc",
    "Script": "sc",
    "sc": "sc",
    "Script_Extensions": "scx",
    "scx": "scx",
}
_MADE: dict[str, Ranges | None] = {"Any": EVERYTHING, "ASCII": ((0, 0x7F),), "Assigned": None}


# Case


@cache
def _pairs(name: str) -> dict[int, tuple[int, ...]]:
    """The table's pairs of code points, as each first one's partners."""
    found: dict[int, tuple[int, ...]] = {}
    for pair in _lines()["python", name].split():
        code, other = (int(number, 36) for number in pair.split(":"))
        found[code] = (*found.get(code, ()), other)
    return found


@cache
def _uppers() -> dict[int, tuple[int, ...]]:
    """For each lower case letter, the letters that it is the lower case of."""
    found: dict[int, tuple[int, ...]] = {}
    for code, (low,) in _pairs("lower").items():
        found[low] = (*found.get(low, ()), code)
    return found


def fold_unicode(
    singles: Iterable[int], spans: Iterable[tuple[int, int]], classes: Ranges, *, alone: bool
) -> Ranges:
    """What `re.IGNORECASE` lets a Python `str` set match: its single letters, its spans and its classes.

    Python lower cases the character of the text and looks it up in a set made of the lower case of each
    member, plus the other lower case letters with the same upper case. Two habits of its own are kept: a set
    without cased members is not touched, and a single letter beyond the BMP is not lower cased unless it is
    the whole set (`alone`).
    """
    singles, spans = tuple(singles), tuple(spans)
    members = union(tuple((code, code) for code in singles), spans) if singles or spans else NOTHING
    if not intersect(members, python_class("cased")) and not any(high > 0xFFFF for _, high in members):
        return union(members, classes)
    lower, extra = _pairs("lower"), _pairs("extra")
    raw = NOTHING if alone else tuple((code, code) for code in singles if code > 0xFFFF)
    lowered = set()
    for code in _members(subtract(members, raw) if raw else members, lower):
        lowered.add(lower[code][0])
    kept = subtract(members, _keys("lower"))
    for code in _members(kept, extra):
        lowered.update(extra[code])
    for code in tuple(lowered):
        lowered.update(extra.get(code, ()))
    # Spans beyond the BMP are kept as they are too: Python compares both cases with the span.
    high_spans = intersect(spans, ((0x10000, EVERYTHING[0][1]),)) if spans else NOTHING
    folded = union(kept, raw, high_spans, tuple((code, code) for code in lowered), classes)
    return _before_lowering(folded)


def fold_ascii(members: Ranges, classes: Ranges) -> Ranges:
    """What case folding over A to Z alone lets a set match."""
    upper = intersect(members, ((0x41, 0x5A),))
    folded = union(
        subtract(members, ((0x41, 0x5A),)), tuple((low + 0x20, high + 0x20) for low, high in upper), classes
    )
    lower = intersect(folded, ((0x61, 0x7A),))
    return union(subtract(folded, ((0x41, 0x5A),)), tuple((low - 0x20, high - 0x20) for low, high in lower))


def _before_lowering(folded: Ranges) -> Ranges:
    """Every character whose lower case is in the set."""
    uppers = _uppers()
    added = [(code, code) for low in _members(folded, uppers) for code in uppers[low]]
    return union(subtract(folded, _keys("lower")), tuple(added))


@cache
def _keys(name: str) -> Ranges:
    return union(tuple((code, code) for code in _pairs(name)), NOTHING)


def _members(members: Ranges, table: dict[int, tuple[int, ...]]) -> Iterable[int]:
    """The code points of the set that the table knows, by the shorter way."""
    if sum(high - low + 1 for low, high in members) < len(table):
        return [code for low, high in members for code in range(low, high + 1) if code in table]
    return [code for code in table if contains(members, code)]
