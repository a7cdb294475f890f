"""Reads the cases of tests/data/grammars: a text is a string, or a list of strings and special token ids."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from maskwright.grammar import ParsedGrammar, gbnf_to_ir, lark_to_ir
from oracles.earley import special_symbol

FOLDER = Path(__file__).parents[2] / "data" / "grammars"


def load(name: str) -> list[dict[str, Any]]:
    """The cases of one file."""
    return json.loads((FOLDER / name).read_text(encoding="utf-8"))


def parse(syntax: str, grammar: str, special: Mapping[str, int]) -> ParsedGrammar:
    """The IR of a grammar in either notation."""
    return gbnf_to_ir(grammar, special=special) if syntax == "gbnf" else lark_to_ir(grammar, special=special)


def symbols(text: str | list[str | int]) -> list[int]:
    """A text as the oracle reads it."""
    parts = [text] if isinstance(text, str) else text
    return [
        symbol
        for part in parts
        for symbol in ([special_symbol(part)] if isinstance(part, int) else part.encode())
    ]
