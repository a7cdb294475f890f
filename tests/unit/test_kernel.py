"""Does the native kernel say what the reference and brute force say, and does it refuse what does not fit?"""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from maskwright import _native
from maskwright.errors import InternalError, LimitError, MaskwrightError, VocabularyError
from maskwright.kernel import DfaMasks, build_masks, build_trie
from maskwright.reference.dfa import DFA, regex_to_dfa
from maskwright.reference.token_index import TokenIndex
from numpy.typing import NDArray
from vocabularies import real_vocabulary

PAIR_COUNT = 1000


def unpacked(bitmask: NDArray[np.int32], n_tokens: int) -> NDArray[np.bool_]:
    """Bits to bools, little end first; fails if a bit past the vocabulary is set."""
    bits = np.unpackbits(bitmask.view(np.uint8), bitorder="little").astype(bool)
    assert not bits[n_tokens:].any()
    return bits[:n_tokens]


def native_mask(masks: DfaMasks, state: int, n_tokens: int) -> NDArray[np.bool_]:
    """The mask by a walk, by the fill that computes it and by the fill that copies it: all the same."""
    bitmask = np.full((3, masks.n_words), -1, np.int32)
    hints = {
        masks.walk_bitmask(state, bitmask, 0),
        masks.fill_bitmask(state, bitmask, 1),
        masks.fill_bitmask(state, bitmask, 2),
    }
    assert (bitmask == bitmask[0]).all()
    assert len(hints) == 1
    return unpacked(bitmask[0], n_tokens)


def brute_force(
    dfa: DFA, tokens: list[bytes | None], eos_ids: list[int], states: list[int]
) -> list[list[bool]]:
    """The definition, token by token and byte by byte."""

    def allowed(state: int, token_id: int) -> bool:
        if token_id in eos_ids:
            return bool(dfa.accept[state])
        for byte in tokens[token_id] or b"":
            if state != -1:
                state = int(dfa.trans[state, byte])
        return bool(tokens[token_id]) and state != -1

    return [[allowed(state, token_id) for token_id in range(len(tokens))] for state in states]


def random_pattern(random: Random, depth: int = 4) -> str:
    """A pattern of a few pieces that real tokens can enter, leave and cross."""
    pieces = [
        lambda: random.choice(
            ["a", "the", " ", "in", '"', "\\{", "\\n", ", ", ":", "0", "\\xe2\\x80", "ing"]
        ),
        lambda: random.choice(
            ["[a-z]", '[^"]', "\\d", "\\w", "\\s", ".", "[\\x80-\\xbf]", "[A-Z ]", "[^a-m]"]
        ),
        lambda: random_pattern(random, depth - 1) + random_pattern(random, depth - 1),
        lambda: f"(?:{random_pattern(random, depth - 1)}|{random_pattern(random, depth - 1)})",
        lambda: (
            f"(?:{random_pattern(random, depth - 1)})"
            + random.choice(["*", "+", "?", "{2}", "{1,4}", "{3,}"])
        ),
    ]
    return random.choice(pieces[2:] if depth > 2 else pieces if depth else pieces[:2])()


def union(dfas: list[DFA]) -> DFA:
    """All tables as one, so that the reference lays out the vocabulary once."""
    shifts = np.cumsum([0, *(dfa.n_states for dfa in dfas)])
    rows = [
        np.where(dfa.trans < 0, dfa.trans, dfa.trans + shift)
        for dfa, shift in zip(dfas, shifts, strict=False)
    ]
    return DFA(np.concatenate([dfa.accept for dfa in dfas]), np.concatenate(rows).astype(np.int32))


@pytest.fixture(scope="module")
def llama3() -> list[bytes | None]:
    return list(real_vocabulary("llama3").tokens)


# Pieces of "é", "€" and "𝄞" cut anywhere, NUL, 0xFF, and letters that make twins and prefixes likely.
BYTES = st.sampled_from([0, 0x61, 0x62, 0x80, 0x82, 0xAC, 0xC3, 0xE2, 0xF0, 0xFF])
TOKENS = st.lists(st.none() | st.lists(BYTES, max_size=5).map(bytes), max_size=70)


