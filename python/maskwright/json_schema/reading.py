"""What does one schema say? Its keywords become the clauses of each type, its subschemas forms.

Common keywords are read in one pass (`_own`); what applies in place (`allOf`, `oneOf`, `$ref`, ...) is
joined to that by the algebra. Subschemas of members and items stay forms, so a schema is read no deeper
than it is asked for.
"""

from __future__ import annotations

import weakref
from fractions import Fraction
from typing import Any

from maskwright.errors import LimitError, PatternError, SchemaError, shown_place
from maskwright.json_schema import formats
from maskwright.json_schema.algebra import Algebra
from maskwright.json_schema.clauses import (
    ANY_ITEMS,
    ANY_MEMBERS,
    ANY_NUMBER,
    ANY_STRING,
    BOTH,
    FULL,
    NONE,
    Cases,
    Items,
    Members,
    Numbers,
    StringSet,
)
from maskwright.json_schema.constant_clauses import read_constant, read_values
from maskwright.json_schema.container_clauses import read_items, read_members
from maskwright.json_schema.evaluated import unevaluated
from maskwright.json_schema.forms import FALSE, TRUE, Form, Forms
from maskwright.json_schema.in_place import in_place
from maskwright.json_schema.keywords import Draft, Part
from maskwright.json_schema.numbers import INTEGERS, NumberSet
from maskwright.json_schema.places import Documents, Place
from maskwright.json_schema.refusals import malformed, no_keyword, unsupported
from maskwright.json_schema.schema_text import are_texts, exact

__all__ = ["MAX_IN_PLACE", "Reader"]

MAX_IN_PLACE = 60
"""How deep schemas that apply to the same value may be nested: some 6 Python frames each."""

MAX_PATTERN_TEXT = 500_000
"""Characters of the patterns of one schema: 2 µs each."""

TYPES = ("null", "boolean", "number", "integer", "string", "array", "object")
_SINGLE = {name: frozenset((name,)) for name in TYPES}
_INTEGER = Numbers(INTEGERS)
_NO_PROPERTIES: dict[str, Any] = {}


