"""Does hostile input end in a typed error soon, without deep recursion?"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from maskwright.errors import LimitError, PatternError, SchemaError
from maskwright.reference import ReferenceLimits, json_schema_to_regex, regex_to_dfa

PATTERNS = json.loads((Path(__file__).parents[2] / "data" / "reference" / "patterns.json").read_text())
DEEP = 50_000


@pytest.mark.parametrize(("pattern", "limit"), PATTERNS["limits"])
def test_limits_are_named(pattern: str, limit: str) -> None:
    with pytest.raises(LimitError) as caught:
        regex_to_dfa(pattern)
    assert isinstance(caught.value, ValueError)
    assert (caught.value.limit, caught.value.value) == (limit, getattr(ReferenceLimits(), limit))


def test_a_pattern_can_be_too_long() -> None:
    with pytest.raises(LimitError, match="characters"):
        regex_to_dfa("a" * 11, limits=ReferenceLimits(max_pattern_length=10))


def test_deep_groups_do_not_recurse() -> None:
    assert regex_to_dfa("(" * DEEP + "a" + ")" * DEEP).n_states == 2
    assert regex_to_dfa("(?:" * DEEP + "a" + "|b)" * DEEP).n_states == 2
    assert regex_to_dfa("(?:" * 500 + "a" + ")?b" * 500).matches(b"ab" * 1 + b"b" * 499)
    with pytest.raises(PatternError) as caught:
        regex_to_dfa("(" * DEEP)
    assert caught.value.offset == DEEP - 1


def test_long_chains_stay_fast() -> None:
    dfa = regex_to_dfa("[ab]{9999}")
    assert dfa.n_states == 10_000
    assert np.flatnonzero(dfa.accept).tolist() == [9_999]


def nested(levels: int, inner: dict[str, Any]) -> dict[str, Any]:
    for _ in range(levels):
        inner = {"type": "array", "items": inner}
    return inner


def test_schema_nesting_is_limited() -> None:
    with pytest.raises(LimitError) as caught:
        json_schema_to_regex(nested(DEEP, {"type": "null"}))
    assert caught.value.limit == "max_schema_depth"
    with pytest.raises(LimitError) as caught:
        json_schema_to_regex(nested(40, {"type": "string"}))  # the pattern doubles with every level
    assert caught.value.limit == "max_pattern_length"
    value: list[Any] = []
    for _ in range(DEEP):
        value = [value]
    with pytest.raises(LimitError) as caught:
        json_schema_to_regex({"const": value})
    assert caught.value.limit == "max_schema_depth"


NOT_JSON = [float("nan"), float("inf"), 10**5000, {1: 2}, (1,), b"a", {"a": [{3}]}]


@pytest.mark.parametrize("value", NOT_JSON, ids=type)
def test_values_that_are_not_json(value: object) -> None:
    with pytest.raises(SchemaError):
        json_schema_to_regex({"enum": [value]})


def test_ordinary_schemas_stay_inside_the_limits() -> None:
    text = {"type": "string"}
    optional = {"type": "object", "properties": {f"p{i}": text for i in range(8)}}
    schemas = [
        {"type": "object", "properties": {f"o{i}": optional for i in range(8)}},
        {"type": "object", "properties": {f"p{i}": text for i in range(100)}},
        nested(4, {**optional, "required": ["p3"]}),
    ]
    for schema in schemas:
        dfa = regex_to_dfa(json_schema_to_regex(schema))
        assert not dfa.matches(b'{"p1":"a","p0":"a"}')
    assert dfa.matches(b'[[[[{"p1":"a","p3":"b"}],[]]]]')
