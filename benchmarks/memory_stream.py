"""Does memory stay bounded under a stream of different formats? Plots it, and fails if it does not.

    python benchmarks/memory_stream.py                       20,000 formats, Llama 3, 64 MB for formats
    python benchmarks/memory_stream.py --vocabulary bytes    without a real vocabulary

Each format is new: a pattern, a list of words, a grammar or a JSON Schema. Each is compiled, and a text of
it is begun, with a mask at every step; some come back later, and a few requests stay open all the time. Two
bounds are held: what the compiler says it keeps is at most `--cache-bytes` and the newest format; what the
system says the process has stops growing once the cache is full.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from html import escape
from pathlib import Path
from random import Random
from typing import Any

import maskwright as mw
from report import RESULTS, machine

STEPS = 40
"""Tokens of each text."""
OPEN_REQUESTS = 16
"""Requests that are kept open, and hold what they need of formats that the cache has let go."""
SAMPLES = 200
"""Places of the plot."""
GROWTH = 1 << 20
"""What the formats kept may have grown by since sizes were last asked: by texts that were begun since."""
SLACK = 1.25
"""How much more memory the second half of the stream may take than the first: allocators do not give all
back.
"""


@dataclass(frozen=True, slots=True)
class Sample:
    """After so many formats: bytes the process has beyond its beginning, bytes the cache says it keeps."""

    formats: int
    process: int
    cache: int


def formats(count: int, random: Random) -> Iterator[Callable[[mw.Compiler], Any]]:
    """Different formats of all kinds, each a function that compiles it."""
    makers = (_pattern, _words, _grammar, _schema)
    for number in range(count):
        yield makers[number % len(makers)](number, random)


def _pattern(number: int, random: Random) -> Callable[[mw.Compiler], Any]:
    low = random.randint(1, 9)
    pattern = (
        rf"id{number}: (?:[a-z]{{{low},{low + random.randint(1, 99)}}}|\d+\.\d{{2}})(?:, \w+){{0,{number}}}"
    )
    return lambda compiler: compiler.regex(pattern)


def _words(number: int, random: Random) -> Callable[[mw.Compiler], Any]:
    words = [f"word {number} {random.randrange(10**6)}" for _ in range(random.choice([3, 30, 1000]))]
    return lambda compiler: compiler.choices(words)


def _grammar(number: int, random: Random) -> Callable[[mw.Compiler], Any]:
    digits = f"{{1,{random.randint(1, 400)}}}"
    text = (
        f'root ::= "t{number}" list\n'
        'list ::= "(" (item ("," item)*)? ")"\n'
        f'item ::= list | [0-9]{digits} | "\\"" [^"\\\\]* "\\""\n'
    )
    return lambda compiler: compiler.grammar(text, "gbnf")


def _schema(number: int, random: Random) -> Callable[[mw.Compiler], Any]:
    kinds = [
        {"type": "string", "maxLength": random.randint(1, 5000)},
        {"type": "integer"},
        {"type": "array", "items": {"type": "number"}, "maxItems": random.randint(1, 50)},
        {"enum": [f"v{random.randrange(1000)}" for _ in range(20)]},
    ]
    properties = {f"p{number}_{i}": random.choice(kinds) for i in range(random.randint(1, 12))}
    schema = {"type": "object", "properties": properties, "required": list(properties)[::2]}
    return lambda compiler: compiler.json_schema(schema)


def begin_text(index: Any, bitmask: Any, random: Random) -> Any:
    """A request that has read some tokens, with a mask before each."""
    constraint = index.constraint()
    for _ in range(STEPS):
        constraint.fill_bitmask(bitmask, 0)
        allowed = constraint.mask().nonzero()[0]
        if not allowed.size:
            break
        constraint.advance(int(random.choice(allowed)))
    return constraint


def stream(compiler: mw.Compiler, cache_bytes: int, count: int, seed: int) -> list[Sample]:
    """Run it, and take samples."""
    random = Random(seed)
    bitmask = mw.allocate_bitmask(1, len(compiler.vocabulary.tokens))
    open_requests: list[Any] = [None] * OPEN_REQUESTS
    recent: list[Callable[[mw.Compiler], Any]] = []
    begin = resident()
    samples = []
    for number, build in enumerate(formats(count, random), 1):
        index = build(compiler)
        open_requests[random.randrange(OPEN_REQUESTS)] = begin_text(index, bitmask, random)
        recent = [*recent[-50:], build]
        if random.random() < 0.2:
            random.choice(recent)(compiler)
        if number % max(1, count // SAMPLES) == 0 or number == count:
            kept = compiler.stats()["bytes"]
            bound = cache_bytes + index.n_bytes + GROWTH
            assert kept <= bound, f"after {number} formats the cache keeps {kept:,} bytes, of {bound:,}"
            samples.append(Sample(number, resident() - begin, kept))
    return samples


def resident() -> int:
    """Bytes of memory that the process has now."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) * 1024
    raise RuntimeError("this system does not tell the memory of a process in /proc")


