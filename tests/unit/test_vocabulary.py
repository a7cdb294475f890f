"""Does a Vocabulary hold what it is given, refuse what is no vocabulary, and never change?"""

from __future__ import annotations

import pickle
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from maskwright.errors import VocabularyError
from maskwright.vocabulary import Vocabulary
from vocabularies import REAL, real_path, real_vocabulary

SMALL: list[bytes | None] = [b"a", b"b", b"", b"\xff", None, b"<eos>"]


def small(**changes: Any) -> Vocabulary:
    options: dict[str, Any] = {"eos_id": 5, "special": {"<tool>": 4, "<eos>": 5}, "vocab_size": 8}
    return Vocabulary.from_tokens(**({"tokens": SMALL} | options | changes))


def test_tokens_special_eos_and_padding() -> None:
    vocabulary = small()
    assert vocabulary.tokens == (b"a", b"b", b"", b"\xff", None, None, None, None)
    assert vocabulary.eos_ids == {5} and vocabulary.eos_id == 5
    assert vocabulary.special == {"<tool>": 4, "<eos>": 5}
    assert vocabulary.vocab_size == len(vocabulary) == 8
    assert vocabulary[0] == b"a" and vocabulary[7] is None


def test_an_eos_id_and_a_special_id_lose_their_bytes() -> None:
    vocabulary = small(eos_id=[0, 5], special={"<b>": 1})
    assert vocabulary.tokens[:4] == (None, None, b"", b"\xff")
    assert vocabulary.eos_ids == {0, 5} and vocabulary.eos_id == 0


@pytest.mark.parametrize(
    ("eos_id", "expected"),
    [
        (None, set()),
        ([], set()),
        (5, {5}),
        ("<eos>", {5}),
        (np.int64(5), {5}),
        (np.array([4, 5]), {4, 5}),
        (("<eos>", 4), {4, 5}),
        (frozenset({5}), {5}),
    ],
)
def test_eos_is_one_several_or_none_by_id_or_name(eos_id: Any, expected: set[int]) -> None:
    vocabulary = small(eos_id=eos_id)
    assert vocabulary.eos_ids == expected
    assert all(type(token_id) is int for token_id in vocabulary.eos_ids)


def test_several_names_may_share_an_id() -> None:
    assert small(special={"<a>": 5, "<b>": 5}).special == {"<a>": 5, "<b>": 5}


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"tokens": [b"a", "b"]}, "token 1 is not bytes"),
        ({"tokens": ["a"]}, "token 0 is not bytes"),
        ({"tokens": "ab"}, "token 0 is not bytes"),
        ({"tokens": b"ab"}, "token 0 is not bytes"),
        ({"tokens": np.arange(3)}, "token 0 is not bytes"),
        ({"tokens": [b"a", bytearray(b"b")]}, "token 1 is not bytes"),
        ({"tokens": 5}, "not a sequence"),
        ({"tokens": None}, "not a sequence"),
        ({"eos_id": 8}, "EOS id 8 is outside"),
        ({"eos_id": -1}, "-1 is not a token id"),
        ({"eos_id": True}, "True is not a token id"),
        ({"eos_id": 5.0}, "5.0 is not a token id"),
        ({"eos_id": [5, None]}, "None is not a token id"),
        ({"eos_id": "<nothing>"}, "'<nothing>' is not a special token"),
        ({"special": {"<x>": 8}}, "'<x>' has the id 8"),
        ({"special": {"<x>": "5"}}, "'5' is not a token id"),
        ({"special": {5: 5}}, "5 is not a name"),
        ({"special": ["<x>"]}, "not a mapping"),
        ({"vocab_size": 5}, "vocab_size 5 is too small"),
        ({"vocab_size": "8"}, "'8' is not a token id"),
        ({"vocab_size": 10**12}, "1000000000000 is not a token id"),
    ],
)
def test_what_is_no_vocabulary_is_refused(changes: dict[str, Any], says: str) -> None:
    with pytest.raises(VocabularyError, match=says) as caught:
        small(**changes)
    assert isinstance(caught.value, ValueError) and caught.value.where


def test_an_object_of_another_kind_is_refused_by_the_constructor_of_a_kind() -> None:
    for constructor in (Vocabulary.from_huggingface, Vocabulary.from_tiktoken, Vocabulary.from_sentencepiece):
        with pytest.raises(VocabularyError, match="a int is not a"):
            constructor(5)


def test_nothing_can_be_changed() -> None:
    vocabulary = small()
    for name in ("tokens", "eos_ids", "special", "anything"):
        with pytest.raises(AttributeError):
            setattr(vocabulary, name, None)
        with pytest.raises(AttributeError):
            delattr(vocabulary, name)
    with pytest.raises(TypeError):
        vocabulary.special["<new>"] = 1  # type: ignore[index]


def test_what_it_was_made_from_can_change() -> None:
    tokens, special = list(SMALL), {"<tool>": 4}
    vocabulary = small(tokens=tokens, special=special)
    tokens[0], special["<new>"] = b"z", 1
    assert vocabulary[0] == b"a" and dict(vocabulary.special) == {"<tool>": 4}


