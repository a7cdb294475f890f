"""Does a token get the bytes that the `tokenizers` package decodes it to inside a text?"""

from __future__ import annotations

import json
from typing import Any

import pytest
from maskwright.errors import VocabularyError
from maskwright.tokenizers import vocab_bytes
from tokenizers import Tokenizer
from vocabularies import FIXTURES

CASES = json.loads((FIXTURES / "decoders.json").read_text(encoding="utf-8"))


def document_of(decoder: Any, tokens: list[str], **model: Any) -> dict[str, Any]:
    vocab = {token: i for i, token in enumerate(tokens)}
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [],
        "normalizer": None,
        "pre_tokenizer": None,
        "post_processor": None,
        "decoder": decoder,
        "model": {"type": "WordLevel", "vocab": vocab, "unk_token": "no such token"} | model,
    }


@pytest.mark.parametrize("case", CASES["honoured"], ids=lambda case: case["name"])
def test_a_decoder_is_honoured(case: dict[str, Any]) -> None:
    tokens = ["|", *case["tokens"]]
    document = document_of(case["decoder"], tokens)
    assert vocab_bytes(document) == [b"|", *(text.encode() for text in case["tokens"].values())]
    oracle = Tokenizer.from_str(json.dumps(document))
    for i, text in enumerate(case["tokens"].values(), start=1):
        assert oracle.decode([0, i, 0]) == f"|{text}|"


@pytest.mark.parametrize("case", CASES["refused"], ids=lambda case: case["name"])
def test_a_decoder_that_cannot_be_honoured_is_refused(case: dict[str, Any]) -> None:
    with pytest.raises(VocabularyError, match=case["says"]):
        vocab_bytes(document_of(case["decoder"], ["a"]))


def test_without_a_decoder_the_encoder_decides() -> None:
    tokens = ["Ġé", "##ing", "x▁</w>", "<0x41>"]
    document = document_of(None, tokens)

    def read(pre_tokenizer: Any, **model: Any) -> list[bytes | None]:
        return vocab_bytes(document | {"pre_tokenizer": pre_tokenizer, "model": document["model"] | model})

    literal = [token.encode() for token in tokens]
    byte_level = {"type": "ByteLevel"}
    metaspace = {"type": "Metaspace", "replacement": "▁"}
    in_sequence = {"type": "Sequence", "pretokenizers": [{"type": "Digits"}, byte_level]}
    assert read(byte_level) == read(in_sequence) == read(None) == [b" \xe9", *literal[1:]]
    assert read({"type": "Whitespace"}) == literal
    assert read(metaspace) == [*literal[:2], b"x </w>", literal[3]]
    assert read(metaspace, byte_fallback=True) == [*literal[:2], b"x </w>", b"A"]
    assert read(None, type="WordPiece", continuing_subword_prefix="##") == [literal[0], b"ing", *literal[2:]]
    assert read(byte_level, end_of_word_suffix="</w>")[2] == "x▁ ".encode()
