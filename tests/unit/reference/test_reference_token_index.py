"""Are the reference's masks right and quick on real vocabularies, and is its cache bounded?"""

from __future__ import annotations

import time
from random import Random

import numpy as np
import pytest
from maskwright.errors import MaskwrightError, VocabularyError
from maskwright.reference import DEAD, ReferenceLimits, TokenIndex, json_schema_to_regex, regex_to_dfa
from vocabularies import real_vocabulary

SCHEMA = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "age": {"type": "integer"}, "tags": {"enum": ["é", "x y"]}},
    "required": ["age"],
}
PATTERNS = [json_schema_to_regex(SCHEMA), r"[\x00-\xff]*", r"(?: ?[a-z]+)+\.", r"\d{1,3}(?:,\d{3})*"]
SLOWEST = 0.020  # seconds a mask over 128,000 tokens may take


@pytest.mark.parametrize("pattern", PATTERNS)
@pytest.mark.parametrize("name", ["llama3", "tekken", "mistral", "qwen"])
def test_real_masks_match_brute_force(name: str, pattern: str) -> None:
    vocabulary, rng = real_vocabulary(name), Random(7)
    tokens, eos_ids = list(vocabulary.tokens), sorted(vocabulary.eos_ids)
    index = TokenIndex(regex_to_dfa(pattern), tokens, eos_id=eos_ids)
    dfa = index.dfa
    sampled = [*rng.sample(range(len(tokens)), 1500), *eos_ids]
    for state in rng.sample(range(dfa.n_states), min(6, dfa.n_states)):
        mask = index.mask(state)
        for token_id in sampled + np.flatnonzero(mask)[:200].tolist():
            token = tokens[token_id]
            if token_id in eos_ids:
                expected = bool(dfa.accept[state])
            else:
                expected = bool(token) and dfa.step(state, token or b"") != DEAD
            assert mask[token_id] == expected, (state, token_id, token)


def test_a_mask_over_llama3_takes_at_most_20_ms() -> None:
    vocabulary = real_vocabulary("llama3")
    dfa = regex_to_dfa(json_schema_to_regex({"type": "string"}))
    times: dict[int, float] = {}
    for _ in range(3):
        index = TokenIndex(dfa, list(vocabulary.tokens), eos_id=sorted(vocabulary.eos_ids))
        for state in range(dfa.n_states):
            start = time.thread_time()  # other processes share the machine
            index.mask(state)
            times[state] = min(times.get(state, 9.0), time.thread_time() - start)
    assert max(times.values()) <= SLOWEST, times


def test_cache_is_bounded_and_masks_are_read_only() -> None:
    limits = ReferenceLimits(max_cached_mask_bytes=10)
    index = TokenIndex(regex_to_dfa("abcdefgh"), [b"a", b"ab", b"c", b"h"], limits=limits)
    masks = [index.mask(state).tolist() for state in (*range(9), *range(9))]
    assert masks[:9] == masks[9:]
    last = [index.mask(state) for state in range(9)]
    found = [index.mask(state) is last[state] for state in reversed(range(9))]
    assert found == [True] * 2 + [False] * 7
    kept = index.mask(0)
    assert index.mask(0) is kept
    with pytest.raises(ValueError, match="read-only"):
        kept[0] = False
    with pytest.raises(ValueError, match="read-only"):
        index.dfa.trans[0, 0] = 0


def test_vocabularies_at_the_edges() -> None:
    dfa = regex_to_dfa("a*")
    assert TokenIndex(dfa, []).mask(0).shape == (0,)
    assert TokenIndex(dfa, [None, b""], eos_id=0).mask(0).tolist() == [True, False]
    assert TokenIndex(dfa, [None, b"a"]).mask(0).tolist() == [False, True]
    assert TokenIndex(dfa, [b"a"] * 3, eos_id=(2, 2)).mask(0).tolist() == [True] * 3
    assert TokenIndex(dfa, [b"a" * 1000, b"a" * 999 + b"b", b"a"]).mask(0).tolist() == [True, False, True]
    for eos_id in (-1, 1, [0, 5]):
        with pytest.raises(VocabularyError):
            TokenIndex(dfa, [b"a"], eos_id=eos_id)
    for state in (-2, 1):
        with pytest.raises(MaskwrightError):
            TokenIndex(dfa, [b"a"]).mask(state)


def test_equal_tokens_share_a_node() -> None:
    index = TokenIndex(regex_to_dfa("ab"), [b"ab", b"a", b"ab", b"abc", b"b"])
    assert index.mask(0).tolist() == [True, True, True, False, False]
    assert index.mask(1).tolist() == [False] * 4 + [True]
