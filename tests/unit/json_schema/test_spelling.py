"""Spellings of characters: what Python's own writer and reader of JSON make of them."""

from __future__ import annotations

import json
from typing import Any

import pytest
from maskwright.ir import OP_CHARS, OP_CHOICE, Builder, Node
from maskwright.json_schema.probe import Probe
from maskwright.json_schema.spelling import RAW, Spelling, Style
from maskwright.regex.ranges import EVERYTHING

EDGES = (0xD7FF, 0xE000, 0xFFFF, 0x10000, 0x103FF, 0x10400, 0x1F600, 0xFFFFF, 0x100000, 0x10FFFF)
CODES = (*range(0x120), 0x2028, *EDGES)


def probe(spelling: Spelling, body: Node) -> Probe:
    return Probe(spelling.builder, spelling.string(body))


def spellings_of(code: int) -> list[str]:
    """Every way to write a character between quotes."""
    text = chr(code)
    units = text.encode("utf-16-be")
    upper = "".join(f"\\u{units[place : place + 2].hex().upper()}" for place in range(0, len(units), 2))
    found = [upper, upper.lower(), json.dumps(text)[1:-1], json.dumps(text, ensure_ascii=False)[1:-1]]
    if text == "/":
        found.append("\\/")
    return sorted({spelled.replace("\\U", "\\u") for spelled in found})


@pytest.mark.parametrize("code", CODES)
def test_one_character(code: int) -> None:
    canonical = json.dumps(chr(code), ensure_ascii=False)[1:-1]
    generate, accept = Spelling(Builder()), Spelling(Builder(), "accept")
    one = probe(generate, generate.char(((code, code),)))
    every = probe(accept, accept.char(((code, code),)))
    for spelled in spellings_of(code):
        assert json.loads(f'"{spelled}"') == chr(code)
        text = f'"{spelled}"'.encode()
        assert every.contains(text)
        assert one.contains(text) == (spelled == canonical)
    for other in (code - 1, code + 1):
        if 0 <= other <= 0x10FFFF and not 0xD800 <= other <= 0xDFFF:
            for spelled in spellings_of(other):
                assert not every.contains(f'"{spelled}"'.encode())


@pytest.mark.parametrize("style", ["generate", "accept"])
def test_free_characters_are_written_in_any_way(style: Style) -> None:
    spelling = Spelling(Builder(), style)
    free = probe(spelling, spelling.free_char())
    for code in CODES:
        assert all(free.contains(f'"{spelled}"'.encode()) for spelled in spellings_of(code))
    for text in (
        b'"\\ud800"',
        b'"\\uDFFF"',
        b'"\\ude00\\ud83d"',
        b'"\\x"',
        b'"\n"',
        b'"""',
        b'"\xed\xa0\x80"',
        b'"\\u12"',
    ):
        assert not free.contains(text), text


@pytest.mark.parametrize("style", ["generate", "accept"])
def test_any_character_is_one_of_all_characters(style: Style) -> None:
    spelling = Spelling(Builder(), style)
    short, long = probe(spelling, spelling.any_char()), probe(spelling, spelling.char(EVERYTHING))
    for code in CODES:
        for spelled in spellings_of(code):
            text = f'"{spelled}"'.encode()
            canonical = spelled == json.dumps(chr(code), ensure_ascii=False)[1:-1]
            assert short.contains(text) == long.contains(text) == (style == "accept" or canonical), text


@pytest.mark.parametrize("style", ["generate", "accept"])
def test_sets_of_characters(style: Style) -> None:
    for ranges in (((9, 34),), ((0x2F, 0x2F), (0x5C, 0x5C), (0xFFF0, 0x1000F)), ((0x10FFF0, 0x10FFFF),)):
        spelling = Spelling(Builder(), style)
        found = probe(spelling, spelling.char(ranges))
        for code in (*CODES, 0xFFF0, 0x1000F, 0x10010, 0x10FFF0, 0x10FFEF):
            inside = any(low <= code <= high for low, high in ranges)
            assert found.contains(json.dumps(chr(code), ensure_ascii=False).encode()) == inside, (
                ranges,
                code,
            )


@pytest.mark.parametrize("style", ["generate", "accept"])
def test_texts(style: Style) -> None:
    text = 'a"\\/\b\f\n\r\t\u0001\u007f\u00e9\u2028\U0001f600'
    spelling = Spelling(Builder(), style)
    literal = Probe(spelling.builder, spelling.literal(text))
    assert literal.contains(json.dumps(text, ensure_ascii=False).encode())
    assert literal.contains(json.dumps(text).encode()) == (style == "accept")
    assert not literal.contains(json.dumps(text + "a").encode())
    assert spelling.string(spelling.codes([*map(ord, text)])) == spelling.string(spelling.text(text))


@pytest.mark.parametrize("style", ["generate", "accept"])
def test_half_a_surrogate_pair_is_never_spelled(style: Style) -> None:
    spelling = Spelling(Builder(), style)
    nothing = spelling.builder.empty()
    assert spelling.text("a\ud800") == nothing
    assert Probe(spelling.builder, spelling.literal("\udfff")).is_empty
    found = Probe(spelling.builder, spelling.literals(["\ud800", "b"]))
    assert found.contains(b'"b"') and not found.contains(b'"\\ud800"')


def test_a_loop_over_characters_is_easy_to_recognise() -> None:
    """The engine looks for a repeat of a choice whose first branch is a set of raw characters."""
    builder = Builder()
    for node in (Spelling(builder).free_char(), Spelling(builder).any_char()):
        op, first = _record(builder, node)
        assert op == OP_CHOICE
        assert _record(builder, first)[0] == OP_CHARS
        assert first == builder.chars(RAW)


def test_nodes_are_shared() -> None:
    spelling = Spelling(Builder())
    assert spelling.any_char() == spelling.any_char()
    assert spelling.char(((97, 97),)) == spelling.char(((97, 97),))


def test_an_unknown_style_is_refused() -> None:
    style: Any = "loose"
    with pytest.raises(ValueError, match="unknown style 'loose'"):
        Spelling(Builder(), style)


def _record(builder: Builder, node: Node) -> tuple[int, int]:
    """Operation and first argument of a node."""
    words = memoryview(builder.grammar(builder.rule("x", node)).words).cast("I")
    place = 0
    for _ in range(node):
        place += 2 + words[place + 1]
    return words[place], words[place + 2]
