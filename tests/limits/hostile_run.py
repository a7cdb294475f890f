"""What does one hostile case cost? Runs it in this process, under a ceiling on memory, and prints the
answer as JSON.

    python hostile_run.py NAME

The answer: `end` ("result", or the code of the error), `where` it came ("compile", "walk"),
`compile_seconds`, `step_seconds` (the slowest mask or advance), `seconds` in all, each of this process's
own time, `megabytes` above what the vocabulary and the text take, `read` bytes of the text, and `allowed`,
the answers of the case's probes.
"""

from __future__ import annotations

import json
import resource
import sys
import time
from pathlib import Path
from typing import Any

from hostile_formats import MAKERS
from maskwright import Compiler, Limits, Vocabulary, allocate_bitmask
from maskwright.errors import MaskwrightError
from peak import peak_bytes

CASES = Path(__file__).parent.parent / "data" / "limits" / "hostile.json"
CEILING = 1 << 30
"""Address space beyond what the process has when the case begins."""
MOST_SECONDS = 5
"""Time of its own after which the system ends this process, however busy the machine is."""
SPOTS = 64
"""Masks are made at so many places along a text, and at so many random steps after it."""

Piece = str | list[Any]


def spelled(pieces: Piece | list[Piece]) -> str:
    """Text of a case: a string, or pieces, each a string or [string, how many times]."""
    if isinstance(pieces, str):
        return pieces
    return "".join(piece if isinstance(piece, str) else piece[0] * piece[1] for piece in pieces)


def build(case: dict[str, Any], compiler: Compiler) -> Any:
    """The index of the case."""
    kind, what = case["format"]
    if kind == "made":
        return compiler.ir(MAKERS[what](case["size"]))
    if kind == "words":
        return compiler.choices([spelled([*what, str(number)]) for number in range(case["size"])])
    text = spelled(what)
    if kind in ("lark", "gbnf"):
        return compiler.grammar(text, kind)
    return compiler.regex(text, kind)


def walk(case: dict[str, Any], index: Any, answer: dict[str, Any]) -> None:
    """Read the text byte by byte with masks now and then, ask the probes, and go on along allowed tokens."""
    text = spelled(case.get("text", "")).encode()
    constraint = index.constraint()
    row = allocate_bitmask(1, constraint.vocab_size)
    every = max(1, len(text) // case.get("masks", SPOTS))
    for place, byte in enumerate(text):
        begin = time.process_time()
        if place % every == 0 or place + 8 > len(text):
            constraint.fill_bitmask(row, 0)
        constraint.advance(byte)
        answer["step_seconds"] = max(answer["step_seconds"], time.process_time() - begin)
        answer["read"] = place + 1
    answer["complete"] = constraint.is_complete()
    for token in case.get("allowed", {}):
        answer["allowed"][token] = constraint.count_allowed(list(token.encode())) == len(token.encode())
    for step in range(SPOTS):
        begin = time.process_time()
        allowed = constraint.mask().nonzero()[0]
        assert allowed.size or constraint.done, f"stranded after {step} more steps"
        if constraint.done:
            return
        constraint.advance(int(allowed[(step * 7) % allowed.size]))
        answer["step_seconds"] = max(answer["step_seconds"], time.process_time() - begin)


def vocabulary_of(case: dict[str, Any]) -> Vocabulary:
    """All bytes, some pairs, what the case adds, and the end."""
    pairs = [
        b"aa",
        b"ab",
        b'":',
        b'",',
        b"}]",
        b"]}",
        b"}}",
        b"]]",
        b"12",
        b"((",
        b"))",
        b"a" * 16,
        b"[" * 16,
    ]
    extra = [spelled(pieces).encode() for pieces in case.get("tokens", [])]
    tokens = [*(bytes([byte]) for byte in range(256)), *pairs, *extra, None]
    return Vocabulary.from_tokens(tokens, eos_id=len(tokens) - 1)


def held() -> tuple[int, int]:
    """Address space and resident memory of this process, in bytes."""
    pages = [int(number) for number in Path("/proc/self/statm").read_text().split()[:2]]
    return pages[0] * resource.getpagesize(), pages[1] * resource.getpagesize()


def main(name: str) -> None:
    case = next(case for case in json.loads(CASES.read_text()) if case["name"] == name)
    answer: dict[str, Any] = {"end": "result", "where": None, "read": 0, "step_seconds": 0.0, "allowed": {}}
    compiler = Compiler(vocabulary_of(case), limits=Limits(**case.get("limits", {})))
    space, resident = held()
    resource.setrlimit(resource.RLIMIT_AS, (space + CEILING, resource.RLIM_INFINITY))
    resource.setrlimit(resource.RLIMIT_CPU, (MOST_SECONDS, MOST_SECONDS))
    begin = time.process_time()
    try:
        answer["where"] = "compile"
        index = build(case, compiler)
        answer["compile_seconds"] = time.process_time() - begin
        answer["where"] = "walk"
        walk(case, index, answer)
        answer["where"] = None
        answer["index_bytes"] = index.n_bytes
    except MaskwrightError as error:
        answer["end"] = error.code
        answer["said"] = str(error)[:300]
    answer["seconds"] = time.process_time() - begin
    peak = peak_bytes()
    answer["megabytes"] = max(0, peak - resident) / 1e6
    print(json.dumps(answer))


if __name__ == "__main__":
    main(sys.argv[1])
