"""Does an ECMA-262 pattern find what Node finds? Recorded answers; live ones where Node is installed."""

from __future__ import annotations

import json
import random
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from maskwright.errors import LimitError, PatternError
from maskwright.regex import regex_to_ir
from oracles.ir_matcher import IrMatcher
from oracles.pattern_maker import PatternMaker, legacy_pattern, legacy_text

TESTS = Path(__file__).parents[2]
RECORDED = json.loads((TESTS / "data" / "regex" / "ecma_node.json").read_text(encoding="ascii"))
# Legal without the flag `u` only, and refused: there `\p{..}` and `\u{..}` would mean something else.
MEANINGLESS = "has its meaning under the flag u only"


def check(pattern: str, legal: str | None, accept: list[str], reject: list[str]) -> bool:
    """Hold one pattern to Node's answers; False if it is refused, which must be for a reason."""
    try:
        matcher = IrMatcher(regex_to_ir(pattern, "ecma", search=True))
    except (PatternError, LimitError) as error:
        known = error.code.startswith(("pattern.unsupported.", "limit."))
        assert legal is None or known or (legal == "plain" and ("\\p{" in pattern or "\\u{" in pattern)), (
            pattern
        )
        return False
    assert legal is not None, f"{pattern!a} is no pattern"
    for text in accept:
        assert matcher.matches(text.encode()), (pattern, text)
    for text in reject:
        assert not matcher.matches(text.encode()), (pattern, text)
    return True


def test_recorded_answers() -> None:
    read = [
        check(case["pattern"], case["legal"], case["accept"], case["reject"]) for case in RECORDED["cases"]
    ]
    legal = sum(case["legal"] is not None for case in RECORDED["cases"])
    assert len(read) > 800
    assert sum(read) > 0.93 * legal


@pytest.mark.skipif(shutil.which("node") is None, reason="Node is not installed")
@pytest.mark.parametrize("seed", range(2))
def test_live_answers(seed: int) -> None:
    rng = random.Random(f"node {seed}")
    maker = PatternMaker(rng, "ecma", 0.15)
    cases: list[Any] = [[maker.pattern(), [maker.text() for _ in range(8)]] for _ in range(250)]
    cases += [[legacy_pattern(rng), [legacy_text(rng) for _ in range(6)]] for _ in range(800)]
    program = TESTS / "oracles" / "node_regex.js"
    done = subprocess.run(
        ["node", str(program)], input=json.dumps(cases), capture_output=True, text=True, check=True
    )
    for (pattern, texts), (legal, answers) in zip(cases, json.loads(done.stdout)["answers"], strict=True):
        accept = [text for text, answer in zip(texts, answers, strict=False) if answer]
        check(pattern, legal, accept, [text for text in texts[: len(answers)] if text not in accept])


def test_annex_b_counts_characters_not_halves() -> None:
    matcher = IrMatcher(regex_to_ir(r"^\_?.$", "ecma", search=True))
    assert matcher.matches("\N{GRINNING FACE}".encode())


def test_what_annex_b_would_misread_says_why() -> None:
    with pytest.raises(PatternError) as caught:
        regex_to_ir(r"\u{61}{", "ecma")
    assert "lone" in str(caught.value)
