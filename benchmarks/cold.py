"""What does the first touch of a format cost? First mask, masks along new texts, and the same texts again.

python benchmarks/cold.py FORMATS [--engines maskwright,llguidance] [--only NAME,NAME] [--rounds 3]

FORMATS has a JSON object a line: {"name", "kind", "spec", "texts"}; kinds are json_schema, regex, gbnf, lark.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from time import perf_counter_ns
from typing import Any

import peers
from peers.interface import Engine, Refused
from report import Row, figures, heading, progress, save, span, table
from timing import quiet, summarise
from vocabulary import llama3

_FIRST = {"type": "object"}
"""All that an engine has compiled before the clock runs: a server has answered something."""
_COLD_BAR, _WARM_BAR, _TTFM_BAR = 1e6, 20e3, 5e6
_PEER_FROM = 0.3e6
"""From this cold maximum of the peer on, ours is held to half of it; below, the clock tells little."""


@dataclass(slots=True)
class Taken:
    """What one engine took for one format, in nanoseconds; or why it took nothing."""

    ttfm: float = 0.0
    cold: list[float] = field(default_factory=list)
    """The time of each mask the first time that the texts are walked, the first mask left out."""
    warm: list[float] = field(default_factory=list)
    """The same masks again, asked by a second request."""
    refused: str = ""

    @property
    def figures(self) -> tuple[float, float, float, float]:
        """TTFM, cold maximum, cold mean, warm maximum."""
        cold, warm = summarise(self.cold or [0]), summarise(self.warm or [0])
        return self.ttfm, cold.max, cold.mean, warm.max


@dataclass(frozen=True, slots=True)
class Case:
    """A format and texts of it."""

    name: str
    kind: str
    spec: Any
    texts: Sequence[str]

    @property
    def source(self) -> Any:
        """The format as the adapters take it."""
        return json.dumps(self.spec) if self.kind == "json_schema" else self.spec


def main(arguments: list[str] | None = None) -> int:
    """Print the table and the bars; 1 if a bar was missed, else 0."""
    options = _parser().parse_args(arguments)
    cases = _read(options.formats, options.only)
    print(heading("cold"), flush=True)
    vocabulary = llama3()
    encode = vocabulary.encoding().encode_ordinary
    tokens = {case.name: [encode(text) for text in case.texts] for case in cases}
    taken: dict[str, dict[str, Taken]] = {case.name: {} for case in cases}
    for round_ in range(options.rounds):
        for name in options.engines:
            progress(f"round {round_ + 1} of {options.rounds}: {name}")
            # A new engine each round: nothing that one round has made is there in the next.
            engine = peers.load(name, vocabulary)
            _compile(engine, Case("first", "json_schema", _FIRST, []))
            for case in cases:
                again = _measure(engine, case, tokens[case.name])
                taken[case.name][name] = _least(taken[case.name].get(name), again)
    rows = _bars(taken)
    print(_shown(taken))
    print(figures(rows))
    if not options.no_save:
        content = {name: {engine: asdict(one) for engine, one in of.items()} for name, of in taken.items()}
        print(f"written: benchmarks/results/{save('cold', {'formats': content}).name}")
    return int(any(row.passed is False for row in rows))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("formats", type=Path, help="a JSON object a line")
    parser.add_argument("--engines", type=peers.names, default=["maskwright", "llguidance"])
    parser.add_argument("--only", type=lambda text: text.split(","), help="names of formats, by commas")
    parser.add_argument("--rounds", type=int, default=3, help="the least of so many rounds is taken")
    parser.add_argument("--no-save", action="store_true", help="write no file of results")
    return parser


def _read(path: Path, only: Sequence[str] | None) -> list[Case]:
    lines = [json.loads(line) for line in path.read_text().splitlines() if line.strip()]
    cases = [Case(line["name"], line["kind"], line["spec"], line["texts"]) for line in lines]
    return [case for case in cases if only is None or case.name in only]


def _compile(engine: Engine, case: Case) -> Any:
    if case.kind not in engine.kinds:
        raise Refused(f"{engine.name} does not read {case.kind}")
    return engine.compile(case.kind, case.source)


def _measure(engine: Engine, case: Case, texts: Sequence[Sequence[int]]) -> Taken:
    """One format from nothing: its first mask, its texts, its texts again."""
    bitmask, taken = engine.bitmask(), Taken()
    try:
        with quiet():
            start = perf_counter_ns()
            form = _compile(engine, case)
            engine.matcher(form).fill(bitmask.handle, 0)
            taken.ttfm = perf_counter_ns() - start
            for times in (taken.cold, taken.warm):
                for tokens in texts:
                    times.extend(_walk(engine, form, tokens, bitmask))
    except Refused as refused:
        return Taken(refused=str(refused).splitlines()[0])
    except Exception as error:
        return Taken(refused=f"{type(error).__name__}: {str(error).splitlines()[0]}")
    return taken


def _walk(engine: Engine, form: Any, tokens: Sequence[int], bitmask: Any) -> list[float]:
    """The time of each mask along a text, its end included; each mask is checked to allow what comes."""
    matcher, times = engine.matcher(form), []
    for place, token in enumerate([*tokens, None]):
        start = perf_counter_ns()
        matcher.fill(bitmask.handle, 0)
        times.append(float(perf_counter_ns() - start))
        if token is not None:
            if not bitmask.allows(token):
                raise ValueError(f"token {place} of the text is not allowed")
            matcher.advance(token)
    return times


def _least(first: Taken | None, again: Taken) -> Taken:
    """Mask by mask the smaller time: what a time slice of another process added is in one round only."""
    if first is None or first.refused or again.refused:
        return again if first is None else first
    return Taken(
        min(first.ttfm, again.ttfm),
        [min(pair) for pair in zip(first.cold, again.cold, strict=True)],
        [min(pair) for pair in zip(first.warm, again.warm, strict=True)],
    )


def _shown(taken: dict[str, dict[str, Taken]]) -> str:
    lines: list[tuple[object, ...]] = []
    for name, engines in taken.items():
        for engine, one in engines.items():
            cells = [span(figure) for figure in one.figures] if not one.refused else [one.refused[:60]]
            lines.append((name, engine, *cells, *[""] * (4 - len(cells))))
    return table(("format", "engine", "TTFM", "cold max", "cold mean", "warm max"), lines)


def _bars(taken: dict[str, dict[str, Taken]]) -> list[Row]:
    """Ours against the bars, and against the peer where both compile."""
    ours = {name: engines[peers.OURS] for name, engines in taken.items() if peers.OURS in engines}
    if not ours:
        return []
    refused = [name for name, one in ours.items() if one.refused]
    rows = [Row("compiled", str(len(ours) - len(refused)), "all", not refused, ", ".join(refused))]
    measured = {name: one for name, one in ours.items() if not one.refused}
    for figure, place, bar in (
        ("cold max", 1, _COLD_BAR),
        ("warm max", 3, _WARM_BAR),
        ("TTFM", 0, _TTFM_BAR),
    ):
        over = [name for name, one in measured.items() if one.figures[place] > bar]
        rows.append(Row(f"{figure} over {span(bar)}", str(len(over)), "0", not over, ", ".join(over)))
    return rows + [row for peer in _peers(taken) for row in _beside(measured, taken, peer)]


def _peers(taken: dict[str, dict[str, Taken]]) -> list[str]:
    return sorted({name for engines in taken.values() for name in engines} - {peers.OURS})


def _beside(measured: dict[str, Taken], taken: dict[str, dict[str, Taken]], peer: str) -> list[Row]:
    """Ours beside one peer, on the formats that both compile."""
    theirs = {name: taken[name][peer] for name in measured if peer in taken[name]}
    both = {name: (measured[name].figures, one.figures) for name, one in theirs.items() if not one.refused}
    if not both:
        return []
    slower = [name for name, (a, b) in both.items() if b[1] > _PEER_FROM and a[1] > b[1] / 2]
    ratios = summarise(a[0] / b[0] for a, b in both.values())
    medians = summarise(a[0] for a, _ in both.values()).p50 / summarise(b[0] for _, b in both.values()).p50
    cold = summarise(a[1] / b[1] for a, b in both.values())
    return [
        Row(f"cold max over half of {peer}'s", str(len(slower)), "0", not slower, ", ".join(slower)),
        Row(f"TTFM p50 / {peer}'s", f"{medians:.2f}", "<= 0.5", medians <= 0.5),
        Row(f"TTFM / {peer}'s, median of ratios", f"{ratios.p50:.2f}"),
        Row(f"cold max / {peer}'s, median of ratios", f"{cold.p50:.2f}"),
    ]


if __name__ == "__main__":
    sys.exit(main())
