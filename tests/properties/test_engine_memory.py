"""Nodes that remember, against predicates that read finished texts: members, different items, decimals,
indentation.

Small formats: every text is listed, so every mask along a walk is known. Others: texts near the format are
accepted as the predicate says, in whatever tokens; masks agree with `allows`; every walk can be ended, and
its text is in the format. A failure names its seed; `-m long` runs many more seeds.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import product
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from maskwright import Compiler, GrammarError, Vocabulary
from maskwright._native import Constraint
from maskwright.ir import SPELLING_JSON, Builder, Node
from oracles.memory_formats import (
    closers,
    near_text,
    random_decimal,
    random_distinct,
    random_members,
    to_ir,
)
from oracles.memory_oracle import Decimal, Distinct, Format, Indented, Members, Prefixes
from vocabularies import real_vocabulary

TOKENS_FILE = Path(__file__).parent.parent / "data" / "engine_memory_tokens.json"
TOKENS = json.loads(TOKENS_FILE.read_text("utf-8"))
MULTI = [text.encode() for text in dict.fromkeys(TOKENS) if len(text.encode()) > 1]
HALVES = [b"\xc3", b'\xa9"', b'\xa9":1', b'"\xc3', b"a\xf0\x9f", b'\x98\x80"']
ALL = [bytes([byte]) for byte in range(256)] + MULTI + [half for half in HALVES if len(half) > 1]
EOS = len(ALL)
IDS = {token: number for number, token in enumerate(ALL)}

SMALL_SEEDS = 30
SEEDS = 30
LONG = 200  # times as many
STEPS = 30
MOST_TEXTS = 60_000
NEAR_TEXTS = 40


@pytest.fixture(scope="module")
def compiler() -> Compiler:
    return Compiler(Vocabulary.from_tokens([*ALL, None], eos_id=EOS))


def makers() -> dict[str, Callable[..., Format]]:
    return {
        "members": random_members,
        "distinct": random_distinct,
        "decimal": random_decimal,
        "indented": lambda random, small: Indented(random.choice([1, 2, 4])),
    }


def in_tokens(text: bytes, random: Random) -> list[int]:
    """The text as tokens, the longest that fit or any."""
    ids: list[int] = []
    while text:
        fits = [token for token in ALL if text.startswith(token)]
        token = max(fits, key=len) if random.random() < 0.5 else random.choice(fits)
        ids.append(IDS[token])
        text = text[len(token) :]
    return ids


def read(index: Any, ids: list[int]) -> bool:
    """Whether the engine takes all tokens and the text may end there."""
    constraint = index.constraint()
    return constraint.try_advance(ids) == len(ids) and constraint.is_complete()


def preferred(allowed: np.ndarray, random: Random) -> int:
    """Tokens of several bytes most of the time, the end seldom: walks shall come far."""
    ids = [int(token) for token in allowed if token != EOS]
    if not ids or (len(ids) < len(allowed) and random.random() < 0.1):
        return EOS if EOS in allowed else random.choice(ids)
    long = [token for token in ids if token >= 256]
    plain = [token for token in ids if token < 128]
    return random.choice(random.choice([pool for pool in (long, plain, ids) if pool]))


class Walk:
    """One constraint, the text it has read, and what is checked at each step."""

    def __init__(self, format_: Format, index: Any, seed: int, words: Prefixes | None) -> None:
        self.format = format_
        self.constraint = index.constraint()
        self.random = Random(seed)
        self.words = words
        self.text = b""
        self.masks: list[np.ndarray] = []
        self.ids: list[int] = []

    def run(self, steps: int) -> None:
        """Walk, and bring the text to its end."""
        for _ in range(steps):
            mask = self.check()
            self.take(preferred(np.flatnonzero(mask), self.random))
            if self.constraint.done:
                break
            if self.random.random() < 0.1:
                self.undo_and_redo()
        else:
            self.finish()
        assert self.constraint.done and self.format.accepts(self.text), self.say("ended outside the format")

    def check(self) -> np.ndarray:
        """The mask here, compared with `allows`, with the listed texts, with `is_complete`."""
        mask: np.ndarray = self.constraint.mask()
        assert mask.any(), self.say("stranded")
        if self.words is not None:
            self.check_all(mask)
        for token in [*range(256, EOS + 1), *self.random.sample(range(256), 30)]:
            assert mask[token] == self.constraint.allows(token), self.say(
                f"mask and allows of {self.name(token)}"
            )
        assert mask[EOS] == self.constraint.is_complete() == self.format.accepts(self.text), self.say(
            "complete"
        )
        return mask

    def check_all(self, mask: np.ndarray) -> None:
        """Token by token against all texts there are."""
        assert self.words is not None
        expected = [self.words.goes_on(self.text + token) for token in ALL] + [self.words.has(self.text)]
        wrong = np.flatnonzero(mask != np.array(expected))
        names = [self.name(int(token)) for token in wrong[:9]]
        assert not wrong.size, self.say(f"wrong: {names}, allowed: {mask[wrong[:9]].tolist()}")

    def take(self, token: int) -> None:
        self.masks.append(self.constraint.mask())
        self.ids.append(token)
        self.constraint.advance(token)
        self.text += ALL[token] if token != EOS else b""

    def undo_and_redo(self) -> None:
        """A fork goes its own way; a rollback finds each mask again, and the same tokens lead back."""
        here = self.constraint.mask()
        fork = self.constraint.fork()
        for _ in range(3):
            if not fork.done:
                fork.advance(int(self.random.choice(np.flatnonzero(fork.mask()))))
        assert (self.constraint.mask() == here).all(), self.say("a fork changed its origin")
        count = self.random.randint(0, len(self.ids))
        for back in range(1, count + 1):
            self.constraint.rollback(1)
            assert (self.constraint.mask() == self.masks[-back]).all(), self.say(f"mask after {back} back")
        assert self.constraint.try_advance(self.ids[len(self.ids) - count :]) == count
        assert (self.constraint.mask() == here).all(), self.say(f"mask after {count} back and forth")

    def finish(self) -> None:
        """The end, with what usually ends such a text, byte by byte, or with any byte."""
        for _ in range(3000):
            if self.constraint.is_complete():
                self.take(EOS)
                return
            fits = (text for text in closers(self.format) if self.fits(text))
            found = next(fits, None) or bytes([self.any_byte()])
            for byte in found:
                self.take(byte)
        raise AssertionError(self.say("no end found"))

    def fits(self, text: bytes) -> bool:
        return bool(self.constraint.count_allowed(list(text)) == len(text))

    def any_byte(self) -> int:
        allowed = np.flatnonzero(self.constraint.mask()[:256])
        assert allowed.size, self.say("stranded on the way to the end")
        return int(self.random.choice(allowed[allowed < 128] if allowed[0] < 128 else allowed))

    def name(self, token: int) -> str:
        return "the end" if token == EOS else repr(ALL[token])

    def say(self, what: str) -> str:
        return f"{self.format}\nafter {self.text!r}: {what}"


def check_format(compiler: Compiler, format_: Format, seed: int, *, small: bool) -> None:
    """All that is to be said of one format; objects without an end have a test of their own."""
    if isinstance(format_, Members) and format_.is_endless():
        return
    words = Prefixes(format_.texts()) if small and not isinstance(format_, Indented) else None
    if (words is not None and not words.texts) or (isinstance(format_, Members) and format_.is_empty()):
        with pytest.raises(GrammarError):
            compiler.ir(to_ir(format_))
        return
    try:
        index = compiler.ir(to_ir(format_))
    except GrammarError as error:
        # Of decimals and different items the predicate cannot say whether there are any.
        assert words is None and not isinstance(format_, Members), (format_, error)
        return
    random = Random(seed)
    for _ in range(NEAR_TEXTS):
        text = near_text(format_, random)
        expected = format_.accepts(text)
        assert read(index, in_tokens(text, random)) == expected, (format_, text, expected)
    for text in random.sample(words.texts, min(20, len(words.texts))) if words else ():
        assert format_.accepts(text), (format_, text)
        assert read(index, in_tokens(text, random)), (format_, text)
    for walk in range(2):
        Walk(format_, index, seed * 10 + walk, words).run(STEPS)


def make(kind: str, seed: int, *, small: bool) -> Format:
    """The format of a seed; one with too many texts to list is drawn again."""
    random = Random(f"{kind} {seed}")
    while True:
        format_ = makers()[kind](random, small=small)
        if not small or count_texts(format_) <= MOST_TEXTS:
            return format_


def count_texts(format_: Format) -> int:
    """At most one more than are listed."""
    return sum(1 for _, _ in zip(range(MOST_TEXTS + 1), format_.texts(), strict=False))  # type: ignore[union-attr]


def run(compiler: Compiler, kind: str, seeds: range, *, small: bool) -> None:
    for seed in seeds:
        try:
            check_format(compiler, make(kind, seed, small=small), seed, small=small)
        except BaseException as error:
            error.add_note(f"kind {kind}, seed {seed}, small {small}")
            raise


@pytest.mark.parametrize("kind", ["members", "distinct", "decimal"])
def test_every_mask_of_small_formats(compiler: Compiler, kind: str) -> None:
    run(compiler, kind, range(SMALL_SEEDS), small=True)


@pytest.mark.parametrize("kind", list(makers()))
def test_walks_of_all_formats(compiler: Compiler, kind: str) -> None:
    run(compiler, kind, range(SEEDS), small=False)


@pytest.mark.long
@pytest.mark.parametrize("kind", ["members", "distinct", "decimal"])
def test_every_mask_of_many_small_formats(compiler: Compiler, kind: str) -> None:
    run(compiler, kind, range(SMALL_SEEDS, SMALL_SEEDS * LONG), small=True)


@pytest.mark.long
@pytest.mark.parametrize("kind", list(makers()))
def test_walks_of_many_formats(compiler: Compiler, kind: str) -> None:
    run(compiler, kind, range(SEEDS, SEEDS * LONG), small=False)


def constraint_unless_empty(
    compiler: Compiler, builder: Builder, node: Node, *, is_empty: bool
) -> Constraint | None:
    """A constraint of a node; None if it is refused, as it must be where it has no text."""
    grammar = builder.grammar(builder.rule("all", node))
    if not is_empty:
        return compiler.ir(grammar).constraint()
    with pytest.raises(GrammarError):
        compiler.ir(grammar)
    return None


def test_items_of_few_values_in_endless_spellings(compiler: Compiler) -> None:
    """`1`, `1.0`, `1.00`, ..: one value, so there is no second item, and an array of two has no text."""
    builder = Builder()
    zeros = builder.sequence([builder.literal(b"."), builder.repeat(builder.literal(b"0"), 1, None)])
    one = builder.sequence([builder.literal(b"1"), builder.optional(zeros)])
    for minimum in (0, 2):
        items = builder.distinct(builder.literal(b","), [], one, minimum=minimum, spelling=SPELLING_JSON)
        constraint = constraint_unless_empty(compiler, builder, items, is_empty=minimum > 0)
        if constraint is None:
            continue
        for byte in b"1.00":
            constraint.advance(byte)
            assert not constraint.allows(ord(","))
        assert constraint.is_complete()


def test_items_of_few_values_are_refused_where_that_is_not_seen(compiler: Compiler) -> None:
    """`1`, `01`, `001`, ..: no numbers of JSON, so it is not known what the zeros say."""
    builder = Builder()
    zeros = builder.repeat(builder.literal(b"0"), 0, None)
    one = builder.sequence([zeros, builder.literal(b"1")])
    items = builder.distinct(builder.literal(b","), [], one, spelling=SPELLING_JSON)
    with pytest.raises(GrammarError):
        compiler.ir(builder.grammar(builder.rule("items", items)))


def test_objects_that_need_another_one_within_are_refused(compiler: Compiler) -> None:
    """Whether a member can be counts as what it must have: required keys, and enough members."""
    wrong = []
    choices = product(((), ("a",), ("a", "b")), ("again", "loop", "none"), (0, 1, 2), (None, "any"))
    for required, tail, minimum, open_keys in choices:
        format_ = Members(
            ("a", "b"), required, (tail, "one"), open_keys, "again", minimum, None, False, False, "tight"
        )
        try:
            compiler.ir(to_ir(format_))
        except GrammarError:
            refused = True
        else:
            refused = False
        if refused != format_.is_empty():
            wrong.append(format_)
    assert not wrong


@pytest.mark.parametrize("ordered", [False, True])
def test_a_member_whose_key_has_no_text_is_never_written(compiler: Compiler, ordered: bool) -> None:
    """Not required, it is left out; required, there is no object."""
    for minimum, required, is_empty in [
        (0, False, False),
        (1, False, False),
        (2, False, True),
        (0, True, True),
    ]:
        builder = Builder()
        one = builder.literal(b":1")
        declared = [(builder.literal(b'"a"'), one, False), (builder.empty(), one, required)]
        members = builder.members(
            builder.literal(b","), declared, [(builder.empty(), one, 0)], minimum=minimum, ordered=ordered
        )
        constraint = constraint_unless_empty(compiler, builder, members, is_empty=is_empty)
        if constraint is None:
            continue
        assert constraint.is_complete() == (minimum == 0)
        assert constraint.try_advance(in_tokens(b'"a":1', Random(0))) > 0
        assert list(np.flatnonzero(constraint.mask())) == [EOS]


REAL_FORMATS: dict[str, Format] = {
    "members": Members(
        ("a", "name", "id"), ("id",), ("one", "self", "ones"), "any", "self", 1, 6, False, True, "loose"
    ),
    "members in order": Members(("a", "b"), (), ("two", "one"), "any", "one", 0, None, True, False, "tight"),
    "few keys": Members((), (), (), ("id", "name", "identity"), "one", 2, None, False, False, "tight"),
    "strings": Distinct((), "string", 2, None, True, "loose"),
    "numbers": Distinct(("number",), "number", 0, 8, True, "tight"),
    "words": Distinct((), ("true", "null", "1", "1.0", '"a"'), 2, None, True, "tight"),
    "cents": Decimal("-3.5", "100000", False, True, ("0.01",), (), False, 20, 40),
    "two primes": Decimal(None, None, False, False, ("9973", "9967"), ("7",), True, 0, 40),
    "indented": Indented(2),
}
REAL_WALKS = 3
REAL_STEPS = 25
MARKS = set(b'"\\{}[]:, \n-.0123456789')


@pytest.fixture(scope="module")
def real() -> tuple[Compiler, list[int]]:
    """A compiler for Llama 3, and the tokens that are half made of digits and JSON's marks."""
    vocabulary = real_vocabulary("llama3")
    alike = [
        number
        for number, token in enumerate(vocabulary.tokens)
        if token and len(MARKS & set(token)) * 2 >= len(set(token))
    ]
    return Compiler(vocabulary), alike


@pytest.mark.parametrize("name", list(REAL_FORMATS))
def test_masks_with_a_real_vocabulary(real: tuple[Compiler, list[int]], name: str) -> None:
    """Masks against `allows` along random walks: for tokens that are allowed, that look alike, and any."""
    compiler, alike = real
    tokens = compiler.vocabulary.tokens
    format_ = REAL_FORMATS[name]
    index = compiler.ir(to_ir(format_))
    random = Random(name)
    for _ in range(REAL_WALKS):
        constraint = index.constraint()
        text = b""
        for _ in range(REAL_STEPS):
            mask = constraint.mask()
            allowed = np.flatnonzero(mask)
            assert allowed.size, (format_, text)
            asked = [*random.sample(range(len(tokens)), 200), *random.sample(alike, 400)]
            asked += map(int, random.choices(allowed, k=200))
            for token in asked:
                assert mask[token] == constraint.allows(token), (format_, text, tokens[token])
            marks = np.intersect1d(allowed, alike)
            token = int(random.choice(marks if marks.size else allowed))
            constraint.advance(token)
            if constraint.done:
                assert format_.accepts(text), (format_, text)
                break
            text += tokens[token] or b""
