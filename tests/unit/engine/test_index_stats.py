"""Do the statistics of an index tell why a request was slow and what is large?"""

from __future__ import annotations

import time

import pytest
from maskwright import Compiler, Limits, Vocabulary

TOKENS = [*(bytes([byte]) for byte in range(256)), *(f"{n:x}".encode() for n in range(4000)), None]
VOCABULARY = Vocabulary.from_tokens(TOKENS, eos_id=len(TOKENS) - 1)
LEAST_CACHE_BYTES = 1 << 20
GRAMMAR = """
root ::= (small | large)*
small ::= "x" small "y" | "z"
large ::= "(" [a-c] [0-9]{2,40} ("one" | "two" | "three" | "four" | "five") large? ")"
"""


def test_the_time_of_a_compile_is_split() -> None:
    compiler = Compiler(VOCABULARY)
    begin = time.perf_counter()
    stats = compiler.choices([f"word {n}" for n in range(20_000)]).stats()
    spent = time.perf_counter() - begin
    assert 0 < stats["front_seconds"] < spent
    assert 0 < stats["native_seconds"] < spent
    assert stats["compile_seconds"] == stats["front_seconds"] + stats["native_seconds"] < spent
    assert stats["compile_seconds"] <= compiler.stats()["compile_seconds"] < spent


def test_rules_are_listed_most_bytes_first() -> None:
    stats = Compiler(VOCABULARY).grammar(GRAMMAR, "gbnf").stats()
    sizes = [size for _, _, size in stats["rule_sizes"]]
    assert sizes == sorted(sizes, reverse=True)
    assert stats["rule_sizes"][0][0] == "large"
    assert {"root", "small", "large"} <= {name for name, _, _ in stats["rule_sizes"]}
    assert sum(states for _, states, _ in stats["rule_sizes"]) == stats["states"]
    assert 0.5 * stats["program_bytes"] < sum(sizes) <= stats["program_bytes"]


def test_masks_are_counted_by_kind_and_once() -> None:
    """Few ids, a bitmask of its own, a change to a shared bitmask; equal masks of two places are one."""
    compiler = Compiler(VOCABULARY)
    index = compiler.regex("q(?:[0-9a-f]{2,}|[g-z]*)!(?:one|two)|rone1|sone2")
    for text in (b"", b"q", b"qa", b"qg", b"q!", b"r", b"s", b"q!one"):
        constraint = index.constraint()
        assert constraint.try_advance(list(text)) == len(text)
        constraint.mask()
        index.constraint().mask()
    stats = index.stats()
    assert stats["masks"] == stats["masks_sparse"] + stats["masks_patched"] + stats["masks_dense"]
    assert stats["masks_sparse"] > 0
    assert stats["masks_patched"] + stats["masks_dense"] > 0
    assert stats["masks_shared"] >= 1
    assert stats["mask_bytes_dense"] == (stats["masks"] + stats["masks_shared"]) * 4 * -(
        -len(VOCABULARY) // 32
    )
    assert stats["mask_bytes_saved"] == stats["mask_bytes_dense"] - stats["mask_bytes"] > 0


def test_hits_and_misses() -> None:
    index = Compiler(VOCABULARY).regex("[ab]{3}")
    for _ in range(5):
        index.constraint().mask()
    stats = index.stats()
    assert (stats["misses"], stats["hits"]) == (1, 4)
    parts = ("cache_bytes", "program_bytes", "grammar_bytes")
    assert sum(stats[part] for part in parts) == index.n_bytes


def test_a_full_cache_is_counted() -> None:
    index = Compiler(VOCABULARY, limits=Limits(cache_bytes=1)).grammar(
        'root ::= "(" root ")" root | ""', "gbnf"
    )
    constraint = index.constraint()
    assert constraint.try_advance([ord("(")] * 20_000) == 20_000
    stats = index.stats()
    assert stats["caches"] > 1
    assert stats["cache_bytes"] < 2 * LEAST_CACHE_BYTES


@pytest.mark.parametrize("name", ["source", "notes", "front_seconds", "native_seconds", "key", "other"])
def test_nobody_changes_an_index_that_others_have_too(name: str) -> None:
    index = Compiler(VOCABULARY).regex("[ab]{3}")
    before = repr(index)
    with pytest.raises(AttributeError):
        setattr(index, name, "x")
    with pytest.raises(AttributeError):
        delattr(index, name)
    assert repr(index) == before
