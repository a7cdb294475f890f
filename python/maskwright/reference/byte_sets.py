"""Which bytes does one position of a pattern allow? A set of bytes is an int: bit b is set for byte b."""

from __future__ import annotations

ALL_BYTES = (1 << 256) - 1


def single(byte: int) -> int:
    """The set of one byte."""
    return 1 << byte


def span(first: int, last: int) -> int:
    """The set of the bytes from `first` to `last`, both included."""
    return (1 << (last + 1)) - (1 << first)


def complement(byte_set: int) -> int:
    """Every byte that is not in `byte_set`, over all 256."""
    return ALL_BYTES & ~byte_set


DIGITS = span(0x30, 0x39)
WORD = DIGITS | span(0x41, 0x5A) | span(0x61, 0x7A) | single(0x5F)
SPACE = span(0x09, 0x0D) | single(0x20)
ANY_BUT_NEWLINE = complement(single(0x0A))
