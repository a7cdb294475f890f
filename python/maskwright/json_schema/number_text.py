"""How is a set of numbers written in JSON? As a model should write it, or in every spelling.

generate   an integer: no fraction, no exponent, no superfluous zero, no -0
           any number at all: JSON's own syntax, `-0` and exponents included
           other numbers: plain decimals; with `multipleOf` as many digits after the point as that has, at
           least one, and no -0; else at most `MAX_FRACTION`, or one more than the bounds have
accept     every spelling with an exponent of at most `EXPONENT` in size, after any digits; and with any
           larger exponent after a mantissa with one digit before the point that is not 0 (`1.5e+300`);
           multiples of a number then have no superfluous zeros and about `LARGE_EXPONENT` digits
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from math import ceil, floor, prod

from maskwright.ir import Builder, Node
from maskwright.json_schema.digits import (
    MAX_EXCLUDED,
    Magnitudes,
    TooLarge,
    build,
    modulus_of,
    plain_decimal,
    scale_of,
    write,
)
from maskwright.json_schema.interval import is_interval, whole_numbers, write_interval
from maskwright.json_schema.numbers import ANY_NUMBER, INTEGERS, NumberSet, Unsupported
from maskwright.json_schema.spelling import Style

__all__ = ["EXPONENT", "LARGE_EXPONENT", "MAX_FRACTION", "node"]

MAX_FRACTION = 20
"""Digits after the point; the shortest decimal of a float has at most 17 after its leading zeros."""

EXPONENT = 5
LARGE_EXPONENT = 17

MAX_REMAINDERS = 100
MAX_BOUND = 4
"""Remainders told apart by states, next to bounds of so many characters and so many digits after the point.
Past that a register of the engine holds the remainder: states would be multiplied by each other."""

MAX_REGISTER_DIGITS = 40

MAX_CUTS = 128
"""Values taken out of a set of multiples: each cuts an interval, and each exponent has all of them."""

MAX_TAKEN = {"generate": 100_000, "accept": 2_000}
"""Values taken out of any set: about 0.3 seconds."""

_DIGITS = b"0123456789"
_ZERO = Fraction(0)


def node(numbers: NumberSet, builder: Builder, style: Style) -> Node:
    """The JSON spellings of the numbers of a set. Raises `Unsupported` if too many values are taken out."""
    if len(numbers.excluded) > MAX_TAKEN[style]:
        raise Unsupported(f"more than {MAX_TAKEN[style]} numbers are excluded one by one")
    if style == "accept":
        return _every_spelling(numbers, builder)
    if numbers == ANY_NUMBER:
        return any_number(builder)
    if numbers == INTEGERS:
        return any_integer(builder)
    if numbers.integer and not (numbers.multiple_of or numbers.not_multiple_of or numbers.excluded):
        return _integers(numbers, builder)
    if numbers.is_empty():
        return builder.empty()
    return _plain(numbers, builder, _places(numbers))


def any_number(builder: Builder) -> Node:
    """JSON's syntax of numbers."""
    digits = builder.repeat(builder.byte_class(_DIGITS), 1, None)
    sign = builder.optional(builder.literal(b"-"))
    fraction = builder.optional(builder.sequence([builder.literal(b"."), digits]))
    return builder.sequence([sign, _whole(builder), fraction, builder.optional(_exponent(builder))])


def any_integer(builder: Builder) -> Node:
    """An integer in its one canonical spelling."""
    positive = builder.sequence([builder.optional(builder.literal(b"-")), _positive(builder)])
    return builder.choice([builder.literal(b"0"), positive])


