"""The native core, as Python sees it: `maskwright.kernel` builds these objects from Python ones.

Arrays are NumPy's here, but may be anything with the buffer protocol.
"""

from collections.abc import Sequence
from typing import final

import numpy as np
from numpy.typing import NDArray

__all__ = ["DfaMasks", "TokenTrie", "__version__", "_panic"]

__version__: str

@final
class TokenTrie:
    """A vocabulary as a trie. Token i is `blob[offsets[i]:offsets[i + 1]]`; an empty one is never allowed.

    `offsets` is int64 [tokens + 1]. Raises MaskwrightError where it does not cut up the blob, LimitError
    for a token of 16 MiB or more, or tokens of 2 GiB or more together.
    """

    def __new__(cls, blob: bytes, offsets: NDArray[np.int64]) -> TokenTrie: ...
    @property
    def n_tokens(self) -> int: ...
    @property
    def n_nodes(self) -> int: ...
    @property
    def n_bytes(self) -> int:
        """Memory held, in bytes."""

@final
class DfaMasks:
    """The bitmasks of a DFA over a vocabulary, computed when first asked for.

    `trans` is int32 [states, 256] with -1 for the dead state; `accept` is uint8 [states], zero or not.
    An id in `eos_ids` is allowed exactly in accepting states, whatever its bytes. At most `cache_bytes`
    of finished bitmasks are kept. Raises MaskwrightError for a bad table, VocabularyError for an unknown
    EOS id, LimitError for 2**24 - 1 states or more.
    """

    def __new__(
        cls,
        trie: TokenTrie,
        trans: NDArray[np.int32],
        accept: NDArray[np.uint8],
        eos_ids: Sequence[int],
        cache_bytes: int,
    ) -> DfaMasks: ...
    @property
    def n_states(self) -> int: ...
    @property
    def n_words(self) -> int:
        """Words of 32 tokens in a bitmask."""

    @property
    def n_cached(self) -> int:
        """Bitmasks kept now."""

    def fill_bitmask(self, state: int, bitmask: NDArray[np.int32], row: int = 0) -> bool:
        """Write the bitmask of `state` over a whole row of `bitmask`.

        `bitmask` is int32 [words] or [rows, words], writable and contiguous: token i is bit i % 32 of word
        i // 32, surplus words become zero. Returns false only if no token with bytes and no EOS is masked.
        Raises MaskwrightError for a state, row or array that does not fit, and then writes nothing.
        """

    def walk_bitmask(self, state: int, bitmask: NDArray[np.int32], row: int = 0) -> bool:
        """Do as `fill_bitmask` does, but walk the trie whatever is kept, and keep nothing."""

def _panic(message: str) -> None:
    """Panic in the core, so that a test can see what a defect looks like from Python."""
