"""Are formats ready after a prewarm, whatever is wrong with some of them, and is the progress told?"""

from __future__ import annotations

import io
import sys

import pytest
from maskwright import Compiler, Index, Vocabulary
from maskwright.errors import LimitError, MaskwrightError, PatternError
from maskwright.limits import Limits

VOCABULARY = Vocabulary.from_tokens([*(bytes([byte]) for byte in range(256)), None], eos_id=256)
FORMATS = [
    ("regex", "[ab]+"),
    ("regex", "[ab"),
    ["regex", b"[ab]c", {"dialect": "python-bytes"}],
    ("grammar", 'root ::= "a"', {"syntax": "gbnf"}),
    ("choices", ["a", "b"]),
    lambda compiler: compiler.regex("x"),
    ("unknown", "x"),
    ("regex",),
    ("regex", "a", "ecma"),
    ("regex", "a", {"no_such_option": 1}),
    "regex",
    ("stats", None),
    lambda compiler: 1 // 0,
]
WANTED = [
    None,
    PatternError,
    None,
    None,
    None,
    None,
    *[MaskwrightError] * 3,
    TypeError,
    *[MaskwrightError] * 2,
    ZeroDivisionError,
]


def test_each_format_gets_its_error_or_none() -> None:
    compiler = Compiler(VOCABULARY)
    errors = compiler.prewarm(iter(FORMATS), progress=False)  # type: ignore[arg-type]
    assert [None if error is None else type(error) for error in errors] == WANTED
    assert [getattr(errors[at], "where", None) for at in (6, 7, 8)] == ["format 6", "format 7", "format 8"]


def test_the_first_mask_is_there() -> None:
    compiler = Compiler(VOCABULARY)
    assert compiler.prewarm([("regex", "[ab]+")]) == [None]
    index: Index = compiler.regex("[ab]+")
    assert (index.stats()["misses"], index.stats()["hits"]) == (1, 0)
    index.constraint().mask()
    assert (index.stats()["misses"], index.stats()["hits"]) == (1, 1)


def test_a_first_mask_past_its_limit_is_an_error() -> None:
    vocabulary = Vocabulary.from_tokens([*VOCABULARY.tokens, *(b"ab" * n for n in range(1, 200))], eos_id=256)
    compiler = Compiler(vocabulary, limits=Limits(mask_work=20))
    errors = compiler.prewarm([("regex", "(?:a|b|ab|ba)*"), ("regex", "c")])
    assert [type(error) for error in errors] == [LimitError, type(None)]


def test_progress_is_told_after_each() -> None:
    told: list[tuple[int, int]] = []
    formats = [("regex", "a"), ("regex", "("), ("regex", "b")]
    Compiler(VOCABULARY).prewarm(formats, lambda done, total: told.append((done, total)))
    assert told == [(1, 3), (2, 3), (3, 3)]
    assert Compiler(VOCABULARY).prewarm([]) == []


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("stream", "progress", "draws"),
    [(Terminal(), None, True), (Terminal(), False, False), (io.StringIO(), None, False)],
)
def test_a_bar_is_drawn_on_a_terminal_alone(
    stream: io.StringIO, progress: None, draws: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr("maskwright.progress._QUIET_SECONDS", 0)
    Compiler(VOCABULARY).prewarm([("regex", f"a{n}") for n in range(3)], progress)
    assert ("formats" in stream.getvalue()) == draws
