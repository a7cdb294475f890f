"""Caches keep to their sizes under a stream of different formats, and what was let go is still there for
those who use it.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from maskwright import Compiler, Limits, Vocabulary

PROGRAM = Path(__file__).resolve().parents[2] / "benchmarks" / "memory_stream.py"
TOKENS = [*(bytes([byte]) for byte in range(256)), b'":', b'",', b"}]", b"ab", b"aa", None]
JSON = r"""
root ::= v
v ::= "[" (v ("," v)*)? "]" | "{" (s ":" v ("," s ":" v)*)? "}" | s | [0-9]+
s ::= "\"" [^"]{0,50} "\""
"""
SUBSETS = "[ab]*a[ab]{12}c"
CACHES = [1, 1 << 10, 1 << 16, 64 << 20]


def test_a_stream_of_formats_is_bounded() -> None:
    _stream("--formats", "1500", "--cache-bytes", str(4 << 20))


@pytest.mark.long
def test_a_long_stream_of_formats_is_bounded() -> None:
    _stream("--formats", "20000", "--cache-bytes", str(32 << 20))


def _stream(*options: str) -> None:
    arguments = [sys.executable, str(PROGRAM), "--vocabulary", "bytes", "--no-save", *options]
    run = subprocess.run(arguments, capture_output=True, text=True, timeout=900, check=False)
    assert run.returncode == 0, run.stdout + run.stderr


def test_the_judge_sees_a_leak() -> None:
    """The program's own verdict must be able to fail."""
    sys.path.insert(0, str(PROGRAM.parent))
    try:
        import memory_stream  # noqa: PLC0415 - a script, not a module of the tests
    finally:
        sys.path.remove(str(PROGRAM.parent))
    level = [memory_stream.Sample(n, 50 << 20, 1) for n in range(1, 101)]
    leak = [memory_stream.Sample(n, n << 20, 1) for n in range(1, 101)]
    assert memory_stream.judge(level) is None
    assert memory_stream.judge(leak) is not None


@pytest.mark.parametrize("cache_bytes", CACHES)
@pytest.mark.parametrize("kind", ["json", "subsets"])
def test_walks_survive_the_flushes_of_others(kind: str, cache_bytes: int) -> None:
    """A fork at every step and a rollback at last find each mask again, whatever others flushed meanwhile."""
    compiler = Compiler(
        Vocabulary.from_tokens(TOKENS, eos_id=len(TOKENS) - 1), limits=Limits(cache_bytes=cache_bytes)
    )
    index = compiler.grammar(JSON, "gbnf") if kind == "json" else compiler.regex(SUBSETS)
    random = Random(kind)
    walk = index.constraint()
    masks, forks = [], []
    for _ in range(60):
        masks.append(walk.mask())
        forks.append(walk.fork())
        walk.advance(_any_token(walk, random))
        if walk.done:
            walk.rollback(1)
            masks.pop()
            forks.pop()
        _traffic(index, random)
    for fork, mask in zip(forks, masks, strict=True):
        assert (fork.mask() == mask).all()
    for mask in reversed(masks):
        walk.rollback(1)
        assert (walk.mask() == mask).all()
        _traffic(index, random)


def _traffic(index: Any, random: Random) -> None:
    """Another request, somewhere else."""
    other = index.constraint()
    for _ in range(12):
        other.advance(_any_token(other, random))
        if other.done:
            return


def _any_token(constraint: Any, random: Random) -> int:
    return int(random.choice(np.flatnonzero(constraint.mask())))
