"""What is a format? A regular language, written as ECMA-262 patterns of whole strings."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Format"]


@dataclass(frozen=True, slots=True)
class Format:
    """The strings that match each of `patterns` as a whole and none of `excluded`, no longer than `max_length`.

    `source` names the text that defines the format, `limits` what of it is not enforced ("" if all is).
    `written`, if given, takes the place of `patterns` where a model writes: fewer strings, none that is not in
    the language, from a much smaller automaton.
    """

    name: str
    source: str
    patterns: tuple[str, ...]
    excluded: tuple[str, ...] = ()
    max_length: int | None = None
    written: tuple[str, ...] = ()
    limits: str = ""
