"""The example grammars of JSON against Python's own parser, on texts and on texts with one byte changed."""

import json
from pathlib import Path
from random import Random

import pytest
from maskwright.grammar import ParsedGrammar, gbnf_to_ir, lark_to_ir
from oracles.earley import Oracle

EXAMPLES = Path(__file__).parents[3] / "examples"
VALUES = [
    {"a": [1, -2.5e10, True, None], "é\n": {"": "😀\\"}},
    [[], {}, [[0]], "\u0001\u007f"],
    -0.5,
    "a/b",
]
EDITS = b' "{}[],:0123456789-+.eEtrufalsn\\/\n\x00\xff'


def _read(name: str) -> ParsedGrammar:
    text = (EXAMPLES / name).read_text(encoding="utf-8")
    return gbnf_to_ir(text) if name.endswith("gbnf") else lark_to_ir(text)


def _is_json(text: bytes) -> bool:
    def refuse(name: str) -> None:
        raise ValueError(f"{name} is not JSON, though Python reads it")

    try:
        json.loads(text.decode(), parse_constant=refuse)
    except ValueError:
        return False
    return True


@pytest.mark.parametrize("name", ["json.gbnf", "json.lark"])
def test_the_examples_are_json(name: str) -> None:
    parsed = _read(name)
    assert parsed.notes == ()
    oracle = Oracle(parsed.grammar)
    random = Random(1)
    for value in VALUES:
        for options in ({}, {"indent": 1}, {"ensure_ascii": False, "separators": (",", ":")}):
            text = json.dumps(value, **options).encode()
            assert oracle.accepts(text), text
            for _ in range(40):
                at = random.randrange(len(text) + 1)
                edited = text[:at] + bytes([random.choice(EDITS)]) + text[at + random.randrange(2) :]
                assert oracle.accepts(edited) == _is_json(edited), edited
