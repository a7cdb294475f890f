"""Hostile formats end in a result or a typed error, in bounded time and memory: never in a crash, a hang or
an overflow.

Each case of `data/limits/hostile.json` runs in a process of its own, so that what it does to the process is
seen. Time is the process's own, whatever else the machine does.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parent
CASES = json.loads((HERE.parent / "data" / "limits" / "hostile.json").read_text())
MOST_SECONDS = 2.0
MOST_MEGABYTES = 200.0
PATIENCE = 120
"""Seconds on the clock; one that computes and does not end is stopped by the system much earlier."""


def marked(case: dict[str, Any]) -> Any:
    fails = case.get("fails")
    return pytest.param(
        case, id=case["name"], marks=[pytest.mark.xfail(strict=True, reason=fails)] if fails else []
    )


@pytest.mark.parametrize("case", [marked(case) for case in CASES])
def test_hostile_formats_are_bounded(case: dict[str, Any]) -> None:
    run = subprocess.run(
        [sys.executable, str(HERE / "hostile_run.py"), case["name"]],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert run.returncode == 0, f"exit status {run.returncode}: {run.stderr[-2000:]}"
    answer = json.loads(run.stdout)
    assert answer["end"] == case["end"], answer
    assert answer["allowed"] == (case.get("allowed", {}) if answer["where"] != "compile" else {}), answer
    assert answer["seconds"] < MOST_SECONDS, answer
    assert answer["megabytes"] < MOST_MEGABYTES, answer
    if case["end"] == "result":
        assert answer["read"] == sum(
            len(piece.encode()) if isinstance(piece, str) else len(piece[0].encode()) * piece[1]
            for piece in case.get("text", "")
        ), answer


def test_names_are_unique() -> None:
    names = [case["name"] for case in CASES]
    assert len(set(names)) == len(names)
