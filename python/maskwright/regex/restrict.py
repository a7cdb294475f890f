"""Which texts of a plain tree start, or end, with a character of a set? A tree again, by structure alone.

Every function gives the tree of the non-empty texts asked for, or None if there are none.
"""

from __future__ import annotations

from collections.abc import Callable

from maskwright.regex.ranges import EVERYTHING, Ranges, intersect
from maskwright.regex.syntax import EMPTY, Chars, Choice, Repeat, Sequence, Tree, choice, repeat, sequence

Count = Callable[[int], None]


def not_empty(tree: Tree, count: Count) -> Tree | None:
    """The texts of the tree but the empty one."""
    return starting_in(tree, EVERYTHING, count) if tree.nullable else tree


def starting_in(tree: Tree, members: Ranges, count: Count) -> Tree | None:
    """The texts of the tree whose first character is in the set."""
    return _edge(tree, members, count, first=True)


def ending_in(tree: Tree, members: Ranges, count: Count) -> Tree | None:
    """The texts of the tree whose last character is in the set."""
    return _edge(tree, members, count, first=False)


def _edge(tree: Tree, members: Ranges, count: Count, *, first: bool) -> Tree | None:
    count(1)
    if isinstance(tree, Chars):
        ranges = intersect(tree.ranges, members)
        return Chars(ranges) if ranges else None
    if isinstance(tree, Choice):
        kept = [_edge(branch, members, count, first=first) for branch in tree.branches]
        found = [branch for branch in kept if branch is not None]
        return choice(found) if found else None
    if isinstance(tree, Repeat):
        return _edge_of_repeat(tree, members, count, first=first)
    assert isinstance(tree, Sequence)
    return _edge_of_sequence(tree, members, count, first=first)


def _edge_of_repeat(tree: Repeat, members: Ranges, count: Count, *, first: bool) -> Tree | None:
    """One time at the edge that is not empty, and the others."""
    edge = _edge(tree.body, members, count, first=first)
    if edge is None:
        return None
    others = repeat(tree.body, max(tree.low - 1, 0), None if tree.high is None else tree.high - 1)
    if others is EMPTY:
        return edge
    return Sequence((edge, others) if first else (others, edge))


def _edge_of_sequence(tree: Sequence, members: Ranges, count: Count, *, first: bool) -> Tree | None:
    """The edge is in the outermost part that is not empty."""
    found = []
    parts = list(tree.parts)
    while parts:
        part = parts.pop(0 if first else -1)
        edge = _edge(part, members, count, first=first)
        if edge is not None:
            count(len(parts))
            found.append(sequence([edge, *parts] if first else [*parts, edge]))
        if not part.nullable:
            break
    return choice(found) if found else None
