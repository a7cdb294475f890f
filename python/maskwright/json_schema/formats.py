"""Which strings have a format? Each format as a documented regular language."""

from __future__ import annotations

from functools import lru_cache

from maskwright.ir import Builder, Node
from maskwright.json_schema.probe import Probe
from maskwright.json_schema.spelling import Spelling
from maskwright.regex import lower_regex

_PATTERNS = {"uuid": "^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$"}


def known(name: str) -> bool:
    """Is there a language for the format?"""
    return name in _PATTERNS


def matches(name: str, text: str) -> bool:
    """Has the text the format?"""
    try:
        return _probe(name).contains(text.encode())
    except UnicodeEncodeError:
        return False


def node(name: str, spelling: Spelling) -> Node:
    """The spellings of the texts, without quotes."""
    return spelling.remember(
        ("format", name),
        lambda: lower_regex(
            spelling.builder, _PATTERNS[name], "ecma", search=True, spell=spelling.char, spell_text=spelling.codes
        ),
    )


def widths(name: str) -> tuple[int, int | None]:
    """The least and the greatest length."""
    return 0, None


@lru_cache(None)
def _probe(name: str) -> Probe:
    builder = Builder()
    return Probe(builder, lower_regex(builder, _PATTERNS[name], "ecma", search=True))
