"""Which items can be told apart by their texts? Regular ones that have one spelling, as far as the engine
reads it.

The engine compares items as JSON values: escapes are read, numbers are exact, white space is nothing. Only
the order of members makes two texts of one value, so objects must have one order, and no more nesting than
is written out here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from maskwright.ir import Node
from maskwright.json_schema.clauses import Items, Members
from maskwright.json_schema.forms import FALSE, TRUE, Form
from maskwright.json_schema.places import Place
from maskwright.json_schema.refusals import unsupported

if TYPE_CHECKING:
    from maskwright.json_schema.order import Names
    from maskwright.json_schema.write import Writer

__all__ = ["comparable"]

_DEPTH = 4
_TRY = "items of one scalar type, or with an enum"


def comparable(writer: Writer, form: Form, asked: Place, depth: int = 0) -> Node:
    """A regular node for the values of a form; `SchemaError` at `asked` for values that cannot be told
    apart."""
    if form is TRUE:
        raise unsupported(
            asked, "uniqueItems", "the items may be any value, and objects have many texts", _TRY
        )
    if form.kind == "value" and not isinstance(form.payload[0], (list, dict)):
        return writer.value(form)
    if depth > _DEPTH:
        raise unsupported(asked, "uniqueItems", "the items are nested too deeply to be compared", _TRY)
    cases = writer.reader.cases(form)
    ways = writer.scalars(cases, asked)
    ways.extend(_array(writer, items, asked, depth) for items in cases.arrays)
    names = writer.order(form, None) if cases.objects else None
    ways.extend(_object(writer, members, names, asked, depth) for members in cases.objects)
    return writer.fitting(writer.builder.choice(ways))


def _array(writer: Writer, items: Items, asked: Place, depth: int) -> Node:
    from maskwright.json_schema.arrays import listed, shortened  # noqa: PLC0415 - the two call each other

    if items.contains or items.unique is not None:
        raise unsupported(
            asked, "uniqueItems", "the items are arrays whose own items are counted or compared", _TRY
        )
    items = shortened(items)
    if items.maximum is not None and items.minimum > items.maximum:
        return writer.builder.empty()
    body = None
    if items.maximum != 0:
        body = listed(writer, items, lambda inner: comparable(writer, inner, asked, depth + 1))
    return writer.layout.container(writer.builder, b"[]", body, may_be_empty=items.minimum == 0)


def _object(writer: Writer, members: Members, names: Names | None, asked: Place, depth: int) -> Node:
    from maskwright.json_schema.objects import in_order, in_sequence  # noqa: PLC0415 - the two call each other

    shown = {key: inner for key, inner in members.named.items() if inner is not FALSE}
    if not writer.ordered and len(shown) > 1:
        why = "the items are objects whose members may come in any order, so one value has many texts"
        raise unsupported(asked, "uniqueItems", why, _TRY)
    counted = members.minimum > len(members.required) or (
        members.maximum is not None and members.maximum < len(shown)
    )
    if members.opens or members.exists or counted:
        why = "the items are objects with keys that are not known beforehand"
        raise unsupported(asked, "uniqueItems", why, _TRY)
    if not shown:
        return writer.layout.container(writer.builder, b"{}", None, may_be_empty=True)
    members = in_order(writer, members, names)
    colon, spell = writer.layout.colon, writer.spelling.literal
    declared = [
        (
            spell(key),
            writer.builder.sequence([colon, comparable(writer, inner, asked, depth + 1)]),
            key in members.required,
        )
        for key, inner in members.named.items()
        if inner is not FALSE
    ]
    return writer.layout.container(
        writer.builder, b"{}", in_sequence(writer, declared), may_be_empty=not members.required
    )
