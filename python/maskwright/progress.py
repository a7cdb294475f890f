"""How far has long work come? A bar on a terminal's standard error, nothing on a pipe.

Own code, not a library: all that is needed is one line with a count and the time left. The usual library
would be a second run-time dependency for everyone who only imports `maskwright` in a server.
"""

from __future__ import annotations

import os
import shutil
import sys
import time
from types import TracebackType
from typing import TextIO

_QUIET_SECONDS = 0.5  # work that is done sooner draws no bar at all
_REDRAW_SECONDS = 0.1
_BAR_WIDTH = 30


class ProgressBar:
    """A progress bar, a context manager: `step()` after each of `total` pieces, `tick(note)` within one.

    >>> import io
    >>> pipe = io.StringIO()
    >>> with ProgressBar(2, "documents", stream=pipe) as bar:
    ...     bar.step()
    >>> pipe.getvalue()
    ''
    """

    def __init__(self, total: int, unit: str, stream: TextIO | None = None) -> None:
        self._stream = sys.stderr if stream is None else stream
        self._visible = _is_terminal(self._stream)
        self._total, self._unit, self._done = total, unit, 0
        self._started = time.monotonic()
        self._next_draw = self._started + _QUIET_SECONDS
        self._drawn = False

    def __enter__(self) -> ProgressBar:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        self.clear()

    def step(self) -> None:
        """Count one piece as done."""
        self._done += 1
        self.tick()

    def tick(self, note: str = "") -> None:
        """Redraw if it is time to. `note` says what is going on inside the current piece."""
        if self._visible and (now := time.monotonic()) >= self._next_draw:
            self._next_draw = now + _REDRAW_SECONDS
            self._draw(now - self._started, note)

    def clear(self) -> None:
        """Take the bar off the screen, before other output or at the end."""
        if self._drawn:
            self._write("\r\x1b[K")
            self._drawn = False

    def _draw(self, elapsed: float, note: str) -> None:
        filled = _BAR_WIDTH * self._done // max(self._total, 1)
        parts = [f"[{'#' * filled}{'.' * (_BAR_WIDTH - filled)}]", f"{self._done}/{self._total} {self._unit}"]
        if self._done:
            parts.append(f"{elapsed / self._done * (self._total - self._done):.0f} s left")
        line = "  ".join([*parts, note] if note else parts)
        self._write("\r\x1b[K" + line[: shutil.get_terminal_size().columns - 1])
        self._drawn = True

    def _write(self, text: str) -> None:
        self._stream.write(text)
        self._stream.flush()


def _is_terminal(stream: TextIO | None) -> bool:
    """None is a closed standard error, and what Python has there without a console."""
    return stream is not None and stream.isatty() and os.environ.get("TERM") != "dumb"
