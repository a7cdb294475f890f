"""How are the members of an object written? Named keys in order or in any order, then the languages of
other keys."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from operator import itemgetter
from typing import TYPE_CHECKING

from maskwright.ir import SPELLING_JSON, SPELLING_RAW, Node
from maskwright.json_schema.clauses import Members, form_at
from maskwright.json_schema.forms import FALSE, Form
from maskwright.json_schema.refusals import unsupported

if TYPE_CHECKING:
    from maskwright.json_schema.order import Names
    from maskwright.json_schema.write import Writer

__all__ = ["in_order", "in_sequence", "write_declared", "write_members"]

MAX_FIRST = 3
"""Members that may be first, up to which a plain sequence is written: what may follow is written once for
each."""

MAX_SUBSETS = 5
"""Optional members whose subsets are told apart where some other key must exist."""

Declared = tuple[Node, Node, bool]
"""A member with a name of its own: its key, what follows the key, whether it is required."""
Open = tuple[Node, Node]
"""Members with other keys: their language, and what follows a key."""


def write_members(writer: Writer, members: Members, names: Names | None) -> Node:
    """A node for the objects of a clause, braces and all."""
    members = in_order(writer, members, names)
    if members.exists:
        return _with_others(writer, members)
    low = max(members.minimum, len(members.required))
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
    return write_declared(writer, _declared(writer, members), _opens(writer, members), low, high)


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
    return [(writer.key(region), writer.tail(form)) for region, form in members.opens]


def _with_others(writer: Writer, members: Members) -> Node:
    """Objects in which some key without a name must be there: by which of the named optional ones are there
    too."""
    some = members.exists[0]
    optional = [
        key for key, form in members.named.items() if form is not FALSE and key not in members.required
    ]
    counted = len(members.exists) == 1 and all(
        region == some.region and form is some.form for region, form in members.opens
    )
    least = max(members.minimum, len(members.required) + 1)
    if counted and writer.ordered and members.maximum is None and least == len(members.required) + 1:
        return _named_then_others(writer, members)
    if not counted or len(optional) > MAX_SUBSETS:
        raise unsupported(
            some.place,
            some.keyword,
            "in a combination of schemas it asks for a member with another name, and which one is not known",
            "naming the members that the branches differ in",
        )
    ways = []
    for count in range(len(optional) + 1):
        for chosen in combinations(optional, count):
            gone = {key: FALSE for key in optional if key not in chosen}
            required = members.required | set(chosen)
            fixed = replace(
                members,
                named={**members.named, **gone},
                required=required,
                minimum=max(members.minimum, len(required) + 1),
                exists=(),
            )
            ways.append(write_members(writer, fixed, None))
    return writer.builder.choice(ways)


def _named_then_others(writer: Writer, members: Members) -> Node:
    """Members in order, so the ones without a name come last: at least one of them, after any of the
    others."""
    builder, comma = writer.builder, writer.layout.comma
    gone = _declared(writer, replace(members, named=dict.fromkeys(members.named, FALSE)))
    others = _remembered(writer, gone, _opens(writer, members), 1, None)
    ways = [] if members.required else [others]
    if any(form is not FALSE for form in members.named.values()):
        declared = _declared(writer, replace(members, opens=()))
        named = _remembered(writer, declared, (), max(len(members.required), 1), None)
        ways.append(builder.sequence([named, comma, others]))
    return writer.layout.container(writer.builder, b"{}", builder.choice(ways), may_be_empty=False)
