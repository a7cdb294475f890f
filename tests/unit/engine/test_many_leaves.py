"""Is a mask right where a rule can be left after each of many letters, and much of what follows it can be
read?

With few places to leave, or little that follows, the engine walks on from each; here both are many, and it
walks the rule once more with what follows.
"""

from __future__ import annotations

from itertools import product

import maskwright as mw
import numpy as np
import pytest
from oracles.read_by_bytes import BYTES, Tokens, bytes_compiler

LETTERS = "abcdefghijklmnopqrstuvwxyz"
TOKENS = Tokens(
    [
        *BYTES,
        *("".join(letters).encode() for n in (2, 3) for letters in product(LETTERS, repeat=n)),
        *(b"a!", b"ab~!", b"a" * 20 + b"~!", b"m" * 17 + b"!"),
        None,
    ]
)
GRAMMAR = """
root ::= name follows* "!" | "#" name
name ::= [a-s]+ ("~" | "=unlikely words")?
follows ::= [a-m] | [0-9] "-"
"""


@pytest.fixture(scope="module")
def compiler() -> mw.Compiler:
    return mw.Compiler(mw.Vocabulary.from_tokens(TOKENS.tokens, eos_id=len(TOKENS.tokens) - 1), cache_bytes=0)


@pytest.mark.parametrize("read", [b"", b"n", b"a" * 30, b"ab~", b"ab~c", b"#s"])
def test_the_mask_is_what_reading_byte_by_byte_allows(compiler: mw.Compiler, read: bytes) -> None:
    constraint = compiler.grammar(GRAMMAR, "gbnf").constraint()
    single = bytes_compiler().grammar(GRAMMAR, "gbnf").constraint()
    assert constraint.try_advance(read) == single.try_advance(read) == len(read)
    mask, expected = constraint.mask(), TOKENS.mask(single)
    wrong = np.flatnonzero(mask != expected).tolist()
    assert not wrong, [TOKENS.tokens[token] for token in wrong[:8]]
