"""Does an instance have its members in schema order? Read from the schema alone, apart from every engine.

The order of an object's members: declared ones by first appearance in a document-order walk through the
in-place applicators, then those that are only required, then all others. What cannot be followed (a remote
reference) is taken as declaring nothing.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

_LISTS = ("allOf", "anyOf", "oneOf")
_SINGLES = ("if", "then", "else", "not")
_MAPS = ("dependentSchemas", "dependencies")


@dataclass(slots=True)
class _Applied:
    """All schemas that apply to one value, and the names that they declare, both in document order."""

    schemas: list[dict[str, Any]]
    names: dict[str, int]


def in_schema_order(schema: Any, instance: Any) -> bool:
    """Whether every object in the instance follows the order of the schemas that apply to it."""
    waiting: list[tuple[list[Any], Any]] = [([schema], instance)]
    while waiting:
        starts, value = waiting.pop()
        if not isinstance(value, (dict, list)):
            continue
        applied = _in_place(schema, starts)
        if isinstance(value, dict):
            if not _ordered(applied, list(value)):
                return False
            waiting.extend((_for_member(applied.schemas, key), item) for key, item in value.items())
        else:
            waiting.extend((_for_item(applied.schemas, i), item) for i, item in enumerate(value))
    return True


def _in_place(root: Any, starts: list[Any]) -> _Applied:
    """Walk the schemas and all that apply to the same value, each once."""
    applied = _Applied([], {})
    seen: set[int] = set()
    waiting = list(reversed(starts))
    while waiting:
        schema = waiting.pop()
        if isinstance(schema, _Names):
            for name in schema.names:
                applied.names.setdefault(name, len(applied.names))
        elif isinstance(schema, dict) and id(schema) not in seen:
            seen.add(id(schema))
            applied.schemas.append(schema)
            waiting.extend(reversed(_applied_by(root, schema)))
    return applied


@dataclass(frozen=True, slots=True)
class _Names:
    """The place in the walk where a `properties` declares its names."""

    names: list[str]


def _applied_by(root: Any, schema: dict[str, Any]) -> list[Any]:
    found: list[Any] = []
    for keyword, value in schema.items():
        if keyword == "properties" and isinstance(value, dict):
            found.append(_Names(list(value)))
        elif keyword == "$ref" and isinstance(value, str):
            found.append(_resolve(root, value))
        elif keyword in _LISTS and isinstance(value, list):
            found.extend(value)
        elif keyword in _SINGLES:
            found.append(value)
        elif keyword in _MAPS and isinstance(value, dict):
            found.extend(value.values())
    return found


def _resolve(root: Any, reference: str) -> Any:
    """What a reference within the document points to; None for another."""
    if not reference.startswith("#"):
        return None
    place = root
    for part in unquote(reference[1:]).split("/")[1:]:
        name = part.replace("~1", "/").replace("~0", "~")
        if isinstance(place, dict):
            place = place.get(name)
        elif isinstance(place, list) and name.isdigit() and int(name) < len(place):
            place = place[int(name)]
        else:
            return None
    return place


def _ordered(applied: _Applied, keys: list[str]) -> bool:
    rank = dict(applied.names)
    for schema in applied.schemas:
        required = schema.get("required")
        for key in required if isinstance(required, list) else ():
            rank.setdefault(str(key), len(rank))
    ranks = [rank.get(key, len(rank)) for key in keys]
    return ranks == sorted(ranks)


def _for_member(applied: list[dict[str, Any]], key: str) -> list[Any]:
    found: list[Any] = []
    for schema in applied:
        before = len(found)
        properties, patterns = schema.get("properties"), schema.get("patternProperties")
        if isinstance(properties, dict) and key in properties:
            found.append(properties[key])
        if isinstance(patterns, dict):
            found.extend(value for pattern, value in patterns.items() if _searches(pattern, key))
        if len(found) == before:
            found.extend(
                schema[name] for name in ("additionalProperties", "unevaluatedProperties") if name in schema
            )
    return found


def _searches(pattern: str, key: str) -> bool:
    try:
        return re.search(pattern, key) is not None
    except re.error:
        return False


def _for_item(applied: list[dict[str, Any]], position: int) -> list[Any]:
    found: list[Any] = []
    for schema in applied:
        items = schema.get("items")
        first = schema.get("prefixItems", items if isinstance(items, list) else [])
        rest = schema.get("additionalItems") if isinstance(items, list) else items
        if isinstance(first, list) and position < len(first):
            found.append(first[position])
        else:
            found.append(rest)
    return found
