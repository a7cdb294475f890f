"""Do the options of `Compiler.json_schema` do what they say, and are wrong ones refused by name?"""

from __future__ import annotations

import json
from enum import IntEnum
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from maskwright import Compiler, MaskwrightError, SchemaError, Vocabulary, Whitespace

CASES = json.loads((Path(__file__).parents[2] / "data/json_schema/options.json").read_text())
COMPILER = Compiler(Vocabulary.from_tokens([*(bytes([byte]) for byte in range(256)), None], eos_id=256))


@pytest.mark.parametrize("indent", CASES["indented"]["indents"], ids=repr)
def test_indent_is_that_of_json_dumps_and_no_other(indent: int | str) -> None:
    index = COMPILER.json_schema({"type": "object"}, indent=indent)
    for value in CASES["indented"]["values"]:
        written = json.dumps(value, indent=indent)
        for text in {json.dumps(value, indent=other) for other in (*CASES["indented"]["indents"], None)}:
            constraint = index.constraint()
            took = constraint.try_advance(text.encode())  # the ids are the bytes
            assert (took == len(text) and constraint.is_complete()) == (text == written), text


@pytest.mark.parametrize(("bound", "start"), [("max_blanks", b"["), ("max_indentation", b"[\n")])
def test_a_bound_of_minus_one_is_none(bound: str, start: bytes) -> None:
    constraint = COMPILER.json_schema({"type": "array"}, whitespace=Whitespace(**{bound: -1})).constraint()
    text = start + b" " * 500 + b"1]"
    assert constraint.try_advance(text) == len(text)


@pytest.mark.parametrize("case", CASES["refused"], ids=lambda case: str(case["options"]))
def test_a_wrong_option_is_refused_by_name(case: dict[str, Any]) -> None:
    with pytest.raises(MaskwrightError) as caught:
        COMPILER.json_schema({"type": "object"}, **case["options"])
    assert caught.value.where == case["where"]
    assert caught.value.code == f"argument.{case['where']}"
    assert case["says"] in caught.value.what


@pytest.mark.parametrize("case", CASES["patterns"], ids=lambda case: str(case["pattern"]))
def test_a_wrong_pattern_is_shown_at_its_keyword(case: dict[str, str]) -> None:
    with pytest.raises(SchemaError) as caught:
        COMPILER.json_schema({"properties": {"a": {"items": {"pattern": case["pattern"]}}}})
    assert caught.value.pointer == "/properties/a/items/pattern"
    assert case["says"] in (caught.value.why or "")
    assert case["pattern"] in (caught.value.why or "")


@pytest.mark.parametrize("case", CASES["not_schemas"], ids=lambda case: str(case["schema"]))
def test_what_is_no_schema_is_refused(case: dict[str, Any]) -> None:
    with pytest.raises(SchemaError) as caught:
        COMPILER.json_schema(case["schema"])
    assert caught.value.where == case["where"]
    assert case["says"] in str(caught.value)


def test_numbers_of_other_types_are_spelled_as_json_dumps_does() -> None:
    for number in (np.float64(0.1), IntEnum("Level", {"HIGH": 7}).HIGH, 1e22):  # type: ignore[attr-defined]
        constraint = COMPILER.json_schema({"const": number}).constraint()
        written = json.dumps(number).encode()
        assert constraint.try_advance(written) == len(written) and constraint.is_complete(), number


def test_keys_that_are_no_strings_are_refused() -> None:
    with pytest.raises(SchemaError, match="its keys strings"):
        COMPILER.json_schema({"properties": {1: {}}})
