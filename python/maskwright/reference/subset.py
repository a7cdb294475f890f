"""How does the automaton become deterministic? The subset construction, over byte classes.

A state of the result is the set of NFA states that the text so far may have led to. Bytes that every edge
treats alike form a class, and the loop runs over classes: 10 to 40 of them for a JSON Schema, not 256.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from maskwright.errors import LimitError
from maskwright.reference.limits import ReferenceLimits
from maskwright.reference.nfa import NFA

DEAD = -1
"""No text of the format continues: the value of a transition that leads nowhere."""


@dataclass(frozen=True, slots=True)
class Table:
    """A DFA over byte classes: `rows[state][class]` is the next state or DEAD; the start is state 0."""

    class_of: NDArray[np.intp]  # [256], classes numbered by their smallest byte
    rows: list[list[int]]
    accept: list[bool]


def determinise(nfa: NFA, limits: ReferenceLimits | None = None) -> Table:
    """The subset construction.

    Raises `LimitError` past `limits.max_dfa_states` states or `limits.max_steps` edges read.
    """
    return _Subsets(nfa, limits or ReferenceLimits()).build()


def byte_classes(byte_sets: set[int]) -> NDArray[np.intp]:
    """The coarsest partition of the 256 bytes of which each of the sets is a union, as a class per byte.

    >>> byte_classes({0b110, 0b100})[:4].tolist()  # {1, 2} and {2}: bytes 0, 1 and 2 all differ
    [0, 1, 2, 0]
    """
    packed = b"".join(byte_set.to_bytes(32, "little") for byte_set in sorted(byte_sets))
    bits = np.unpackbits(np.frombuffer(packed, np.uint8), bitorder="little").reshape(-1, 256)
    numbers: dict[bytes, int] = {}
    return np.array([numbers.setdefault(column.tobytes(), len(numbers)) for column in bits.T], np.intp)


class _Subsets:
    def __init__(self, nfa: NFA, limits: ReferenceLimits) -> None:
        self._nfa = nfa
        self._limits = limits
        self._steps = 0
        byte_sets = {edge[0] for edge in nfa.edges if edge}
        self._class_of = byte_classes(byte_sets)
        self._n_classes = int(self._class_of.max()) + 1
        self._classes_in = {byte_set: self._classes(byte_set) for byte_set in byte_sets}
        self._closures: dict[frozenset[int], frozenset[int]] = {}
        self._number: dict[frozenset[int], int] = {}
        self._queue: list[frozenset[int]] = []

    def build(self) -> Table:
        self._state(frozenset([self._nfa.entry]))
        rows = [self._row(subset) for subset in self._queue]  # grows while it is read
        return Table(self._class_of, rows, [self._nfa.exit in subset for subset in self._queue])

    def _classes(self, byte_set: int) -> list[int]:
        return sorted({int(self._class_of[byte]) for byte in range(256) if byte_set >> byte & 1})

    def _state(self, targets: frozenset[int]) -> int:
        """The number of the state whose NFA states are the closure of `targets`."""
        closure = self._closures.get(targets)
        if closure is None:
            closure = self._closures[targets] = self._closure(targets)
        known = self._number.get(closure)
        if known is not None:
            return known
        if len(self._queue) == self._limits.max_dfa_states:
            raise self._limit_error("max_dfa_states", "states")
        self._number[closure] = len(self._queue)
        self._queue.append(closure)
        return len(self._queue) - 1

    def _closure(self, targets: frozenset[int]) -> frozenset[int]:
        """What ε-edges reach, less the states that only pass on: their targets say the same."""
        seen = set(targets)
        stack = list(targets)
        epsilons = self._nfa.epsilons
        while stack:
            onward = epsilons[stack.pop()]
            self._count(1 + len(onward))
            for target in onward:
                if target not in seen:
                    seen.add(target)
                    stack.append(target)
        return frozenset(s for s in seen if self._nfa.edges[s] or s == self._nfa.exit)

    def _row(self, subset: frozenset[int]) -> list[int]:
        """The next state by class; an empty set of targets is DEAD, and no state is made for it."""
        targets: list[set[int]] = [set() for _ in range(self._n_classes)]
        for state in subset:
            edge = self._nfa.edges[state]
            if edge:
                classes = self._classes_in[edge[0]]
                self._count(1 + len(classes))
                for byte_class in classes:
                    targets[byte_class].add(edge[1])
        return [self._state(frozenset(reached)) if reached else DEAD for reached in targets]

    def _count(self, steps: int) -> None:
        self._steps += steps
        if self._steps > self._limits.max_steps:
            raise self._limit_error("max_steps", "steps")

    def _limit_error(self, limit: str, unit: str) -> LimitError:
        value: int = getattr(self._limits, limit)
        return LimitError(
            f"the pattern needs more than {value} {unit} to determinise",
            limit=limit,
            value=value,
            why="the automaton must remember too much of the text that it has read",
            try_="smaller bounds, or fewer alternatives that begin alike",
        )
