"""How are numbers between whole bounds written? Once in a process: most bounds are 0, 1 or 100.

To read the bounds as exact sets and to write them digit by digit takes 50 to 100 µs, to copy what came of it
10.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from typing import Any

from maskwright.ir import Builder, Fragment
from maskwright.json_schema.numbers import ANY_NUMBER, INTEGERS, NumberSet

__all__ = ["Bounds", "whole_bounds", "written"]

Bounds = tuple[tuple[str, int], ...]
"""Keywords with their values."""

MAX_BOUND = 10**18
"""Larger ones are read by the way that knows the limits."""

_SETS: dict[str, Callable[[Fraction], NumberSet]] = {
    "minimum": lambda bound: NumberSet(lower=bound),
    "maximum": lambda bound: NumberSet(upper=bound),
    "exclusiveMinimum": lambda bound: NumberSet(lower=bound, lower_exclusive=True),
    "exclusiveMaximum": lambda bound: NumberSet(upper=bound, upper_exclusive=True),
}


def whole_bounds(schema: dict[str, Any]) -> Bounds | None:
    """The bounds of a schema if all are whole; None if one is not, or is malformed.

    None beside multiples too: they take rules, which a fragment has not.

    >>> whole_bounds({"type": "integer", "minimum": 1}), whole_bounds({"minimum": 0.5})
    ((('minimum', 1),), None)
    """
    bounds = tuple((name, schema[name]) for name in _SETS if name in schema)
    for _, value in bounds:
        if type(value) is not int or abs(value) > MAX_BOUND:
            return None
    return None if "multipleOf" in schema else bounds


@lru_cache(512)
def written(kind: str, bounds: Bounds) -> Fragment | None:
    """The numbers ("integer" or "number") within the bounds, as a model should write them; None if there are
    none."""
    numbers = INTEGERS if kind == "integer" else ANY_NUMBER
    for name, value in bounds:
        numbers = numbers.intersect(_SETS[name](Fraction(value)))
    if numbers.is_empty():
        return None
    builder = Builder()
    return builder.fragment(numbers.node(builder, "generate"))
