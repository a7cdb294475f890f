"""Every mask of the engine against the Earley oracle: random grammars, random vocabularies, random walks.

At each step the whole mask, the bitmask with its padding, `allows` for every kind of id, `is_complete`, the
forced text, `advance` on an allowed token and on a refused one; at last the text is finished byte by byte. A
failure names its seed; `-m long` runs as many blocks of seeds as 100,000 masks need.
"""

from dataclasses import dataclass
from random import Random

import numpy as np
import pytest
from maskwright import Compiler, MaskwrightError, TokenNotAllowed, Vocabulary, allocate_bitmask
from maskwright.ir import Grammar
from oracles.completion import Finisher
from oracles.earley import FIRST_SPECIAL, Oracle, special_symbol
from oracles.random_grammars import RandomVocabulary, random_grammar, random_vocabulary
from oracles.show_grammar import show_grammar

SEEDS_PER_BLOCK = 25
STEPS = 12
LENGTH = 30  # symbols; the oracle takes cubic time on ambiguous grammars
NORMAL_BLOCKS = 24
LONG_BLOCKS = 700


@dataclass
class Walk:
    """One constraint and the text it has read, as the oracle sees it."""

    seed: int
    grammar: Grammar
    vocabulary: RandomVocabulary
    compiler: Compiler

    def run(self) -> int:
        """Walk until the text is over or the steps are used up; how many masks were compared."""
        random = Random(self.seed)
        oracle = Oracle(self.grammar)
        if not oracle.is_prefix(()):
            with pytest.raises(MaskwrightError):
                self.compiler.ir(self.grammar)
            return 0
        constraint = self.compiler.ir(self.grammar).constraint()
        text: list[int] = []
        compared = 0
        while compared < STEPS and len(text) < LENGTH:
            expected = self._expected(oracle, text)
            self._compare(constraint, expected, oracle, text, random)
            compared += 1
            allowed = np.flatnonzero(expected)
            assert allowed.size, self._say("the walk is stranded", text)
            token = int(random.choice(self._preferred(allowed, random)))
            constraint.advance(token)
            if token in self.vocabulary.eos_ids:
                self._over(constraint)
                return compared
            text.extend(self._symbols(token))
        self._finish(constraint, oracle, text)
        return compared

    def _finish(self, constraint: object, oracle: Oracle, text: list[int]) -> None:
        """Never stranded: the oracle knows a way to the end, and the engine takes it byte by byte."""
        rest = Finisher(oracle).finish(text)
        assert rest is not None and oracle.accepts([*text, *rest]), self._say("the oracle is stranded", text)
        for symbol in rest:
            single = (
                symbol - FIRST_SPECIAL
                if symbol >= FIRST_SPECIAL
                else self.vocabulary.tokens.index(bytes([symbol]))
            )
            constraint.advance(single)
        assert constraint.is_complete(), self._say(f"not complete after {rest}", text)
        constraint.advance(self.vocabulary.eos_ids[0])
        self._over(constraint)

    def _expected(self, oracle: Oracle, text: list[int]) -> np.ndarray:
        mask = np.zeros(self.vocabulary.size, bool)
        tokens = self.vocabulary.tokens
        mask[: len(tokens)] = oracle.mask(text, tokens, self.vocabulary.eos_ids, self.vocabulary.special_ids)
        return mask

    def _compare(
        self, constraint: object, expected: np.ndarray, oracle: Oracle, text: list[int], random: Random
    ) -> None:
        mask = constraint.mask()
        wrong = np.flatnonzero(mask != expected)
        assert wrong.size == 0, self._say(
            f"ids {wrong[:9].tolist()} differ, allowed: {mask[wrong[:9]]}", text
        )
        assert constraint.is_complete() == oracle.accepts(text), self._say("is_complete", text)
        bitmask = allocate_bitmask(2, self.vocabulary.size)
        bitmask[:] = -1
        constraint.fill_bitmask(bitmask, 1)
        bits = np.unpackbits(bitmask[1].astype("<i4").view(np.uint8), bitorder="little")
        assert (bits[: expected.size] == expected).all(), self._say("fill_bitmask", text)
        assert not bits[expected.size :].any(), self._say("padding of the bitmask", text)
        assert (bitmask[0] == -1).all(), self._say("another row was written", text)
        probes = random.sample(range(expected.size), 40) + self.vocabulary.special_ids
        for token in probes:
            assert constraint.allows(token) == expected[token], self._say(f"allows({token})", text)
        for token in (-1, expected.size, 2**40):
            assert not constraint.allows(token), self._say(f"allows({token})", text)
        for token in [token for token in probes if not expected[token]][:2]:
            with pytest.raises(TokenNotAllowed):
                constraint.advance(token)
            assert (constraint.mask() == expected).all(), self._say(f"refusing {token} changed it", text)
        forced = constraint.forced_text()
        assert oracle.is_prefix([*text, *forced]), self._say(f"forced {forced!r}", text)

    def _preferred(self, allowed: np.ndarray, random: Random) -> list[int]:
        """Long tokens half of the time, and an end token now and then: all short walks look alike."""
        ids = [int(token) for token in allowed]
        others = [token for token in ids if token not in self.vocabulary.eos_ids]
        if not others or (len(others) < len(ids) and random.random() < 0.15):
            return ids
        if random.random() < 0.5:
            most = max(len(self._symbols(token)) for token in others)
            return [token for token in others if len(self._symbols(token)) == most]
        return others

    def _symbols(self, token: int) -> list[int]:
        return (
            [special_symbol(token)]
            if token in self.vocabulary.special_ids
            else [*self.vocabulary.tokens[token]]
        )

    def _over(self, constraint: object) -> None:
        assert constraint.done and constraint.is_complete()
        assert not constraint.mask().any()

    def _say(self, what: str, text: list[int]) -> str:
        return f"seed {self.seed}, after {text}: {what}\n{show_grammar(self.grammar)}"


