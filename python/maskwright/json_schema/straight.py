"""Which schemas need no algebra? Those whose keywords speak about the type of a value: nearly all.

They are written type by type from their keywords, without clauses in between, and scalars without a form of
their own: a member that is a string takes 2 µs, by way of a form and its clauses 12.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from maskwright.ir import Node
from maskwright.json_schema.arrays import write_alike, write_items
from maskwright.json_schema.bounds import whole_bounds
from maskwright.json_schema.constants import write_constants
from maskwright.json_schema.forms import FALSE, TRUE, Form
from maskwright.json_schema.keywords import Part, beside_ref_of
from maskwright.json_schema.objects import write_declared
from maskwright.json_schema.places import Place

if TYPE_CHECKING:
    from maskwright.json_schema.order import Names
    from maskwright.json_schema.write import Writer

__all__ = ["bare_type", "straight"]

_JOINED = Part.REF | Part.ANY_OF | Part.ONE_OF | Part.IN_PLACE | Part.UNEVALUATED
_OTHERWISE = _JOINED | Part.NAMES | Part.NO_NAME
_LARGE = Part.ARRAY | Part.OBJECT | Part.VALUES
"""What takes a form, so that a schema at several places is written once."""
_OTHER_MEMBERS = frozenset(("patternProperties", "propertyNames", "minProperties", "maxProperties"))
_OTHER_ITEMS = frozenset(
    ("additionalItems", "contains", "maxContains", "minContains", "prefixItems", "uniqueItems")
)
"""Keywords for objects and arrays that take clauses."""


def straight(writer: Writer, place: Place, names: Names | None) -> Node | None:
    """The values of such a schema; None for any other, and for one that needs another look."""
    flags = writer.reader.flags(place) if place.flags is None else place.flags
    if flags & _JOINED:
        return None
    if flags & Part.VALUES:
        return None if flags & ~(Part.TYPE | Part.VALUES) else write_constants(writer, place.schema)
    if not flags and not names:
        return writer.any_value
    kinds = place.schema["type"] if flags & Part.TYPE else _EVERY
    if isinstance(kinds, str):
        write = _WRITE.get(kinds)
        return None if write is None else write(writer, place, flags, names)
    return _union(writer, place, flags, names, kinds)


def _union(writer: Writer, place: Place, flags: int, names: Names | None, kinds: Any) -> Node | None:
    """The values of several types; None for what is no list of types."""
    if not isinstance(kinds, list) or not all(isinstance(kind, str) and kind in _WRITE for kind in kinds):
        return None
    ways = []
    for kind in dict.fromkeys(kinds):
        if kind != "integer" or "number" not in kinds:
            way = _WRITE[kind](writer, place, flags, names)
            if way is None:
                return None
            ways.append(way)
    return writer.builder.choice(ways) if ways else None


# A schema inside another one


def _tail_at(writer: Writer, place: Place, schema: Any, key: str) -> Node:
    """What follows the key of a member: `schema` is what its value must satisfy, inside a place all of whose
    keywords are read. A scalar that is short to write takes no form: 5 calls less."""
    flags = place.resource.parts[tuple(schema)] if type(schema) is dict else Part.NO_NAME
    if flags & _OTHERWISE:
        return writer.tail(_form_at(writer, place, schema, "properties", key))
    if flags == Part.TYPE and type(schema["type"]) is str and schema["type"] in writer.tails:
        return writer.tails[schema["type"]]
    if not flags & _LARGE:
        at = Place(schema, place.resource, (place.trail, "properties", key), place.scope, flags)
        node = straight(writer, at, None)
        if node is not None:
            return writer.builder.sequence((writer.layout.colon, writer.fitting(node)))
    return writer.tail(writer.reader.forms.child(place, schema, ("properties", key), flags))


def bare_type(place: Place, schema: dict[str, Any]) -> Any:
    """The one type that is all that a schema says, None if it says nothing; "" for any other schema."""
    flags = place.resource.parts[tuple(schema)]
    if flags & ~Part.TYPE:
        return ""
    kind = schema["type"] if flags else None
    return kind if not flags or type(kind) is str else ""


def _form_at(writer: Writer, place: Place, schema: Any, *steps: Any) -> Form:
    """The form of a schema; of one that is a reference and no more, the form of where that leads."""
    if type(schema) is dict and "$ref" in schema and beside_ref_of(place.draft).isdisjoint(schema):
        return writer.reader.target(place, schema, *steps)
    return writer.reader.child(place, schema, *steps)


# Types


def _string(writer: Writer, place: Place, flags: int, _names: Names | None) -> Node | None:
    """What the keywords for strings say; None for what needs another look."""
    if not flags & Part.STRING:
        return writer.any_of_type["string"]
    reader, schema = writer.reader, place.schema
    reader.place = place
    if "pattern" in schema or "format" in schema or not reader.reads_all(place):
        strings = reader.strings(place)
        low, high = strings.min_length, strings.max_length
    else:
        strings = None
        low, high = reader.count(place, schema, "minLength") or 0, reader.count(place, schema, "maxLength")
    if high is not None and low > high:
        return None
    return writer.sized(low, high) if strings is None else writer.text(strings, place)


def _number(writer: Writer, place: Place, flags: int, _names: Names | None) -> Node | None:
    return _numbers(writer, place, flags, "number")


def _integer(writer: Writer, place: Place, flags: int, _names: Names | None) -> Node | None:
    return _numbers(writer, place, flags, "integer")


def _numbers(writer: Writer, place: Place, flags: int, kind: str) -> Node | None:
    """What the keywords for numbers say; None if that is nothing."""
    if not flags & Part.NUMBER:
        return writer.any_of_type[kind]
    plain = writer.style == "generate" and writer.reader.reads_all(place)
    bounds = whole_bounds(place.schema) if plain else None
    found = None if bounds is None else writer.bounded(kind, bounds)
    return _number_set(writer, place, kind) if found is None else found


def _number_set(writer: Writer, place: Place, kind: str) -> Node | None:
    writer.reader.place = place
    numbers = writer.reader.numbers(place, integer=kind == "integer")
    return None if numbers.is_empty() else writer.number_set(numbers, place)


def _boolean(writer: Writer, _place: Place, _flags: int, _names: Names | None) -> Node:
    return writer.any_of_type["boolean"]


def _null(writer: Writer, _place: Place, _flags: int, _names: Names | None) -> Node:
    return writer.any_of_type["null"]


def _array(writer: Writer, place: Place, flags: int, _names: Names | None) -> Node | None:
    """What the keywords for arrays say; None for what needs another look."""
    if not flags & Part.ARRAY:
        return writer.any_array
    reader, schema = writer.reader, place.schema
    reader.place = place
    inner = schema.get("items", True)
    if type(inner) is not list and _OTHER_ITEMS.isdisjoint(schema) and reader.reads_all(place):
        return _plain_array(writer, place, inner)
    items = reader.items(place)
    if items is None:
        return None
    return writer.rule(writer.name(place), lambda: write_items(writer, items), place)


def _plain_array(writer: Writer, place: Place, inner: Any) -> Node | None:
    """Arrays by `items`, `minItems` and `maxItems` alone."""
    count, schema = writer.reader.count, place.schema
    low, high = count(place, schema, "minItems") or 0, count(place, schema, "maxItems")
    if high is not None and low > high:
        return None
    kind = bare_type(place, inner) if type(inner) is dict else None if inner is True else ""
    if kind is None and low == 0 and high is None:
        return writer.any_array
    if kind in writer.any_of_type:  # written at once, and once for all arrays that are alike
        return writer.shared(writer.name(place), write_alike(writer, writer.any_of_type[kind], low, high))
    return writer.rule(writer.name(place), lambda: _alike(writer, place, inner, low, high), place)


def _alike(writer: Writer, place: Place, inner: Any, low: int, high: int | None) -> Node:
    """Arrays of which all items satisfy one schema."""
    form = _form_at(writer, place, inner, "items")
    return write_alike(writer, None if form is FALSE else writer.value(form), low, high)


def _object(writer: Writer, place: Place, flags: int, names: Names | None) -> Node | None:
    """What the keywords for objects say; None for what needs another look."""
    reader = writer.reader
    if not names:
        if not flags & Part.OBJECT:
            return writer.any_object
        if _OTHER_MEMBERS.isdisjoint(place.schema) and reader.reads_all(place):
            return writer.rule(writer.name(place), partial(_declared_object, writer, place), place)
    reader.place = place
    members = reader.members(place)
    if members is None:
        return None
    return writer.rule(writer.name(place), lambda: writer.objects((members,), names), place)


def _declared_object(writer: Writer, place: Place) -> Node:
    """Objects by `properties`, `required` and `additionalProperties` alone."""
    reader, schema = writer.reader, place.schema
    properties = reader.properties(place, schema)
    required = reader.names(place, schema["required"], "required") if "required" in schema else ()
    rest = TRUE
    if "additionalProperties" in schema:
        rest = reader.child(place, schema["additionalProperties"], "additionalProperties")
    needed = frozenset(required)
    declared = []
    for spelled, (key, inner) in zip(writer.spelling.each(properties), properties.items(), strict=True):
        if inner is not False:
            tail = _tail_at(writer, place, inner, key)
            declared.append((spelled, tail, key in needed))
        elif key in needed:
            return writer.nothing
        elif rest is not FALSE:
            declared.append((spelled, writer.nothing, False))
    if not needed <= properties.keys():
        if rest is FALSE:
            return writer.nothing
        others = [key for key in dict.fromkeys(required) if key not in properties]
        declared += [(writer.spelling.literal(key), writer.tail(rest), True) for key in others]
    if not declared and rest is TRUE:
        return writer.any_object
    opens = [] if rest is FALSE else [(writer.any_key, writer.tail(rest), 0)]
    if not declared and not opens:
        return writer.layout.container(writer.builder, b"{}", None, may_be_empty=True)
    return write_declared(writer, declared, opens, len(needed), None)


_Write = Callable[["Writer", Place, int, "Names | None"], "Node | None"]

_WRITE: dict[str, _Write] = {
    "null": _null,
    "boolean": _boolean,
    "number": _number,
    "integer": _integer,
    "string": _string,
    "array": _array,
    "object": _object,
}
_EVERY = [kind for kind in _WRITE if kind != "integer"]
