"""How were the small tokenizers in tests/data/tokenizers made? Run it to make them again.

Every kind is trained on the texts of `texts.json` and on the licence, so that it has merges to test.
"""

from __future__ import annotations

import base64
import io
import json
from pathlib import Path

import sentencepiece
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers

ROOT = Path(__file__).parent.parent
FIXTURES = ROOT / "tests" / "data" / "tokenizers"


def corpus() -> list[str]:
    texts: list[str] = json.loads((FIXTURES / "texts.json").read_text(encoding="utf-8"))
    licence = (ROOT / "LICENSE").read_text(encoding="utf-8").splitlines()
    return texts[:-1] + [line.strip() for line in licence[:80] if line.strip()]


def added(tokenizer: Tokenizer) -> Tokenizer:
    """Two special tokens, and two that are ordinary text, one made of byte map characters: a trap."""
    tokenizer.add_special_tokens([AddedToken("<|end|>", special=True), AddedToken("<|tool|>", special=True)])
    tokenizer.add_tokens([AddedToken("\n\n", normalized=False), AddedToken("éé", normalized=False)])
    return tokenizer


def byte_level() -> Tokenizer:
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=400, initial_alphabet=alphabet, show_progress=False)
    tokenizer.train_from_iterator(corpus(), trainer)
    return added(tokenizer)


def byte_fallback() -> Tokenizer:
    """Spaces as U+2581 by a normaliser, bytes as `<0xHH>`: undone by a Sequence of decoders (Llama 2)."""
    trained = Tokenizer(models.BPE(unk_token="<unk>", fuse_unk=True))
    trained.normalizer = normalizers.Replace(" ", "▁")
    trained.pre_tokenizer = pre_tokenizers.Split(Regex(r"▁?[^▁]+"), "isolated")
    special = ["<unk>", *(f"<0x{byte:02X}>" for byte in range(256))]
    trainer = trainers.BpeTrainer(
        vocab_size=520, special_tokens=special, limit_alphabet=90, show_progress=False
    )
    trained.train_from_iterator(corpus(), trainer)
    document = json.loads(trained.to_str())
    document["added_tokens"] = [entry for entry in document["added_tokens"] if entry["content"] == "<unk>"]
    document["model"]["byte_fallback"] = True
    tokenizer = Tokenizer.from_str(json.dumps(document))
    tokenizer.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    tokenizer.pre_tokenizer = None  # type: ignore[assignment]
    tokenizer.decoder = decoders.Sequence(
        [
            decoders.Replace("▁", " "),
            decoders.ByteFallback(),
            decoders.Fuse(),
            decoders.Strip(content=" ", left=1, right=0),
        ]
    )
    return added(tokenizer)


def metaspace_unigram() -> Tokenizer:
    tokenizer = Tokenizer(models.Unigram())
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.decoder = decoders.Metaspace()
    trainer = trainers.UnigramTrainer(
        vocab_size=420, unk_token="<unk>", special_tokens=["<unk>"], show_progress=False
    )
    tokenizer.train_from_iterator(corpus(), trainer)
    return added(tokenizer)


def word_end_bpe() -> Tokenizer:
    tokenizer = Tokenizer(models.BPE(unk_token="<unk>", end_of_word_suffix="</w>"))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer.decoder = decoders.BPEDecoder(suffix="</w>")
    trainer = trainers.BpeTrainer(
        vocab_size=500, special_tokens=["<unk>"], end_of_word_suffix="</w>", show_progress=False
    )
    tokenizer.train_from_iterator(corpus(), trainer)
    return added(tokenizer)


def wordpiece() -> Tokenizer:
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoders.WordPiece()
    trainer = trainers.WordPieceTrainer(
        vocab_size=600, special_tokens=["[UNK]", "[SEP]"], show_progress=False
    )
    tokenizer.train_from_iterator(corpus(), trainer)
    return added(tokenizer)


def merged_bytes(tokenizer: Tokenizer) -> list[bytes]:
    """The tokens of a byte-level tokenizer as tiktoken and Tekken list them: bytes, then merges."""
    to_byte = byte_of_character()
    model = json.loads(tokenizer.to_str())["model"]
    tokens = [bytes(to_byte[c] for c in token) for token in model["vocab"]]
    return [bytes([byte]) for byte in range(256)] + [token for token in tokens if len(token) > 1]


def byte_of_character() -> dict[str, int]:
    """The GPT-2 byte map, written down here once more: fixtures must not depend on the code under test."""
    printable = [*range(33, 127), *range(161, 173), *range(174, 256)]
    moved = [byte for byte in range(256) if byte not in printable]
    return {chr(byte): byte for byte in printable} | {chr(256 + i): byte for i, byte in enumerate(moved)}


def tiktoken_text(tokens: list[bytes]) -> str:
    return "".join(f"{base64.b64encode(token).decode()} {rank}\n" for rank, token in enumerate(tokens))


def tekken_json(tokens: list[bytes]) -> str:
    names = ["<unk>", "<s>", "</s>", "[INST]"]
    vocab = [
        {"rank": rank, "token_bytes": base64.b64encode(token).decode(), "token_str": None}
        for rank, token in enumerate(tokens)
    ]
    config = {
        "pattern": r"\s?\S+|\s+",
        "num_vocab_tokens": len(tokens),
        "default_vocab_size": len(tokens) + 6,  # 4 of the listed tokens are cut off
        "default_num_special_tokens": 10,
        "version": "v11",
    }
    special = [{"rank": i, "token_str": name, "is_control": True} for i, name in enumerate(names)]
    return json.dumps({"config": config, "vocab": vocab, "special_tokens": special})


def sentencepiece_model() -> bytes:
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(corpus()),
        model_writer=model,
        vocab_size=620,
        model_type="bpe",
        character_coverage=0.98,
        byte_fallback=True,
        normalization_rule_name="identity",
        remove_extra_whitespaces=False,
        user_defined_symbols=["<tool>", "▁▁"],
        control_symbols=["<ctl>"],
        pad_id=3,
        minloglevel=2,
    )
    return model.getvalue()


def main() -> None:
    kinds = (byte_level, byte_fallback, metaspace_unigram, word_end_bpe, wordpiece)
    for kind in kinds:
        (FIXTURES / f"{kind.__name__}.json").write_text(kind().to_str() + "\n", encoding="utf-8")
    tokens = merged_bytes(byte_level())
    (FIXTURES / "ranks.tiktoken").write_text(tiktoken_text(tokens), encoding="utf-8")
    (FIXTURES / "tekken.json").write_text(tekken_json(tokens) + "\n", encoding="utf-8")
    (FIXTURES / "sentencepiece.model").write_bytes(sentencepiece_model())


if __name__ == "__main__":
    main()