def _walk_block(block: int) -> int:
    compared = 0
    for seed in range(block * SEEDS_PER_BLOCK, (block + 1) * SEEDS_PER_BLOCK):
        vocabulary = random_vocabulary(seed // 5)
        compiler = Compiler(
            Vocabulary.from_tokens(
                vocabulary.tokens,
                eos_id=vocabulary.eos_ids,
                special=vocabulary.special,
                vocab_size=vocabulary.size,
            )
        )
        compared += Walk(seed, random_grammar(seed), vocabulary, compiler).run()
    return compared


@pytest.mark.parametrize("block", range(NORMAL_BLOCKS))
def test_masks_equal_the_oracle(block: int) -> None:
    assert _walk_block(block) > SEEDS_PER_BLOCK  # or the walks have become too short to say anything


@pytest.mark.long
def test_a_hundred_thousand_masks_equal_the_oracle() -> None:
    compared = 0
    for block in range(NORMAL_BLOCKS, LONG_BLOCKS):
        compared += _walk_block(block)
    print(f"{compared} masks compared")
    assert compared >= 100_000


@pytest.mark.parametrize("text", ["root ::= . root?", "root ::= root root | ."])
def test_every_character_in_a_tail_call(text: str) -> None:
    """Each token is a run of characters, so each is allowed, by the mask as by `allows`."""
    tokens = [b"a", b"ab", b"abc", "aé".encode(), b"\xc3", None]
    index = Compiler(Vocabulary.from_tokens(tokens, eos_id=5)).grammar(text, syntax="gbnf")
    constraint = index.constraint()
    expected = [True] * 5 + [False]
    assert [constraint.allows(token) for token in range(6)] == expected
    assert constraint.mask().tolist() == expected


def test_a_special_token_past_the_last_repeat() -> None:
    """After four repeats nothing may follow, whatever the ways to have counted them."""
    text = 'root ::= ("ab" | "aa" | "" | "b" | "aba" | <[1]>){2,4} | "b"'
    index = Compiler(Vocabulary.from_tokens([b"a", None, b"b", None], eos_id=3)).grammar(text, syntax="gbnf")
    constraint = index.constraint()
    assert constraint.try_advance([2, 2, 2, 2]) == 4
    assert not constraint.allows(1)
    assert constraint.mask().tolist() == [False, False, False, True]


def test_a_token_that_stays_in_a_loop_and_then_leaves_it() -> None:
    """After "a", "é" goes on in the loop and "日" leaves it: one token may hold both."""
    text = 'root ::= r "日" "b"\nr ::= "a" | "aa"? r <|s|> | r [a-߿]'
    tokens = [b"a", "é日".encode(), *(bytes([byte]) for byte in "é日b".encode()), None, None]
    vocabulary = Vocabulary.from_tokens(tokens, eos_id=len(tokens) - 1, special={"<|s|>": len(tokens) - 2})
    constraint = Compiler(vocabulary).grammar(text, syntax="gbnf").constraint()
    constraint.advance(0)
    assert constraint.allows(1)
    assert constraint.mask()[1]
