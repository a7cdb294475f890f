"""How are sets of code points written and combined? As sorted, inclusive ranges that neither overlap nor touch."""

from __future__ import annotations

from collections.abc import Iterable

from maskwright.ir import MAX_CODE_POINT, merge_ranges

Ranges = tuple[tuple[int, int], ...]

NOTHING: Ranges = ()
EVERYTHING: Ranges = ((0, MAX_CODE_POINT),)


def ranges_of(members: Iterable[tuple[int, int]]) -> Ranges:
    """Sort and merge any inclusive ranges.

    >>> ranges_of([(5, 9), (1, 4)])
    ((1, 9),)
    """
    return tuple(merge_ranges(members))


def union(*sets: Ranges) -> Ranges:
    """What is in any of the sets."""
    if len(sets) == 1:
        return sets[0]
    return tuple(merge_ranges([pair for members in sets for pair in members]))


def invert(members: Ranges) -> Ranges:
    """Every code point that is not in the set.

    >>> invert(((0, 9), (11, 0x10FFFF)))
    ((10, 10),)
    """
    found = []
    start = 0
    for low, high in members:
        if start < low:
            found.append((start, low - 1))
        start = high + 1
    if start <= MAX_CODE_POINT:
        found.append((start, MAX_CODE_POINT))
    return tuple(found)


def intersect(left: Ranges, right: Ranges) -> Ranges:
    """What is in both sets.

    >>> intersect(((0, 9), (20, 29)), ((5, 22),))
    ((5, 9), (20, 22))
    """
    if left == EVERYTHING or not right:
        return right
    if right == EVERYTHING or not left:
        return left
    found = []
    i = j = 0
    while i < len(left) and j < len(right):
        low = max(left[i][0], right[j][0])
        high = min(left[i][1], right[j][1])
        if low <= high:
            found.append((low, high))
        if left[i][1] < right[j][1]:
            i += 1
        else:
            j += 1
    return tuple(found)


def subtract(left: Ranges, right: Ranges) -> Ranges:
    """What is in the left set only."""
    return intersect(left, invert(right))


def contains(members: Ranges, code: int) -> bool:
    """Is one code point in the set? By binary search."""
    low, high = 0, len(members)
    while low < high:
        middle = (low + high) // 2
        if members[middle][1] < code:
            low = middle + 1
        else:
            high = middle
    return low < len(members) and members[low][0] <= code