def _integers(numbers: NumberSet, builder: Builder) -> Node:
    """The integers of an interval: what `_plain` comes to, in a third of the time."""
    low = high = None
    if numbers.lower is not None:
        low = ceil(numbers.lower)
        low += numbers.lower_exclusive and low == numbers.lower
    if numbers.upper is not None:
        high = floor(numbers.upper)
        high -= numbers.upper_exclusive and high == numbers.upper
    branches = []
    if high is None or high >= 0:
        first = 0 if low is None else max(low, 0)
        if high is None or first <= high:
            branches.append(whole_numbers(first, high, builder))
    if low is None or low < 0:
        first = 1 if high is None else max(-high, 1)
        if low is None or first <= -low:
            last = None if low is None else -low
            branches.append(builder.sequence([builder.literal(b"-"), whole_numbers(first, last, builder)]))
    return builder.choice(branches)


def _positive(builder: Builder) -> Node:
    first = builder.byte_class(_DIGITS[1:])
    return builder.sequence([first, builder.repeat(builder.byte_class(_DIGITS), 0, None)])


def _whole(builder: Builder) -> Node:
    return builder.choice([builder.literal(b"0"), _positive(builder)])


def _exponent(builder: Builder) -> Node:
    """Any exponent at all."""
    digits = builder.repeat(builder.byte_class(_DIGITS), 1, None)
    return builder.sequence([builder.byte_class(b"eE"), builder.optional(builder.byte_class(b"+-")), digits])


# Plain decimals


def _places(numbers: NumberSet) -> int:
    """How many digits after the point are written."""
    if numbers.integer:
        return 0
    step = numbers.step
    if step is not None:
        return max(scale_of(step), 1)
    known = [value for value in (numbers.lower, numbers.upper) if value is not None]
    known += [*numbers.not_multiple_of, *numbers.excluded]
    return max([MAX_FRACTION, *(scale_of(value) + 1 for value in known)])


def _plain(numbers: NumberSet, builder: Builder, places: int | None) -> Node:
    """Plain decimals of both signs. `places` None: any number of digits after the point."""
    try:
        return builder.choice(
            [
                builder.sequence([builder.literal(sign), _digits(magnitudes, builder)])
                for sign, magnitudes in _both_signs(numbers, places)
            ]
        )
    except TooLarge:
        if places is None:
            places = max(_places(numbers), MAX_REGISTER_DIGITS)
        return builder.choice(list(_in_registers(numbers, builder, places)))


def _both_signs(numbers: NumberSet, places: int | None) -> Iterator[tuple[bytes, Magnitudes]]:
    """The numbers from 0 up, and those from -0 down without their sign; of multiples, -0 is not written."""
    steps = (numbers.step,) if numbers.step is not None else ()
    stepped = bool(steps or numbers.not_multiple_of)
    for sign, factor in ((b"", 1), (b"-", -1)):
        lower, lower_exclusive = numbers.lower, numbers.lower_exclusive
        upper, upper_exclusive = numbers.upper, numbers.upper_exclusive
        if factor < 0:
            lower, upper = upper and -upper, lower and -lower
            lower_exclusive, upper_exclusive = upper_exclusive, lower_exclusive
        if lower is None or lower <= 0:
            without_zero = (lower == 0 and lower_exclusive) or _ZERO in numbers.excluded
            lower, lower_exclusive = _ZERO, without_zero or (factor < 0 and stepped)
        inside = (value * factor for value in numbers.excluded)
        excluded = tuple(sorted(value for value in inside if value > 0 and value >= lower))
        magnitudes = Magnitudes(
            lower, upper, lower_exclusive, upper_exclusive, steps, numbers.not_multiple_of, excluded, places
        )
        if not _is_void(magnitudes):
            yield sign, magnitudes


def _digits(magnitudes: Magnitudes, builder: Builder) -> Node:
    """Magnitudes as nodes: an interval straight away, others by an automaton. Raises `TooLarge`."""
    if is_interval(replace(magnitudes, excluded=())):
        return _interval_without(magnitudes, builder)
    steps = magnitudes.multiples + magnitudes.not_multiples
    places = magnitudes.fraction
    if places is None or places > MAX_BOUND or prod(map(modulus_of, steps)) > MAX_REMAINDERS:
        raise TooLarge
    values = [
        value for value in (magnitudes.lower, magnitudes.upper, *magnitudes.excluded) if value is not None
    ]
    if len(values) > MAX_EXCLUDED or any(len(plain_decimal(value)) > MAX_BOUND for value in values):
        raise TooLarge
    automaton = build(magnitudes)
    return builder.empty() if automaton is None else write(builder, automaton)


