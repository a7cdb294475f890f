"""Sets of numbers: cases, algebra and spellings on random sets, against exact arithmetic on the texts."""

from __future__ import annotations

import json
import random
import re
from decimal import Decimal
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from maskwright.errors import LimitError
from maskwright.ir import Builder
from maskwright.json_schema.digits import plain_decimal
from maskwright.json_schema.number_text import EXPONENT, LARGE_EXPONENT, MAX_FRACTION
from maskwright.json_schema.numbers import ANY_NUMBER, INTEGERS, MAX_DIGITS, NumberSet, Unsupported, exact
from maskwright.json_schema.probe import Probe
from maskwright.json_schema.spelling import Style

JSON_NUMBER = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?")
PLAIN_NUMBER = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?")


def number_set(fields: dict[str, Any]) -> NumberSet:
    values = dict(fields)
    for name in ("lower", "upper"):
        if name in values:
            values[name] = Fraction(values[name])
    for name in ("multiple_of", "not_multiple_of", "excluded"):
        if name in values:
            values[name] = tuple(map(Fraction, values[name]))
    if "excluded" in values:
        values["excluded"] = frozenset(values["excluded"])
    return NumberSet(**values)


DATA = json.loads((Path(__file__).parents[2] / "data" / "json_schema" / "numbers.json").read_text())
CASES = [(number_set(case["set"]), case["has"], case["lacks"], case.get("accept", [])) for case in DATA]


def spelled(numbers: NumberSet, style: Style) -> Probe:
    builder = Builder()
    return Probe(builder, numbers.node(builder, style))


def value(text: str) -> Fraction:
    return Fraction(text)


def right_to_generate(numbers: NumberSet, text: str) -> bool:
    """Should a model write this?"""
    if numbers == ANY_NUMBER:
        return JSON_NUMBER.fullmatch(text) is not None
    if not PLAIN_NUMBER.fullmatch(text):
        return False
    stepped = numbers.steps or numbers.not_multiple_of
    if text.startswith("-") and value(text) == 0 and stepped:
        return False
    places = len(text.partition(".")[2])
    return places <= most_places(numbers) and numbers.contains(value(text))


def most_places(numbers: NumberSet) -> int:
    if numbers.integer:
        return 0
    if numbers.multiple_of:
        step = numbers.step
        assert step is not None
        return max(1, len(plain_decimal(step).partition(".")[2]))
    known = [numbers.lower, numbers.upper, *numbers.not_multiple_of, *numbers.excluded]
    digits = [len(plain_decimal(bound).partition(".")[2]) + 1 for bound in known if bound is not None]
    return max([MAX_FRACTION, *digits])


def is_documented(numbers: NumberSet, text: str) -> bool:
    """Is the spelling within the bounds that `number_text` tells?"""
    mantissa, _, exponent = text.lower().partition("e")
    if numbers == ANY_NUMBER or not exponent or abs(int(exponent)) <= EXPONENT or value(mantissa) == 0:
        return True
    whole, _, digits = mantissa.lstrip("-").partition(".")
    if len(whole) != 1 or whole == "0":
        return False
    stepped = numbers.steps or numbers.not_multiple_of
    return not stepped or (digits == digits.rstrip("0") and len(digits) + 8 <= LARGE_EXPONENT)


# Cases


@pytest.mark.parametrize(("numbers", "has", "lacks", "more"), CASES)
def test_cases(numbers: NumberSet, has: list[str], lacks: list[str], more: list[str]) -> None:
    generate, accept = spelled(numbers, "generate"), spelled(numbers, "accept")
    for text in has:
        assert generate.contains(text.encode()) and accept.contains(text.encode()), text
        assert numbers.contains(value(text))
    for text in lacks:
        assert not generate.contains(text.encode()), text
        if not JSON_NUMBER.fullmatch(text) or not numbers.contains(value(text)):
            assert not accept.contains(text.encode()), text
    for text in more:
        assert accept.contains(text.encode()), text
        assert generate.contains(text.encode()) == right_to_generate(numbers, text), text
    assert not numbers.is_empty()


# Random sets


