"""Is a grammar a value, and do its rules keep their names, whatever these are?"""

from __future__ import annotations

import pickle

import maskwright as mw
import pytest
from maskwright._native import EngineIndex, EngineVocabulary
from maskwright.errors import MaskwrightError
from maskwright.ir import Builder, Grammar

ODD_NAMES = ["", "a\nb", "ä", "\N{GRINNING FACE}", "half \ud83d of a pair", "\0"]


def digits(name: str = "digits", maximum: int | None = None) -> Grammar:
    builder = Builder()
    digit = builder.byte_class(b"0123456789")
    return builder.grammar(builder.rule(name, builder.repeat(digit, 1, maximum)))


def endless(name: str) -> Grammar:
    """A rule that calls itself and nothing else."""
    builder = Builder()
    rule, reference = builder.ahead(name)
    builder.define(rule, builder.sequence([builder.literal(b"a"), reference]))
    return builder.grammar(rule)


def test_equal_grammars_are_one_key_of_a_dict() -> None:
    assert digits() == digits()
    assert {digits(): 1}[digits()] == 1
    assert digits() != digits("numbers")
    assert digits().key == digits("numbers").key
    assert pickle.loads(pickle.dumps(digits())) == digits()


def test_a_grammar_does_not_change() -> None:
    with pytest.raises(AttributeError):
        digits().root = 1  # type: ignore[misc]


def test_a_plain_tuple_is_no_grammar(bytes_compiler: mw.Compiler) -> None:
    with pytest.raises(MaskwrightError, match=r"maskwright\.ir\.Grammar"):
        bytes_compiler.ir(tuple(digits()))  # type: ignore[arg-type]


def test_a_rule_is_defined_once_and_before_the_end() -> None:
    builder = Builder()
    rule, _ = builder.ahead("twice")
    with pytest.raises(MaskwrightError, match="'twice' is declared and never defined"):
        builder.grammar(rule)
    builder.define(rule, builder.literal(b"a"))
    with pytest.raises(MaskwrightError, match="'twice' is defined twice"):
        builder.define(rule, builder.literal(b"a"))


@pytest.mark.parametrize("name", ODD_NAMES)
def test_rules_may_be_called_anything(bytes_compiler: mw.Compiler, name: str) -> None:
    shown = name.encode("utf-8", "surrogatepass").decode("utf-8", "replace")
    # A format of its own: the cache does not look at names.
    index = bytes_compiler.ir(digits(name, 2 + ODD_NAMES.index(name)))
    assert [rule for rule, _, _ in index.stats()["rule_sizes"]] == [shown]
    with pytest.raises(MaskwrightError, match="can never end"):
        bytes_compiler.ir(endless(name))


@pytest.mark.parametrize("names", [[], ["one", "two"]])
def test_each_rule_has_one_name(names: list[str]) -> None:
    vocabulary = EngineVocabulary(b"a", memoryview(b"\0" * 8 + b"\1" + b"\0" * 7).cast("q"), [])
    grammar, limits = digits(), (100, 100, 100, 100, 100, 100, 1 << 20)
    with pytest.raises(MaskwrightError, match="each rule has one name"):
        EngineIndex(vocabulary, grammar.words, grammar.blob, grammar.rules, names, grammar.root, limits)