def _interval_without(magnitudes: Magnitudes, builder: Builder) -> Node:
    """An interval with some values taken out: cut at them, or, if they are many, all at once."""
    excluded = magnitudes.excluded
    plain = replace(magnitudes, excluded=())
    if len(excluded) > MAX_EXCLUDED:
        taken = builder.complement(_spelled(excluded, builder))
        return builder.intersection([write_interval(plain, builder), taken])
    branches = []
    for value in excluded:
        if plain.upper is not None and value > plain.upper:
            break
        if value > plain.lower or not plain.lower_exclusive:
            branches.append(replace(plain, upper=value, upper_exclusive=True))
            plain = replace(plain, lower=value, lower_exclusive=True)
    nodes = [write_interval(part, builder) for part in (*branches, plain) if not _is_void(part)]
    return builder.choice([node for node in nodes if node != builder.empty()])


def _is_void(magnitudes: Magnitudes) -> bool:
    """Do the bounds leave nothing between them?"""
    lower, upper = magnitudes.lower, magnitudes.upper
    if upper is None or lower < upper:
        return False
    return lower > upper or magnitudes.lower_exclusive or magnitudes.upper_exclusive


def _spelled(values: Sequence[Fraction], builder: Builder) -> Node:
    """The plain decimals of some values, with zeros after them."""
    zeros = builder.repeat(builder.literal(b"0"), 0, None)
    whole = builder.literals(plain_decimal(value).encode() for value in values if value.denominator == 1)
    broken = builder.literals(plain_decimal(value).encode() for value in values if value.denominator != 1)
    pointed = builder.sequence([builder.literal(b".0"), zeros])
    return builder.choice(
        [builder.sequence([whole, builder.optional(pointed)]), builder.sequence([broken, zeros])]
    )


def _in_registers(numbers: NumberSet, builder: Builder, places: int) -> Iterator[Node]:
    """The plain decimals of both signs by the engine's own number node, cut at the excluded values."""
    edges: list[tuple[Fraction | None, bool]] = [(numbers.lower, numbers.lower_exclusive)]
    if len(numbers.excluded) > MAX_CUTS:
        raise Unsupported(f"more than {MAX_CUTS} numbers are excluded from multiples one by one")
    bounds = NumberSet(lower=numbers.lower, upper=numbers.upper)
    edges += [(value, True) for value in sorted(numbers.excluded) if bounds.contains(value)]
    edges.append((numbers.upper, numbers.upper_exclusive))
    known = [abs(value) for value, _ in edges if value is not None]
    digits = max([MAX_REGISTER_DIGITS, *(len(str(int(value))) for value in known)])
    for (lower, lower_exclusive), (upper, upper_exclusive) in pairwise(edges):
        part = replace(
            numbers,
            lower=lower,
            upper=upper,
            lower_exclusive=lower_exclusive,
            upper_exclusive=upper_exclusive,
            excluded=frozenset(),
        )
        if part.is_empty():
            continue
        yield builder.decimal(
            minimum=None if lower is None else plain_decimal(lower),
            maximum=None if upper is None else plain_decimal(upper),
            exclusive_minimum=lower_exclusive,
            exclusive_maximum=upper_exclusive,
            multiple_of=[plain_decimal(step) for step in part.steps],
            not_multiple_of=[plain_decimal(step) for step in part.not_multiple_of],
            integer=places == 0,
            max_fraction=places,
            max_digits=digits,
        )


# Every spelling