class Reader:
    """Reads schemas. One for each compile: it remembers what each form turned out to be."""

    def __init__(
        self, documents: Documents, *, assert_formats: bool, ignored: frozenset[tuple[int, str]]
    ) -> None:
        self.documents = documents
        self.forms = Forms()
        self.place: Place | None = None
        """Where it is, for messages."""
        self._algebra: Algebra | None = None
        self._assert_formats = assert_formats
        self._ignored = ignored
        self._cases: dict[Form, Cases] = {}
        self._targets: dict[Any, Form] = {}
        self.orders: dict[tuple[int, Any], tuple[list[Any], list[str]]] = {}
        """What `names_in_order` has seen of each schema."""
        self._within: dict[Form, None] = {}
        self.pattern_places: dict[str, tuple[Place, str]] = {}
        self._pattern_text = 0

    @property
    def algebra(self) -> Algebra:
        """What joins clauses. Made when it is asked for: most schemas need none."""
        if self._algebra is None:
            # No circle of references: each compile's forms would stay until the garbage collector comes.
            self._algebra = Algebra(self.forms, weakref.proxy(self))
        return self._algebra

    def child(self, place: Place, schema: Any, *steps: Any) -> Form:
        """The form of a schema inside another one."""
        if type(schema) is dict and not ("$id" in schema or "id" in schema or "$schema" in schema):
            return self.forms.child(place, schema, steps)
        if schema is True:
            return TRUE
        if schema is False:
            return FALSE
        if not isinstance(schema, dict):
            raise malformed(place, "/".join(map(str, steps)), "a schema is an object or a boolean")
        return self.forms.schema(self.documents.child(place, schema, *steps))

    def target(self, place: Place, schema: dict[str, Any], *steps: Any) -> Form:
        """The form of where the `$ref` of a schema leads, one at `place` or some steps from it."""
        key = (schema["$ref"], place.resource, place.scope) if type(schema["$ref"]) is str else None
        found = self._targets.get(key)
        if found is None:
            holder = self.documents.child(place, schema, *steps) if steps else place
            found = self._targets[key] = self.forms.schema(self.documents.follow(holder, "$ref"))
        return found

    # Forms

    def cases(self, form: Form) -> Cases:
        """The clauses of a form."""
        found = self._cases.get(form)
        if found is None:
            self._enter(form)
            try:
                found = self._cases[form] = self._read(form)
            finally:
                del self._within[form]
        return found

    def _enter(self, form: Form) -> None:
        place = form.payload if form.kind == "schema" else self.place
        if form in self._within:
            raise SchemaError(
                "the schema refers to itself without consuming anything",
                pointer=place.pointer if place else "",
                keyword="$ref",
                why="to check a value against it, the same value must first be checked against it",
                code="schema.cycle",
            )
        if len(self._within) >= MAX_IN_PLACE:
            raise LimitError(
                "schemas that apply to the same value are nested too deeply",
                limit="in_place_depth",
                value=MAX_IN_PLACE,
                where=shown_place(place.pointer) if place else None,
            )
        self._within[form] = None
        if place:
            self.place = place

    def _read(self, form: Form) -> Cases:  # noqa: PLR0911 - dispatch
        kind = form.kind
        if kind == "schema":
            return self._schema(form.payload)
        if kind == "and":
            return self._restrict_by_all(FULL, form)
        if kind == "or":
            return self.algebra.any_of([self.cases(part) for part in form.parts])
        if kind == "not":
            return self.algebra.without(FULL, self.cases(form.parts[0]))
        if kind == "one":
            return self.algebra.exactly_one([self.cases(part) for part in form.parts])
        if kind == "value":
            return read_constant(self, *form.payload)
        if kind == "cases":
            cases: Cases = form.payload
            return cases
        return FULL if form is TRUE else NONE

    def restrict(self, found: Cases, form: Form) -> Cases:  # noqa: PLR0911 - dispatch
        """The values of some clauses that satisfy a form too.

        "Not" takes away from what there is: the complement of a clause costs nothing for types that are out
        already.
        """
        kind = form.kind
        if found.is_empty or form is TRUE:
            return found
        if kind == "and":
            return self._restrict_by_all(found, form)
        if kind == "not":
            return self.algebra.without(found, self.cases(form.parts[0]))
        if found is FULL:
            return self.cases(form)
        if kind == "or":
            return self.algebra.any_of([self.restrict(found, part) for part in form.parts])
        if kind == "one":
            return self.algebra.exactly_one([self.restrict(found, part) for part in form.parts])
        return self.algebra.both(found, self.cases(form))

    def _restrict_by_all(self, found: Cases, form: Form) -> Cases:
        """By each part in turn, those that take away last."""
        for part in sorted(form.parts, key=lambda part: part.kind == "not"):
            found = self.restrict(found, part)
        return found

    # Schemas

    def flags(self, place: Place) -> int:
        """What the keywords of a schema speak about, bits of `Part`."""
        flags = place.flags
        if flags is None:
            schema = place.schema
            keys = tuple(schema if not self._ignored else self.kept(place))
            flags = place.resource.parts[keys] & ~Part.NAMES
            if flags & Part.NO_NAME:
                raise no_keyword(place, next(key for key in schema if not isinstance(key, str)))
            if flags & Part.REF and place.draft.ref_hides:
                flags = Part.REF
            place.flags = flags
        return flags

    def _schema(self, place: Place) -> Cases:
        flags = self.flags(place)
        schema = self.kept(place)
        if flags & Part.REF and place.draft.ref_hides:
            return self.cases(self.forms.schema(self.documents.follow(place, "$ref")))
        found = self._own(place, schema, flags)
        if flags & (Part.REF | Part.ANY_OF | Part.ONE_OF | Part.IN_PLACE):
            for form in in_place(self, place, schema):
                if found.is_empty:
                    return found
                found = self.restrict(found, form)
                self.place = place
        if flags & Part.UNEVALUATED:
            found = self.restrict(found, unevaluated(self, place, schema))
        return found

    def own(self, place: Place) -> Cases:
        """What a schema says without the schemas that it applies in place."""
        return self._own(place, self.kept(place), self.flags(place))

    def kept(self, place: Place) -> dict[str, Any]:
        """The keywords of a schema that this draft knows and nobody dropped."""
        schema: dict[str, Any] = place.schema
        known = place.keywords
        ignored = self._ignored
        if not ignored and schema.keys() <= known.keys():
            return schema
        return {
            key: value for key, value in schema.items() if key in known and (id(schema), key) not in ignored
        }

    def reads_all(self, place: Place) -> bool:
        """Whether no keyword of the draft is dropped or switched off here."""
        return not self._ignored and not place.resource.is_restricted

    def _own(self, place: Place, schema: dict[str, Any], flags: int) -> Cases:
        """What the keywords say that speak about the value itself, not about schemas for it."""
        types = self._types(place, schema) if flags & Part.TYPE else None
        if types is None and not flags & (Part.STRING | Part.NUMBER | Part.ARRAY | Part.OBJECT | Part.VALUES):
            return FULL
        found = Cases()
        if types is None or "string" in types:
            found.strings = (self._strings(place, schema) if flags & Part.STRING else ANY_STRING,)
        if types is None or "number" in types or "integer" in types:
            numbers = ANY_NUMBER if types is None or "number" in types else _INTEGER
            found.numbers = (self._numbers(place, schema, numbers) if flags & Part.NUMBER else numbers,)
        if types is None or "array" in types:
            found.arrays = (read_items(self, place, schema) if flags & Part.ARRAY else ANY_ITEMS,)
        if types is None or "object" in types:
            found.objects = read_members(self, place, schema) if flags & Part.OBJECT else (ANY_MEMBERS,)
        found.null = types is None or "null" in types
        found.booleans = BOTH if types is None or "boolean" in types else frozenset()
        self._drop_empty(found)
        if flags & Part.VALUES:
            found = self.algebra.both(read_values(self, place, schema), found)
        return found

    def _drop_empty(self, cases: Cases) -> None:
        """Take out what is empty on its face; what is empty for a deeper reason the engine finds."""
        for strings in cases.strings:
            if strings.max_length is not None and strings.min_length > strings.max_length:
                cases.strings = ()
        for numbers in cases.numbers:
            if numbers is not ANY_NUMBER and numbers is not _INTEGER and numbers.set.is_empty():
                cases.numbers = ()
        for items in cases.arrays:
            if items.maximum is not None and items.minimum > items.maximum:
                cases.arrays = ()
        for members in cases.objects:
            if _is_no_object(members):
                cases.objects = ()

    def _types(self, place: Place, schema: dict[str, Any]) -> frozenset[str]:
        names = schema["type"]
        if isinstance(names, str) and names in _SINGLE:
            return _SINGLE[names]
        listed = [names] if isinstance(names, str) else names
        known = isinstance(listed, list) and all(isinstance(name, str) and name in TYPES for name in listed)
        if not known:
            wrong = (
                [name for name in listed if not isinstance(name, str) or name not in TYPES]
                if isinstance(listed, list)
                else [names]
            )
            why = f"it must be one of {', '.join(TYPES)}, or a list of them"
            raise malformed(place, "type", why, wrong[0])
        return frozenset(listed)

    # One type only

    def members(self, place: Place) -> Members | None:
        """What the keywords of a schema say about objects; None for what needs another look."""
        found = read_members(self, place, self.kept(place))
        members = found[0] if found else None
        return None if members is None or _is_no_object(members) else members

    def items(self, place: Place) -> Items | None:
        """What they say about arrays; None for what needs another look."""
        items = read_items(self, place, self.kept(place))
        return None if items.maximum is not None and items.minimum > items.maximum else items

    def strings(self, place: Place) -> StringSet:
        """What the keywords of a schema say about strings."""
        return self._strings(place, self.kept(place))

    def numbers(self, place: Place, *, integer: bool) -> NumberSet:
        """What they say about numbers, or about integers."""
        return self._numbers(place, self.kept(place), _INTEGER if integer else ANY_NUMBER).set

    def _strings(self, place: Place, schema: dict[str, Any]) -> StringSet:
        low = self.count(place, schema, "minLength") or 0
        high = self.count(place, schema, "maxLength")
        pattern = schema.get("pattern")
        patterns: tuple[str, ...] = ()
        if pattern is not None:
            patterns = (self.pattern(place, "pattern", pattern),)
        name = schema.get("format")
        names: tuple[str, ...] = ()
        if name is not None:
            if not isinstance(name, str):
                raise malformed(place, "format", "it must be a string")
            if self._assert_formats and formats.known(name):
                names = (name,)
        return (
            StringSet(patterns, (), low, high, names)
            if patterns or names or low or high is not None
            else ANY_STRING
        )

    def pattern(self, place: Place, keyword: str, pattern: Any) -> str:
        """A pattern, remembered with its place for messages."""
        if not isinstance(pattern, str):
            raise malformed(place, keyword, "a pattern is a string")
        if pattern not in self.pattern_places:
            self.pattern_places[pattern] = (place, keyword)
            self._pattern_text += len(pattern)
            if self._pattern_text > MAX_PATTERN_TEXT:
                raise LimitError(
                    "the patterns are too long",
                    limit="pattern_text",
                    value=MAX_PATTERN_TEXT,
                    where=shown_place(place.pointer_to(keyword)),
                )
        return pattern

    def _numbers(self, place: Place, schema: dict[str, Any], base: Numbers) -> Numbers:
        low, low_out = self._bound(place, schema, "minimum", "exclusiveMinimum", 1)
        high, high_out = self._bound(place, schema, "maximum", "exclusiveMaximum", -1)
        step = schema.get("multipleOf")
        steps: tuple[Fraction, ...] = ()
        if step is not None:
            number = self._number(place, schema, "multipleOf")
            if number <= 0:
                raise malformed(place, "multipleOf", "it must be greater than 0")
            steps = (number,)
        return Numbers(NumberSet(base.set.integer, low, high, low_out, high_out, steps))

    def _bound(
        self, place: Place, schema: dict[str, Any], keyword: str, exclusive: str, sign: int
    ) -> tuple[Fraction | None, bool]:
        """The tighter of an inclusive and an exclusive bound; in draft 4 the latter is a boolean."""
        bound = self._number(place, schema, keyword) if keyword in schema else None
        other = schema.get(exclusive)
        if other is None or other is False:
            return bound, False
        if other is True:
            if place.draft not in (Draft.D4, Draft.LATEST):
                raise malformed(place, exclusive, "it must be a number since draft 6")
            return bound, bound is not None
        strict = self._number(place, schema, exclusive)
        if bound is None or (strict - bound) * sign >= 0:
            return strict, True
        return bound, False

    def _number(self, place: Place, schema: dict[str, Any], keyword: str) -> Fraction:
        number = exact(schema[keyword])
        if number is None:
            raise malformed(
                place, keyword, "it must be a finite number of at most 1,000 digits", schema[keyword]
            )
        return Fraction(number)

    def count(self, place: Place, schema: dict[str, Any], keyword: str) -> int | None:
        """A bound of a length or a number of parts, looked at; None if the schema has none."""
        if keyword not in schema:
            return None
        number = exact(schema[keyword])
        if not isinstance(number, int) or number < 0:
            raise malformed(place, keyword, "it must be a whole number, 0 or more", schema[keyword])
        return min(number, 0xFFFF_FFF0)

    # What others look at as well

    def properties(self, place: Place, schema: dict[str, Any]) -> dict[str, Any]:
        """The schemas of named members, unread."""
        properties: dict[str, Any] = schema.get("properties", _NO_PROPERTIES)
        if not isinstance(properties, dict) or not are_texts(properties):
            raise malformed(place, "properties", "it must be an object of schemas, its keys strings")
        return properties

    def names(self, place: Place, names: Any, keyword: str) -> list[str]:
        """A list of names, looked at."""
        if names is True or names is False:
            raise malformed(place, keyword, "it must be a list of names since draft 4")
        if not isinstance(names, list):
            raise malformed(place, keyword, "it must be a list of names", names)
        if not are_texts(names):
            raise malformed(place, keyword, "it must be a list of names, and those are strings")
        return names

    def listed(self, place: Place, schema: dict[str, Any], keyword: str) -> list[Form]:
        """The forms of a keyword that has a list of schemas."""
        schemas = schema[keyword]
        if not isinstance(schemas, list) or not schemas:
            raise malformed(place, keyword, "it must be a list of at least one schema")
        return [self.child(place, inner, keyword, i) for i, inner in enumerate(schemas)]

    # Errors

    def at_pattern(self, error: PatternError) -> SchemaError:
        """An error of a pattern, at the place of the keyword that has it."""
        place, keyword = self.pattern_places.get(
            error.pattern, (self.place or self.documents.root_place(), "pattern")
        )
        said = ": ".join(filter(None, (error.what, error.why)))
        refused = unsupported(place, keyword, f"{said}\n{error.where}", error.try_)
        if not error.code.startswith("pattern.unsupported"):
            refused.code = error.code
        return refused


def _is_no_object(members: Members) -> bool:
    """Is there no object on the face of it?"""
    low = max(members.minimum, len(members.required))
    if members.maximum is not None and low > members.maximum:
        return True
    named = members.named
    return FALSE in named.values() and any(named[key] is FALSE for key in members.required)
