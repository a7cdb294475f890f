"""What do the keywords for arrays and objects say? Clauses, their subschemas as forms."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from maskwright.json_schema.clauses import ANY_STRING, OPEN, Contains, Items, Members, StringSet
from maskwright.json_schema.forms import FALSE, TRUE, Form
from maskwright.json_schema.key_languages import apart, refine, subtract
from maskwright.json_schema.keywords import Draft
from maskwright.json_schema.refusals import malformed

if TYPE_CHECKING:
    from maskwright.json_schema.places import Place
    from maskwright.json_schema.reading import Reader

__all__ = ["read_items", "read_members"]


def read_items(reader: Reader, place: Place, schema: dict[str, Any]) -> Items:
    """What the keywords for arrays say."""
    prefix, rest = _positions(reader, place, schema)
    unique = schema.get("uniqueItems", False)
    if not isinstance(unique, bool):
        raise malformed(place, "uniqueItems", "it must be a boolean")
    return Items(
        prefix,
        rest,
        reader.count(place, schema, "minItems") or 0,
        reader.count(place, schema, "maxItems"),
        _contains(reader, place, schema) if "contains" in schema else (),
        place if unique else None,
    )


def _positions(reader: Reader, place: Place, schema: dict[str, Any]) -> tuple[tuple[Form, ...], Form]:
    items = schema.get("items", True)
    first = schema.get("prefixItems")
    keyword, last = "prefixItems", "items"
    if isinstance(items, list):
        if place.draft is Draft.D2020:
            raise malformed(place, "items", "an array of schemas is called prefixItems in 2020-12")
        if first is None:
            keyword, first, last = "items", items, "additionalItems"
        items = schema.get("additionalItems", True)
    if first is None:
        return (), reader.child(place, items, last)
    if not isinstance(first, list):
        raise malformed(place, keyword, "it must be a list of schemas")
    prefix = tuple(reader.child(place, item, keyword, i) for i, item in enumerate(first))
    return prefix, reader.child(place, items, last)


def _contains(reader: Reader, place: Place, schema: dict[str, Any]) -> tuple[Contains, ...]:
    form = reader.child(place, schema["contains"], "contains")
    low = reader.count(place, schema, "minContains")
    high = reader.count(place, schema, "maxContains")
    low = 1 if low is None else low
    if low == 0 and high is None:
        return ()
    return (Contains(form, 0, low, high, place, "contains"),)


def read_members(reader: Reader, place: Place, schema: dict[str, Any]) -> tuple[Members, ...]:
    """What the keywords for objects say; no clause where no object is left."""
    properties = reader.properties(place, schema)
    child = reader.child
    named = {key: child(place, inner, "properties", key) for key, inner in properties.items()}
    required = reader.names(place, schema["required"], "required") if "required" in schema else []
    members = Members(
        named,
        OPEN,
        frozenset(required),
        reader.count(place, schema, "minProperties") or 0,
        reader.count(place, schema, "maxProperties"),
        place=place,
    )
    if "additionalProperties" in schema or "patternProperties" in schema:
        _add_opens(reader, place, schema, members)
    for key in required:
        if key not in named:
            named[key] = _form_of_other(members, key)
    if "propertyNames" in schema:
        return _with_names(reader, place, schema, members)
    return (members,)


def _add_opens(reader: Reader, place: Place, schema: dict[str, Any], members: Members) -> None:
    """What keys without a name of their own must satisfy; patterns speak about named keys as well."""
    rest = reader.child(place, schema.get("additionalProperties", True), "additionalProperties")
    patterns = schema.get("patternProperties")
    if not patterns:
        members.opens = OPEN if rest is TRUE else () if rest is FALSE else ((ANY_STRING, rest),)
        return
    if not isinstance(patterns, dict):
        raise malformed(place, "patternProperties", "it must be an object of schemas")
    outside = [ANY_STRING]
    parts: list[tuple[StringSet, Form]] = []
    for pattern, inner in patterns.items():
        form = reader.child(place, inner, "patternProperties", pattern)
        region = StringSet(patterns=(reader.pattern(place, "patternProperties", pattern),))
        parts = refine(reader.algebra, parts, region, form)
        if form is not FALSE:
            for keys in outside:
                inside = keys.intersect(region)
                if keys is ANY_STRING or not reader.algebra.no_string(inside):
                    parts.append((inside, form))
        outside = subtract(reader.algebra, outside, region)
        for key, old in members.named.items():
            if region.contains(key):
                members.named[key] = reader.forms.all((old, form))
    if rest is not FALSE:
        parts.extend((keys, rest) for keys in outside)
    members.opens = tuple(parts)


def _form_of_other(members: Members, key: str) -> Form:
    for region, form in members.opens:
        if region is ANY_STRING or region.contains(key):
            return form
    return FALSE


def _with_names(
    reader: Reader, place: Place, schema: dict[str, Any], members: Members
) -> tuple[Members, ...]:
    """Only keys that satisfy `propertyNames`."""
    names = reader.cases(reader.child(place, schema["propertyNames"], "propertyNames")).strings
    allowed = apart(reader.algebra, names)
    named: dict[str, Form] = {}
    for region in names:
        for key in region.values() or ():
            named[key] = TRUE
    for key in members.named:
        if not any(region.contains(key) for region in names):
            named[key] = FALSE
        else:
            named[key] = TRUE
    limits = Members(named, tuple((region, TRUE) for region in allowed), place=place)
    met = reader.algebra.meet_members(members, limits)
    return () if met is None else (met,)
