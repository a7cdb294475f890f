"""What does one schema say? Its keywords become the clauses of each type, its subschemas forms.

Common keywords are read in one pass (`_own`); what applies in place (`allOf`, `oneOf`, `$ref`, ...) is
joined to that by the algebra. Subschemas of members and items stay forms, so a schema is read no deeper
than it is asked for.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable
from decimal import Decimal
from fractions import Fraction
from typing import Any, cast

from maskwright.errors import LimitError, PatternError, SchemaError
from maskwright.json_schema import formats
from maskwright.json_schema.algebra import Algebra
from maskwright.json_schema.apart import are_apart
from maskwright.json_schema.clauses import (
    ANY_ITEMS,
    ANY_MEMBERS,
    ANY_NUMBER,
    ANY_STRING,
    BOTH,
    FULL,
    NONE,
    OPEN,
    Cases,
    Contains,
    Items,
    Members,
    Numbers,
    StringSet,
)
from maskwright.json_schema.evaluated import unevaluated
from maskwright.json_schema.forms import FALSE, TRUE, Form, Forms
from maskwright.json_schema.keywords import Draft, Part
from maskwright.json_schema.numbers import INTEGERS, NumberSet
from maskwright.json_schema.places import Documents, Place
from maskwright.json_schema.refusals import malformed, no_keyword, no_value, unsupported
from maskwright.json_schema.schema_text import are_texts, exact, spelled

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
        # No circle of references: each compile's forms would stay until the garbage collector comes for them.
        me = weakref.ref(self)
        self.algebra = Algebra(self.forms, lambda form: cast(Reader, me()).cases(form))
        self._assert_formats = assert_formats
        self._ignored = ignored
        self._cases: dict[Form, Cases] = {}
        self._targets: dict[Any, Form] = {}
        self.orders: dict[tuple[int, Any], tuple[list[Any], list[str]]] = {}
        """What `names_in_order` has seen of each schema."""
        self._within: dict[Form, None] = {}
        self.pattern_places: dict[str, tuple[Place, str]] = {}
        self._pattern_text = 0

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
        place = form.payload if form.kind == "schema" else self.algebra.place
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
                where=f"#{place.pointer}" if place else None,
            )
        self._within[form] = None
        if place:
            self.algebra.place = place

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
            return self._constant(*form.payload)
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
            schema, known = place.schema, place.resource.keywords
            flags = 0
            for keyword in schema if not self._ignored else self.kept(place):
                flags |= known.get(keyword, Part.UNKNOWN)
            if flags & Part.UNKNOWN and not are_texts(schema):
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
            for form in self.in_place(place, schema):
                if found.is_empty:
                    return found
                found = self.restrict(found, form)
                self.algebra.place = place
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
            found.arrays = (self._items(place, schema) if flags & Part.ARRAY else ANY_ITEMS,)
        if types is None or "object" in types:
            found.objects = self._members(place, schema) if flags & Part.OBJECT else (ANY_MEMBERS,)
        found.null = types is None or "null" in types
        found.booleans = BOTH if types is None or "boolean" in types else frozenset()
        self._drop_empty(found)
        if flags & Part.VALUES:
            found = self.algebra.both(self._values(place, schema), found)
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
        found = self._members(place, self.kept(place))
        members = found[0] if found else None
        return None if members is None or _is_no_object(members) else members

    def items(self, place: Place) -> Items | None:
        """What they say about arrays; None for what needs another look."""
        items = self._items(place, self.kept(place))
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
                    where=f"#{place.pointer_to(keyword)}",
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

    # Constants

    def _values(self, place: Place, schema: dict[str, Any]) -> Cases:
        found = FULL
        if "enum" in schema:
            values = schema["enum"]
            if not isinstance(values, list):
                raise malformed(place, "enum", "it must be a list", values)
            found = self._constants(place, "enum", values)
        if "const" in schema:
            found = self.algebra.both(found, self._constants(place, "const", [schema["const"]]))
        return found

    def _constants(self, place: Place, keyword: str, values: list[Any]) -> Cases:
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
        found.arrays = tuple(
            self._constant_items(value, place) for value in values if isinstance(value, list)
        )
        found.objects = tuple(
            self._constant_members(value, place) for value in values if isinstance(value, dict)
        )
        return found

    def _constant(self, value: Any, place: Place) -> Cases:
        return self._constants(place, "const" if "const" in place.schema else "enum", [value])

    def _constant_items(self, value: list[Any], place: Place) -> Items:
        prefix = tuple(self.forms.value(item, place) for item in value)
        return Items(prefix, FALSE, len(value), len(value))

    def _constant_members(self, value: dict[str, Any], place: Place) -> Members:
        if not are_texts(value):
            raise malformed(place, "const" if "const" in place.schema else "enum", "its keys must be strings")
        named = {key: self.forms.value(item, place) for key, item in value.items()}
        return Members(named, (), frozenset(named), place=place)

    # Arrays

    def _items(self, place: Place, schema: dict[str, Any]) -> Items:
        prefix, rest = self._positions(place, schema)
        unique = schema.get("uniqueItems", False)
        if not isinstance(unique, bool):
            raise malformed(place, "uniqueItems", "it must be a boolean")
        return Items(
            prefix,
            rest,
            self.count(place, schema, "minItems") or 0,
            self.count(place, schema, "maxItems"),
            self._contains(place, schema) if "contains" in schema else (),
            place if unique else None,
        )

    def _positions(self, place: Place, schema: dict[str, Any]) -> tuple[tuple[Form, ...], Form]:
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
            return (), self.child(place, items, last)
        if not isinstance(first, list):
            raise malformed(place, keyword, "it must be a list of schemas")
        prefix = tuple(self.child(place, item, keyword, i) for i, item in enumerate(first))
        return prefix, self.child(place, items, last)

    def _contains(self, place: Place, schema: dict[str, Any]) -> tuple[Contains, ...]:
        form = self.child(place, schema["contains"], "contains")
        low = self.count(place, schema, "minContains")
        high = self.count(place, schema, "maxContains")
        low = 1 if low is None else low
        if low == 0 and high is None:
            return ()
        return (Contains(form, 0, low, high, place, "contains"),)

    # Objects

    def _members(self, place: Place, schema: dict[str, Any]) -> tuple[Members, ...]:
        properties = self.properties(place, schema)
        child = self.child
        named = {key: child(place, inner, "properties", key) for key, inner in properties.items()}
        required = self.names(place, schema["required"], "required") if "required" in schema else []
        members = Members(
            named,
            OPEN,
            frozenset(required),
            self.count(place, schema, "minProperties") or 0,
            self.count(place, schema, "maxProperties"),
            place=place,
        )
        if "additionalProperties" in schema or "patternProperties" in schema:
            self._add_opens(place, schema, members)
        for key in required:
            if key not in named:
                named[key] = self._form_of_other(members, key)
        if "propertyNames" in schema:
            return self._with_names(place, schema, members)
        return (members,)

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
        if not all(isinstance(name, str) for name in names):
            raise malformed(place, keyword, "it must be a list of names, and those are strings")
        return names

    def _add_opens(self, place: Place, schema: dict[str, Any], members: Members) -> None:
        """What keys without a name of their own must satisfy; patterns speak about named keys as well."""
        rest = self.child(place, schema.get("additionalProperties", True), "additionalProperties")
        patterns = schema.get("patternProperties")
        if not patterns:
            members.opens = OPEN if rest is TRUE else () if rest is FALSE else ((ANY_STRING, rest),)
            return
        if not isinstance(patterns, dict):
            raise malformed(place, "patternProperties", "it must be an object of schemas")
        outside = [ANY_STRING]
        parts: list[tuple[StringSet, Form]] = []
        for pattern, inner in patterns.items():
            form = self.child(place, inner, "patternProperties", pattern)
            region = StringSet(patterns=(self.pattern(place, "patternProperties", pattern),))
            parts = self.algebra.refine(parts, region, form)
            if form is not FALSE:
                for keys in outside:
                    inside = keys.intersect(region)
                    if keys is ANY_STRING or not self.algebra.no_string(inside):
                        parts.append((inside, form))
            outside = [left for keys in outside for left in self.algebra.subtract([keys], region)]
            for key, old in members.named.items():
                if region.contains(key):
                    members.named[key] = self.forms.all((old, form))
        if rest is not FALSE:
            parts.extend((keys, rest) for keys in outside)
        members.opens = tuple(parts)

    @staticmethod
    def _form_of_other(members: Members, key: str) -> Form:
        for region, form in members.opens:
            if region is ANY_STRING or region.contains(key):
                return form
        return FALSE

    def _with_names(self, place: Place, schema: dict[str, Any], members: Members) -> tuple[Members, ...]:
        """Only keys that satisfy `propertyNames`."""
        names = self.cases(self.child(place, schema["propertyNames"], "propertyNames")).strings
        allowed = self.key_languages(names)
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
        met = self.algebra.meet_members(members, limits)
        return () if met is None else (met,)

    def key_languages(self, names: Iterable[StringSet]) -> list[StringSet]:
        """The infinite ones of some sets of strings, cut up so that no two overlap."""
        apart: list[StringSet] = []
        seen: list[StringSet] = []
        for region in names:
            if region.allowed is not None:
                continue
            rest = [region]
            for other in seen:
                rest = self.algebra.subtract(rest, other)
            apart.extend(rest)
            seen.append(region)
        return apart

    # Schemas for the same value

    def in_place(self, place: Place, schema: dict[str, Any]) -> list[Form]:
        """The forms that a schema asks for beside its own keywords, all of which must hold."""
        found: list[Form] = []
        for keyword in schema:
            read = _IN_PLACE.get(keyword)
            if read is not None:
                found.append(read(self, place, schema))
        return found

    def listed(self, place: Place, schema: dict[str, Any], keyword: str) -> list[Form]:
        """The forms of a keyword that has a list of schemas."""
        schemas = schema[keyword]
        if not isinstance(schemas, list) or not schemas:
            raise malformed(place, keyword, "it must be a list of at least one schema")
        return [self.child(place, inner, keyword, i) for i, inner in enumerate(schemas)]

    def _all_of(self, place: Place, schema: dict[str, Any]) -> Form:
        return self.forms.all(self.listed(place, schema, "allOf"))

    def _any_of(self, place: Place, schema: dict[str, Any]) -> Form:
        return self.forms.any(self.listed(place, schema, "anyOf"))

    def _one_of(self, place: Place, schema: dict[str, Any]) -> Form:
        branches = self.listed(place, schema, "oneOf")
        return self.forms.any(branches) if are_apart(self, branches) else self.forms.one(branches)

    def _not(self, place: Place, schema: dict[str, Any]) -> Form:
        return self.forms.no(self.child(place, schema["not"], "not"))

    def _if(self, place: Place, schema: dict[str, Any]) -> Form:
        """`if` and `then`, or not `if` and `else`."""
        condition = self.child(place, schema["if"], "if")
        forms = self.forms
        yes = self.child(place, schema.get("then", True), "then")
        otherwise = self.child(place, schema.get("else", True), "else")
        if yes is TRUE and otherwise is TRUE:
            return TRUE
        return forms.any((forms.all((condition, yes)), forms.all((forms.no(condition), otherwise))))

    def _ref(self, place: Place, schema: dict[str, Any]) -> Form:
        return self.target(place, schema)

    def _dynamic_ref(self, place: Place, schema: dict[str, Any]) -> Form:
        return self.forms.schema(self.documents.follow_dynamic(place))

    def _recursive_ref(self, place: Place, schema: dict[str, Any]) -> Form:
        return self.forms.schema(self.documents.follow_recursive(place))

    def dependencies(self, place: Place, schema: dict[str, Any], keyword: str) -> dict[str, Form]:
        """For each key what a value with that key must satisfy; a list of names asks for those keys."""
        rules = schema[keyword]
        if not isinstance(rules, dict) or not are_texts(rules):
            raise malformed(place, keyword, "it must be an object, its keys strings")
        found = {}
        for key, rule in rules.items():
            if isinstance(rule, (dict, bool)) and keyword != "dependentRequired":
                found[key] = self.child(place, rule, keyword, key)
            elif keyword == "dependencies" and isinstance(rule, str):
                found[key] = self.having([rule], place)
            else:
                found[key] = self.having(self.names(place, rule, keyword), place)
        return found

    def having(self, keys: Iterable[str], place: Place) -> Form:
        """Objects that have all the keys, and everything that is no object."""
        named = dict.fromkeys(keys, TRUE)
        if not named:
            return TRUE
        return self.others_or(Members(named, required=frozenset(named), place=place))

    def lacking(self, key: str, place: Place) -> Form:
        """Objects without the key, and everything that is no object."""
        return self.others_or(Members({key: FALSE}, place=place))

    def others_or(self, *members: Members) -> Form:
        """Some objects, and everything that is no object."""
        return self.forms.cases(Cases(True, BOTH, FULL.numbers, FULL.strings, FULL.arrays, tuple(members)))

    def _dependent(self, place: Place, schema: dict[str, Any], keyword: str) -> Form:
        rules = self.dependencies(place, schema, keyword)
        return self.forms.all(
            self.forms.any((self.lacking(key, place), form)) if form is not TRUE else TRUE
            for key, form in rules.items()
        )

    # Errors

    def at_pattern(self, error: PatternError) -> SchemaError:
        """An error of a pattern, at the place of the keyword that has it."""
        place, keyword = self.pattern_places.get(
            error.pattern, (self.algebra.place or self.documents.root_place(), "pattern")
        )
        said = ": ".join(filter(None, (error.what, error.why)))
        refused = unsupported(place, keyword, f"{said}\n{error.where}", error.try_)
        if not error.code.startswith("pattern.unsupported"):
            refused.code = error.code
        return refused

    def nothing(self, place: Place, why: str) -> SchemaError:
        """No value: the error that says so."""
        return no_value(place, why)


def _is_no_object(members: Members) -> bool:
    """Is there no object on the face of it?"""
    low = max(members.minimum, len(members.required))
    if members.maximum is not None and low > members.maximum:
        return True
    named = members.named
    return FALSE in named.values() and any(named[key] is FALSE for key in members.required)


_IN_PLACE: dict[str, Callable[[Reader, Place, dict[str, Any]], Form]] = {
    "allOf": Reader._all_of,
    "anyOf": Reader._any_of,
    "oneOf": Reader._one_of,
    "not": Reader._not,
    "if": Reader._if,
    "$ref": Reader._ref,
    "$dynamicRef": Reader._dynamic_ref,
    "$recursiveRef": Reader._recursive_ref,
    "dependencies": lambda reader, place, schema: reader._dependent(place, schema, "dependencies"),
    "dependentRequired": lambda reader, place, schema: reader._dependent(place, schema, "dependentRequired"),
    "dependentSchemas": lambda reader, place, schema: reader._dependent(place, schema, "dependentSchemas"),
}
