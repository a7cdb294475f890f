"""Random grammars and vocabularies that reach the odd corners, the same for the same seed.

Grammars: every kind of recursion (left, right, hidden left, nullable cycles), ambiguity, literals that share
beginnings, characters of one to four bytes, bounded repeats, special tokens, regular parts with `&` and `~`.
Vocabularies: single bytes, half characters, tokens across boundaries, duplicates, empty, None, special,
padding.
"""

# ruff: noqa: PLR0911 - dispatch on the kind of node
from __future__ import annotations

from dataclasses import dataclass
from random import Random

from maskwright.ir import Builder, Grammar

LETTERS = ["a", "b", "ab", "aa", "aba", "abc", "c", "é", "ê", "€", "日", "本", "😀", "a€", '"', ",", ""]
RANGES = [
    [(0x61, 0x63)],
    [(0x61, 0x61), (0x63, 0x63)],
    [(0xE9, 0xEA)],
    [(0x61, 0x7F), (0x80, 0x7FF)],
    [(0x7FF, 0x800)],
    [(0xD7FF, 0xE000)],
    [(0xFFFF, 0x10000)],
    [(0x1F600, 0x1F64F)],
    [(0, 0x10FFFF)],
]
SPECIAL_SLOTS = 3  # special tokens a grammar may name: ids 0, 1, 2 of every vocabulary made here


def random_grammar(seed: int) -> Grammar:
    """One grammar with a text, or with none: callers ask the oracle."""
    return _Maker(Random(seed)).make()


class _Maker:
    def __init__(self, random: Random) -> None:
        self.random = random
        self.builder = Builder()

    def make(self) -> Grammar:
        random, builder = self.random, self.builder
        count = random.choice([1, 1, 2, 2, 3, 4])
        rules = [builder.rule(f"r{number}") for number in range(count)]
        for index, rule in enumerate(rules):
            branches = [self._branch(rules, index) for _ in range(random.randint(1, 3))]
            if random.random() < 0.7:
                branches.append(self._leaf())  # so that most rules end
            random.shuffle(branches)
            builder.define(rule, builder.choice(branches))
        return builder.grammar(rules[0])

    def _branch(self, rules: list[int], index: int) -> int:
        """One alternative; the shapes of recursion are drawn on purpose, for chance is slow to find them."""
        random, builder = self.random, self.builder
        this = builder.reference(rules[index])
        other = builder.reference(random.choice(rules))
        nullable = builder.optional(self._leaf())
        shape = random.randrange(10)
        if shape == 0:
            return builder.sequence([this, self._node(rules, 1)])  # left
        if shape == 1:
            return builder.sequence([self._node(rules, 1), this])  # right
        if shape == 2:
            return builder.sequence([nullable, this, self._leaf()])  # hidden left
        if shape == 3:
            return builder.sequence([nullable, other, builder.optional(this)])  # a cycle through empty parts
        if shape == 4:
            return builder.sequence([this, this])  # ambiguous
        if shape == 5:
            return builder.sequence([self._leaf(), other, self._leaf()])  # in the middle
        return self._node(rules, 3)

    def _node(self, rules: list[int], depth: int) -> int:
        random, builder = self.random, self.builder
        kind = random.randrange(8) if depth else 7
        if kind == 0:
            return builder.choice([self._node(rules, depth - 1) for _ in range(random.randint(1, 3))])
        if kind in (1, 2):
            return builder.sequence([self._node(rules, depth - 1) for _ in range(random.randint(1, 3))])
        if kind == 3:
            return builder.repeat(self._node(rules, depth - 1), *self._bounds())
        if kind == 4:
            return builder.reference(random.choice(rules))
        if kind == 5:
            return self._boolean(2)
        return self._leaf()

    def _bounds(self) -> tuple[int, int | None]:
        low = self.random.choice([0, 0, 1, 2, 3])  # (a?){2,3} and the like: bodies that may be empty
        return low, self.random.choice([None, low, low + 1, low + 2, low + 5]) or None

    def _leaf(self) -> int:
        random, builder = self.random, self.builder
        kind = random.randrange(40)
        if kind == 39:
            return builder.empty()  # and with it all that needs it
        kind %= 12
        if kind <= 5:
            return builder.literal(random.choice(LETTERS).encode())
        if kind <= 7:
            return builder.chars(random.choice(RANGES))
        if kind == 8:
            return builder.byte_class(
                random.sample([0x61, 0x62, 0x63, 0xC3, 0xA9, 0xE2, 0x82, 0xAC, 0xFF], 3)
            )
        if kind == 9:
            return builder.literals(text.encode() for text in random.sample(LETTERS, 4))
        if kind == 10:
            return builder.special(random.randrange(SPECIAL_SLOTS))
        return self._boolean(1)

    def _boolean(self, depth: int) -> int:
        """A regular part with `&` or `~`; a complement is kept inside some texts, or all would be allowed."""
        random, builder = self.random, self.builder
        if random.random() < 0.5:
            return builder.intersection([self._regular(depth), self._regular(depth)])
        inside = builder.repeat(builder.chars(random.choice(RANGES[:6])), 0, random.choice([None, 3]))
        return builder.intersection([builder.complement(self._regular(depth)), inside])

    def _regular(self, depth: int) -> int:
        random, builder = self.random, self.builder
        kind = random.randrange(7) if depth else 6
        if kind == 0:
            return builder.choice([self._regular(depth - 1) for _ in range(2)])
        if kind in (1, 2):
            return builder.sequence([self._regular(depth - 1) for _ in range(random.randint(1, 3))])
        if kind in (3, 4):
            return builder.repeat(self._regular(depth - 1), *self._bounds())
        if kind == 5:
            return builder.complement(self._regular(depth - 1))
        if random.random() < 0.4:
            return builder.chars(random.choice(RANGES))
        return builder.literal(random.choice(LETTERS).encode())


@dataclass(frozen=True)
class RandomVocabulary:
    """Tokens by id (None: special or padding), the end ids, the special names, and the size with padding."""

    tokens: list[bytes | None]
    eos_ids: list[int]
    special: dict[str, int]
    size: int

    @property
    def special_ids(self) -> list[int]:
        """The ids that stand for themselves and not for text."""
        return sorted({*self.special.values(), *self.eos_ids})


def random_vocabulary(seed: int, size: int = 320) -> RandomVocabulary:
    """About `size` tokens, every single byte among them, so that every text can be finished."""
    random = Random(seed)
    pieces = [text.encode() for text in LETTERS]
    tokens: list[bytes | None] = [None] * SPECIAL_SLOTS
    rest: list[bytes | None] = [bytes([byte]) for byte in range(256)]
    rest += [b"", b"", None, b"a", b"ab", b"\xc3", b"\x82\xac", b"\xf0\x9f", b"\x9f\x98\x80a"]
    while len(rest) + SPECIAL_SLOTS < size - 8:
        text = b"".join(random.choices(pieces, k=random.randint(1, 4)))
        start = random.choice([0, 0, random.randrange(len(text) + 1)])
        rest.append(text[start : random.choice([len(text), random.randrange(len(text) + 1)])])
    random.shuffle(rest)
    tokens += rest
    eos = [len(tokens), len(tokens) + 1]
    tokens += [None, b"ab"]  # the second end token has bytes, and is special all the same
    special = {f"<|s{number}|>": number for number in range(SPECIAL_SLOTS)}
    return RandomVocabulary(tokens, eos, special, len(tokens) + random.choice([0, 1, 31, 40]))
