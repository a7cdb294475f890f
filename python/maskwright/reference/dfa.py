"""Where is the text, and can it still become a text of the format? The canonical DFA of a pattern."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from maskwright.errors import PatternError
from maskwright.reference.limits import ReferenceLimits
from maskwright.reference.minimise import breadth_first, cut_dead, equivalence_blocks, live_states
from maskwright.reference.nfa import build_nfa
from maskwright.reference.pattern import parse_pattern
from maskwright.reference.subset import DEAD, Table, determinise

__all__ = ["DEAD", "DFA", "regex_to_dfa"]


@dataclass(frozen=True, slots=True, eq=False)
class DFA:
    """A minimal deterministic automaton over bytes, started in state 0.

    accept : bool [S], read-only; the text so far is in the language.
    trans  : int32 [S, 256], read-only; the next state, or DEAD where no text of the language continues.

    From every state an accepting one can be reached, and the states are numbered breadth first with bytes
    ascending: two patterns of one language have equal arrays.

    >>> dfa = regex_to_dfa("(cat|car|dog)s?")
    >>> dfa.n_states, dfa.step(0, b"ca"), dfa.matches(b"dogs")
    (7, 3, True)
    """

    accept: NDArray[np.bool_]
    trans: NDArray[np.int32]

    def __post_init__(self) -> None:
        self.accept.setflags(write=False)
        self.trans.setflags(write=False)

    @property
    def n_states(self) -> int:
        """How many states there are."""
        return len(self.accept)

    def step(self, state: int, data: bytes) -> int:
        """The state after reading `data` from `state`; DEAD where it leaves the language, and from DEAD."""
        for byte in data:
            if state == DEAD:
                break
            state = int(self.trans[state, byte])
        return state

    def matches(self, data: bytes) -> bool:
        """Whether `data` as a whole is in the language."""
        state = self.step(0, data)
        return state != DEAD and bool(self.accept[state])


def regex_to_dfa(pattern: str | bytes, *, limits: ReferenceLimits | None = None) -> DFA:
    """Compile a pattern, in the regular subset of Python's `re` for bytes, to its canonical DFA.

    The whole text is matched, as by `re.fullmatch`. Raises `PatternError` (with the offset) for what cannot
    be read or enforced and for a pattern that nothing matches, `LimitError` past a ceiling.

    >>> regex_to_dfa("a|b").trans.tolist() == regex_to_dfa("[ab]").trans.tolist()
    True

    Source: Sipser, Introduction to the Theory of Computation, ch. 1; Thompson, CACM 11(6), 1968; Moore,
    Automata Studies, 1956.
    """
    limits = limits or ReferenceLimits()
    table = determinise(build_nfa(parse_pattern(pattern, limits), limits), limits)
    live = live_states(table.rows, table.accept)
    if not live[0]:
        raise PatternError(
            "the pattern matches nothing",
            pattern=pattern.decode("latin-1") if isinstance(pattern, bytes) else pattern,
            offset=0,
            why="every way through it needs a byte out of an empty class",
            code="pattern.empty-language",
        )
    return _canonical(Table(table.class_of, cut_dead(table.rows, live), table.accept))


def _canonical(table: Table) -> DFA:
    """Merge the states with equal futures and number them breadth first.

    Classes are numbered by their smallest byte, so ascending classes visit the states as ascending bytes
    would.
    """
    block = equivalence_blocks(table.rows, table.accept)
    order = breadth_first(table.rows, block)
    number = {block[state]: i for i, state in enumerate(order)}
    rows = [
        [DEAD if target == DEAD else number[block[target]] for target in table.rows[state]] for state in order
    ]
    return DFA(
        accept=np.array([table.accept[state] for state in order], np.bool_),
        trans=np.array(rows, np.int32)[:, table.class_of],
    )
