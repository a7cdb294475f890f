"""How are the constants of an enumeration written? As one word list, where all are scalars."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Any

from maskwright.ir import Node
from maskwright.json_schema.schema_text import exact, spelled

if TYPE_CHECKING:
    from maskwright.json_schema.write import Writer

__all__ = ["write_constants"]

_TYPES = frozenset(("null", "boolean", "number", "integer", "string", "array", "object"))
_STRING = ("string",)
_NAMES = {None: b"null", False: b"false", True: b"true"}


def write_constants(writer: Writer, schema: dict[str, Any]) -> Node | None:
    """The values of a schema of `enum` or `const` and perhaps `type`; None for what needs another look."""
    values = schema.get("enum")
    if values is None and "const" in schema:
        values = [schema["const"]]
    elif "const" in schema or not isinstance(values, list):
        return None
    kinds = _kinds(schema)
    if not values or not kinds:
        return None
    texts = [value for value in values if isinstance(value, str)]
    others = [] if len(texts) == len(values) else _spelled(writer, values, kinds)
    texts = texts if "string" in kinds else []
    return None if others is None or not (texts or others) else writer.spelling.literals(texts, others)


def _kinds(schema: dict[str, Any]) -> Collection[str]:
    """The types that may be; none for what is malformed."""
    kinds = schema.get("type")
    if "type" not in schema or kinds == "string":
        return _TYPES if kinds is None else _STRING
    listed = [kinds] if isinstance(kinds, str) else kinds
    if not isinstance(listed, list) or not all(isinstance(kind, str) and kind in _TYPES for kind in listed):
        return ()
    return listed


def _spelled(writer: Writer, values: list[Any], kinds: Collection[str]) -> list[bytes] | None:
    """The spellings of what is no string, in the types that may be; None where not all are scalars, or where
    each has many spellings."""
    found: list[bytes] = []
    for value in values:
        if isinstance(value, str):
            continue
        if value is None or isinstance(value, bool):
            kind, words = "null" if value is None else "boolean", [_NAMES[value]]
        else:
            number = exact(value)
            if number is None or writer.style == "accept":
                return None
            kind = "integer" if isinstance(number, int) and "number" not in kinds else "number"
            words = [text.encode() for text in spelled(value)]
        if kind in kinds:
            found.extend(words)
    return found
