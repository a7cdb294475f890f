"""The Earley oracle against sets of all short texts, on random grammars."""

from itertools import product

import pytest
from maskwright.ir import Builder
from oracles.completion import Finisher
from oracles.earley import OPS, Oracle, special_symbol
from oracles.enumeration import texts
from oracles.random_grammars import SPECIAL_SLOTS, random_grammar, random_vocabulary

ALPHABETS = [
    [0x61, 0x62, 0x63],
    [0x61, 0xC3, 0xA9],
    [0x61, 0xE2, 0x82, 0xAC],
    [0x61, 0x62, special_symbol(0), special_symbol(1)],
]
LENGTH = 4


@pytest.mark.parametrize("seed", range(300))
def test_the_oracle_accepts_exactly_the_short_texts(seed: int) -> None:
    grammar = random_grammar(seed)
    oracle = Oracle(grammar)
    alphabet = ALPHABETS[seed % len(ALPHABETS)]
    language = texts(grammar, alphabet, LENGTH)
    beginnings = {text[:size] for text in language for size in range(len(text) + 1)}
    for size in range(LENGTH + 1):
        for text in product(alphabet, repeat=size):
            assert oracle.accepts(text) == (text in language), (seed, text)
            if text in beginnings:
                assert oracle.is_prefix(text), (seed, text)


@pytest.mark.parametrize("seed", range(200))
def test_every_prefix_can_be_finished(seed: int) -> None:
    """`is_prefix` says too much if somewhere no text of the language goes on."""
    oracle = Oracle(random_grammar(seed))
    finisher = Finisher(oracle)
    reached: list[tuple[int, ...]] = [()] if oracle.is_prefix(()) else []
    for text in reached:
        rest = finisher.finish(text)
        assert rest is not None and oracle.accepts((*text, *rest)), (seed, text)
        if len(text) < 3:
            following, _ = oracle.possible(text)
            reached.extend((*text, symbol) for symbol in {*following[:1], *following[-2:]})


@pytest.mark.parametrize(
    "point", [0, 0x7F, 0x80, 0x7FF, 0x800, 0xFFF, 0x1000, 0xD7FF, 0xE000, 0xFFFF, 0x10000, 0x10FFFF]
)
def test_characters_are_those_of_utf8(point: int) -> None:
    """At each edge: a range that ends, starts or lies there, asked for the characters around it."""
    for low, high in (
        (point, point),
        (0, point),
        (point, 0x10FFFF),
        (max(point - 70, 0), min(point + 70, 0x10FFFF)),
    ):
        builder = Builder()
        oracle = Oracle(builder.grammar(builder.rule("r", builder.chars([(low, high)]))))
        for other in {0, point - 1, point, point + 1, low - 1, low, high, high + 1, 0x2028}:
            if 0 <= other <= 0x10FFFF and not 0xD800 <= other <= 0xDFFF:
                assert oracle.accepts(chr(other).encode()) == (low <= other <= high), (low, high, other)


@pytest.mark.parametrize("seed", range(60))
def test_the_mask_asks_each_token_alone(seed: int) -> None:
    oracle = Oracle(random_grammar(seed))
    vocabulary = random_vocabulary(seed)
    if not oracle.is_prefix(()):
        return
    prefix: tuple[int, ...] = ()
    for _ in range(2):
        mask = oracle.mask(prefix, vocabulary.tokens, vocabulary.eos_ids, vocabulary.special_ids)
        for token, text in enumerate(vocabulary.tokens):
            if token in vocabulary.special_ids:
                expected = oracle.is_prefix((*prefix, special_symbol(token)))
                expected = expected or (token in vocabulary.eos_ids and oracle.accepts(prefix))
            else:
                expected = bool(text) and oracle.is_prefix((*prefix, *text))
            assert mask[token] == expected, (seed, prefix, token)
        following, _ = oracle.possible(prefix)
        if not following:
            return
        prefix = (*prefix, following[seed % len(following)])


def test_random_grammars_reach_every_shape() -> None:
    """Guards the generator: an operation that never comes is never tested."""
    seen: set[str] = set()
    with_text = 0
    for seed in range(200):
        oracle = Oracle(random_grammar(seed))
        seen.update(oracle.ops)
        with_text += oracle.is_prefix(())
    assert seen >= set(OPS) - {"empty"}
    assert with_text > 150
    assert SPECIAL_SLOTS > 1
