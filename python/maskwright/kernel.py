"""How a vocabulary and a DFA are handed to the native core: as flat arrays, in one call each."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from maskwright._native import DfaMasks, TokenTrie
from maskwright.errors import VocabularyError

__all__ = ["DfaMasks", "TokenTrie", "build_masks", "build_trie"]

DEFAULT_CACHE_BYTES = 64 << 20
"""Room for 4,096 finished bitmasks over 128,000 tokens."""


def build_trie(tokens: Sequence[bytes | None]) -> TokenTrie:
    """Build the trie of a vocabulary.

    Args:
        tokens: the bytes of each token id; None (a special token) and empty tokens are never allowed.

    Raises:
        VocabularyError: a token is neither bytes nor None.
        LimitError: a token of 16 MiB or more, or tokens of 2 GiB or more together.

    >>> trie = build_trie([b"a", b"ab", None, b""])
    >>> trie.n_tokens, trie.n_nodes
    (4, 2)
    """
    strings = [token or b"" for token in tokens]
    try:
        blob = b"".join(strings)
    except TypeError:
        raise _not_bytes(tokens) from None
    offsets = np.zeros(len(strings) + 1, np.int64)
    np.cumsum(np.fromiter(map(len, strings), np.int64, len(strings)), out=offsets[1:])
    return TokenTrie(blob, offsets)


def build_masks(
    trie: TokenTrie,
    trans: NDArray[np.int32],
    accept: NDArray[np.bool_],
    eos_id: int | Iterable[int] | None = None,
    cache_bytes: int = DEFAULT_CACHE_BYTES,
) -> DfaMasks:
    """Put a DFA on a trie. Computes no bitmask yet.

    Args:
        trie: the vocabulary.
        trans: int32 [states, 256]; -1 is the dead state.
        accept: bool [states].
        eos_id: the ids that end the text: allowed exactly in accepting states.
        cache_bytes: bound on the memory of finished bitmasks.

    Raises:
        MaskwrightError: a table of the wrong shape, dtype or content.
        VocabularyError: an EOS id that the vocabulary does not have.

    >>> trans = np.full((2, 256), -1, np.int32)
    >>> trans[0, ord("a")] = 1
    >>> masks = build_masks(build_trie([b"a", b"aa", None]), trans, np.array([False, True]), eos_id=2)
    >>> bitmask = np.empty((2, masks.n_words), np.int32)
    >>> masks.fill_bitmask(0, bitmask, 0), masks.fill_bitmask(1, bitmask, 1)
    (True, True)
    >>> bitmask.tolist()
    [[1], [4]]
    """
    eos_ids = eos_id if isinstance(eos_id, Iterable) else [] if eos_id is None else [eos_id]
    flags = np.asarray(accept).astype(np.uint8)
    return DfaMasks(trie, np.asarray(trans), flags, list(eos_ids), cache_bytes)


def _not_bytes(tokens: Sequence[object]) -> VocabularyError:
    token_id = next(i for i, token in enumerate(tokens) if token and not isinstance(token, bytes))
    kind = type(tokens[token_id]).__name__
    return VocabularyError(f"a token is {kind}, not bytes", where=f"token {token_id}", try_="vocab_bytes()")
