"""Does a model that knows nothing make a valid tool call? Random logits under a schema of tools, in real
vocabularies, judged by `json` and by two validators.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jsonschema
import jsonschema_rs
import maskwright as mw
import numpy as np
import pytest
from vocabularies import real_vocabulary

TOOLS = json.loads((Path(__file__).parents[1] / "data" / "json_schema" / "tools.json").read_text("utf-8"))
DEFS = {
    "point": {
        "type": "object",
        "properties": {name: {"type": "integer", "minimum": -180, "maximum": 180} for name in ("x", "y")},
        "required": ["x", "y"],
        "additionalProperties": False,
    },
    "note": {
        "type": "object",
        "properties": {"text": {"type": "string"}, "parent": {"$ref": "#/$defs/note"}},
        "required": ["text"],
        "additionalProperties": False,
    },
}
REQUESTS = 24
"""For each of two schemas and two vocabularies."""
BUDGET = 160
"""Tokens."""
BIAS = 10.0
"""For tokens that close something: about one in ten where all 128,000 are allowed."""


@dataclass
class Answer:
    """What became of a request: its text, and why there is no more of it ("" if it is finished)."""

    text: bytes
    why: str


def _schema(keyword: str) -> dict[str, Any]:
    calls = [
        {
            "type": "object",
            "properties": {"name": {"const": tool["name"]}, "arguments": tool["arguments"]},
            "required": ["name", "arguments"],
            "additionalProperties": False,
        }
        for tool in TOOLS
    ]
    return {keyword: calls, "$defs": DEFS}


def _bias(vocabulary: mw.Vocabulary) -> np.ndarray:
    """A gentle wish to finish: quotes, brackets and the end are likelier than other tokens."""
    bias = np.zeros(len(vocabulary), np.float32)
    for token in range(len(vocabulary)):
        if not (vocabulary[token] or b"").strip(b'"}]'):
            bias[token] = BIAS
    return bias


def _answer(index: mw.Index, vocabulary: mw.Vocabulary, bias: np.ndarray, seed: int) -> Answer:
    rng = np.random.default_rng(seed)
    # The maximum of Gumbel noise is a draw by the softmax; a window into it stands for each step's logits.
    noise = rng.gumbel(size=2 * bias.size).astype(np.float32)
    constraint, text = index.constraint(), b""
    for _ in range(BUDGET):
        mask = constraint.mask()
        assert mask.any(), f"seed {seed}: nothing may follow {text!r}"
        start = int(rng.integers(bias.size))
        logits = noise[start : start + bias.size] + bias
        token = int(np.where(mask, logits, -np.inf).argmax())
        constraint.advance(token)
        if constraint.done:
            return Answer(text, "")
        text += vocabulary[token] or b""
    return Answer(text, f"the budget of {BUDGET} tokens is used up")


@pytest.mark.parametrize("name", ["default", "llama3"])
@pytest.mark.parametrize("keyword", ["oneOf", "anyOf"])
def test_random_logits_make_valid_tool_calls(name: str, keyword: str) -> None:
    vocabulary = mw.Vocabulary.default() if name == "default" else real_vocabulary(name)
    schema = _schema(keyword)
    index = mw.Compiler(vocabulary).json_schema(schema)
    judges = (jsonschema.Draft202012Validator(schema), jsonschema_rs.Draft202012Validator(schema))
    bias = _bias(vocabulary)
    called: set[str] = set()
    unfinished: list[str] = []
    for seed in range(REQUESTS):
        answer = _answer(index, vocabulary, bias, seed)
        if answer.why:
            unfinished.append(f"seed {seed}: {answer.why}")
            continue
        call = json.loads(answer.text)
        for judge in judges:
            assert judge.is_valid(call), f"seed {seed}: {judge!r} refuses {answer.text!r}"
        called.add(call["name"])
    assert len(unfinished) <= REQUESTS // 4, unfinished
    assert len(called) >= 3, f"random logits call only {called}"
