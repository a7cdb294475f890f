"""Where do logits come from without a language model? From a small random one, with a pull towards the end.

The model is a recurrent network with random weights that nobody trained: each token has a random vector going
in and one going out, and a random matrix mixes a state of 16 numbers at each step. It knows nothing of any
language; it is here so that formats and vocabularies can be tried, tested and timed without a model.

Random logits alone rarely end a text: inside a JSON string about 1 % of a real vocabulary's tokens close the
quote. So a bonus is added to the end token where the text may end, and to the tokens whose first byte brings
the text nearer to an end (counted in bytes, on the format's automaton). The bonus grows slowly, with the
tokens since it last had its way and with the length of the text. It only re-weights: the mask says what is
allowed.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from maskwright.reference import DEAD, DFA

_WIDTH = 16
_SCALE = 0.5  # logits with a standard deviation of about 1.5: neither greedy nor uniform
_PULL_PER_STALLED_TOKEN = 0.5  # nats; 1 % of the tokens reach even odds after about 9
_PULL_PER_TOKEN = 0.05  # nats; ends lists whose every item is a coin toss


class RandomModel:
    """A seeded random recurrent network over `size` token ids.

    >>> first, second = RandomModel(100, seed=1), RandomModel(100, seed=1)
    >>> first.step(7)
    >>> second.step(7)
    >>> bool((first.logits() == second.logits()).all())
    True
    """

    def __init__(self, size: int, seed: int) -> None:
        rng = np.random.default_rng(seed)
        self._into = rng.standard_normal((size, _WIDTH), dtype=np.float32)
        self._out = rng.standard_normal((size, _WIDTH), dtype=np.float32)
        self._mix = rng.standard_normal((_WIDTH, _WIDTH), dtype=np.float32) / np.float32(_WIDTH**0.5)
        self._start = rng.standard_normal(_WIDTH, dtype=np.float32)
        self.reset()

    def reset(self) -> None:
        """Go back to the empty text."""
        self._state = np.tanh(self._start)

    def step(self, token: int) -> None:
        """Take a token into the state."""
        self._state = np.tanh(self._mix @ self._state + self._into[token])

    def logits(self) -> NDArray[np.float64]:
        """The logits for the next token."""
        return (self._out @ self._state).astype(np.float64) * _SCALE


class Pull:
    """The bonus that makes a text end, for one automaton and vocabulary; see the head of this file.

    `bonus(state)` is float64[tokens] in nats; `step(state, token)` tells it what was drawn in that state.
    """

    def __init__(self, dfa: DFA, tokens: Sequence[bytes | None], eos_ids: Sequence[int]) -> None:
        self._dfa = dfa
        self._distance = distances_to_end(dfa)
        self._first_byte = np.array([token[0] if token else 0 for token in tokens], dtype=np.int64)
        self._wordless = np.array([not token for token in tokens])
        self._eos_ids = list(eos_ids)
        self.reset()

    def reset(self) -> None:
        """Go back to the empty text."""
        self._taken = self._stalled = 0

    def bonus(self, state: int) -> NDArray[np.float64]:
        """What to add to the logits in this state."""
        strength = _PULL_PER_STALLED_TOKEN * self._stalled + _PULL_PER_TOKEN * self._taken
        return np.where(self._favoured(state), strength, 0.0)

    def step(self, state: int, token: int) -> None:
        """Note that `token` was drawn in `state`."""
        self._taken += 1
        self._stalled = 0 if self._favoured(state)[token] else self._stalled + 1

    def _favoured(self, state: int) -> NDArray[np.bool_]:
        after = self._dfa.trans[state]
        nearer = (after != DEAD) & (self._distance[after] < self._distance[state])
        favoured: NDArray[np.bool_] = nearer[self._first_byte] & ~self._wordless
        favoured[self._eos_ids] = self._dfa.accept[state]
        return favoured


class TextPull:
    """The bonus that makes a text end where no automaton says how far the end is: JSON by its quotes and
    brackets, any text by the end token alone.

    `bonus(mask)` is float64[tokens] in nats; `step(token)` tells it what was drawn under that mask.
    """

    def __init__(self, tokens: Sequence[bytes | None], eos_ids: Sequence[int], *, is_json: bool) -> None:
        self._tokens = tokens
        first = [token.lstrip(b" \t\n")[:1] if token and is_json else b"" for token in tokens]
        ends = np.zeros(len(tokens), dtype=np.bool_)
        ends[list(eos_ids)] = True
        # What brings the text nearer to its end, best first.
        self._within_a_string = [np.array([byte == b'"' for byte in first])]
        self._elsewhere = [
            np.array([byte in (b"}", b"]") for byte in first]) | ends,
            np.array([byte == b"," for byte in first]),
        ]
        self.reset()

    def reset(self) -> None:
        """Go back to the empty text."""
        self._taken = self._stalled = 0
        self._is_string = self._is_escaped = False
        self._favoured = np.zeros(len(self._tokens), dtype=np.bool_)

    def bonus(self, mask: NDArray[np.bool_]) -> NDArray[np.float64]:
        """What to add to the logits under this mask."""
        nearer = self._within_a_string if self._is_string else self._elsewhere
        self._favoured = next((each & mask for each in nearer if (each & mask).any()), nearer[0] & mask)
        strength = _PULL_PER_STALLED_TOKEN * self._stalled + _PULL_PER_TOKEN * self._taken
        return np.where(self._favoured, strength, 0.0)

    def step(self, token: int) -> None:
        """Note that `token` was drawn."""
        self._taken += 1
        passed = self._favoured.any() and not self._favoured[token]
        self._stalled = self._stalled + 1 if passed else 0
        for byte in self._tokens[token] or b"":
            if self._is_escaped:
                self._is_escaped = False
            elif byte == ord("\\"):
                self._is_escaped = self._is_string
            elif byte == ord('"'):
                self._is_string = not self._is_string


def distances_to_end(dfa: DFA) -> NDArray[np.int64]:
    """For each state the fewest bytes to an accepting state: int64[n_states].

    >>> from maskwright.reference import regex_to_dfa
    >>> distances_to_end(regex_to_dfa("abc?|a")).tolist()
    [1, 0, 0, 0]
    """
    sources, bytes_ = np.nonzero(dfa.trans != DEAD)
    edges = np.unique(np.stack([sources, dfa.trans[sources, bytes_]], axis=1), axis=0)
    distance = np.where(dfa.accept, 0, -1).astype(np.int64)
    level = 0
    while len(edges := edges[distance[edges[:, 0]] < 0]):  # backwards, breadth first
        reached = edges[distance[edges[:, 1]] == level, 0]
        level += 1
        distance[reached] = level
    return distance
