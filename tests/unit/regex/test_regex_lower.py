"""What nodes does a pattern become? Straight ones where no assertion is left, and in any spelling."""

from __future__ import annotations

import json
import random
import struct

import pytest
from maskwright import ir
from maskwright.ir import Builder, Grammar
from maskwright.regex import lower_regex, regex_to_ir
from maskwright.regex.ranges import Ranges
from oracles.ir_matcher import IrMatcher
from oracles.pattern_maker import PatternMaker


def ops(grammar: Grammar) -> set[int]:
    """The kinds of node in a grammar."""
    words = struct.unpack(f"<{len(grammar.words) // 4}I", grammar.words)
    found, place = set(), 0
    while place < len(words):
        found.add(words[place])
        place += 2 + words[place + 1]
    return found


BOOLEAN = {ir.OP_INTERSECTION, ir.OP_COMPLEMENT}
# Two patterns with the same nodes: what anchors and gaps leave behind is as plain as if written without them.
SAME = [
    ("ecma", "^abc$", True, "abc", False),
    ("ecma", "^a|^b", True, "a[^]*|b[^]*", False),
    ("ecma", "abc$", True, "[^]*abc", False),
    ("ecma", "^(?:a|b)", True, "[ab][^]*", False),
    ("python", "^abc$", False, "abc", False),
    ("python", r"\Aabc\Z", True, "abc", False),
    ("python", "^abc$", True, "abc\\n?", False),
    ("python", "(((a)))", False, "a", False),
    ("python", "(a*)*", False, "a*", False),
    ("python", "a??", False, "a?", False),
    ("python", r"a\bb", False, "[^\\s\\S]", False),
    ("ecma", "(?=)a(?!)|b", True, "b", True),
    ("ecma", "^(?!a)[a-c]+$", True, "[bc][a-c]*", False),
    ("ecma", "[\\ud800-\\udfff]", False, "[]", False),
]


@pytest.mark.parametrize("case", SAME, ids=repr)
def test_same_nodes(case: tuple[str, str, bool, str, bool]) -> None:
    dialect, left, left_search, right, right_search = case
    grammars = []
    for pattern, search in ((left, left_search), (right, right_search)):
        builder = Builder()
        node = lower_regex(builder, pattern, dialect, search=search)  # type: ignore[arg-type]
        grammars.append((IrMatcher(builder.grammar(builder.rule("regex", node))).root, builder))
    assert grammars[0][0] == grammars[1][0]


@pytest.mark.parametrize(
    "pattern", [r"^\d+$", "a|b", r"^(?:\s|$)", r"\bfoo\b", "(?:^|,)x", "(?!a)[a-f]+", "(?<!x)y"]
)
def test_small_assertions_need_no_boolean_nodes(pattern: str) -> None:
    assert not ops(regex_to_ir(pattern, "ecma", search=True)) & BOOLEAN


def test_counts_are_not_copies() -> None:
    assert len(regex_to_ir("(?:ab){0,100000}").words) == len(regex_to_ir("(?:ab){0,10}").words)


def test_word_lists_are_one_node() -> None:
    words = [f"word{place}" for place in range(100)]
    grammar = regex_to_ir("|".join(words))
    assert ir.OP_LITERALS in ops(grammar)
    assert IrMatcher(grammar).matches(b"word7")
    assert not IrMatcher(grammar).matches(b"word")


def spelled_twice(builder: Builder) -> tuple[object, object]:
    """A spelling with two forms of each character below 128: itself, and \\x with two digits."""

    def spell(ranges: Ranges) -> int:
        codes = [code for low, high in ranges for code in range(low, min(high, 0x7F) + 1)]
        escaped = [b"\\x%02x" % code for code in codes]
        return builder.literals([*escaped, *(bytes((code,)) for code in codes if code != 0x5C)])

    return spell, ((0, 0x7F),)


@pytest.mark.parametrize("seed", range(3))
def test_any_spelling(seed: int) -> None:
    """A spelled text is in the language exactly if the text is, whatever mixture of spellings it uses."""
    rng = random.Random(f"spelling {seed}")
    maker = PatternMaker(rng, "ecma", 0.15)
    compared = 0
    for _ in range(120):
        pattern = maker.pattern()
        builder = Builder()
        spell, alphabet = spelled_twice(builder)
        try:
            node = lower_regex(builder, pattern, "ecma", search=True, alphabet=alphabet, spell=spell)  # type: ignore[arg-type]
            plain = IrMatcher(regex_to_ir(pattern, "ecma", search=True))
        except ValueError:
            continue
        matcher = IrMatcher(builder.grammar(builder.rule("spelled", node)))
        for _ in range(6):
            text = "".join(letter for letter in maker.text() if letter < "\x80")
            spelled = b"".join(
                b"\\x%02x" % ord(letter) if letter == "\\" or rng.random() < 0.5 else letter.encode()
                for letter in text
            )
            assert matcher.matches(spelled) == plain.matches(text.encode()), (pattern, text, spelled)
            compared += 1
    assert compared > 500


def test_json_spelling_of_a_pattern() -> None:
    """The use it is made for: a pattern on a string's value, in a grammar over its JSON text."""
    builder = Builder()

    def spell(ranges: Ranges) -> int:
        plain = [(low, high) for low, high in ranges if high < 0x7F]
        return builder.choice(
            [builder.chars(plain), builder.literals(b"\\u%04x" % low for low, high in plain)]
        )

    node = lower_regex(builder, "^(?!b)[a-c]{2}$", "ecma", search=True, alphabet=((97, 99),), spell=spell)
    quote = builder.literal(b'"')
    matcher = IrMatcher(builder.grammar(builder.rule("string", builder.sequence([quote, node, quote]))))
    assert matcher.matches(json.dumps("ab").encode())
    assert matcher.matches(b'"\\u0061b"')
    assert not matcher.matches(b'"ba"')
