"""Which command was asked for, and how does it end?

Exit codes: 0 all well; 1 the work was done but not all of it succeeded; 2 bad input (one message on
standard error, with the place); 130 after Ctrl-C; 141 where the reader of our output went away.
"""

from __future__ import annotations

import argparse
import errno
import io
import os
import sys
from collections.abc import Sequence
from importlib.metadata import version
from typing import Any, NoReturn

from maskwright.cli import check_schema, dfa, explain_schema, mask, sample
from maskwright.errors import InternalError, MaskwrightError

EXIT_FAILED = 1
EXIT_BAD_INPUT = 2
EXIT_INTERRUPTED = 130
EXIT_READER_GONE = 141

_FREE_TEXT = ("--regex", "--text", "--tokens")


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command line and return its exit code; no exception escapes.

    Args:
        argv: the arguments after the program's name; those of the process if None.

    >>> main(["dfa", "--regex", "ab?"])
    State  Meaning (text so far)  Accepting  Transitions
    0      ""                     no         a to 1
    1      "a"                    yes        b to 2
    2      "ab"                   yes        none
    0
    """
    _never_fail_on_a_character()
    _stand_in_for_closed_streams()
    try:
        _need_output()
        arguments = _parser().parse_args(_joined(sys.argv[1:] if argv is None else argv))
        code: int = arguments.run(arguments)
        sys.stdout.flush()
    except SystemExit as stop:  # argparse: --help, --version, or its own message about the arguments
        code = stop.code if isinstance(stop.code, int) else EXIT_BAD_INPUT
    except MaskwrightError as error:
        code = _complain(error, EXIT_FAILED if isinstance(error, InternalError) else EXIT_BAD_INPUT)
    except KeyboardInterrupt:
        code = EXIT_INTERRUPTED
    except BrokenPipeError:
        code = EXIT_READER_GONE
    except MemoryError:
        code = _complain("out of memory", EXIT_FAILED)
    except OSError as error:  # a full disk, say; unreadable input is a MaskwrightError
        code = _complain(error, EXIT_FAILED)
    return code


class _Parser(argparse.ArgumentParser):
    """An argument parser whose error is one line and a hint, not a page of usage; no abbreviated options."""

    def __init__(self, **options: Any) -> None:
        super().__init__(allow_abbrev=False, **options)

    def error(self, message: str) -> NoReturn:
        self.exit(EXIT_BAD_INPUT, f"{self.prog}: error: {message}\n  see   {self.prog} --help\n")


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="maskwright", description="Which tokens keep the text inside a format?")
    parser.add_argument("--version", action="version", version=f"maskwright {version('maskwright')}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for command in (sample, mask, dfa, check_schema, explain_schema):
        command.add_to(commands)
    return parser


def _joined(argv: Sequence[str]) -> list[str]:
    """Write `--regex -?1` as `--regex=-?1`, or argparse takes what begins with a hyphen for an option."""
    joined: list[str] = []
    for argument in argv:
        if joined and joined[-1] in _FREE_TEXT:
            joined[-1] += f"={argument}"
        else:
            joined.append(argument)
    return joined


def _stand_in_for_closed_streams() -> None:
    """Python has None for a stream that was closed before it started (`2>&-`, `<&-`)."""
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 - as long as the process
    if sys.stdin is None:
        sys.stdin = open(os.devnull, encoding="utf-8")  # noqa: SIM115 - as long as the process


def _need_output() -> None:
    """Results that nobody can read are a failure, as on a full disk."""
    if sys.stdout is None:
        raise OSError(errno.EBADF, "the standard output is closed")


def _complain(error: object, code: int) -> int:
    print(f"maskwright: error: {error}", file=sys.stderr)
    return code


def _never_fail_on_a_character() -> None:
    """Escape what the terminal's encoding cannot show, instead of failing half-way through the output."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
