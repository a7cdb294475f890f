"""How fast is the native kernel? Building the trie, walking it from a DFA state, copying out a bitmask.

    python benchmarks/kernel.py           a table with the bars; exit code 1 if one is missed
    python benchmarks/kernel.py --json    the same, and a dated file in benchmarks/results/

One core, one process. A bar holds for the median of its row; the tail is shown beside it. A walk computes the
bitmask afresh (nothing is kept), and includes the call from Python and the copy into the bitmask.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date
from pathlib import Path

import numpy as np
from maskwright import _native
from maskwright.kernel import build_masks, build_trie
from maskwright.reference import DFA, regex_to_dfa
from timing import Summary, quiet, samples, summarise, time_calls, timer_cost
from vocabulary import llama3

RESULTS = Path(__file__).parent / "results"
OBJECT = r'\{"a":1\}'
STRING = (
    r'"(?:[ !#-\[\]-~]|[\xc2-\xdf][\x80-\xbf]|\xe0[\xa0-\xbf][\x80-\xbf]|[\xe1-\xec\xee\xef][\x80-\xbf]{2}'
    r"|\xed[\x80-\x9f][\x80-\xbf]|\xf0[\x90-\xbf][\x80-\xbf]{2}|[\xf1-\xf3][\x80-\xbf]{3}"
    r'|\xf4[\x80-\x8f][\x80-\xbf]{2}|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"'
)
WALK_ALL_US, WALK_FEW_US, BUILD_MS, COPY_TIMES = 2500.0, 15.0, 150.0, 3.0


@dataclass(frozen=True, slots=True)
class Row:
    """One measurement and what it must not exceed, in microseconds; `bar` is None where there is none."""

    name: str
    summary: Summary
    bar: float | None

    @property
    def ratio(self) -> float | None:
        """The median as a share of the bar."""
        return None if self.bar is None else self.summary.p50 / 1e3 / self.bar

    def to_dict(self) -> dict[str, object]:
        """As plain values, for JSON."""
        return {"name": self.name, "bar_us": self.bar, "ratio": self.ratio, "ns": self.summary.to_dict()}


def measure(function: Callable[[], object], count: int) -> Summary:
    """Time `count` calls, after a tenth as many that are not timed."""
    out = samples()
    with quiet():
        time_calls(function, count // 10 + 1, samples())
        time_calls(function, count, out)
    return summarise(out)


def rows() -> Iterator[Row]:
    """Take all measurements, one after the other."""
    vocabulary = llama3()
    tokens = vocabulary.tokens
    yield Row("build the trie", measure(lambda: build_trie(tokens), 40), BUILD_MS * 1e3)

    trie = build_trie(tokens)
    bitmask = np.zeros((2, vocabulary.words), np.int32)

    def walks(dfa: DFA, state: int, count: int) -> Summary:
        masks = build_masks(trie, dfa.trans, dfa.accept, vocabulary.eos_id)
        return measure(lambda: masks.walk_bitmask(state, bitmask, 0), count)

    string = regex_to_dfa(STRING)
    yield Row("walk: inside a JSON string", walks(string, string.step(0, b'"'), 1000), WALK_ALL_US)
    few = regex_to_dfa(OBJECT)
    for state in range(few.n_states):
        yield Row(f"walk: {OBJECT} state {state}", walks(few, state, 5000), WALK_FEW_US)

    masks = build_masks(trie, string.trans, string.accept, vocabulary.eos_id)
    source = bitmask[0].copy()
    copied = measure(lambda: np.copyto(bitmask[1], source), 50_000)
    yield Row("NumPy: copy 16 KB", copied, None)
    filled = measure(lambda: masks.fill_bitmask(1, bitmask, 1), 50_000)
    yield Row("copy out a finished bitmask", filled, COPY_TIMES * copied.p50 / 1e3)


def draw(table: list[Row]) -> str:
    """The table as text, in microseconds."""
    columns = ("p50", "p90", "p99", "p99.9", "max", "bar", "p50/bar")
    lines = [f"{'microseconds':<30}" + "".join(f"{name:>10}" for name in columns)]
    for row in table:
        s = row.summary
        numbers = "".join(f"{ns / 1e3:>10.2f}" for ns in (s.p50, s.p90, s.p99, s.p999, s.max))
        bar = f"{'-':>10}{'-':>10}" if row.bar is None else f"{row.bar:>10.2f}{row.ratio:>10.3f}"
        lines.append(f"{row.name:<30}{numbers}{bar}")
    return "\n".join(lines)


def processor() -> str:
    """The processor's name where the system tells it, else its architecture."""
    file = Path("/proc/cpuinfo")
    lines = file.read_text().splitlines() if file.exists() else []
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


def record(table: list[Row]) -> Path:
    """Write a dated result file."""
    result = {
        "question": "kernel",
        "date": date.today().isoformat(),
        "machine": {"processor": processor(), "cores": os.cpu_count(), "system": platform.system()},
        "versions": {
            "python": platform.python_version(),
            "numpy": np.__version__,
            "native": _native.__version__,
        },
        "timer_ns": timer_cost(),
        "rows": [row.to_dict() for row in table],
    }
    path = RESULTS / f"{result['date']}-kernel.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(result, indent=1) + "\n")
    return path


def main() -> int:
    """Measure, print, record if asked; 1 if a bar is missed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--json", action="store_true", help="write benchmarks/results/<date>-kernel.json")
    arguments = parser.parse_args()
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    table = list(rows())
    print(draw(table))
    if arguments.json:
        print(f"written: benchmarks/results/{record(table).name}")
    missed = [row.name for row in table if row.ratio is not None and row.ratio > 1]
    print("missed: " + ", ".join(missed) if missed else "all bars held")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
