"""How do the engines fare on MaskBench? Exactness first, then time to first mask and time between masks.

    python benchmarks/maskbench.py DATA [--engines maskwright,llguidance] [--sample 50] [--order any|schema]

DATA is a gzipped file with a line for each schema: {"id", "schema", "tests": [{"valid", "data"}]}. Each
engine has one process for all schemas; a crash or a time-out costs that schema only. An instance is taken as
`json.dumps(data, ensure_ascii=False)`, then EOS.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import json
import multiprocessing
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import peers
from curves import tail_curves
from maskbench_worker import Answer, serve
from property_order import in_schema_order
from report import RESULTS, heading, progress, save, span, table
from timing import Summary, samples, summarise
from vocabulary import llama3

_START_SECONDS = 120
_ORDERED_OPTIONS: dict[str, dict[str, Any]] = {"schema": {}, "any": {"property_order": "any"}}
_BIG = 500_000_000  # bytes no schema may take
_SLOW = 2_000_000_000  # nanoseconds no schema may take to its first mask


@dataclass(frozen=True, slots=True)
class Task:
    """One schema with its instances as token ids, and what is expected of each."""

    name: str
    schema: str
    instances: list[list[int]]
    expected: list[bool]


class Worker:
    """One engine's process, started anew after a crash or a time-out."""

    def __init__(self, name: str, options: dict[str, Any], seconds: float) -> None:
        self.name, self._options, self._seconds = name, options, seconds
        self._start()

    def _start(self) -> None:
        context = multiprocessing.get_context("spawn")
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(target=serve, args=(theirs, self.name, self._options), daemon=True)
        self._process.start()
        theirs.close()
        if not self._pipe.poll(_START_SECONDS) or self._pipe.recv() != "ready":
            raise RuntimeError(f"{self.name} did not start")

    def ask(self, task: Task) -> Answer:
        """The engine's answer; "crash" or "timeout" where there was none."""
        try:
            self._pipe.send((task.schema, task.instances))
            if self._pipe.poll(self._seconds):
                found: Answer = self._pipe.recv()
                return found
            outcome = Answer("timeout", f"no answer in {self._seconds:g} s")
        except (EOFError, OSError) as error:
            self._process.join(5)
            outcome = Answer("crash", f"{type(error).__name__}, exit code {self._process.exitcode}")
        self.stop()
        self._start()
        return outcome

    def stop(self) -> None:
        """End this process, and wait for it."""
        self._pipe.close()
        self._process.kill()
        self._process.join()


@dataclass(slots=True)
class Tally:
    """What one engine did over all schemas; times by schema, so that two engines compare on the same ones."""

    counts: Counter[str] = field(default_factory=Counter)
    first_mask: dict[str, int] = field(default_factory=dict)
    steps: dict[str, Any] = field(default_factory=dict)
    failures: list[dict[str, str]] = field(default_factory=list)
    most_grown: tuple[int, str] = (0, "")

    def add(self, task: Task, answer: Answer) -> None:
        """Count one answer. A schema can accept wrongly and refuse wrongly at once."""
        if answer.grown > self.most_grown[0]:
            self.most_grown = (answer.grown, task.name)
        if answer.outcome != "ok":
            self._fail(task, answer.outcome, answer.reason)
            return
        self.first_mask[task.name] = answer.first_mask
        self.steps[task.name] = answer.steps
        pairs = list(zip(task.expected, answer.verdicts, strict=True))
        wrong = [i for i, (valid, accepted) in enumerate(pairs) if valid != accepted]
        if not wrong:
            self.counts["passing"] += 1
        for kind, valid in (("false accept", False), ("false reject", True)):
            if places := [i for i in wrong if pairs[i][0] is valid]:
                self._fail(task, kind, f"instances {places}")

    def _fail(self, task: Task, kind: str, reason: str) -> None:
        self.counts[kind] += 1
        self.failures.append({"schema": task.name, "kind": kind, "reason": reason[:400]})


def main(arguments: list[str] | None = None) -> int:
    """Run, print, write; 0 unless nothing could be measured."""
    options = _parser().parse_args(arguments)
    print(heading("maskbench"), flush=True)
    workers = {name: Worker(name, _options(name, options.order), options.timeout) for name in options.engines}
    tallies = {name: Tally() for name in workers}
    total = 0
    for total, task in enumerate(_tasks(options), start=1):
        names = list(workers)
        turn = total % len(names)
        for name in names[turn:] + names[:turn]:
            tallies[name].add(task, workers[name].ask(task))
        if total % 100 == 0:
            progress(f"{total} schemas")
    for worker in workers.values():
        worker.stop()
    print(f"{total} schemas, order {options.order}, sample 1 in {options.sample}")
    print(_report(tallies))
    if not options.no_save:
        _save(options, total, tallies)
    return 0 if total else 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("data", type=Path, help="the gzipped file of schemas")
    parser.add_argument("--engines", type=peers.names, default=list(peers.ADAPTERS), help="which, by commas")
    parser.add_argument("--sample", type=int, default=1, help="only schemas whose md5(id) mod SAMPLE is 0")
    parser.add_argument(
        "--order", choices=sorted(_ORDERED_OPTIONS), default="schema", help="of members, see the README"
    )
    parser.add_argument(
        "--timeout", type=float, default=60.0, help="seconds for one schema with its instances"
    )
    parser.add_argument("--limit", type=int, default=None, help="stop after so many schemas")
    parser.add_argument("--no-save", action="store_true", help="write no files of results")
    return parser


