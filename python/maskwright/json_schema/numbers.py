"""Which numbers does a schema allow? Sets of exact decimals, closed under intersection and complement."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from itertools import count
from math import ceil, floor, gcd, lcm

from maskwright.errors import LimitError
from maskwright.ir import Builder, Node
from maskwright.json_schema.digits import scale_of
from maskwright.json_schema.spelling import Style

__all__ = ["ANY_NUMBER", "INTEGERS", "MAX_DIGITS", "NumberSet", "Unsupported", "exact"]

MAX_DIGITS = 400
"""Digits of a number in a schema before its point, and zeros after it; the largest float has 309."""

MAX_SCAN = 100_000
"""Candidates tried one by one where multiples and their complements meet; n moduli leave gaps below 2**n."""


class Unsupported(Exception):
    """A set that cannot be written as a format. The caller adds the place. Fields: `why`, `try_`."""

    def __init__(self, why: str, try_: str | None = None) -> None:
        super().__init__(why)
        self.why = why
        self.try_ = try_


def exact(value: int | float | Decimal | Fraction) -> Fraction:
    """The number as its shortest decimal says: 0.1 is one tenth.

    Raises `Unsupported` for what is no number, or has more than `MAX_DIGITS` digits on one side of the point.

    >>> exact(0.1), exact(Decimal("1.50"))
    (Fraction(1, 10), Fraction(3, 2))
    """
    if isinstance(value, float):
        value = Decimal(repr(value))
    if isinstance(value, Decimal):
        if not value.is_finite():
            raise Unsupported(f"{value} is no JSON number")
        if value and not -MAX_DIGITS <= value.adjusted() < MAX_DIGITS:
            raise Unsupported(f"the number {value} has more than {MAX_DIGITS} digits")
        value = Fraction(value)
    found = Fraction(value)
    if abs(found.numerator) // found.denominator >= _LARGEST or scale_of(found) > 3 * MAX_DIGITS:
        raise Unsupported(f"a number has more than {MAX_DIGITS} digits")
    return found


_LARGEST = 10**MAX_DIGITS


@dataclass(slots=True, unsafe_hash=True)  # frozen, it takes 2.0 µs to make one instead of 0.2
class NumberSet:
    """The numbers that meet every condition. Values are compared, never texts: 1 and 1.0 are one number.

    integer                       without a fraction
    lower, upper                  bounds, in the set unless exclusive; None: without a bound
    multiple_of, not_multiple_of  positive decimals; a multiple of each, of none
    excluded                      values that are not in the set

    >>> even = NumberSet(integer=True, lower=Fraction(1), multiple_of=(Fraction(2),))
    >>> even.contains(4), even.contains(-4), even.contains(3)
    (True, False, False)
    """

    integer: bool = False
    lower: Fraction | None = None
    upper: Fraction | None = None
    lower_exclusive: bool = False
    upper_exclusive: bool = False
    multiple_of: tuple[Fraction, ...] = ()
    not_multiple_of: tuple[Fraction, ...] = ()
    excluded: frozenset[Fraction] = frozenset()

    # The algebra

    def intersect(self, other: NumberSet) -> NumberSet:
        """The numbers that are in both sets."""
        lower, lower_exclusive = _tighter(
            (self.lower, self.lower_exclusive), (other.lower, other.lower_exclusive), 1
        )
        upper, upper_exclusive = _tighter(
            (self.upper, self.upper_exclusive), (other.upper, other.upper_exclusive), -1
        )
        return NumberSet(
            self.integer or other.integer,
            lower,
            upper,
            lower_exclusive,
            upper_exclusive,
            tuple(dict.fromkeys(self.multiple_of + other.multiple_of)),
            tuple(dict.fromkeys(self.not_multiple_of + other.not_multiple_of)),
            self.excluded | other.excluded,
        )

    def complement(self) -> list[NumberSet]:
        """The numbers that are not in the set: the union of the sets returned, each breaks one condition."""
        parts = []
        if self.lower is not None:
            parts.append(NumberSet(upper=self.lower, upper_exclusive=not self.lower_exclusive))
        if self.upper is not None:
            parts.append(NumberSet(lower=self.upper, lower_exclusive=not self.upper_exclusive))
        if self.integer:
            parts.append(NumberSet(not_multiple_of=(Fraction(1),)))
        parts += [NumberSet(not_multiple_of=(step,)) for step in self.multiple_of]
        parts += [_multiples(step) for step in self.not_multiple_of]
        parts += [NumberSet(lower=value, upper=value) for value in sorted(self.excluded)]
        return parts

    @property
    def steps(self) -> tuple[Fraction, ...]:
        """The least decimals of which all members are multiples: without those that others imply."""
        steps = ((Fraction(1),) if self.integer else ()) + self.multiple_of
        return tuple(
            step
            for place, step in enumerate(steps)
            if not any(
                (other / step).denominator == 1 and (other != step or earlier < place)
                for earlier, other in enumerate(steps)
                if earlier != place
            )
        )

    @property
    def step(self) -> Fraction | None:
        """The one decimal of which all members are multiples; None if there is none."""
        found: Fraction | None = None
        for step in ((Fraction(1),) if self.integer else ()) + self.multiple_of:
            found = step if found is None else _lcm(found, step)
        return found

    # Questions about values

    def contains(self, value: int | float | Decimal | Fraction) -> bool:
        """Is the number in the set?"""
        return self._holds(exact(value))

    def _holds(self, number: Fraction) -> bool:
        if self.lower is not None and (
            number < self.lower or (number == self.lower and self.lower_exclusive)
        ):
            return False
        if self.upper is not None and (
            number > self.upper or (number == self.upper and self.upper_exclusive)
        ):
            return False
        return (
            not (self.integer and number.denominator != 1)
            and all((number / step).denominator == 1 for step in self.multiple_of)
            and not any((number / step).denominator == 1 for step in self.not_multiple_of)
            and number not in self.excluded
        )

    def is_empty(self) -> bool:
        """Is there no such number? Exact. Raises `LimitError` past `MAX_SCAN` candidates in a row."""
        if self.lower is not None and self.upper is not None and self.lower >= self.upper:
            return self.lower > self.upper or not self._holds(self.lower)
        step = self.step
        if step is None:
            return False  # between two bounds are more decimals than multiples and excluded values
        if any((step / other).denominator == 1 for other in self.not_multiple_of):
            return True
        return next(self._members(step), None) is None

    def values(self, at_most: int) -> list[Fraction] | None:
        """The members in order if there are no more than `at_most`; else None."""
        step = self.step
        if self.lower is None or self.upper is None:
            return None
        if step is None:
            if self.lower < self.upper:
                return None
            return [self.lower] if self.lower == self.upper and self._holds(self.lower) else []
        if (self.upper - self.lower) / step > 4 * at_most:
            return None
        found = list(self._members(step))
        return found if len(found) <= at_most else None

    def _members(self, step: Fraction) -> Iterator[Fraction]:
        """The members of a set of multiples, upwards from the lower bound, else downwards, else from 0."""
        low = None if self.lower is None else ceil(self.lower / step)
        high = None if self.upper is None else floor(self.upper / step)
        if low is None and high is not None:
            places: Iterator[int] | range = count(high, -1)
        elif high is None:
            places = count(low or 0)
        else:
            assert low is not None
            places = range(low, high + 1)
        misses = 0
        for place in places:
            if self._holds(place * step):
                misses = 0
                yield place * step
                continue
            misses += 1
            if misses > MAX_SCAN:
                raise LimitError(
                    "cannot tell whether there is such a number",
                    limit="number_candidates",
                    value=MAX_SCAN,
                    why="multiples and numbers that must be no multiples leave too long gaps",
                )

    # Spelling

    def node(self, builder: Builder, style: Style = "generate") -> Node:
        """The JSON spellings of the numbers. Raises `Unsupported` for a set that no format expresses."""
        from maskwright.json_schema import number_text  # noqa: PLC0415 - it needs this class

        return number_text.node(self, builder, style)


ANY_NUMBER = NumberSet()
INTEGERS = NumberSet(integer=True)

Bound = tuple[Fraction | None, bool]


def _tighter(left: Bound, right: Bound, sign: int) -> Bound:
    """The lower bound (sign 1) or upper bound (sign -1) that keeps out more."""
    if left[0] is None or right[0] is None:
        return right if left[0] is None else left
    if left[0] == right[0]:
        return left[0], left[1] or right[1]
    return max(left, right, key=lambda bound: sign * (bound[0] or 0))


def _multiples(step: Fraction) -> NumberSet:
    """All multiples; those of 1 are called integers, so that they are spelled like them."""
    return INTEGERS if step == 1 else NumberSet(multiple_of=(step,))


def _lcm(left: Fraction, right: Fraction) -> Fraction:
    """The least common multiple.

    >>> _lcm(Fraction(1, 2), Fraction(3, 10))
    Fraction(3, 2)
    """
    return Fraction(lcm(left.numerator, right.numerator), gcd(left.denominator, right.denominator))
