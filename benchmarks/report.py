"""How are results shown and kept? Tables as text, and JSON with the date, the machine and every version."""

from __future__ import annotations

import json
import math
import os
import platform
import sys
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).resolve().parent / "results"
_PACKAGES = ("maskwright", "llguidance", "xgrammar", "torch", "numpy", "tiktoken", "llama-models", "lark")


@dataclass(frozen=True, slots=True)
class Row:
    """One figure against its bar. `passed` is None where there is no bar or our engine was not measured."""

    figure: str
    measured: str
    bar: str = ""
    passed: bool | None = None
    peers: str = ""
    values: dict[str, float] = field(default_factory=dict)


def table(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A table with columns as wide as their cells; the first column to the left, the others to the right."""
    cells = [list(header), *[[str(cell) for cell in row] for row in rows]]
    widths = [max(len(row[i]) for row in cells) for i in range(len(header))]
    lines = ["  ".join(_padded(row, widths)).rstrip() for row in cells]
    lines.insert(1, "  ".join("-" * width for width in widths))
    return "\n".join(lines)


def _padded(row: Sequence[str], widths: Sequence[int]) -> list[str]:
    return [
        cell.rjust(width) if i else cell.ljust(width)
        for i, (cell, width) in enumerate(zip(row, widths, strict=True))
    ]


def verdict(passed: bool | None) -> str:
    """The word for a verdict; nothing where there is none."""
    return {True: "pass", False: "FAIL", None: ""}[passed]


def figures(rows: Iterable[Row]) -> str:
    """The table of figures, bars and verdicts."""
    header = ("figure", "measured", "bar", "verdict", "peers")
    return table(
        header, [(row.figure, row.measured, row.bar, verdict(row.passed), row.peers) for row in rows]
    )


def span(nanoseconds: float) -> str:
    """A duration in the unit that reads best, with three digits."""
    for unit, size in (("s", 1e9), ("ms", 1e6), ("µs", 1e3)):
        if nanoseconds >= size:
            return (
                f"{nanoseconds / size:.3g} {unit}"
                if nanoseconds < size * 1e3
                else f"{nanoseconds / size:,.0f} {unit}"
            )
    return f"{nanoseconds:.0f} ns" if not math.isnan(nanoseconds) else "-"


def size(count: float) -> str:
    """A number of bytes, in MB of 10**6."""
    return f"{count / 1e6:.2f} MB"


def machine() -> dict[str, Any]:
    """What the run was made on: processor, cores, system, Python, packages, load."""
    return {
        "date": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "processor": _processor(),
        "cores": os.cpu_count(),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "packages": {name: found for name in _PACKAGES if (found := _version(name))},
        "load_average": [round(load, 2) for load in os.getloadavg()],
    }


def heading(program: str) -> str:
    """The lines above a table: machine, versions, and a warning where other work disturbs the figures."""
    facts = machine()
    packages = ", ".join(f"{name} {found}" for name, found in facts["packages"].items())
    lines = [
        f"{program}  {facts['date']}",
        f"{facts['processor']}, {facts['cores']} cores, {facts['system']}, Python {facts['python']}",
        packages,
        f"load average {facts['load_average']}",
    ]
    # A core must be free for the one thread that is measured.
    if facts["load_average"][0] > (facts["cores"] or 1) - 1:
        lines.append(
            "WARNING: the machine is busy; tails and thread counts are not to be trusted, ratios only roughly"
        )
    return "\n".join(lines)


def save(program: str, content: dict[str, Any], folder: Path = RESULTS) -> Path:
    """Write the results as `<program>-<date>.json`, with the machine; returns the file."""
    folder.mkdir(parents=True, exist_ok=True)
    facts = machine()
    path = folder / f"{program}-{facts['date'].replace(':', '')}.json"
    path.write_text(
        json.dumps({"program": program, "machine": facts, **content}, indent=1, ensure_ascii=False) + "\n"
    )
    return path


def rows_as_data(rows: Iterable[Row]) -> list[dict[str, Any]]:
    """The rows as plain data, for JSON."""
    return [asdict(row) for row in rows]


def progress(text: str) -> None:
    """One line on the error stream: what is being measured now."""
    print(text, file=sys.stderr, flush=True)


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()
