"""What does an ECMA-262 pattern say? Reads it with the `u` flag, or else by the older rules of Annex B.

A pattern that is legal under `u` means what it means there. One that is not, but is legal without (`\\-`
outside a set, a lone `]` or `{`, `[\\w-.]`), is read by Annex B, as validators do that try both. Its text
still is a string of code points: a character beyond the BMP is one character, never two. A pattern that Annex
B would read in a way its writer cannot have meant (`\\p{L}` as the letter p and braces, `\\u{61}` as 61 times
u) is refused with the reason of `u`.
"""

from __future__ import annotations

import re
from typing import NoReturn

from maskwright.errors import PatternError
from maskwright.regex.classes import (
    ASCII_DIGIT,
    ASCII_WORD,
    ECMA_NEWLINE,
    ECMA_SPACE,
    UNICODE_VERSION,
    property_class,
)
from maskwright.regex.ranges import EVERYTHING, Ranges, invert, ranges_of, union
from maskwright.regex.reader import ASSERTION, ATOM, QUANTIFIED, Group, Reader, single
from maskwright.regex.syntax import (
    TEXT_END,
    TEXT_START,
    Chars,
    Tree,
    look,
    no_word_boundary,
    repeat,
    word_boundary,
)

_SYNTAX = "^$\\.*+?()[]{}|"
_DIGITS = "0123456789"
_HEX = "0123456789abcdefABCDEF"
_LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
_CONTROLS = {"f": 12, "n": 10, "r": 13, "t": 9, "v": 11}
_CLASSES: dict[str, Ranges] = {
    "d": ASCII_DIGIT,
    "D": invert(ASCII_DIGIT),
    "w": ASCII_WORD,
    "W": invert(ASCII_WORD),
    "s": ECMA_SPACE,
    "S": invert(ECMA_SPACE),
}
_DOT = Chars(invert(ECMA_NEWLINE))
_CLASS_TREES = {letter: Chars(ranges) for letter, ranges in _CLASSES.items()}
_WORD_BOUNDARY = word_boundary(ASCII_WORD)
_NO_WORD_BOUNDARY = no_word_boundary(ASCII_WORD, in_empty_text=True)
_PLAIN_RUN = re.compile(r"[^\^$\\.*+?()\[\]{}|]+")
_CLASS_ESCAPES = "dDwWsSpP"


def read_ecma(pattern: str) -> Tree:
    r"""The tree of an ECMA-262 pattern.

    >>> read_ecma(r"\_").ranges  # legal without `u` only
    ((95, 95),)
    """
    try:
        return EcmaReader(pattern, unicode=True).read()
    except PatternError as strict:
        if strict.code != "pattern":  # understood, and not to be enforced
            raise
        try:
            return EcmaReader(pattern, unicode=False).read()
        except PatternError as loose:
            if loose.code != "pattern":
                raise loose from None
            raise strict from None


