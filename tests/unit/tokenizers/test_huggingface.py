"""Are Hugging Face tokenizers read as the `tokenizers` package decodes them?"""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from maskwright.errors import VocabularyError
from maskwright.tokenizers import bytes_to_unicode, vocab_bytes
from maskwright.vocabulary import Vocabulary
from tokenizers import AddedToken, Tokenizer, decoders, models
from vocabularies import FIXTURES, real_path

TEXTS = json.loads((FIXTURES / "texts.json").read_text(encoding="utf-8"))[:-1]
KINDS = ("byte_level", "byte_fallback", "metaspace_unigram", "word_end_bpe", "wordpiece")


def tokenizer_of(kind: str) -> Tokenizer:
    return Tokenizer.from_file(str(FIXTURES / f"{kind}.json"))


def written(vocabulary: Vocabulary, ids: list[int]) -> str:
    return b"".join(vocabulary[i] or b"<none>" for i in ids).decode()


@pytest.mark.parametrize("kind", KINDS)
def test_file_and_object_give_the_same_vocabulary(kind: str) -> None:
    vocabulary = Vocabulary.from_file(FIXTURES / f"{kind}.json")
    tokenizer = tokenizer_of(kind)
    assert Vocabulary.from_huggingface(tokenizer) == vocabulary
    assert vocabulary.vocab_size == tokenizer.get_vocab_size()
    assert {"<|end|>", "<|tool|>"} <= set(vocabulary.special)
    assert vocabulary.special == {name: tokenizer.token_to_id(name) for name in vocabulary.special}


@pytest.mark.parametrize(
    ("kind", "before", "after"),
    [
        ("byte_level", "", ""),
        ("byte_fallback", " ", ""),
        ("metaspace_unigram", " ", ""),
        ("word_end_bpe", "", " "),
    ],
)
def test_the_bytes_of_an_encoded_text_are_what_it_decodes_to(kind: str, before: str, after: str) -> None:
    vocabulary, tokenizer = Vocabulary.from_file(FIXTURES / f"{kind}.json"), tokenizer_of(kind)
    for text in TEXTS:
        ids = tokenizer.encode(text).ids
        assert written(vocabulary, ids) == before + tokenizer.decode(ids, skip_special_tokens=False) + after


@pytest.mark.parametrize(("kind", "before"), [("byte_level", ""), ("byte_fallback", " ")])
def test_the_bytes_of_an_encoded_text_are_the_text(kind: str, before: str) -> None:
    vocabulary, tokenizer = Vocabulary.from_file(FIXTURES / f"{kind}.json"), tokenizer_of(kind)
    for text in TEXTS:
        # byte_fallback: its encoder takes U+2581 for a space, and puts a space after an added token.
        expected = text if kind == "byte_level" else text.replace("▁", " ").replace("\n\n", "\n\n ")
        assert written(vocabulary, tokenizer.encode(text).ids) == before + expected


def test_the_bytes_of_wordpieces_are_the_text_without_its_spaces() -> None:
    vocabulary, tokenizer = Vocabulary.from_file(FIXTURES / "wordpiece.json"), tokenizer_of("wordpiece")
    # Without an added token, and a character that it has not seen.
    for text in (text.replace("\n\n", " ").replace("\x85", "") for text in TEXTS):
        found = written(vocabulary, tokenizer.encode(text).ids)
        assert " " not in found and found.replace("\x1f", "") == "".join(text.split())


@pytest.mark.parametrize("kind", KINDS)
def test_an_added_token_that_is_not_special_is_its_text(kind: str) -> None:
    vocabulary, tokenizer = Vocabulary.from_file(FIXTURES / f"{kind}.json"), tokenizer_of(kind)
    for content in ("\n\n", "éé"):
        assert vocabulary[tokenizer.token_to_id(content)] == content.encode()


@pytest.mark.parametrize("kind", KINDS)
def test_special_and_unknown_tokens_have_no_bytes(kind: str) -> None:
    vocabulary, tokenizer = Vocabulary.from_file(FIXTURES / f"{kind}.json"), tokenizer_of(kind)
    nothing = {i for i, token in enumerate(vocabulary.tokens) if token is None}
    names = {"<|end|>", "<|tool|>", "<unk>", "[UNK]", "[SEP]"} & set(tokenizer.get_vocab())
    assert nothing == {tokenizer.token_to_id(name) for name in names}


def test_an_unknown_token_that_is_not_added_is_special() -> None:
    tokenizer = Tokenizer(models.Unigram([("<?>", 0.0), ("a", -1.0)], unk_id=0))
    assert vocab_bytes(tokenizer) == [None, b"a"]
    tokenizer = Tokenizer(models.WordLevel({"a": 0, "<?>": 1}, unk_token="<?>"))
    assert vocab_bytes(tokenizer) == [b"a", None]


