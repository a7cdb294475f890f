"""Are the Unicode tables those of the fixed version? CPython 3.11 and Node are asked where they are there."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import unicodedata
from itertools import pairwise
from random import Random

import pytest
from maskwright.regex import classes
from maskwright.regex.ranges import (
    EVERYTHING,
    NOTHING,
    Ranges,
    contains,
    intersect,
    invert,
    ranges_of,
    subtract,
    union,
)

TEXT = "".join(map(chr, range(sys.maxunicode + 1)))
SAME_UNICODE = unicodedata.unidata_version == classes.UNICODE_VERSION


def members(ranges: Ranges) -> set[int]:
    return {code for low, high in ranges for code in range(low, high + 1)}


@pytest.mark.skipif(not SAME_UNICODE, reason="this Python has another Unicode version")
@pytest.mark.parametrize(("name", "sign"), [("digit", r"\d"), ("space", r"\s"), ("word", r"\w")])
def test_python_classes(name: str, sign: str) -> None:
    assert members(classes.python_class(name)) == {match.start() for match in re.finditer(sign, TEXT)}


@pytest.mark.skipif(not SAME_UNICODE, reason="this Python has another Unicode version")
@pytest.mark.parametrize(
    "category", ["Lu", "Ll", "Lt", "Lm", "Lo", "Mn", "Nd", "Nl", "Pc", "Sm", "Zs", "Cf", "Cn", "Cs"]
)
def test_general_categories(category: str) -> None:
    expected = {code for code in range(sys.maxunicode + 1) if unicodedata.category(chr(code)) == category}
    assert members(classes.property_class(category, None) or NOTHING) == expected


@pytest.mark.skipif(not SAME_UNICODE, reason="this Python has another Unicode version")
@pytest.mark.parametrize("seed", range(12))
def test_case_folding_of_sets(seed: int) -> None:
    """Random sets of letters with odd cases, on every code point there is."""
    rng = Random(seed)
    pool = [
        *map(ord, "kKsSiIİ\u0131ßẞµμΣς\u03c3ǅ\ufb05\ufb06𐐀𐐨az"),
        *rng.sample(sorted(members(classes.python_class("cased"))), 40),
    ]
    singles = rng.choices(pool, k=rng.randint(0, 3))
    lows = rng.choices(pool, k=rng.randint(0, 2))
    spans = [(low, min(low + rng.choice([0, 3, 50, 4000]), sys.maxunicode)) for low in lows]
    words = rng.random() < 0.3
    text = (
        "".join(map(chr, singles)) + "".join(f"{chr(low)}-{chr(high)}" for low, high in spans) + r"\d" * words
    )
    if not text:
        text, singles = "k", [ord("k")]
    alone = len(set(singles)) == 1 and not spans and not words
    found = classes.fold_unicode(
        singles, spans, classes.python_class("digit") if words else NOTHING, alone=alone
    )
    assert members(found) == {match.start() for match in re.finditer(f"(?i)[{text}]", TEXT)}


@pytest.mark.skipif(shutil.which("node") is None, reason="Node is not installed")
@pytest.mark.parametrize(
    "name",
    [
        "Lu",
        "L",
        "punct",
        "Script=Greek",
        "sc=Hani",
        "scx=Deva",
        "Script_Extensions=Grek",
        "Alphabetic",
        "XIDS",
        "Emoji",
    ],
)
def test_properties_against_node(name: str) -> None:
    """Node knows a later version: they agree on what the fixed one assigns, but for a few characters."""
    program = (
        "const out = []; const re = new RegExp(`^\\\\p{${process.argv[1]}}$`, 'u');"
        "for (let c = 0; c < 0x110000; c++) if (re.test(String.fromCodePoint(c))) out.push(c);"
        "console.log(JSON.stringify(out))"
    )
    done = subprocess.run(["node", "-e", program, name], capture_output=True, text=True, check=True)
    assigned = members(classes.property_class("Assigned", None) or NOTHING)
    property_, _, value = name.partition("=")
    ours = members(classes.property_class(property_, value or None) or NOTHING)
    theirs = set(json.loads(done.stdout)) & assigned
    assert ours - assigned == set()
    # Script_Extensions and Alphabetic are revised from version to version.
    assert len(theirs ^ ours) <= 40


def test_unknown_properties() -> None:
    for name, value in [
        ("Nope", None),
        ("lu", None),
        ("Script", "greek"),
        ("Script", None),
        ("Lu", "x"),
        ("InGreek", None),
    ]:
        assert classes.property_class(name, value) is None


@pytest.mark.parametrize("seed", range(30))
def test_set_algebra(seed: int) -> None:
    """Against Python's own sets; both with few and with many ranges, which take different ways."""
    rng = Random(seed)
    universe = set(range(0x110000))
    left, right = (
        ranges_of(
            (low, low + rng.randint(0, width)) for low in rng.sample(range(5000), rng.choice([0, 1, 3, 200]))
        )
        for width in (9, 60)
    )
    a, b = members(left), members(right)
    checks = [
        (union(left, right), a | b),
        (intersect(left, right), a & b),
        (subtract(left, right), a - b),
        (invert(left), universe - a),
    ]
    for found, expected in checks:
        assert members(found) == expected
        assert all(before[1] + 1 < after[0] for before, after in pairwise(found))
    probe = rng.randrange(5000)
    assert contains(left, probe) == (probe in a)
    assert intersect(left, EVERYTHING) == left