def _every_spelling(numbers: NumberSet, builder: Builder) -> Node:
    """All JSON texts of the numbers, within the bounds that the head of this file tells."""
    if numbers == ANY_NUMBER:
        return any_number(builder)
    if numbers.is_empty():
        return builder.empty()
    branches = []
    if numbers.contains(0):
        branches.append(_zero(builder))
    nonzero = numbers.intersect(NumberSet(excluded=frozenset({_ZERO})))
    for exponent in range(-EXPONENT, EXPONENT + 1):
        mantissa = _plain(_shifted(nonzero, exponent), builder, None)
        branches.append(builder.sequence([mantissa, _one_exponent(exponent, builder)]))
    branches += _scientific(nonzero, 1, builder)
    branches += _scientific(nonzero, -1, builder)
    return builder.choice([branch for branch in branches if branch != builder.empty()])


def _zero(builder: Builder) -> Node:
    """Zero, whatever its sign and exponent."""
    zeros = builder.repeat(builder.literal(b"0"), 1, None)
    fraction = builder.optional(builder.sequence([builder.literal(b"."), zeros]))
    sign = builder.optional(builder.literal(b"-"))
    return builder.sequence([sign, builder.literal(b"0"), fraction, builder.optional(_exponent(builder))])


def _one_exponent(exponent: int, builder: Builder) -> Node:
    """One exponent in every spelling; of 0, none at all is one."""
    zeros = builder.repeat(builder.literal(b"0"), 0, None)
    letter = builder.byte_class(b"eE")
    if exponent == 0:
        any_sign = builder.optional(builder.byte_class(b"+-"))
        return builder.optional(builder.sequence([letter, any_sign, zeros, builder.literal(b"0")]))
    sign = builder.literal(b"-") if exponent < 0 else builder.optional(builder.literal(b"+"))
    return builder.sequence([letter, sign, zeros, builder.literal(str(abs(exponent)).encode())])


def _shifted(numbers: NumberSet, exponent: int) -> NumberSet:
    """What stands before the exponent: the set with the point moved."""
    factor = Fraction(10) ** -exponent
    step = numbers.step
    return NumberSet(
        lower=None if numbers.lower is None else numbers.lower * factor,
        upper=None if numbers.upper is None else numbers.upper * factor,
        lower_exclusive=numbers.lower_exclusive,
        upper_exclusive=numbers.upper_exclusive,
        multiple_of=() if step is None else (step * factor,),
        not_multiple_of=tuple(step * factor for step in numbers.not_multiple_of),
        excluded=frozenset(value * factor for value in numbers.excluded),
    )


# Exponents beyond `EXPONENT`: one digit, not 0, before the point


def _scientific(numbers: NumberSet, sign: int, builder: Builder) -> Iterator[Node]:
    """The numbers with large exponents of one sign: some exponents one by one, the rest by intervals.

    Between the exponents of the bounds the bounds say the same of all mantissas.
    """
    single = sorted(size for size in _single_sizes(numbers, sign) if size > EXPONENT)
    begin = EXPONENT + 1
    for size in single:
        yield from _interval(numbers, sign, begin, size - 1, builder)
        mantissa = _plain_normal(_shifted(numbers, sign * size), builder)
        yield builder.sequence([mantissa, _exponents(sign, size, size, builder)])
        begin = size + 1
    yield from _interval(numbers, sign, begin, None, builder)


def _single_sizes(numbers: NumberSet, sign: int) -> set[int]:
    """The sizes of the exponents for which the mantissas differ from those of their neighbours."""
    values = {value for value in (numbers.lower, numbers.upper, *numbers.excluded) if value}
    sizes = {sign * _adjusted(value) for value in values}
    steps = (*numbers.steps, *numbers.not_multiple_of)
    if steps:
        last = LARGE_EXPONENT if sign > 0 else max(map(scale_of, steps))
        sizes.update(range(EXPONENT + 1, last + 1))
    return sizes


