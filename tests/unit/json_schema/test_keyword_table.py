"""Is the page of keywords what the table says, and does the reader know what the table claims?"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import maskwright as mw
import pytest
from maskwright.json_schema.keywords import MAX_KEPT, MAX_KEPT_TEXT, TABLE, Draft, Part, Parts, keywords_of

ROOT = Path(__file__).resolve().parents[3]


def test_the_page_is_current() -> None:
    command = [sys.executable, str(ROOT / "scripts" / "make_json_schema_docs.py"), "--check"]
    assert subprocess.run(command, check=False).returncode == 0, "run scripts/make_json_schema_docs.py"


@pytest.mark.parametrize("draft", list(Draft))
def test_names_are_told_apart(draft: Draft) -> None:
    names = [word.name for word in TABLE]
    assert len(names) == len(set(names))
    assert set(keywords_of(draft)) <= set(names)


def test_keys_say_the_same_again_and_few_are_kept() -> None:
    known = keywords_of(Draft.D7)
    parts = Parts(known)
    assert parts["type", "minLength", "x"] == parts["type", "minLength", "x"] == Part.TYPE | Part.STRING
    assert parts["$id", "items"] == Part.NAMES | Part.ARRAY
    assert parts["type", 1] == Part.TYPE | Part.NO_NAME  # type: ignore[index]
    assert list(parts) == [("type", "minLength", "x"), ("$id", "items")]
    assert parts["type", "x" * MAX_KEPT_TEXT] == Part.TYPE
    assert len(parts) == 2
    for number in range(MAX_KEPT + 9):
        assert parts["not", f"x{number}"] == Part.IN_PLACE
    assert len(parts) == MAX_KEPT


@pytest.mark.parametrize(
    "word", [word for word in TABLE if word.part != Part.NOTHING], ids=lambda word: word.name
)
def test_an_enforced_keyword_is_not_passed_over(word: object) -> None:
    """A value that is malformed for every keyword: who reads it complains."""
    name = word.name  # type: ignore[attr-defined]
    if name in ("const", "then", "else"):
        pytest.skip("any value is a constant; without if the others mean nothing")
    draft = "2019-09" if name in ("$recursiveRef", "additionalItems") else None
    schema = {name: 1.5, **({"items": [{}]} if name == "additionalItems" else {})}
    if name in ("minContains", "maxContains"):
        schema["contains"] = {}
    if name in ("minimum", "maximum", "multipleOf", "exclusiveMinimum", "exclusiveMaximum"):
        schema = {name: "x"}
    report = mw.check_schema(schema, draft=draft)
    assert isinstance(report.error, mw.SchemaError)
    assert report.error.code.startswith("schema.malformed")


def test_keys_that_hold_more_than_their_text_are_not_kept() -> None:
    class Noted(str):
        __slots__ = ()

    parts = Parts({"type": Part.TYPE})
    assert parts[(Noted("type"), "other")] == Part.TYPE
    assert not parts
    assert parts[("type", "other")] == Part.TYPE
    assert len(parts) == 1