@st.composite
def automata(draw: st.DrawFn) -> DFA:
    """Any table at all: the kernel must not rely on it being minimal or live."""
    n = draw(st.integers(1, 5))
    trans = np.full((n, 256), -1, np.int32)
    edges = st.tuples(st.integers(0, n - 1), BYTES, st.integers(0, n - 1))
    for state, byte, to in draw(st.lists(edges, max_size=40)):
        trans[state, byte] = to
    return DFA(np.array(draw(st.lists(st.booleans(), min_size=n, max_size=n))), trans)


@settings(max_examples=400, deadline=None)
@given(dfa=automata(), tokens=TOKENS, data=st.data())
def test_masks_equal_brute_force(dfa: DFA, tokens: list[bytes | None], data: st.DataObject) -> None:
    eos_ids = data.draw(st.lists(st.integers(0, len(tokens) - 1), max_size=3)) if tokens else []
    masks = build_masks(build_trie(tokens), dfa.trans, dfa.accept, eos_ids)
    states = list(range(dfa.n_states))
    found = [native_mask(masks, state, len(tokens)).tolist() for state in states]
    assert found == brute_force(dfa, tokens, eos_ids, states)


def test_masks_equal_the_reference_on_a_real_vocabulary(llama3: list[bytes | None]) -> None:
    random = Random(20)
    patterns: dict[str, DFA] = {}
    pairs: list[tuple[str, int]] = []
    while len(pairs) < PAIR_COUNT:
        pattern = random_pattern(random)
        if pattern not in patterns:
            dfa = patterns[pattern] = regex_to_dfa(pattern)
            pairs += [(pattern, state) for state in random.sample(range(dfa.n_states), min(4, dfa.n_states))]

    eos_ids = [len(llama3) - 1, 5]
    trie = build_trie(llama3)
    kernels = {p: build_masks(trie, dfa.trans, dfa.accept, eos_ids) for p, dfa in patterns.items()}
    index = TokenIndex(union(list(patterns.values())), llama3, eos_ids)
    starts = np.cumsum([0, *(dfa.n_states for dfa in patterns.values())])
    first = dict(zip(patterns, starts.tolist(), strict=False))
    different: set[bytes] = set()
    for pattern, state in pairs:
        found, wanted = native_mask(kernels[pattern], state, len(llama3)), index.mask(first[pattern] + state)
        assert (found == wanted).all(), f"{pattern} in state {state}: {np.flatnonzero(found != wanted)[:9]}"
        different.add(found.tobytes())
    # Not the same few masks over and over.
    assert len(different) > PAIR_COUNT // 2


def test_masks_equal_brute_force_on_a_real_vocabulary(llama3: list[bytes | None]) -> None:
    dfa = regex_to_dfa(r'\{"(?:[^"\\\x00-\x1f]|\\["\\/bfnrt])*":-?\d{1,9}\}')
    masks = build_masks(build_trie(llama3), dfa.trans, dfa.accept, 128_001)
    states = [0, dfa.step(0, b'{"'), dfa.step(0, b'{"a":')]
    for state, wanted in zip(states, brute_force(dfa, llama3, [128_001], states), strict=True):
        assert native_mask(masks, state, len(llama3)).tolist() == wanted


GOLDEN = json.loads((Path(__file__).parents[1] / "data" / "masks_golden.json").read_text())