def random_bound(rng: random.Random) -> Fraction:
    kind = rng.randrange(4)
    if kind == 0:
        return Fraction(rng.randint(-20, 20))
    if kind == 1:
        return Fraction(rng.randint(-2000, 2000), 10)
    if kind == 2:
        return Fraction(rng.randint(-(10**9), 10**9), 10 ** rng.randint(0, 6))
    return Fraction(10) ** rng.randint(-12, 15) * rng.choice([1, -1])


def random_set(rng: random.Random) -> NumberSet:
    steps = [
        Fraction(text)
        for text in ("1", "2", "5", "0.01", "0.5", "3", "7", "10", "0.3", "0.25", "12", "0.015")
    ]
    numbers = NumberSet(integer=rng.random() < 0.3)
    if rng.random() < 0.5:
        numbers = numbers.intersect(NumberSet(lower=random_bound(rng), lower_exclusive=rng.random() < 0.3))
    if rng.random() < 0.5:
        numbers = numbers.intersect(NumberSet(upper=random_bound(rng), upper_exclusive=rng.random() < 0.3))
    if rng.random() < 0.3:
        numbers = numbers.intersect(NumberSet(multiple_of=(rng.choice(steps),)))
    if rng.random() < 0.2:
        numbers = numbers.intersect(NumberSet(not_multiple_of=(rng.choice(steps),)))
    if rng.random() < 0.2:
        taken = frozenset({random_bound(rng), random_bound(rng), Fraction(0)})
        numbers = numbers.intersect(NumberSet(excluded=taken))
    return numbers


def random_text(rng: random.Random, numbers: NumberSet) -> str:
    """A number near one of the set's own, in some spelling; a few are no JSON."""
    near = [bound for bound in (numbers.lower, numbers.upper) if bound is not None]
    near += [*numbers.excluded, *numbers.multiple_of, *numbers.not_multiple_of]
    if near and rng.random() < 0.6:
        shift = Fraction(rng.choice(["0", "1", "-1", "0.1", "0.001", "-0.01"]))
        number = rng.choice(near) * rng.choice([1, 1, 3]) + shift
    else:
        number = random_bound(rng)
    exponent = rng.choice([0, 0, rng.randint(-3, 3), rng.randint(-12, 30)])
    text = plain_decimal(number / Fraction(10) ** exponent)
    if rng.random() < 0.2:
        text += ("" if "." in text else ".") + "0" * rng.randint(1, 3)
    if exponent:
        sign = "-" if exponent < 0 else rng.choice(["", "+"])
        text += f"{rng.choice('eE')}{sign}{rng.choice(['', '0'])}{abs(exponent)}"
    return rng.choice(["", "", "", "", "", "", "", "", "0", "-"]) + text


@pytest.mark.parametrize("seed", range(6))
def test_spellings_of_random_sets(seed: int) -> None:
    rng = random.Random(seed)
    seen = {True: 0, False: 0}
    for _ in range(25):
        numbers = random_set(rng)
        for style in ("generate", "accept"):
            probe = spelled(numbers, style)  # type: ignore[arg-type]
            assert probe.is_empty == numbers.is_empty(), numbers
            for _ in range(60):
                text = random_text(rng, numbers)
                if style == "generate":
                    wanted = right_to_generate(numbers, text)
                else:
                    wanted = JSON_NUMBER.fullmatch(text) is not None and numbers.contains(value(text))
                    if wanted and not is_documented(numbers, text):
                        continue
                seen[wanted] += 1
                assert probe.contains(text.encode()) == wanted, (numbers, style, text)
    assert min(seen.values()) > 300


def test_the_algebra_on_random_sets() -> None:
    rng = random.Random(99)
    sets = [random_set(rng) for _ in range(40)]
    texts = [random_text(rng, rng.choice(sets)) for _ in range(80)]
    numbers = [value(text) for text in texts if JSON_NUMBER.fullmatch(text)]
    for one in sets:
        parts = one.complement()
        for number in numbers:
            assert any(part.contains(number) for part in parts) != one.contains(number), (one, number)
    for left, right in product(sets, sets[:10]):
        both = left.intersect(right)
        for number in numbers:
            assert both.contains(number) == (left.contains(number) and right.contains(number))


def test_of_two_equal_bounds_the_exclusive_one_is_tighter() -> None:
    zero = Fraction(0)
    for one, other in (
        (NumberSet(lower=zero), NumberSet(lower=zero, lower_exclusive=True)),
        (NumberSet(upper=zero), NumberSet(upper=zero, upper_exclusive=True)),
    ):
        assert not one.intersect(other).contains(0)
        assert not other.intersect(one).contains(0)


