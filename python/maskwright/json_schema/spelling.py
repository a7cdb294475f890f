r"""How is a character of a string written in JSON? One canonical spelling, or all of them.

    character          canonical (generate)       every spelling (accept)
    letter, digit, ..  raw                        raw, \uXXXX
    quote, backslash   \" \\                      \" \\ \uXXXX
    slash              raw                        raw, \/ \uXXXX
    U+0000 to U+001F   \b \f \n \r \t, \u00xx     \b \f \n \r \t \uXXXX
    beyond the BMP     raw                        raw, a pair of \uXXXX

The canonical spelling is what `json.dumps(.., ensure_ascii=False)` writes. Half a surrogate pair is no
character: no node here spells one, in either style.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from json.encoder import encode_basestring
from typing import Literal

from maskwright.ir import Builder, Node
from maskwright.regex.ranges import Ranges, intersect, invert, ranges_of

Style = Literal["generate", "accept"]

__all__ = ["RAW", "Spelling", "Style"]

RAW: Ranges = ((0x20, 0x21), (0x23, 0x5B), (0x5D, 0x10FFFF))
"""What JSON allows unescaped between quotes."""

_BMP: Ranges = ((0, 0xD7FF), (0xE000, 0xFFFF))
_ESCAPED = invert(RAW)
_SHORT = {0x22: '"', 0x5C: "\\", 0x08: "b", 0x0C: "f", 0x0A: "n", 0x0D: "r", 0x09: "t"}
_SLASH = 0x2F
_HEX = tuple(bytes({ord(digit), ord(digit.upper())}) for digit in "0123456789abcdef")
_LOWER_HEX = tuple(digit.encode() for digit in "0123456789abcdef")

# The digits of \uXXXX, and of a pair \uD8XX\uDCXX: each half has 4 leading digits that can be, then 2 more.
_UNIT = (_HEX, _HEX, _HEX, _HEX)
_HIGH_HALF = (_HEX[8:12], _HEX, _HEX)
_LOW_HALF = (_HEX[12:16], _HEX, _HEX)
_PAIR = _HIGH_HALF + _LOW_HALF

Digits = tuple[tuple[bytes, ...], ...]


class Spelling:
    r"""Spells characters, texts and strings into a builder, in one style.

    Nodes are remembered, so that what comes again costs a look-up.

    >>> from maskwright.ir import Builder
    >>> spelling = Spelling(Builder(), "generate")
    >>> spelling.literal("a") == spelling.builder.literal(b'"a"')
    True
    """

    __slots__ = ("_any", "_chars", "_digits", "_free", "_quote", "_written", "builder", "style")

    def __init__(self, builder: Builder, style: Style = "generate") -> None:
        if style not in ("generate", "accept"):
            raise ValueError(f"unknown style {style!r}; there are 'generate' and 'accept'")
        self.builder = builder
        self.style = style
        self._chars: dict[Ranges, Node] = {}
        self._digits: dict[tuple[Ranges, Digits], Node] = {}
        self._free: Node | None = None
        self._any: Node | None = None
        self._written: dict[Hashable, Node] = {}
        self._quote = builder.literal(b'"')

    def copy(self, builder: Builder) -> Spelling:
        """The same into a copy of the builder."""
        made = Spelling.__new__(Spelling)
        made.builder = builder
        made.style = self.style
        # What comes again is written again: the builder knows its nodes.
        made._chars, made._digits, made._written = {}, {}, {}
        made._free = self._free
        made._any = self._any
        made._quote = self._quote
        return made

    def char(self, ranges: Ranges) -> Node:
        """One character out of a set (sorted ranges), where something shapes the text, or in a key."""
        found = self._chars.get(ranges)
        if found is None:
            branches = self._canonical(ranges) if self.style == "generate" else self._every(ranges)
            found = self._chars[ranges] = self.builder.choice(branches)
        return found

    def any_char(self) -> Node:
        """One character of any kind, where something else shapes the text."""
        if self._any is None:
            self._any = self._any_spelling() if self.style == "accept" else self._any_canonical()
        return self._any

    def _any_canonical(self) -> Node:
        """What `char(EVERYTHING)` comes to, as any key of an object needs it, without the work on ranges."""
        builder = self.builder
        return builder.choice(
            [
                builder.chars(RAW),
                builder.sequence([builder.literal(b"\\"), builder.byte_class(b'"\\bfnrt')]),
                self._any_long(),
            ]
        )

    def free_char(self) -> Node:
        """One character of a string that nothing shapes: any spelling, in both styles."""
        if self._free is None:
            self._free = self._any_spelling()
        return self._free

    def _any_spelling(self) -> Node:
        """What `_every(EVERYTHING)` comes to, in 15 nodes instead of 300: this is in nearly every format."""
        builder = self.builder
        digit = builder.byte_class(b"0123456789abcdefABCDEF")
        lead = builder.literal(b"\\u")
        half = builder.byte_class(b"dD")
        two = builder.repeat(digit, 2, 2)
        plain = builder.sequence([builder.byte_class(b"0123456789abcefABCEF"), builder.repeat(digit, 3, 3)])
        below = builder.sequence([half, builder.byte_class(b"01234567"), two])
        high = builder.sequence([half, builder.byte_class(b"89abAB"), two])
        low = builder.sequence([half, builder.byte_class(b"cdefCDEF"), two])
        return builder.choice(
            [
                builder.chars(RAW),
                builder.sequence([builder.literal(b"\\"), builder.byte_class(b'"\\/bfnrt')]),
                builder.sequence([lead, builder.choice([plain, below])]),
                builder.sequence([lead, high, lead, low]),
            ]
        )

    def codes(self, codes: Sequence[int]) -> Node:
        """These code points, one after the other."""
        return self.text("".join(map(chr, codes)))

    def text(self, text: str) -> Node:
        """The text, without quotes. The empty language if it holds half a surrogate pair."""
        builder = self.builder
        if self.style == "generate":
            try:
                return builder.literal(encode_basestring(text)[1:-1].encode())
            except UnicodeEncodeError:
                return builder.empty()
        parts = []
        for character in text:
            code = ord(character)
            if 0xD800 <= code <= 0xDFFF:
                return builder.empty()
            parts.append(self.char(((code, code),)))
        return builder.sequence(parts)

    def literal(self, text: str) -> Node:
        """The text as a JSON string, quotes and all."""
        if self.style == "generate":
            try:
                return self.builder.literal(encode_basestring(text).encode())
            except UnicodeEncodeError:
                return self.builder.empty()
        body = self.text(text)
        return body if body == self.builder.empty() else self.string(body)

    def each(self, texts: Iterable[str]) -> list[Node]:
        """`literal` of each text."""
        if self.style == "generate":
            try:
                spelled = [*map(str.encode, map(encode_basestring, texts))]
            except UnicodeEncodeError:  # half a surrogate pair: then one by one
                return [self.literal(text) for text in texts]
            return self.builder.each_literal(spelled)
        return [self.literal(text) for text in texts]

    def literals(self, texts: Iterable[str], others: Iterable[bytes] = ()) -> Node:
        """Any of the texts as JSON strings, or of other JSON values; one node in the canonical spelling,
        however many there are."""
        if self.style == "accept":
            plain = map(self.builder.literal, others)
            return self.builder.choice([*map(self.literal, sorted(set(texts))), *plain])
        words = list(others)
        for text in texts:
            try:
                words.append(encode_basestring(text).encode())
            except UnicodeEncodeError:
                continue
        return self.builder.literals(words)

    def string(self, body: Node) -> Node:
        """`body` between quotes."""
        return self.builder.sequence([self._quote, body, self._quote])

    def remember(self, key: Hashable, write: Callable[[], Node]) -> Node:
        """The node that `write` gave for this key the first time."""
        found = self._written.get(key)
        if found is None:
            found = self._written[key] = write()
        return found

    # The two styles

    def _canonical(self, ranges: Ranges) -> list[Node]:
        """Raw where JSON has it raw, else the short escape, else `\\u00xx`."""
        builder = self.builder
        raw = intersect(ranges, RAW)
        branches = [builder.chars(raw)] if raw else []
        escaped = _members(intersect(ranges, _ESCAPED))
        short = bytes(ord(_SHORT[code]) for code in escaped if code in _SHORT)
        if short:
            branches.append(builder.sequence([builder.literal(b"\\"), builder.byte_class(short)]))
        long = ranges_of((code, code) for code in escaped if code not in _SHORT)
        if long == _LONG:
            branches.append(self._any_long())
        elif long:
            digits = self._number(long, (_LOWER_HEX, _LOWER_HEX))
            branches.append(builder.sequence([builder.literal(b"\\u00"), digits]))
        return branches

    def _any_long(self) -> Node:
        """What `_canonical` comes to for all that has no short escape, without the work on ranges."""
        builder = self.builder
        first = builder.sequence([builder.literal(b"0"), builder.byte_class(b"01234567bef")])
        second = builder.sequence([builder.literal(b"1"), builder.byte_class(b"0123456789abcdef")])
        return builder.sequence([builder.literal(b"\\u00"), builder.choice([first, second])])

    def _every(self, ranges: Ranges) -> list[Node]:
        """Raw, the short escape, the slash's, `\\uXXXX` in upper and lower case, pairs of those."""
        builder = self.builder
        raw = intersect(ranges, RAW)
        branches = [builder.chars(raw)] if raw else []
        short = [ord(letter) for code, letter in _SHORT.items() if intersect(ranges, ((code, code),))]
        if intersect(ranges, ((_SLASH, _SLASH),)):
            short.append(_SLASH)
        if short:
            branches.append(builder.sequence([builder.literal(b"\\"), builder.byte_class(short)]))
        unit = intersect(ranges, _BMP)
        if unit:
            branches.append(builder.sequence([builder.literal(b"\\u"), self._number(unit, _UNIT)]))
        beyond = intersect(ranges, ((0x10000, 0x10FFFF),))
        pair = tuple((low - 0x10000, high - 0x10000) for low, high in beyond)
        if pair:
            lead = builder.sequence([builder.literal(b"\\u"), builder.byte_class(b"dD")])
            branches.append(builder.sequence([lead, self._number(pair, _PAIR)]))
        return branches

    def _number(self, ranges: Ranges, digits: Digits) -> Node:
        """The numbers of a set, place by place: each place has its own digits, each digit its bytes."""
        key = (ranges, digits)
        found = self._digits.get(key)
        if found is None:
            found = self._digits[key] = self._first_digit(ranges, digits)
        return found

    def _first_digit(self, ranges: Ranges, digits: Digits) -> Node:
        builder = self.builder
        first, rest = digits[0], digits[1:]
        size = 1
        for place in rest:
            size *= len(place)
        leads: dict[Ranges, list[int]] = {}
        for value, spelled in enumerate(first):
            begin = value * size
            inside = intersect(ranges, ((begin, begin + size - 1),))
            if inside:
                shifted = tuple((low - begin, high - begin) for low, high in inside)
                leads.setdefault(shifted, []).extend(spelled)
        if not rest:
            return builder.choice([builder.byte_class(lead) for lead in leads.values()])
        between: list[Node] = []
        if rest == _LOW_HALF:
            between = [builder.literal(b"\\u"), builder.byte_class(b"dD")]
        return builder.choice(
            [
                builder.sequence([builder.byte_class(lead), *between, self._number(shifted, rest)])
                for shifted, lead in leads.items()
            ]
        )


_LONG = ranges_of(
    (code, code) for low, high in _ESCAPED for code in range(low, high + 1) if code not in _SHORT
)


def _members(ranges: Ranges) -> list[int]:
    """The code points of a small set."""
    return [code for low, high in ranges for code in range(low, high + 1)]