@pytest.mark.parametrize("case", GOLDEN["cases"], ids=lambda case: str(case["pattern"])[:40])
def test_masks_equal_the_golden_file(case: dict[str, Any]) -> None:
    """Masks are hexadecimal bytes, token i the bit i % 8 of byte i // 8; after the end there is no state."""
    vocabulary = GOLDEN["vocabularies"][case["vocabulary"]]
    tokens = [None if token is None else bytes.fromhex(token) for token in vocabulary["tokens"]]
    dfa = regex_to_dfa(case["pattern"])
    masks = build_masks(build_trie(tokens), dfa.trans, dfa.accept, vocabulary["eos"])
    for path in case["paths"]:
        state = 0
        for token_id, wanted in zip([*path["tokens"], None], path["masks"], strict=True):
            mask = native_mask(masks, state, len(tokens))
            assert np.packbits(mask, bitorder="little").tobytes().hex() == wanted, path
            if token_id is None or token_id in vocabulary["eos"]:
                break
            state = dfa.step(state, tokens[token_id] or b"")


def test_the_hint_is_false_only_where_nothing_is_masked() -> None:
    dfa = regex_to_dfa(r"[\x00-\xff]*b?")
    bitmask = np.empty(1, np.int32)
    everything = build_masks(build_trie([b"a", b"b", None]), dfa.trans, dfa.accept, 2)
    assert everything.fill_bitmask(0, bitmask) is False
    assert bitmask.tolist() == [0b111]
    # An id that is neither text nor the end is never allowed: a caller that skipped the mask could draw it.
    special = build_masks(build_trie([b"a", b"b", None, b"", None]), dfa.trans, dfa.accept, 4)
    assert special.fill_bitmask(0, bitmask) is True
    assert bitmask.tolist() == [0b10011]
    some = regex_to_dfa(r"a*")
    assert build_masks(build_trie([b"a", b"b"]), some.trans, some.accept).fill_bitmask(0, bitmask) is True
    # All text is allowed, the end is not: a caller that skipped the mask could draw it.
    open_end = regex_to_dfa(r"[ab]*a[ab]")
    assert (
        build_masks(build_trie([b"a", None]), open_end.trans, open_end.accept, 1).fill_bitmask(0, bitmask)
        is True
    )


def test_surplus_words_and_other_rows() -> None:
    dfa = regex_to_dfa("a")
    masks = build_masks(build_trie([b"a"] * 33), dfa.trans, dfa.accept)
    bitmask = np.full((3, 4), 7, np.int32)
    for fill in (masks.fill_bitmask, masks.fill_bitmask, masks.walk_bitmask):
        bitmask[1] = 7
        fill(0, bitmask, 1)
        assert bitmask.tolist() == [[7] * 4, [-1, 1, 0, 0], [7] * 4]
    flat = np.full(2, 7, np.int32)
    masks.fill_bitmask(1, flat)
    assert flat.tolist() == [0, 0]


def test_the_cache_stays_within_its_bound() -> None:
    dfa = regex_to_dfa("[ab]{40}")
    trie = build_trie([b"a", b"ab", b"abab"])
    for room in (0, 1, 5, 1000):
        masks = build_masks(trie, dfa.trans, dfa.accept, cache_bytes=room * 4)
        states = Random(room).choices(range(dfa.n_states), k=300)
        for state in states:
            wanted = [state + n <= 40 for n in (1, 2, 4)]
            assert native_mask(masks, state, 3).tolist() == wanted
            assert masks.n_cached <= room
        assert masks.n_cached == min(room, len(set(states)))


def test_long_tokens() -> None:
    dfa = regex_to_dfa("x*")
    long = b"x" * 3_000_000
    masks = build_masks(build_trie([long, long[:-1] + b"y", b"x" * 20_000]), dfa.trans, dfa.accept)
    assert native_mask(masks, 0, 3).tolist() == [True, False, True]


def test_an_empty_vocabulary() -> None:
    dfa = regex_to_dfa("x*")
    masks = build_masks(build_trie([]), dfa.trans, dfa.accept)
    assert masks.n_words == 0
    bitmask = np.full((2, 1), 7, np.int32)
    masks.fill_bitmask(0, bitmask, 1)
    assert bitmask.tolist() == [[7], [0]]


@pytest.fixture(scope="module")
def small() -> DfaMasks:
    dfa = regex_to_dfa("a")
    return build_masks(build_trie([b"a"] * 64), dfa.trans, dfa.accept)