def _options(name: str, order: str) -> dict[str, Any]:
    """Only our engine knows the order as an option."""
    return _ORDERED_OPTIONS[order] if name == peers.OURS else {}


def _tasks(options: argparse.Namespace) -> Iterator[Task]:
    """The schemas of the sample; with `--order schema` without the valid instances that are out of order."""
    encode = llama3().encoding().encode_ordinary
    count = 0
    with gzip.open(options.data, "rt", encoding="utf-8") as lines:
        for line in lines:
            entry = json.loads(line)
            if not _sampled(entry["id"], options.sample):
                continue
            if options.limit is not None and count >= options.limit:
                return
            count += 1
            schema = entry["schema"]
            tests = [
                test
                for test in entry["tests"]
                if options.order == "any" or not test["valid"] or in_schema_order(schema, test["data"])
            ]
            texts = [json.dumps(test["data"], ensure_ascii=False) for test in tests]
            yield Task(
                entry["id"],
                json.dumps(schema, ensure_ascii=False),
                [encode(text) for text in texts],
                [test["valid"] for test in tests],
            )


def _sampled(name: str, every: int) -> bool:
    return int(hashlib.md5(name.encode(), usedforsecurity=False).hexdigest(), 16) % every == 0


def _report(tallies: dict[str, Tally]) -> str:
    parts = [_exactness(tallies)]
    for title, summaries in (
        ("TTFM", {name: summarise(tally.first_mask.values()) for name, tally in tallies.items()}),
        ("TBM", {name: summarise(_flat(tally)) for name, tally in tallies.items()}),
    ):
        parts.append(_times(f"{title}, all that it compiles", summaries))
    parts += [_pair(tallies, peer) for peer in tallies if peer != peers.OURS and peers.OURS in tallies]
    return "\n\n".join(parts)


def _exactness(tallies: dict[str, Tally]) -> str:
    kinds = ("passing", "refused", "false accept", "false reject", "error", "crash", "timeout")
    header = ("schemas", *kinds, "most memory", "over 2 s")
    rows = [
        (
            name,
            *(tally.counts[kind] for kind in kinds),
            f"{tally.most_grown[0] / 1e6:.0f} MB{' !' if tally.most_grown[0] > _BIG else ''}",
            sum(taken > _SLOW for taken in tally.first_mask.values()),
        )
        for name, tally in tallies.items()
    ]
    return table(header, rows)


def _times(title: str, summaries: dict[str, Summary]) -> str:
    header = (title, "count", "mean", "p50", "p90", "p99", "p99.9", "max")
    rows = [
        (name, s.count, *(span(value) for value in (s.mean, s.p50, s.p90, s.p99, s.p999, s.max)))
        for name, s in summaries.items()
    ]
    return table(header, rows)


def _pair(tallies: dict[str, Tally], peer: str) -> str:
    """Ours over the peer's, on the schemas that both compile."""
    ours, theirs = tallies[peers.OURS], tallies[peer]
    both = [name for name in ours.first_mask if name in theirs.first_mask]
    if not both:
        return f"no schema that both {peers.OURS} and {peer} compile"
    header = (f"{peers.OURS} / {peer}, {len(both)} schemas", "mean", "p50", "p90", "p99", "p99.9", "max")
    rows = []
    for title, values in (
        ("TTFM", [summarise(tally.first_mask[name] for name in both) for tally in (ours, theirs)]),
        ("TBM", [summarise(_flat(tally, both)) for tally in (ours, theirs)]),
    ):
        one, other = values
        fields = ("mean", "p50", "p90", "p99", "p999", "max")
        rows.append((title, *(f"{getattr(one, f) / getattr(other, f):.3f}" for f in fields)))
    return table(header, rows)


def _flat(tally: Tally, names: list[str] | None = None) -> Any:
    """The steps of these schemas (of all) in one row."""
    out = samples()
    for name in tally.steps if names is None else names:
        out.extend(tally.steps[name])
    return out


def _save(options: argparse.Namespace, total: int, tallies: dict[str, Tally]) -> None:
    content = {
        "data": options.data.name,
        "schemas": total,
        "sample": options.sample,
        "order": options.order,
        "engines": {
            name: {
                "counts": dict(tally.counts),
                "ttfm_ns": summarise(tally.first_mask.values()).to_dict(),
                "tbm_ns": summarise(_flat(tally)).to_dict(),
                "most_grown": tally.most_grown,
                "failures": tally.failures,
            }
            for name, tally in tallies.items()
        },
        "ratios": {
            peer: _pair(tallies, peer) for peer in tallies if peer != peers.OURS and peers.OURS in tallies
        },
    }
    path = save("maskbench", content)
    stem = path.stem
    firsts = {name: samples(tally.first_mask.values()) for name, tally in tallies.items()}
    steps = {name: _flat(tally) for name, tally in tallies.items()}
    (RESULTS / f"{stem}-ttfm.svg").write_text(tail_curves("Time to first mask, MaskBench", firsts))
    (RESULTS / f"{stem}-tbm.svg").write_text(tail_curves("Time between masks, MaskBench", steps))
    print(f"written: benchmarks/results/{stem}.json, -ttfm.svg, -tbm.svg")


if __name__ == "__main__":
    sys.exit(main())
