"""How do forms become the IR? A rule for each container, written from a list of what is still to do.

A form is written where it is met if it is a scalar, else as a reference to a rule that comes later. So the
nesting of a schema is never the nesting of calls here. Plain unions (`anyOf`, types) need no algebra: they
are written as choices.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from maskwright.errors import LimitError, shown_place
from maskwright.ir import Grammar, Node
from maskwright.json_schema import numbers as number_sets
from maskwright.json_schema.apart import are_apart
from maskwright.json_schema.arrays import write_items
from maskwright.json_schema.bounds import Bounds, written
from maskwright.json_schema.clauses import (
    ANY_ITEMS,
    ANY_MEMBERS,
    ANY_STRING,
    Cases,
    Exists,
    Items,
    Members,
    Numbers,
    StringSet,
)
from maskwright.json_schema.constants import write_constants
from maskwright.json_schema.forms import TRUE, Form
from maskwright.json_schema.keywords import Part
from maskwright.json_schema.numbers import NumberSet
from maskwright.json_schema.objects import in_order, write_members
from maskwright.json_schema.order import Names, names_in_order
from maskwright.json_schema.places import Place
from maskwright.json_schema.prelude import Prelude
from maskwright.json_schema.reading import MAX_IN_PLACE, Reader
from maskwright.json_schema.refusals import unsupported
from maskwright.json_schema.spelling import Style
from maskwright.json_schema.straight import bare_type, straight

__all__ = ["MAX_RULES", "Writer"]

MAX_RULES = 100_000
"""Containers of one schema, each a rule."""
MAX_NODES = {"generate": 100_000, "accept": 40_000}
"""Nodes of the grammar of one schema, which are numbers that go up: 1 to 2 seconds. Each makes 8 states or
more in all that was measured, so the engine's own limit is near."""

MAX_MEMBERS = 500_000
"""Members that branches of unions have because other branches name them: 2 µs each, and a state or more."""


