"""What is a format? A regular language: ECMA-262 patterns of whole strings, joined by a few operators."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from maskwright.ir import Node
from maskwright.regex import read_regex
from maskwright.regex.lower import Writer
from maskwright.regex.syntax import UNBOUNDED, Tree

__all__ = ["Both", "Either", "Format", "Joined", "Language", "Many", "Without", "widths", "write"]


@dataclass(frozen=True, slots=True)
class Joined:
    """One part after the other."""

    parts: tuple[Language, ...]


@dataclass(frozen=True, slots=True)
class Many:
    """The body any number of times."""

    body: Language


@dataclass(frozen=True, slots=True)
class Either:
    """Any of the parts."""

    parts: tuple[Language, ...]


@dataclass(frozen=True, slots=True)
class Both:
    """All of the parts."""

    parts: tuple[Language, ...]


@dataclass(frozen=True, slots=True)
class Without:
    """The body, but none of the parts."""

    body: Language
    parts: tuple[Language, ...]


Language = str | Joined | Many | Either | Both | Without


@dataclass(frozen=True, slots=True)
class Format:
    """The strings of `language`, no longer than `max_length`.

    `source` names the text that defines the format, `limits` what of it is not enforced ("" if all is).
    `written`, if given, takes the place of `language` where a model writes: fewer strings, none that is not
    in the language, from a much smaller automaton.
    """

    name: str
    source: str
    language: Language
    max_length: int | None = None
    written: Language | None = None
    limits: str = ""


def write(language: Language, writer: Writer) -> Node:
    """The node of a language."""
    if isinstance(language, str):
        return writer.plain(_tree(language))
    builder = writer.builder
    if isinstance(language, Without):
        others = [builder.complement(write(part, writer)) for part in language.parts]
        return builder.intersection([write(language.body, writer), *others])
    if isinstance(language, Many):
        return builder.repeat(write(language.body, writer), 0, None)
    parts = [write(part, writer) for part in language.parts]
    if isinstance(language, Joined):
        return builder.sequence(parts)
    return builder.choice(parts) if isinstance(language, Either) else builder.intersection(parts)


def widths(language: Language) -> tuple[int, int | None]:
    """The least and the greatest length of a string, or what lies beyond them; None: there is no greatest."""
    narrow, wide = _widths(language)
    return narrow, None if wide >= UNBOUNDED else wide


def _widths(language: Language) -> tuple[int, int]:
    if isinstance(language, str):
        tree = _tree(language)
        return tree.narrow, tree.wide
    if isinstance(language, Many):
        return 0, UNBOUNDED
    if isinstance(language, Without):
        return _widths(language.body)
    found = [_widths(part) for part in language.parts]
    narrows, wides = [narrow for narrow, _ in found], [wide for _, wide in found]
    if isinstance(language, Joined):
        return sum(narrows), sum(wides)
    return (min(narrows), max(wides)) if isinstance(language, Either) else (max(narrows), min(wides))


@cache
def _tree(pattern: str) -> Tree:
    """Read once in a process; to write it takes a third of the time."""
    return read_regex(pattern, "ecma")
