"""How is time taken? Loops around `perf_counter_ns`, and the whole tail of what they saw.

Samples are raw: the cost of the timer itself (40 to 70 ns) is inside each, and told by `timer_cost`.
"""

from __future__ import annotations

import gc
import math
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from time import perf_counter_ns
from typing import Any


def samples(values: Iterable[int] = ()) -> array[int]:
    """An empty (or filled) row of nanoseconds."""
    return array("q", values)


@dataclass(frozen=True, slots=True)
class Summary:
    """One set of samples: how many, and in nanoseconds mean, percentiles and maximum."""

    count: int
    mean: float
    p50: float
    p90: float
    p99: float
    p999: float
    max: float

    def to_dict(self) -> dict[str, float]:
        """As plain numbers, for JSON."""
        return asdict(self)


def percentile(ordered: Sequence[float], share: float) -> float:
    """The smallest sample that at least `share` of the (sorted) samples do not exceed: the nearest rank."""
    if not ordered:
        return math.nan
    # 1e-9: so that 0.999 of 1,000 samples is rank 999 whatever the binary fraction says.
    rank = max(1, math.ceil(share * len(ordered) - 1e-9))
    return float(ordered[rank - 1])


def summarise(values: Iterable[float]) -> Summary:
    """Mean, the percentiles that this project reports, and the maximum."""
    ordered = sorted(values)
    mean = sum(ordered) / len(ordered) if ordered else math.nan
    p50, p90, p99, p999 = (percentile(ordered, share) for share in (0.5, 0.9, 0.99, 0.999))
    return Summary(len(ordered), mean, p50, p90, p99, p999, percentile(ordered, 1.0))


@contextmanager
def quiet() -> Iterator[None]:
    """No garbage collection inside: a collection in the middle of a step costs milliseconds."""
    was_enabled = gc.isenabled()
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def timer_cost(count: int = 20_000) -> float:
    """The median distance, in nanoseconds, between two readings of the clock with nothing between them."""
    out = samples()
    for _ in range(count):
        start = perf_counter_ns()
        out.append(perf_counter_ns() - start)
    return summarise(out).p50


def time_steps(
    fill: Callable[[Any, int], object],
    advance: Callable[[int], object],
    bitmask: object,
    tokens: Sequence[int],
    out: array[int],
) -> None:
    """Append the nanoseconds of one step (fill the bitmask, advance) for each token of a text."""
    clock = perf_counter_ns
    keep = out.append
    for token in tokens:
        start = clock()
        fill(bitmask, 0)
        advance(token)
        keep(clock() - start)


def time_calls(function: Callable[[], object], count: int, out: array[int]) -> None:
    """Append the nanoseconds of `count` calls, one by one. What a call returns is freed untimed."""
    clock = perf_counter_ns
    for _ in range(count):
        start = clock()
        result = function()
        out.append(clock() - start)
        del result


def time_once(function: Callable[[], Any]) -> tuple[int, Any]:
    """The nanoseconds of one call, and what it returned."""
    start = perf_counter_ns()
    result = function()
    return perf_counter_ns() - start, result
