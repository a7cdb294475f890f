"""Is what cannot be read or enforced refused, with its place, its reason and a code? And within bounds?"""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest
from maskwright.errors import LimitError, MaskwrightError, PatternError
from maskwright.regex import regex_to_ir

REFUSED = json.loads(
    (Path(__file__).parents[2] / "data" / "regex" / "refused.json").read_text(encoding="ascii")
)
DEEP = 50_000
HOSTILE = {
    "groups": "(" * DEEP + "a" + ")" * DEEP,
    "stars": "(" * DEEP + "a" + ")*" * DEEP,
    "groups with text": "(a" * DEEP + ")" * DEEP,
    "starred groups with text": "(?:a" * 5_000 + ")*" * 5_000,
    "open groups": "(" * DEEP,
    "lookaheads in lookaheads": "(?=a" * DEEP + ")" * DEEP,
    "lookaheads in a row": "(?=a.)" * 5_000,
    "lookbehinds in a row": "(?<=ab)c" * 300,
    "choices of lookbehinds": "(?:(?<=ab)|(?<!cd))" * 20,
    "boundaries": r"\b" * DEEP,
    "boundaries and stars": r"\ba*" * 3_000,
    "boundaries in loops in loops": r"(?:\b(?:a*" * 30 + ")*)*" * 30,
    "counted boundaries": r"(?:\ba){1000000}",
    "classes": "".join(f"(?!{chr(0x100 + place)})" for place in range(100)),
    "counts of counts": "(?:a{1000}){1000}",
    "set": "[" + "a-z" * DEEP + "]",
}


@pytest.mark.parametrize("case", REFUSED, ids=lambda case: f"{case['dialect']} {case['pattern']!a}")
def test_refused(case: dict[str, Any]) -> None:
    bytes_pattern = case["dialect"] == "python-bytes"
    pattern = case["pattern"].encode("latin-1") if bytes_pattern else case["pattern"]
    with pytest.raises(PatternError) as caught:
        regex_to_ir(pattern, case["dialect"], search=True)
    assert (caught.value.offset, caught.value.code) == (case["offset"], case["code"])
    assert caught.value.code == "pattern" or (caught.value.why and caught.value.try_)


@pytest.mark.parametrize("dialect", ["python", "ecma"])
@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_patterns_end(name: str, dialect: Any) -> None:
    """A result or a typed error; ten seconds here, on a busy machine, are under two on an idle one."""
    start = time.perf_counter()
    for search in (False, True):
        try:
            regex_to_ir(HOSTILE[name], dialect, search=search)
        except (PatternError, LimitError) as error:
            assert str(error)
    assert time.perf_counter() - start < 10


def test_work_limit_names_itself() -> None:
    with pytest.raises(LimitError) as caught:
        regex_to_ir(r"(?:\ba+\b ?)+", max_work=20)
    assert (caught.value.limit, caught.value.value) == ("pattern_work", 20)


@pytest.mark.parametrize(("pattern", "dialect"), [("a", "python-bytes"), (b"a", "python"), (b"a", "ecma")])
def test_str_and_bytes_are_not_mixed(pattern: Any, dialect: Any) -> None:
    with pytest.raises(MaskwrightError) as caught:
        regex_to_ir(pattern, dialect)
    assert caught.value.code == "argument.pattern"


def test_unknown_dialects_are_named() -> None:
    with pytest.raises(MaskwrightError, match="'perl'") as caught:
        regex_to_ir("a", "perl")  # type: ignore[arg-type]
    assert caught.value.code == "argument.dialect"
