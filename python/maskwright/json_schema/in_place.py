"""Which schemas apply to the same value? A form for each keyword that has some: `allOf`, `if`, `$ref`, ..."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from maskwright.json_schema.apart import are_apart
from maskwright.json_schema.clauses import BOTH, FULL, Cases, Members
from maskwright.json_schema.forms import FALSE, TRUE, Form
from maskwright.json_schema.refusals import malformed
from maskwright.json_schema.schema_text import are_texts

if TYPE_CHECKING:
    from maskwright.json_schema.places import Place
    from maskwright.json_schema.reading import Reader

__all__ = ["in_place", "others_or"]


def in_place(reader: Reader, place: Place, schema: dict[str, Any]) -> list[Form]:
    """The forms that a schema asks for beside its own keywords, all of which must hold."""
    found: list[Form] = []
    for keyword in schema:
        read = _IN_PLACE.get(keyword)
        if read is not None:
            found.append(read(reader, place, schema))
    return found


def _all_of(reader: Reader, place: Place, schema: dict[str, Any]) -> Form:
    return reader.forms.all(reader.listed(place, schema, "allOf"))


def _any_of(reader: Reader, place: Place, schema: dict[str, Any]) -> Form:
    return reader.forms.any(reader.listed(place, schema, "anyOf"))


def _one_of(reader: Reader, place: Place, schema: dict[str, Any]) -> Form:
    branches = reader.listed(place, schema, "oneOf")
    return reader.forms.any(branches) if are_apart(reader, branches) else reader.forms.one(branches)


def _not(reader: Reader, place: Place, schema: dict[str, Any]) -> Form:
    return reader.forms.no(reader.child(place, schema["not"], "not"))


def _if(reader: Reader, place: Place, schema: dict[str, Any]) -> Form:
    """`if` and `then`, or not `if` and `else`."""
    condition = reader.child(place, schema["if"], "if")
    forms = reader.forms
    yes = reader.child(place, schema.get("then", True), "then")
    otherwise = reader.child(place, schema.get("else", True), "else")
    if yes is TRUE and otherwise is TRUE:
        return TRUE
    return forms.any((forms.all((condition, yes)), forms.all((forms.no(condition), otherwise))))


def _ref(reader: Reader, place: Place, schema: dict[str, Any]) -> Form:
    return reader.target(place, schema)


def _dynamic_ref(reader: Reader, place: Place, schema: dict[str, Any]) -> Form:
    return reader.forms.schema(reader.documents.follow_dynamic(place))


def _recursive_ref(reader: Reader, place: Place, schema: dict[str, Any]) -> Form:
    return reader.forms.schema(reader.documents.follow_recursive(place))


def _dependencies(reader: Reader, place: Place, schema: dict[str, Any], keyword: str) -> dict[str, Form]:
    """For each key what a value with that key must satisfy; a list of names asks for those keys."""
    rules = schema[keyword]
    if not isinstance(rules, dict) or not are_texts(rules):
        raise malformed(place, keyword, "it must be an object, its keys strings")
    found = {}
    for key, rule in rules.items():
        if isinstance(rule, (dict, bool)) and keyword != "dependentRequired":
            found[key] = reader.child(place, rule, keyword, key)
        elif keyword == "dependencies" and isinstance(rule, str):
            found[key] = _having(reader, [rule], place)
        else:
            found[key] = _having(reader, reader.names(place, rule, keyword), place)
    return found


def _having(reader: Reader, keys: Iterable[str], place: Place) -> Form:
    """Objects that have all the keys, and everything that is no object."""
    named = dict.fromkeys(keys, TRUE)
    if not named:
        return TRUE
    return others_or(reader, Members(named, required=frozenset(named), place=place))


def _lacking(reader: Reader, key: str, place: Place) -> Form:
    """Objects without the key, and everything that is no object."""
    return others_or(reader, Members({key: FALSE}, place=place))


def others_or(reader: Reader, *members: Members) -> Form:
    """Some objects, and everything that is no object."""
    return reader.forms.cases(Cases(True, BOTH, FULL.numbers, FULL.strings, FULL.arrays, tuple(members)))


def _dependent(reader: Reader, place: Place, schema: dict[str, Any], keyword: str) -> Form:
    rules = _dependencies(reader, place, schema, keyword)
    return reader.forms.all(
        reader.forms.any((_lacking(reader, key, place), form)) if form is not TRUE else TRUE
        for key, form in rules.items()
    )


_IN_PLACE: dict[str, Callable[[Reader, Place, dict[str, Any]], Form]] = {
    "allOf": _all_of,
    "anyOf": _any_of,
    "oneOf": _one_of,
    "not": _not,
    "if": _if,
    "$ref": _ref,
    "$dynamicRef": _dynamic_ref,
    "$recursiveRef": _recursive_ref,
    "dependencies": lambda reader, place, schema: _dependent(reader, place, schema, "dependencies"),
    "dependentRequired": lambda reader, place, schema: _dependent(reader, place, schema, "dependentRequired"),
    "dependentSchemas": lambda reader, place, schema: _dependent(reader, place, schema, "dependentSchemas"),
}
