"""Do the exceptions keep their promises: one tree of ValueErrors, each with its fields and its text?"""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable

import pytest
from maskwright import errors
from maskwright.errors import (
    GrammarError,
    InternalError,
    LimitError,
    MaskwrightError,
    PatternError,
    SchemaError,
    TokenNotAllowed,
    VocabularyError,
)

FULL = {"why": "because", "try_": "another way"}
EXAMPLES: list[tuple[MaskwrightError, str | None, str]] = [
    (MaskwrightError("w", where="here", **FULL), "here", "maskwright"),
    (PatternError("w", pattern="a(", offset=1, **FULL), "offset 1\na(\n ^", "pattern"),
    (PatternError("w", pattern="a", offset=1, code="pattern.end"), "offset 1\na\n ^", "pattern.end"),
    (SchemaError("w", pointer="/a/0", keyword="not", **FULL), "#/a/0", "schema"),
    (SchemaError("w", pointer="", code="schema.type"), "#", "schema.type"),
    (GrammarError("w", line=3, column=7, rule="x", **FULL), "line 3, column 7, rule 'x'", "grammar"),
    (GrammarError("w", line=3), "line 3", "grammar"),
    (GrammarError("w", rule="x"), "rule 'x'", "grammar"),
    (GrammarError("w"), None, "grammar"),
    (LimitError("w", limit="states", value=9, where="here", **FULL), "here", "limit.states"),
    (TokenNotAllowed("w", token_id=5, where="state 1", why="because"), "state 1", "token"),
    (VocabularyError("w", where="token 5", **FULL), "token 5", "vocabulary"),
    (InternalError("w"), None, "internal"),
]


def named(value: object) -> str:
    return type(value).__name__ if isinstance(value, Exception) else ""


def test_every_class_is_in_the_tree_and_in_the_examples() -> None:
    classes = {c for c in vars(errors).values() if isinstance(c, type) and issubclass(c, Exception)}
    assert all(issubclass(c, MaskwrightError) and issubclass(c, ValueError) for c in classes)
    assert {type(error) for error, _, _ in EXAMPLES} == classes
    assert all(c.__name__ in str(errors.__doc__) for c in classes)


@pytest.mark.parametrize(("error", "where", "code"), EXAMPLES, ids=named)
def test_fields_and_text(error: MaskwrightError, where: str | None, code: str) -> None:
    assert (error.what, error.where, error.code, error.args) == ("w", where, code, ("w",))
    fields = [("at", error.where), ("why", error.why), ("try", error.try_), ("code", error.code)]
    rows = [line for line in str(error).splitlines() if line.startswith("  ") and line[2] != " "]
    assert str(error).splitlines()[0] == "w"
    assert [row.split(maxsplit=1)[0] for row in rows] == [name for name, text in fields if text]
    for name, text in fields:
        if text:
            assert f"\n  {name:<5} {text.splitlines()[0]}" in str(error)


@pytest.mark.parametrize("error", [error for error, _, _ in EXAMPLES], ids=named)
@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, lambda error: pickle.loads(pickle.dumps(error))])
def test_errors_cross_processes(error: MaskwrightError, again: Callable[[Exception], Exception]) -> None:
    """A worker's error comes back whole: class, text, fields, and notes that were added."""
    error.add_note("in the worker")
    other = again(error)
    assert other is not error
    assert (type(other), str(other), other.args, vars(other)) == (
        type(error),
        str(error),
        error.args,
        vars(error),
    )
    assert other.__notes__[-1] == "in the worker"


def test_fields_of_their_own() -> None:
    assert PatternError("w", pattern="ab", offset=1).offset == 1
    assert SchemaError("w", pointer="/a", keyword="not").keyword == "not"
    limit = LimitError("w", limit="states", value=9)
    assert (limit.limit, limit.value) == ("states", 9)
    assert TokenNotAllowed("w", token_id=5).token_id == 5
    grammar = GrammarError("w", line=1, column=2, rule="x")
    assert (grammar.line, grammar.column, grammar.rule) == (1, 2, "x")


@pytest.mark.parametrize("offset", [0, 1, 29, 30, 31, 500, 999, 1000])
def test_the_caret_is_under_the_offset(offset: int) -> None:
    """Also in a long pattern, of which a part is drawn, and beside characters that would break the line."""
    pattern = "".join(chr(0x100 + i) for i in range(1000))
    drawn = str(PatternError("w", pattern=pattern, offset=offset)).splitlines()
    text, caret = drawn[2], drawn[3]
    column = caret.index("^")
    assert text[column : column + 1] == pattern[offset : offset + 1]
    assert len(text) <= 70


def test_a_pattern_with_line_breaks_is_drawn_on_one_line() -> None:
    drawn = str(PatternError("w", pattern="a\n\t\x1b[0m\u2028b(", offset=9)).splitlines()
    assert drawn[2].endswith("b(")
    assert drawn[3].index("^") == len(drawn[2]) - 1
    assert "\x1b" not in "".join(drawn)
