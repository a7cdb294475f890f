"""Does the command line end as it promises? Exit codes, one clear message, never a traceback."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import maskwright.cli.sample
import pytest
from maskwright.cli import main
from maskwright.errors import InternalError

DATA = Path(__file__).parents[2] / "data" / "cli"


def cases(name: str) -> list[object]:
    lines = (DATA / name).read_text().splitlines()
    return [pytest.param(case, id=case["name"]) for case in map(json.loads, lines)]


@pytest.mark.parametrize("case", cases("refused.jsonl"))
def test_bad_input_is_one_message_with_the_place(
    case: dict[str, list[str]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main([with_file(argument, tmp_path) for argument in case["arguments"]]) == 2
    out, err = capfd.readouterr()
    assert out == ""
    assert err.startswith("maskwright") and ": error: " in err.splitlines()[0]
    assert err.count("error: ") == 1
    assert "Traceback" not in err
    for part in case["says"]:
        assert part in err


def with_file(argument: str, folder: Path) -> str:
    """An argument `FILE:text` stands for the name of a file with that text."""
    marker, _, text = argument.partition(":")
    if marker != "FILE":
        return argument
    contents = {"DEEP": b"[" * 100_000, "LATIN": b'"\x61\xe9"'}
    file = folder / "schema.json"
    file.write_bytes(contents.get(text, text.encode()))
    return str(file)


@pytest.mark.parametrize("case", cases("prints.jsonl"))
def test_output_is_exactly(case: dict[str, list[str]], capfd: pytest.CaptureFixture[str]) -> None:
    assert main(case["arguments"]) == 0
    out, err = capfd.readouterr()
    assert out.splitlines() == case["out"]
    assert err == ""


def run(
    *arguments: str, stdin: str | None = None, encoding: str = "utf-8"
) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "maskwright", *arguments]
    environment = {**os.environ, "PYTHONIOENCODING": encoding}
    return subprocess.run(
        command, input=stdin, env=environment, capture_output=True, text=True, timeout=120, check=False
    )


def test_module_and_script_are_the_same_command() -> None:
    script = Path(sys.executable).with_name("maskwright")
    shown = subprocess.run([script, "--version"], capture_output=True, text=True, check=True)
    assert run("--version").stdout == shown.stdout
    assert shown.stdout.startswith("maskwright 0.")


@pytest.mark.parametrize("command", [[], ["sample"], ["mask"], ["dfa"]])
def test_help_is_no_error(command: list[str], capfd: pytest.CaptureFixture[str]) -> None:
    assert main([*command, "--help"]) == 0
    assert "usage: maskwright" in capfd.readouterr().out


def test_schema_from_standard_input() -> None:
    shown = run("sample", "-", "--json", stdin='{"const": [1, "a"]}')
    assert (shown.returncode, shown.stderr) == (0, "")
    assert json.loads(json.loads(shown.stdout)["text"]) == [1, "a"]


def test_reader_that_goes_away() -> None:
    command = "\"$0\" -m maskwright sample --regex '[ab]{4}' -n 2000 | head -n 1; echo ${PIPESTATUS[0]}"
    shown = subprocess.run(
        ["bash", "-c", command, sys.executable], capture_output=True, text=True, timeout=120, check=True
    )
    document, code = shown.stdout.split()
    assert len(document) == 4
    assert code == "141"
    assert shown.stderr == ""


def test_interrupt_is_quiet() -> None:
    command = [sys.executable, "-m", "maskwright", "sample", "--regex", "[ab]{4}", "-n", "1000000"]
    # A job in the background of a script ignores the signal, and so would its children.
    restored = (
        "import os, signal as s, sys; s.signal(s.SIGINT, s.SIG_DFL); os.execv(sys.argv[1], sys.argv[1:])"
    )
    command = [sys.executable, "-c", restored, *command]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stdout.readline()  # it is at work
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (130, b"")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a device that is always full")
def test_full_disk_is_one_message() -> None:
    with open("/dev/full", "w") as full:
        command = [sys.executable, "-m", "maskwright", "dfa", "--regex", "a"]
        shown = subprocess.run(
            command, stdout=full, stderr=subprocess.PIPE, text=True, timeout=60, check=False
        )
    assert shown.returncode == 1
    assert shown.stderr.startswith("maskwright: error: ")
    assert shown.stderr.count("\n") == 1


@pytest.mark.skipif(os.name != "posix", reason="the shell of POSIX closes streams so")
@pytest.mark.parametrize(
    ("command", "code", "message"),
    [
        ("sample --regex a >&-", 1, "maskwright: error: [Errno 9] the standard output is closed\n"),
        ("sample --regex a 2>&-", 0, ""),
        ("dfa nowhere 2>&-", 2, ""),
        ("dfa - <&-", 2, "maskwright: error: standard input: not JSON\n"),
        ("check - <&-", 2, "maskwright: error: "),
    ],
)
def test_closed_stream_is_no_traceback(command: str, code: int, message: str) -> None:
    shell = ["sh", "-c", f'"$0" -m maskwright {command}', sys.executable]
    shown = subprocess.run(shell, capture_output=True, text=True, timeout=60, check=False)
    assert shown.returncode == code
    assert shown.stderr.startswith(message)
    assert "Traceback" not in shown.stderr


def test_terminal_that_knows_only_ascii() -> None:
    shown = run("mask", "--regex", r"\xc3\xa9", "--tokens", "é <eos>", encoding="ascii")
    assert shown.returncode == 0
    assert r"\xe9" in shown.stdout


def test_defect_is_no_bad_input(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    def fail(*_: object) -> None:
        raise InternalError("a defect")

    monkeypatch.setattr(maskwright.cli.sample, "read_vocabulary", fail)
    assert main(["sample", "--regex", "a"]) == 1
    assert "a defect" in capfd.readouterr().err
