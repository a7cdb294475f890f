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
    """A way to check documents: its name, for the reader to know, and the check itself. `is_sure`: where it
    fails a document, the document is wrong."""

    name: str
    passes: Callable[[bytes], bool]
    is_sure: bool = True


def choose_check(format_: Format | EngineFormat, name: str | None) -> Check:
    """The check called `name`; by default `jsonschema` for a schema if it is installed and reads the schema
    as this library does, else the automaton or, where there is none at hand, the engine a byte at a time.

    `jsonschema` rounds numbers, and reads patterns as Python does. Python's `re` is independent of this
    library but takes exponential time on some patterns, so it is never the default; the automaton reads each
    byte once.
    """
    if name == "jsonschema" or (name is None and _is_plain(format_)):
        check = _jsonschema(format_, must=name is not None)
        if check is not None:
            return check
    if name == "re":
        if format_.pattern is None:
            raise BadInput("--check re: not possible here", why="a schema is no pattern")
        matcher = re.compile(format_.pattern.encode("ascii"))
        return Check("Python's re", lambda text: matcher.fullmatch(text) is not None)
    if isinstance(format_, Format):
        return Check("the automaton", format_.dfa.matches)
    if name == "dfa":
        raise BadInput("--check dfa: not possible here", why="only the engine takes this format")
    return Check("the engine", format_.matches)


def _is_plain(format_: Format | EngineFormat) -> bool:
    return format_.is_plain if isinstance(format_, EngineFormat) else format_.is_schema


def _jsonschema(format_: Format | EngineFormat, *, must: bool) -> Check | None:
    """The check with `jsonschema`; None if it is not installed, which is an error if it `must` be."""
    if not format_.is_schema:
        raise BadInput("--check jsonschema: not possible here", why="it needs a schema")
    try:
        from jsonschema import Draft202012Validator  # type: ignore[import-untyped]  # noqa: PLC0415 - optional
        from jsonschema.validators import validator_for  # type: ignore[import-untyped]  # noqa: PLC0415
    except ImportError:
        if must:
            why, try_ = "jsonschema is not installed", "pip install jsonschema"
            raise BadInput("--check jsonschema: not possible here", why=why, try_=try_) from None
        return None
    schema, chosen = format_.schema, Draft202012Validator
    if isinstance(schema, dict) and isinstance(schema.get("$schema"), str):
        chosen = validator_for(schema, chosen)
    validator = chosen(schema)
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

    return Check("jsonschema", passes, is_sure=_is_plain(format_))
