"""In which ways can a JSON value be written? The plain way, and any way at random."""

from __future__ import annotations

import json
from decimal import Decimal
from random import Random
from typing import Any

__all__ = ["any_text", "is_plain", "orders", "plain_text", "twice_a_key"]

MAX_ORDERS = 24
MAX_DIGITS = 15
"""Digits after the point of a number that has a plain spelling; 20 is what is written at least."""
MAX_PLAIN = 25
"""Characters of a number in any spelling but the shortest: `accept` has a bound on digits."""
_SHORT = {'"': '"', "\\": "\\", "/": "/", "\b": "b", "\f": "f", "\n": "n", "\r": "r", "\t": "t"}


def plain_text(value: Any, random: Random) -> str:
    """As `json.dumps` writes it, in one of its layouts; numbers without a superfluous zero or an exponent."""
    layout: dict[str, Any] = random.choice(({}, {"separators": (",", ":")}, {"indent": 2}))
    return json.dumps(_shortest(value), ensure_ascii=False, **layout)


def is_plain(value: Any) -> bool:
    """Whether each number in it has a plain spelling: no exponent, few digits after the point."""
    if isinstance(value, float):
        return "e" not in repr(value) and len(repr(value).partition(".")[2]) <= MAX_DIGITS
    inner = value if isinstance(value, list) else value.values() if isinstance(value, dict) else ()
    return all(map(is_plain, inner))


def _shortest(value: Any) -> Any:
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, list):
        return [_shortest(item) for item in value]
    if isinstance(value, dict):
        return {key: _shortest(item) for key, item in value.items()}
    return value


def any_text(value: Any, random: Random) -> str:
    """Any JSON text of the value: white space, escapes, and numbers in every spelling."""
    space = "".join(random.choices(" \t\r\n", k=random.randrange(3))) if random.random() < 0.2 else ""
    return space + _any_value(value, random) + space


def _any_value(value: Any, random: Random) -> str:
    if isinstance(value, str):
        return _any_string(value, random)
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return _any_number(value, random)
    if isinstance(value, list):
        return "[" + (",".join(any_text(item, random) for item in value) or random.choice(("", "\n"))) + "]"
    if isinstance(value, dict):
        members = [f"{_any_string(key, random)}:{any_text(item, random)}" for key, item in value.items()]
        return "{" + (",".join(members) or random.choice(("", "\t "))) + "}"
    return json.dumps(value)


def _any_string(text: str, random: Random) -> str:
    odds = random.choice((0.0, 0.3))
    return '"' + "".join(_any_character(one, random, odds) for one in text) + '"'


def _any_character(one: str, random: Random, odds: float) -> str:
    must = ord(one) < 0x20 or one in '"\\'
    if not must and random.random() >= odds:
        return one
    if one in _SHORT and random.random() < 0.5:
        return "\\" + _SHORT[one]
    units = one.encode("utf-16-be")
    numbers = [units[i] * 256 + units[i + 1] for i in range(0, len(units), 2)]
    return "".join(random.choice(("\\u%04x", "\\u%04X")) % number for number in numbers)


def _any_number(number: float, random: Random) -> str:
    """With superfluous zeros, or an exponent of either sign, small enough for any bound on exponents."""
    plain = format(Decimal(repr(number)), "f")
    if len(plain) > MAX_PLAIN:
        return repr(number)
    choice = random.randrange(5)
    if choice == 0:
        return plain + ("0" if "." in plain else ".0")
    if choice == 1:
        places = random.randrange(4)
        mantissa = format(Decimal(plain).scaleb(-places), "f")
        return f"{mantissa}{random.choice(('e', 'E', 'e+', 'E+0'))}{places}"
    if choice == 2:
        places = random.randrange(1, 4)
        mantissa = format(Decimal(plain).scaleb(places), "f")
        return f"{mantissa}e-{places}"
    if choice == 3 and number == 0:
        return "-0"
    return plain


def orders(value: Any, most: int = MAX_ORDERS) -> list[Any] | None:
    """The value with the members of its objects in every order; None if those are more than `most`."""
    if isinstance(value, list):
        return _each_of([(None, item) for item in value], most, lambda pairs: [item for _, item in pairs])
    if not isinstance(value, dict):
        return [value]
    found: list[Any] = []
    for names in _permutations(list(value), most) or ():
        ways = _each_of([(name, value[name]) for name in names], most, dict)
        if ways is None:
            return None
        found.extend(ways)
        if len(found) > most:
            return None
    return found or None


def _permutations(names: list[str], most: int) -> list[list[str]] | None:
    ways: list[list[str]] = [[]]
    for name in names:
        ways = [[*way[:i], name, *way[i:]] for way in ways for i in range(len(way) + 1)]
        if len(ways) > most:
            return None
    return ways


def _each_of(pairs: list[tuple[Any, Any]], most: int, make: Any) -> list[Any] | None:
    """What `make` makes of each choice of one way for each value."""
    ways: list[list[tuple[Any, Any]]] = [[]]
    for name, item in pairs:
        inner = orders(item, most)
        if inner is None or len(ways) * len(inner) > most:
            return None
        ways = [[*way, (name, one)] for way in ways for one in inner]
    return [make(way) for way in ways]


def twice_a_key(value: Any) -> str | None:
    """A text of an object in which one member stands twice; None for what has no member."""
    if not isinstance(value, dict) or not value:
        return None
    members = [f"{json.dumps(key)}: {json.dumps(item)}" for key, item in value.items()]
    return "{" + ", ".join([*members, members[0]]) + "}"
