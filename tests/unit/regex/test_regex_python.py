"""Does a Python pattern accept what `re` accepts? Written cases, then random patterns on random texts."""

from __future__ import annotations

import json
import random
import re
import warnings
from pathlib import Path
from typing import Any

import pytest
from maskwright.errors import LimitError, PatternError
from maskwright.regex import regex_to_ir
from oracles.ir_matcher import IrMatcher
from oracles.pattern_maker import PatternMaker

DATA = Path(__file__).parents[2] / "data" / "regex"
CASES = json.loads((DATA / "python_cases.json").read_text(encoding="utf-8"))
BYTES_CASES = json.loads((DATA / "python_bytes_cases.json").read_text(encoding="utf-8"))


def verdicts(case: dict[str, Any]) -> list[tuple[str, bool]]:
    return [(text, True) for text in case["accept"]] + [(text, False) for text in case["reject"]]


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case['pattern']!a} {case['search']}")
def test_written_cases(case: dict[str, Any]) -> None:
    compiled = re.compile(case["pattern"])
    asked = compiled.search if case["search"] else compiled.fullmatch
    matcher = IrMatcher(regex_to_ir(case["pattern"], search=case["search"]))
    for text, wanted in verdicts(case):
        assert bool(asked(text)) == wanted, f"the case is wrong on {text!a}"
        assert matcher.matches(text.encode()) == wanted, ascii(text)


@pytest.mark.parametrize("case", BYTES_CASES, ids=lambda case: f"{case['pattern']!a} {case['search']}")
def test_written_bytes_cases(case: dict[str, Any]) -> None:
    pattern = case["pattern"].encode("latin-1")
    compiled = re.compile(pattern)
    asked = compiled.search if case["search"] else compiled.fullmatch
    matcher = IrMatcher(regex_to_ir(pattern, "python-bytes", search=case["search"]))
    for text, wanted in verdicts(case):
        raw = text.encode("latin-1")
        assert bool(asked(raw)) == wanted, f"the case is wrong on {raw!r}"
        assert matcher.matches(raw) == wanted, raw


@pytest.mark.parametrize("seed", range(6))
def test_random_patterns(seed: int) -> None:
    """300 random patterns a seed; few may be refused, and none but for what cannot be enforced."""
    rng = random.Random(f"python {seed}")
    maker = PatternMaker(rng, "python", 0.04 * seed)
    compared = refused = 0
    for _ in range(300):
        pattern = maker.pattern()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compiled = _compiled(pattern)
        search = rng.random() < 0.5
        try:
            grammar = regex_to_ir(pattern, search=search)
        except (PatternError, LimitError) as error:
            refused += compiled is not None
            assert compiled is None or error.code.startswith(("pattern.unsupported.", "limit.")), pattern
            continue
        assert compiled is not None, f"{pattern!a} is no pattern"
        asked = compiled.search if search else compiled.fullmatch
        matcher = IrMatcher(grammar)
        for text in [maker.text() for _ in range(8)]:
            assert matcher.matches(text.encode()) == bool(asked(text)), (pattern, search, text)
            compared += 1
    assert compared > 1800
    assert refused < 60


@pytest.mark.parametrize("seed", range(3))
def test_random_soup_is_read_as_python_reads_it(seed: int) -> None:
    """Signs in any order: what `re` cannot compile is refused, what it can is read the same way."""
    rng = random.Random(f"soup {seed}")
    signs = [
        *"ab1()[]{}*+?|^$.-,\\:=!<>#ixPZdDbB \n",
        "(?:",
        "(?i",
        "(?x)",
        "(?P<a>",
        "(?<",
        "{1,",
        "\\x4",
        "\\0",
        "[^",
    ]
    for _ in range(2500):
        pattern = "".join(rng.choices(signs, k=rng.randint(1, 7)))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compiled = _compiled(pattern)
        try:
            matcher = IrMatcher(regex_to_ir(pattern))
        except (PatternError, LimitError) as error:
            assert compiled is None or error.code.startswith("pattern.unsupported."), pattern
            continue
        assert compiled is not None, f"{pattern!a} is no pattern"
        for _ in range(4):
            text = "".join(rng.choices("aab1(){}[]-,\\x:# \n\0", k=rng.randint(0, 4)))
            assert matcher.matches(text.encode()) == bool(compiled.fullmatch(text)), (pattern, text)


def _compiled(pattern: str) -> re.Pattern[str] | None:
    try:
        return re.compile(pattern)
    except (re.error, OverflowError, ValueError):
        return None
