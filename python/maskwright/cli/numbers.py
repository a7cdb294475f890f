"""Which numbers may an option of the command line have?"""

from __future__ import annotations

import argparse
from collections.abc import Callable

__all__ = ["at_least", "temperature"]


def at_least(low: int) -> Callable[[str], int]:
    """A whole number, `low` or more."""

    def integer(text: str) -> int:
        value = int(text)
        if value < low:
            raise argparse.ArgumentTypeError(f"must be at least {low}, not {value}")
        return value

    return integer


def temperature(text: str) -> float:
    """A number, 0 or more."""
    value = float(text)
    if not 0 <= value < float("inf"):
        raise argparse.ArgumentTypeError(f"must be 0 or more, not {text}")
    return value
