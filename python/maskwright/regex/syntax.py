"""What does a pattern say, whatever dialect it was written in? The tree between the parsers and the IR.

    Chars      one character of a set
    Sequence   one after the other; no parts: the empty text
    Choice     any of them
    Repeat     a number of times
    Gap        nothing, at a place whose two neighbours (a character, or the edge of the text) are as told:
               anchors, word boundaries, lookaround for one character
    Look       nothing, at a place where a tree does (or does not) match what follows or what precedes

Dialects are gone here: sets are final (case is folded, classes are spelled out), captures and laziness, which
do not change the language, are dropped. Each node knows what its parts add up to, so nobody walks a tree to
find out.
"""

from __future__ import annotations

from collections.abc import Sequence as Many
from dataclasses import dataclass

from maskwright.regex.ranges import EVERYTHING, NOTHING, Ranges, invert, union

UNBOUNDED = 1 << 62  # a width past every bound that can be written

# What kinds of assertion are somewhere in a tree
GAP = 1
AHEAD = 2
BEHIND = 4


class Tree:
    """One node. `kinds`: the assertions in it; `narrow` and `wide`: the lengths of its texts; `depth`."""

    __slots__ = ("depth", "kinds", "narrow", "wide")

    kinds: int
    narrow: int
    wide: int
    depth: int

    @property
    def nullable(self) -> bool:
        """May it match the empty text? Exact for trees without assertions."""
        return self.narrow == 0


class Chars(Tree):
    """One character out of `ranges`."""

    __slots__ = ("ranges",)

    def __init__(self, ranges: Ranges) -> None:
        self.ranges = ranges
        self.kinds = 0
        self.narrow = self.wide = 1
        self.depth = 0


class Sequence(Tree):
    """The `parts`, one after the other."""

    __slots__ = ("parts",)

    def __init__(self, parts: Many[Tree]) -> None:
        self.parts = parts
        kinds = narrow = wide = depth = 0
        for part in parts:
            kinds |= part.kinds
            narrow += part.narrow
            wide += part.wide
            depth = max(part.depth, depth)
        self.kinds = kinds
        self.narrow = min(narrow, UNBOUNDED)
        self.wide = min(wide, UNBOUNDED)
        self.depth = depth + 1


class Choice(Tree):
    """Any of the `branches`; at least one."""

    __slots__ = ("branches",)

    def __init__(self, branches: Many[Tree]) -> None:
        self.branches = branches
        self.kinds = 0
        for branch in branches:
            self.kinds |= branch.kinds
        self.narrow = min(branch.narrow for branch in branches)
        self.wide = max(branch.wide for branch in branches)
        self.depth = max(branch.depth for branch in branches) + 1


class Repeat(Tree):
    """`body`, from `low` to `high` times (None: without a bound)."""

    __slots__ = ("body", "high", "low")

    def __init__(self, body: Tree, low: int, high: int | None) -> None:
        self.body = body
        self.low = low
        self.high = high
        self.kinds = body.kinds
        self.narrow = min(body.narrow * low, UNBOUNDED)
        self.wide = min(body.wide * (UNBOUNDED if high is None else high), UNBOUNDED)
        self.depth = body.depth + 1


@dataclass(frozen=True, slots=True)
class Side:
    """What may stand on one side of a gap: a character of `ranges`, or the edge of the text."""

    ranges: Ranges
    edge: bool


class Gap(Tree):
    """Nothing, where for one of the `pairs` both neighbours fit."""

    __slots__ = ("pairs",)

    def __init__(self, *pairs: tuple[Side, Side]) -> None:
        self.pairs = pairs
        self.kinds = GAP
        self.narrow = self.wide = self.depth = 0


class Look(Tree):
    """Nothing, where `body` matches just ahead (or behind), or does not. `offset`: its place."""

    __slots__ = ("ahead", "body", "negative", "offset")

    def __init__(self, body: Tree, *, ahead: bool, negative: bool, offset: int) -> None:
        self.body = body
        self.ahead = ahead
        self.negative = negative
        self.offset = offset
        self.kinds = body.kinds | (AHEAD if ahead else BEHIND)
        self.narrow = self.wide = 0
        self.depth = body.depth + 1


EMPTY = Sequence(())
ANY_SIDE = Side(EVERYTHING, True)
EDGE = Side(NOTHING, True)
TEXT_START = Gap((EDGE, ANY_SIDE))
TEXT_END = Gap((ANY_SIDE, EDGE))
ANY_TEXT = Repeat(Chars(EVERYTHING), 0, None)
LAST_LINE_END = Sequence((Repeat(Chars(((10, 10),)), 0, 1), TEXT_END))  # what Python's `$` looks ahead for


def sequence(parts: Many[Tree]) -> Tree:
    """A sequence; a single part stands for itself."""
    return parts[0] if len(parts) == 1 else Sequence(parts) if parts else EMPTY


def choice(branches: Many[Tree]) -> Tree:
    """A choice; branches of one character each become one set."""
    if len(branches) == 1:
        return branches[0]
    if all(type(branch) is Chars for branch in branches):
        return Chars(union(*(branch.ranges for branch in branches if isinstance(branch, Chars))))
    return Choice(branches)


def repeat(body: Tree, low: int, high: int | None) -> Tree:
    """A repetition. Repeats of repeats such as `(a*)*` become one, so that nesting them costs nothing."""
    if high == 0 or body is EMPTY:
        return EMPTY
    if (low, high) == (1, 1):
        return body
    if isinstance(body, (Gap, Look)):
        return body if low else EMPTY
    # (x{a,}){c,} is x{a * c,} where a and c are 0 or 1.
    if (
        isinstance(body, Repeat)
        and low <= 1
        and body.low <= 1
        and body.high in (None, 1)
        and high in (None, 1)
    ):
        unbounded = high is None or body.high is None
        return Repeat(body.body, low * body.low, None if unbounded else 1)
    return Repeat(body, low, high)


def look(body: Tree, *, ahead: bool, negative: bool, offset: int) -> Tree:
    """A lookaround; one for a single character needs no more than a gap."""
    if isinstance(body, Chars):
        side = Side(invert(body.ranges), True) if negative else Side(body.ranges, False)
        return Gap((ANY_SIDE, side)) if ahead else Gap((side, ANY_SIDE))
    return Look(body, ahead=ahead, negative=negative, offset=offset)


def word_boundary(word: Ranges) -> Gap:
    r"""`\b`: a word character on one side only."""
    inside, outside = Side(word, False), Side(invert(word), True)
    return Gap((inside, outside), (outside, inside))


def no_word_boundary(word: Ranges, *, in_empty_text: bool) -> Gap:
    r"""`\B`: a word character on both sides or on neither; in the empty text as told."""
    inside, outside = Side(word, False), Side(invert(word), True)
    if in_empty_text:
        return Gap((inside, inside), (outside, outside))
    between = Side(invert(word), False)
    return Gap((inside, inside), (between, outside), (outside, between))


def children(tree: Tree) -> Many[Tree]:
    """The trees directly inside a tree."""
    if isinstance(tree, Sequence):
        return tree.parts
    if isinstance(tree, Choice):
        return tree.branches
    return (tree.body,) if isinstance(tree, (Repeat, Look)) else ()
