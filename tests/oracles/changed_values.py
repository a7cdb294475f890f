"""What is nearly the same JSON value? One change of a kind that a schema may or may not see."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from random import Random
from typing import Any

__all__ = ["changed"]

MOST = 2**60
"""Numbers in which a half makes a difference, and whose double is a number still."""


def changed(value: Any, random: Random, names: list[str], values: list[Any]) -> Any:
    """A copy with one change at a random place; new names and values come from the pools."""
    root = [deepcopy(value)]
    holder, key = random.choice(_places(root))
    old = holder[key]
    change = _any_other
    if random.random() < 0.85:
        change = _CHANGES.get(type(old), _any_other)
    holder[key] = change(old, random, names, values)
    return root[0]


def _places(root: list[Any]) -> list[tuple[Any, Any]]:
    """Where values are: the containers and the keys or positions in them."""
    found: list[tuple[Any, Any]] = []
    waiting: list[Any] = [root]
    while waiting:
        holder = waiting.pop()
        for key in range(len(holder)) if isinstance(holder, list) else holder:
            found.append((holder, key))
            if isinstance(holder[key], (list, dict)):
                waiting.append(holder[key])
    return found


def _any_other(_old: Any, random: Random, _names: list[str], values: list[Any]) -> Any:
    return deepcopy(random.choice(values))


def _object(old: dict[str, Any], random: Random, names: list[str], values: list[Any]) -> dict[str, Any]:
    """Drop, add, rename or move a member, or give two the same value."""
    members = list(old.items())
    choice = random.randrange(5)
    if choice == 0 or not members:
        members.append((random.choice(names), deepcopy(random.choice(values))))
    elif choice == 1:
        members.pop(random.randrange(len(members)))
    elif choice == 2:
        place = random.randrange(len(members))
        members[place] = (random.choice(names), members[place][1])
    elif choice == 3:
        members.append((random.choice(names), deepcopy(random.choice(members)[1])))
    else:
        random.shuffle(members)
    return dict(members)


def _array(old: list[Any], random: Random, _names: list[str], values: list[Any]) -> list[Any]:
    """Drop, add, duplicate or move an item."""
    items = list(old)
    choice = random.randrange(4)
    if choice == 0 or not items:
        items.insert(random.randrange(len(items) + 1), deepcopy(random.choice(values)))
    elif choice == 1:
        items.pop(random.randrange(len(items)))
    elif choice == 2:
        items.insert(random.randrange(len(items) + 1), deepcopy(random.choice(items)))
    else:
        random.shuffle(items)
    return items


def _string(old: str, random: Random, names: list[str], _values: list[Any]) -> str:
    """Drop, add or double a character."""
    choice = random.randrange(3)
    place = random.randrange(len(old) + 1)
    if choice == 0 and old:
        return old[:place] + old[place + 1 :]
    if choice == 1:
        return old[:place] + random.choice('ab1cé"\n') + old[place:]
    return old * 2 if len(old) < 20 else random.choice(names)


def _number(old: float, random: Random, _names: list[str], _values: list[Any]) -> float:
    """Near it, on the other side of zero, or a half more."""
    if abs(old) > MOST:
        return -old
    return random.choice((old + 1, old - 1, -old, old * 2, old + 0.5, old + 7))


def _boolean(old: bool, _random: Random, _names: list[str], _values: list[Any]) -> bool:
    return not old


_CHANGES: dict[type, Callable[..., Any]] = {
    dict: _object,
    list: _array,
    str: _string,
    int: _number,
    float: _number,
    bool: _boolean,
}
