"""Does `maskwright dfa` say what the automaton is, in words and in pictures?"""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import pytest
from maskwright.cli import main
from maskwright.cli.draw import edges, to_dot, to_svg
from maskwright.cli.meanings import meanings
from maskwright.cli.model import distances_to_end
from maskwright.reference import DEAD, DFA, regex_to_dfa

SVG = "{http://www.w3.org/2000/svg}"
PATTERNS = [
    "a",
    "",
    "(cat|car|dog)s?",
    "(a|b)*abb",
    r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?",
    r'"([^"\\]|\\.)*"',
    "[^a]{3}",
    "(ab|ba)+c?",
    "[a-z]x",
    "[acegikmoqsuwy]*",
]


@pytest.fixture(params=PATTERNS)
def dfa(request: pytest.FixtureRequest) -> DFA:
    return regex_to_dfa(request.param)


@pytest.mark.parametrize("pattern", PATTERNS)
def test_meanings_lead_to_their_states_and_are_the_shortest(pattern: str) -> None:
    dfa = regex_to_dfa(pattern)
    for state, (meaning, length) in enumerate(zip(meanings(dfa, pattern), lengths(dfa), strict=True)):
        assert 1 <= len(meaning.texts) <= 3
        assert len(set(meaning.texts)) == len(meaning.texts)
        for text in meaning.texts:
            assert dfa.step(0, text) == state
            assert len(text) == length


@pytest.mark.parametrize("pattern", PATTERNS)
def test_meanings_say_whether_there_are_more(pattern: str) -> None:
    """Counted by adding up the ways to each state, level by level."""
    dfa = regex_to_dfa(pattern)
    ways = np.zeros((dfa.n_states, dfa.n_states), np.int64)  # [length, state]
    ways[0, 0] = 1
    for length in range(1, dfa.n_states):
        for source, target in zip(*np.nonzero(steps(dfa)), strict=True):
            ways[length, target] += ways[length - 1, source] * steps(dfa)[source, target]
    for state, meaning in enumerate(meanings(dfa, pattern)):
        count = ways[len(meaning.texts[0]), state]
        assert len(meaning.texts) == min(count, 3)
        assert meaning.more == (count > 3)


def steps(dfa: DFA) -> np.ndarray[tuple[int, int], np.dtype[np.int64]]:
    """How many bytes lead from each state to each other."""
    counts = np.zeros((dfa.n_states, dfa.n_states), np.int64)
    for source, byte in zip(*np.nonzero(dfa.trans != DEAD), strict=True):
        counts[source, dfa.trans[source, byte]] += 1
    return counts


def lengths(dfa: DFA) -> list[int]:
    reached = {0: 0}
    for length in range(dfa.n_states):
        for state in [s for s, n in reached.items() if n == length]:
            for target in dfa.trans[state][dfa.trans[state] != DEAD].tolist():
                reached.setdefault(target, length + 1)
    return [reached[state] for state in range(dfa.n_states)]


def test_meanings_come_in_the_order_of_the_pattern() -> None:
    for pattern, last in [
        ("xb|xa", [b"xb", b"xa"]),
        ("zoo|boo|ape", [b"zoo", b"boo", b"ape"]),
        ("ape|boo|zoo", [b"ape", b"boo", b"zoo"]),
    ]:
        assert meanings(regex_to_dfa(pattern), pattern)[-1].texts == last


def test_distances_to_the_end(dfa: DFA) -> None:
    """Against walking forwards from each state on its own."""
    for state, distance in enumerate(distances_to_end(dfa)):
        reached, steps_taken = {state}, 0
        while not dfa.accept[list(reached)].any():
            after = dfa.trans[list(reached)]
            reached = set(after[after != DEAD].tolist())
            steps_taken += 1
        assert distance == steps_taken


def test_dot_holds_every_state_and_edge(dfa: DFA) -> None:
    dot = to_dot(dfa)
    assert dot.count("doublecircle") == dfa.accept.sum()
    drawn = re.findall(r'^  (\d+) -> (\d+) \[label="((?:[^"\\]|\\.)+)"\];$', dot, re.MULTILINE)
    unescaped = {(int(a), int(b), re.sub(r"\\(.)", r"\1", label)) for a, b, label in drawn}
    assert unescaped == set(edges(dfa))


def test_svg_holds_every_state_and_edge_apart(dfa: DFA) -> None:
    root = ET.fromstring(to_svg(dfa))
    width, height = float(root.attrib["width"]), float(root.attrib["height"])
    found = list(edges(dfa))
    assert len(root.findall(f"{SVG}path")) == len(found) + 1
    assert [title.text for title in root.iter(f"{SVG}title")] == [label for _, _, label in found]
    states = [c for c in root.findall(f"{SVG}circle") if "state" in c.attrib["class"]]
    centres = [(float(c.attrib["cx"]), float(c.attrib["cy"])) for c in states]
    assert len(centres) == dfa.n_states
    assert sum("accepting" in c.attrib["class"] for c in states) == dfa.accept.sum()
    for i, (x, y) in enumerate(centres):
        assert 20 <= x <= width - 20
        assert 20 <= y <= height - 20
        assert all(abs(x - a) > 60 or abs(y - b) > 60 for a, b in centres[:i])
    middles = [sum(column) / len(column) for column in columns_of(centres)]
    assert max(middles) - min(middles) <= 1
    for box in root.iter(f"{SVG}rect"):
        if box.attrib.get("class") == "back":
            assert float(box.attrib["x"]) >= 0
            assert float(box.attrib["x"]) + float(box.attrib["width"]) <= width


def columns_of(centres: list[tuple[float, float]]) -> list[list[float]]:
    """The heights of the states in each column."""
    return [[y for x, y in centres if x == column] for column in {x for x, _ in centres}]


@pytest.mark.parametrize(("name", "start"), [("a.svg", "<svg"), ("a.dot", "digraph")])
def test_draw_writes_the_file(
    name: str, start: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / name
    assert main(["dfa", "--regex", "ab", "--draw", str(file)]) == 0
    assert file.read_text().startswith(start)
    assert "Accepting" in capfd.readouterr().out
