"""What format do the arguments name? A JSON Schema from a file or standard input, or a pattern."""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from maskwright.cli.bad_input import BadInput
from maskwright.cli.engine_format import EngineFormat
from maskwright.errors import LimitError, MaskwrightError, SchemaError, shown_place
from maskwright.json_schema import check_schema
from maskwright.json_schema.keywords import Draft, keywords_of, nearest_name
from maskwright.reference import DFA, json_schema_to_regex, regex_to_dfa

_READ_BY_THE_ENGINE = frozenset(
    [
        *(
            f"pattern.unsupported.{kind}"
            for kind in ("anchor", "lookahead", "lookbehind", "lazy-quantifier", "flag")
        ),
        "schema.unsupported",
    ]
)
"""Codes of what the reference refuses, though `Compiler` takes it."""

_NOT_BYTES = "pattern.non-ascii"
"""The code of a pattern for `str`: the command line reads patterns over bytes."""


@dataclass(frozen=True)
class Format:
    """One format: its regular expression, its automaton, and the schema if it came from one."""

    pattern: str
    dfa: DFA
    schema: Any = None
    is_schema: bool = False


def add_format_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare SPEC and --regex, of which exactly one must be given."""
    which = parser.add_mutually_exclusive_group(required=True)
    which.add_argument(
        "spec", metavar="SPEC", nargs="?", help="a file with a JSON Schema, or - for standard input"
    )
    which.add_argument(
        "--regex", metavar="P", help="a pattern (a subset of Python's, over bytes) instead of SPEC"
    )


def read_format(arguments: argparse.Namespace) -> Format:
    """Read the format that the arguments name, as the readable definition takes it; `MaskwrightError` says
    where that fails."""
    source = _Source.read(arguments)
    try:
        return source.format()
    except MaskwrightError as error:
        _hint_at_the_engine(error, "json_schema" if source.is_schema else "regex")
        raise source.placed(error) from None


def read_any_format(arguments: argparse.Namespace, **options: Any) -> Format | EngineFormat:
    """Read the format that the arguments name: a schema as the engine takes it, with `options` of
    `Compiler.json_schema`; a pattern as the readable definition does, or the engine where that refuses."""
    source = _Source.read(arguments)
    if not source.is_schema:
        try:
            return source.format()
        except MaskwrightError as error:
            if not (error.code in _READ_BY_THE_ENGINE or isinstance(error, LimitError)):
                _hint_at_the_engine(error, "regex")
                raise
    try:
        format_ = source.engine_format(options)
        format_.check()
    except MaskwrightError as error:
        raise source.placed(error) from None
    if source.is_schema:
        _note_mistaken_keywords(source.schema)
    return format_


@dataclass(frozen=True)
class _Source:
    """What the arguments name: a pattern, or the text of a schema and where that is from."""

    text: str
    schema: Any = None
    name: str | None = None

    @staticmethod
    def read(arguments: argparse.Namespace) -> _Source:
        if arguments.regex is not None:
            return _Source(arguments.regex)
        name = "standard input" if arguments.spec == "-" else arguments.spec
        text = read_text(arguments.spec, name)
        return _Source(text, _parse(text, name), name)

    @property
    def is_schema(self) -> bool:
        return self.name is not None

    def format(self) -> Format:
        if not self.is_schema:
            return Format(self.text, regex_to_dfa(self.text))
        pattern = json_schema_to_regex(self.schema)
        return Format(pattern, regex_to_dfa(pattern), self.schema, is_schema=True)

    def engine_format(self, options: dict[str, Any]) -> EngineFormat:
        if not self.is_schema:  # over bytes, as the readable definition has it
            text = self.text.encode("ascii")
            return EngineFormat(lambda compiler: compiler.regex(text, "python-bytes"), pattern=self.text)
        return EngineFormat(
            lambda compiler: compiler.json_schema(self.text, **options),
            schema=self.schema,
            is_schema=True,
            is_plain=self._is_plain(),
        )

    def _is_plain(self) -> bool:
        try:
            json_schema_to_regex(self.schema)
        except MaskwrightError:
            return False
        return True

    def placed(self, error: MaskwrightError) -> MaskwrightError:
        """The error, with the file's name before it."""
        if self.name is not None:
            error.what = f"{self.name}: {error.what}"
        return error


def _note_mistaken_keywords(schema: Any) -> None:
    """Say which keywords are none, but look like one: by the standard they say nothing."""
    places: dict[tuple[str, str], list[str]] = {}
    for finding in check_schema(schema).with_status("unknown"):
        if finding.note:
            places.setdefault((finding.keyword, finding.note), []).append(shown_place(finding.pointer))
    for (keyword, note), where in places.items():
        others = f" and {len(where) - 1} other places" if len(where) > 1 else ""
        what = f'"{keyword}" is no keyword of JSON Schema and says nothing ({where[0]}{others})'
        print(f"maskwright: note: {what}: {note}", file=sys.stderr)


def _hint_at_the_engine(error: MaskwrightError, method: str) -> None:
    keyword = error.keyword if isinstance(error, SchemaError) else None
    if keyword is not None and keyword not in keywords_of(Draft.LATEST):
        meant = nearest_name(keyword, keywords_of(Draft.LATEST))
        error.why, error.try_ = "JSON Schema has no such keyword", f'"{meant}"' if meant else None
    elif error.code in _READ_BY_THE_ENGINE or error.code == _NOT_BYTES:
        commands = "" if error.code == _NOT_BYTES else ", or the commands mask and sample, which take more"
        hint = f"Compiler.{method} in Python{commands}"
        error.try_ = f"{error.try_}; or {hint}" if error.try_ else hint


def read_text(spec: str, name: str) -> str:
    """A file's text, or that of standard input for `-`; `BadInput` where there is none."""
    try:
        data = sys.stdin.buffer.read() if spec == "-" else Path(spec).read_bytes()
    except OSError as error:
        raise BadInput(f"{name}: cannot be read", why=error.strerror) from None
    except ValueError as error:  # a NUL in the name
        raise BadInput(f"{name!r}: not a file name", why=str(error)) from None
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise BadInput(f"{name}: not UTF-8", where=f"byte {error.start}", why=error.reason) from None


def _parse(text: str, name: str) -> Any:
    """The JSON value of the text. A name twice in one object is refused: one of the two would be ignored."""
    try:
        return json.loads(text, object_pairs_hook=_object, parse_constant=_no_constant)
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        try_ = "--regex P for a pattern; Compiler.grammar in Python for a grammar"
        raise BadInput(f"{name}: not JSON", where=where, why=error.msg, try_=try_) from None
    except RecursionError:
        raise BadInput(f"{name}: not readable JSON", why="it is nested too deeply") from None
    except ValueError as error:  # a repeated name, NaN, an integer of thousands of digits
        raise BadInput(f"{name}: not readable JSON", why=str(error)) from None


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members: dict[str, Any] = {}
    for key, value in pairs:
        if key in members:
            raise ValueError(f"the name {json.dumps(key)} stands twice in one object")
        members[key] = value
    return members


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not a JSON value")