def _interval(numbers: NumberSet, sign: int, low: int, high: int | None, builder: Builder) -> Iterator[Node]:
    """The numbers with exponents of some sizes, about which the bounds say the same."""
    if high is not None and low > high:
        return
    bounds = replace(numbers, integer=False, multiple_of=(), not_multiple_of=())
    sample = Fraction(10) ** (sign * low)
    exponents = _exponents(sign, low, high, builder)
    for minus, factor in ((b"", 1), (b"-", -1)):
        if not bounds.contains(sample * factor):
            continue
        mantissas = _any_normal(numbers, sign)
        if mantissas is not None:
            yield builder.sequence(
                [builder.literal(minus), _plain(mantissas, builder, _mantissa_places(mantissas)), exponents]
            )


def _any_normal(numbers: NumberSet, sign: int) -> NumberSet | None:
    """The mantissas from 1 to 10 that are right with every exponent beyond `LARGE_EXPONENT`; None: none is.

    With f digits after its point, D before an exponent e is the integer D * 10**(e - f) where e is large; so
    what divides it is what divides D, but for twos and fives.
    """
    normal = NumberSet(lower=Fraction(1), upper=Fraction(10), upper_exclusive=True)
    steps, others = numbers.steps, numbers.not_multiple_of
    if not steps and not others:
        return normal
    if sign < 0:
        return None if steps else normal  # less than any step
    places = LARGE_EXPONENT
    for step in (*steps, *others):
        places = min(places, LARGE_EXPONENT - _tens(step))
    if places < 0:
        return None
    unit = Fraction(1, 10**places)
    multiples = tuple(unit * _without_tens(step) for step in steps)
    not_multiples = tuple(unit * _without_tens(step) for step in others)
    return replace(normal, multiple_of=(unit, *multiples), not_multiple_of=not_multiples)


def _plain_normal(numbers: NumberSet, builder: Builder) -> Node:
    """The numbers of a set whose size is from 1 to below 10."""
    positive = numbers.intersect(NumberSet(lower=Fraction(1), upper=Fraction(10), upper_exclusive=True))
    negative = numbers.intersect(NumberSet(lower=Fraction(-10), upper=Fraction(-1), lower_exclusive=True))
    parts = [part for part in (positive, negative) if not part.is_empty()]
    return builder.choice([_plain(part, builder, _mantissa_places(part)) for part in parts])


def _mantissa_places(numbers: NumberSet) -> int | None:
    """Digits after the point next to a large exponent: of multiples, no zeros behind those that count.

    Else an automaton tells apart all pairs of a place and the last digit before it that is not 0.
    """
    return _places(numbers) if numbers.multiple_of else None


def _exponents(sign: int, low: int, high: int | None, builder: Builder) -> Node:
    """The exponents of one sign whose size is in an interval, in every spelling."""
    sizes = whole_numbers(low, high, builder)
    letter = builder.byte_class(b"eE")
    written = builder.literal(b"-") if sign < 0 else builder.optional(builder.literal(b"+"))
    return builder.sequence([letter, written, builder.repeat(builder.literal(b"0"), 0, None), sizes])


def _adjusted(value: Fraction) -> int:
    """The exponent in scientific notation: 3 of 1500, -1 of 0.25."""
    whole, _, fraction = plain_decimal(abs(value)).partition(".")
    return len(whole) - 1 if whole != "0" else len(fraction.lstrip("0")) - len(fraction) - 1


def _without_tens(step: Fraction) -> int:
    """What is left of a step without twos and fives: 3 of 0.6."""
    rest = modulus_of(step)
    for prime in (2, 5):
        while rest % prime == 0:
            rest //= prime
    return rest


def _tens(step: Fraction) -> int:
    """The least power of ten in which the twos and fives of a step go, from 0 up: 3 of 40."""
    rest = step / _without_tens(step)
    power = 0
    while (10**power / rest).denominator != 1:
        power += 1
    return power
