"""Formats: cases for each, as values and as spellings; dates and addresses against Python's own reading."""

from __future__ import annotations

import datetime
import ipaddress
import json
import random
import re
from pathlib import Path

import pytest
from maskwright.ir import Builder
from maskwright.json_schema import formats
from maskwright.json_schema.probe import Probe
from maskwright.json_schema.spelling import Spelling, Style
from maskwright.json_schema.strings import StringSet
from maskwright.limits import Limits

CASES = json.loads((Path(__file__).parents[2] / "data" / "json_schema" / "formats.json").read_text())
DOCS = (Path(__file__).parents[3] / "docs" / "formats.md").read_text()
QUICK = sorted(name for name in formats.FORMATS if formats.max_length(name) is None)
"""The formats without a bound on the length, which makes thousands of states."""


def spellings(name: str, style: Style, *, negated: bool = False) -> Probe:
    builder = Builder()
    strings = StringSet(not_formats=(name,)) if negated else StringSet(formats=(name,))
    return Probe(builder, strings.node(Spelling(builder, style)), Limits())


def test_every_format_has_cases_and_is_documented() -> None:
    assert sorted(CASES) == sorted(formats.FORMATS)
    for name, found in formats.FORMATS.items():
        assert formats.known(name)
        assert f"| `{name}` | {found.source} |" in DOCS, name
        assert found.limits in DOCS, name


def test_an_unknown_format_is_known_as_such() -> None:
    assert not formats.known("datetime")


@pytest.mark.parametrize("name", sorted(CASES))
def test_values(name: str) -> None:
    for text in CASES[name]["valid"]:
        assert formats.matches(name, text), text
    for text in CASES[name]["invalid"]:
        assert not formats.matches(name, text), text


@pytest.mark.parametrize("name", QUICK)
def test_spellings(name: str) -> None:
    canonical, every = spellings(name, "generate"), spellings(name, "accept")
    narrowed = formats.FORMATS[name].written is not None
    for wanted, group in ((True, "valid"), (False, "invalid")):
        for text in CASES[name][group]:
            raw, escaped = (
                json.dumps(text, ensure_ascii=ascii_only).encode() for ascii_only in (False, True)
            )
            assert every.contains(raw) == every.contains(escaped) == wanted, text
            if not (narrowed and ":60" in text):
                assert canonical.contains(raw) == wanted, text


@pytest.mark.parametrize("name", ["date", "time", "email", "uri", "ipv6"])
def test_complements(name: str) -> None:
    others = spellings(name, "generate", negated=True)
    for wanted, group in ((False, "valid"), (True, "invalid")):
        for text in CASES[name][group]:
            assert others.contains(json.dumps(text, ensure_ascii=False).encode()) == wanted, text


@pytest.mark.parametrize("name", sorted(CASES))
def test_widths_hold(name: str) -> None:
    narrow, wide = formats.widths(name)
    for text in CASES[name]["valid"]:
        assert narrow <= len(text) and (wide is None or len(text) <= wide)


def test_half_a_surrogate_pair_has_no_format() -> None:
    assert not formats.matches("json-pointer", "/\ud800")


def test_host_names_have_at_most_253_characters() -> None:
    labels = ".".join(["a" * 63] * 3)
    assert formats.matches("hostname", f"{labels}.{'a' * 61}")
    assert not formats.matches("hostname", f"{labels}.{'a' * 62}")


# Against Python's own reading


def test_every_day_of_some_years() -> None:
    for year in ("1900", "1999", "2000", "2024", "2100", "2400"):
        for month in range(14):
            for day in range(33):
                text = f"{year}-{month:02}-{day:02}"
                try:
                    datetime.date.fromisoformat(text)
                except ValueError:
                    assert not formats.matches("date", text), text
                else:
                    assert formats.matches("date", text), text


def test_leap_years() -> None:
    for year in range(1, 10000, 7):
        leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
        assert formats.matches("date", f"{year:04}-02-29") == leap, year


def test_leap_seconds_by_arithmetic() -> None:
    rng = random.Random(7)
    for _ in range(3000):
        hour, minute, sign = (
            rng.randrange(24),
            rng.choice([14, 29, 44, 59, rng.randrange(60)]),
            rng.choice([1, -1]),
        )
        ahead, odd = rng.randrange(24), rng.choice([0, 15, 30, 45])
        if rng.random() < 0.5:  # make it right
            hour, minute = divmod((23 * 60 + 59 + sign * (ahead * 60 + odd)) % 1440, 60)
        utc = (hour * 60 + minute - sign * (ahead * 60 + odd)) % 1440
        text = f"{hour:02}:{minute:02}:60{'+' if sign > 0 else '-'}{ahead:02}:{odd:02}"
        assert formats.matches("time", text) == (utc == 23 * 60 + 59), text


@pytest.mark.parametrize(
    ("name", "read", "alphabet"),
    [
        ("ipv4", ipaddress.IPv4Address, "0125. 9"),
        ("ipv6", ipaddress.IPv6Address, "01aF:.g"),
    ],
)
def test_addresses(name: str, read: type, alphabet: str) -> None:
    rng = random.Random(11)
    seen = {True: 0, False: 0}
    for _ in range(4000):
        text = list(rng.choice(CASES[name]["valid"]))
        for _ in range(rng.randrange(4)):
            place = rng.randrange(len(text) + 1)
            text[place : place + rng.randrange(2)] = rng.choice([rng.choice(alphabet), ""])
        address = "".join(text)
        try:
            read(address)
            wanted = True
        except ValueError:
            wanted = False
        seen[wanted] += 1
        assert formats.matches(name, address) == wanted, address
    assert min(seen.values()) > 500


def test_identifiers_against_the_generic_expression() -> None:
    """Every URI has a scheme by the expression of RFC 3986, appendix B."""
    generic = re.compile(r"^(([^:/?#]+):)?(//([^/?#]*))?([^?#]*)(\?([^#]*))?(#(.*))?")
    for text in CASES["uri"]["valid"]:
        found = generic.match(text)
        assert found is not None and found.group(2)
