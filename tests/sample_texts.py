"""Which texts decide whether two readings of a pattern differ? Members, their beginnings, and near misses."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

import numpy as np
from maskwright.reference import DEAD, DFA


def random_text(dfa: DFA, rng: Random, stop: float = 0.2, longest: int = 200) -> bytes:
    """A random walk along live bytes that ends in an accepting state, or after `longest` bytes."""
    state, text = 0, bytearray()
    while len(text) < longest:
        live = np.flatnonzero(dfa.trans[state] != DEAD)
        if not len(live) or (dfa.accept[state] and rng.random() < stop):
            break
        text.append(int(rng.choice(live)))
        state = int(dfa.trans[state, text[-1]])
    return bytes(text)


def near(text: bytes, rng: Random) -> Iterator[bytes]:
    """The text, a beginning of it, and it with one byte replaced, inserted and deleted."""
    yield text
    yield text[: rng.randrange(len(text) + 1)]
    place, byte = rng.randrange(len(text) + 1), bytes([rng.choice(b"ab01 \n_-\x00\x7f\x80\xff{}")])
    yield text[:place] + byte + text[place + 1 :]
    yield text[:place] + byte + text[place:]
    yield text[:place] + text[place + 1 :]
