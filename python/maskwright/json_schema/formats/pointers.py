"""Which strings are JSON Pointers, and which are regular expressions?"""

from __future__ import annotations

from maskwright.json_schema.formats.language import Format

__all__ = ["FORMATS"]

_POINTER = r"(?:/(?:[^/~]|~[01])*)*"
_NUMBER = r"(?:0|[1-9]\d*)"

# A regular expression, atom by atom: an escape, a set, any other character that stands for itself.
_ATOM = r"(?:\\[^]|\[(?:[^\]\\]|\\[^])*\]|[^\\\[()*+?|])"
_LAZY = r"[*+?]\??"
_REPEATED = rf"(?:{_ATOM}(?:{_LAZY})?)"
_BEFORE = r"(?:\?(?:[:=!]|<[=!]|<[^>)]+>|[a-z]*(?:-[a-z]*)?:))?"
_DEPTH = 4


def _regex() -> str:
    """Texts that may be a regular expression: parentheses balanced to a depth of four, things to repeat."""
    inner = "[^]*"
    for _ in range(_DEPTH):
        inner = rf"(?:{_REPEATED}|\||\({_BEFORE}{inner}\)(?:{_LAZY})?)*"
    return inner


FORMATS = (
    Format("json-pointer", "RFC 6901, 3", _POINTER),
    Format(
        "relative-json-pointer",
        "Relative JSON Pointers (draft-bhutton-relative-json-pointer-00), 3",
        rf"{_NUMBER}(?:[+\-][1-9]\d*)?(?:#|{_POINTER})",
    ),
    Format(
        "regex",
        "ECMA-262, 22.2.1 and annex B",
        _regex(),
        limits="what is checked: escapes and sets end, repetitions have something to repeat, groups begin as "
        "groups do, parentheses are balanced to a depth of four; the rest of the syntax is not",
    ),
)
