"""Does the bar show on a terminal when work is long, and never elsewhere?"""

from __future__ import annotations

import io

import pytest
from maskwright import progress
from maskwright.progress import ProgressBar


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    now = [100.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    monkeypatch.setenv("TERM", "xterm")
    return now


def work(stream: io.StringIO, clock: list[float], seconds: float) -> str:
    with ProgressBar(4, "documents", stream) as bar:
        for _ in range(2):
            clock[0] += seconds
            bar.step()
        bar.tick("token 7")
    return stream.getvalue()


def test_long_work_draws_a_bar_and_takes_it_away(clock: list[float]) -> None:
    shown = work(Terminal(), clock, 1.0)
    assert "[#######.......................]  1/4 documents  3 s left" in shown
    assert "2/4 documents  2 s left" in shown
    assert shown.endswith("\r\x1b[K")


def test_short_work_draws_nothing(clock: list[float]) -> None:
    assert work(Terminal(), clock, 0.1) == ""


def test_a_pipe_gets_nothing(clock: list[float]) -> None:
    assert work(io.StringIO(), clock, 1.0) == ""


def test_a_dumb_terminal_gets_nothing(clock: list[float], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "dumb")
    assert work(Terminal(), clock, 1.0) == ""


def test_redrawing_is_rare(clock: list[float]) -> None:
    terminal = Terminal()
    with ProgressBar(1, "documents", terminal) as bar:
        clock[0] += 1
        for i in range(1000):
            clock[0] += 0.001
            bar.tick(f"token {i}")
        assert 9 <= terminal.getvalue().count("\r") <= 11
        assert "token" in terminal.getvalue()


def test_a_narrow_terminal_gets_one_line(clock: list[float], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "20")
    shown = work(Terminal(), clock, 1.0)
    assert all(len(line.removeprefix("\x1b[K")) < 20 for line in shown.split("\r"))


def test_a_closed_standard_error_gets_nothing(clock: list[float], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stderr", None)
    with ProgressBar(1, "documents") as bar:
        clock[0] += 100
        bar.step()
