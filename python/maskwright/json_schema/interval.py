"""How is an interval of numbers written digit by digit? Straight into nodes: plain decimals without a sign.

Bounds are by far the most common sets of numbers, so this is worth its own way beside the automata of
`digits.py`: 20 to 100 µs instead of 1 ms, and about as many nodes as the bounds have digits. Steps that are
powers of ten (integers, cents) only say how many digits there are.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor

from maskwright.ir import Builder, Node
from maskwright.json_schema.digits import Magnitudes, modulus_of, plain_decimal, scale_of

__all__ = ["is_interval", "write_interval"]

_DIGITS = b"0123456789"


def is_interval(magnitudes: Magnitudes) -> bool:
    """Is it an interval, perhaps of multiples of a power of ten, with nothing taken out?"""
    if magnitudes.excluded or magnitudes.not_multiples or len(magnitudes.multiples) > 1:
        return False
    return all(str(modulus_of(step)).rstrip("0") == "1" for step in magnitudes.multiples)


def write_interval(magnitudes: Magnitudes, builder: Builder) -> Node:
    """The plain decimals of an interval; the empty language if there are none."""
    step = magnitudes.multiples[0] if magnitudes.multiples else None
    if step is not None or magnitudes.fraction == 0:
        magnitudes = _on_steps(magnitudes, step or Fraction(1))
        if magnitudes.upper is not None and magnitudes.lower > magnitudes.upper:
            return builder.empty()
    if step is not None and step >= 1:
        return _large_steps(magnitudes, step, builder)
    places = None if step is None else scale_of(step)
    return _Decimals(builder, magnitudes, places).node()


def _on_steps(magnitudes: Magnitudes, step: Fraction) -> Magnitudes:
    """The same multiples between bounds that are multiples themselves and belong to the set."""
    lower = ceil(magnitudes.lower / step) * step
    if lower == magnitudes.lower and magnitudes.lower_exclusive:
        lower += step
    upper = magnitudes.upper
    if upper is not None:
        upper = floor(upper / step) * step
        if upper == magnitudes.upper and magnitudes.upper_exclusive:
            upper -= step
    return Magnitudes(lower, upper, multiples=magnitudes.multiples, fraction=magnitudes.fraction)


def _large_steps(magnitudes: Magnitudes, step: Fraction, builder: Builder) -> Node:
    """Multiples of 1, 10, 100, ..: whole numbers, and zeros behind them."""
    low = int(magnitudes.lower / step)
    high = None if magnitudes.upper is None else int(magnitudes.upper / step)
    if step == 1:
        node = whole_numbers(low, high, builder)
    else:
        branches = []
        if low == 0:
            branches.append(builder.literal(b"0"))
        if high is None or high > 0:
            zeros = builder.literal(str(int(step)).encode()[1:])
            branches.append(builder.sequence([whole_numbers(max(low, 1), high, builder), zeros]))
        node = builder.choice(branches)
    if magnitudes.fraction == 0:
        return node
    zeros = builder.repeat(builder.literal(b"0"), 1, magnitudes.fraction)
    return builder.sequence([node, builder.optional(builder.sequence([builder.literal(b"."), zeros]))])


# Whole numbers


def whole_numbers(low: int, high: int | None, builder: Builder) -> Node:
    """The whole numbers from `low` to `high` (None: without a bound), without superfluous zeros."""
    first = str(low)
    if high is None:
        longer = _of_length(len(first), None, builder)
        return builder.choice([_at_least(first, builder), longer])
    last = str(high)
    if len(first) == len(last):
        return _between(first, last, builder)
    branches = [_at_least(first, builder)]
    if len(last) - len(first) > 1:
        branches.append(_of_length(len(first), len(last) - 2, builder))
    branches.append(_between("1" + "0" * (len(last) - 1), last, builder))
    return builder.choice(branches)


def _of_length(low: int, high: int | None, builder: Builder) -> Node:
    """A digit that is not 0, and `low` to `high` digits."""
    digits = builder.repeat(builder.byte_class(_DIGITS), low, high)
    return builder.sequence([builder.byte_class(_DIGITS[1:]), digits])


def _between(first: str, last: str, builder: Builder) -> Node:
    """The digit strings from `first` to `last`, which are of one length."""
    same = 0
    while same < len(first) and first[same] == last[same]:
        same += 1
    prefix = builder.literal(first[:same].encode())
    if same == len(first):
        return prefix
    low, high, left = int(first[same]), int(last[same]), len(first) - same - 1
    branches = []
    if first[same + 1 :].strip("0"):
        branches.append(builder.sequence([_digit(low, low, builder), _at_least(first[same + 1 :], builder)]))
        low += 1
    if last[same + 1 :].strip("9"):
        branches.append(builder.sequence([_digit(high, high, builder), _at_most(last[same + 1 :], builder)]))
        high -= 1
    if low <= high:
        branches.append(builder.sequence([_digit(low, high, builder), _any(left, builder)]))
    return builder.sequence([prefix, builder.choice(branches)])


def _at_least(text: str, builder: Builder) -> Node:
    """The digit strings of the same length from `text` up."""
    kept = text.rstrip("0")
    node = _any(len(text) - len(kept), builder)
    for place in range(len(kept) - 1, -1, -1):
        digit = int(kept[place])
        if place == len(kept) - 1:  # what follows is any digits, as for the larger ones
            node = builder.sequence([_digit(digit, 9, builder), node])
            continue
        branches = [builder.sequence([_digit(digit, digit, builder), node])]
        if digit < 9:
            more = _any(len(text) - place - 1, builder)
            branches.append(builder.sequence([_digit(digit + 1, 9, builder), more]))
        node = builder.choice(branches)
    return node


def _at_most(text: str, builder: Builder) -> Node:
    """The digit strings of the same length up to `text`."""
    kept = text.rstrip("9")
    node = _any(len(text) - len(kept), builder)
    for place in range(len(kept) - 1, -1, -1):
        digit = int(kept[place])
        if place == len(kept) - 1:
            node = builder.sequence([_digit(0, digit, builder), node])
            continue
        branches = [builder.sequence([_digit(digit, digit, builder), node])]
        if digit > 0:
            more = _any(len(text) - place - 1, builder)
            branches.append(builder.sequence([_digit(0, digit - 1, builder), more]))
        node = builder.choice(branches)
    return node


def _digit(low: int, high: int, builder: Builder) -> Node:
    return builder.byte_class(_DIGITS[low : high + 1])


def _any(count: int, builder: Builder) -> Node:
    """So many digits."""
    return builder.repeat(builder.byte_class(_DIGITS), count, count) if count else builder.literal(b"")


# Digits after the point


@dataclass(frozen=True, slots=True)
class _Rest:
    """What may follow some digits after the point: nothing if `may_end`, or one of `steps`."""

    may_end: bool
    steps: tuple[Node, ...]


class _Decimals:
    """Writes an interval of decimals: those inside by their whole part, those at its ends by all digits."""

    def __init__(self, builder: Builder, magnitudes: Magnitudes, significant: int | None) -> None:
        self.builder = builder
        self.most = magnitudes.fraction
        self.significant = significant
        """Digits after the point that need not be 0; None: all. Only zeros follow."""
        self.lower_exclusive = magnitudes.lower_exclusive
        self.upper_exclusive = magnitudes.upper_exclusive
        self.low, self.low_digits = _split(magnitudes.lower)
        self.high: int | None = None
        self.high_digits = ""
        if magnitudes.upper is not None:
            self.high, self.high_digits = _split(magnitudes.upper)

    def node(self) -> Node:
        """The whole interval."""
        builder = self.builder
        if self.low == self.high:
            return self._with_fraction(builder.literal(str(self.low).encode()), self._inside(0))
        from_low = not self.low_digits and not self.lower_exclusive
        branches = []
        first = self.low if from_low else self.low + 1
        last = None if self.high is None else self.high - 1
        if last is None or first <= last:
            whole = whole_numbers(first, last, builder)
            branches.append(self._with_fraction(whole, _Rest(True, self._any_steps(0))))
        if not from_low:
            whole = builder.literal(str(self.low).encode())
            branches.append(self._with_fraction(whole, self._from_low(0)))
        if self.high is not None:
            whole = builder.literal(str(self.high).encode())
            branches.append(self._with_fraction(whole, self._to_high(0)))
        return builder.choice([branch for branch in branches if branch != builder.empty()])

    def _with_fraction(self, whole: Node, rest: _Rest) -> Node:
        """A whole part and, with a point, what may follow it."""
        builder = self.builder
        if not rest.steps:
            return whole if rest.may_end else builder.empty()
        fraction = builder.sequence([builder.literal(b"."), builder.choice(rest.steps)])
        return builder.sequence([whole, builder.optional(fraction) if rest.may_end else fraction])

    def _step(self, low: int, high: int, rest: _Rest) -> tuple[Node, ...]:
        """One digit of a range and what follows it; nothing if that is no way to end."""
        if low > high or not (rest.may_end or rest.steps):
            return ()
        builder = self.builder
        digit = _digit(low, high, builder)
        if not rest.steps:
            return (digit,)
        after = builder.choice(rest.steps)
        return (builder.sequence([digit, builder.optional(after) if rest.may_end else after]),)

    def _any_steps(self, place: int) -> tuple[Node, ...]:
        """One or more of any digits, from a place on."""
        builder = self.builder
        digit = builder.byte_class(_DIGITS)
        left = self.significant if self.most is None else self.most
        if left is None:
            return (builder.repeat(digit, 1, None),)
        if left > place:
            digits = builder.repeat(digit, 1, left - place)
            zeros = builder.repeat(builder.literal(b"0"), 0, None)
            return (digits if self.most is not None else builder.sequence([digits, zeros]),)
        return self._zero_steps(place)

    def _zero_steps(self, place: int) -> tuple[Node, ...]:
        """One or more zeros, from a place on."""
        left = None if self.most is None else self.most - place
        return () if left == 0 else (self.builder.repeat(self.builder.literal(b"0"), 1, left),)

    def _after(self, place: int) -> _Rest:
        return _Rest(True, self._any_steps(place))

    def _above_zero(self, place: int) -> _Rest:
        """Digits that are not all 0."""
        builder = self.builder
        if self.most is None:
            zeros = builder.repeat(builder.literal(b"0"), 0, None)
            (step,) = self._step(1, 9, self._after(place + 1))
            return _Rest(False, (builder.sequence([zeros, step]),))
        rest = _Rest(False, ())
        for later in range(self.most - 1, place - 1, -1):
            rest = _Rest(False, self._step(0, 0, rest) + self._step(1, 9, self._after(later + 1)))
        return rest

    def _from_low(self, place: int) -> _Rest:
        """Digits from those of the lower bound up, of which `place` have been read."""
        digits = self.low_digits
        start = max(place, len(digits))
        rest = self._above_zero(start) if self.lower_exclusive else self._after(start)
        for at in range(len(digits) - 1, place - 1, -1):
            digit = int(digits[at])
            rest = _Rest(
                False, self._step(digit, digit, rest) + self._step(digit + 1, 9, self._after(at + 1))
            )
        return rest

    def _to_high(self, place: int) -> _Rest:
        """Digits up to those of the upper bound, of which `place` have been read."""
        digits = self.high_digits
        start = max(place, len(digits))
        rest = _Rest(False, ()) if self.upper_exclusive else _Rest(True, self._zero_steps(start))
        for at in range(len(digits) - 1, place - 1, -1):
            digit = int(digits[at])
            rest = _Rest(True, self._step(digit, digit, rest) + self._step(0, digit - 1, self._after(at + 1)))
        return rest

    def _inside(self, place: int) -> _Rest:
        """Digits between those of both bounds, which have one whole part."""
        size = max(len(self.low_digits), len(self.high_digits))
        low, high = self.low_digits.ljust(size, "0"), self.high_digits.ljust(size, "0")
        same = place
        while same < size and low[same] == high[same]:
            same += 1
        rest = self._ends_differ(same, low, high) if same < size else self._one_value(size)
        for at in range(same - 1, place - 1, -1):
            digit = int(low[at])
            rest = _Rest(self._may_end(at), self._step(digit, digit, rest))
        return rest

    def _ends_differ(self, place: int, low: str, high: str) -> _Rest:
        first, last = int(low[place]), int(high[place])
        steps = self._step(first, first, self._from_low(place + 1))
        steps += self._step(first + 1, last - 1, self._after(place + 1))
        steps += self._step(last, last, self._to_high(place + 1))
        return _Rest(self._may_end(place), steps)

    def _one_value(self, place: int) -> _Rest:
        """Both bounds are one number."""
        if self.lower_exclusive or self.upper_exclusive:
            return _Rest(False, ())
        return _Rest(True, self._zero_steps(place))

    def _may_end(self, place: int) -> bool:
        """Do the digits read so far, all those of the lower bound, make the lower bound?"""
        return place >= len(self.low_digits) and not self.lower_exclusive


def _split(value: Fraction) -> tuple[int, str]:
    """The whole part of a number, and the digits after its point."""
    whole, _, digits = plain_decimal(value).partition(".")
    return int(whole), digits
