"""Sets of strings: cases, the algebra on all pairs of cases, spellings in both styles, emptiness."""

from __future__ import annotations

import json
import random
import re
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from maskwright import Compiler, Vocabulary
from maskwright.errors import LimitError, PatternError
from maskwright.ir import Builder
from maskwright.json_schema.formats import FORMATS
from maskwright.json_schema.probe import Probe
from maskwright.json_schema.spelling import Spelling, Style
from maskwright.json_schema.strings import ANY_STRING, StringSet
from maskwright.limits import Limits


def string_set(fields: dict[str, Any]) -> StringSet:
    values = {name: tuple(value) if isinstance(value, list) else value for name, value in fields.items()}
    for name in ("allowed", "excluded"):
        if name in values:
            values[name] = frozenset(values[name])
    return StringSet(**values)


DATA = json.loads((Path(__file__).parents[2] / "data" / "json_schema" / "strings.json").read_text())
CASES = [(string_set(case["set"]), case["has"], case["lacks"]) for case in DATA]
TEXTS = sorted({text for _, has, lacks in CASES for text in (*has, *lacks)})


def spelled(strings: StringSet, style: Style) -> Probe:
    builder = Builder()
    return Probe(builder, strings.node(Spelling(builder, style)))


def raw(text: str) -> bytes:
    return json.dumps(text, ensure_ascii=False).encode()


def escaped(text: str) -> bytes:
    """Every character as an escape, half of the digits in upper case."""
    units = text.encode("utf-16-be")
    pairs = [units[place : place + 2].hex() for place in range(0, len(units), 2)]
    return ('"' + "".join(f"\\u{pair[:2]}{pair[2:].upper()}" for pair in pairs) + '"').encode()


@pytest.mark.parametrize(("strings", "has", "lacks"), CASES)
def test_contains(strings: StringSet, has: list[str], lacks: list[str]) -> None:
    assert [text for text in has if not strings.contains(text)] == []
    assert [text for text in lacks if strings.contains(text)] == []
    assert not strings.is_empty()


@pytest.mark.parametrize(("strings", "has", "lacks"), CASES)
def test_complement(strings: StringSet, has: list[str], lacks: list[str]) -> None:
    parts = strings.complement()
    for text in TEXTS:
        assert any(part.contains(text) for part in parts) != strings.contains(text), text


def test_intersections() -> None:
    for (left, _, _), (right, _, _) in product(CASES, CASES):
        both = left.intersect(right)
        for text in TEXTS[::3]:
            assert both.contains(text) == (left.contains(text) and right.contains(text)), (left, right, text)


@pytest.mark.parametrize("style", ["generate", "accept"])
@pytest.mark.parametrize(("strings", "has", "lacks"), CASES)
def test_spellings(strings: StringSet, has: list[str], lacks: list[str], style: Style) -> None:
    probe = spelled(strings, style)
    for text in TEXTS:
        wanted = strings.contains(text)
        assert probe.contains(raw(text)) == wanted, text
        if text:
            free = style == "accept" or strings.is_free or escaped(text) == raw(text)
            assert probe.contains(escaped(text)) == (wanted and free), text


def test_values_are_the_allowed_members() -> None:
    strings = StringSet(allowed=frozenset({"b", "a", "ccc"}), max_length=2)
    assert strings.values() == ["a", "b"]
    assert ANY_STRING.values() is None


@pytest.mark.parametrize(
    "strings",
    [
        StringSet(min_length=3, max_length=2),
        StringSet(patterns=("^a$", "^b$")),
        StringSet(patterns=("^a{3}$",), max_length=2),
        StringSet(patterns=("^a*$",), not_patterns=("^a*$",)),
        StringSet(formats=("date", "uuid")),
        StringSet(allowed=frozenset({"a", "b"}), patterns=("c",)),
        StringSet(patterns=("^[ab]$",), excluded=frozenset({"a", "b"})),
        StringSet(not_patterns=("",)),
    ],
)
def test_empty_sets(strings: StringSet) -> None:
    assert strings.is_empty()
    assert spelled(strings, "generate").is_empty
    assert spelled(strings, "accept").is_empty
    assert any(part.contains("") for part in strings.complement())


