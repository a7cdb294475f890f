"""`forced_text` and what a refusal lists say exactly what the mask says: at every place of random walks.

The formats are those whose next byte hangs on more than the automaton: decimals, keys and items that
remember, counts, special tokens; the vocabularies have all bytes, some, or bytes within longer tokens alone.
"""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import Any

import maskwright as mw
import pytest
from oracles.next_bytes import expected_by_mask, expected_by_refusal, forced_by_masks

FORMATS = json.loads((Path(__file__).parents[1] / "data" / "engine" / "next_bytes.json").read_text())
BYTES = [bytes([byte]) for byte in range(256)]
WORDS = [b'":', b"nu", b"null", b"ab", b"abc", b"12", b"100", b"00", b'{"', b'"}', b", ", b"true", b"tr"]
NEEDED = b'{}[]",: .0123456789-eE+abcdefghijklmnopqrstuvwxyz\\'
STEPS = 14
LENGTH = 9


def vocabularies() -> dict[str, tuple[list[bytes | None], dict[str, int]]]:
    """Tokens, whose last ends the text, and special tokens."""
    some = [bytes([byte]) for byte in NEEDED]
    return {
        "bytes": ([*BYTES, None, None], {"<|a|>": 256}),
        "words": ([*BYTES, *WORDS, *WORDS[:2], None, None], {"<|a|>": 256 + len(WORDS) + 2}),
        "some bytes": ([*some, *WORDS, None, None], {"<|a|>": len(some) + len(WORDS)}),
        # No 0, 5 and n alone: they are read within longer tokens, which may be half of what is forced.
        "bytes in words": (
            [*(byte for byte in some if byte not in (b"0", b"5", b"n")), *WORDS, b"50", b"0,", None, None],
            {"<|a|>": len(some) - 3 + len(WORDS) + 2},
        ),
    }


VOCABULARIES = vocabularies()


@pytest.mark.parametrize("name", VOCABULARIES)
@pytest.mark.parametrize("case", FORMATS, ids=lambda case: str(case["argument"])[:60])
def test_bytes_equal_the_mask(case: dict[str, Any], name: str) -> None:
    tokens, special = VOCABULARIES[name]
    compiler = mw.Compiler(
        mw.Vocabulary.from_tokens(tokens, eos_id=len(tokens) - 1, special=special), cache_bytes=0
    )
    random = Random(len(name))
    try:
        index = getattr(compiler, case["method"])(case["argument"], **case.get("options", {}))
    except mw.VocabularyError:
        assert name != "bytes"
        return
    for _ in range(4):
        walk(index.constraint(), tokens, random)


def walk(constraint: Any, tokens: list[bytes | None], random: Random) -> None:
    for _ in range(STEPS):
        by_mask = expected_by_mask(constraint, tokens, {len(tokens) - 1})
        assert expected_by_refusal(constraint) == by_mask, constraint.tokens
        forced = constraint.forced_text()
        assert forced[:LENGTH] == forced_by_masks(constraint, tokens, LENGTH), constraint.tokens
        allowed = constraint.mask().nonzero()[0].tolist()
        if not allowed:
            return
        constraint.advance(random.choice(allowed))
        if constraint.done:
            assert constraint.forced_text() == b""
            return
