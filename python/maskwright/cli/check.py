"""Is a finished document really in the format? Read the whole text again, by other means than the masks."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass

from maskwright.cli.bad_input import BadInput
from maskwright.cli.engine_format import EngineFormat
from maskwright.cli.formats import Format

CHOICES = ("dfa", "re", "jsonschema")


@dataclass(frozen=True)
class Check:
    """A way to check documents: its name, for the reader to know, and the check itself."""

    name: str
    passes: Callable[[bytes], bool]


def choose_check(format_: Format | EngineFormat, name: str | None) -> Check:
    """The check called `name`; by default `jsonschema` for a schema if it is installed, else the automaton.

    Python's `re` is independent of this library but takes exponential time on some patterns, so it is never
    the default; the automaton reads each byte once. A format that only the engine takes is read by it once
    more, a byte at a time: `jsonschema` rounds numbers, and reads patterns as Python does.
    """
    if isinstance(format_, EngineFormat) and name is None:
        return Check("the engine over single bytes", format_.matches)
    if name == "jsonschema" or (name is None and format_.is_schema):
        check = _jsonschema(format_)
        if check is not None:
            return check
        if name is not None:
            raise BadInput(
                "--check jsonschema: not possible here", why="it needs a schema, and jsonschema installed"
            )
    if isinstance(format_, EngineFormat):
        why = "only the engine takes this format, which has no automaton"
        raise BadInput(f"--check {name}: not possible here", why=why)
    if name == "re":
        matcher = re.compile(format_.pattern.encode("ascii"))
        return Check("Python's re", lambda text: matcher.fullmatch(text) is not None)
    return Check("the automaton", format_.dfa.matches)


def _jsonschema(format_: Format | EngineFormat) -> Check | None:
    if not format_.is_schema:
        return None
    try:
        from jsonschema import Draft202012Validator  # type: ignore[import-untyped]  # noqa: PLC0415 - optional
        from jsonschema.validators import validator_for  # type: ignore[import-untyped]  # noqa: PLC0415
    except ImportError:
        return None
    validator = validator_for(format_.schema, Draft202012Validator)(format_.schema)
    sys.set_int_max_str_digits(
        0
    )  # a document may hold a number of more than 4,300 digits; --max-tokens bounds it

    def passes(text: bytes) -> bool:
        try:
            value = json.loads(text)
        except ValueError:
            return False
        try:
            return bool(validator.is_valid(value))
        except Exception as error:  # a pattern that Python's `re` does not take, say
            raise BadInput("--check jsonschema: it fails on this schema", why=str(error)) from error

    return Check("jsonschema", passes)
