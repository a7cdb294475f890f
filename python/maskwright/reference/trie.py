"""Which tokens share a beginning? The trie of a vocabulary, level by level, for walks in NumPy.

A token's bytes label the path from the root to its node. All nodes at one depth form a level: a walk is one
array operation a level (the longest token of Llama 3 has 128 bytes) and not one a token (128,000).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from maskwright.reference.dfa import DFA
from maskwright.reference.subset import DEAD

NO_NODE = -1
"""The node of a token without bytes: it is never allowed."""


@dataclass(frozen=True, slots=True)
class _Level:
    """The nodes at one depth, ordered by (parent, byte): the children of a node lie side by side."""

    first: int  # number of the first node, over all levels
    byte: NDArray[np.uint8]  # [n] the last byte of the path to each node
    child_start: NDArray[np.int32]  # [n] where its children begin in the next level
    child_count: NDArray[np.int32]  # [n]


class Trie:
    """The trie of the tokens that have bytes.

    n_nodes : how many nodes there are, the root not counted.
    node_of : intp [V], the node where each token ends, or NO_NODE.
    """

    def __init__(self, tokens: Sequence[bytes]) -> None:
        """Build the trie; an empty token stands for one that has no place in it."""
        self.node_of = np.full(len(tokens), NO_NODE, np.intp)
        self.n_nodes = 0
        self._levels = self._build(tokens)

    def walk(self, dfa: DFA, state: int) -> NDArray[np.bool_]:
        """Which nodes the DFA reaches alive from `state`: bool [n_nodes].

        Below a node that is dead nothing is looked at: every token there begins with the same dead bytes.
        """
        alive = np.zeros(self.n_nodes, np.bool_)
        states = np.array([state], np.int32)
        nodes = np.array([0], np.int32)  # places in the level; the root is a level of its own
        for level, below in zip(self._levels, self._levels[1:], strict=False):
            nodes, parents = _children(level, nodes)
            states = dfa.trans[states[parents], below.byte[nodes]]
            kept = states != DEAD
            nodes, states = nodes[kept], states[kept]
            if not nodes.size:
                break
            alive[below.first + nodes] = True
        return alive

    def _build(self, tokens: Sequence[bytes]) -> list[_Level]:
        """Sort the tokens by the node of their first d bytes, one depth after the other."""
        lengths = np.array([len(token) for token in tokens], np.intp)
        text = np.frombuffer(b"".join(tokens), np.uint8)
        start = np.cumsum(lengths) - lengths
        ids = np.flatnonzero(lengths)
        parent = np.zeros(len(ids), np.intp)  # place, in the level above, of each token in `ids`
        n_above, byte = 1, np.zeros(1, np.uint8)
        first = -1  # the root has no number
        levels = []
        for depth in range(int(lengths.max(initial=0)) + 1):
            key = parent * 256 + text[start[ids] + depth]
            nodes, place = np.unique(key, return_inverse=True)
            count = np.bincount(nodes >> 8, minlength=n_above).astype(np.int32)
            levels.append(_Level(first, byte, _starts(count), count))
            first += len(byte)
            n_above, byte = len(nodes), (nodes & 0xFF).astype(np.uint8)
            self.node_of[ids] = first + place
            longer = lengths[ids] > depth + 1
            ids, parent = ids[longer], place[longer]
        self.n_nodes = first
        return levels


def _children(level: _Level, nodes: NDArray[np.int32]) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """The children of `nodes`, and for each child the place of its parent in `nodes`."""
    count = level.child_count[nodes]
    parents = np.repeat(np.arange(len(nodes), dtype=np.int32), count)
    # The k-th child overall is the (k - start)-th of its parent, whose first child has a place of its own.
    shift = level.child_start[nodes] - _starts(count)
    return np.arange(len(parents), dtype=np.int32) + shift[parents], parents


def _starts(count: NDArray[np.int32]) -> NDArray[np.int32]:
    """Where each of several runs begins that lie side by side."""
    return np.cumsum(count, dtype=np.int32) - count
