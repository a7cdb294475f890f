"""What is wrong with input that is not the library's to judge?"""

from __future__ import annotations

from collections.abc import Iterable

from maskwright.cli.shown import quoted
from maskwright.errors import MaskwrightError


class BadInput(MaskwrightError):
    """An unreadable file, text that is not JSON, options that do not go together."""

    default_code = "input"


def left_at(text: bytes, offset: int, expected: Iterable[str]) -> BadInput:
    """The error for a text whose byte at `offset` leaves the format, where something else was `expected`."""
    return BadInput(
        f"the text leaves the format at byte {offset}",
        where=f"after {quoted(text[:offset])}",
        why=f"found {quoted(text[offset : offset + 1])}, expected {' or '.join(expected)}",
    )
