"""How much memory did this process hold at most? In bytes, since it began to run its own program.

`getrusage` counts what its parent held before the program began as well: 500 MB, if that ran many tests.
"""

from __future__ import annotations

import resource
from pathlib import Path

STATUS = Path("/proc/self/status")


def peak_bytes() -> int:
    """The highest resident size; by `getrusage` where the system has no better answer."""
    if STATUS.exists():
        for line in STATUS.read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
