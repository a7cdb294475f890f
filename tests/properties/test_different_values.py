"""Is each mask of different items right, where few values have many spellings? Held to each value on its own.

Style "accept" spells a character plain or escaped, and a number with any zeros. The oracle has an index for
each value alone, so it knows nothing of arrays: a text goes on where what is read of an item goes on to a
value that was not there before, and enough others are left.
"""

from __future__ import annotations

from random import Random
from typing import Any

import maskwright as mw
import pytest

LONG = "a text with a million spellings"
VALUES: dict[str, list[Any]] = {
    "long texts": [LONG, LONG[:-1] + "z", "another " + LONG],
    "texts that begin alike": ["", "a", "aa", "aaa", "a" * 20],
    "surrogate pairs": ["\U0001f600" * 5, "\U0001f600" * 4 + "\U0001f601", "\U0001f600" * 4, "\ue000" * 6],
    "what must be escaped": ['"' * 8, "\\" * 8, "\n\t" * 5, "/" * 12, "\x7f\x01" * 4],
    "numbers": [0, 1, -1, 0.5, 100, 1e-3],
    "numbers that begin alike": [1, 10, 100, 1.5, 1.05, 12],
    "values of all types": [None, True, False, 0, "0", "null", 1.25],
    "arrays": [[1], [1, 1], ["1", 1], [LONG], []],
}
BLANKS = frozenset(b" \t\n\r")
TOKENS = [*(bytes([byte]) for byte in range(256)), None]
END = 256
WALKS, STEPS = 12, 150


@pytest.fixture(scope="module")
def compiler() -> mw.Compiler:
    return mw.Compiler(mw.Vocabulary.from_tokens(TOKENS, eos_id=END))


class Oracle:
    """What may come next in `[` item `,` item ... `]`."""

    def __init__(self, compiler: mw.Compiler, values: list[Any], minimum: int) -> None:
        self._alone = [compiler.json_schema({"const": value}, style="accept") for value in values]
        self._minimum = minimum
        self._left = dict(enumerate(index.constraint() for index in self._alone))
        self._n_read = 0
        self._state = "start"

    def allowed(self) -> set[int]:
        if self._state == "start":
            return {ord("[")}
        if self._state == "done":
            return {END}
        found = {byte for item in self._left.values() for byte in item.mask().nonzero()[0] if byte != END}
        if self._whole() is not None:
            n_read = self._n_read + 1
            if n_read >= self._minimum:
                found.add(ord("]"))
            if len(self._left_after(self._whole())) > 0:
                found.add(ord(","))
        if self._n_read == 0 and self._minimum == 0 and self._at_item_start:
            found.add(ord("]"))
        return found

    def read(self, byte: int) -> None:
        if self._state == "start":
            self._state, self._begun = "items", set(self._left)
            self._at_item_start = True
            return
        going_on = {n: item for n, item in self._left.items() if item.allows(byte)}
        if going_on:
            for item in going_on.values():
                item.advance(byte)
            self._left, self._at_item_start = going_on, False
            return
        if byte == ord("]"):
            self._state = "done"
            return
        rest = self._left_after(self._whole())
        self._n_read += 1
        self._begun = rest
        self._left = {n: self._alone[n].constraint() for n in sorted(rest)}

    def _whole(self) -> int | None:
        """The value whose spelling was read."""
        return next((n for n, item in self._left.items() if item.is_complete()), None)

    def _left_after(self, value: int | None) -> set[int]:
        return {n for n in self._begun if n != value}


@pytest.mark.parametrize("minimum", [0, 3])
@pytest.mark.parametrize("name", VALUES)
def test_every_mask_on_random_walks(compiler: mw.Compiler, name: str, minimum: int) -> None:
    values = VALUES[name]
    schema = {"type": "array", "items": {"enum": values}, "uniqueItems": True, "minItems": minimum}
    index = compiler.json_schema(schema, style="accept")
    for seed in range(WALKS):
        rng = Random(f"{name} {minimum} {seed}")
        constraint, oracle, text = index.constraint(), Oracle(compiler, values, minimum), b""
        for _ in range(STEPS):
            wanted = oracle.allowed() - BLANKS
            found = set(constraint.mask().nonzero()[0].tolist()) - BLANKS
            assert found == wanted, (text, bytes(sorted(found ^ wanted - {END})))
            if wanted == {END}:
                break
            # An array that ends soon says little.
            ways = sorted(wanted - {ord("]")}) or sorted(wanted)
            byte = rng.choice([*ways, *(way for way in ways if way in b'\\,u"')])
            constraint.advance(byte)
            oracle.read(byte)
            text += bytes([byte])
