"""What does the JSON Schema front end cost alone? Time a schema and a node of it, and the slowest schemas.

    python benchmarks/front_end.py DATA [--sample 20] [--rounds 3]

DATA is MaskBench, as for `maskbench.py`. Front end: from the JSON text to the grammar, without the engine.
A node is an object within the schema's text, so that `properties` counts one more. Each schema counts with
the best of its rounds.
"""

from __future__ import annotations

import argparse
import gzip
import json
from contextlib import suppress
from pathlib import Path
from time import process_time_ns
from typing import Any

from maskwright import MaskwrightError
from maskwright.json_schema import Options, SchemaCompile
from report import heading, progress, span, table
from timing import quiet, summarise

_SHOWN = 5


def main(arguments: list[str] | None = None) -> int:
    """Run and print; 0 unless there was no schema."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("data", type=Path, help="the gzipped file of schemas")
    parser.add_argument("--sample", type=int, default=20, help="every SAMPLEth line")
    parser.add_argument("--rounds", type=int, default=3, help="how often each schema is compiled")
    options = parser.parse_args(arguments)
    print(heading("front end"), flush=True)
    taken = _taken(options)
    summary = summarise(nanoseconds for nanoseconds, _, _ in taken)
    node = summarise(nanoseconds // nodes for nanoseconds, nodes, _ in taken)
    header = ("front end", "count", "mean", "p50", "p90", "p99", "max")
    print(table(header, [_row("a schema", summary), _row("a node", node)]))
    for nanoseconds, nodes, name in sorted(taken, reverse=True)[:_SHOWN]:
        print(f"slowest: {span(nanoseconds)}, {nodes} nodes  {name}")
    return 0 if taken else 1


def _row(name: str, summary: Any) -> tuple[object, ...]:
    values = (summary.mean, summary.p50, summary.p90, summary.p99, summary.max)
    return (name, summary.count, *map(span, values))


def _taken(options: argparse.Namespace) -> list[tuple[int, int, str]]:
    """For each schema its best time in nanoseconds of this process, its nodes and its name."""
    found = []
    with gzip.open(options.data, "rt", encoding="utf-8") as lines, quiet():
        for number, line in enumerate(lines):
            if number % options.sample:
                continue
            entry = json.loads(line)
            text = json.dumps(entry["schema"], ensure_ascii=False)
            best = min(_once(text) for _ in range(options.rounds))
            found.append((best, max(1, _nodes(entry["schema"])), entry["id"]))
            if len(found) % 100 == 0:
                progress(f"{len(found)} schemas")
    return found


def _once(text: str) -> int:
    begin = process_time_ns()
    with suppress(MaskwrightError):  # a refusal takes its time too
        _ = SchemaCompile(text, Options()).grammar
    return process_time_ns() - begin


def _nodes(schema: Any) -> int:
    """How many objects there are within a value."""
    count, waiting = 0, [schema]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            count += 1
            waiting.extend(value.values())
        elif isinstance(value, list):
            waiting.extend(value)
    return count


if __name__ == "__main__":
    raise SystemExit(main())
