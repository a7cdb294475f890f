"""Which schemas surely exclude each other? By types, constants, or a member that tells them apart.

Of branches that do, exactly one is the same as any: no branch has to be taken out of the others, which takes
the algebra 50 µs for each two of them and writes larger languages.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any

from maskwright.json_schema.forms import Form
from maskwright.json_schema.keywords import Part

if TYPE_CHECKING:
    from maskwright.json_schema.places import Place
    from maskwright.json_schema.reading import Reader

__all__ = ["are_apart"]

MAX_BRANCHES = 100
"""Two of them are compared in 1 µs."""

_MAX_STEPS = 8
"""References followed one after the other."""

_BITS = {"null": 1, "boolean": 2, "integer": 4, "number": 12, "string": 16, "array": 32, "object": 64}
_PYTHON = {type(None): "null", bool: "boolean", str: "string", list: "array", dict: "object"}
_OBJECT = _BITS["object"]
_ALL = sum(_BITS.values()) - _BITS["integer"]


@dataclass(slots=True)
class _Outline:
    """What a schema says on its face: bits of its types, its constant texts, and of objects the names they
    must have, those they may have (None: any) and the constant texts of their members."""

    types: int = _ALL
    texts: frozenset[str] | None = None
    required: frozenset[str] = frozenset()
    names: frozenset[str] | None = None
    tags: dict[str, frozenset[str]] | None = None


def are_apart(reader: Reader, forms: list[Form]) -> bool:
    """Whether no value surely satisfies two of the forms."""
    if len(forms) > MAX_BRANCHES:
        return False
    outlines = [_outline(reader, form) for form in forms]
    return all(_exclude(one, other) for one, other in combinations(outlines, 2))


def _exclude(one: _Outline, other: _Outline) -> bool:
    both = one.types & other.types
    if not both:
        return True
    if one.texts is not None and other.texts is not None:
        return not one.texts & other.texts
    return both == _OBJECT and _objects_exclude(one, other)


def _objects_exclude(one: _Outline, other: _Outline) -> bool:
    """Whether one must have a member that the other may not have, or has with other constants."""
    if one.names is not None and not other.required <= one.names:
        return True
    if other.names is not None and not one.required <= other.names:
        return True
    mine, theirs = one.tags or {}, other.tags or {}
    return any(key in theirs and not mine[key] & theirs[key] for key in mine)


def _outline(reader: Reader, form: Form) -> _Outline:
    for _ in range(_MAX_STEPS):
        if form.kind != "schema":
            break
        place: Place = form.payload
        flags = reader.flags(place)
        if flags != Part.REF:
            return _of_schema(reader, place, flags)
        form = reader.target(place, place.schema)
    return _Outline()


def _of_schema(reader: Reader, place: Place, flags: int) -> _Outline:
    schema = reader.kept(place)
    found = _Outline()
    if flags & Part.TYPE:
        found.types = _bits(schema.get("type"))
    if flags & Part.VALUES:
        values = schema.get("enum", [schema.get("const")])
        if isinstance(values, list):
            found.types &= _bits_of(values)
            found.texts = _texts(values)
    required = schema.get("required")
    properties = schema.get("properties", {})
    if found.types != _OBJECT or not isinstance(properties, dict):
        return found
    if isinstance(required, list) and all(isinstance(name, str) for name in required):
        found.required = frozenset(required)
    if schema.get("additionalProperties") is False and "patternProperties" not in schema:
        found.names = frozenset(name for name, inner in properties.items() if inner is not False)
    found.tags = _tags(reader, place, properties, found.required)
    return found


def _tags(
    reader: Reader, place: Place, properties: dict[str, Any], required: frozenset[str]
) -> dict[str, frozenset[str]]:
    """The constant texts of the members that must be there."""
    found = {}
    for name in required:
        inner = properties.get(name)
        if isinstance(inner, dict) and ("enum" in inner or "const" in inner):
            form = reader.child(place, inner, "properties", name)
            texts = reader.algebra.constant_texts(form)
            if texts is not None:
                found[name] = texts
    return found


def _texts(values: list[Any]) -> frozenset[str] | None:
    """Constants, if all are texts."""
    return frozenset(values) if all(isinstance(value, str) for value in values) else None


def _bits_of(values: list[Any]) -> int:
    """The bits of the types of constants."""
    bits = 0
    for value in values:
        bits |= _BITS[_PYTHON[type(value)]] if type(value) in _PYTHON else _BITS["number"]
    return bits


def _bits(kinds: Any) -> int:
    """The bits of `type`; all of them for what is malformed."""
    listed = [kinds] if isinstance(kinds, str) else kinds
    bits = 0
    for kind in listed if isinstance(listed, list) else ():
        bits |= _BITS.get(kind, _ALL) if isinstance(kind, str) else _ALL
    return bits or _ALL
