"""What does a pattern mean? The parser of the regular subset of Python's `re` for bytes patterns.

Taken exactly as Python takes it: literals, `.`, classes, `\\d \\D \\w \\W \\s \\S`, the escapes of a bytes
pattern, groups (plain, `(?:...)`, `(?P<name>...)`), comments `(?#...)`, `|`, and the greedy quantifiers.
What Python takes but a plain automaton cannot honour (anchors, lookarounds, backreferences, flags), and
what changes only how a match is searched for (lazy, possessive, atomic), is refused with its offset.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from maskwright.errors import LimitError, PatternError
from maskwright.reference import byte_sets
from maskwright.reference.escapes import read_class_escape, read_escape
from maskwright.reference.limits import ReferenceLimits
from maskwright.reference.refusals import refusal
from maskwright.reference.source import Source
from maskwright.reference.tree import Bytes, Choice, Node, Repeat, Sequence

# `{` starts a quantifier only in these shapes; Python reads every other `{` (also `{}`) as a literal.
_BRACES = re.compile(r"\{(?!\})([0-9]*)(?:(,)([0-9]*))?\}")
_SIMPLE_QUANTIFIERS: dict[str, tuple[int, int | None]] = {"*": (0, None), "+": (1, None), "?": (0, 1)}

# What may follow `(?` and is refused: the spelling, its name, and why.
_REFUSED_GROUPS = (
    ("<=", "lookbehind"),
    ("<!", "lookbehind"),
    ("=", "lookahead"),
    ("!", "lookahead"),
    ("P=", "backreference"),
    (">", "atomic group"),
    ("(", "conditional"),
)
_FLAGS = frozenset("aiLmsux-")


@dataclass(slots=True)
class _Group:
    """A group that is still open: its finished branches, and the items of the branch being read."""

    offset: int
    branches: list[Node] = field(default_factory=list)
    items: list[Node] = field(default_factory=list)
    repeated: bool = False  # the last item already has a quantifier

    def add(self, item: Node) -> None:
        self.items.append(item)
        self.repeated = False

    def end_branch(self) -> None:
        items = self.items
        self.branches.append(items[0] if len(items) == 1 else Sequence(tuple(items)))
        self.items = []
        self.repeated = False

    def close(self) -> Node:
        self.end_branch()
        return self.branches[0] if len(self.branches) == 1 else Choice(tuple(self.branches))


def parse_pattern(pattern: str | bytes, limits: ReferenceLimits | None = None) -> Node:
    """Read a pattern into a tree.

    `pattern` is bytes, or a str of ASCII characters. Raises `PatternError` with the offset of what cannot
    be read or enforced, and `LimitError` for one that is too long or a quantifier bound that is too large.
    Nesting is free: open groups are kept in a list.

    >>> type(parse_pattern("a|b")).__name__
    'Choice'
    """
    limits = limits or ReferenceLimits()
    return _Parser(_source(pattern, limits), limits).parse()


def _source(pattern: str | bytes, limits: ReferenceLimits) -> Source:
    if len(pattern) > limits.max_pattern_length:
        raise LimitError(
            f"the pattern has {len(pattern)} characters, more than {limits.max_pattern_length}",
            limit="max_pattern_length",
            value=limits.max_pattern_length,
        )
    text = pattern.decode("latin-1") if isinstance(pattern, bytes) else pattern
    if isinstance(pattern, str) and not pattern.isascii():
        offset = next(i for i, character in enumerate(pattern) if not character.isascii())
        raise PatternError(
            f"non-ASCII character {pattern[offset]!r} in a pattern over bytes",
            pattern=text,
            offset=offset,
            why="a pattern over bytes does not say in which encoding a character stands",
            try_="its UTF-8 bytes, spelled \\xHH",
            code="pattern.non-ascii",
        )
    return Source(text)


class _Parser:
    def __init__(self, source: Source, limits: ReferenceLimits) -> None:
        self._source = source
        self._limits = limits
        self._open: list[_Group] = [_Group(0)]
        self._names: set[str] = set()

    def parse(self) -> Node:
        source = self._source
        while not source.at_end():
            self._read_one(source.peek())
        if len(self._open) > 1:
            raise source.error("missing ), unterminated group", self._open[-1].offset)
        return self._open[0].close()

    def _read_one(self, character: str) -> None:  # dispatch
        source = self._source
        match character:
            case "\\":
                self._open[-1].add(Bytes(read_escape(source)))
            case "[":
                self._open[-1].add(Bytes(_read_class(source)))
            case ".":
                source.skip(1)
                self._open[-1].add(Bytes(byte_sets.ANY_BUT_NEWLINE))
            case "(":
                self._open_group()
            case ")":
                self._close_group()
            case "|":
                source.skip(1)
                self._open[-1].end_branch()
            case "^" | "$":
                raise refusal(source, "anchor", source.offset)
            case "*" | "+" | "?" | "{":
                self._read_quantifier(character)
            case _:
                source.skip(1)
                self._open[-1].add(Bytes(byte_sets.single(ord(character))))

    def _open_group(self) -> None:
        source = self._source
        offset = source.offset
        if source.take("(?#"):
            self._skip_comment(offset)
        elif source.take("(?P<"):
            self._read_name(offset)
            self._open.append(_Group(offset))
        elif source.take("(?:"):
            self._open.append(_Group(offset))
        elif not source.starts_with("(?"):
            source.skip(1)
            self._open.append(_Group(offset))
        else:
            raise _group_refusal(source, offset)

    def _close_group(self) -> None:
        if len(self._open) == 1:
            raise self._source.error("unbalanced parenthesis", self._source.offset)
        self._source.skip(1)
        group = self._open.pop()
        self._open[-1].add(group.close())

    def _skip_comment(self, offset: int) -> None:
        source = self._source
        while not source.at_end():
            if source.take(")"):
                return
            source.skip(2 if source.peek() == "\\" else 1)  # Python skips an escaped `)` here too
        raise source.error("missing ), unterminated comment", offset)

    def _read_name(self, offset: int) -> None:
        source = self._source
        start = source.offset
        end = source.text.find(">", start)
        if end < 0:
            raise source.error("missing >, unterminated group name", start)
        name = source.text[start:end]
        if not (name.isidentifier() and name.isascii()):
            raise source.error(f"bad group name {name!r}", start)
        if name in self._names:
            raise source.error(f"group name {name!r} is used twice", offset)
        self._names.add(name)
        source.skip(end + 1 - start)

    def _read_quantifier(self, character: str) -> None:
        source = self._source
        offset = source.offset
        bounds = _SIMPLE_QUANTIFIERS.get(character)
        if bounds is not None:
            source.skip(1)
        else:
            bounds = self._read_braces()
            if bounds is None:  # a literal `{`
                source.skip(1)
                self._open[-1].add(Bytes(byte_sets.single(ord("{"))))
                return
        self._repeat_last(offset, *bounds)
        if source.starts_with("?"):
            raise refusal(source, "lazy quantifier", offset)
        if source.starts_with("+"):
            raise refusal(source, "possessive quantifier", offset)

    def _read_braces(self) -> tuple[int, int | None] | None:
        source = self._source
        found = _BRACES.match(source.text, source.offset)
        if found is None:
            return None
        low_digits, comma, high_digits = found.groups()
        low = self._bound(low_digits or "0")
        high = low if not comma else self._bound(high_digits) if high_digits else None
        if high is not None and high < low:
            raise source.error("the upper bound is below the lower bound", source.offset)
        source.skip(found.end() - found.start())
        return low, high

    def _bound(self, digits: str) -> int:
        digits = digits.lstrip("0") or "0"
        # The length is looked at first: int() itself refuses numbers of thousands of digits.
        if len(digits) > len(str(self._limits.max_repeat)) or int(digits) > self._limits.max_repeat:
            raise LimitError(
                f"a quantifier bound is above {self._limits.max_repeat}",
                limit="max_repeat",
                value=self._limits.max_repeat,
                where=f"offset {self._source.offset}",
                try_="a smaller bound, or none: {m,}",
            )
        return int(digits)

    def _repeat_last(self, offset: int, low: int, high: int | None) -> None:
        group = self._open[-1]
        if not group.items:
            raise self._source.error("nothing to repeat", offset)
        if group.repeated:
            raise self._source.error("multiple repeat", offset, try_="a group around the first: (?:x*)+")
        group.items[-1] = Repeat(group.items[-1], low, high, offset)
        group.repeated = True


def _group_refusal(source: Source, offset: int) -> PatternError:
    for spelling, kind in _REFUSED_GROUPS:
        if source.starts_with(f"(?{spelling}"):
            return refusal(source, kind, offset)
    if source.text[offset + 2 : offset + 3] in _FLAGS:
        return refusal(source, "flag", offset)
    return source.error(f"unknown group {source.text[offset : offset + 4]!r}", offset)


def _read_class(source: Source) -> int:
    """Read `[...]` into a set of bytes; the first character may be a literal `]`."""
    start = source.offset
    source.skip(1)
    negated = source.take("^")
    allowed = 0
    first = True
    while first or not source.take("]"):
        allowed |= _read_class_item(source, start)
        first = False
    return byte_sets.complement(allowed) if negated else allowed


def _read_class_item(source: Source, start: int) -> int:
    """Read one member of a class: a byte, a range, or a set such as `\\d`."""
    offset = source.offset
    low = _read_class_member(source, start)
    if not source.starts_with("-") or source.starts_with("-]"):
        return low
    source.skip(1)
    high = _read_class_member(source, start)
    shown = source.text[offset : source.offset]
    if low.bit_count() != 1 or high.bit_count() != 1:
        raise source.error(f"bad character range {shown}: an end is a set", offset)
    if high < low:
        raise source.error(f"bad character range {shown}: it runs backwards", offset)
    return byte_sets.span(low.bit_length() - 1, high.bit_length() - 1)


def _read_class_member(source: Source, start: int) -> int:
    if source.at_end():
        raise source.error("unterminated character class", start)
    if source.peek() == "\\":
        return read_class_escape(source)
    character = source.peek()
    source.skip(1)
    return byte_sets.single(ord(character))
