"""How does a pattern become a nondeterministic automaton? Thompson's construction (CACM 1968).

Each node of the tree becomes a fragment with one entry and one exit, joined by edges that read nothing
(ε-edges). The states of a fragment are numbered consecutively, so that `{m,n}` copies a fragment by adding
an offset.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from maskwright.errors import LimitError
from maskwright.reference.limits import ReferenceLimits
from maskwright.reference.tree import Bytes, Choice, Node, Repeat, Sequence, postorder


@dataclass(slots=True)
class NFA:
    """`edges[s]` is (set of bytes, target) or None; `epsilons[s]` are the targets that read nothing."""

    entry: int = 0
    exit: int = 0
    edges: list[tuple[int, int] | None] = field(default_factory=list)
    epsilons: list[list[int]] = field(default_factory=list)


class _Fragment(NamedTuple):
    """The states `first` .. `last - 1`, one of them the entry and one the exit."""

    first: int
    last: int
    entry: int
    exit: int


def build_nfa(tree: Node, limits: ReferenceLimits | None = None) -> NFA:
    """Thompson's automaton of a tree, built bottom up without recursion.

    Raises `LimitError` before it copies past `limits.max_nfa_states`.

    >>> from maskwright.reference.pattern import parse_pattern
    >>> len(build_nfa(parse_pattern("ab")).edges)  # two states a byte
    4
    """
    return _Builder(limits or ReferenceLimits()).build(tree)


class _Builder:
    def __init__(self, limits: ReferenceLimits) -> None:
        self._limits = limits
        self._nfa = NFA()
        self._done: list[_Fragment] = []  # fragments whose parent is not built yet

    def build(self, tree: Node) -> NFA:
        for node in postorder(tree):
            self._done.append(self._fragment(node))
        whole = self._done.pop()
        self._nfa.entry, self._nfa.exit = whole.entry, whole.exit
        return self._nfa

    def _fragment(self, node: Node) -> _Fragment:
        match node:
            case Bytes(allowed):
                entry, exit_ = self._new_states(2)
                self._nfa.edges[entry] = (allowed, exit_)
                return _Fragment(entry, exit_ + 1, entry, exit_)
            case Sequence(parts):
                return self._sequence(self._pop(len(parts)))
            case Choice(parts):
                return self._choice(self._pop(len(parts)))
            case Repeat():
                return self._repeat(self._done.pop(), node)

    def _pop(self, count: int) -> list[_Fragment]:
        start = len(self._done) - count
        parts = self._done[start:]
        del self._done[start:]
        return parts

    def _new_states(self, count: int, where: str | None = None) -> range:
        first = len(self._nfa.edges)
        if first + count > self._limits.max_nfa_states:
            raise LimitError(
                f"the pattern needs more than {self._limits.max_nfa_states} states before determinisation",
                limit="max_nfa_states",
                value=self._limits.max_nfa_states,
                where=where,
                why="every {m,n} holds n copies of what it repeats, and nested ones multiply",
                try_="smaller bounds",
            )
        self._nfa.edges.extend([None] * count)
        self._nfa.epsilons.extend([] for _ in range(count))
        return range(first, first + count)

    def _join(self, source: int, target: int) -> None:
        self._nfa.epsilons[source].append(target)

    def _sequence(self, parts: list[_Fragment]) -> _Fragment:
        if not parts:
            entry, exit_ = self._new_states(2)
            self._join(entry, exit_)
            return _Fragment(entry, exit_ + 1, entry, exit_)
        for i in range(len(parts) - 1):
            self._join(parts[i].exit, parts[i + 1].entry)
        return _Fragment(parts[0].first, parts[-1].last, parts[0].entry, parts[-1].exit)

    def _choice(self, parts: list[_Fragment]) -> _Fragment:
        entry, exit_ = self._new_states(2)
        for part in parts:
            self._join(entry, part.entry)
            self._join(part.exit, exit_)
        return _Fragment(parts[0].first, exit_ + 1, entry, exit_)

    def _repeat(self, body: _Fragment, node: Repeat) -> _Fragment:
        """`low` copies, then either a loop or `high - low` copies that may each skip to the end."""
        copies = self._copies(body, node.low + 1 if node.high is None else node.high, f"offset {node.offset}")
        whole = self._sequence(copies if node.high is not None else [*copies[:-1], self._star(copies[-1])])
        if node.high is None or node.low == node.high:
            return whole
        (end,) = self._new_states(1)
        for optional in copies[node.low :]:
            self._join(optional.entry, end)
        self._join(whole.exit, end)
        return _Fragment(whole.first, end + 1, whole.entry, end)

    def _star(self, body: _Fragment) -> _Fragment:
        """The body as often as wanted.

        The new entry matters: no edge may lead back into a fragment's entry, or an optional fragment that
        starts with a loop, as in `(x*y)?`, could leave from the middle.
        """
        entry, exit_ = self._new_states(2)
        for source in (entry, body.exit):
            self._join(source, body.entry)
            self._join(source, exit_)
        return _Fragment(body.first, exit_ + 1, entry, exit_)

    def _copies(self, body: _Fragment, count: int, where: str) -> list[_Fragment]:
        """`count` fragments like `body`, itself the first; with none its states, which are the newest, go."""
        nfa = self._nfa
        if count == 0:
            del nfa.edges[body.first :], nfa.epsilons[body.first :]
            return []
        size = body.last - body.first
        self._new_states(size * (count - 1), where)
        fragments = [body]
        for copy in range(1, count):
            offset = size * copy
            for state in range(body.first, body.last):
                edge = nfa.edges[state]
                nfa.edges[state + offset] = edge and (edge[0], edge[1] + offset)
                nfa.epsilons[state + offset] = [target + offset for target in nfa.epsilons[state]]
            fragments.append(_Fragment(*(place + offset for place in body)))
        return fragments
