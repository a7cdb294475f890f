"""What can every constraint do? The protocol that the readable and the fast constraint both follow."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Protocol, Self, runtime_checkable

import numpy as np
from numpy.typing import NDArray


@runtime_checkable
class ConstraintProtocol(Protocol):
    """One request's position in a format.

    Every method that refuses leaves the constraint as it was. After an end of sequence `done` is true, the
    masks are all false, `try_advance` gives 0 and `advance` raises, until a `rollback` or a `reset`.

    >>> from maskwright import Compiler, Vocabulary
    >>> compiler = Compiler(Vocabulary.from_tokens([b"a", None], eos_id=1))
    >>> isinstance(compiler.regex("a").constraint(), ConstraintProtocol)
    True
    """

    @property
    def state(self) -> int:
        """A small number: two constraints of one index with equal numbers have equal futures."""

    @property
    def tokens(self) -> tuple[int, ...]:
        """The tokens taken so far, an end of sequence among them."""

    @property
    def done(self) -> bool:
        """Whether the end was taken."""

    def is_complete(self) -> bool:
        """Whether the text so far is in the format; it stays true after the end."""

    def mask(self) -> NDArray[np.bool_]:
        """The tokens allowed next: bool [V]."""

    def fill_bitmask(self, bitmask: Any, row: int = 0) -> bool:
        """Write one whole int32 row, token t as bit t % 32 of word t // 32.

        False if nothing is masked: every id is allowed, the end, special tokens and padding too.
        """

    def allows(self, token_id: int) -> bool:
        """Whether `token_id` may come next."""

    def advance(self, token_id: int) -> None:
        """Take a token; raises `TokenNotAllowed`."""

    def try_advance(self, token_ids: Iterable[int]) -> int:
        """Take the longest allowed beginning, no further than an end, and return its length."""

    def count_allowed(self, token_ids: Iterable[int]) -> int:
        """What `try_advance` would return, without moving."""

    def rollback(self, n: int) -> None:
        """Undo the last `n` tokens; raises `MaskwrightError` if it is below 0 or more than were taken."""

    def reset(self) -> None:
        """Go back to the beginning and forget what was taken."""

    def fork(self) -> Self:
        """Another constraint at the same place that shares nothing that moves."""

    def forced_text(self) -> bytes:
        """The bytes that every completion in tokens goes on with; empty where it may end or may fork."""
