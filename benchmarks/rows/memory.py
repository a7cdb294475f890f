"""What does an index hold, and when is a vocabulary ready? Each asked of a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from peers import OURS
from report import Row, size

from rows.run import Run, compare, note

_HERE = Path(__file__).resolve().parent
_MB = 1_000_000
_PROBE_SECONDS = 120


def measure(run: Run) -> list[Row]:
    """The engine's own account next to what the process grew by."""
    found = {name: probe(name) for name in run.engines}
    run.data["probes"] = found
    rows = [
        compare("index after 2,000 tokens, its own account", _of(found, "index"), most=5 * _MB, show=size),
        compare("the same, growth of the process for each of 8", _of(found, "grown"), show=size),
        compare("shared by a vocabulary, its own account", _of(found, "shared"), most=64 * _MB, show=size),
        compare("vocabulary ready, cold", _of(found, "ready_ns"), most=1.5e9),
    ]
    if OURS in found:
        cached = {OURS: found[OURS]["ready_cached_ns"]} if "ready_cached_ns" in found[OURS] else {}
        missing = note("vocabulary ready, from its on-disk cache", "no on-disk cache found")
        rows.append(
            compare("vocabulary ready, from its on-disk cache", cached, most=50e6) if cached else missing
        )
    return rows


def probe(name: str) -> dict[str, float]:
    """What `rows.memory_probe` says about one engine."""
    command = [sys.executable, "-m", "rows.memory_probe", name]
    done = subprocess.run(
        command, cwd=_HERE.parent, capture_output=True, text=True, timeout=_PROBE_SECONDS, check=False
    )
    if done.returncode:
        raise RuntimeError(f"the probe of {name} ended with {done.returncode}: {done.stderr[-2000:]}")
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def _of(found: dict[str, dict[str, float]], key: str) -> dict[str, float]:
    return {name: values[key] for name, values in found.items() if key in values}