class Writer:
    """Writes the grammar of a form. `ordered`: members come in schema order. `pointer_names`: rules are
    named so."""

    def __init__(
        self,
        reader: Reader,
        style: Style,
        begun: Prelude,
        ordered: bool,
        *,
        pointer_names: bool = False,
    ) -> None:
        self._pointer_names = pointer_names
        self._max_nodes = MAX_NODES[style]
        self._n_members = 0
        self.reader = reader
        self.style = style
        self.ordered = ordered
        builder = self.builder = begun.builder.copy()
        self.spelling = begun.spelling.copy(builder)
        self.layout = begun.layout
        self.any_of_type, self.tails = begun.scalars, begun.tails
        self.any_array, self.any_object, self.any_value = begun.array, begun.members, begun.value
        self.any_key, self.nothing = begun.key, begun.nothing
        self.place: Place | None = None
        self.compared: list[Place] = []
        """The places of `uniqueItems` that are written."""
        self.needed: list[Exists] = []
        """Conditions on members without a name that are written."""
        self._nodes: dict[Any, Node] = begun.values.copy()
        self._within: set[Any] = set()
        self._waiting: deque[tuple[int, Callable[[], Node], Place | None]] = deque()
        self._tails: dict[Form, Node] = {TRUE: begun.tails[None]}
        self._texts: dict[StringSet, Node] = begun.texts.copy()
        self._numbers = begun.numbers.copy()
        self._shared: dict[Node, Node] = {}

    def grammar(self, form: Form) -> Grammar:
        """The grammar of all JSON texts whose value satisfies the form."""
        root = self.builder.rule("" if self._pointer_names else "root")
        node = self.value(form)
        while self._waiting:
            rule, write, place = self._waiting.popleft()
            self.place = self.reader.place = place
            self.builder.define(rule, write())
        around = self.layout.around
        self.builder.define(root, self.builder.sequence([around, node, around]))
        return self.builder.grammar(root)

    def rule(self, name: str, write: Callable[[], Node], place: Place | None) -> Node:
        """A reference to a rule that is written later."""
        rule, reference = self.builder.ahead(name)
        if rule > MAX_RULES:
            raise LimitError("the schema has too many parts", limit="schema_rules", value=MAX_RULES)
        self._waiting.append((rule, write, place or self.place))
        return reference

    def count_members(self, more: int) -> None:
        """Members that an object has because another branch names them."""
        self._n_members += more
        if self._n_members > MAX_MEMBERS:
            raise LimitError(
                "the branches of the schema have too many members together",
                limit="schema_members",
                value=MAX_MEMBERS,
                where=shown_place(self.place.pointer) if self.place else None,
                why="in the order of the schema each branch has a place for every name of all branches",
                try_="additionalProperties: false in the branches",
            )

    def later(self, rule: int, write: Callable[[], Node], place: Place | None = None) -> None:
        """Define a rule when its turn comes."""
        self._waiting.append((rule, write, place or self.place))

    def shared(self, name: str, node: Node) -> Node:
        """A reference to a rule for a node, so that all places share what the engine finds out about it."""
        found = self._shared.get(node)
        if found is None:
            found = self._shared[node] = self.builder.reference(self.builder.rule(name, node))
        return found

    # Forms

    def value(self, form: Form, names: Names | None = None) -> Node:
        """A node for the values of a form. `names`: the order of members where that is not the form's own."""
        key = form if names is None else (form, names)
        found = self._nodes.get(key)
        if found is None and form.kind == "schema":
            found = straight(self, form.payload, names)
            if found is not None:
                self._nodes[key] = found
                if found > self._max_nodes:
                    raise self._too_large()
        if found is None:
            if key in self._within or len(self._within) > MAX_IN_PLACE:
                self.reader.cases(form)  # raises the error that says why
            self._within.add(key)
            found = self._nodes[key] = self._write(form, names)
            self._within.discard(key)
            if found > self._max_nodes:
                raise self._too_large()
        return found

    def fitting(self, node: Node) -> Node:
        """A node, if the grammar has not become too large with it."""
        if node > self._max_nodes:
            raise self._too_large()
        return node

    def _too_large(self) -> LimitError:
        why = "what its constants, bounds and patterns are written with would take too long to read"
        return LimitError("the schema is too large", limit="schema_nodes", value=self._max_nodes, why=why)

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
        if form.kind == "value":  # 20,000 objects have 60,000 of them
            constant = write_constants(self, {"const": form.payload[0]})
            if constant is not None:
                return constant
        if form.kind == "or":
            names = self.order(form, names)
            return self.builder.choice([self.value(part, names) for part in form.parts])
        return self._cases(form, self.place, names)

    def _plain(self, form: Form, place: Place, flags: int, names: Names | None) -> Node | None:
        """What else needs no clauses: a reference alone, a union of schemas alone, a list of strings."""
        if flags == Part.REF:
            return self.value(self.reader.target(place, place.schema), names)
        if flags not in (Part.ANY_OF, Part.ONE_OF):
            return None
        keyword = "anyOf" if flags == Part.ANY_OF else "oneOf"
        branches = self.reader.listed(place, place.schema, keyword)
        if flags == Part.ONE_OF and not are_apart(self.reader, branches):
            return None
        # Without objects in several branches there is no order between them to look for, which takes 5 µs.
        if sum(not self._is_bare(branch) for branch in branches) > 1:
            names = self.order(form, names)
        return self.builder.choice([self.value(branch, names) for branch in branches])

    def _is_bare(self, form: Form) -> bool:
        """Whether a form says a type that is neither array nor object, and no more."""
        return form.kind == "schema" and bare_type(form.payload, form.payload.schema) in self.any_of_type

    def name(self, place: Place | None) -> str:
        """What to call the rule of a place. A whole pointer takes time that grows with the nesting, so only
        who asks for it gets it."""
        if place is None:
            return "value"
        if self._pointer_names:
            return place.pointer
        return str(place.trail[-1]) if place.trail else "root"

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
        name = self.name(place)
        if cases.arrays == (ANY_ITEMS,):
            ways.append(self.any_array)
        elif cases.arrays:
            ways.append(self.rule(name, lambda: self._arrays(cases.arrays), place))
        if cases.objects == (ANY_MEMBERS,) and not names:
            ways.append(self.any_object)
        elif cases.objects:
            ways.append(self.rule(name, lambda: self.objects(cases.objects, names), place))
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
        ways.extend(self.text(strings, place) for strings in cases.strings)
        return ways

    def _arrays(self, clauses: tuple[Items, ...]) -> Node:
        return self.builder.choice([write_items(self, items) for items in clauses])

    def objects(self, clauses: tuple[Members, ...], names: Names | None) -> Node:
        """A node for the objects of some clauses."""
        if len(clauses) == 1 and not clauses[0].exists:
            return write_members(self, clauses[0], names)
        settle = self.reader.algebra.settle
        settled: list[Members] = []
        for members in clauses:
            # Names of the order first: a member that must exist may be one of them.
            settled.extend(settle(in_order(self, members, names)) if members.exists else (members,))
        return self.builder.choice([write_members(self, members, names) for members in settled])

    # Scalars

    def text(self, strings: StringSet, place: Place | None = None) -> Node:
        """A node for strings: a rule, so that all places share what is found out about them. Where rules are
        called by their places, it has that of the first one."""
        found = self._texts.get(strings)
        if found is None:
            found = strings.node(self.spelling)
            if strings.allowed is None:
                named = self._pointer_names and place is not None
                found = self.shared(self.name(place) if named else "string", found)
            self._texts[strings] = found
        return found

    def tail(self, form: Form) -> Node:
        """A node for what follows a key."""
        found = self._tails.get(form)
        if found is None:
            found = self._tails[form] = self.builder.sequence([self.layout.colon, self.value(form)])
        return found

    def key(self, region: StringSet) -> Node:
        """A node for the keys of a language; keys have the canonical spelling in `generate`."""
        if region is ANY_STRING:
            return self.any_key
        if region.is_free:
            char = self.spelling.any_char()
            low, high = region.min_length, region.max_length
            return self.spelling.string(self.builder.repeat(char, low, high))
        return region.node(self.spelling)

    def sized(self, low: int, high: int | None) -> Node:
        """A node for strings of `low` to `high` characters."""
        key = ("sized", low, high)
        return self.spelling.remember(key, lambda: self.text(StringSet(min_length=low, max_length=high)))

    def bounded(self, kind: str, bounds: Bounds) -> Node | None:
        """A node for numbers between whole bounds; None if there are none."""
        fragment = written(kind, bounds)
        if fragment is None:
            return None
        key = (kind, bounds)
        return self.spelling.remember(key, lambda: self.shared("number", self.builder.graft(fragment)))

    def number(self, numbers: Numbers, place: Place | None) -> Node:
        """A node for numbers."""
        if numbers.constants is None:
            return self.number_set(numbers.set, place)
        if self.style == "generate":
            return self.builder.literals(text.encode() for _, texts in numbers.constants for text in texts)
        if len(numbers.constants) > self._max_nodes // 4:  # each takes some 40
            raise self._too_large()
        return self.builder.choice(
            [
                self.number_set(NumberSet(lower=Fraction(value), upper=Fraction(value)), place)
                for value, _ in numbers.constants
            ]
        )

    def number_set(self, numbers: NumberSet, place: Place | None = None) -> Node:
        """A node for the numbers of a set."""
        found = self._numbers.get(numbers)
        if found is None:
            found = self._numbers[numbers] = self._some_numbers(numbers, place)
            if found > self._max_nodes:
                raise self._too_large()
        return found

    def _some_numbers(self, numbers: NumberSet, place: Place | None) -> Node:
        try:
            return numbers.node(self.builder, self.style)
        except number_sets.Unsupported as refusal:
            place = place or self.place or self.reader.documents.root_place()
            keyword = "multipleOf" if "multipleOf" in place.schema else "minimum"
            raise unsupported(place, keyword, refusal.why, refusal.try_) from None
