"""How do forms become the IR? A rule for each container, written from a list of what is still to do.

A form is written where it is met if it is a scalar, else as a reference to a rule that comes later. So the
nesting of a schema is never the nesting of calls here. Plain unions (`anyOf`, types) need no algebra: they
are written as choices.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

from maskwright.errors import LimitError
from maskwright.ir import SPELLING_JSON, SPELLING_RAW, Builder, Grammar, Node, Open
from maskwright.json_schema import numbers as number_sets
from maskwright.json_schema.arrays import write_items
from maskwright.json_schema.clauses import ANY_NUMBER, ANY_STRING, Cases, Items, Members, Numbers, StringSet
from maskwright.json_schema.forms import TRUE, Form
from maskwright.json_schema.keywords import Part
from maskwright.json_schema.numbers import INTEGERS, NumberSet
from maskwright.json_schema.objects import in_order, write_members
from maskwright.json_schema.order import names_in_order
from maskwright.json_schema.places import Place
from maskwright.json_schema.reading import MAX_IN_PLACE, Reader
from maskwright.json_schema.refusals import unsupported
from maskwright.json_schema.spelling import Spelling, Style
from maskwright.json_schema.whitespace import Layout, Whitespace

__all__ = ["MAX_RULES", "Writer"]

MAX_RULES = 100_000
"""Containers of one schema, each a rule."""

Names = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Start:
    """A builder that has what nearly every schema needs: separators, characters, numbers."""

    builder: Builder
    spelling: Spelling
    layout: Layout
    numbers: dict[NumberSet, Node]
    text: Node
    key: Node


@lru_cache(32)
def _start(style: Style, whitespace: Whitespace) -> _Start:
    """77 nodes, made once in a process: to make them takes 300 µs, to copy them 3."""
    builder = Builder()
    spelling = Spelling(builder, style)
    layout = Layout(builder, whitespace)
    text = ANY_STRING.node(spelling)
    key = spelling.string(builder.repeat(spelling.any_char(), 0, None))
    numbers = {one: one.node(builder, style) for one in (INTEGERS, ANY_NUMBER.set)}
    builder.literals([b"true", b"false"])
    builder.literal(b"null")
    made = builder.copy()
    return _Start(made, spelling.copy(made), layout.copy(made), numbers, text, key)


class Writer:
    """Writes the grammar of a form. `ordered`: members come in schema order. `pointer_names`: rules are
    named so."""

    def __init__(
        self,
        reader: Reader,
        style: Style,
        whitespace: Whitespace,
        ordered: bool,
        *,
        pointer_names: bool = False,
    ) -> None:
        self._pointer_names = pointer_names
        self.reader = reader
        self.style = style
        self.ordered = ordered
        start = self._start = _start(style, whitespace)
        self.builder = start.builder.copy()
        self.spelling = start.spelling.copy(self.builder)
        self.layout = start.layout.copy(self.builder)
        self.place: Place | None = None
        self.compared: list[Place] = []
        """The places of `uniqueItems` that are written."""
        self._nodes: dict[tuple[Form, Names | None], Node] = {}
        self._within: set[tuple[Form, Names | None]] = set()
        self._waiting: deque[tuple[int, Callable[[], Node], Place | None]] = deque()
        self._free_text: Node | None = None
        self._tails: dict[Form, Node] = {}
        self._numbers: dict[NumberSet, Node] = {}
        self._scalars: dict[str, Node] = {}

    def grammar(self, form: Form) -> Grammar:
        """The grammar of all JSON texts whose value satisfies the form."""
        root = self.builder.rule("root")
        node = self.value(form)
        while self._waiting:
            rule, write, place = self._waiting.popleft()
            self.place = self.reader.algebra.place = place
            self.builder.define(rule, write())
        around = self.layout.around
        self.builder.define(root, self.builder.sequence([around, node, around]))
        return self.builder.grammar(root)

    def rule(self, name: str, write: Callable[[], Node], place: Place | None) -> Node:
        """A reference to a rule that is written later."""
        rule = self.builder.rule(name)
        if rule > MAX_RULES:
            raise LimitError("the schema has too many parts", limit="schema_rules", value=MAX_RULES)
        self.later(rule, write, place)
        return self.builder.reference(rule)

    def later(self, rule: int, write: Callable[[], Node], place: Place | None = None) -> None:
        """Define a rule when its turn comes."""
        self._waiting.append((rule, write, place or self.place))

    # Forms

    def value(self, form: Form, names: Names | None = None) -> Node:
        """A node for the values of a form. `names`: the order of members where that is not the form's own."""
        key = (form, names)
        found = self._nodes.get(key)
        if found is None and (form is TRUE or form.kind == "schema"):
            found = self._any_value() if form is TRUE else self._straight(form.payload, names)
            if found is not None:
                self._nodes[key] = found
        if found is None:
            if key in self._within or len(self._within) > MAX_IN_PLACE:
                self.reader.cases(form)  # raises the error that says why
            self._within.add(key)
            found = self._nodes[key] = self._write(form, names)
            self._within.discard(key)
        return found

    def _write(self, form: Form, names: Names | None) -> Node:
        if form.kind == "schema":
            place: Place = form.payload
            flags = self.reader.flags(place)
            simple = self._plain(form, place, flags, names)
            if simple is not None:
                return simple
            plain = not flags & (
                Part.REF | Part.ANY_OF | Part.ONE_OF | Part.IN_PLACE | Part.UNEVALUATED | Part.VALUES
            )
            return self._cases(form, place, names, ordered=plain)
        if form.kind == "or":
            names = self.order(form, names)
            return self.builder.choice([self.value(part, names) for part in form.parts])
        return self._cases(form, self.place, names)

    def _any_value(self) -> Node:
        """Any JSON value: what the clauses of `TRUE` come to, which most schemas need for other members."""
        builder, layout, name = self.builder, self.layout, self._name(self.place)
        ways = [self._new_scalar(kind) for kind in ("null", "boolean", "number", "string")]
        array, members = builder.rule(name), builder.rule(name)
        found = builder.choice([*ways, builder.reference(array), builder.reference(members)])
        later = builder.repeat(builder.sequence([layout.comma, found]), 0, None)
        items = builder.sequence([found, later])
        builder.define(array, layout.container(b"[]", items, may_be_empty=True))
        tail = builder.sequence([layout.colon, found])
        body = builder.members(
            layout.comma,
            (),
            [Open(self._start.key, tail)],
            minimum=1,
            ordered=self.ordered,
            spelling=SPELLING_RAW if self.style == "generate" else SPELLING_JSON,
        )
        builder.define(members, layout.container(b"{}", body, may_be_empty=True))
        return found

    def _straight(self, place: Place, names: Names | None) -> Node | None:
        """A schema of one type whose keywords speak about that type; None for any other."""
        flags = place.flags
        if flags is None:
            flags = self.reader.flags(place)
        straight = _STRAIGHT.get(flags & ~Part.UNKNOWN)
        if straight is None:
            return None
        kind = place.schema["type"]
        return straight[kind](self, place, names) if isinstance(kind, str) and kind in straight else None

    def _plain(self, form: Form, place: Place, flags: int, names: Names | None) -> Node | None:
        """What else needs no clauses: a reference alone, a union of schemas alone, a list of strings."""
        flags &= ~Part.UNKNOWN
        if flags == Part.REF:
            target = self.reader.forms.schema(self.reader.documents.follow(place, "$ref"))
            return self.value(target, names)
        if flags == Part.ANY_OF:
            names = self.order(form, names)
            return self.builder.choice(
                [self.value(part, names) for part in self.reader.listed(place, place.schema, "anyOf")]
            )
        if flags & Part.VALUES and not flags & ~(Part.TYPE | Part.VALUES):
            return self._words(place.schema)
        return None

    def _scalar(self, place: Place, _names: Names | None) -> Node:
        """The values of a type that is neither array nor object."""
        name = place.schema["type"]
        found = self._scalars.get(name)
        if found is None:
            found = self._scalars[name] = self._new_scalar(name)
        return found

    def _new_scalar(self, name: str) -> Node:
        if name == "string":
            return self.free_text()
        if name == "integer":
            return self._number_set(INTEGERS)
        if name == "number":
            return self._number_set(ANY_NUMBER.set)
        if name == "boolean":
            return self.builder.literals([b"true", b"false"])
        return self.builder.literal(b"null")

    def _strings(self, place: Place, _names: Names | None) -> Node | None:
        """What the keywords for strings say; None for what needs another look."""
        self.reader.algebra.place = place
        strings = self.reader.strings(place)
        high = strings.max_length
        return None if high is not None and strings.min_length > high else self.text(strings)

    def _limited(self, place: Place, _names: Names | None) -> Node | None:
        """What the keywords for numbers say; None if that is nothing."""
        self.reader.algebra.place = place
        numbers = self.reader.numbers(place)
        return None if numbers.is_empty() else self._number_set(numbers, place)

    def _object(self, place: Place, names: Names | None) -> Node | None:
        """What the keywords for objects say."""
        self.reader.algebra.place = place
        members = self.reader.members(place)
        if members is None:
            return None
        return self.rule(self._name(place), lambda: self._objects((members,), names), place)

    def _array(self, place: Place, _names: Names | None) -> Node | None:
        """What the keywords for arrays say."""
        self.reader.algebra.place = place
        items = self.reader.items(place)
        if items is None:
            return None
        return self.rule(self._name(place), lambda: write_items(self, items), place)

    def _name(self, place: Place | None) -> str:
        """What to call the rule of a place. A whole pointer takes time that grows with the nesting, so only
        who asks for it gets it."""
        if place is None:
            return "value"
        return place.pointer if self._pointer_names else place.name

    def _words(self, schema: dict[str, Any]) -> Node | None:
        """An enumeration of strings, and nothing else; None for what is not."""
        values = schema.get("enum")
        if values is None and "const" in schema:
            values = [schema["const"]]
        elif "const" in schema:
            return None
        if schema.get("type", "string") != "string" or not isinstance(values, list) or not values:
            return None
        if not all(isinstance(value, str) for value in values):
            return None
        return self.spelling.literals(values)

    def order(self, form: Form, names: Names | None) -> Names | None:
        """The order of members at a place where several schemas apply: that of the outermost one."""
        if names is not None or not self.ordered:
            return names
        return names_in_order(self.reader, form)

    # Clauses

    def _cases(self, form: Form, place: Place | None, names: Names | None, *, ordered: bool = False) -> Node:
        """`ordered`: the form has its members in the right order by itself."""
        cases = self.reader.cases(form)
        if cases.objects and not ordered:
            names = self.order(form, names)
        return self.cases(cases, place, names)

    def cases(self, cases: Cases, place: Place | None, names: Names | None) -> Node:
        """A node for the values of some clauses; arrays and objects become rules."""
        ways = self.scalars(cases, place)
        name = self._name(place)
        if cases.arrays:
            ways.append(self.rule(name, lambda: self._arrays(cases.arrays), place))
        if cases.objects:
            ways.append(self.rule(name, lambda: self._objects(cases.objects, names), place))
        return self.builder.choice(ways)

    def scalars(self, cases: Cases, place: Place | None) -> list[Node]:
        """Nodes for the values that are no arrays and no objects."""
        ways: list[Node] = []
        if cases.null:
            ways.append(self.builder.literal(b"null"))
        if cases.booleans:
            texts = [b"true" if value else b"false" for value in sorted(cases.booleans)]
            ways.append(self.builder.literals(texts))
        ways.extend(self.number(numbers, place) for numbers in cases.numbers)
        ways.extend(self.text(strings) for strings in cases.strings)
        return ways

    def _arrays(self, clauses: tuple[Items, ...]) -> Node:
        return self.builder.choice([write_items(self, items) for items in clauses])

    def _objects(self, clauses: tuple[Members, ...], names: Names | None) -> Node:
        if len(clauses) == 1 and not clauses[0].exists:
            return write_members(self, clauses[0], names)
        settle = self.reader.algebra.settle
        settled = []
        for members in clauses:
            # Names of the order first: a member that must exist may be one of them.
            settled.extend(settle(in_order(members, names)) if members.exists else (members,))
        return self.builder.choice([write_members(self, members, names) for members in settled])

    # Scalars

    def text(self, strings: StringSet) -> Node:
        """A node for strings."""
        return self.free_text() if strings is ANY_STRING else strings.node(self.spelling)

    def free_text(self) -> Node:
        """Any string; one rule, so that all places share what is found out about it."""
        if self._free_text is None:
            rule = self.builder.rule("string", self._start.text)
            self._free_text = self.builder.reference(rule)
        return self._free_text

    def tail(self, form: Form) -> Node:
        """A node for what follows a key."""
        found = self._tails.get(form)
        if found is None:
            found = self._tails[form] = self.builder.sequence([self.layout.colon, self.value(form)])
        return found

    def key(self, region: StringSet) -> Node:
        """A node for the keys of a language; keys have the canonical spelling in `generate`."""
        if region is ANY_STRING:
            return self._start.key
        if region.is_free:
            char = self.spelling.any_char()
            low, high = region.min_length, region.max_length
            return self.spelling.string(self.builder.repeat(char, low, high))
        return region.node(self.spelling)

    def number(self, numbers: Numbers, place: Place | None) -> Node:
        """A node for numbers."""
        if numbers.constants is None:
            return self._number_set(numbers.set, place)
        if self.style == "generate":
            return self.builder.literals(text.encode() for _, texts in numbers.constants for text in texts)
        return self.builder.choice(
            [
                self._number_set(NumberSet(lower=Fraction(value), upper=Fraction(value)), place)
                for value, _ in numbers.constants
            ]
        )

    def _number_set(self, numbers: NumberSet, place: Place | None = None) -> Node:
        found = self._numbers.get(numbers)
        if found is None:
            if numbers is INTEGERS or numbers is ANY_NUMBER.set:
                rule = self.builder.rule("number", self._start.numbers[numbers])
                found = self.builder.reference(rule)
            else:
                found = self._some_numbers(numbers, place)
            self._numbers[numbers] = found
        return found

    def _some_numbers(self, numbers: NumberSet, place: Place | None) -> Node:
        try:
            return numbers.node(self.builder, self.style)
        except number_sets.Unsupported as refusal:
            place = place or self.place or self.reader.documents.root_place()
            keyword = "multipleOf" if "multipleOf" in place.schema else "minimum"
            raise unsupported(place, keyword, refusal.why, refusal.try_) from None


_Straight = Callable[[Writer, Place, "Names | None"], "Node | None"]

_STRAIGHT: dict[int, dict[str, _Straight]] = {
    Part.TYPE: {
        **dict.fromkeys(("string", "integer", "number", "boolean", "null"), Writer._scalar),
        "object": Writer._object,
        "array": Writer._array,
    },
    Part.TYPE | Part.STRING: {"string": Writer._strings},
    Part.TYPE | Part.NUMBER: {"integer": Writer._limited, "number": Writer._limited},
    Part.TYPE | Part.ARRAY: {"array": Writer._array},
    Part.TYPE | Part.OBJECT: {"object": Writer._object},
}
"""Nearly all schemas: one type, and keywords that speak about it. No algebra is needed for them."""