class EcmaReader(Reader):
    """Reads one ECMA-262 pattern, under `u` or by Annex B."""

    __slots__ = ("_groups", "_has_names", "_open", "_unicode")

    def __init__(self, text: str, *, unicode: bool) -> None:
        super().__init__(text)
        self._unicode = unicode
        self._open = Group("whole", 0)
        self._groups: list[Group] = []
        self._has_names = not unicode and _names_a_group(text)

    def read(self) -> Tree:  # noqa: PLR0912 - dispatch
        """The tree of the whole pattern."""
        text, end = self.text, self.end
        while self.place < end:
            here = self.place
            char = text[here]
            group = self._open
            self.place = here + 1
            if char not in _SYNTAX:
                run = _PLAIN_RUN.match(text, here)
                assert run is not None
                self.place = run.end()
                group.add_characters(run.group())
            elif char == "\\":
                self._escape(here)
            elif char == "[":
                group.add(self._set(here))
            elif char == "(":
                self._open_group(here)
            elif char == ")":
                self._close_group(here)
            elif char == "|":
                group.next_branch()
            elif char == ".":
                group.add(_DOT)
            elif char == "^":
                group.add(TEXT_START, ASSERTION)
            elif char == "$":
                group.add(TEXT_END, ASSERTION)
            elif char in "]}":
                self._lone(char, here)
            else:
                self._quantifier(char, here)
        if self._groups:
            raise self.error("a group is not closed", self._open.start, try_="close it with ')'")
        return self._open.tree()

    def _lone(self, char: str, here: int) -> None:
        """A closing bracket or brace that closes nothing."""
        if self._unicode:
            raise self.error(f"a lone {char!r}", here, try_=f"'\\{char}' for the character")
        self._open.add(single(ord(char)))

    # Escapes

    def _escape(self, here: int) -> None:
        """A backslash outside a set."""
        if self.place >= self.end:
            raise self.error("the pattern ends in a backslash", here)
        char = self.text[self.place]
        group = self._open
        if char in _CLASS_TREES:
            self.place += 1
            group.add(_CLASS_TREES[char])
        elif char in "bB":
            self.place += 1
            group.add(_WORD_BOUNDARY if char == "b" else _NO_WORD_BOUNDARY, ASSERTION)
        elif char == "k" and (self._unicode or self._has_names):
            raise self._reference(here)
        elif char in "123456789":
            group.add(single(self._octal_or_reference(here)))
        elif char in "pP":
            group.add(Chars(self._property(here)))
        else:
            group.add(single(self._escaped_code(here, in_set=False)))

    def _reference(self, here: int) -> PatternError:
        """`\\k<name>`: a back-reference if it is one at all."""
        close = self.text.find(">", self.place)
        if self.text[self.place + 1 : self.place + 2] != "<" or close < 0:
            return self.error("\\k takes a group name in angle brackets", here)
        return self.no_backreference(here)

    def _octal_or_reference(self, here: int) -> int:
        """A backslash and a digit: a back-reference if there are so many groups; else, by Annex B, octal."""
        digits = self.take_digits(_DIGITS, self.end)
        groups = _count_groups(self.text)
        if len(digits) < 10 and int(digits) <= groups:
            raise self.no_backreference(here)
        if self._unicode:
            raise self.error(f"there is no group {digits[:10]}", here)
        self.place = here + 1
        return self._legacy_octal()

    def _legacy_octal(self) -> int:
        r"""`\0` to `\377`; `\8` and `\9` stand for themselves."""
        char = self.text[self.place]
        if char in "89":
            self.place += 1
            return ord(char)
        return int(self.take_digits("01234567", 3 if char in "0123" else 2), 8)

    def _escaped_code(self, here: int, *, in_set: bool) -> int:  # noqa: PLR0911 - dispatch
        """The character that an escape stands for."""
        char = self.text[self.place]
        if char == "0" and (self.text[self.place + 1 : self.place + 2] or "-") not in _DIGITS:
            self.place += 1
            return 0
        if char in _DIGITS and not self._unicode:
            return self._legacy_octal()
        self.place += 1
        if char in _CONTROLS:
            return _CONTROLS[char]
        if char == "c":
            return self._control(here, in_set=in_set)
        if char == "x":
            return self._hexadecimal(here)
        if char == "u":
            return self._unicode_escape(here)
        legal = char in _SYNTAX or char == "/" or (in_set and char == "-") if self._unicode else True
        if not legal or (char == "k" and self._has_names):
            raise self.error(f"unknown escape \\{char}", here, try_=f"{char!r} without the backslash")
        return ord(char)

    def _control(self, here: int, *, in_set: bool) -> int:
        r"""`\cA`; in Annex B a backslash that stands for itself where no letter follows."""
        char = self.text[self.place : self.place + 1]
        if char and (char in _LETTERS or (in_set and not self._unicode and (char in _DIGITS or char == "_"))):
            self.place += 1
            return ord(char) % 32
        if self._unicode:
            raise self.error("\\c takes a letter", here)
        self.place -= 1
        return ord("\\")

    def _hexadecimal(self, here: int) -> int:
        code = self._hex_digits(2)
        if code is None and self._unicode:
            raise self.error("\\x takes two hexadecimal digits", here)
        return ord("x") if code is None else code

    def _hex_digits(self, count: int) -> int | None:
        """Exactly so many digits, or none."""
        start = self.place
        digits = self.take_digits(_HEX, count)
        if len(digits) == count:
            return int(digits, 16)
        self.place = start
        return None

    def _unicode_escape(self, here: int) -> int:
        r"""`\uXXXX`, a surrogate pair of them, `\u{X..}`."""
        if self.text.startswith("{", self.place):
            return self._braced(here)
        code = self._hex_digits(4)
        if code is None:
            if self._unicode:
                raise self.error("\\u takes four hexadecimal digits, or some in braces", here)
            return ord("u")
        if 0xD800 <= code <= 0xDBFF and self.text.startswith("\\u", self.place):
            start = self.place
            self.place += 2
            second = self._hex_digits(4)
            if second is not None and 0xDC00 <= second <= 0xDFFF:
                return 0x10000 + (code - 0xD800 << 10) + (second - 0xDC00)
            self.place = start
        return code

    def _braced(self, here: int) -> int:
        close = self.text.find("}", self.place)
        digits = self.text[self.place + 1 : close] if close > 0 else ""
        legal = bool(digits) and all(digit in _HEX for digit in digits)
        if not self._unicode:
            raise self._not_meant("\\u{", here)
        if not legal or len(digits.lstrip("0")) > 6 or int(digits, 16) > EVERYTHING[0][1]:
            raise self.error("\\u{} takes a code point in hexadecimal", here, why="code points end at 10FFFF")
        self.place = close + 1
        return int(digits, 16)

    def _not_meant(self, what: str, here: int) -> PatternError:
        """Annex B would read this escape as plain letters, and nobody means that."""
        return self.error(
            f"{what} has its meaning under the flag u only, where the pattern is not legal", here
        )

    def _property(self, here: int) -> Ranges:
        r"""`\p{..}` or its complement `\P{..}`."""
        negative = self.text[self.place] == "P"
        self.place += 1
        close = self.text.find("}", self.place)
        if not self.text.startswith("{", self.place) or close < 0:
            if not self._unicode:
                return ((ord("p") - 32 * negative,) * 2,)
            raise self.error("\\p takes a property in braces", here)
        if not self._unicode:
            raise self._not_meant("\\p{", here)
        words = self.text[self.place + 1 : close]
        name, equals, value = words.partition("=")
        members = property_class(name, value if equals else None)
        if members is None:
            raise self.error(
                f"unknown Unicode property {words!r}",
                here,
                why=f"names are those of ECMA-262, exactly so spelled, in Unicode {UNICODE_VERSION}",
                try_="\\p{L}, \\p{Lu}, \\p{Script=Greek}, \\p{Alphabetic}",
            )
        self.place = close + 1
        return invert(members) if negative else members

    # Sets

    def _set(self, here: int) -> Tree:
        """A set in brackets; `[]` is no character, `[^]` any."""
        text = self.text
        negative = self.take_if("^")
        spans: list[tuple[int, int]] = []
        classes: list[Ranges] = []

        def put(item: int | Ranges) -> None:
            if isinstance(item, int):
                spans.append((item, item))
            else:
                classes.append(item)

        while True:
            start = self.place
            if start >= self.end:
                raise self.error("a set is not closed", here, try_="close it with ']', or write '\\['")
            if text[start] == "]":
                self.place += 1
                break
            low = self._set_item(start)
            if not text.startswith("-", self.place) or text.startswith("-]", self.place):
                put(low)
                continue
            self.place += 1
            if self.place >= self.end:
                continue
            high = self._set_item(self.place)
            if isinstance(low, int) and isinstance(high, int):
                if high < low:
                    raise self.error(f"bad character range {text[start : self.place]}", start)
                spans.append((low, high))
            elif self._unicode:
                raise self.error("a range goes from one character to another", start)
            else:  # Annex B: three members
                put(low)
                put(ord("-"))
                put(high)
        members = union(ranges_of(spans), *classes) if classes else ranges_of(spans)
        return Chars(invert(members) if negative else members)

    def _set_item(self, start: int) -> int | Ranges:
        """One character or class inside a set."""
        char = self.text[start]
        self.place = start + 1
        if char != "\\":
            return ord(char)
        if self.place >= self.end:
            raise self.error("the pattern ends in a backslash", start)
        char = self.text[self.place]
        if char in "pP":
            return self._property(start)
        if char in _CLASSES:
            self.place += 1
            return _CLASSES[char]
        if char == "b":
            self.place += 1
            return 8
        return self._escaped_code(start, in_set=True)

    # Groups

    def _open_group(self, here: int) -> None:
        """An opening parenthesis, with what follows its question mark."""
        kind = "group"
        if self.take_if("?"):
            if self.take_if("<="):
                kind = "behind="
            elif self.take_if("<!"):
                kind = "behind!"
            elif self.take_if("="):
                kind = "ahead="
            elif self.take_if("!"):
                kind = "ahead!"
            elif self.take_if("<"):
                self._name(here)
            elif not self.take_if(":"):
                self._unknown_group(here)
        self._groups.append(self._open)
        self._open = Group(kind, here)

    def _name(self, here: int) -> None:
        """A group's name."""
        close = self.text.find(">", self.place)
        name = self.text[self.place : close] if close > 0 else ""
        if not name.replace("$", "_").isidentifier():
            raise self.error(
                f"bad group name {name!r}", here, why="a name is an identifier, spelled without escapes"
            )
        self.declare(name, self.place)
        self.place = close + 1

    def _unknown_group(self, here: int) -> NoReturn:
        char = self.text[self.place : self.place + 1]
        if char and char in "ims-":
            raise self.unsupported(
                "cannot enforce flags inside an ECMA-262 pattern",
                here,
                "case folding and the like are not part of this dialect here",
                "both cases in a set: [aA]",
                "modifiers",
            )
        try_ = "(?<name>...)" if self.text.startswith("P<", self.place) else None
        raise self.error(f"unknown group (?{char}", here, try_=try_)

    def _close_group(self, here: int) -> None:
        if not self._groups:
            raise self.error("no group is open here", here, try_="'\\)' for the character")
        group = self._open
        self._open = self._groups.pop()
        tree = group.tree()
        if group.kind == "group":
            self._open.add(tree)
            return
        ahead = group.kind.startswith("ahead")
        # Annex B lets a lookahead be repeated.
        last = ATOM if ahead and not self._unicode else ASSERTION
        self._open.add(look(tree, ahead=ahead, negative=group.kind.endswith("!"), offset=group.start), last)

    # Quantifiers

    def _quantifier(self, char: str, here: int) -> None:
        group = self._open
        bounds = self._bounds(char, here)
        if bounds is None:
            if self._unicode:
                raise self.error("a lone '{'", here, try_="'\\{' for the character")
            group.add(single(ord(char)))
            return
        if group.last != ATOM:
            raise self.error("nothing to repeat", here)
        self.take_if("?")
        group.items[-1] = repeat(group.items[-1], *bounds)
        group.last = QUANTIFIED

    def _bounds(self, char: str, here: int) -> tuple[int, int | None] | None:
        """The bounds of a quantifier; None if a brace stands for itself."""
        if char != "{":
            return (1 if char == "+" else 0), (1 if char == "?" else None)
        low = self.take_digits(_DIGITS, self.end)
        comma = bool(low) and self.take_if(",")
        high = self.take_digits(_DIGITS, self.end) if comma else low
        if not low or not self.take_if("}"):
            self.place = here + 1
            return None
        bounds = self.count(low, here), (self.count(high, here) if high else None)
        if bounds[1] is not None and bounds[1] < bounds[0]:
            raise self.error("the bounds of a repetition are in the wrong order", here)
        return bounds


def _count_groups(text: str) -> int:
    """How many groups capture; escapes and sets are stepped over."""
    return sum(1 for place in _openings(text) if not text.startswith("?", place + 1) or _is_name(text, place))


def _names_a_group(text: str) -> bool:
    return "(?<" in text and any(_is_name(text, place) for place in _openings(text))


def _is_name(text: str, place: int) -> bool:
    return text.startswith("?<", place + 1) and text[place + 3 : place + 4] not in ("=", "!")


def _openings(text: str) -> list[int]:
    """Where groups open."""
    found = []
    place = 0
    in_set = False
    while place < len(text):
        char = text[place]
        if char == "\\":
            place += 1
        elif in_set:
            in_set = char != "]"
        elif char == "[":
            in_set = True
        elif char == "(":
            found.append(place)
        place += 1
    return found
