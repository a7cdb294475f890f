"""What does a state of an automaton mean? The shortest texts that lead to it, in the order of the pattern.

"In the order of the pattern" is the order in which a backtracking matcher tries: of `(cat|car)` first "cat".
The automaton itself has forgotten that order, so it is read off Thompson's automaton, whose edges keep it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

import numpy as np

from maskwright.reference import DEAD, DFA
from maskwright.reference.nfa import NFA, build_nfa
from maskwright.reference.pattern import parse_pattern

_SHOWN = 3
_MOST_THREADS = (
    500  # states of Thompson's automaton followed for a text; past them bytes come in ascending order
)


@dataclass
class Meaning:
    """Some of the shortest texts that lead to a state, and whether there are more of that length."""

    texts: list[bytes] = field(default_factory=list)
    more: bool = False


@dataclass(frozen=True)
class _Text:
    """A text, the state after it, and the states of Thompson's automaton after it, most wanted first."""

    text: bytes
    state: int
    threads: list[int]


def meanings(dfa: DFA, pattern: str) -> list[Meaning]:
    """The meaning of every state of `dfa`, the automaton of `pattern`.

    >>> from maskwright.reference import regex_to_dfa
    >>> [m.texts for m in meanings(regex_to_dfa("xs?|as?"), "xs?|as?")]
    [[b''], [b'x', b'a'], [b'xs', b'as']]
    """
    nfa = build_nfa(parse_pattern(pattern))
    found: dict[int, Meaning] = {0: Meaning([b""])}
    level = [_Text(b"", 0, _closure(nfa, [nfa.entry]))]
    while level:
        new: dict[int, Meaning] = {}
        next_level = []
        for parent in level:
            for byte, state in _steps(dfa, nfa, parent):
                if state in found:
                    continue
                meaning = new.setdefault(state, Meaning())
                meaning.more |= found[parent.state].more
                if len(meaning.texts) < _SHOWN:
                    meaning.texts.append(parent.text + bytes([byte]))
                    next_level.append(_Text(meaning.texts[-1], state, _after(nfa, parent.threads, byte)))
                else:
                    meaning.more = True
        found |= new
        level = next_level
    return [found[state] for state in range(dfa.n_states)]


def _steps(dfa: DFA, nfa: NFA, text: _Text) -> Iterator[tuple[int, int]]:
    """The bytes that may follow the text, most wanted first, each with the state that it leads to."""
    after = dfa.trans[text.state]
    live = np.flatnonzero(after != DEAD).tolist()
    wanted = (edge[0] for thread in text.threads if (edge := nfa.edges[thread]) is not None)
    ordered = dict.fromkeys(byte for allowed in wanted for byte in live if allowed >> byte & 1)
    for byte in ordered | dict.fromkeys(live):
        yield byte, int(after[byte])


def _after(nfa: NFA, threads: Iterable[int], byte: int) -> list[int]:
    edges = (edge for thread in threads if (edge := nfa.edges[thread]) is not None)
    return _closure(nfa, [target for allowed, target in edges if allowed >> byte & 1])


def _closure(nfa: NFA, starts: list[int]) -> list[int]:
    """What is reached from `starts` without reading, depth first, so in the order of the branches."""
    seen: dict[int, None] = {}
    stack = starts[::-1]
    while stack and len(seen) < _MOST_THREADS:
        state = stack.pop()
        if state not in seen:
            seen[state] = None
            stack.extend(reversed(nfa.epsilons[state]))
    return list(seen)
