"""Which schemas need no algebra? Those of one type whose keywords speak about that type: nearly all.

They are written from their keywords, without clauses in between, and scalars without a form of their own: a
member that is a string takes 2 µs, by way of a form and its clauses 12.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from maskwright.ir import Node
from maskwright.json_schema.arrays import write_items
from maskwright.json_schema.forms import FALSE
from maskwright.json_schema.keywords import Part
from maskwright.json_schema.objects import write_declared
from maskwright.json_schema.places import Place

if TYPE_CHECKING:
    from maskwright.json_schema.write import Names, Writer

__all__ = ["straight", "tail_at", "words"]

_NONE: dict[str, Any] = {}
_OTHER_MEMBERS = frozenset(("patternProperties", "propertyNames", "minProperties", "maxProperties"))
"""Keywords for objects that take clauses."""


def straight(writer: Writer, place: Place, names: Names | None) -> Node | None:
    """The values of such a schema; None for any other, and for one that needs another look."""
    flags = writer.reader.flags(place) & ~Part.UNKNOWN
    write = _WRITE.get(flags)
    if write is None:
        return None
    kind = place.schema["type"]
    return write[kind](writer, place, flags, names) if isinstance(kind, str) and kind in write else None


def tail_at(writer: Writer, place: Place, schema: Any, *steps: Any) -> Node:
    """What follows a key: `schema` is what its value must satisfy, `place` where that stands."""
    if type(schema) is dict:
        kind = schema.get("type")
        tail = writer.tails.get(kind) if type(kind) is str else None
        if tail is not None and place.resource.asserting.isdisjoint(schema):
            return tail
    return writer.tail(writer.reader.child(place, schema, *steps))


def words(writer: Writer, place: Place, _flags: int = 0, _names: Names | None = None) -> Node | None:
    """An enumeration of strings, and nothing else; None for what is not."""
    schema = place.schema
    values = schema.get("enum")
    if values is None and "const" in schema:
        values = [schema["const"]]
    elif "const" in schema:
        return None
    if schema.get("type", "string") != "string" or not isinstance(values, list) or not values:
        return None
    if not all(isinstance(value, str) for value in values):
        return None
    return writer.spelling.literals(values)


def _scalar(writer: Writer, place: Place, _flags: int, _names: Names | None) -> Node:
    return writer.any_of_type[place.schema["type"]]


def _strings(writer: Writer, place: Place, _flags: int, _names: Names | None) -> Node | None:
    """What the keywords for strings say; None for what needs another look."""
    writer.reader.algebra.place = place
    strings = writer.reader.strings(place)
    high = strings.max_length
    return None if high is not None and strings.min_length > high else writer.text(strings)


def _numbers(writer: Writer, place: Place, _flags: int, _names: Names | None) -> Node | None:
    """What the keywords for numbers say; None if that is nothing."""
    writer.reader.algebra.place = place
    numbers = writer.reader.numbers(place)
    return None if numbers.is_empty() else writer.number_set(numbers, place)


def _array(writer: Writer, place: Place, flags: int, _names: Names | None) -> Node | None:
    """What the keywords for arrays say; written at once if its items are scalars."""
    if not flags & Part.ARRAY:
        return writer.any_array
    writer.reader.algebra.place = place
    items = writer.reader.items(place)
    if items is None:
        return None
    return writer.rule(writer.name(place), lambda: write_items(writer, items), place)


def _object(writer: Writer, place: Place, flags: int, names: Names | None) -> Node | None:
    """What the keywords for objects say."""
    reader = writer.reader
    if not names:
        if not flags & Part.OBJECT:
            return writer.any_object
        if _OTHER_MEMBERS.isdisjoint(place.schema) and reader.reads_all(place):
            return writer.rule(writer.name(place), lambda: _declared_object(writer, place), place)
    reader.algebra.place = place
    members = reader.members(place)
    if members is None:
        return None
    return writer.rule(writer.name(place), lambda: writer.objects((members,), names), place)


def _declared_object(writer: Writer, place: Place) -> Node:
    """Objects by `properties`, `required` and `additionalProperties` alone."""
    reader, schema, spell = writer.reader, place.schema, writer.spelling.literal
    properties = reader.properties(place, schema)
    required = reader.names(place, schema["required"], "required") if "required" in schema else ()
    rest = reader.child(place, schema.get("additionalProperties", True), "additionalProperties")
    needed = frozenset(required)
    declared = []
    for key, inner in properties.items():
        if inner is not False:
            tail = tail_at(writer, place, inner, "properties", key)
            declared.append((spell(key), tail, key in needed))
        elif key in needed:
            return writer.builder.empty()
        elif rest is not FALSE:
            declared.append((spell(key), writer.builder.empty(), False))
    for key in dict.fromkeys(required):
        if key not in properties:
            if rest is FALSE:
                return writer.builder.empty()
            declared.append((spell(key), writer.tail(rest), True))
    opens = [] if rest is FALSE else [(writer.any_key, writer.tail(rest))]
    if not declared and not opens:
        return writer.layout.container(b"{}", None, may_be_empty=True)
    return write_declared(writer, declared, opens, len(needed), None)


_Write = Callable[["Writer", Place, int, "Names | None"], "Node | None"]

_WRITE: dict[int, dict[str, _Write]] = {
    Part.TYPE: {
        **dict.fromkeys(("string", "integer", "number", "boolean", "null"), _scalar),
        "object": _object,
        "array": _array,
    },
    Part.TYPE | Part.STRING: {"string": _strings},
    Part.TYPE | Part.NUMBER: {"integer": _numbers, "number": _numbers},
    Part.TYPE | Part.ARRAY: {"array": _array},
    Part.TYPE | Part.OBJECT: {"object": _object},
    Part.TYPE | Part.VALUES: {"string": words},
}
