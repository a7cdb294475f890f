"""Do counters, word lists and hard patterns stay cheap? Each with random walks under its own masks."""

from __future__ import annotations

from array import array
from random import Random
from time import perf_counter_ns
from typing import Any

import formats
import numpy as np
from peers import OURS
from peers.interface import Bitmask, Engine, Format, Refused
from report import Row, span
from timing import quiet, samples, summarise

from rows.run import Run, compare

_SHORT, _LONG = 10, 10_000_000
_SAME = 1.25  # "cost the same", within what two equal runs differ by
_WORDS = 100_000
_LONGEST_WALK = 48


def measure(run: Run) -> list[Row]:
    """Bounded strings, choices, and the patterns of `formats.PATTERNS`."""
    rows = []
    if run.ours is not None:
        rows = [*_bounded(run, run.ours), _choices(run, run.ours)]
    return rows + [_pattern(run, *pattern) for pattern in formats.PATTERNS]


def _bounded(run: Run, engine: Engine) -> list[Row]:
    """The first mask and the steps of a short string, under a near bound and under a far one."""
    encode = run.vocabulary.encoding().encode_ordinary
    bitmask = engine.bitmask()
    first: dict[int, array[int]] = {_SHORT: samples(), _LONG: samples()}
    steps: dict[int, array[int]] = {_SHORT: samples(), _LONG: samples()}
    engine.fresh()
    with quiet():
        for tag in range(run.times(40)):
            for longest in (_SHORT, _LONG):
                source = formats.bounded_string(longest, tag)
                taken, _, matcher = engine.time_to_first_mask("regex", source, bitmask)
                first[longest].append(taken)
                for token in encode(f'{tag}"seven up"'):
                    start = perf_counter_ns()
                    matcher.fill(bitmask.handle, 0)
                    matcher.advance(token)
                    steps[longest].append(perf_counter_ns() - start)
    return [_same(f"TTFM p50, {{0,{_LONG}}} / {{0,{_SHORT}}}", first), _same("TBM p50, likewise", steps)]


def _same(figure: str, taken: dict[int, array[int]]) -> Row:
    short, long = (summarise(taken[longest]).p50 for longest in (_SHORT, _LONG))
    measured = f"{long / short:.2f} ({span(long)} / {span(short)})"
    return Row(figure, measured, f"<= {_SAME}", long / short <= _SAME, values={"short": short, "long": long})


def _choices(run: Run, engine: Engine) -> Row:
    """New words each time, so that nothing is known before."""
    out, bitmask = samples(), engine.bitmask()
    for number in range(3):
        words = formats.word_list(_WORDS, run.seed + number)
        engine.fresh()
        with quiet():
            taken, _, _ = engine.time_to_first_mask("choices", words, bitmask)
        out.append(taken)
    return compare(f"choices of {_WORDS:,} words, TTFM p50", {OURS: summarise(out).p50}, most=300e6)


def _pattern(run: Run, title: str, source: str, for_xgrammar: str) -> Row:
    """The 99th percentile of a step along random walks, the same seed for each engine."""
    values: dict[str, float] = {}
    for name, engine in run.engines.items():
        engine.fresh()
        try:
            form = engine.compile("regex", for_xgrammar if name == "xgrammar" else source)
        except Refused:
            continue
        values[name] = summarise(_walks(engine, form, Random(run.seed), run.times(1_000))).p99
    return compare(f"{title}  TBM p99", values, most=100_000)


def _walks(engine: Engine, form: Format, random: Random, count: int) -> array[int]:
    """At least `count` steps: fill, take any allowed token, advance; a new walk at EOS or after 48 tokens."""
    out, bitmask = samples(), engine.bitmask()
    with quiet():
        while len(out) < count:
            matcher = engine.matcher(form)
            for _ in range(_LONGEST_WALK):
                start = perf_counter_ns()
                matcher.fill(bitmask.handle, 0)
                filled = perf_counter_ns() - start
                token = _any_allowed(bitmask, engine.vocabulary.eos_id, random)
                if token is None:
                    break
                start = perf_counter_ns()
                matcher.advance(token)
                out.append(filled + perf_counter_ns() - start)
    return out


def _any_allowed(bitmask: Bitmask, eos_id: int, random: Random) -> Any:
    """A random allowed token other than EOS; None where there is none."""
    bits = np.unpackbits(bitmask.words[0].view(np.uint8), bitorder="little")
    bits[eos_id] = 0
    found = np.flatnonzero(bits)
    return int(found[random.randrange(len(found))]) if len(found) else None
