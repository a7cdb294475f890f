"""Which classes of characters do the assertions of a pattern tell apart?"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from maskwright.errors import LimitError
from maskwright.regex.lower import Writer
from maskwright.regex.ranges import EVERYTHING, NOTHING, Ranges, contains, intersect, subtract, union
from maskwright.regex.syntax import Gap, Look, Side, Tree, children

Refuse = Callable[[Look, str], Exception]

MAX_CLASSES = 12  # of characters that the gaps of one pattern tell apart


class Context:
    """What all rests of one pattern share: the writer, and the classes that its gaps tell apart.

    A class is its place in `classes`; `edge`, one past the last, is the edge of the text. A set of them is an
    int with a bit for each; `every` has all bits.
    """

    __slots__ = ("_ranges", "classes", "edge", "edge_bit", "every", "refuse", "writer")

    def __init__(self, tree: Tree, writer: Writer, refuse: Refuse) -> None:
        self.writer = writer
        self.refuse = refuse
        self._ranges: dict[int, Ranges] = {}
        self.classes = _partition(_gap_sets(tree), writer.alphabet)
        self.edge = len(self.classes)
        self.edge_bit = 1 << self.edge
        self.every = (self.edge_bit << 1) - 1

    def ranges(self, mask: int) -> Ranges:
        """The characters of the classes in a set."""
        found = self._ranges.get(mask)
        if found is None:
            found = self._ranges[mask] = self._union(mask)
        return found

    def _union(self, mask: int) -> Ranges:
        return union(*(members for place, members in enumerate(self.classes) if mask >> place & 1), NOTHING)

    def mask(self, side: Side) -> int:
        """The classes that fit one side of a gap."""
        fitting = self.edge_bit if side.edge else 0
        for place, members in enumerate(self.classes):
            if contains(side.ranges, members[0][0]):
                fitting |= 1 << place
        return fitting


def _gap_sets(tree: Tree) -> list[Ranges]:
    """The sets of characters that gaps of the tree look at, each once."""
    found: dict[Ranges, None] = {}
    seen = set()
    stack = [tree]
    while stack:
        node = stack.pop()
        if node in seen:
            continue
        if isinstance(node, Gap):
            seen.add(node)
            found.update((side.ranges, None) for pair in node.pairs for side in pair if side.ranges)
        elif node.kinds:
            stack.extend(children(node))
    found.pop(EVERYTHING, None)
    return list(found)


def _partition(sets: Iterable[Ranges], alphabet: Ranges) -> list[Ranges]:
    """Cut the alphabet into classes, so that each set is a union of classes."""
    classes = [alphabet]
    for members in sets:
        cut = (part for old in classes for part in (intersect(old, members), subtract(old, members)))
        classes = [part for part in cut if part]
        if len(classes) > MAX_CLASSES:
            raise LimitError(
                "the pattern's assertions tell too many classes of characters apart",
                limit="pattern_classes",
                value=MAX_CLASSES,
                why="each anchor, word boundary and lookaround for one character looks at a set",
                try_="fewer different sets in lookaheads and lookbehinds",
            )
    return classes
