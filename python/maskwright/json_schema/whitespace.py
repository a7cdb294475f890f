"""How much white space may stand between JSON's tokens?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from maskwright.errors import MaskwrightError
from maskwright.ir import Builder, Node

__all__ = ["ANY", "Layout", "Whitespace", "choose_whitespace"]

Preset = Literal["flexible", "compact", "spaced"]


@dataclass(frozen=True, slots=True)
class Whitespace:
    r"""White space between JSON's tokens, inside the root value; none stands around it.

    max_blanks, max_indentation    flexible, the default: at each place up to so many blanks, or one line
                                   break and up to so many blanks or tabs
    item_separator, key_separator  fixed, as `json.dumps(separators=..)` takes them
    indent                         fixed, as `json.dumps(indent=..)` writes it: blanks a level, or a text

    >>> Whitespace(indent=2) == Whitespace(indent="  ")
    True
    """

    max_blanks: int = 2
    max_indentation: int = 64
    item_separator: str | None = None
    key_separator: str | None = None
    indent: int | str | None = None

    def __post_init__(self) -> None:
        for name in ("max_blanks", "max_indentation"):
            bound = getattr(self, name)
            if isinstance(bound, bool) or not isinstance(bound, int) or bound < -1:
                raise _refused(name, f"must be a whole number from -1 on, not {bound!r}")
        for name, mark in (("item_separator", ","), ("key_separator", ":")):
            text = getattr(self, name)
            if text is not None and (not isinstance(text, str) or text.strip(" \t\r\n") != mark):
                raise _refused(name, f"must be {mark!r} with white space beside, not {text!r}")
        if isinstance(self.indent, int) and not isinstance(self.indent, bool) and self.indent >= 0:
            object.__setattr__(self, "indent", " " * self.indent)
        if self.indent is not None and (not isinstance(self.indent, str) or self.indent.strip(" \t")):
            raise _refused("indent", f"must be a number of blanks, or blanks and tabs, not {self.indent!r}")

    @property
    def is_fixed(self) -> bool:
        """Whether there is one layout only."""
        return self.indent is not None or self.item_separator is not None or self.key_separator is not None


ANY = Whitespace(-1, -1)
"""What JSON allows: any number of blanks, tabs and line ends, around the root too."""

_PRESETS = {
    "flexible": Whitespace(),
    "compact": Whitespace(item_separator=",", key_separator=":"),
    "spaced": Whitespace(item_separator=", ", key_separator=": "),
}


def choose_whitespace(
    whitespace: Preset | Whitespace | None, indent: int | str | None, style: str
) -> Whitespace:
    """What the options ask for; `MaskwrightError` where they contradict each other or the style."""
    if indent is not None:
        if whitespace is not None:
            raise _refused("indent", "and whitespace both say where white space is; give one of them")
        whitespace = Whitespace(indent=indent)
    if style == "accept":
        if whitespace is not None:
            given = "whitespace" if indent is None else "indent"
            raise _refused(given, 'is for style="generate"; style="accept" takes any white space')
        return ANY
    if isinstance(whitespace, Whitespace):
        return whitespace
    name = "flexible" if whitespace is None else whitespace
    if name not in _PRESETS:
        known = ", ".join(map(repr, _PRESETS))
        raise _refused("whitespace", f"must be one of {known} or a Whitespace, not {whitespace!r}")
    return _PRESETS[name]


class Layout:
    """White space as nodes: separators, and what stands inside the brackets of a container."""

    __slots__ = (
        "_builder",
        "_ends",
        "_inner_close",
        "_inner_open",
        "_nests",
        "_void",
        "around",
        "colon",
        "comma",
    )

    def __init__(self, builder: Builder, whitespace: Whitespace) -> None:
        self._builder = builder
        self._nests = False
        self._ends: dict[bytes, tuple[Node, Node, Node]] = {}
        nothing = builder.literal(b"")
        self.around = nothing
        self._inner_open = self._inner_close = self._void = nothing
        if not whitespace.is_fixed:
            blank = _flexible(builder, whitespace)
            self._inner_open = self._inner_close = self._void = blank
            self.comma = builder.sequence([blank, builder.literal(b","), blank])
            self.colon = builder.sequence([blank, builder.literal(b":"), blank])
            if whitespace == ANY:
                self.around = blank
            self._make_ends()
            return
        item, key = whitespace.item_separator or ",", whitespace.key_separator or ":"
        if whitespace.indent is not None:
            assert isinstance(whitespace.indent, str)
            line = builder.indentation(b"\n", whitespace.indent.encode())
            self._inner_open = self._inner_close = line
            self._nests = True
            key = whitespace.key_separator or ": "
            self.comma = builder.sequence([builder.literal(item.encode()), line])
        else:
            self.comma = builder.literal(item.encode())
        self.colon = builder.literal(key.encode())
        self._make_ends()

    def _make_ends(self) -> None:
        """The brackets, and the empty containers."""
        builder = self._builder
        for brackets in (b"{}", b"[]"):
            opening, closing = builder.literal(brackets[:1]), builder.literal(brackets[1:])
            empty = builder.sequence([opening, self._void, closing])
            self._ends[brackets] = (opening, closing, empty)

    def copy(self, builder: Builder) -> Layout:
        """The same into a copy of the builder."""
        made = Layout.__new__(Layout)
        made._builder = builder
        made._nests = self._nests
        made._ends = self._ends
        made._inner_open, made._inner_close, made._void = self._inner_open, self._inner_close, self._void
        made.around, made.colon, made.comma = self.around, self.colon, self.comma
        return made

    def container(self, brackets: bytes, body: Node | None, may_be_empty: bool) -> Node:
        """`body`, never without a text, in brackets; the empty container too, or alone where there is no
        body."""
        builder = self._builder
        opening, closing, empty = self._ends[brackets]
        ways = []
        if body is not None:
            inside = builder.sequence([self._inner_open, body])
            if self._nests:
                inside = builder.nested(inside)
            ways.append(builder.sequence([opening, inside, self._inner_close, closing]))
        if may_be_empty:
            ways.append(empty)
        return builder.choice(ways)


def _flexible(builder: Builder, whitespace: Whitespace) -> Node:
    if whitespace == ANY:
        return builder.repeat(builder.byte_class(b" \t\r\n"), 0, None)
    blanks = builder.repeat(builder.literal(b" "), 0, whitespace.max_blanks)
    indentation = builder.repeat(builder.byte_class(b" \t"), 0, whitespace.max_indentation)
    return builder.choice([blanks, builder.sequence([builder.literal(b"\n"), indentation])])


def _refused(argument: str, what: str) -> MaskwrightError:
    return MaskwrightError(f"{argument} {what}", where=argument, code=f"argument.{argument}")
