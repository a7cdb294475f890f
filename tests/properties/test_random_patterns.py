"""Does a pattern mean what Python's `re` and derivatives say it means, whatever the pattern?"""

from __future__ import annotations

import importlib.util
import re
import warnings
from pathlib import Path
from random import Random
from types import ModuleType

import numpy as np
import pytest
from maskwright.errors import LimitError, PatternError
from maskwright.reference import Constraint, ReferenceLimits, TokenIndex, regex_to_dfa
from random_patterns import random_pair, random_pattern
from sample_texts import near, random_text

PATTERNS_PER_SEED = 250
SEEDS = range(10)
TEXTS = 6  # random members of each pattern; every one is tried with its four near misses
LONGEST = 24  # `re` backtracks: (?:a*)*b takes twice as long for each further a
SYNTAX = r"ab01(|)*+?{},[]^-\.#:PxdDwsBZn<>=!iu "


@pytest.fixture(scope="module")
def oracle() -> ModuleType:
    path = Path(__file__).parent.parent.parent / "scripts" / "make_golden_masks.py"
    spec = importlib.util.spec_from_file_location("make_golden_masks", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("seed", SEEDS)
def test_random_patterns_match_python_re(seed: int) -> None:
    rng, compared = Random(seed), 0
    for _ in range(PATTERNS_PER_SEED):
        pattern = random_pattern(rng)
        dfa, python = regex_to_dfa(pattern), re.compile(pattern.encode())
        for _ in range(TEXTS):
            text = random_text(dfa, rng, stop=0.3, longest=LONGEST)
            for tried in near(text, rng):
                assert dfa.matches(tried) == bool(python.fullmatch(tried)), (pattern, tried)
                compared += dfa.matches(tried)
    assert compared > PATTERNS_PER_SEED * TEXTS  # members were among the texts, not only refused ones


@pytest.mark.parametrize("seed", SEEDS)
def test_any_text_is_read_as_python_reads_it_or_refused(seed: int) -> None:
    """Accepted means compiled by `re` with the same members; a syntax error means an error of `re`."""
    rng, accepted = Random(seed), 0
    for _ in range(1500):
        pattern = "".join(rng.choices(SYNTAX, k=rng.randrange(1, 9)))
        python: re.Pattern[bytes] | None
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                python = re.compile(pattern.encode())
        except re.error:
            python = None
        try:
            dfa = regex_to_dfa(pattern)
        except PatternError as error:
            assert 0 <= error.offset <= len(pattern)
            assert (error.code == "pattern.syntax") <= (python is None), pattern
            continue
        assert python is not None, pattern
        accepted += 1
        for tried in near(random_text(dfa, rng, longest=LONGEST), rng):
            assert dfa.matches(tried) == bool(python.fullmatch(tried)), (pattern, tried)
    assert accepted > 100


@pytest.mark.parametrize("seed", SEEDS)
def test_rewritten_patterns_have_equal_tables(seed: int) -> None:
    rng = Random(seed)
    limits = ReferenceLimits(max_dfa_states=2000)
    for _ in range(40):
        one, other = random_pair(rng)
        try:
            first, second = regex_to_dfa(one, limits=limits), regex_to_dfa(other, limits=limits)
        except LimitError:
            continue
        assert np.array_equal(first.trans, second.trans), (one, other)
        assert np.array_equal(first.accept, second.accept), (one, other)


@pytest.mark.parametrize("seed", SEEDS)
def test_random_masks_match_derivatives(seed: int, oracle: ModuleType) -> None:
    rng = Random(seed)
    alphabet = b"ab0_- ,.\n\\\xff{]\x00"
    for _ in range(15):
        pattern = random_pattern(rng)
        tokens: list[bytes | None] = [bytes([byte]) for byte in alphabet]
        tokens += [bytes(rng.choices(alphabet, k=rng.randrange(5))) for _ in range(40)] + [None]
        constraint = Constraint(TokenIndex(regex_to_dfa(pattern), tokens, eos_id=len(tokens) - 1))
        left = oracle.read(pattern.encode())
        for _ in range(6):
            mask = oracle.allowed_tokens(left, tokens, [len(tokens) - 1])
            assert constraint.mask().tolist() == mask, (pattern, constraint.tokens)
            choices = [i for i in range(len(tokens) - 1) if mask[i]]
            if not choices:
                break
            token_id = rng.choice(choices)
            constraint.advance(token_id)
            left = oracle.after(left, tokens[token_id])


def test_golden_file_is_what_the_script_makes(oracle: ModuleType) -> None:
    assert oracle.GOLDEN.read_text() == oracle.make_golden()
