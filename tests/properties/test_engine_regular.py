"""Are the engine's masks those of the reference, at every step of random walks, whatever the pattern?"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from maskwright import Compiler, Limits, Vocabulary, allocate_bitmask, regex_to_dfa
from maskwright._native import Constraint as EngineConstraint
from maskwright.errors import LimitError, TokenNotAllowed
from maskwright.kernel import build_masks, build_trie
from maskwright.reference import Constraint, TokenIndex
from random_patterns import random_pattern
from vocabularies import real_vocabulary

SEEDS = range(8)
PATTERNS = 100  # a seed
STEPS = 12  # tokens of a walk
ALPHABET = [b"a", b"b", b"0", b"_", b"-", b" ", b",", b".", b"\n", b"\\", b"\xff", b"]", b"{", b"\0", b"c"]
GOLDEN = json.loads((Path(__file__).parents[1] / "data" / "masks_golden.json").read_text())


def random_vocabulary(rng: Random) -> Vocabulary:
    """All bytes, longer tokens, twins, holes, padding, and two EOS ids, one of them with bytes."""
    longer = [b"".join(rng.choices(ALPHABET, k=rng.randrange(2, 7))) for _ in range(rng.randrange(60))]
    tokens: list[bytes | None] = [bytes([byte]) for byte in range(256)]
    tokens += [*longer, *rng.choices(longer or [b"aa"], k=3), b"", None, None, b"<end>"]
    rng.shuffle(tokens)
    eos = [tokens.index(b"<end>"), tokens.index(None)]
    return Vocabulary.from_tokens(
        tokens, eos_id=eos, special={"<x>": tokens.index(None)}, vocab_size=len(tokens) + 7
    )


def outside(vocabulary: Vocabulary) -> list[int]:
    size = len(vocabulary)
    return [-1, -size, size, size + 31, 1 << 31, 1 << 32, 1 << 70, -(1 << 70)]


def check_views(constraint: EngineConstraint, vocabulary: Vocabulary) -> np.ndarray[Any, Any]:
    """`mask`, `fill_bitmask` and `allows` agree on every id; gives the mask."""
    mask = constraint.mask()
    bitmask = np.full((3, allocate_bitmask(1, len(vocabulary)).shape[1] + 1), 7, np.int32)
    restricts = constraint.fill_bitmask(bitmask, 1)
    assert bitmask[[0, 2]].tolist() == [[7] * bitmask.shape[1]] * 2
    bits = np.unpackbits(bitmask[1].view(np.uint8), bitorder="little").astype(bool)
    assert bits[: len(mask)].tolist() == mask.tolist()
    assert not bits[len(mask) :].any()
    assert [constraint.allows(token_id) for token_id in range(len(mask))] == mask.tolist()
    assert not any(constraint.allows(token_id) for token_id in outside(vocabulary))
    assert restricts == (not mask.all())
    return mask


def check_refusals(constraint: EngineConstraint, mask: np.ndarray[Any, Any], vocabulary: Vocabulary) -> None:
    """Each id outside the mask is refused, and nothing changes."""
    before = constraint.state, constraint.tokens, constraint.done
    for token_id in [*np.flatnonzero(~mask).tolist(), *outside(vocabulary)]:
        with pytest.raises(TokenNotAllowed):
            constraint.advance(token_id)
        assert constraint.try_advance([token_id]) == 0
        assert constraint.count_allowed([token_id]) == 0
    assert (constraint.state, constraint.tokens, constraint.done) == before


def snapshot(constraint: EngineConstraint) -> tuple[Any, ...]:
    return (
        constraint.tokens,
        constraint.done,
        constraint.is_complete(),
        constraint.mask().tobytes(),
        constraint.forced_text(),
    )


def pick(mask: np.ndarray[Any, Any], eos_ids: frozenset[int], rng: Random) -> int:
    """Longer tokens and ends as often as single bytes."""
    allowed = np.flatnonzero(mask).tolist()
    ends = [token_id for token_id in allowed if token_id in eos_ids]
    return rng.choice(ends if ends and rng.random() < 0.15 else allowed)


@pytest.mark.parametrize("seed", SEEDS)
def test_masks_equal_the_reference(seed: int) -> None:
    rng, compared = Random(seed), 0
    vocabulary = random_vocabulary(rng)
    compiler = Compiler(vocabulary)
    for _ in range(PATTERNS):
        pattern = random_pattern(rng)
        constraint = compiler.regex(pattern.encode("latin-1"), "python-bytes").constraint()
        wanted = Constraint(TokenIndex(regex_to_dfa(pattern), vocabulary.tokens, vocabulary.eos_ids))
        for step in range(STEPS):
            mask = check_views(constraint, vocabulary)
            assert mask.tolist() == wanted.mask().tolist(), (pattern, constraint.tokens)
            assert constraint.is_complete() == wanted.is_complete()
            assert constraint.forced_text() == wanted.forced_text(), (pattern, constraint.tokens)
            compared += 1
            if step % 4 == 0:
                check_refusals(constraint, mask, vocabulary)
            if not mask.any():
                assert constraint.done, "only after the end is nothing allowed"
                break
            token_id = pick(mask, vocabulary.eos_ids, rng)
            ahead = [token_id, *rng.choices(range(-1, len(mask) + 1), k=3)]
            fork = constraint.fork()
            assert fork.count_allowed(ahead) == fork.try_advance(ahead) == wanted.count_allowed(ahead) >= 1
            constraint.advance(token_id)
            wanted.advance(token_id)
            assert constraint.tokens == wanted.tokens
    assert compared > 3 * PATTERNS


@pytest.mark.parametrize("case", GOLDEN["cases"], ids=lambda case: str(case["pattern"])[:40])
def test_masks_equal_the_golden_file(case: dict[str, Any]) -> None:
    """Each byte is added as a token after the others: the engine refuses a vocabulary that cannot finish."""
    given = GOLDEN["vocabularies"][case["vocabulary"]]
    tokens = [None if token is None else bytes.fromhex(token) for token in given["tokens"]]
    vocabulary = Vocabulary.from_tokens(
        [*tokens, *(bytes([byte]) for byte in range(256))], eos_id=given["eos"]
    )
    index = Compiler(vocabulary).regex(case["pattern"].encode("latin-1"), "python-bytes")
    for path in case["paths"]:
        constraint = index.constraint()
        for at, wanted in enumerate(path["masks"]):
            mask = check_views(constraint, vocabulary)[: len(tokens)]
            assert np.packbits(mask, bitorder="little").tobytes().hex() == wanted, path
            assert constraint.is_complete() == path["complete"][at]
            if at < len(path["tokens"]):
                constraint.advance(path["tokens"][at])


UTF8 = (
    r"[\x00-\x7f]|[\xc2-\xdf][\x80-\xbf]|\xe0[\xa0-\xbf][\x80-\xbf]|[\xe1-\xec\xee\xef][\x80-\xbf]{2}"
    r"|\xed[\x80-\x9f][\x80-\xbf]|\xf0[\x90-\xbf][\x80-\xbf]{2}|[\xf1-\xf3][\x80-\xbf]{3}"
    r"|\xf4[\x80-\x8f][\x80-\xbf]{2}"
)
IN_STRING = UTF8.replace(r"[\x00-\x7f]", r"[ !#-\[\]-\x7f]")
NOT_SPACE = UTF8.replace(r"[\x00-\x7f]", r"[\x00-\x08\x0e-\x1f!-\x7f]")
WITH_PARTS = {
    "a string": f'"(?:{IN_STRING})*"',
    "strings": rf'\["(?:{IN_STRING})*"(?:, ?"(?:{IN_STRING})*")*\]',
    "escapes": rf'"(?:{IN_STRING}|\\["n\\]|\\u[0-9a-f]{{4}})*"',
    "bounds": f'"(?:{IN_STRING}){{3,9}}",',
    "lines": rf"(?:(?:{UTF8.replace('00', '0b')})+\n)*",
    "words": "(?:[a-z]{2,20} )*[A-Za-z]+",
    "names": r"(?:[A-Za-z_][A-Za-z0-9_]*(?:, |\.))*end",
    "not space": f"(?:{NOT_SPACE})+(?: (?:{NOT_SPACE})+)*",
    "anything": f"(?:{UTF8})*x",
}
"""Each loops on a class of characters that the vocabulary keeps a part for."""


@pytest.fixture(scope="module")
def compilers(tmp_path_factory: pytest.TempPathFactory) -> list[Compiler]:
    """With a vocabulary made, and with the same one read from disk."""
    where = tmp_path_factory.mktemp("vocabulary")
    return [Compiler(real_vocabulary("llama3"), cache_dir=where) for _ in range(2)]


@pytest.mark.parametrize("name", WITH_PARTS)
def test_masks_from_parts_equal_those_of_a_walk(name: str, compilers: list[Compiler]) -> None:
    """The oracle is the kernel, which walks the whole trie from a DFA state and is held to brute force."""
    rng = Random(name)
    vocabulary = real_vocabulary("llama3")
    dfa = regex_to_dfa(WITH_PARTS[name])
    kernel = build_masks(build_trie(vocabulary.tokens), dfa.trans, dfa.accept, vocabulary.eos_ids)
    made, read = (compiler.regex(WITH_PARTS[name].encode(), "python-bytes") for compiler in compilers)
    bitmask = allocate_bitmask(3, len(vocabulary))
    for _ in range(4):
        constraint, twin, state = made.constraint(), read.constraint(), 0
        for _ in range(12):
            constraint.fill_bitmask(bitmask, 0)
            twin.fill_bitmask(bitmask, 1)
            kernel.fill_bitmask(state, bitmask, 2)
            assert (bitmask[0] == bitmask[2]).all(), (name, constraint.tokens)
            assert (bitmask[1] == bitmask[2]).all(), (name, constraint.tokens)
            allowed = np.flatnonzero(np.unpackbits(bitmask[0].view(np.uint8), bitorder="little"))
            ordinary = allowed[allowed < 128_000]
            if not ordinary.size:
                break
            token_id = int(rng.choice(ordinary))
            constraint.advance(token_id)
            twin.advance(token_id)
            state = dfa.step(state, vocabulary.tokens[token_id] or b"")
    kinds = made.stats()
    assert kinds["masks_patched"] > 0, "no mask was made from a part"


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("cache_bytes", [1, 1_000, 64 << 20])
def test_rollback_and_fork_are_exact(seed: int, cache_bytes: int) -> None:
    """Over ends, and over caches that other requests of the index fill and replace."""
    rng = Random(seed)
    vocabulary = random_vocabulary(rng)
    compiler = Compiler(vocabulary, limits=Limits(cache_bytes=cache_bytes))
    replaced = 0
    for _ in range(8):
        pattern = f"(?:{random_pattern(rng)})(?:[ab0]|_[ -])*"
        index = compiler.regex(pattern.encode("latin-1"), "python-bytes")
        constraint, trail = index.constraint(), []
        others = [index.constraint() for _ in range(3)]
        for _ in range(30):
            trail.append(snapshot(constraint))
            assert snapshot(constraint.fork()) == trail[-1]
            for other in others:
                wander(other, vocabulary, rng)
            mask = constraint.mask()
            if mask.any() and rng.random() < 0.8:
                constraint.advance(pick(mask, vocabulary.eos_ids, rng))
                continue
            back = rng.randrange(len(trail))
            fork = constraint.fork()
            constraint.rollback(back)
            del trail[len(trail) - back :]
            assert snapshot(constraint) == trail[-1]
            trail.pop()
            wander(fork, vocabulary, rng)
        replaced += index.stats()["caches"] > 1
        for count in (-1, len(constraint.tokens) + 1):
            before = snapshot(constraint)
            with pytest.raises(ValueError, match="roll back"):
                constraint.rollback(count)
            assert snapshot(constraint) == before
        constraint.rollback(len(constraint.tokens))
        assert snapshot(constraint) == snapshot(index.constraint())
    assert bool(replaced) == (cache_bytes == 1) or cache_bytes == 1_000


def wander(constraint: EngineConstraint, vocabulary: Vocabulary, rng: Random) -> None:
    mask = constraint.mask()
    if mask.any():
        constraint.advance(pick(mask, vocabulary.eos_ids, rng))
    else:
        constraint.reset()


def test_two_threads_give_the_masks_of_one() -> None:
    """32 constraints of 8 indexes, with ends and Nones among them; each round is cold for both."""
    rng = Random(0)
    vocabulary = random_vocabulary(rng)
    patterns = [
        b"(?:[a-c]|0_)*",
        b"[^a]*a[^b]{3}",
        b".*b",
        b"[ab]*a[ab]{3}",
        rb"(?:\w+[ -,])*",
        b"a?b?0?_?-?",
        rb"\W*",
        b"(?:a|b0)+",
    ]
    walks = [
        [index.constraint() for index in indexes(vocabulary, patterns, threads) for _ in range(4)]
        for threads in (1, 2)
    ]
    single, double = Compiler(vocabulary, threads=1), Compiler(vocabulary, threads=2)
    for step in range(25):
        one, two = allocate_bitmask(32, len(vocabulary)), allocate_bitmask(33, len(vocabulary))
        rows = rng.sample(range(33), 32)
        assert single.fill_bitmasks([None if i == step else c for i, c in enumerate(walks[0])], one) is None
        assert (
            double.fill_bitmasks([None if i == step else c for i, c in enumerate(walks[1])], two, rows)
            is None
        )
        assert (two[rows] == one).all()
        everything = np.unpackbits(one[step].view(np.uint8), bitorder="little").astype(bool)
        known = [i for i, token in enumerate(vocabulary.tokens) if token is not None]
        last = max([*known, *vocabulary.eos_ids])  # what comes after it is padding
        assert np.flatnonzero(everything).tolist() == [
            i for i, token in enumerate(vocabulary.tokens) if token or (i <= last and token is None)
        ]
        for left, right in zip(*walks, strict=True):
            mask = left.mask()
            assert mask.tolist() == right.mask().tolist()
            if mask.any():
                token_id = pick(mask, vocabulary.eos_ids, rng)
                left.advance(token_id)
                right.advance(token_id)


def indexes(vocabulary: Vocabulary, patterns: list[bytes], threads: int) -> list[Any]:
    compiler = Compiler(vocabulary, threads=threads)
    return [compiler.regex(pattern, "python-bytes") for pattern in patterns]


def test_a_row_that_fails_costs_that_row_only() -> None:
    tokens: list[bytes | None] = [bytes([byte]) for byte in range(256)]
    tokens += [b"ab" * n for n in range(1, 200)]
    vocabulary = Vocabulary.from_tokens([*tokens, None], eos_id=455)
    bounded, free = Compiler(vocabulary, limits=Limits(mask_work=20)), Compiler(vocabulary)
    hard, easy = bounded.regex("(?:a|b|ab|ba)*").constraint(), free.regex("ab").constraint()
    bitmask = np.full((3, 15), 7, np.int32)
    errors = bounded.fill_bitmasks([easy, hard, easy], bitmask)
    assert errors is not None
    assert [type(error) for error in errors] == [type(None), LimitError, type(None)]
    assert bitmask[1].tolist() == [0] * 15
    assert (bitmask[0] == bitmask[2]).all()
    assert bitmask[0].any()


FORKED = """
import os, resource, sys
resource.setrlimit(resource.RLIMIT_AS, (8 << 30, 8 << 30))
import maskwright as mw
vocabulary = mw.Vocabulary.default()
compiler = mw.Compiler(vocabulary, threads=2)
known = compiler.regex("[a-z ]*")
before = known.constraint().mask().tolist()
bitmask = mw.allocate_bitmask(32, len(vocabulary))
compiler.fill_bitmasks([compiler.regex(f"x{n}[a-z]*").constraint() for n in range(32)], bitmask)
child = os.fork()
if child == 0:
    index = compiler.regex("(new|[0-9]+)*")
    bitmask = mw.allocate_bitmask(32, len(vocabulary))
    errors = compiler.fill_bitmasks([compiler.regex(f"y{n}[a-z]*").constraint() for n in range(32)], bitmask)
    fine = errors is None and bitmask.any(axis=1).all() and index.constraint().mask().any()
    os._exit(0 if fine and known.constraint().mask().tolist() == before else 1)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_a_forked_process_goes_on() -> None:
    done = subprocess.run(
        [sys.executable, "-c", FORKED], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
