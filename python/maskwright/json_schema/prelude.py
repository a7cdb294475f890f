"""What does the grammar of every schema begin with? White space, any string, any number, any value.

It is the same to the byte in every grammar of one style and white space, rules and all: made once in a
process (77 nodes take 300 µs, to copy them takes 3), and the engine may know it again from one schema to the
next.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from maskwright.ir import SPELLING_JSON, SPELLING_RAW, Builder, Node
from maskwright.json_schema.forms import TRUE
from maskwright.json_schema.numbers import ANY_NUMBER, INTEGERS, NumberSet
from maskwright.json_schema.spelling import Spelling, Style
from maskwright.json_schema.strings import ANY_STRING, StringSet
from maskwright.json_schema.whitespace import Layout, Whitespace

__all__ = ["Prelude", "prelude"]


@dataclass(frozen=True, slots=True)
class Prelude:
    """A builder with what nearly every schema needs in it, and the nodes of that.

    scalars     any value of each type that is neither array nor object
    tails       what follows a key, for each type and, as `None`, for any value at all
    array, members, value   any array, any object, any value
    key         any key, in its canonical spelling where the style is "generate"
    nothing     the empty language
    values      the node of each form that is here
    """

    builder: Builder
    spelling: Spelling
    layout: Layout
    scalars: dict[str, Node]
    tails: dict[str | None, Node]
    numbers: dict[NumberSet, Node]
    texts: dict[StringSet, Node]
    array: Node
    members: Node
    value: Node
    key: Node
    nothing: Node
    values: dict[Any, Node]


@lru_cache(32)
def prelude(style: Style, whitespace: Whitespace) -> Prelude:
    """The beginning of all grammars with these options."""
    builder = Builder()
    spelling = Spelling(builder, style)
    layout = Layout(builder, whitespace)
    scalars = _scalars(builder, spelling, style)
    array, members = builder.rule("array"), builder.rule("object")
    kept = builder.reference(array), builder.reference(members)
    ways = [scalars[name] for name in ("null", "boolean", "number", "string")]
    value = builder.choice([*ways, *kept])
    key = spelling.string(builder.repeat(spelling.any_char(), 0, None))
    any_of: list[tuple[str | None, Node]] = [*scalars.items(), ("array", kept[0]), ("object", kept[1])]
    tails = {name: builder.sequence([layout.colon, node]) for name, node in (*any_of, (None, value))}
    later = builder.repeat(builder.sequence([layout.comma, value]), 0, None)
    items = builder.sequence([value, later])
    builder.define(array, layout.container(builder, b"[]", items, may_be_empty=True))
    spelled = SPELLING_RAW if style == "generate" else SPELLING_JSON
    body = builder.members(
        layout.comma, (), [(key, tails[None], 0)], minimum=1, ordered=style == "generate", spelling=spelled
    )
    builder.define(members, layout.container(builder, b"{}", body, may_be_empty=True))
    numbers = {INTEGERS: scalars["integer"], ANY_NUMBER: scalars["number"]}
    texts, nothing = {ANY_STRING: scalars["string"]}, builder.empty()
    made = builder.copy()
    parts = (made, spelling.copy(made), layout)
    return Prelude(*parts, scalars, tails, numbers, texts, *kept, value, key, nothing, {TRUE: value})


def _scalars(builder: Builder, spelling: Spelling, style: Style) -> dict[str, Node]:
    """Strings and numbers are rules, so that all places share what is found out about them."""
    bodies = {
        "string": ANY_STRING.node(spelling),
        "number": ANY_NUMBER.node(builder, style),
        "integer": INTEGERS.node(builder, style),
    }
    found = {name: builder.reference(builder.rule(name, body)) for name, body in bodies.items()}
    found["boolean"] = builder.literals([b"true", b"false"])
    found["null"] = builder.literal(b"null")
    return found
