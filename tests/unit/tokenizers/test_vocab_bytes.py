"""Does vocab_bytes give the bytes of the spec's plain tokenizers, and find out what an object is?"""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any

import pytest
import sentencepiece
import tiktoken
from maskwright.errors import VocabularyError
from maskwright.tokenizers import vocab_bytes
from maskwright.vocabulary import Vocabulary
from tokenizers import Tokenizer
from vocabularies import FIXTURES

CASES = json.loads((FIXTURES / "plain.json").read_text(encoding="utf-8"))


def bytes_of(entry: Any) -> bytes | None:
    if entry is None:
        return None
    return bytes.fromhex(entry["hex"]) if isinstance(entry, dict) else entry.encode()


@pytest.mark.parametrize("case", CASES["read"], ids=lambda case: case["name"])
def test_vocab_bytes(case: dict[str, Any]) -> None:
    """The byte map undone; strings outside the map as UTF-8; specials as None."""
    tokenizer = case["tokenizer"] if "tokenizer" in case else SimpleNamespace(**case["attributes"])
    assert vocab_bytes(tokenizer) == [bytes_of(entry) for entry in case["bytes"]]


@pytest.mark.parametrize("case", CASES["refused"], ids=lambda case: case["name"])
def test_what_a_plain_tokenizer_lacks_is_named(case: dict[str, Any]) -> None:
    with pytest.raises(VocabularyError, match=case["says"]):
        vocab_bytes(SimpleNamespace(**case["attributes"]))


def test_the_table_may_come_from_a_method_and_hold_bytes() -> None:
    tokenizer = SimpleNamespace(get_vocab=lambda: {b"\xff": 1, "Ġa": 0}, vocab="not a table")
    assert vocab_bytes(tokenizer) == [b" a", b"\xff"]


def test_a_tokenizer_without_a_table_is_refused() -> None:
    for nothing in (None, 5, object(), b"bytes", SimpleNamespace(vocab=7)):
        with pytest.raises(VocabularyError, match="cannot read a"):
            vocab_bytes(nothing)


def test_every_kind_of_object_is_recognised() -> None:
    """An object, its file's path and its parsed JSON give the same bytes as the constructor of the kind."""
    path = FIXTURES / "byte_level.json"
    huggingface = Vocabulary.from_file(path)
    document = json.loads(path.read_text(encoding="utf-8"))
    for tokenizer in (Tokenizer.from_file(str(path)), path, str(path), document, huggingface):
        assert vocab_bytes(tokenizer) == list(huggingface.tokens)
    processor = sentencepiece.SentencePieceProcessor(model_file=str(FIXTURES / "sentencepiece.model"))
    assert vocab_bytes(processor) == list(Vocabulary.from_file(FIXTURES / "sentencepiece.model").tokens)
    encoding = tiktoken.Encoding("small", pat_str=".", mergeable_ranks={b"a": 0}, special_tokens={"<e>": 2})
    assert vocab_bytes(encoding) == [b"a", None, None]
    tekken = json.loads((FIXTURES / "tekken.json").read_text(encoding="utf-8"))
    assert vocab_bytes(tekken) == list(Vocabulary.from_tekken(tekken).tokens)
