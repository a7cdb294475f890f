"""What do `enum` and `const` say? One clause for all strings, one for all numbers, one for each container."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any

from maskwright.json_schema.clauses import FULL, Cases, Items, Members, Numbers, StringSet
from maskwright.json_schema.forms import FALSE
from maskwright.json_schema.refusals import malformed
from maskwright.json_schema.schema_text import are_texts, exact, spelled

if TYPE_CHECKING:
    from maskwright.json_schema.places import Place
    from maskwright.json_schema.reading import Reader

__all__ = ["read_constant", "read_values"]


def read_values(reader: Reader, place: Place, schema: dict[str, Any]) -> Cases:
    """The values that `enum` and `const` of a schema leave."""
    found = FULL
    if "enum" in schema:
        values = schema["enum"]
        if not isinstance(values, list):
            raise malformed(place, "enum", "it must be a list", values)
        found = _constants(reader, place, "enum", values)
    if "const" in schema:
        found = reader.algebra.both(found, _constants(reader, place, "const", [schema["const"]]))
    return found


def _constants(reader: Reader, place: Place, keyword: str, values: list[Any]) -> Cases:
    """Any of some constants; the strings among them are one clause, and so are the numbers."""
    texts = [value for value in values if isinstance(value, str)]
    numbers: dict[int | Decimal, tuple[str, ...]] = {}
    for value in values:
        number = exact(value)
        if number is not None:
            numbers[number] = tuple(dict.fromkeys((*numbers.get(number, ()), *spelled(value))))
        elif isinstance(value, (int, float, Decimal)) and not isinstance(value, bool):
            raise malformed(place, keyword, "its numbers must be finite, of at most 1,000 digits", value)
        elif value is not None and not isinstance(value, (bool, str, list, dict)):
            raise malformed(place, keyword, "its values must be those of JSON", value)
    found = Cases(
        any(value is None for value in values),
        frozenset(value for value in values if isinstance(value, bool)),
        (Numbers(constants=tuple(numbers.items())),) if numbers else (),
        (StringSet(allowed=frozenset(texts)),) if texts else (),
    )
    found.arrays = tuple(_constant_items(reader, value, place) for value in values if isinstance(value, list))
    found.objects = tuple(
        _constant_members(reader, value, place) for value in values if isinstance(value, dict)
    )
    return found


def read_constant(reader: Reader, value: Any, place: Place) -> Cases:
    """One constant; `place` is where it is written."""
    return _constants(reader, place, "const" if "const" in place.schema else "enum", [value])


def _constant_items(reader: Reader, value: list[Any], place: Place) -> Items:
    prefix = tuple(reader.forms.value(item, place) for item in value)
    return Items(prefix, FALSE, len(value), len(value))


def _constant_members(reader: Reader, value: dict[str, Any], place: Place) -> Members:
    if not are_texts(value):
        raise malformed(place, "const" if "const" in place.schema else "enum", "its keys must be strings")
    named = {key: reader.forms.value(item, place) for key, item in value.items()}
    return Members(named, (), frozenset(named), place=place)