def test_emptiness_by_counting() -> None:
    rng = random.Random(3)
    steps = [Fraction(step) for step in (1, 2, 3, 4, 6, 9)] + [Fraction(1, 2), Fraction(3, 4)]
    found = {True: 0, False: 0}
    for _ in range(600):
        low = Fraction(rng.randint(-8, 8), rng.choice([1, 2, 4]))
        numbers = NumberSet(
            integer=rng.random() < 0.5,
            lower=low,
            upper=low + Fraction(rng.randint(-1, 12), 4),
            lower_exclusive=rng.random() < 0.5,
            upper_exclusive=rng.random() < 0.5,
            multiple_of=tuple(rng.sample(steps, 1)),
            not_multiple_of=tuple(rng.sample(steps, rng.randrange(3))),
            excluded=frozenset(Fraction(rng.randint(-4, 4)) for _ in range(rng.randrange(3))),
        )
        members = [Fraction(n, 8) for n in range(-200, 201) if numbers.contains(Fraction(n, 8))]
        assert numbers.is_empty() == (not members), numbers
        assert numbers.values(100) == members
        found[not members] += 1
    assert min(found.values()) > 100


# Edges


def test_floats_are_their_shortest_decimals() -> None:
    assert exact(0.1) == Fraction(1, 10)
    assert exact(1e23) == 10**23
    assert exact(5e-324) == Fraction(5, 10**324)
    assert NumberSet(multiple_of=(exact(0.01),)).contains(1.13)


@pytest.mark.parametrize(
    "bad", [Decimal("1e1000000000"), Decimal("NaN"), float("inf"), 10**MAX_DIGITS, Decimal("1e-1000000")]
)
def test_numbers_out_of_all_bounds_are_refused(bad: Any) -> None:
    with pytest.raises(Unsupported) as caught:
        exact(bad)
    assert caught.value.why


def test_a_set_of_multiples_without_an_end_is_empty_by_arithmetic() -> None:
    assert NumberSet(multiple_of=(Fraction(6),), not_multiple_of=(Fraction(3),)).is_empty()
    assert not NumberSet(multiple_of=(Fraction(3),), not_multiple_of=(Fraction(6),)).is_empty()
    assert not NumberSet(lower=Fraction(10**300), integer=True).is_empty()
    assert not NumberSet(lower=Fraction(0), upper=Fraction(1, 10**300), lower_exclusive=True).is_empty()


def test_what_takes_too_many_candidates_says_so() -> None:
    taken = frozenset(Fraction(number) for number in range(100_010))
    with pytest.raises(LimitError):
        NumberSet(integer=True, lower=Fraction(0), excluded=taken).is_empty()


def test_too_many_excluded_values_are_refused() -> None:
    taken = frozenset(Fraction(number) for number in range(3000))
    with pytest.raises(Unsupported):
        NumberSet(excluded=taken).node(Builder(), "accept")
    with pytest.raises(Unsupported):
        NumberSet(excluded=taken, multiple_of=(Fraction(7),)).node(Builder())
    assert not spelled(NumberSet(excluded=taken), "generate").contains(b"2999")


@pytest.mark.parametrize("style", ["generate", "accept"])
def test_many_excluded_values(style: Style) -> None:
    taken = frozenset(Fraction(number) for number in range(0, 100, 2))
    for numbers in (
        NumberSet(excluded=taken),
        NumberSet(integer=True, excluded=taken, multiple_of=(Fraction(7),)),
    ):
        probe = spelled(numbers, style)
        for number in range(-10, 110):
            assert probe.contains(str(number).encode()) == numbers.contains(number), number


def test_common_sets_stay_small() -> None:
    for numbers, most in (
        (INTEGERS, 12),
        (ANY_NUMBER, 20),
        (NumberSet(integer=True, lower=Fraction(0), upper=Fraction(255)), 40),
        (NumberSet(integer=True, lower=Fraction(1)), 20),
        (NumberSet(lower=Fraction(0)), 30),
        (NumberSet(integer=True, lower=Fraction(-(2**63)), upper=Fraction(2**63 - 1)), 150),
    ):
        builder = Builder()
        numbers.node(builder)
        assert builder.literal(b"one more") <= most, numbers