READ_ONLY = np.zeros(2, np.int32)
READ_ONLY.setflags(write=False)
BAD_CALLS = [
    (2, np.zeros(2, np.int32), 0, "argument.state"),
    (-1, np.zeros(2, np.int32), 0, "argument.state"),
    (2**70, np.zeros(2, np.int32), 0, "argument.state"),
    (0, np.zeros(2, np.int32), 1, "argument.row"),
    (0, np.zeros((3, 2), np.int32), 3, "argument.row"),
    (0, np.zeros((3, 2), np.int32), -1, "argument.row"),
    (0, np.zeros((3, 2), np.int32), -(2**70), "argument.row"),
    (0, np.zeros((0, 2), np.int32), 0, "argument.row"),
    (0, np.zeros(1, np.int32), 0, "argument.bitmask"),
    (0, np.zeros((2, 1), np.int32), 1, "argument.bitmask"),
    (0, np.zeros((1, 1, 2), np.int32), 0, "argument.bitmask"),
    (0, np.zeros((), np.int32), 0, "argument.bitmask"),
    (0, np.zeros(2, np.int64), 0, "argument.bitmask"),
    (0, np.zeros(2, np.uint32), 0, "argument.bitmask"),
    (0, np.zeros(2, np.float32), 0, "argument.bitmask"),
    (0, np.zeros(2, ">i4"), 0, "argument.bitmask"),
    (0, np.zeros((2, 4), np.int32)[:, ::2], 0, "argument.bitmask"),
    (0, np.zeros((2, 2), np.int32, order="F"), 0, "argument.bitmask"),
    (0, READ_ONLY, 0, "argument.bitmask"),
    (0, [0, 0], 0, "argument.bitmask"),
    (0, None, 0, "argument.bitmask"),
]


@pytest.mark.parametrize(("state", "bitmask", "row", "code"), BAD_CALLS)
def test_a_call_that_does_not_fit_is_refused(
    small: DfaMasks, state: int, bitmask: NDArray[np.int32], row: int, code: str
) -> None:
    before = np.array(bitmask)
    for call in (small.fill_bitmask, small.walk_bitmask):
        with pytest.raises(MaskwrightError) as caught:
            call(state, bitmask, row)
        assert caught.value.code == code
    assert (np.array(bitmask) == before).all()


def table(shape: tuple[int, ...], fill: int = -1, dtype: type = np.int32) -> NDArray[np.int32]:
    return np.full(shape, fill, dtype)


YES = np.array([True])
BAD_TABLES: list[tuple[Callable[[], object], type[MaskwrightError], str]] = [
    (lambda: build_masks(build_trie([]), table((1, 255)), YES), MaskwrightError, "argument.trans"),
    (lambda: build_masks(build_trie([]), table((256,)), YES), MaskwrightError, "argument.trans"),
    (lambda: build_masks(build_trie([]), table((2, 256)), YES), MaskwrightError, "argument.trans"),
    (lambda: build_masks(build_trie([]), table((1, 256), 1), YES), MaskwrightError, "argument.trans"),
    (lambda: build_masks(build_trie([]), table((1, 256), -2), YES), MaskwrightError, "argument.trans"),
    (
        lambda: build_masks(build_trie([]), table((1, 256), dtype=np.int64), YES),
        MaskwrightError,
        "argument.trans",
    ),
    (
        lambda: build_masks(build_trie([]), table((1, 256)), np.array([[True]])),
        MaskwrightError,
        "argument.accept",
    ),
    (lambda: build_masks(build_trie([b"a"]), table((1, 256)), YES, 1), VocabularyError, "vocabulary"),
    (lambda: build_masks(build_trie([b"a"]), table((1, 256)), YES, [0, -1]), VocabularyError, "vocabulary"),
    (lambda: build_masks(build_trie([b"a"]), table((1, 256)), YES, 2**70), VocabularyError, "vocabulary"),
    (
        lambda: build_masks(build_trie([]), table((1, 256)), YES, cache_bytes=-1),
        MaskwrightError,
        "argument.cache_bytes",
    ),
    (lambda: build_trie([b"a", "b"]), VocabularyError, "vocabulary"),  # type: ignore[list-item]
    (lambda: build_trie([b"x" * (1 << 24)]), LimitError, "limit.token_bytes"),
    (lambda: _native.TokenTrie(b"ab", np.array([0, 1], np.int64)), MaskwrightError, "argument.offsets"),
    (lambda: _native.TokenTrie(b"ab", np.array([0, 2, 1, 2], np.int64)), MaskwrightError, "argument.offsets"),
    (lambda: _native.TokenTrie(b"ab", np.array([], np.int64)), MaskwrightError, "argument.offsets"),
    (lambda: _native.TokenTrie(b"ab", np.array([[0, 2]])), MaskwrightError, "argument.offsets"),
    (lambda: _native.TokenTrie(b"ab", np.array([0, 2], np.int32)), MaskwrightError, "argument.offsets"),
]