def test_an_added_token_of_the_model_is_decoded_like_the_model_s() -> None:
    """Gemma lists runs of U+2581 as added tokens, and they are runs of spaces."""
    tokenizer = Tokenizer(models.WordLevel({"a": 0, "▁▁": 1}, unk_token="a"))
    tokenizer.decoder = decoders.Replace("▁", " ")
    tokenizer.add_tokens([AddedToken("▁▁", normalized=False)])
    assert vocab_bytes(tokenizer) == [None, b"  "]
    tokenizer = Tokenizer(models.BPE({"Ġ": 0, "ĠĠ": 1}, [("Ġ", "Ġ")]))
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_tokens([AddedToken("ĠĠ", normalized=False), AddedToken("ĠĠĠ", normalized=False)])
    assert vocab_bytes(tokenizer) == [b" ", b"  ", "ĠĠĠ".encode()]


def test_holes_between_ids_have_no_bytes() -> None:
    assert vocab_bytes(Tokenizer(models.WordLevel({"a": 1, "b": 3}, unk_token="?"))) == [
        None,
        b"a",
        None,
        b"b",
    ]


def test_a_tokenizer_with_a_python_part_is_refused() -> None:
    tokenizer = Tokenizer(models.BPE())
    tokenizer.decoder = decoders.Decoder.custom(SimpleNamespace(decode_chain=lambda tokens: tokens))
    with pytest.raises(VocabularyError, match="cannot read the tokenizer"):
        vocab_bytes(tokenizer)


class Wrapper:
    """As much of a transformers fast tokenizer as is used."""

    eos_token_id = 7
    all_special_ids = (5, 7)

    def __init__(self, tokenizer: Tokenizer) -> None:
        self.backend_tokenizer = tokenizer

    def convert_ids_to_tokens(self, ids: list[int]) -> list[str | None]:
        return [self.backend_tokenizer.id_to_token(i) for i in ids]


def test_a_wrapper_adds_its_special_tokens_and_its_eos() -> None:
    tokenizer = tokenizer_of("byte_level")
    plain, wrapped = Vocabulary.from_huggingface(tokenizer), Vocabulary.from_huggingface(Wrapper(tokenizer))
    assert plain[5] is not None and plain[7] is not None
    assert wrapped[5] is None and wrapped[7] is None and wrapped.eos_ids == {7}
    assert wrapped.special.keys() - plain.special.keys() == {tokenizer.id_to_token(i) for i in (5, 7)}
    assert vocab_bytes(Wrapper(tokenizer)) == list(wrapped.tokens)


def slow(strings: list[str], **attributes: Any) -> Any:
    """As much of a transformers slow tokenizer as is used."""

    class Slow(SimpleNamespace):
        def __len__(self) -> int:
            return len(strings)

        def convert_ids_to_tokens(self, ids: list[int]) -> list[str]:
            return [strings[i] for i in ids]

    return Slow(**attributes)


def test_slow_tokenizers_are_told_by_their_attributes() -> None:
    strings = ["▁é", "<0x41>", "##Ġ"]
    assert vocab_bytes(slow(strings, sp_model=object())) == [" é".encode(), b"A", "##Ġ".encode()]
    assert vocab_bytes(slow(strings, byte_decoder={})) == ["▁é".encode(), b"<0x41>", b"## "]
    assert vocab_bytes(slow(strings, wordpiece_tokenizer=object())) == [
        "▁é".encode(),
        b"<0x41>",
        "Ġ".encode(),
    ]
    special = slow(["a", "b", "</s>"], all_special_ids=[2], eos_token_id=2)
    assert Vocabulary.from_huggingface(special).tokens == (b"a", b"b", None)


def test_a_byte_level_vocabulary_of_real_size() -> None:
    """Llama 3's tokens spelt in the byte map give Llama 3's bytes, through the `tokenizers` package."""
    tokens = Vocabulary.from_file(real_path("llama3")).tokens
    spell = bytes_to_unicode()
    vocab = {"".join(spell[byte] for byte in token or b""): i for i, token in enumerate(tokens)}
    tokenizer = Tokenizer(models.BPE(vocab, []))
    tokenizer.decoder = decoders.ByteLevel()
    assert vocab_bytes(tokenizer) == list(tokens)


def test_every_fixture_is_also_read_without_the_package() -> None:
    for path in sorted(Path(FIXTURES).glob("*_*.json")):
        assert Vocabulary.from_file(path) == Vocabulary.from_any(json.loads(path.read_text(encoding="utf-8")))