def judge(samples: Sequence[Sample]) -> str | None:
    """Why the stream is not bounded, or None."""
    half = len(samples) // 2
    first = max(sample.process for sample in samples[:half])
    second = max(sample.process for sample in samples[half:])
    if second > SLACK * first + (4 << 20):
        return f"the process had {first:,} bytes at most in the first half, {second:,} in the second"
    return None


# The plot

_WIDTH, _HEIGHT, _LEFT, _RIGHT, _TOP, _BOTTOM = 760, 400, 76, 20, 44, 48
_LINES = (("process", "#c8553d"), ("cache", "#0b6e4f"))


def plot(title: str, samples: Sequence[Sample], cache_bytes: int) -> str:
    """An SVG: memory over formats, with the bound of the cache as a dashed line."""
    top = 1.1 * max(cache_bytes, *(max(sample.process, sample.cache) for sample in samples))
    last = samples[-1].formats

    def point(formats_: int, size: float) -> str:
        x = _LEFT + (_WIDTH - _LEFT - _RIGHT) * formats_ / last
        return f"{x:.1f},{_HEIGHT - _BOTTOM - (_HEIGHT - _TOP - _BOTTOM) * size / top:.1f}"

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDTH}" height="{_HEIGHT}" '
        f'viewBox="0 0 {_WIDTH} {_HEIGHT}" font-family="sans-serif" font-size="12">',
        f'<rect width="{_WIDTH}" height="{_HEIGHT}" fill="#fff"/>',
        f'<text x="{_LEFT}" y="26" font-size="15">{escape(title)}</text>',
        f'<path d="M{point(0, cache_bytes)}L{point(last, cache_bytes)}" '
        'stroke="#777" stroke-dasharray="6 4"/>',
    ]
    for step in range(5):
        x, y = point(0, top * step / 5).split(",")
        parts.append(
            f'<text x="{float(x) - 8}" y="{y}" text-anchor="end">{top * step / 5 / 1e6:.0f} MB</text>'
        )
        x, y = point(last * (step + 1) // 5, 0).split(",")
        parts.append(f'<text x="{x}" y="{float(y) + 20}" text-anchor="end">{last * (step + 1) // 5:,}</text>')
    for row, (name, colour) in enumerate(_LINES):
        points = " ".join(point(sample.formats, getattr(sample, name)) for sample in samples)
        parts.append(f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2"/>')
        parts.append(f'<text x="{_LEFT + 10}" y="{_TOP + 14 + 16 * row}" fill="{colour}">{name}</text>')
    return "\n".join([*parts, "</svg>", ""])


def load_vocabulary(name: str) -> mw.Vocabulary:
    """Llama 3, or all bytes and the end."""
    if name == "bytes":
        return mw.Vocabulary.from_tokens([*(bytes([byte]) for byte in range(256)), None], eos_id=256)
    from vocabulary import llama3  # noqa: PLC0415 - needs a package that carries the file

    llama = llama3()
    return mw.Vocabulary.from_tokens(llama.tokens, eos_id=llama.eos_id, special=llama.special)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--formats", type=int, default=20_000)
    parser.add_argument("--cache-bytes", type=int, default=64 << 20)
    parser.add_argument("--vocabulary", choices=("llama3", "bytes"), default="llama3")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--no-save", action="store_true", help="write no files")
    options = parser.parse_args(arguments)
    compiler = mw.Compiler(load_vocabulary(options.vocabulary), cache_bytes=options.cache_bytes)
    begin = time.perf_counter()
    samples = stream(compiler, options.cache_bytes, options.formats, options.seed)
    seconds = time.perf_counter() - begin
    report(compiler, options, samples, seconds)
    if not options.no_save:
        save(options, samples)
    fault = judge(samples)
    print(f"FAIL: {fault}" if fault else "pass: memory is bounded")
    return 1 if fault else 0


def report(
    compiler: mw.Compiler, options: argparse.Namespace, samples: Sequence[Sample], seconds: float
) -> None:
    stats = compiler.stats()
    kept, highest = (max(getattr(sample, name) for sample in samples) for name in ("cache", "process"))
    print(f"{options.formats:,} formats in {seconds:.1f} s, {stats['evicted']:,} let go")
    print(f"cache    at most {kept / 1e6:.1f} MB of {options.cache_bytes / 1e6:.1f}")
    print(f"process  {highest / 1e6:.1f} MB more than at first, {samples[-1].process / 1e6:.1f} at last")


def save(options: argparse.Namespace, samples: Sequence[Sample]) -> None:
    """The samples as JSON and the plot, under the day's name."""
    RESULTS.mkdir(exist_ok=True)
    stem = RESULTS / f"{datetime.now(UTC):%Y-%m-%d}-memory-stream"
    title = f"Memory under {options.formats:,} different formats ({options.vocabulary})"
    stem.with_suffix(".svg").write_text(plot(title, samples, options.cache_bytes))
    rows = [[sample.formats, sample.process, sample.cache] for sample in samples]
    content = {"program": "memory_stream", "options": vars(options), "machine": machine(), "samples": rows}
    stem.with_suffix(".json").write_text(json.dumps(content) + "\n")


if __name__ == "__main__":
    sys.exit(main())
