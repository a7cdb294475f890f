"""Are SentencePiece models read as the sentencepiece package reads them?"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import sentencepiece
from maskwright.vocabulary import Vocabulary
from vocabularies import FIXTURES, real_path

TEXTS = json.loads((FIXTURES / "texts.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module", params=["fixture", "mistral"])
def path(request: pytest.FixtureRequest) -> Path:
    return FIXTURES / "sentencepiece.model" if request.param == "fixture" else real_path(request.param)


@pytest.fixture(scope="module")
def processor(path: Path) -> sentencepiece.SentencePieceProcessor:
    return sentencepiece.SentencePieceProcessor(model_file=str(path))


def test_every_id_is_what_the_processor_says(
    path: Path, processor: sentencepiece.SentencePieceProcessor
) -> None:
    vocabulary = Vocabulary.from_file(path)
    assert vocabulary == Vocabulary.from_sentencepiece(processor)
    assert vocabulary.vocab_size == processor.vocab_size()
    assert vocabulary.eos_ids == {processor.eos_id()}
    ids = list(range(processor.vocab_size()))
    special = {i for i in ids if processor.is_control(i) or processor.is_unknown(i)}
    assert {i for i in ids if vocabulary[i] is None} == special == set(vocabulary.special.values())
    assert vocabulary.special == {processor.id_to_piece(i): i for i in special}
    for i in set(ids) - special:
        piece = processor.id_to_piece(i)
        written = bytes([int(piece[3:5], 16)]) if processor.is_byte(i) else piece.replace("▁", " ").encode()
        assert vocabulary[i] == written


def test_the_bytes_of_an_encoded_text_are_the_text_after_the_dummy_space(
    path: Path, processor: sentencepiece.SentencePieceProcessor
) -> None:
    vocabulary = Vocabulary.from_file(path)
    for text in TEXTS:
        ids = processor.encode(text)
        tokens = [vocabulary[i] for i in ids]
        # U+2581 itself is lost by the encoder, which takes it for a space.
        assert b"".join(token or b"<none>" for token in tokens) == b" " + text.replace("▁", " ").encode()
        assert b"".join(token or b"<none>" for token in tokens)[1:].decode() == processor.decode(ids)


def test_byte_fallback_gives_every_byte(path: Path) -> None:
    assert Vocabulary.from_file(path).missing_bytes() == b""


def test_user_defined_symbols_are_text_and_control_symbols_are_not() -> None:
    processor = sentencepiece.SentencePieceProcessor(model_file=str(FIXTURES / "sentencepiece.model"))
    vocabulary = Vocabulary.from_sentencepiece(processor)
    assert vocabulary[processor.piece_to_id("<tool>")] == b"<tool>"
    assert vocabulary[processor.piece_to_id("▁▁")] == b"  "
    assert vocabulary[processor.piece_to_id("<ctl>")] is None
    assert set(vocabulary.special) == {"<unk>", "<s>", "</s>", "<pad>", "<ctl>"}
