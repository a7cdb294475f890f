"""Which strings have a format? Each format as a documented regular language.

language.py      what a format is
times.py         date-time, date, time, duration
hosts.py         email, idn-email, hostname, idn-hostname, ipv4, ipv6
identifiers.py   uri, uri-reference, iri, iri-reference, uri-template, uuid
pointers.py      json-pointer, relative-json-pointer, regex
"""

from __future__ import annotations

from functools import cache

from maskwright.ir import Builder, Node
from maskwright.json_schema.formats import hosts, identifiers, pointers, times
from maskwright.json_schema.formats.language import Format
from maskwright.json_schema.probe import Probe
from maskwright.json_schema.spelling import Spelling
from maskwright.regex import read_regex
from maskwright.regex.lower import Writer
from maskwright.regex.syntax import UNBOUNDED, Tree

__all__ = ["FORMATS", "Format", "known", "matches", "max_length", "node", "widths"]

FORMATS = {
    found.name: found
    for found in (*times.FORMATS, *hosts.FORMATS, *identifiers.FORMATS, *pointers.FORMATS)
}


def known(name: str) -> bool:
    """Is there a language for the format? One without is an annotation."""
    return name in FORMATS


def matches(name: str, text: str) -> bool:
    """Has the text the format? Exact, by the patterns of the format.

    >>> matches("date", "2024-02-29"), matches("date", "2023-02-29")
    (True, False)
    """
    found = FORMATS[name]
    if found.max_length is not None and len(text) > found.max_length:
        return False
    try:
        return _probe(name).contains(text.encode())
    except UnicodeEncodeError:
        return False


def node(name: str, spelling: Spelling, *, exact: bool | None = None) -> Node:
    """The spellings of the texts of a format, without quotes.

    The bound on the length is not in it: `max_length` is to be met besides. `exact`: all texts, and not only
    those that a model should write; by default as the style says.
    """
    every = spelling.style == "accept" if exact is None else exact


    def write() -> Node:
        writer = Writer(spelling.builder, spelling.char, spelling.codes, max_work=UNBOUNDED)
        return _write(FORMATS[name], writer, every)

    return spelling.remember(("format", name, every), write)


def max_length(name: str) -> int | None:
    """The greatest length of a text of the format that the patterns do not see to; None: there is none."""
    return FORMATS[name].max_length


@cache
def widths(name: str) -> tuple[int, int | None]:
    """The least and the greatest length of a text of the format, as far as its patterns tell."""
    trees = [_tree(pattern) for pattern in FORMATS[name].patterns]
    wide = min(tree.wide for tree in trees)
    return max(tree.narrow for tree in trees), None if wide >= UNBOUNDED else wide


def _write(found: Format, writer: Writer, every: bool) -> Node:
    builder = writer.builder
    patterns = found.patterns if every or not found.written else found.written
    parts = [writer.plain(_tree(pattern)) for pattern in patterns]
    parts += [builder.complement(writer.plain(_tree(pattern))) for pattern in found.excluded]
    return builder.intersection(parts)


@cache
def _tree(pattern: str) -> Tree:
    """Read once in a process; to write it takes a third of the time."""
    return read_regex(pattern, "ecma")


@cache
def _probe(name: str) -> Probe:
    builder = Builder()
    return Probe(builder, _write(FORMATS[name], Writer(builder, max_work=UNBOUNDED), True))
