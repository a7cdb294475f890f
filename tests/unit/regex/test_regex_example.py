"""Is an example matched, and does every match begin as `first_characters` says? Against `re`."""

from __future__ import annotations

import random
import re

from maskwright.regex import read_regex
from maskwright.regex.example import example, first_characters
from maskwright.regex.ranges import contains
from random_patterns import random_pattern

LETTERS = ["", "a", "b", "0", "_", "-", ".", "\n", "\\", "\xff", "{", "]", "z", "\x00"]


def test_examples_are_matched() -> None:
    rng = random.Random(1)
    for _ in range(1_000):
        pattern = random_pattern(rng)
        text = example(read_regex(pattern, "python"))
        assert text is not None
        assert re.fullmatch(pattern, text), (pattern, text)


def test_first_characters() -> None:
    rng = random.Random(2)
    told = 0
    for _ in range(1_000):
        pattern = f"^(?:{random_pattern(rng)})"
        firsts = first_characters(read_regex(pattern, "python"))
        if firsts is None:
            continue
        told += 1
        for _ in range(20):
            text = "".join(rng.choices(LETTERS, k=3))
            if re.search(pattern, text):
                assert text, pattern
                assert contains(firsts, ord(text[0])), (pattern, text)
    assert told > 300


def test_what_is_long_or_deep_has_no_example() -> None:
    assert example(read_regex("a{500}", "ecma")) is None
    assert example(read_regex("(a?(b" * 60 + ")+)+" * 60, "ecma")) is None
