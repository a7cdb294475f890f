"""In which order do members come? Names by first appearance in the schemas that apply to the same value.

A walk in document order through the in-place applicators (`allOf`, `anyOf`, `oneOf`, `if`, `then`, `else`,
`not`, dependencies, references); names that are only required come after those that are declared.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

from maskwright.json_schema.forms import Form
from maskwright.json_schema.places import Place
from maskwright.json_schema.schema_text import are_texts

if TYPE_CHECKING:
    from maskwright.json_schema.reading import Reader

__all__ = ["Names", "names_in_order"]

_LISTS = frozenset(("allOf", "anyOf", "oneOf"))
_SINGLES = frozenset(("if", "then", "else", "not"))
_MAPS = frozenset(("dependentSchemas", "dependencies"))


class Names(tuple[str, ...]):
    """Names of members in order. A union of 2,000 objects asks each of them for its part of 60,000 names, and
    looks each up by all of them: what takes time is found out once."""

    @cached_property
    def ranks(self) -> dict[str, int]:
        """The place of each name."""
        return {name: rank for rank, name in enumerate(self)}

    @cached_property
    def _hash(self) -> int:
        return super().__hash__()

    def __hash__(self) -> int:
        return self._hash


def names_in_order(reader: Reader, form: Form) -> Names:
    """The names that the schemas of a form declare, then those that they only require."""
    declared: dict[str, None] = {}
    required: dict[str, None] = {}
    seen: set[tuple[int, Any]] = set()
    waiting: list[Any] = [form]
    while waiting:
        item = waiting.pop()
        if isinstance(item, dict):
            # Of a branch that nobody needs to read nothing was looked at.
            if are_texts(item):
                declared.update(dict.fromkeys(item))
        elif isinstance(item, Form):
            waiting.extend(reversed(_inside(item)))
        else:
            key = (id(item.schema), item.scope)
            if isinstance(item.schema, dict) and key not in seen:
                seen.add(key)
                found = reader.orders.get(key)
                if found is None:
                    found = reader.orders[key] = _applied(reader, item)
                required.update(dict.fromkeys(found[1]))
                waiting.extend(reversed(found[0]))
    return Names({**declared, **required})


def _inside(form: Form) -> list[Any]:
    if form.kind == "schema":
        return [form.payload]
    if form.kind == "value":
        value = form.payload[0]
        return [value] if isinstance(value, dict) else []
    return list(form.parts)


def _applied(reader: Reader, place: Place) -> tuple[list[Any], list[str]]:
    """What applies to the same value as a schema, in the order in which it is written; the names that it
    requires."""
    schema, child, documents = place.schema, reader.documents.child, reader.documents
    known = place.keywords
    hidden = place.draft.ref_hides and "$ref" in schema
    found: list[Any] = []
    required: list[str] = []
    for keyword, value in schema.items():
        if keyword not in known or (hidden and keyword != "$ref"):
            continue
        if keyword == "properties" and isinstance(value, dict):
            found.append(value)
        elif keyword == "required" and isinstance(value, list):
            required.extend(name for name in value if isinstance(name, str))
        elif keyword == "const" and isinstance(value, dict):
            found.append(value)
        elif keyword == "enum" and isinstance(value, list):
            found.extend(one for one in value if isinstance(one, dict))
        elif keyword == "$ref":
            found.append(reader.target(place, schema))
        elif keyword == "$dynamicRef":
            found.append(documents.follow_dynamic(place))
        elif keyword == "$recursiveRef":
            found.append(documents.follow_recursive(place))
        elif keyword in _LISTS and isinstance(value, list):
            found.extend(child(place, inner, keyword, i) for i, inner in enumerate(value))
        elif keyword in _SINGLES:
            found.append(child(place, value, keyword))
        elif keyword in _MAPS and isinstance(value, dict):
            found.extend(
                child(place, inner, keyword, name) for name, inner in value.items() if isinstance(inner, dict)
            )
    return found, required
