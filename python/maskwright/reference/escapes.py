r"""Which bytes does an escape stand for? The escapes of Python's bytes patterns, in and outside a class.

`\0` to `\377` is octal where Python says so: after a leading 0 at most two more digits, else exactly three
digits outside a class (fewer are a backreference) and up to three inside one.
"""

from __future__ import annotations

import string

from maskwright.reference.byte_sets import DIGITS, SPACE, WORD, complement, single
from maskwright.reference.refusals import refusal
from maskwright.reference.source import Source

_SETS = {
    "d": DIGITS,
    "D": complement(DIGITS),
    "w": WORD,
    "W": complement(WORD),
    "s": SPACE,
    "S": complement(SPACE),
}
_CONTROLS = {name: single(byte) for name, byte in zip("atnvfr", (7, 9, 10, 11, 12, 13), strict=True)}
_ANCHORS = frozenset("AbBZ")
_OCTAL = "01234567"


def read_escape(source: Source) -> int:
    """Read an escape outside a class into a set of bytes."""
    start = source.offset
    letter = _letter(source)
    if letter in _ANCHORS:
        raise refusal(source, "anchor", start)
    if letter == "0":
        return single(int("0" + source.take_while(_OCTAL, 2), 8))
    if letter in string.digits:
        digits = letter + source.take_while(_OCTAL, 2)
        if letter in "89" or len(digits) < 3:
            raise refusal(source, "backreference", start)
        return _octal(source, digits, start)
    return _read_shared(source, letter, start)


def read_class_escape(source: Source) -> int:
    r"""Read an escape inside a class into a set of bytes; `\b` is the backspace here."""
    start = source.offset
    letter = _letter(source)
    if letter == "b":
        return single(8)
    if letter in _OCTAL:
        return _octal(source, letter + source.take_while(_OCTAL, 2), start)
    return _read_shared(source, letter, start)


def _letter(source: Source) -> str:
    letter = source.text[source.offset + 1 : source.offset + 2]
    if not letter:
        raise source.error("bad escape: the pattern ends after a backslash", source.offset)
    source.skip(2)
    return letter


def _read_shared(source: Source, letter: str, start: int) -> int:
    known = _SETS.get(letter) or _CONTROLS.get(letter)
    if known is not None:
        return known
    if letter == "x":
        digits = source.take_while(string.hexdigits, 2)
        if len(digits) < 2:
            raise source.error("incomplete escape: \\x takes two hexadecimal digits", start)
        return single(int(digits, 16))
    if letter in string.ascii_letters or letter in string.digits:
        raise source.error(f"bad escape \\{letter}", start)
    return single(ord(letter))


def _octal(source: Source, digits: str, start: int) -> int:
    value = int(digits, 8)
    if value > 0xFF:
        raise source.error(f"octal escape \\{digits} is above \\377", start)
    return single(value)
