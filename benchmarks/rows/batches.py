"""What does a batch gain from a second thread? 256 requests, with cold masks and with known ones."""

from __future__ import annotations

from array import array
from collections.abc import Callable

import formats
import numpy as np
from numpy.typing import NDArray
from peers import OURS
from peers.interface import Bitmask, Engine, Matcher
from report import Row, span
from timing import quiet, samples, summarise, time_calls, time_once

from rows.run import Run, note

_ROWS = 256
_THREADS = (1, 2)
_GAIN = 1.7  # cold: at least so many times one thread
_OVER_COPY = 1.2  # hits: at most so many times a copy a row
_NOISE = 1.05  # "never slower than one thread", within what two equal runs differ by


def measure(run: Run) -> list[Row]:
    """Our rows with their bars; the peers' hit times for comparison."""
    rows = []
    for name, engine in run.engines.items():
        copies = _Copies(_ROWS, run.vocabulary.words)
        filled = _hits(run, name, engine, copies)
        if name == OURS:
            rows += [*_cold_rows(run, engine), *_hit_rows(filled, copies)]
        else:
            text = ", ".join(f"{threads}: {span(taken)}" for threads, taken in filled.items())
            rows.append(note(f"batch of {_ROWS} JSON requests, p50 by threads: {name}", text))
    return rows


class _Copies:
    """A copy a row, as a caller would write it: one NumPy call for each row. Equal rows have one source."""

    def __init__(self, rows: int, words: int) -> None:
        self.target = np.zeros((rows, words), dtype=np.uint32)
        self.sources: list[NDArray[np.uint32]] = []
        self.taken = samples()

    def take_sources(self, filled: NDArray[np.uint32]) -> None:
        unique: dict[bytes, NDArray[np.uint32]] = {}
        self.sources = [unique.setdefault(row.tobytes(), row.copy()) for row in filled]

    def __call__(self) -> None:
        for target, source in zip(self.target, self.sources, strict=True):
            np.copyto(target, source)


def _use_threads(engine: Engine, threads: int) -> None:
    """Only our engine fixes its threads where it is compiled."""
    if hasattr(engine, "threads"):
        engine.threads = threads
    engine.fresh()


def _hits(run: Run, name: str, engine: Engine, copies: _Copies) -> dict[int, float]:
    """The median batch by thread count, each mask asked for before; and the copies, in the same run."""
    fills: dict[int, Callable[[], object]] = {}
    for threads in _THREADS:
        _use_threads(engine, threads)
        form = engine.compile(*formats.JSON_FOR_ENGINE[name])
        bitmask = engine.bitmask(_ROWS)
        matchers = [_somewhere(run, engine.matcher(form), row) for row in range(_ROWS)]
        fills[threads] = engine.fill_batch(matchers, bitmask, threads)
        for _ in range(3):
            fills[threads]()
        copies.take_sources(bitmask.words)
    taken: dict[int, array[int]] = {threads: samples() for threads in _THREADS}
    with quiet():
        for _ in range(run.times(100)):
            for threads in _THREADS:
                time_calls(fills[threads], 1, taken[threads])
            time_calls(copies, 1, copies.taken)
    return {threads: summarise(values).p50 for threads, values in taken.items()}


def _somewhere(run: Run, matcher: Matcher, row: int) -> Matcher:
    """A request a part of the way along a text; rows differ in text and place."""
    text = run.texts[row % len(run.texts)]
    for token in text.tokens[: 1 + (row * 37) % (len(text.tokens) - 1)]:
        matcher.advance(token)
    return matcher


def _hit_rows(filled: dict[int, float], copies: _Copies) -> list[Row]:
    one, two = filled[1], filled[2]
    copy = summarise(copies.taken).p50
    values = {"one": one, "two": two, "copy": copy}
    over, slower = two / copy, two / one
    return [
        Row(
            f"batch of {_ROWS}, all hits, 2 threads / a copy a row",
            f"{over:.2f} ({span(two)} / {span(copy)})",
            f"<= {_OVER_COPY}",
            over <= _OVER_COPY,
            values=values,
        ),
        Row(
            f"batch of {_ROWS}, all hits, 2 threads / 1 thread",
            f"{slower:.2f} ({span(two)} / {span(one)})",
            f"<= {_NOISE}",
            slower <= _NOISE,
            values=values,
        ),
    ]


def _cold_rows(run: Run, engine: Engine) -> list[Row]:
    """First masks of 256 formats never seen; new ones each time, both thread counts on the same."""
    taken: dict[int, array[int]] = {threads: samples() for threads in _THREADS}
    differing = 0
    for number in range(run.times(10)):
        patterns = formats.cold_patterns(_ROWS, run.seed + number)
        filled = {}
        for threads in _THREADS if number % 2 else reversed(_THREADS):
            bitmask, fill = _cold_batch(engine, patterns, threads)
            with quiet():
                spent, errors = time_once(fill)
            if errors:
                raise RuntimeError(f"a row of the cold batch failed: {errors}")
            taken[threads].append(spent)
            filled[threads] = bitmask.words
        differing += not np.array_equal(filled[1], filled[2])
    one, two = (summarise(taken[threads]).p50 for threads in _THREADS)
    measured = f"{one / two:.2f}x ({span(one)} / {span(two)})"
    passed = one / two >= _GAIN and not differing
    figure = f"batch of {_ROWS}, cold masks, 1 thread / 2 threads"
    return [Row(figure, measured, f">= {_GAIN}x, equal masks", passed, values={"one": one, "two": two})]


def _cold_batch(engine: Engine, patterns: list[str], threads: int) -> tuple[Bitmask, Callable[[], object]]:
    _use_threads(engine, threads)
    warm = engine.compile("regex", "[a-z]+")
    # The pool of threads starts at the first batch: that is not what is measured here.
    engine.fill_batch([engine.matcher(warm) for _ in range(4)], engine.bitmask(4), threads)()
    bitmask = engine.bitmask(len(patterns))
    matchers = [engine.matcher(engine.compile("regex", pattern)) for pattern in patterns]
    return bitmask, engine.fill_batch(matchers, bitmask, threads)
