"""What does it cost to begin and to go back? First mask, a new request, rollback and fork."""

from __future__ import annotations

from typing import Any

import formats
from peers import OURS
from peers.interface import Engine, Format
from report import Row
from timing import quiet, samples, summarise, time_calls, time_once

from rows.run import Run, compare

_BACK = 8  # tokens a rollback takes back
_EVERY = 16  # tokens between two places where rollback and fork are timed


def measure(run: Run) -> list[Row]:
    """TTFM by notation, then what a compiled format costs per request."""
    rows = [_first_mask(run, kind, source, bar) for kind, source, bar in _notations(run)]
    forms = run.json_formats()
    start, rollback, fork = {}, {}, {}
    with quiet():
        for name, engine in run.engines.items():
            start[name] = _starts(forms[name], run.times(2_000))
            rollback[name], fork[name] = _moves(run, engine, forms[name])
    return [
        *rows,
        compare("new constraint p50", start, most=5_000),
        compare(f"rollback of {_BACK} tokens p50", rollback, most=2_000),
        compare("fork p50", fork, most=2_000),
    ]


def _notations(run: Run) -> list[tuple[str, Any, float | None]]:
    """Our notations and their bars. The Lark loader alone takes milliseconds, so it has none."""
    ours: list[tuple[str, Any, float | None]] = [("gbnf", formats.JSON_GBNF, 1e6)]
    if run.ours is not None:
        ours.append(("ir", formats.json_ir(), 1e6))
    return [*ours, ("lark", formats.JSON_LARK, None)]


def _first_mask(run: Run, kind: str, source: Any, bar: float | None) -> Row:
    """The median over fresh compilers; the peers always with the notation that serves them best."""
    out = {name: samples() for name in run.engines}
    masks = {name: engine.bitmask() for name, engine in run.engines.items()}
    with quiet():
        for number in range(run.times(20)):
            for name in run.rotated(number):
                engine = run.engines[name]
                engine.fresh()
                notation, text = (kind, source) if name == OURS else formats.JSON_FOR_ENGINE[name]
                taken, _, _ = engine.time_to_first_mask(notation, text, masks[name])
                out[name].append(taken)
    values = {name: summarise(taken).p50 for name, taken in out.items()}
    return compare(f"TTFM, JSON grammar from {kind} p50", values, most=bar)


def _starts(form: Format, count: int) -> float:
    out = samples()
    time_calls(form.start, count, out)
    return summarise(out).p50


def _moves(run: Run, engine: Engine, form: Format) -> tuple[float, float]:
    """Medians of a rollback and a fork, taken all along some texts."""
    back, forks = samples(), samples()
    for text in run.texts[: run.times(40)]:
        matcher = engine.matcher(form)
        for number, token in enumerate(text.tokens, start=1):
            matcher.advance(token)
            if number % _EVERY == 0:
                time_calls(matcher.fork, 1, forks)
                taken, _ = time_once(lambda: matcher.rollback(_BACK))  # noqa: B023 - called at once
                back.append(taken)
                for again in text.tokens[number - _BACK : number]:
                    matcher.advance(again)
    return summarise(back).p50, summarise(forks).p50
