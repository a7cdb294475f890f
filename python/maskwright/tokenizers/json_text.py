"""How is JSON from a tokenizer file read without trusting it?"""

from __future__ import annotations

import json
from typing import Any, TypeVar

from maskwright.tokenizers.table import refuse

_T = TypeVar("_T")

_NAMES = {dict: "an object", list: "an array", str: "a string", int: "an integer", bool: "a boolean"}


class _DuplicateKey(ValueError):
    """An object that has one key twice: `json` would keep the last and lose a token."""


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    unique = dict(pairs)
    if len(unique) != len(pairs):
        seen: set[str] = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        raise _DuplicateKey(f"the key {twice!r} comes twice in one object")
    return unique


def parse_object(data: bytes | str, where: str) -> dict[str, Any]:
    """Parse a JSON document whose top is an object; anything else, or a key given twice, is an error."""
    try:
        # utf-8-sig: some editors leave a byte order mark, which json refuses in text.
        text = data.decode("utf-8-sig") if isinstance(data, bytes) else data
        document = json.loads(text, object_pairs_hook=_unique)
    except RecursionError:
        refuse("cannot read the file as JSON", where=where, why="it is nested too deeply", code="json")
    except ValueError as error:  # bad JSON or UTF-8, an integer of over 4,300 digits, a key given twice
        refuse("cannot read the file as JSON", where=where, why=str(error), code="json")
    return expect(document, dict, where, "the document")


def expect(value: object, kind: type[_T], where: str, what: str) -> _T:
    """`value` if it is a `kind` (a bool is not an int), else an error that calls it `what`."""
    if isinstance(value, kind) and not (kind is int and isinstance(value, bool)):
        return value
    refuse(
        f"{what} is not {_NAMES[kind]}",
        where=where,
        why=f"it is {'null' if value is None else _NAMES.get(type(value), 'a ' + type(value).__name__)}",
        code="json",
    )


def member(parent: dict[str, Any], key: str, kind: type[_T], where: str) -> _T:
    """`parent[key]`, which must be there and be a `kind`."""
    if key not in parent:
        refuse(f'"{key}" is missing', where=where, code="json")
    return expect(parent[key], kind, where, f'"{key}"')


def optional(parent: dict[str, Any], key: str, kind: type[_T], where: str) -> _T | None:
    """`parent[key]` if it is there and not null, which must then be a `kind`."""
    value = parent.get(key)
    return None if value is None else expect(value, kind, where, f'"{key}"')
