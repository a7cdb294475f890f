"""How are sets of code points written and combined? As sorted inclusive ranges that do not touch."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable
from functools import lru_cache

from maskwright.ir import MAX_CODE_POINT, merge_ranges

Ranges = tuple[tuple[int, int], ...]

NOTHING: Ranges = ()
LARGE = 64  # ranges, from which on the work is remembered
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
    return _invert(members) if len(members) < LARGE else _invert_large(members)


def _invert(members: Ranges) -> Ranges:
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
    if len(left) > len(right):
        left, right = right, left
    if len(right) < LARGE:
        return _intersect(left, right)
    return _intersect_few(left, right) if len(left) < 4 else _intersect_large(left, right)


def _intersect_few(left: Ranges, right: Ranges) -> Ranges:
    """A few ranges with many, by binary search."""
    found = []
    for low, high in left:
        place = bisect_left(right, (low, 0))
        if place and right[place - 1][1] >= low:
            place -= 1
        while place < len(right) and right[place][0] <= high:
            found.append((max(low, right[place][0]), min(high, right[place][1])))
            place += 1
    return tuple(found)


def _intersect(left: Ranges, right: Ranges) -> Ranges:
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


# Unicode's classes have up to 2,000 ranges, and patterns use the same few again: 0.2 ms a time otherwise.
_invert_large = lru_cache(256)(_invert)
_intersect_large = lru_cache(1024)(_intersect)


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