def test_no_format_is_empty() -> None:
    for name in FORMATS:
        assert not StringSet(formats=(name,)).is_empty(), name


def test_a_question_that_takes_too_much_says_so() -> None:
    heavy = StringSet(patterns=("a[ab]{12}$", "b[ab]{11}$"), not_patterns=("c[ab]{9}$",), min_length=40)
    with pytest.raises(LimitError):
        heavy.is_empty(Limits(dfa_states=500))


def test_a_bad_pattern_is_reported_as_such() -> None:
    strings = StringSet(patterns=("(a",))
    for ask in (lambda: strings.contains("a"), strings.is_empty, lambda: spelled(strings, "generate")):
        with pytest.raises(PatternError):
            ask()


def test_bounds_that_the_pattern_sees_to_are_not_written() -> None:
    builder = Builder()
    spelling = Spelling(builder)
    alone = StringSet(patterns=("^[a-f]{4,8}$",)).node(spelling)
    assert StringSet(patterns=("^[a-f]{4,8}$",), min_length=4, max_length=8).node(spelling) == alone
    assert StringSet(patterns=("^[a-f]{4,8}$",), min_length=5).node(spelling) != alone
    assert StringSet(patterns=("^[a-f]{4,8}",), max_length=8).node(spelling) != StringSet(
        patterns=("^[a-f]{4,8}",)
    ).node(spelling)


def test_half_a_surrogate_pair_is_in_no_shaped_set() -> None:
    assert not StringSet(patterns=("",)).contains("\ud800")
    assert spelled(StringSet(allowed=frozenset({"\ud800"})), "accept").is_empty


def test_random_conjunctions_against_a_backtracking_matcher() -> None:
    rng = random.Random(5)
    patterns = [
        "^a",
        "b$",
        "ab",
        "[ab]{2}",
        "[bc]{2,3}a",
        "[ac]{2}$",
        "^[ab]*$",
        "c",
        "(ac)+",
        "^.{2}$",
        "a.b",
        "[^a]",
        "^(a|bc)*$",
    ]
    for _ in range(60):
        wanted = rng.sample(patterns, rng.randrange(1, 3))
        unwanted = rng.sample(patterns, rng.randrange(0, 3))
        low = rng.randrange(3)
        high = rng.choice([None, low + rng.randrange(4)])
        strings = StringSet(tuple(wanted), tuple(unwanted), low, high)
        probe = spelled(strings, "generate")
        found = False
        for letters in (letters for size in range(6) for letters in product("abc", repeat=size)):
            text = "".join(letters)
            expected = (
                all(re.search(pattern, text) for pattern in wanted)
                and not any(re.search(pattern, text) for pattern in unwanted)
                and low <= len(text)
                and (high is None or len(text) <= high)
            )
            found = found or expected
            assert probe.contains(raw(text)) == strings.contains(text) == expected, (strings, text)
        if found:
            assert not strings.is_empty()


@pytest.mark.parametrize("pattern", [".{100}", "[^x]{100}", "[a-z]{100,200}", r"[\s\S]{100}$"])
@pytest.mark.parametrize("style", ["generate", "accept"])
def test_a_run_that_is_searched_for_is_counted_once(pattern: str, style: Style) -> None:
    """A run may begin at each character, but a text is not at 100 counts at once: a mask over 256 bytes
    took 700 steps, and half of them are left."""
    tokens = [*(bytes([byte]) for byte in range(256)), None]
    compiler = Compiler(Vocabulary.from_tokens(tokens, eos_id=256), limits=Limits(mask_work=600))
    constraint = compiler.json_schema({"type": "string", "pattern": pattern}, style=style).constraint()
    for byte in b'"' + b"abc" * 60 + b"-" + b"abc" * 40:
        constraint.mask()
        constraint.advance(byte)
    constraint.advance(ord('"'))
    assert constraint.is_complete()
