"""`maskwright dfa`: what are the states of a format, and what does each mean?"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np

from maskwright.cli.bad_input import BadInput
from maskwright.cli.draw import to_dot, to_svg
from maskwright.cli.formats import add_format_arguments, read_format
from maskwright.cli.meanings import Meaning, meanings
from maskwright.cli.shown import byte_runs, quoted, table
from maskwright.reference import DEAD, DFA

_DRAWINGS = {".svg": to_svg, ".dot": to_dot}


def add_to(commands: Any) -> None:
    """Declare this command."""
    parser = commands.add_parser(
        "dfa",
        help="print or draw the automaton of a format",
        description="Print the states of a format's minimal automaton, breadth first; --draw draws them.",
    )
    add_format_arguments(parser)
    parser.add_argument("--draw", metavar="FILE", help="write a picture: .svg, or .dot for Graphviz")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Print the table, and write the picture if asked to."""
    file = None if arguments.draw is None else _drawing_file(arguments.draw)
    format_ = read_format(arguments)
    if file is not None:
        _write(file, _DRAWINGS[file.suffix](format_.dfa))
    found = meanings(format_.dfa, format_.pattern)
    rows = [_row(format_.dfa, state, found[state]) for state in range(format_.dfa.n_states)]
    print(table(("State", "Meaning (text so far)", "Accepting", "Transitions"), rows))
    return 0


def _row(dfa: DFA, state: int, meaning: Meaning) -> tuple[str, str, str, str]:
    texts = ", ".join([*map(quoted, meaning.texts), *["..."] * meaning.more])
    accepting = "yes" if dfa.accept[state] else "no"
    return str(state), texts, accepting, ", ".join(_transitions(dfa, state)) or "none"


def _transitions(dfa: DFA, state: int) -> list[str]:
    """Each run of bytes with one target, in the order of the bytes: `a to 1`, `0-9 to 2`."""
    after = dfa.trans[state]
    found: list[tuple[int, str]] = []
    for target in np.unique(after[after != DEAD]).tolist():
        members = np.flatnonzero(after == target).tolist()
        found.extend((low, f"{name} to {target}") for low, name in byte_runs(members))
    return [text for _, text in sorted(found)]


def _drawing_file(name: str) -> Path:
    file = Path(name)
    if file.suffix not in _DRAWINGS:
        raise BadInput(
            f"--draw {name}: unknown kind of picture", try_="a file name that ends in .svg or .dot"
        )
    return file


def _write(file: Path, text: str) -> None:
    try:
        file.write_text(text, encoding="utf-8")
    except (OSError, ValueError) as error:
        raise BadInput(
            f"--draw {file}: cannot be written", why=getattr(error, "strerror", None) or str(error)
        ) from None
