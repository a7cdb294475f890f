"""How are the items of an array written? By position, then the rest; counted, or told apart, where that is
asked for."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from maskwright.errors import LimitError, shown_place
from maskwright.ir import SPELLING_JSON, Node
from maskwright.json_schema.alike import comparable
from maskwright.json_schema.clauses import Contains, Items
from maskwright.json_schema.forms import FALSE, Form
from maskwright.json_schema.refusals import unsupported

if TYPE_CHECKING:
    from maskwright.json_schema.write import Writer

__all__ = ["listed", "shortened", "write_alike", "write_items"]

MAX_COUNTED = 3_000
"""States of position and counts that an array with `contains` may take; each becomes a rule."""
MAX_KINDS = 500
"""Kinds of items, by the schemas of `contains` that they satisfy; to see if there are such takes 1 ms."""
MAX_WAYS = 50_000
"""States times kinds: 0.4 seconds."""

Hits = tuple[bool, ...]
"""For each count, whether an item satisfies its schema."""


def write_items(writer: Writer, items: Items) -> Node:
    """A node for the arrays of a clause, brackets and all."""
    items = shortened(items)
    if items.maximum is not None and items.minimum > items.maximum:
        return writer.builder.empty()
    unique = items.unique is not None and (items.maximum is None or items.maximum > 1)
    counts = [count for count in items.contains if count.low > 0 or count.high is not None]
    if counts:
        if unique:
            assert items.unique is not None
            raise unsupported(
                items.unique, "uniqueItems", "beside contains, both would have to be counted at once"
            )
        return _Counted(writer, items, counts).node()
    if items.maximum == 0:
        return writer.layout.container(writer.builder, b"[]", None, may_be_empty=True)
    body = _distinct(writer, items) if unique else listed(writer, items)
    return writer.layout.container(writer.builder, b"[]", body, may_be_empty=items.minimum == 0)


def write_alike(writer: Writer, item: Node | None, low: int, high: int | None) -> Node:
    """A node for arrays of `low` to `high` items, all of one kind; None: there may be no item at all."""
    if item is None or high == 0:
        return writer.layout.container(writer.builder, b"[]", None, may_be_empty=low == 0)
    return writer.layout.container(
        writer.builder, b"[]", _alike(writer, item, low, high), may_be_empty=low == 0
    )


def _alike(writer: Writer, item: Node, low: int, high: int | None) -> Node:
    builder = writer.builder
    more = builder.sequence([writer.layout.comma, item])
    later = builder.repeat(more, max(low - 1, 0), None if high is None else high - 1)
    return builder.sequence([item, later])


def shortened(items: Items) -> Items:
    """Without positions that no item can have."""
    prefix, rest, maximum = items.prefix, items.rest, items.maximum
    if FALSE in prefix:
        place = prefix.index(FALSE)
        maximum = place if maximum is None else min(maximum, place)
    elif rest is FALSE:
        maximum = len(prefix) if maximum is None else min(maximum, len(prefix))
    if maximum is not None and maximum <= len(prefix):
        prefix, rest = prefix[:maximum], FALSE
    return Items(prefix, rest, items.minimum, maximum, items.contains, items.unique)


def listed(writer: Writer, items: Items, value: Callable[[Form], Node] | None = None) -> Node:
    """At least one item, with commas between; `value` writes an item."""
    value = value or writer.value
    builder, comma = writer.builder, writer.layout.comma
    length = len(items.prefix)
    low, high = items.minimum, items.maximum
    if not length:
        return _alike(writer, value(items.rest), low, high)
    later = builder.literal(b"")
    if items.rest is not FALSE:
        more = builder.sequence([comma, value(items.rest)])
        later = builder.repeat(more, max(low - length, 0), None if high is None else high - length)
    for place in range(length - 1, 0, -1):
        after = builder.sequence([comma, value(items.prefix[place]), later])
        later = after if place < low else builder.optional(after)
    return builder.sequence([value(items.prefix[0]), later])


def _distinct(writer: Writer, items: Items) -> Node:
    """Items of which no two are alike."""
    asked = items.unique
    assert asked is not None
    writer.compared.append(asked)
    rest = None if items.rest is FALSE else comparable(writer, items.rest, asked)
    return writer.builder.distinct(
        writer.layout.comma,
        [comparable(writer, form, asked) for form in items.prefix],
        rest,
        minimum=max(items.minimum, 1),
        maximum=items.maximum,
        spelling=SPELLING_JSON,
    )


class _Counted:
    """Arrays with counts of items that satisfy a schema: an automaton over kinds of items, a rule for each
    state.

    A state is the position (up to where it no longer matters) and each count (likewise).
    """

    def __init__(self, writer: Writer, items: Items, counts: list[Contains]) -> None:
        self._writer = writer
        self._items = items
        self._counts = counts
        last = max([len(items.prefix), items.minimum, *(count.start for count in counts)])
        self._last = last if items.maximum is None else items.maximum
        self._rules: dict[tuple[int, ...], Node] = {}
        self._known: dict[tuple[Form, int], list[tuple[Hits, Form]]] = {}
        self._values: dict[Form, Node] = {}
        self._n_ways = 0

    def node(self) -> Node:
        """The whole array."""
        body = self._first()
        return self._writer.layout.container(
            self._writer.builder, b"[]", body, may_be_empty=self._may_end((0,) * (len(self._counts) + 1))
        )

    def _first(self) -> Node | None:
        ways = self._ways((0,) * (len(self._counts) + 1), with_comma=False)
        return self._writer.builder.choice(ways) if ways else None

    def _ways(self, state: tuple[int, ...], with_comma: bool) -> list[Node]:
        """One more item of each kind, then what may follow."""
        builder, comma = self._writer.builder, self._writer.layout.comma
        position = state[0]
        if self._items.maximum is not None and position >= self._items.maximum:
            return []
        ways = []
        for hits, form in self._kinds(position):
            after = self._after(state, hits)
            if after is None:
                continue
            self._n_ways += 1
            if self._n_ways > MAX_WAYS:
                raise self._too_many("counting the items takes too many steps", MAX_WAYS)
            lead = [comma] if with_comma else []
            ways.append(builder.sequence([*lead, self._item(form), self._rest(after)]))
        return ways

    def _item(self, form: Form) -> Node:
        """An item as a rule of its own: it is written once, not at each state."""
        found = self._values.get(form)
        if found is None:
            value = self._writer.value
            found = self._values[form] = self._writer.rule("item", lambda: value(form), None)
        return found

    def _kinds(self, position: int) -> list[tuple[Hits, Form]]:
        """Which schemas an item can satisfy together, and the form of such items.

        One schema after the other, so that those which exclude each other are never multiplied.
        """
        item = self._items.at(position)
        active = sum(position >= count.start for count in self._counts)
        found = self._known.get((item, active))
        if found is not None:
            return found
        forms, is_empty = self._writer.reader.forms, self._writer.reader.algebra.is_empty
        found = [((), item)]
        for count in self._counts:
            longer: list[tuple[Hits, Form]] = []
            for hits, form in found:
                if position < count.start:
                    longer.append(((*hits, False), form))
                    continue
                for hit in (False, True):
                    joined = forms.all((form, count.form if hit else forms.no(count.form)))
                    if not is_empty(joined):
                        longer.append(((*hits, hit), joined))
            if len(longer) > MAX_KINDS:
                raise self._too_many("the items are of too many kinds to be counted", MAX_KINDS)
            found = longer
        self._known[item, active] = found
        return found

    def _too_many(self, what: str, value: int) -> LimitError:
        place = self._counts[0].place
        return LimitError(
            what,
            limit="counted_items",
            value=value,
            where=shown_place(place.pointer_to(self._counts[0].keyword)),
            try_="smaller bounds for the length or the count",
        )

    def _after(self, state: tuple[int, ...], hits: Hits) -> tuple[int, ...] | None:
        """The state after an item; None where a count is past its bound. Counts stop where more makes no
        difference."""
        position = min(state[0] + 1, self._last)
        found = [position]
        for count, seen, hit in zip(self._counts, state[1:], hits, strict=True):
            now = seen + hit
            if count.high is not None and now > count.high:
                return None
            found.append(min(now, count.low if count.high is None else count.high + 1))
        return tuple(found)

    def _may_end(self, state: tuple[int, ...]) -> bool:
        return state[0] >= self._items.minimum and all(
            seen >= count.low for count, seen in zip(self._counts, state[1:], strict=True)
        )

    def _rest(self, state: tuple[int, ...]) -> Node:
        found = self._rules.get(state)
        if found is None:
            if len(self._rules) > MAX_COUNTED:
                raise self._too_many("counting the items takes too many states", MAX_COUNTED)
            rule, found = self._writer.builder.ahead("items")
            self._rules[state] = found
            self._writer.later(rule, lambda: self._written(state))
        return found

    def _written(self, state: tuple[int, ...]) -> Node:
        builder = self._writer.builder
        ways = self._ways(state, with_comma=True)
        if self._may_end(state):
            ways.append(builder.literal(b""))
        return builder.choice(ways)
