"""How much white space may stand between JSON's tokens?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from maskwright.errors import MaskwrightError
from maskwright.ir import Builder, Node

__all__ = ["ANY", "Layout", "Whitespace", "choose_whitespace"]

Preset = Literal["flexible", "compact", "spaced"]

MAX_FIXED = 1_000
"""Characters of a separator, or of one level of an indentation: each is a state of the format."""


@dataclass(frozen=True, slots=True)
class Whitespace:
    r"""White space between JSON's tokens, inside the root value; none stands around it.

    max_blanks, max_indentation    flexible, the default: at each place up to so many blanks, or one line
                                   break and up to so many blanks or tabs; -1: any number
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
        for name in ("item_separator", "key_separator", "indent"):
            given = getattr(self, name)
            length = len(given) if isinstance(given, str) else given
            if isinstance(length, int) and length > MAX_FIXED:
                raise _refused(name, f"must be no longer than {MAX_FIXED:,} characters")
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
    """White space as nodes: separators, and what stands inside the brackets of a container. For a builder and
    its copies."""

    __slots__ = ("_ends", "_inside", "_nests", "around", "colon", "comma")

    def __init__(self, builder: Builder, whitespace: Whitespace) -> None:
        self._nests = whitespace.indent is not None
        nothing = builder.literal(b"")
        self.around = nothing
        self._inside = nothing
        """What stands before the first part of a container, and after the last."""
        if not whitespace.is_fixed:
            blank = self._inside = _flexible(builder, whitespace)
            self.comma = builder.sequence([blank, builder.literal(b","), blank])
            self.colon = builder.sequence([blank, builder.literal(b":"), blank])
            if whitespace == ANY:
                self.around = blank
        else:
            self._fix(builder, whitespace)
        self._ends = {brackets: self._brackets(builder, brackets) for brackets in (b"{}", b"[]")}

    def _fix(self, builder: Builder, whitespace: Whitespace) -> None:
        """The one layout that is asked for."""
        self.comma = builder.literal((whitespace.item_separator or ",").encode())
        key = whitespace.key_separator or (": " if self._nests else ":")
        self.colon = builder.literal(key.encode())
        if whitespace.indent is not None:
            line = self._inside = builder.indentation(b"\n", str(whitespace.indent).encode())
            self.comma = builder.sequence([self.comma, line])

    def _brackets(self, builder: Builder, brackets: bytes) -> tuple[Node, Node, Node]:
        """What opens a container, what closes one that has parts, and what closes an empty one."""
        inside = self._inside
        opening, closing = builder.literal(brackets[:1]), builder.literal(brackets[1:])
        if inside == builder.literal(b""):
            return opening, closing, closing
        last = builder.sequence([inside, closing])
        return (opening if self._nests else builder.sequence([opening, inside])), last, closing

    def container(self, builder: Builder, brackets: bytes, body: Node | None, may_be_empty: bool) -> Node:
        """`body`, never without a text, in brackets; the empty container too, or alone where there is no
        body."""
        opening, last, closing = self._ends[brackets]
        if body is None:
            return builder.sequence([opening, closing]) if may_be_empty else builder.empty()
        if self._nests:
            body = builder.nested(builder.sequence([self._inside, body]))
        return builder.enclosed(opening, body, last, closing if may_be_empty else None)


def _flexible(builder: Builder, whitespace: Whitespace) -> Node:
    if whitespace == ANY:
        return builder.repeat(builder.byte_class(b" \t\r\n"), 0, None)
    most, deepest = (None if n == -1 else n for n in (whitespace.max_blanks, whitespace.max_indentation))
    blanks = builder.repeat(builder.literal(b" "), 0, most)
    indentation = builder.repeat(builder.byte_class(b" \t"), 0, deepest)
    lines = builder.sequence([builder.literal(b"\n"), indentation])
    return builder.reference(builder.rule("white space", builder.choice([blanks, lines])))


def _refused(argument: str, what: str) -> MaskwrightError:
    return MaskwrightError(f"{argument} {what}", where=argument, code=f"argument.{argument}")