@pytest.mark.parametrize(("build", "error", "code"), BAD_TABLES)
def test_a_table_or_vocabulary_that_does_not_fit_is_refused(
    build: Callable[[], object], error: type[MaskwrightError], code: str
) -> None:
    with pytest.raises(error) as caught:
        build()
    assert caught.value.code == code


def test_a_panic_arrives_as_an_internal_error() -> None:
    with pytest.raises(InternalError) as caught:
        _native._panic("a broken promise")
    assert caught.value.why == "a broken promise"


def test_threads_share_one_object(llama3: list[bytes | None]) -> None:
    dfa = regex_to_dfa("[a-z ]{20}")
    masks = build_masks(build_trie(llama3), dfa.trans, dfa.accept, cache_bytes=5 * 4 * 4008)
    wanted = [native_mask(masks, state, len(llama3)) for state in range(dfa.n_states)]
    wrong: list[int] = []

    def fill_many(seed: int) -> None:
        random, bitmask = Random(seed), np.empty(masks.n_words, np.int32)
        for _ in range(60):
            state = random.randrange(dfa.n_states)
            masks.fill_bitmask(state, bitmask)
            if not (unpacked(bitmask, len(llama3)) == wanted[state]).all():
                wrong.append(state)

    threads = [threading.Thread(target=fill_many, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
    assert masks.n_cached == 5


def test_other_threads_run_meanwhile() -> None:
    """Another thread wakes up within a call; were the lock held, it could do so only at the edges."""
    token = b"x" * 6_000_000
    dfa = regex_to_dfa("x*")
    masks = build_masks(build_trie([token]), dfa.trans, dfa.accept)
    bitmask = np.empty(1, np.int32)
    stop, woke = threading.Event(), [0.0]

    def tick() -> None:
        while not stop.is_set():
            time.sleep(0.0005)
            woke.append(time.perf_counter())

    def most_inside(work: Callable[[], object]) -> int:
        spans = []
        for _ in range(8):
            start = time.perf_counter()
            work()
            spans.append((start, time.perf_counter()))
        return max(sum(start < t < end for t in woke) for start, end in spans)

    thread = threading.Thread(target=tick)
    thread.start()
    try:
        assert most_inside(lambda: build_trie([token])) > 2
        assert most_inside(lambda: masks.walk_bitmask(0, bitmask)) > 2
    finally:
        stop.set()
        thread.join()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_a_forked_child_can_go_on(small: DfaMasks) -> None:
    bitmask = np.empty(2, np.int32)
    small.fill_bitmask(0, bitmask)
    child = os.fork()
    if child == 0:
        again = np.empty(2, np.int32)
        small.fill_bitmask(0, again)
        same = (again == bitmask).all() and small.fill_bitmask(1, again) and not again.any()
        os._exit(0 if same else 1)
    assert os.waitpid(child, 0)[1] == 0
