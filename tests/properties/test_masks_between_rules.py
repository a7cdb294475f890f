"""Masks where a token goes from rule to rule: random grammars of words, beside reading byte by byte.

Half of the tokens begin with a blank, so they have parts of their own, and some are long; the rules are too
large to be copied in, may be left after each letter, and are followed by others that read the same letters.
"""

from itertools import product
from random import Random

import maskwright as mw
import pytest
from oracles.read_by_bytes import BYTES, Tokens, bytes_compiler

SEEDS = range(10)
STEPS = 12
WORDS = [
    (blank + "".join(word) + end).encode()
    for n in (1, 2)
    for word in product("abcdefghijklmnopqrstuvwxyz", repeat=n)
    for blank in ("", " ")
    for end in ("", "#")
]
MORE = [b" " + word + b" " + word[:1] for word in WORDS[::40]] + [
    b"  ",
    b" # ",
    b" .a",
    b" ab cd ef",
    b"an.",
    *(b"ab c " * n + b"d" for n in (2, 5, 9)),
]
TOKENS = [*BYTES, *dict.fromkeys(word for word in WORDS + MORE if len(word) > 1), None]

PIECES = (
    '[a-z]* " "',
    "[a-z]+",
    '([a-z]+ " "?)+',
    '[a-z]* ("#" | " ")',
    '" "? [a-z0-9]*',
    '[a-z]* " " [a-z]+',
    '[^ ]+ " "',
    "[^#]*",
    '"#"',
    '" "',
    '"."? " "?',
    '([a-z]+ " "){1,3}',
    '([a-z]+ " "?){1,40}',
    "[a-z0-9 ]{2,50}",
    '("an" "."? | [b-mo-z] [^#]*)',
    '("a" "n"* | "n" [a-c] | [b-mo-z] [a-z ]*) "#"?',
)
LARGE = ' | "0123456789abcdefgh"'
"""Makes a rule larger than what is copied to where it is used."""


def random_grammar(random: Random) -> str:
    """Three rules, each used twice or more."""
    names = ("r", "s", "t")
    rules = [f'root ::= {" ".join(random.choices(names, k=3))} | "z" r s t | "y" s t r "!"']
    for at, name in enumerate(names):
        inner = random.choices(PIECES + names[at + 1 :] * 2, k=random.randrange(1, 4))
        rules.append(f"{name} ::= {' '.join(inner)}" + LARGE)
    return "\n".join(rules)


@pytest.mark.parametrize("seed", SEEDS)
def test_masks_equal_reading_byte_by_byte(seed: int) -> None:
    random = Random(seed)
    grammar = random_grammar(random)
    constraint = (
        mw.Compiler(mw.Vocabulary.from_tokens(TOKENS, eos_id=len(TOKENS) - 1))
        .grammar(grammar, "gbnf")
        .constraint()
    )
    by_bytes = bytes_compiler().grammar(grammar, "gbnf").constraint()
    tokens = Tokens(TOKENS)
    for _ in range(STEPS):
        expected = tokens.mask(by_bytes)
        wrong = [TOKENS[token] for token in (constraint.mask() != expected).nonzero()[0]]
        assert not wrong, f"seed {seed}: {grammar}\n{wrong[:5]}"
        going_on = expected[:-1].nonzero()[0]
        if not going_on.size:
            break
        token = int(random.choice([*going_on[going_on > 256], *going_on[:256]] or going_on))
        constraint.advance(token)
        assert by_bytes.try_advance(TOKENS[token] or b"") == len(TOKENS[token] or b"")
