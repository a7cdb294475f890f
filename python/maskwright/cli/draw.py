"""How is an automaton drawn? As Graphviz DOT, or as an SVG that needs no other program.

The SVG has one column for each distance from the start, in bytes. So an edge goes one column to the right,
stays in its column, or goes back: the three shapes below. Within a column the states stand near their
neighbours in the column before (one sweep of the barycentre rule of Sugiyama, Tagawa and Toda, 1981).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from xml.sax.saxutils import escape

import numpy as np

from maskwright.cli.bad_input import BadInput
from maskwright.cli.shown import byte_set
from maskwright.reference import DEAD, DFA

_MOST_STATES = 300  # more are a black cloud; DOT has no such bound
_LONGEST_LABEL = 24
_RADIUS = 20
_ROW = 84
_CHARACTER = 7.3  # width of one at 12 px
_MARGIN = 30
_STYLE = (
    "text{font:12px monospace;fill:#1a1a1a;text-anchor:middle;dominant-baseline:central}"
    ".edge{fill:none;stroke:#55606e;stroke-width:1.4}.state{fill:#eef3fa;stroke:#24518a;stroke-width:1.6}"
    ".accepting{fill:#e3f3e4;stroke:#22702b}.ring{fill:none;stroke:#22702b;stroke-width:1.2}"
    ".head{fill:#55606e}.back{fill:#fff;fill-opacity:.88}"
)


def to_dot(dfa: DFA) -> str:
    """Graphviz DOT of the automaton.

    >>> from maskwright.reference import regex_to_dfa
    >>> print(to_dot(regex_to_dfa("[ab]")))
    digraph dfa {
      rankdir=LR; node [shape=circle]; start [shape=point];
      start -> 0;
      1 [shape=doublecircle];
      0 -> 1 [label="a, b"];
    }
    <BLANKLINE>
    """
    lines = ["digraph dfa {", "  rankdir=LR; node [shape=circle]; start [shape=point];", "  start -> 0;"]
    lines += [f"  {state} [shape=doublecircle];" for state in np.flatnonzero(dfa.accept).tolist()]
    for source, target, label in edges(dfa):
        text = label.replace("\\", "\\\\").replace('"', '\\"')
        lines.append(f'  {source} -> {target} [label="{text}"];')
    return "\n".join([*lines, "}", ""])


def edges(dfa: DFA) -> Iterator[tuple[int, int, str]]:
    """Each pair of states with a transition, and the bytes that lead from one to the other, as one label."""
    for source in range(dfa.n_states):
        after = dfa.trans[source]
        for target in np.unique(after[after != DEAD]).tolist():
            yield source, target, ", ".join(byte_set(np.flatnonzero(after == target).tolist()))


def to_svg(dfa: DFA) -> str:
    """An SVG of the automaton, left to right; `BadInput` where it has too many states to be seen.

    >>> from maskwright.reference import regex_to_dfa
    >>> to_svg(regex_to_dfa("[ab]")).count('class="edge"')
    2
    """
    if dfa.n_states > _MOST_STATES:
        why = f"the automaton has {dfa.n_states} states; more than {_MOST_STATES} cannot be told apart"
        raise BadInput("--draw: too many states for an SVG", why=why, try_="a .dot file")
    picture = _Picture(_Layout.of(dfa))
    picture.start()
    for source, target, label in picture.layout.edges:
        picture.edge(source, target, label)
    for state in range(dfa.n_states):
        picture.state(state, bool(dfa.accept[state]))
    return picture.text()


@dataclass(frozen=True)
class _Layout:
    """Where the states stand: the column and the centre of each."""

    edges: list[tuple[int, int, str]]
    column: list[int]
    x: list[float]
    y: list[float]

    @staticmethod
    def of(dfa: DFA) -> _Layout:
        found = list(edges(dfa))
        column = _columns(dfa.n_states, found)
        members = _ordered(column, found)
        tallest = max(map(len, members))
        x, y = [0.0] * dfa.n_states, [0.0] * dfa.n_states
        loops = [
            len(_short(text)) for source, target, text in found if source == target and column[source] == 0
        ]
        left = _MARGIN + max(40.0, max(loops, default=0) * _CHARACTER / 2)
        for depth, states in enumerate(members):
            top = _MARGIN + 30 + (tallest - len(states)) * _ROW / 2
            for place, state in enumerate(states):
                x[state], y[state] = left, top + place * _ROW
            left += _gap([edge for edge in found if column[edge[0]] == depth], column)
        return _Layout(found, column, x, y)


def _gap(leaving: list[tuple[int, int, str]], column: list[int]) -> float:
    """How far off the next column stands from one with these edges: room for labels, and for bows in it."""
    ahead = (label for source, target, label in leaving if column[target] >= column[source])
    widest = max((len(_short(label)) for label in ahead), default=0)
    has_bow = any(source != target and column[source] == column[target] for source, target, _ in leaving)
    return max(100.0, widest * _CHARACTER + 2 * _RADIUS + 36) + 60 * has_bow


def _columns(n_states: int, found: list[tuple[int, int, str]]) -> list[int]:
    """The distance from state 0. States are numbered breadth first, so one pass over the sources will do."""
    column = [0] + [n_states] * (n_states - 1)
    for source, target, _ in found:
        column[target] = min(column[target], column[source] + 1)
    return column


def _ordered(column: list[int], found: list[tuple[int, int, str]]) -> list[list[int]]:
    """The states of each column from top to bottom."""
    members: list[list[int]] = [[] for _ in range(max(column) + 1)]
    for state, depth in enumerate(column):
        members[depth].append(state)
    before: dict[int, list[int]] = {}
    for source, target, _ in found:
        if column[target] == column[source] + 1:
            before.setdefault(target, []).append(source)
    height = {state: place - len(states) / 2 for states in members for place, state in enumerate(states)}
    for states in members[1:]:
        states.sort(key=lambda state: sum(height[s] for s in before[state]) / len(before[state]))
        height.update({state: place - len(states) / 2 for place, state in enumerate(states)})
    return members


class _Picture:
    """The SVG elements drawn so far, and how far down they reach."""

    def __init__(self, layout: _Layout) -> None:
        self.layout = layout
        self._lines: list[str] = []
        self._labels: list[str] = []  # above all lines
        self._right = max(layout.x) + _RADIUS
        self._bottom = max(layout.y) + _RADIUS
        self._lanes = 0

    def start(self) -> None:
        x, y = self.layout.x[0] - _RADIUS, self.layout.y[0]
        self._line(f"M{x - 32:.0f},{y:.0f} L{x:.0f},{y:.0f}", (x, y), 0.0)

    def state(self, state: int, accepting: bool) -> None:
        x, y = self.layout.x[state], self.layout.y[state]
        kind = "state accepting" if accepting else "state"
        self._lines.append(f'<circle class="{kind}" cx="{x:.0f}" cy="{y:.0f}" r="{_RADIUS}"/>')
        if accepting:
            self._lines.append(f'<circle class="ring" cx="{x:.0f}" cy="{y:.0f}" r="{_RADIUS - 4}"/>')
        self._lines.append(f'<text x="{x:.0f}" y="{y:.0f}">{state}</text>')

    def edge(self, source: int, target: int, label: str) -> None:
        step = self.layout.column[target] - self.layout.column[source]
        if source == target:
            self._loop(source, label)
        elif step == 1:
            self._straight(source, target, label)
        else:
            self._around(source, target, label)

    def _straight(self, source: int, target: int, label: str) -> None:
        ax, ay, bx, by = (*self._centre(source), *self._centre(target))
        angle = math.atan2(by - ay, bx - ax)
        ax, ay = ax + _RADIUS * math.cos(angle), ay + _RADIUS * math.sin(angle)
        bx, by = bx - _RADIUS * math.cos(angle), by - _RADIUS * math.sin(angle)
        self._line(f"M{ax:.1f},{ay:.1f} L{bx:.1f},{by:.1f}", (bx, by), angle)
        near = 0.68  # of the way: labels of edges that cross in the middle stay apart
        self._label(ax + near * (bx - ax), ay + near * (by - ay), label)

    def _loop(self, state: int, label: str) -> None:
        x, y = self._centre(state)
        top = y - _RADIUS
        self._line(
            f"M{x - 9:.1f},{top + 2:.1f} C{x - 22:.1f},{top - 34:.1f} {x + 22:.1f},{top - 34:.1f} "
            f"{x + 9:.1f},{top + 2:.1f}",
            (x + 9, top + 2),
            1.9,
        )
        self._label(x, top - 25, label)

    def _around(self, source: int, target: int, label: str) -> None:
        """Back, below every state between, each edge in a lane of its own; or within the column."""
        (ax, ay), (bx, by) = self._centre(source), self._centre(target)
        if self.layout.column[source] == self.layout.column[target]:
            return self._bow(source, target, label)
        first, last = self.layout.column[target], self.layout.column[source]
        floor = max(y for y, c in zip(self.layout.y, self.layout.column, strict=True) if first <= c <= last)
        low = floor + _RADIUS + 24 + 20 * self._lanes
        beside = _RADIUS + 10 + 4 * (self._lanes % 4)  # down and up in the gaps between columns
        self._lanes += 1
        out, into = _RADIUS * math.cos(0.9), _RADIUS * math.sin(0.9)
        tip = (bx - out, by + into)
        corners = [(ax + beside, low), (bx - beside, low), (bx - beside, by + _RADIUS + 12)]
        self._line(
            _rounded([(ax + out, ay + into), (ax + beside, ay + _RADIUS + 12), *corners, tip]), tip, -0.75
        )
        self._label((ax + bx) / 2, low, label)
        self._bottom = max(self._bottom, low)

    def _bow(self, source: int, target: int, label: str) -> None:
        (x, ay), (_, by) = self._centre(source), self._centre(target)
        down = 1 if by > ay else -1
        side = down * (26 + 0.18 * abs(by - ay))  # the two directions bow to different sides
        ax, bx = x + down * 12, x + down * 12
        ay, by = ay + down * 16, by - down * 16
        bend = down * 12
        curve = f"C{ax + side:.1f},{ay + bend:.1f} {bx + side:.1f},{by - bend:.1f} {bx:.1f},{by:.1f}"
        self._line(f"M{ax:.1f},{ay:.1f} {curve}", (bx, by), math.pi / 2 * down + 0.7)
        self._label(ax + 0.75 * side, (ay + by) / 2, label)

    def _centre(self, state: int) -> tuple[float, float]:
        return self.layout.x[state], self.layout.y[state]

    def _line(self, path: str, tip: tuple[float, float], angle: float) -> None:
        """A path and its arrow head, drawn as a triangle since not every viewer knows markers."""
        corners = [
            tip,
            *(
                (tip[0] - 9 * math.cos(angle + turn), tip[1] - 9 * math.sin(angle + turn))
                for turn in (-0.4, 0.4)
            ),
        ]
        points = " ".join(f"{x:.1f},{y:.1f}" for x, y in corners)
        self._lines.append(f'<path class="edge" d="{path}"/><polygon class="head" points="{points}"/>')

    def _label(self, x: float, y: float, label: str) -> None:
        text = _short(label)
        width = len(text) * _CHARACTER + 6
        self._right = max(self._right, x + width / 2)
        self._labels.append(
            f'<g><title>{escape(label)}</title><rect class="back" x="{x - width / 2:.1f}" y="{y - 8:.1f}" '
            f'width="{width:.1f}" height="16"/><text x="{x:.1f}" y="{y:.1f}">{escape(text)}</text></g>'
        )

    def text(self) -> str:
        width, height = self._right + _MARGIN, self._bottom + _MARGIN
        head = f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}">'
        ground = '<rect width="100%" height="100%" fill="#fff"/>'
        return "\n".join(
            [head, f"<style>{_STYLE}</style>", ground, *self._lines, *self._labels, "</svg>", ""]
        )


def _rounded(points: list[tuple[float, float]], radius: float = 10) -> str:
    """The SVG path through the points, its corners rounded."""
    path = "M{:.1f},{:.1f}".format(*points[0])
    for before, corner, after in zip(points, points[1:], points[2:], strict=False):
        (ax, ay), (bx, by) = (_towards(corner, end, radius) for end in (before, after))
        path += f" L{ax:.1f},{ay:.1f} Q{corner[0]:.1f},{corner[1]:.1f} {bx:.1f},{by:.1f}"
    return path + " L{:.1f},{:.1f}".format(*points[-1])


def _towards(start: tuple[float, float], end: tuple[float, float], most: float) -> tuple[float, float]:
    """The point on the way from `start` to `end`, no further than `most` and than half the way."""
    length = math.dist(start, end) or 1.0
    part = min(most / length, 0.5)
    return start[0] + (end[0] - start[0]) * part, start[1] + (end[1] - start[1]) * part


def _short(label: str) -> str:
    return label if len(label) <= _LONGEST_LABEL else label[: _LONGEST_LABEL - 1] + "…"
