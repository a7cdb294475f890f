"""Is every token of a mask right? Random schemas and tokens cut out of their texts, against reading byte by
byte.

A seed makes some schemas, texts along their masks over single bytes, and a vocabulary of slices of these
texts, as they are and changed. At each place of a text the whole mask is compared with what its tokens' bytes
do one by one: so parts, skeletons, drafts and what is shared between formats are held to the step of one
byte. Some indexes are compiled after others of the same vocabulary, some renew their caches all the time.

    MASKWRIGHT_MASK_SEEDS=0:2000 pytest -m long -s tests/properties/test_schema_masks.py    many seeds
    MASKWRIGHT_MASK_SEEDS=7:8 pytest -m long -s tests/properties/test_schema_masks.py       one again
"""

from __future__ import annotations

import json
import os
from collections import Counter
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import maskwright as mw
import numpy as np
import pytest
from numpy.typing import NDArray
from oracles.meeting_schemas import meeting_schema
from oracles.random_schemas import REMOTE, random_schema
from oracles.read_by_bytes import BYTES, END, Tokens, bytes_compiler
from oracles.word_schemas import word_schema

CASES = json.loads((Path(__file__).parents[1] / "data" / "json_schema" / "masks.json").read_text("utf-8"))
SEEDS = range(8)
SCHEMAS, TEXTS, TOKENS, CHECKS = 4, 2, 1_200, 20
"""Schemas of a seed, texts of a schema, tokens longer than a byte, masks of a text."""
MAX_BACK = 3
"""Steps back of one text."""
SMALL = (20_000, 60_000, 200_000)
"""Bytes after which an index starts a new cache: some masks are larger."""
OPTIONS: tuple[dict[str, Any], ...] = (
    *({}, {}, {"property_order": "any"}, {"style": "accept"}, {"whitespace": "compact"}),
    *({"whitespace": "spaced"}, {"indent": 2}, {"property_order": "any", "whitespace": "spaced"}),
)
JOINTS = [
    text.encode()
    for text in (
        *(
            '","',
            '": "',
            '":"',
            '"},{"',
            '"}, {',
            '"}]',
            "{}",
            "[]",
            "null",
            "true",
            "false",
            ' "',
            '\\"',
            "\\u",
        ),
        *(
            "\\n",
            "\\\\",
            "00",
            "E+",
            "0.",
            "  ",
            "\n",
            "\n  ",
            "    ",
            "\t",
            '":',
            '",',
            '": {"',
            '": ["',
            "},",
        ),
        *(
            "}}",
            "}}}",
            "]]",
            '","","',
            '",\n  "',
            "éé",
            '"a":1,"',
            ": ",
            '", "',
            "\\u00",
            "\\/",
            "aaaa",
            "abab",
        ),
    )
]
CHANGES = rb'"\,:{}[] abn019.-e' + b"\n" + "é".encode()


@pytest.mark.parametrize("seed", SEEDS)
def test_masks_are_what_reading_byte_by_byte_allows(seed: int) -> None:
    counts = _Round(seed).run()
    print(f"seed {seed}: {dict(counts)}")
    assert counts["masks"] >= 2 * SCHEMAS * TEXTS, f"seed {seed}: too little was compared: {counts}"


@pytest.mark.long
def test_masks_of_many_seeds() -> None:
    first, past = map(int, os.environ.get("MASKWRIGHT_MASK_SEEDS", "100:400").split(":"))
    counts: Counter[str] = Counter()
    for seed in range(first, past):
        counts += _Round(seed).run()
    print(f"seeds {first} to {past - 1}: {dict(counts)}")


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["what"])
def test_masks_that_were_wrong_once(case: dict[str, Any]) -> None:
    tokens = Tokens([*BYTES, *(token.encode() for token in case["tokens"]), None])
    schema, options = case["schema"], case.get("options", {})
    constraint = _compiler(tokens).json_schema(schema, **options).constraint()
    single = _bytes().json_schema(schema, **options).constraint()
    read = case["read"].encode()
    assert constraint.try_advance(read) == single.try_advance(read) == len(read)
    mask = constraint.mask()
    allowed = [token for token, is_allowed in zip(case["tokens"], mask[256:-1], strict=True) if is_allowed]
    assert allowed == case["allowed"]
    assert not np.flatnonzero(mask != tokens.mask(single)).size


