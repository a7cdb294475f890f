"""Is a finished document really in the format? Read the whole text again, by other means than the masks."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass

from maskwright.cli.formats import BadInput, Format

CHOICES = ("dfa", "re", "jsonschema")


@dataclass(frozen=True)
class Check:
    """A way to check documents: its name, for the reader to know, and the check itself."""

    name: str
    passes: Callable[[bytes], bool]


def choose_check(format_: Format, name: str | None) -> Check:
    """The check called `name`; by default `jsonschema` for a schema if it is installed, else the automaton.

    Python's `re` is independent of this library but takes exponential time on some patterns, so it is never
    the default; the automaton reads each byte once.
    """
    if name == "jsonschema" or (name is None and format_.is_schema):
        check = _jsonschema(format_)
        if check is not None:
            return check
        if name is not None:
            raise BadInput(
                "--check jsonschema: not possible here", why="it needs a schema, and jsonschema installed"
            )
    if name == "re":
        matcher = re.compile(format_.pattern.encode("ascii"))
        return Check("Python's re", lambda text: matcher.fullmatch(text) is not None)
    return Check("the automaton", format_.dfa.matches)


def _jsonschema(format_: Format) -> Check | None:
    if not format_.is_schema:
        return None
    try:
        from jsonschema import Draft202012Validator  # type: ignore[import-untyped]  # noqa: PLC0415 - optional
    except ImportError:
        return None
    validator = Draft202012Validator(format_.schema)
    sys.set_int_max_str_digits(
        0
    )  # a document may hold a number of more than 4,300 digits; --max-tokens bounds it

    def passes(text: bytes) -> bool:
        try:
            value = json.loads(text)
        except ValueError:
            return False
        return bool(validator.is_valid(value))

    return Check("jsonschema", passes)
