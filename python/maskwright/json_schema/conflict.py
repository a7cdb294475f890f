"""Why does no value satisfy a schema? The way down to the smallest part that has none, and what excludes
what in it."""

from __future__ import annotations

from typing import Any

from maskwright.errors import SchemaError, shown_place
from maskwright.json_schema.clauses import Cases, Members, form_at
from maskwright.json_schema.forms import FALSE, Form
from maskwright.json_schema.in_place import in_place
from maskwright.json_schema.keywords import Part
from maskwright.json_schema.places import Place
from maskwright.json_schema.reading import Reader
from maskwright.json_schema.refusals import no_value

__all__ = ["explain_no_value"]

_DEPTH = 40

_STEPS = 200
"""Schemas that are looked at for one that leads to itself."""


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
    return no_value(place, _between(reader, place) or _endless(reader, form) or _why(place))


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


def _endless(reader: Reader, form: Form) -> str | None:
    """The schema that, through members and items that every value has, leads to itself."""
    waiting: list[tuple[Form, tuple[Form, ...]]] = [(form, (form,))]
    for _ in range(_STEPS):
        if not waiting:
            return None
        outer, above = waiting.pop()
        for inner in _always(reader.cases(outer)):
            if inner in above:
                return f"a value of {_name(inner)} would have to hold another one, without end"
            waiting.append((inner, (*above, inner)))
    return None


def _always(cases: Cases) -> list[Form]:
    """The members or items that every value has, where there is one clause only."""
    if cases.null or cases.booleans or cases.numbers or cases.strings:
        return []
    if len(cases.objects) == 1 and not cases.arrays:
        members = cases.objects[0]
        return [members.named[key] for key in sorted(members.required)]
    if len(cases.arrays) == 1 and not cases.objects:
        items = cases.arrays[0]
        return [items.at(place) for place in range(min(items.minimum, len(items.prefix) + 1))]
    return []


def _between(reader: Reader, place: Place) -> str | None:
    """Which of the schemas that apply in place has nothing in common with what comes before it."""
    flags = reader.flags(place) if isinstance(place.schema, dict) else 0
    if not flags & (Part.REF | Part.ANY_OF | Part.ONE_OF | Part.IN_PLACE):
        return None
    found = reader.own(place)
    if found.is_empty:
        return None
    for form in in_place(reader, place, reader.kept(place)):
        for part in form.parts if form.kind == "and" else (form,):
            rest = reader.restrict(found, part)
            if rest.is_empty:
                if part.kind == "one" and not reader.restrict(found, reader.forms.any(part.parts)).is_empty:
                    return f"a value of {_name(part)} is always one of another of these branches too"
                shared = _shared_member(reader, found, reader.cases(part))
                return f"{_name(part)} leaves nothing of what is said beside it" + shared
            found = rest
    return None


def _shared_member(reader: Reader, one: Cases, other: Cases) -> str:
    """The member that two schemas for the same object do not agree about."""
    for mine in one.objects:
        for theirs in other.objects:
            for key in sorted(mine.required | theirs.required):
                forms = [_at(mine, key), _at(theirs, key)]
                if reader.algebra.is_empty(reader.forms.all(forms)):
                    return f": the member {key!r} must be there and {_words(reader.forms.all(forms), *forms)}"
    return ""


def _at(members: Members, key: str) -> Form:
    return members.named.get(key) or form_at(members, key)


def _place(form: Form) -> Place | None:
    return form.payload if form.kind == "schema" else None


def _name(form: Form) -> str:
    place = _place(form)
    if place is not None:
        return shown_place(place.pointer)
    if form.kind == "not":
        return f"not {_name(form.parts[0])}"
    return " or ".join(map(_name, form.parts[:4])) or "a condition"


def _words(form: Form, *parts: Form) -> str:
    if form is FALSE and FALSE in (parts or (FALSE,)):
        return "may not be there"
    places = sorted({part.payload.pointer for part in parts or form.parts if part.kind == "schema"})
    return (
        f"no value satisfies {' and '.join(shown_place(pointer) for pointer in places)}"
        if places
        else "has no value"
    )


def _why(place: Place) -> str:
    schema = place.schema
    if not isinstance(schema, dict):
        return "the schema false has no value"
    if schema.get("enum") == []:
        return '"enum" is empty'
    passed = ("title", "description", "$defs", "definitions", "$schema", "$id")
    lacking = _not_allowed(schema)
    if lacking is not None:
        return f'"required" has {lacking!r}, which "additionalProperties": false lets no object have'
    words = [f'"{word}"' for word in schema if word not in passed]
    if len(words) == 1:
        return f"{words[0]} leaves no value"
    return "these exclude each other: " + ", ".join(words[:8])


def _not_allowed(schema: dict[str, Any]) -> str | None:
    """A required member that no keyword of the schema allows."""
    named, required = schema.get("properties", {}), schema.get("required", [])
    if schema.get("additionalProperties") is not False or "patternProperties" in schema:
        return None
    if not isinstance(named, dict) or not isinstance(required, list):
        return None
    return next((key for key in required if key not in named), None)
