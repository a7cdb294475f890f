"""Are tiktoken encodings and files read as tiktoken reads them?"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import tiktoken
from maskwright.errors import VocabularyError
from maskwright.vocabulary import Vocabulary
from tiktoken.load import load_tiktoken_bpe
from vocabularies import FIXTURES, REAL, real_path

TEXTS = json.loads((FIXTURES / "texts.json").read_text(encoding="utf-8"))
REAL_FILES = [name for name, (_, inside) in REAL.items() if name in ("llama3", "llama4", "qwen")]


@pytest.fixture(autouse=True)
def no_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its reader keeps copies by path in a temporary folder, and would miss that a fixture has changed."""
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", "")


def encoding_of(path: Path) -> tiktoken.Encoding:
    """The encoding by tiktoken's own reader of the file, with three special ids after a hole."""
    ranks = load_tiktoken_bpe(str(path))
    special = {"<|endoftext|>": len(ranks) + 5, "<|a|>": len(ranks) + 6, "<|b|>": len(ranks) + 8}
    pattern = r"[^\S\n]?\p{L}+|\p{N}{1,3}|\s+|[^\s\p{L}\p{N}]+"
    return tiktoken.Encoding("under test", pat_str=pattern, mergeable_ranks=ranks, special_tokens=special)


@pytest.fixture(scope="module", params=["fixture", *REAL_FILES])
def path(request: pytest.FixtureRequest) -> Path:
    return FIXTURES / "ranks.tiktoken" if request.param == "fixture" else real_path(request.param)


def test_file_and_encoding_give_the_bytes_that_tiktoken_gives(path: Path) -> None:
    encoding = encoding_of(path)
    read = Vocabulary.from_tiktoken(encoding)
    from_file = Vocabulary.from_file(path, special=dict(read.special), eos_id="<|endoftext|>")
    assert read == from_file
    ordinary = len(encoding._mergeable_ranks)
    assert list(read.tokens[:ordinary]) == encoding.decode_tokens_bytes(range(ordinary))
    assert read.tokens[ordinary:] == (None,) * 9
    assert read.eos_id == ordinary + 5
    assert read.special == {"<|endoftext|>": ordinary + 5, "<|a|>": ordinary + 6, "<|b|>": ordinary + 8}


def test_the_bytes_of_an_encoded_text_are_the_text(path: Path) -> None:
    vocabulary, encoding = Vocabulary.from_file(path), encoding_of(path)
    for text in TEXTS:
        tokens = [vocabulary[token_id] for token_id in encoding.encode_ordinary(text)]
        assert b"".join(token or b"<none>" for token in tokens) == text.encode()


def test_no_special_token_is_guessed() -> None:
    vocabulary = Vocabulary.from_file(FIXTURES / "ranks.tiktoken")
    assert not vocabulary.special and not vocabulary.eos_ids and None not in vocabulary.tokens


def test_an_encoding_without_end_of_text_has_no_eos() -> None:
    encoding = tiktoken.Encoding("none", pat_str=".", mergeable_ranks={b"a": 0}, special_tokens={"<e>": 1})
    assert Vocabulary.from_tiktoken(encoding).eos_id is None
    assert Vocabulary.from_tiktoken(encoding, eos_id="<e>").eos_id == 1


def test_a_file_grows_to_hold_the_special_ids_that_are_given() -> None:
    path = FIXTURES / "ranks.tiktoken"
    size = Vocabulary.from_file(path).vocab_size
    assert Vocabulary.from_file(path, eos_id=size + 2).vocab_size == size + 3
    assert Vocabulary.from_file(path, special={"<e>": size}).vocab_size == size + 1
    with pytest.raises(VocabularyError, match="outside the vocabulary"):
        Vocabulary.from_file(path, special={"<e>": size}, vocab_size=size)
