"""Is a guess about a set of strings never wrong? Against the engine, over combinations of patterns."""

from __future__ import annotations

import json
import random
from itertools import product
from pathlib import Path

import pytest
from maskwright.ir import Builder
from maskwright.json_schema.guess import guess_empty
from maskwright.json_schema.probe import PROBE_LIMITS, Probe
from maskwright.json_schema.spelling import Spelling
from maskwright.json_schema.strings import StringSet

DATA = json.loads((Path(__file__).parents[2] / "data" / "json_schema" / "strings.json").read_text())
PATTERNS = sorted({pattern for case in DATA for pattern in case["set"].get("patterns", ())})
EXTRA = [
    "^a",
    "^b$",
    "^[a-c]?x",
    "^(x|y)",
    "c|^d",
    "^$",
    "",
    "^(?!a)b",
    "^a*$",
    "^[^/]+/",
    "^\\d{2}-",
    "\\bq",
]


def is_empty(strings: StringSet) -> bool:
    builder = Builder()
    return Probe(builder, strings.body(Spelling(builder))).is_empty


@pytest.mark.parametrize(("one", "other"), list(product(EXTRA, EXTRA)))
def test_two_patterns(one: str, other: str) -> None:
    for strings in (
        StringSet(patterns=(one, other)),
        StringSet(patterns=(one,), not_patterns=(other,)),
        StringSet(not_patterns=(one, other)),
    ):
        guessed = guess_empty(strings, PROBE_LIMITS)
        assert guessed is None or guessed == is_empty(strings), strings


def test_patterns_without_anchors_are_found_one_after_the_other() -> None:
    strings = StringSet(patterns=("customer", "[0-9]{3}"), not_patterns=("maker",))
    assert guess_empty(strings, PROBE_LIMITS) is False


def test_many_combinations() -> None:
    rng = random.Random(5)
    settled = 0
    for _ in range(300):
        some = rng.sample(PATTERNS + EXTRA, 4)
        cut = rng.randrange(4)
        strings = StringSet(
            tuple(some[:cut]),
            tuple(some[cut:]),
            rng.randrange(3),
            rng.choice([None, 3, 9]),
            excluded=frozenset(rng.sample(["", "a", "b", "ax", "x"], rng.randrange(3))),
        )
        guessed = guess_empty(strings, PROBE_LIMITS)
        settled += guessed is not None
        assert guessed is None or guessed == is_empty(strings), strings
    assert settled > 50


def test_without_patterns() -> None:
    assert guess_empty(StringSet(excluded=frozenset("abc")), PROBE_LIMITS) is False
    assert guess_empty(StringSet(excluded=frozenset(("",)), max_length=0), PROBE_LIMITS) is True
    assert guess_empty(StringSet(formats=("date",)), PROBE_LIMITS) is None
