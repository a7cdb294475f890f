"""What does a Python pattern say? Reads `str` and `bytes` patterns as CPython 3.11 to 3.13 reads them.

Everything that `re.compile` refuses is refused here. Back-references, conditionals, possessive quantifiers,
atomic groups and locale flags are refused too: their languages are not regular, or not fixed. Laziness and
capturing do not change what a full match accepts and are dropped.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache, lru_cache
from typing import NoReturn

from maskwright.regex.classes import (
    ASCII_DIGIT,
    ASCII_SPACE,
    ASCII_WORD,
    NEWLINE,
    fold_ascii,
    fold_unicode,
    is_assigned,
    python_class,
)
from maskwright.regex.ranges import EVERYTHING, NOTHING, Ranges, contains, invert, ranges_of, union
from maskwright.regex.reader import ASSERTION, NOTHING_YET, QUANTIFIED, Group, Reader, single
from maskwright.regex.syntax import (
    ANY_SIDE,
    LAST_LINE_END,
    TEXT_END,
    TEXT_START,
    Chars,
    Gap,
    Look,
    Side,
    Tree,
    look,
    no_word_boundary,
    repeat,
    word_boundary,
)

IGNORE_CASE = 1
MULTI_LINE = 2
DOT_ALL = 4
VERBOSE = 8
ASCII = 16
UNICODE = 32
LOCALE = 64
_FLAGS = {
    "i": IGNORE_CASE,
    "m": MULTI_LINE,
    "s": DOT_ALL,
    "x": VERBOSE,
    "a": ASCII,
    "u": UNICODE,
    "L": LOCALE,
}
_TYPES = ASCII | UNICODE | LOCALE

_BLANKS = " \t\n\r\v\f"
_SPECIAL = ".\\[{()*+?^$|"
_LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
_DIGITS = "0123456789"
_OCTAL = "01234567"
_HEX = "0123456789abcdefABCDEF"
_CONTROLS = {"a": 7, "b": 8, "f": 12, "n": 10, "r": 13, "t": 9, "v": 11, "\\": 92}
_NUMBERED = {"x": 2, "u": 4, "U": 8}
_NOT_NEWLINE = Chars(invert(NEWLINE))
_ANY = Chars(EVERYTHING)
_LINE_START = Gap((Side(NEWLINE, True), ANY_SIDE))
_LINE_END = Gap((ANY_SIDE, Side(NEWLINE, True)))

_CLASSES: dict[tuple[str, bool], Ranges] = {}


def _class(letter: str, ascii_only: bool) -> Ranges:
    r"""The set of `\d`, `\w`, `\s` or their complements."""
    found = _CLASSES.get((letter, ascii_only))
    if found is None:
        if letter.isupper():
            found = invert(_class(letter.lower(), ascii_only))
        elif ascii_only:
            found = {"d": ASCII_DIGIT, "w": ASCII_WORD, "s": ASCII_SPACE}[letter]
        else:
            found = python_class({"d": "digit", "w": "word", "s": "space"}[letter])
        _CLASSES[letter, ascii_only] = found
    return found


_PLAIN_RUN = re.compile(r"[^.\\\[{()*+?^$|]+")


@cache
def _boundary(char: str, ascii_only: bool) -> Tree:
    """A word boundary, or none: up to Python 3.13 there is none either in the empty text."""
    word = _class("w", ascii_only)
    return word_boundary(word) if char == "b" else no_word_boundary(word, in_empty_text=False)


@lru_cache(4096)
def _folded_single(code: int, ascii_only: bool) -> Chars:
    """One character in all its cases."""
    if ascii_only:
        return Chars(fold_ascii(((code, code),), NOTHING))
    return Chars(fold_unicode([code], [], NOTHING, alone=True))


class PythonReader(Reader):
    """Reads one Python pattern. `wide`: a `str` pattern; else a bytes pattern, decoded as Latin-1."""

    __slots__ = ("_groups", "_open", "_wide")

    def __init__(self, text: str, *, wide: bool) -> None:
        super().__init__(text)
        self._wide = wide
        self._open = Group("whole", 0, 0 if wide else ASCII)
        self._groups: list[Group] = []

    def read(self) -> Tree:  # noqa: PLR0912 - dispatch
        """The tree of the whole pattern."""
        text, end = self.text, self.end
        while self.place < end:
            here = self.place
            char = text[here]
            group = self._open
            self.place = here + 1
            if group.flags & VERBOSE and (char in _BLANKS or char == "#"):
                self._skip_verbose(char)
            elif char not in _SPECIAL:
                self._characters(here)
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
                group.add(_ANY if group.flags & DOT_ALL else _NOT_NEWLINE)
            elif char == "^":
                group.add(_LINE_START if group.flags & MULTI_LINE else TEXT_START, ASSERTION)
            elif char == "$":
                group.add(self._dollar(here, group.flags), ASSERTION)
            else:
                self._quantifier(char, here)
        if self._groups:
            raise self.error("a group is not closed", self._open.start, try_="close it with ')'")
        return self._open.tree()

    def _skip_verbose(self, char: str) -> None:
        if char == "#":
            self._skip_past("\n")

    def _skip_past(self, closing: str) -> bool:
        """Step over a comment and its closing sign; as in Python, a backslash hides the sign after it."""
        while self.place < self.end:
            char = self.text[self.place]
            self.place += 1
            if char == closing:
                return True
            if char == "\\":
                if self.place >= self.end:
                    raise self.error("the pattern ends in a backslash", self.place - 1)
                self.place += 1
        return False

    def _dollar(self, here: int, flags: int) -> Tree:
        if flags & MULTI_LINE:
            return _LINE_END
        return Look(LAST_LINE_END, ahead=True, negative=False, offset=here)

    # Single characters

    def _characters(self, here: int) -> None:
        """One character, or a run of them, standing for themselves."""
        group = self._open
        if group.flags & (VERBOSE | IGNORE_CASE):
            group.add(self._single(ord(self.text[here]), group.flags))
            return
        run = _PLAIN_RUN.match(self.text, here)
        assert run is not None
        self.place = run.end()
        group.add_characters(run.group())

    def _single(self, code: int, flags: int) -> Tree:
        """One given character, in both cases if so flagged."""
        if not flags & IGNORE_CASE:
            return single(code)
        return _folded_single(code, bool(flags & ASCII))

    def _escape(self, here: int) -> None:
        """A backslash outside a set."""
        group = self._open
        if self.place >= self.end:
            raise self.error("the pattern ends in a backslash", here)
        char = self.text[self.place]
        ascii_only = bool(group.flags & ASCII)
        if char in "dDwWsS":
            self.place += 1
            group.add(Chars(_class(char, ascii_only)))
        elif char in "AZbB":
            self.place += 1
            group.add(self._assertion(char, ascii_only), ASSERTION)
        elif char in _DIGITS:
            group.add(self._single(self._octal_or_reference(here), group.flags))
        else:
            group.add(self._single(self._escaped_code(here), group.flags))

    def _assertion(self, char: str, ascii_only: bool) -> Tree:
        if char == "A":
            return TEXT_START
        if char == "Z":
            return TEXT_END
        return _boundary(char, ascii_only)

    def _octal_or_reference(self, here: int) -> int:
        """A backslash and a digit: octal with a leading 0 or three octal digits, else a back-reference."""
        if self.text[self.place] == "0":
            return int(self.take_digits(_OCTAL, 3), 8)
        digits = self.text[self.place : self.place + 3]
        if len(digits) == 3 and all(digit in _OCTAL for digit in digits):
            self.place += 3
            return self._octal(digits, here)
        raise self.no_backreference(here)

    def _octal(self, digits: str, here: int) -> int:
        code = int(digits, 8)
        if code > 0o377:
            raise self.error(f"octal escape \\{digits} is beyond \\377", here)
        return code

    def _escaped_code(self, here: int) -> int:
        """The character that an escape stands for, inside sets and outside."""
        char = self.text[self.place]
        self.place += 1
        if char in _CONTROLS:
            return _CONTROLS[char]
        if char == "x" or (self._wide and char in "uU"):
            return self._numbered(char, here)
        if char == "N" and self._wide:
            return self._named(here)
        if char in _LETTERS or char in _DIGITS:
            raise self.error(f"unknown escape \\{char}", here)
        return ord(char)

    def _numbered(self, char: str, here: int) -> int:
        wanted = _NUMBERED[char]
        digits = self.take_digits(_HEX, wanted)
        if len(digits) != wanted:
            raise self.error(
                f"incomplete escape \\{char}{digits}", here, why=f"it takes {wanted} hexadecimal digits"
            )
        code = int(digits, 16)
        if code > EVERYTHING[0][1]:
            raise self.error(f"there is no character \\{char}{digits}", here)
        return code

    def _named(self, here: int) -> int:
        r"""`\N{name}`: names never change, but newer ones are not in the fixed version."""
        close = self.text.find("}", self.place)
        if not self.take_if("{") or close < 0:
            raise self.error("\\N takes a name in braces", here)
        name = self.text[self.place : close]
        self.place = close + 1
        try:
            code = ord(unicodedata.lookup(name))
        except (KeyError, TypeError):
            raise self.error(f"undefined character name {name!r}", here) from None
        if not is_assigned(code):
            raise self.error(f"the character {name!r} is newer than the Unicode version used here", here)
        return code

    # Sets

    def _set(self, here: int) -> Tree:
        """A set in brackets."""
        flags = self._open.flags
        negative = self.take_if("^")
        singles: list[int] = []
        spans: list[tuple[int, int]] = []
        classes: list[Ranges] = []
        first = self.place
        while True:
            start = self.place
            if start >= self.end:
                self._unterminated_set(here)
            if self.text[start] == "]" and start != first:
                self.place += 1
                break
            low = self._set_item(start, flags)
            if self.text.startswith("-", self.place) and not self.text.startswith("-]", self.place):
                self.place += 1
                high = (
                    self._set_item(self.place, flags)
                    if self.place < self.end
                    else self._unterminated_set(here)
                )
                if not isinstance(low, int) or not isinstance(high, int) or high < low:
                    raise self.error(f"bad character range {self.text[start : self.place]}", start)
                spans.append((low, high))
            elif isinstance(low, int):
                singles.append(low)
            else:
                classes.append(low)
        members = self._folded(singles, spans, classes, flags)
        return Chars(invert(members) if negative else members)

    def _unterminated_set(self, here: int) -> NoReturn:
        raise self.error("a set is not closed", here, try_="close it with ']', or write '\\['")

    def _set_item(self, start: int, flags: int) -> int | Ranges:
        """One character or class inside a set."""
        char = self.text[start]
        self.place = start + 1
        if char != "\\":
            return ord(char)
        if self.place >= self.end:
            raise self.error("the pattern ends in a backslash", start)
        char = self.text[self.place]
        if char in "dDwWsS":
            self.place += 1
            return _class(char, bool(flags & ASCII))
        if char in _OCTAL:
            return self._octal(self.take_digits(_OCTAL, 3), start)
        return self._escaped_code(start)

    def _folded(
        self, singles: list[int], spans: list[tuple[int, int]], classes: list[Ranges], flags: int
    ) -> Ranges:
        """The union of a set's members, in both cases if so flagged."""
        others = union(*classes) if classes else NOTHING
        members = ranges_of([*((code, code) for code in singles), *spans])
        if not flags & IGNORE_CASE:
            return union(members, others) if others else members
        if flags & ASCII:
            # As for `str`: without cased members, the text's characters are not lower cased either.
            cased = any(
                contains(members, code) for low, high in ASCII_WORD[1::2] for code in range(low, high + 1)
            )
            return fold_ascii(members, others) if cased else union(members, others)
        alone = len(set(singles)) == 1 and not spans and not classes
        return fold_unicode(singles, spans, others, alone=alone)

    # Groups

    def _open_group(self, here: int) -> None:
        """An opening parenthesis, with what follows its question mark."""
        flags = self._open.flags
        if not self.take_if("?"):
            self._push(Group("group", here, flags))
            return
        char = self.text[self.place : self.place + 1]
        self.place += 1
        if char == ":":
            self._push(Group("group", here, flags))
        elif char == "#":
            if not self._skip_past(")"):
                raise self.error("a comment is not closed", here)
        elif char and char in "=!":
            self._push(Group("ahead" + char, here, flags))
        elif char == "<" and self.text[self.place : self.place + 1] in ("=", "!"):
            self.place += 1
            self._push(Group("behind" + self.text[self.place - 1], here, flags))
        elif char == "P":
            self._named_group(here, flags)
        elif char and char in "(>":
            self._refuse_group(char, here)
        elif char and (char in _FLAGS or char == "-"):
            self._flags(here)
        else:
            raise self.error(f"unknown group (?{char}", here)

    def _push(self, group: Group) -> None:
        self._groups.append(self._open)
        self._open = group

    def _named_group(self, here: int, flags: int) -> None:
        if self.take_if("="):
            raise self.no_backreference(here)
        close = self.text.find(">", self.place)
        if not self.take_if("<") or close < 0:
            raise self.error("unknown group (?P", here, try_="(?P<name>...)")
        name = self.text[self.place : close]
        if not name.isidentifier() or not (self._wide or name.isascii()):
            raise self.error(f"bad group name {name!r}", self.place)
        self.declare(name, self.place)
        self.place = close + 1
        self._push(Group("group", here, flags))

    def _refuse_group(self, char: str, here: int) -> NoReturn:
        if char == "(":
            raise self.unsupported(
                "cannot enforce a conditional group",
                here,
                "it depends on whether another group took part in the match",
                "write both cases as alternatives",
                "conditional",
            )
        raise self.unsupported(
            "cannot enforce an atomic group",
            here,
            "what it matches depends on the order in which a backtracking matcher tries",
            "(?:...), with alternatives that exclude each other",
            "atomic",
        )

    def _flags(self, here: int) -> None:
        """`(?ims)` for the whole pattern, `(?im-s:` for a group."""
        self.place -= 1
        added, char = self._flag_letters(here)
        removed = 0
        if char == "-":
            removed, char = self._flag_letters(here)
            if not removed or char != ":" or removed & _TYPES or added & removed:
                raise self.error("bad flags to turn off", here)
        types = added & _TYPES
        if types & (types - 1) or types & (LOCALE if self._wide else UNICODE):
            raise self.error("these flags do not go together", here)
        if types & LOCALE:
            raise self.unsupported(
                "cannot enforce the flag L",
                here,
                "what it matches depends on the locale of the process",
                "(?a) or no flag",
                "locale",
            )
        group = self._open
        if char == ")":
            self._whole_flags(group, added, here)
        elif char == ":":
            flags = group.flags & ~_TYPES if types else group.flags
            self._push(Group("group", here, (flags | added) & ~removed))
        else:
            raise self.error(
                "bad flags", here, try_="(?i:...) for a group, (?i) at the start for the whole pattern"
            )

    def _flag_letters(self, here: int) -> tuple[int, str]:
        """The flags up to the next sign, and that sign."""
        flags = 0
        while self.place < self.end:
            char = self.text[self.place]
            self.place += 1
            if char in "-:)":
                return flags, char
            if char not in _FLAGS:
                raise self.error(f"unknown flag {char!r}", self.place - 1)
            if flags & _TYPES and _FLAGS[char] & _TYPES & ~flags:
                raise self.error("the flags a, u and L exclude each other", self.place - 1)
            flags |= _FLAGS[char]
        raise self.error("flags are not closed", here, try_="close them with ')' or ':'")

    def _whole_flags(self, group: Group, added: int, here: int) -> None:
        if self._groups or group.branches or group.items:
            raise self.error(
                "flags for the whole pattern stand at its start", here, try_="(?i:...) for a part"
            )
        group.flags |= added
        if self._wide and group.flags & ASCII and group.flags & UNICODE:
            raise self.error("the flags a and u exclude each other", here)

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
        if not ahead and tree.narrow != tree.wide:
            raise self.error(
                "a lookbehind needs texts of one length",
                group.start,
                why="Python has it so",
                try_="one lookbehind for each length, as alternatives",
            )
        self._open.add(look(tree, ahead=ahead, negative=group.kind.endswith("!"), offset=group.start))

    # Quantifiers

    def _quantifier(self, char: str, here: int) -> None:
        group = self._open
        bounds = self._bounds(char, here)
        if bounds is None:
            group.add(self._single(ord(char), group.flags))
            return
        if group.last in (NOTHING_YET, ASSERTION):
            raise self.error("nothing to repeat", here)
        if group.last == QUANTIFIED:
            raise self.error("a repetition is repeated", here, try_="a group around the first one")
        if self.take_if("+"):
            raise self.unsupported(
                "cannot enforce a possessive quantifier",
                here,
                "what it matches depends on the order in which a backtracking matcher tries",
                "the plain quantifier",
                "possessive",
            )
        self.take_if("?")
        group.items[-1] = repeat(group.items[-1], *bounds)
        group.last = QUANTIFIED

    def _bounds(self, char: str, here: int) -> tuple[int, int | None] | None:
        """The bounds of a quantifier; None if a brace stands for itself."""
        if char != "{":
            return (1 if char == "+" else 0), (1 if char == "?" else None)
        low = self.take_digits(_DIGITS, self.end)
        comma = self.take_if(",")
        high = self.take_digits(_DIGITS, self.end) if comma else low
        if not self.take_if("}") or not (low or comma):
            self.place = here + 1
            return None
        bounds = (self.count(low, here) if low else 0), (self.count(high, here) if high else None)
        if bounds[1] is not None and bounds[1] < bounds[0]:
            raise self.error("the bounds of a repetition are in the wrong order", here)
        return bounds


def read_python(pattern: str) -> Tree:
    """The tree of a Python `str` pattern."""
    return PythonReader(pattern, wide=True).read()


def read_python_bytes(pattern: bytes) -> Tree:
    """The tree of a Python bytes pattern, over the characters 0 to 255."""
    return PythonReader(pattern.decode("latin-1"), wide=False).read()
