"""Which tokens are allowed? By reading the bytes of each, one by one, with a constraint over single bytes.

The engine's masks come from parts, skeletons and drafts; one byte is one step, and asks none of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import maskwright as mw
import numpy as np
from numpy.typing import NDArray

__all__ = ["BYTES", "END", "Tokens", "bytes_compiler"]

BYTES = [bytes([byte]) for byte in range(256)]
END = 256


def bytes_compiler() -> mw.Compiler:
    """Over single bytes, where token i is the byte i and token `END` ends the text."""
    return mw.Compiler(mw.Vocabulary.from_tokens([*BYTES, None], eos_id=END), cache_bytes=0)


class Tokens:
    """A vocabulary as a trie; its last token ends the text."""

    def __init__(self, tokens: Sequence[bytes | None]) -> None:
        self.tokens = tokens
        self.ids = {token: token_id for token_id, token in enumerate(tokens)}
        self._next: list[dict[int, int]] = [{}]
        self._ids: list[list[int]] = [[]]
        for token_id, token in enumerate(tokens):
            if token:
                self._ids[self._node(token)].append(token_id)

    def _node(self, token: bytes) -> int:
        node = 0
        for byte in token:
            node = self._next[node].setdefault(byte, len(self._next))
            if node == len(self._next):
                self._next.append({})
                self._ids.append([])
        return node

    def mask(self, constraint: Any) -> NDArray[np.bool_]:
        """The tokens that may come next; `constraint` is one over single bytes, and stays where it is."""
        mask = np.zeros(len(self.tokens), bool)
        waiting = [(child, byte, 0) for byte, child in self._next[0].items()]
        depth = 0
        while waiting:
            node, byte, above = waiting.pop()
            constraint.rollback(depth - above)
            depth = above + constraint.try_advance([byte])
            if depth > above:
                mask[self._ids[node]] = True
                waiting.extend((child, byte, depth) for byte, child in self._next[node].items())
        constraint.rollback(depth)
        mask[-1] = constraint.is_complete()
        return mask
