r"""Which pattern describes the documents of a schema? The regular subset of JSON Schema, written compactly.

Compact means as `json.dumps(value, separators=(",", ":"))` writes it, without white space. In the subset
are `type` (one name), `enum`, `const`, `items` with `minItems` and `maxItems`, `properties` with `required`
and `additionalProperties: false`, and `anyOf`; annotations such as `description` constrain nothing and are
let through. Objects are closed: their members are the declared ones, each at most once and in the declared
order. Anything else is refused, with its JSON Pointer.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from maskwright.errors import LimitError, SchemaError
from maskwright.reference.json_values import check_value, depth_error, escape_pointer, literal, spellings
from maskwright.reference.limits import ReferenceLimits

# RFC 3629: the well-formed sequences of two to four bytes, without overlong forms and surrogates.
_UTF8 = (
    r"[\xC2-\xDF][\x80-\xBF]"
    r"|\xE0[\xA0-\xBF][\x80-\xBF]"
    r"|[\xE1-\xEC\xEE\xEF][\x80-\xBF]{2}"
    r"|\xED[\x80-\x9F][\x80-\xBF]"
    r"|\xF0[\x90-\xBF][\x80-\xBF]{2}"
    r"|[\xF1-\xF3][\x80-\xBF]{3}"
    r"|\xF4[\x80-\x8F][\x80-\xBF]{2}"
)
STRING = rf'"(?:[ !#-\[\]-~]|{_UTF8}|\\(?:["\\/bfnrt]|u[0-9A-Fa-f]{{4}}))*"'
INTEGER = r"-?(?:0|[1-9][0-9]*)"
NUMBER = INTEGER + r"(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?"
_SCALARS = {
    "string": STRING,
    "integer": INTEGER,
    "number": NUMBER,
    "boolean": "(?:true|false)",
    "null": "null",
}

_JSON_TYPE_NAMES: dict[type, str] = {str: "string", list: "array", dict: "object"}
_ANNOTATIONS = frozenset(
    (
        "$comment",
        "$schema",
        "default",
        "deprecated",
        "description",
        "examples",
        "readOnly",
        "title",
        "writeOnly",
    )
)
_OF_TYPE = {
    "array": frozenset(("items", "minItems", "maxItems")),
    "object": frozenset(("properties", "required", "additionalProperties")),
}
_KNOWN = frozenset(("type", "enum", "const", "anyOf")).union(*_OF_TYPE.values())


def json_schema_to_regex(schema: dict[str, Any], *, limits: ReferenceLimits | None = None) -> str:
    r"""The pattern, for `regex_to_dfa`, of the compact JSON documents that satisfy `schema`.

    Raises `SchemaError` with the JSON Pointer of anything outside the subset, and for a schema that no
    value satisfies; `LimitError` if the schema is nested too deeply or its pattern gets too long.

    >>> json_schema_to_regex({"type": "object", "properties": {"n": {"type": "null"}}, "required": ["n"]})
    '\\{"n":null\\}'
    """
    return _Translator(limits or ReferenceLimits()).pattern(schema, "", 0)


def _group(pattern: str) -> str:
    return f"(?:{pattern})"


@dataclass(frozen=True, slots=True)
class _Member:
    """One declared property: the pattern of `"key":value`, and whether it must be there."""

    pattern: str
    required: bool


class _Translator:
    """One pass over a schema. A method takes the schema, its JSON Pointer and its depth, and gives a pattern.

    Every pattern that a method returns can be followed by anything: alternatives are in a group.
    """

    def __init__(self, limits: ReferenceLimits) -> None:
        self._limits = limits

    def pattern(self, schema: object, pointer: str, depth: int) -> str:
        if depth > self._limits.max_schema_depth:
            raise depth_error(pointer, self._limits)
        if not isinstance(schema, dict):
            raise _malformed("a schema of this subset is an object", pointer)
        _check_keywords(schema, pointer)
        kind = self._kind(schema, pointer)
        return self._bounded(kind(schema, pointer, depth), pointer)

    def _kind(self, schema: dict[str, Any], pointer: str) -> Callable[[dict[str, Any], str, int], str]:
        """Which of the four kinds of schema this is; every other keyword in it must belong to that kind."""
        constraining = {key for key in schema if key not in _ANNOTATIONS}
        for keyword, allowed, kind in (
            ("anyOf", {"anyOf"}, self._any_of),
            ("const", {"const", "type"}, self._values),
            ("enum", {"enum", "type"}, self._values),
            ("type", {"type", *_OF_TYPE.get(_type_of(schema, pointer), ())}, self._typed),
        ):
            if keyword in schema:
                for other in sorted(constraining - allowed):
                    raise _unsupported(other, pointer, f'it is not combined with "{keyword}" in this subset')
                return kind
        raise _malformed('a schema of this subset has "type", "enum", "const" or "anyOf"', pointer)

    def _any_of(self, schema: dict[str, Any], pointer: str, depth: int) -> str:
        branches = schema["anyOf"]
        if not isinstance(branches, list) or not branches:
            raise _malformed("anyOf takes a list of at least one schema", f"{pointer}/anyOf", "anyOf")
        patterns = [self.pattern(s, f"{pointer}/anyOf/{i}", depth + 1) for i, s in enumerate(branches)]
        return _group("|".join(patterns))

    def _values(self, schema: dict[str, Any], pointer: str, depth: int) -> str:
        """`enum` and `const`: the spellings of the values, of those of the type if one is given."""
        keyword = "const" if "const" in schema else "enum"
        where = f"{pointer}/{keyword}"
        values = [schema["const"]] if keyword == "const" else schema["enum"]
        if not isinstance(values, list):
            raise _malformed("enum takes a list of values", where, keyword)
        check_value(schema[keyword], where, self._limits)
        wanted = _type_of(schema, pointer)
        texts = [
            text for value in values if not wanted or _has_type(value, wanted) for text in spellings(value)
        ]
        if not texts:
            raise _unsatisfiable(f"no value of {keyword} is left", where, keyword)
        return _group("|".join(literal(text) for text in texts))

    def _typed(self, schema: dict[str, Any], pointer: str, depth: int) -> str:
        name = _type_of(schema, pointer)
        if name == "array":
            return self._array(schema, pointer, depth)
        if name == "object":
            return self._object(schema, pointer, depth)
        return _SCALARS[name]

    def _array(self, schema: dict[str, Any], pointer: str, depth: int) -> str:
        if "items" not in schema:
            raise _malformed("an array needs items: any value at all is not a regular language", pointer)
        least = _length(schema, "minItems", pointer) or 0
        most = _length(schema, "maxItems", pointer)
        if most is not None and most < least:
            raise _unsatisfiable(
                f"maxItems {most} is below minItems {least}", f"{pointer}/maxItems", "maxItems"
            )
        item = self.pattern(schema["items"], f"{pointer}/items", depth + 1)
        if most == 0:
            return r"\[\]"
        upper = "" if most is None else most - 1
        elements = f"{item}(?:,{item}){{{max(least - 1, 0)},{upper}}}"
        return rf"\[{elements}\]" if least else rf"\[{_group(elements)}?\]"

    def _object(self, schema: dict[str, Any], pointer: str, depth: int) -> str:
        members = self._members(schema, pointer, depth)
        first_required = next((i for i, member in enumerate(members) if member.required), None)
        if first_required is None:
            body = _group(_some(members)) + "?" if members else ""
        else:
            # Before the first member that must come, each brings its comma along: no choice of a first one
            # is left.
            before = "".join(_group(f"{member.pattern},") + "?" for member in members[:first_required])
            body = before + members[first_required].pattern + _continued(members[first_required + 1 :])
        return rf"\{{{body}\}}"

    def _members(self, schema: dict[str, Any], pointer: str, depth: int) -> list[_Member]:
        if schema.get("additionalProperties", False) is not False:
            raise _unsupported(
                "additionalProperties", pointer, "objects are closed in this subset: only false"
            )
        if "properties" not in schema and "additionalProperties" not in schema:
            raise _malformed(
                "an object needs properties: any members at all are not a regular language", pointer
            )
        properties = schema.get("properties", {})
        where = f"{pointer}/properties"
        if not isinstance(properties, dict):
            raise _malformed("properties takes an object", where, "properties")
        required = _required(schema, properties, pointer)
        return [self._member(key, value, key in required, where, depth) for key, value in properties.items()]

    def _member(self, key: object, schema: object, required: bool, where: str, depth: int) -> _Member:
        if not isinstance(key, str):
            raise _malformed(f"the property name {key!r} is not a string", where, "properties")
        names = "|".join(literal(text) for text in spellings(key))
        value = self.pattern(schema, f"{where}/{escape_pointer(key)}", depth + 1)
        return _Member(f"{_group(names) if '|' in names else names}:{value}", required)

    def _bounded(self, pattern: str, pointer: str) -> str:
        """Watch the length: each level of arrays doubles it, since the first item is written apart."""
        most = self._limits.max_pattern_length
        if len(pattern) > most:
            raise LimitError(
                f"the pattern of this schema has more than {most} characters",
                limit="max_pattern_length",
                value=most,
                where=f"#{pointer}",
                try_="less nesting, or more required properties",
            )
        return pattern


def _continued(members: list[_Member]) -> str:
    """The members after one that is written: each brings the comma before it."""
    return "".join(
        f",{member.pattern}" if member.required else _group(f",{member.pattern}") + "?" for member in members
    )


def _some(members: list[_Member]) -> str:
    """At least one of these optional members, in order.

    Either some of the first half and any of the second, or some of the second alone. Halving writes each of
    n members about 1 + log2(n) / 2 times; going on from each possible first member would write them (n + 1)
    / 2 times.
    """
    if len(members) == 1:
        return members[0].pattern
    middle = len(members) // 2
    first, second = members[:middle], members[middle:]
    return _group(f"{_some(first)}{_continued(second)}|{_some(second)}")


def _check_keywords(schema: dict[Any, Any], pointer: str) -> None:
    for keyword in schema:
        if keyword not in _KNOWN and keyword not in _ANNOTATIONS:
            raise _unsupported(str(keyword), pointer, "it is outside the regular subset")


def _type_of(schema: dict[str, Any], pointer: str) -> str:
    """The name under `type`, or the empty string if there is none."""
    name = schema.get("type", "")
    if "type" in schema and not (isinstance(name, str) and (name in _SCALARS or name in _OF_TYPE)):
        raise _malformed(f"unknown type {name!r}", f"{pointer}/type", "type")
    return str(name)


def _has_type(value: object, name: str) -> bool:
    """Whether a JSON value has a JSON Schema type; true and false are no numbers, and 1.0 is an integer."""
    if isinstance(value, bool) or value is None:
        return name == ("null" if value is None else "boolean")
    if isinstance(value, int | float):
        return name == "number" or (name == "integer" and value == int(value))
    return name == _JSON_TYPE_NAMES[type(value)]


def _length(schema: dict[str, Any], keyword: str, pointer: str) -> int | None:
    value = schema.get(keyword)
    if keyword in schema and (not isinstance(value, int) or isinstance(value, bool) or value < 0):
        raise _malformed(f"{keyword} takes an integer of at least 0", f"{pointer}/{keyword}", keyword)
    return value


def _required(schema: dict[str, Any], properties: dict[str, Any], pointer: str) -> frozenset[str]:
    names = schema.get("required", [])
    where = f"{pointer}/required"
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise _malformed("required takes a list of property names", where, "required")
    for i, name in enumerate(names):
        if name not in properties:
            raise _unsatisfiable(f"{name!r} is required but not in properties", f"{where}/{i}", "required")
    return frozenset(names)


def _malformed(what: str, pointer: str, keyword: str | None = None) -> SchemaError:
    return SchemaError(what, pointer=pointer, keyword=keyword, code="schema.malformed")


def _unsatisfiable(what: str, pointer: str, keyword: str) -> SchemaError:
    return SchemaError(
        what, pointer=pointer, keyword=keyword, why="no document satisfies it", code="schema.unsatisfiable"
    )


def _unsupported(keyword: str, pointer: str, why: str) -> SchemaError:
    return SchemaError(
        f'cannot enforce "{keyword}" here',
        pointer=f"{pointer}/{escape_pointer(keyword)}",
        keyword=keyword,
        why=why,
        code="schema.unsupported",
    )
