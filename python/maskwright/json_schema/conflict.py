"""Why does no value satisfy a schema? The way down to the smallest part that has none."""

from __future__ import annotations

from maskwright.errors import SchemaError
from maskwright.json_schema.clauses import Cases
from maskwright.json_schema.forms import FALSE, Form
from maskwright.json_schema.places import Place
from maskwright.json_schema.reading import Reader
from maskwright.json_schema.refusals import no_value

__all__ = ["explain_no_value"]

_DEPTH = 40


def explain_no_value(reader: Reader, form: Form) -> SchemaError:
    """The error that names the conflict."""
    place = reader.documents.root_place()
    for _ in range(_DEPTH):
        place = _place(form) or place
        cases = reader.cases(form)
        inner = _needed(reader, cases)
        if inner is None:
            break
        key, form = inner
        if _place(form) is None:
            return no_value(place, f"{key} must be there and {_words(form)}")
    return no_value(place, _why(place))


def _needed(reader: Reader, cases: Cases) -> tuple[str, Form] | None:
    """A member or item that every value has and that has no value itself."""
    for members in cases.objects:
        for key in sorted(members.required):
            if reader.algebra.is_empty(members.named[key]):
                return f"the member {key!r}", members.named[key]
    for items in cases.arrays:
        for place in range(min(items.minimum, len(items.prefix) + 1)):
            if reader.algebra.is_empty(items.at(place)):
                return f"item {place}", items.at(place)
    return None


def _place(form: Form) -> Place | None:
    return form.payload if form.kind == "schema" else None


def _words(form: Form) -> str:
    if form is FALSE:
        return "may not be there"
    places = sorted({part.payload.pointer for part in form.parts if part.kind == "schema"})
    return (
        "no value satisfies " + " and ".join(f"#{pointer}" for pointer in places)
        if places
        else "has no value"
    )


def _why(place: Place) -> str:
    schema = place.schema
    if not isinstance(schema, dict):
        return "the schema false has no value"
    if schema.get("enum") == []:
        return '"enum" is empty'
    words = [
        word
        for word in schema
        if word not in ("title", "description", "$defs", "definitions", "$schema", "$id")
    ]
    return "these exclude each other: " + ", ".join(f'"{word}"' for word in words[:8])