class _Round:
    """What one seed makes."""

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.random = Random(seed)
        self.words = seed % 3 == 2
        """Schemas of words; and of the tokens a third begins with a blank, and some are long."""
        self.counts: Counter[str] = Counter()

    def run(self) -> Counter[str]:
        """Compares masks; how many, and of how many schemas."""
        random = self.random
        formats = [self._format() for _ in range(SCHEMAS)]
        tokens = Tokens(self._tokens([text for *_, texts in formats for text in texts]))
        shared = _compiler(tokens)
        for schema, options, single, texts in formats:
            small = _compiler(tokens, mw.Limits(cache_bytes=random.choice(SMALL)))
            for compiler in (shared, small) if random.random() < 0.3 else (shared,):
                index = _compiled(compiler, schema, options)
                for text in texts:
                    walk = _Walk(tokens, index, single, text, random)
                    walk.where = f"seed {self.seed}: {json.dumps(schema)} {options}"
                    walk.run()
                    self.counts["masks"] += walk.compared
            self.counts["schemas"] += 1
        return self.counts

    def _format(self) -> tuple[Any, dict[str, Any], mw.Index, list[bytes]]:
        """A schema, options, its index over single bytes, and texts or beginnings of texts."""
        random = self.random
        while True:
            schema = (
                word_schema(random)
                if self.words
                else meeting_schema(random)
                if random.random() < 0.7
                else random_schema(random, random.choice((2, 3)))
            )
            options = random.choice(OPTIONS)
            try:
                single = _compiled(_bytes(), schema, options)
            except (mw.SchemaError, mw.LimitError):
                self.counts["refused"] += 1
                continue
            return schema, options, single, [self._text(single) for _ in range(TEXTS)]

    def _text(self, index: mw.Index) -> bytes:
        constraint, random, text = index.constraint(), self.random, bytearray()
        while len(text) < 160:
            allowed = np.flatnonzero(constraint.mask()).tolist()
            assert allowed, f"seed {self.seed}: stranded after {bytes(text)!r}"
            if END in allowed and (len(allowed) == 1 or random.random() < 0.4):
                break
            allowed = [byte for byte in allowed if byte != END]
            wanted = b"abn  -@.,:" + b'"' * (len(text) > 40) if self.words else b'abcn0123-,:"[{}]xe'
            usual = [byte for byte in allowed if byte in wanted] or allowed
            closing = [byte for byte in allowed if byte in b'"]}' and not self.words] or usual
            byte = random.choice(random.choice((allowed, usual, usual, usual, closing)))
            constraint.advance(byte)
            text.append(byte)
        return bytes(text)

    def _tokens(self, texts: list[bytes]) -> list[bytes | None]:
        random, found = self.random, set(JOINTS)
        for _ in range(4 * TOKENS):
            text = random.choice(texts)
            start, length = (
                random.randrange(len(text)),
                random.choice((1, 2, 2, 3, 3, 4, 5, 6, 8, 10, 14, 20, 30, *(17, 18, 40, 90) * self.words)),
            )
            token = bytearray(text[start : start + length])
            if random.random() < 0.45:
                token.pop(random.randrange(len(token)))
                token.insert(random.randrange(len(token) + 1), random.choice(CHANGES))
            if self.words and random.random() < 0.3:
                token[:0] = b" "
            found.add(bytes(token) * random.choice((1,) * 20 + (2, 4)))
            if len(found) >= TOKENS:
                break
        longer = sorted(found)
        random.shuffle(longer)
        return [*BYTES, *longer, *longer[:20], b"", None]


class _Walk:
    """Reads a text in random tokens, with some steps back, beside a constraint over single bytes."""

    where = ""

    def __init__(
        self, tokens: Tokens, index: mw.Index, single: mw.Index, text: bytes, random: Random
    ) -> None:
        self.tokens, self.text, self.random = tokens, text, random
        self.constraint, self.single = index.constraint(), single.constraint()
        self.compared = self.backs = 0
        self.expected: dict[int, NDArray[np.bool_]] = {}
        self.starts: list[int] = []
        self.place = 0

    def run(self) -> None:
        every = CHECKS / (len(self.text) + 1)
        self._compare()
        while self.place < len(self.text):
            self._advance()
            if self.backs < MAX_BACK and self.random.random() < 0.05:
                self._back()
            if self.random.random() < 0.03:
                self.constraint = self.constraint.fork()
            if self.random.random() < every:
                self._compare()

    def _advance(self) -> None:
        text, place = self.text, self.place
        lengths = self.random.sample((1, 1, 2, 3, 4, 6), 3)
        ids, pieces = self.tokens.ids, [text[place : place + length] for length in (*lengths, 1)]
        token = next(piece for piece in pieces if piece in ids)
        assert self.constraint.try_advance([ids[token]]) == 1, self._say(f"{token!r} is refused")
        self.single.try_advance(token)
        self.starts.append(place)
        self.place += len(token)

    def _back(self) -> None:
        self.backs += 1
        n = self.random.randrange(1, len(self.starts) + 1)
        self.constraint.rollback(n)
        self.single.rollback(self.place - self.starts[-n])
        self.place = self.starts[-n]
        del self.starts[-n:]

    def _compare(self) -> None:
        if self.place not in self.expected:
            self.expected[self.place] = self.tokens.mask(self.single)
        mask, expected = self.constraint.mask(), self.expected[self.place]
        wrong = np.flatnonzero(mask != expected).tolist()
        some = [(self.tokens.tokens[token], bool(mask[token])) for token in wrong[:8]]
        assert not wrong, self._say(f"{len(wrong)} tokens are wrong, as (token, mask): {some}")
        for token in self.random.sample(range(len(mask)), 5):
            assert self.constraint.allows(token) == mask[token], self._say(f"allows({token})")
        self.compared += 1

    def _say(self, what: str) -> str:
        return f"{self.where}: after {self.text[: self.place]!r}: {what}"


@cache
def _bytes() -> mw.Compiler:
    return bytes_compiler()


def _compiler(tokens: Tokens, limits: mw.Limits | None = None) -> mw.Compiler:
    vocabulary = mw.Vocabulary.from_tokens(tokens.tokens, eos_id=len(tokens.tokens) - 1)
    return mw.Compiler(vocabulary, cache_bytes=0, limits=limits)


def _compiled(compiler: mw.Compiler, schema: Any, options: dict[str, Any]) -> mw.Index:
    return compiler.json_schema(schema, registry={REMOTE: {"type": ["string", "array"]}}, **options)
