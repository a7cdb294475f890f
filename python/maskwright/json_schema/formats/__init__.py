"""Which strings have a format? Each format as a documented regular language.

language.py        what a format is
times.py           date-time, date, time, duration
hosts.py           email, idn-email, hostname, ipv4, ipv6
international.py   idn-hostname
identifiers.py     uri, uri-reference, iri, iri-reference, uri-template, uuid
pointers.py        json-pointer, relative-json-pointer, regex
"""

from __future__ import annotations

from functools import cache

from maskwright.ir import Builder, Fragment, Node
from maskwright.json_schema.formats import hosts, identifiers, international, language, pointers, times
from maskwright.json_schema.formats.language import Format
from maskwright.json_schema.probe import Probe
from maskwright.json_schema.spelling import Spelling, Style
from maskwright.regex.lower import Writer
from maskwright.regex.syntax import UNBOUNDED

__all__ = ["FORMATS", "Format", "known", "matches", "max_length", "node", "widths"]

FORMATS: dict[str, Format] = {
    found.name: found
    for group in (times, hosts, international, identifiers, pointers)
    for found in group.FORMATS
}


def known(name: str) -> bool:
    """Is there a language for the format? One without is an annotation."""
    return name in FORMATS


def matches(name: str, text: str) -> bool:
    """Has the text the format? Whatever a model should write: all texts of the format count.

    >>> matches("date", "2024-02-29"), matches("date", "2023-02-29")
    (True, False)
    """
    longest = FORMATS[name].max_length
    if longest is not None and len(text) > longest:
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
    return spelling.remember(
        ("format", name, every), lambda: spelling.builder.graft(_fragment(name, every, spelling.style))
    )


@cache
def _fragment(name: str, every: bool, style: Style) -> Fragment:
    """Written once in a process: a URI takes 109 nodes, and 14 µs to graft."""
    spelling = Spelling(Builder(), style)
    writer = Writer(spelling.builder, spelling.char, spelling.codes, max_work=UNBOUNDED)
    node = language.write(_language(name, every), writer)
    return spelling.builder.fragment(spelling.builder.deterministic(node))


def max_length(name: str) -> int | None:
    """The greatest length of a text of the format that `node` does not see to; None: there is none."""
    return FORMATS[name].max_length


@cache
def widths(name: str) -> tuple[int, int | None]:
    """The least and the greatest length of a text of the format, as far as `node` sees to them."""
    return language.widths(FORMATS[name].language)


def _language(name: str, every: bool) -> language.Language:
    found = FORMATS[name]
    return found.language if every or found.written is None else found.written


@cache
def _probe(name: str) -> Probe:
    builder = Builder()
    writer = Writer(builder, max_work=UNBOUNDED)
    return Probe(builder, language.write(FORMATS[name].language, writer))
