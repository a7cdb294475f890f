"""What do all groups of figures share? Vocabulary, engines, texts, and how the bars are written."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import formats
from peers import OURS
from peers.interface import Engine, Format
from report import Row, span
from texts import Text
from vocabulary import Vocabulary


@dataclass(slots=True)
class Run:
    """One run of the program. `quick` cuts the repetitions to about a fifth."""

    vocabulary: Vocabulary
    engines: dict[str, Engine]
    texts: list[Text]
    seed: int
    quick: bool
    data: dict[str, Any] = field(default_factory=dict)

    @property
    def ours(self) -> Engine | None:
        """Our engine, where it is measured."""
        return self.engines.get(OURS)

    def times(self, full: int) -> int:
        """How often to repeat: `full`, or a fifth of it in a quick run."""
        return max(3, full // 5) if self.quick else full

    def rotated(self, number: int) -> list[str]:
        """The engines in an order that moves on by one each time, so that none is always first."""
        names = list(self.engines)
        start = number % len(names)
        return names[start:] + names[:start]

    def json_formats(self) -> dict[str, Format]:
        """The JSON grammar compiled for each engine, nothing known before."""
        forms = {}
        for name, engine in self.engines.items():
            engine.fresh()
            kind, source = formats.JSON_FOR_ENGINE[name]
            forms[name] = engine.compile(kind, source)
        return forms


def compare(
    figure: str,
    values: Mapping[str, float],
    *,
    most: float | None = None,
    share: float | None = None,
    show: Callable[[float], str] = span,
) -> Row:
    """A row where less is better. The bars: at most `most`, and at most `share` of the best peer."""
    ours = values.get(OURS)
    theirs = {name: value for name, value in values.items() if name != OURS}
    bars, tests = [], []
    if most is not None:
        bars.append(f"<= {show(most)}")
        tests.append(ours is not None and ours <= most)
    if share is not None and theirs:
        best = min(theirs.values())
        bars.append(f"<= 1/{1 / share:.0f} best peer ({show(best * share)})")
        tests.append(ours is not None and ours <= best * share)
    measured = "not measured" if ours is None else show(ours)
    passed = all(tests) if tests and ours is not None else None
    return Row(figure, measured, ", ".join(bars), passed, _peers(theirs, ours, show), dict(values))


def _peers(theirs: Mapping[str, float], ours: float | None, show: Callable[[float], str]) -> str:
    return ", ".join(f"{name} {show(value)}{_ratio(value, ours)}" for name, value in theirs.items())


def _ratio(value: float, ours: float | None) -> str:
    return f" ({value / ours:.1f}x)" if ours else ""


def note(figure: str, text: str, values: Mapping[str, float] | None = None) -> Row:
    """A row that is only told."""
    return Row(figure, text, values=dict(values or {}))


def count_row(figure: str, counts: Mapping[str, int]) -> Row:
    """A row of counts of mistakes: ours must be none."""
    ours = counts.get(OURS)
    peers: Iterable[str] = (f"{name} {count}" for name, count in counts.items() if name != OURS)
    measured = "not measured" if ours is None else str(ours)
    return Row(figure, measured, "0", None if ours is None else ours == 0, ", ".join(peers), dict(counts))
