"""Where is one request in its format? The constraint that follows it token by token."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from maskwright.errors import MaskwrightError, TokenNotAllowed
from maskwright.reference.subset import DEAD
from maskwright.reference.token_index import TokenIndex

MAX_FORCED_BYTES = 1 << 16


class Constraint:
    """One request's position in a format: which tokens may come next, and what was taken so far.

    A refused token changes nothing. After an end of sequence the constraint is `done`: its masks are all
    false and it takes no token until a rollback or a reset.

    >>> from maskwright.reference import TokenIndex, regex_to_dfa
    >>> constraint = Constraint(TokenIndex(regex_to_dfa("ab*"), [b"a", b"b", b"<eos>"], eos_id=2))
    >>> constraint.try_advance([0, 1, 1, 0]), constraint.is_complete()
    (3, True)
    >>> constraint.advance(2)
    >>> constraint.done, constraint.mask().tolist()
    (True, [False, False, False])
    """

    def __init__(self, token_index: TokenIndex) -> None:
        if not isinstance(token_index, TokenIndex):
            raise MaskwrightError(
                f"token_index must be a TokenIndex, not {type(token_index).__name__}",
                where="token_index",
                try_="index.constraint() where a Compiler made the index",
                code="argument.token_index",
            )
        self._index = token_index
        self._tokens: list[int] = []
        self._states: list[int] = [0]  # before the first token, and after each; one longer than the tokens

    @property
    def state(self) -> int:
        """The state of the DFA."""
        return self._states[-1]

    @property
    def tokens(self) -> tuple[int, ...]:
        """The tokens taken so far, an end of sequence among them."""
        return tuple(self._tokens)

    @property
    def done(self) -> bool:
        """Whether an end of sequence was taken."""
        return bool(self._tokens) and self._tokens[-1] in self._index.eos_ids

    def is_complete(self) -> bool:
        """Whether the text so far is in the format; it stays true after the end."""
        return bool(self._index.dfa.accept[self.state])

    def mask(self) -> NDArray[np.bool_]:
        """The tokens allowed next: bool [V], read-only."""
        return self._index.mask(DEAD if self.done else self.state)

    def fill_bitmask(self, bitmask: Any, row: int = 0) -> bool:
        """Write the mask into row `row` of `bitmask`, and say whether it masks anything, special tokens too.

        `bitmask` is int32 [W] or [B, W], a NumPy array or a CPU torch tensor, with W at least V / 32
        rounded up. Token t is bit t % 32 of word t // 32, the lowest bit first. The whole row is written,
        the bits past V with 0. Raises `MaskwrightError` for another type, too few words or a row outside.
        """
        words = _row(bitmask, row, self._index.vocab_size)
        mask = self.mask()
        packed = np.zeros(words.shape[0] * 4, np.uint8)
        packed[: (len(mask) + 7) // 8] = np.packbits(mask, bitorder="little")
        words[:] = packed.view("<i4")
        return not mask.all()

    def allows(self, token_id: int) -> bool:
        """Whether `token_id` may come next; false for an id outside the vocabulary."""
        return self._next_state(token_id) != DEAD

    def advance(self, token_id: int) -> None:
        """Take a token. If it is masked, raises `TokenNotAllowed` with what was expected; nothing changes."""
        following = self._next_state(token_id)
        if following == DEAD:
            raise TokenNotAllowed(
                f"token {token_id} is not allowed here",
                token_id=token_id,
                where=f"after {len(self._tokens)} tokens, in state {self.state}",
                why="the constraint is done" if self.done else f"expected {self._expected()}",
            )
        self._tokens.append(int(token_id))
        self._states.append(following)

    def try_advance(self, token_ids: Iterable[int]) -> int:
        """Take the longest allowed beginning of `token_ids`, up to an end at most; return its length."""
        proposed = list(token_ids)
        count = self.count_allowed(proposed)
        for token_id in proposed[:count]:
            self.advance(token_id)
        return count

    def count_allowed(self, token_ids: Iterable[int]) -> int:
        """What `try_advance` would return, without moving."""
        state = DEAD if self.done else self.state
        count = 0
        for token_id in token_ids:
            state = self._index.next_state(state, token_id)
            if state == DEAD:
                break
            count += 1
            if token_id in self._index.eos_ids:
                break
        return count

    def rollback(self, n: int) -> None:
        """Undo the last `n` tokens, an end of sequence counted as one.

        Raises `MaskwrightError`, and changes nothing, if `n` is negative or more than were taken.
        """
        if not 0 <= n <= len(self._tokens):
            raise MaskwrightError(
                f"cannot roll back {n} tokens: {len(self._tokens)} were taken", where="n", code="argument.n"
            )
        del self._tokens[len(self._tokens) - n :]
        del self._states[len(self._states) - n :]

    def reset(self) -> None:
        """Go back to the beginning and forget what was taken."""
        self.rollback(len(self._tokens))

    def fork(self) -> Constraint:
        """Another constraint at the same place; from then on the two are independent."""
        twin = Constraint(self._index)
        twin._tokens = self._tokens.copy()
        twin._states = self._states.copy()
        return twin

    def forced_text(self) -> bytes:
        """The bytes that every completion in tokens goes on with; empty where it may end or may fork.

        At most 65,536: a vocabulary may be able to go on, and not to end.
        """
        state, begun = DEAD if self.done else self.state, {b""}
        forced = bytearray()
        while len(forced) < MAX_FORCED_BYTES and not (b"" in begun and self._index.dfa.accept[state]):
            onward = self._index.onward(state, begun)
            if len(onward) != 1:
                break
            (byte,) = onward
            forced.append(byte)
            state = self._index.dfa.step(state, bytes([byte]))
            begun = self._index.begun_after(begun, byte)
        return bytes(forced)

    def _expected(self) -> str:
        """What may come here: the bytes that allowed tokens begin with, in ranges, and the end."""
        dfa = self._index.dfa
        onward = np.array(sorted(self._index.onward(self.state, {b""})), np.intp)
        runs = np.split(onward, np.flatnonzero(np.diff(onward) > 1) + 1)
        parts = [_byte_range(int(run[0]), int(run[-1])) for run in runs if len(run)]
        end = ["the end of the text"] * bool(dfa.accept[self.state])
        return ", ".join([*parts, *end]) or "no token of the vocabulary goes on here"

    def _next_state(self, token_id: int) -> int:
        return DEAD if self.done else self._index.next_state(self.state, token_id)


def _row(bitmask: Any, row: int, vocab_size: int) -> NDArray[np.int32]:
    """One row of a bitmask as an array that shares its memory."""
    array = bitmask.numpy() if hasattr(bitmask, "numpy") else bitmask
    if not isinstance(array, np.ndarray) or array.dtype != np.int32 or array.ndim not in (1, 2):
        raise _bad("bitmask", "a bitmask is an int32 array of one or two dimensions")
    rows = np.atleast_2d(array)
    if not 0 <= row < len(rows):
        raise _bad("row", f"no row {row}: the bitmask has {len(rows)}")
    words: NDArray[np.int32] = rows[row]
    if len(words) * 32 < vocab_size:
        needed = -(-vocab_size // 32)
        raise _bad("bitmask", f"a row of {len(words)} words is too short: {vocab_size} tokens need {needed}")
    return words


def _byte_range(low: int, high: int) -> str:
    first, last = (chr(byte).encode("unicode_escape").decode() for byte in (low, high))
    return f'"{first}"' if low == high else f'"{first}" to "{last}"'


def _bad(argument: str, what: str) -> MaskwrightError:
    return MaskwrightError(what, where=argument, code=f"argument.{argument}")