def test_an_id_outside_is_an_index_error() -> None:
    for token_id in (-1, 8):
        with pytest.raises(IndexError, match=str(token_id)):
            small()[token_id]


def test_missing_bytes() -> None:
    single = [bytes([byte]) for byte in range(256)]
    assert Vocabulary.from_tokens(single).missing_bytes() == b""
    assert Vocabulary.from_tokens([*single[:97], b"aa", *single[98:]]).missing_bytes() == b"a"
    assert Vocabulary.from_tokens(single, eos_id=97).missing_bytes() == b"a"
    assert len(Vocabulary.from_tokens([]).missing_bytes()) == 256


DIFFERENT = [
    {},
    {"eos_id": 4},
    {"eos_id": None},
    {"special": {"<tool>": 5, "<eos>": 4}},
    {"special": {"<tool>": 4}},
    {"special": {"<tool>": 4, "<eos>": 5, "<e>": 5}},
    {"vocab_size": 9},
    {"tokens": [b"ab", b"", b"", b"\xff", None]},
    {"tokens": [b"a", b"b", None, b"\xff", None]},
    {"tokens": [b"b", b"a", b"", b"\xff", None]},
    {"tokens": [b"a", b"b\xff", b"", b"", None]},
]


def test_fingerprint_and_equality_tell_contents_apart() -> None:
    vocabularies = [small(**changes) for changes in DIFFERENT]
    assert len({vocabulary.fingerprint() for vocabulary in vocabularies}) == len(DIFFERENT)
    for i, one in enumerate(vocabularies):
        for j, other in enumerate(vocabularies):
            assert (one == other) == (i == j)
    assert small() == small() and hash(small()) == hash(small()) and small() != "a vocabulary"
    reordered = small(special={"<eos>": 5, "<tool>": 4})
    assert reordered == small() and reordered.fingerprint() == small().fingerprint()


def test_fingerprint_is_the_same_on_every_machine() -> None:
    """A change here invalidates what users keep on disk: bump the version in the hashed text with it."""
    assert small().fingerprint() == "205a7bf5347764a687839404401243ee58e24c9cdcc192ea22dcf0bb0f0a8c14"
    strange = Vocabulary.from_tokens([None], special={"\ud800é\n": 0})
    assert len(strange.fingerprint()) == 64


def test_pickle_keeps_the_content() -> None:
    assert pickle.loads(pickle.dumps(small())) == small()


def test_repr_says_what_matters() -> None:
    expected = "Vocabulary(8 ids, 4 with bytes, eos {5: '<eos>'}, 2 special, 253 single bytes missing)"
    assert repr(small()) == expected
    assert "eos none" in repr(small(eos_id=None)) and "{5: None}" in repr(small(special={}))


def test_a_written_file_reads_back_equal(tmp_path: Path) -> None:
    for vocabulary in (small(), small(special={'\u2028"': 0}), Vocabulary.from_tokens([])):
        vocabulary.to_file(tmp_path / "file")
        assert Vocabulary.from_file(tmp_path / "file") == vocabulary


def test_the_default_vocabulary() -> None:
    vocabulary = Vocabulary.default()
    assert vocabulary == Vocabulary.default()
    assert vocabulary.vocab_size == 4096 and vocabulary.missing_bytes() == b""
    assert vocabulary.special == {"<|end|>": vocabulary.eos_id, "<|tool|>": 1}
    for token in (b'":', b'{"', b" the", b" return", b"\n", "é".encode(), b"true"):
        assert token in vocabulary.tokens
    assert len(set(vocabulary.tokens)) == 4095


@pytest.mark.parametrize("name", REAL)
def test_real_vocabularies_are_complete(name: str) -> None:
    vocabulary = real_vocabulary(name)
    assert vocabulary.eos_ids and vocabulary.missing_bytes() == b""
    assert b"" not in vocabulary.tokens
    assert all(vocabulary[token_id] is None for token_id in vocabulary.special.values())


def test_real_vocabularies_have_the_published_sizes() -> None:
    """Ids, and ids with bytes, as the models' own configurations and readers give them."""
    sizes = {name: real_vocabulary(name) for name in REAL}
    assert {name: (len(v), len(v) - v.tokens.count(None)) for name, v in sizes.items()} == {
        "llama3": (128256, 128000),
        "llama4": (202048, 200000),
        "qwen": (151936, 151643),
        "tekken": (131072, 130072),
        "mistral": (32768, 32017),
    }


def test_a_real_vocabulary_is_fast() -> None:
    """Bars with room for a busy machine: measured 0.2 s to read the file, 9 ms from tokens."""
    tokens = real_vocabulary("llama3").tokens

    def seconds(work: Any) -> float:
        start = time.perf_counter()
        work()
        return time.perf_counter() - start

    assert min(seconds(lambda: Vocabulary.from_file(real_path("llama3"))) for _ in range(3)) < 0.9
    assert min(seconds(lambda: Vocabulary.from_tokens(tokens, eos_id=5)) for _ in range(3)) < 0.1
    vocabulary = Vocabulary.from_tokens(tokens)
    first = vocabulary.fingerprint()
    assert (
        min(seconds(vocabulary.fingerprint) for _ in range(3)) < 0.001 and vocabulary.fingerprint() == first
    )
