"""What does a text with a pattern look like? A short one as a guess, and how all of them begin.

Both are read off the tree in microseconds, where the language itself takes a millisecond to build.
"""

from __future__ import annotations

from maskwright.regex.ranges import Ranges, contains, union
from maskwright.regex.syntax import TEXT_START, Chars, Choice, Repeat, Sequence, Tree

__all__ = ["example", "first_characters"]

MAX_LENGTH = 200
MAX_DEPTH = 50

_LIKED = "a0A-"
"""Characters that are tried first."""


def example(tree: Tree) -> str | None:
    """A shortest text that the tree matches, its assertions not looked at; None if that is long or deep.

    >>> from maskwright.regex import read_regex
    >>> example(read_regex("^x-[0-9]{2,}(b|cd)$", "ecma"))
    'x-00b'
    """
    if tree.narrow > MAX_LENGTH or tree.depth > MAX_DEPTH:
        return None
    return _shortest(tree)


def _shortest(tree: Tree) -> str:
    if isinstance(tree, Chars):
        liked = (letter for letter in _LIKED if contains(tree.ranges, ord(letter)))
        return next(liked, chr(tree.ranges[0][0]) if tree.ranges else "")
    if isinstance(tree, Sequence):
        return "".join(map(_shortest, tree.parts))
    if isinstance(tree, Choice):
        return _shortest(min(tree.branches, key=lambda branch: branch.narrow))
    if isinstance(tree, Repeat):
        return _shortest(tree.body) * tree.low if tree.low else ""
    return ""


def first_characters(tree: Tree) -> Ranges | None:
    """With which characters a text begins in which the pattern is found; None if with any, or with none.

    >>> from maskwright.regex import read_regex
    >>> first_characters(read_regex("^(x|[0-9]?b)", "ecma")), first_characters(read_regex("x", "ecma"))
    (((48, 57), (98, 98), (120, 120)), None)
    """
    if tree.depth > MAX_DEPTH:
        return None
    if isinstance(tree, Choice):
        branches = [first_characters(branch) for branch in tree.branches]
        found = [ranges for ranges in branches if ranges is not None]
        return union(*found) if len(found) == len(branches) else None
    if isinstance(tree, Sequence) and tree.parts and tree.parts[0] is TEXT_START:
        return _begins(Sequence(tree.parts[1:]))
    return None


def _begins(tree: Tree) -> Ranges | None:
    """The first characters of a tree that matches no empty text and begins without an assertion."""
    if isinstance(tree, Chars):
        return tree.ranges
    if isinstance(tree, Choice):
        branches = [_begins(branch) for branch in tree.branches]
        found = [ranges for ranges in branches if ranges is not None]
        return union(*found) if len(found) == len(branches) else None
    if isinstance(tree, Repeat):
        return _begins(tree.body) if tree.low else None
    return _begins_in_order(tree) if isinstance(tree, Sequence) else None


def _begins_in_order(tree: Sequence) -> Ranges | None:
    """Parts that may be empty, then one that may not."""
    firsts: list[Ranges] = []
    for part in tree.parts:
        if part.kinds:
            return None
        body = part.body if isinstance(part, Repeat) else part
        ranges = _begins(body)
        if ranges is None:
            return None
        firsts.append(ranges)
        if part.narrow:
            return union(*firsts)
    return None
