"""How are the members of an object written? Named keys in order or in any order, then the languages of
other keys."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from operator import itemgetter
from typing import TYPE_CHECKING

from maskwright.ir import SPELLING_JSON, SPELLING_RAW, Node
from maskwright.json_schema.algebra import MAX_NEEDS
from maskwright.json_schema.clauses import Exists, Members, StringSet, form_at
from maskwright.json_schema.forms import FALSE, Form
from maskwright.json_schema.refusals import unsupported

if TYPE_CHECKING:
    from maskwright.json_schema.order import Names
    from maskwright.json_schema.write import Writer

__all__ = ["in_order", "in_sequence", "write_declared", "write_members"]

MAX_FIRST = 3
"""Members that may be first, up to which a plain sequence is written: what may follow is written once for
each."""

Declared = tuple[Node, Node, bool]
"""A member with a name of its own: its key, what follows the key, whether it is required."""
Open = tuple[Node, Node, int]
"""Members with other keys: their language, what follows a key, and the needs of the object that they meet."""
Way = tuple[StringSet, Form]
"""Members with other keys: their language, and what their values satisfy."""


def write_members(writer: Writer, members: Members, names: Names | None) -> Node:
    """A node for the objects of a clause, braces and all."""
    members = in_order(writer, members, names)
    low = max(members.minimum, len(members.required) + (1 if members.exists else 0))
    shown = members.named
    if FALSE in shown.values():
        shown = {key: form for key, form in shown.items() if form is not FALSE}
    high = members.maximum
    if not members.opens:
        high = None if high is not None and high >= len(shown) else high
        if low > len(shown):
            return writer.builder.empty()
    if high is not None and low > high:
        return writer.builder.empty()
    if (not shown and not members.opens) or high == 0:
        return writer.layout.container(writer.builder, b"{}", None, may_be_empty=low == 0)
    opens = _needed(writer, members) if members.exists else _opens(writer, members)
    if opens is None:
        return writer.builder.empty()
    return write_declared(writer, _declared(writer, members), opens, low, high)


def write_declared(
    writer: Writer, declared: Sequence[Declared], opens: Sequence[Open], low: int, high: int | None
) -> Node:
    """An object, of nodes for its members: `low` to `high`. Some member or language of keys is given."""
    plain = writer.ordered and not opens and high is None
    if plain and _may_be_sequence(declared, low):
        body = in_sequence(writer, declared)
    else:
        body = _remembered(writer, declared, opens, max(low, 1), high)
    return writer.layout.container(writer.builder, b"{}", body, may_be_empty=low == 0)


def _may_be_sequence(declared: Sequence[Declared], low: int) -> bool:
    """Whether no more members must be there than are required, and one of few is first."""
    required = [*map(itemgetter(2), declared)]
    return low == required.count(True) and (required.index(True) if low else len(required)) < MAX_FIRST


def in_order(writer: Writer, members: Members, names: Names | None) -> Members:
    """Members in the order of `names`; those of a branch that is open for them get names of their own."""
    if names is None or not (members.named or members.opens):
        return members
    if not members.opens:
        ranks, last = names.ranks, len(names)
        keys = sorted(members.named, key=lambda name: ranks.get(name, last))
        return replace(members, named={name: members.named[name] for name in keys})
    writer.count_members(len(names))
    named: dict[str, Form] = {}
    for name in names:
        form = members.named.get(name)
        named[name] = form_at(members, name) if form is None else form
    for name, form in members.named.items():
        named.setdefault(name, form)
    return replace(members, named=named)


def in_sequence(writer: Writer, declared: Sequence[Declared]) -> Node:
    """Members in order as a plain sequence: one of them is first, each later one comes with a comma before
    it."""
    builder, comma = writer.builder, writer.layout.comma
    required = [*map(itemgetter(2), declared)]
    first = required.index(True) if True in required else len(required) - 1
    later: list[Node] = []
    for key, tail, needed in declared[first + 1 :]:
        if needed:
            later += (comma, key, tail)
        else:
            later.append(builder.optional(builder.sequence([comma, key, tail])))
    ways: list[Node] = []
    for key, tail, needed in reversed(declared[: first + 1]):
        ways.append(builder.sequence([key, tail, *later]))
        after = builder.sequence([comma, key, tail])
        later = [builder.sequence([after if needed else builder.optional(after), *later])]
    return builder.choice(ways[::-1])


def _remembered(
    writer: Writer, declared: Sequence[Declared], opens: Sequence[Open], low: int, high: int | None
) -> Node:
    """Members by the node that remembers which keys are used.

    Half a surrogate pair is a key that no text has, and that node asks for keys that some text has.
    """
    no_text = writer.nothing
    if no_text in map(itemgetter(0), declared):
        lacking = any(member[2] for member in declared if member[0] == no_text)
        declared = [member for member in declared if member[0] != no_text]
        if lacking or (not opens and low > len(declared)):
            return no_text
    return writer.builder.members(
        writer.layout.comma,
        declared,
        opens,
        minimum=low,
        maximum=high,
        ordered=writer.ordered,
        spelling=SPELLING_RAW if writer.style == "generate" else SPELLING_JSON,
    )


def _declared(writer: Writer, members: Members) -> list[Declared]:
    """The named members. A key that may not be there has no tail; nothing is said of it if no other key may
    be there either."""
    spell, tail, required = writer.spelling.literal, writer.tail, members.required
    declared: list[Declared] = []
    for key, form in members.named.items():
        if form is not FALSE:
            declared.append((spell(key), tail(form), key in required))
        elif any(region.contains(key) for region, _ in members.opens):
            declared.append((spell(key), writer.builder.empty(), False))
    return declared


def _opens(writer: Writer, members: Members) -> list[Open]:
    return [(writer.key(region), writer.tail(form), 0) for region, form in members.opens]


def _needed(writer: Writer, members: Members) -> list[Open] | None:
    """The languages of other keys where some such members must exist: for each set of conditions, members
    that satisfy all of them. None: some condition is satisfied by no member.

    One member may satisfy several, so the engine counts what is met and not the members.
    """
    needs = members.exists
    if len(needs) > MAX_NEEDS:
        raise unsupported(
            needs[0].place,
            needs[0].keyword,
            f"in a combination of schemas it asks for more than {MAX_NEEDS} members with other names at once",
            "naming the members that the branches differ in",
        )
    writer.needed.extend(needs)
    opens: dict[tuple[StringSet, Form, int], None] = {}
    for region, form in members.opens:
        ways = {0: (region, form)}
        for need, some in enumerate(needs):
            ways = _with_need(writer, ways, some, 1 << need)
        opens.update(dict.fromkeys((*way, meets) for meets, way in ways.items()))
    if {need for need in range(len(needs)) for *_, meets in opens if meets >> need & 1} != {
        *range(len(needs))
    }:
        return None
    return [(writer.key(region), writer.tail(form), meets) for region, form, meets in opens]


def _with_need(writer: Writer, ways: dict[int, Way], some: Exists, need: int) -> dict[int, Way]:
    """Members by the needs that they meet, with one need more."""
    algebra = writer.reader.algebra
    found: dict[int, Way] = {}
    for meets, (region, form) in ways.items():
        keys, met = region.intersect(some.region), algebra.join((form, some.form))
        if met is form and keys == region:
            found[meets | need] = (region, form)
            continue
        found[meets] = (region, form)
        if not (met is FALSE or algebra.no_string(keys) or algebra.is_empty(met, 1)):
            found[meets | need] = (keys, met)
    return found
