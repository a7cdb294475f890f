"""Which tokens may come next in a state? The masks of one DFA over one vocabulary."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from maskwright.errors import MaskwrightError, VocabularyError
from maskwright.reference.dfa import DFA
from maskwright.reference.limits import ReferenceLimits
from maskwright.reference.subset import DEAD
from maskwright.reference.trie import NO_NODE, Trie


class TokenIndex:
    """A format compiled for a vocabulary: a mask for each state, computed when it is first asked for.

    Token t is allowed in state s if its bytes keep the DFA alive, so that some text of the format starts
    with the text so far followed by t. An end-of-sequence id is allowed exactly where the text so far is in
    the format; it is never read as its bytes. Special tokens (None) and empty ones are never allowed.

    >>> from maskwright.reference import regex_to_dfa
    >>> index = TokenIndex(regex_to_dfa("ab*"), [b"a", b"b", b"abb", None, b""], eos_id=3)
    >>> index.mask(0).tolist(), index.mask(1).tolist()
    ([True, False, True, False, False], [False, True, False, True, False])

    Source: Willard and Louf, Efficient Guided Generation for Large Language Models, 2023.
    """

    def __init__(
        self,
        dfa: DFA,
        vocab: Sequence[bytes | None],
        eos_id: int | Iterable[int] | None = None,
        *,
        limits: ReferenceLimits | None = None,
    ) -> None:
        """`vocab[t]` is the bytes of token t, or None if it is special; `eos_id` is one id, several, or none.

        Raises `VocabularyError` for an id in `eos_id` outside the vocabulary.
        """
        self.dfa = dfa
        self.eos_ids = _eos_ids(eos_id, len(vocab))
        self._tokens = [token or b"" for token in vocab]
        for token_id in self.eos_ids:
            self._tokens[token_id] = b""
        self._trie = Trie(self._tokens)
        self._masks: OrderedDict[int, NDArray[np.bool_]] = OrderedDict()
        most_bytes = (limits or ReferenceLimits()).max_cached_mask_bytes
        self._most_masks = max(1, most_bytes // max(1, len(vocab)))

    @property
    def vocab_size(self) -> int:
        """How many token ids there are."""
        return len(self._tokens)

    @property
    def ordinary(self) -> NDArray[np.bool_]:
        """Which tokens stand for bytes: bool [V], neither special nor empty nor an end of sequence."""
        ordinary: NDArray[np.bool_] = self._trie.node_of != NO_NODE
        return ordinary

    def mask(self, state: int) -> NDArray[np.bool_]:
        """The tokens allowed in `state`: bool [V], read-only. In DEAD nothing is.

        The least recently used masks go when the cache is full. Raises `MaskwrightError` for a state the
        DFA lacks.
        """
        known = self._masks.get(state)
        if known is not None:
            self._masks.move_to_end(state)
            return known
        if not DEAD <= state < self.dfa.n_states:
            raise MaskwrightError(f"no state {state}: the automaton has {self.dfa.n_states}")
        mask = self._compute(state)
        mask.setflags(write=False)
        self._masks[state] = mask
        if len(self._masks) > self._most_masks:
            self._masks.popitem(last=False)
        return mask

    def next_state(self, state: int, token_id: int) -> int:
        """The state after a token; DEAD if it is not allowed or there is no such token.

        After an end of sequence the state is unchanged where it accepts.
        """
        if state == DEAD or not 0 <= token_id < self.vocab_size:
            return DEAD
        if token_id in self.eos_ids:
            return state if self.dfa.accept[state] else DEAD
        token = self._tokens[token_id]
        return self.dfa.step(state, token) if token else DEAD

    def onward(self, state: int, begun: set[bytes]) -> set[int]:
        """The bytes that may come next in `state`, where one of the unfinished tokens `begun` is written.

        A byte may come if some token goes on with it and can be read to its end; b"" is a token that ended.
        """
        alive = (token for token in self._tokens if token)
        return {
            token[len(start)]
            for token in alive
            for start in begun
            if len(token) > len(start)
            and token.startswith(start)
            and self.dfa.step(state, token[len(start) :]) != DEAD
        }

    def begun_after(self, begun: set[bytes], byte: int) -> set[bytes]:
        """The unfinished tokens after one more byte, b"" among them if some token ends with it."""
        longer = {start + bytes([byte]) for start in begun}
        tokens = {token for token in self._tokens if token}
        unfinished = {start for start in longer if any(token.startswith(start) for token in tokens)}
        return unfinished | ({b""} if longer & tokens else set())

    def _compute(self, state: int) -> NDArray[np.bool_]:
        mask = np.zeros(self.vocab_size, np.bool_)
        if state == DEAD:
            return mask
        alive = self._trie.walk(self.dfa, state)
        ordinary = self.ordinary
        mask[ordinary] = alive[self._trie.node_of[ordinary]]
        mask[list(self.eos_ids)] = self.dfa.accept[state]
        return mask


def _eos_ids(eos_id: int | Iterable[int] | None, vocab_size: int) -> frozenset[int]:
    if eos_id is None:
        return frozenset()
    ids = frozenset(int(i) for i in eos_id) if isinstance(eos_id, Iterable) else frozenset([int(eos_id)])
    for token_id in sorted(ids):
        if not 0 <= token_id < vocab_size:
            raise VocabularyError(
                f"the end-of-sequence id {token_id} is outside the vocabulary of {vocab_size} tokens"
            )
    return ids
