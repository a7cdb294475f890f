"""Which reader does a tokenizer object belong to?

Told by the methods that an object has, so that no tokenizer package is imported.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any

from maskwright.tokenizers import files, huggingface, plain, sentencepiece, tiktoken
from maskwright.tokenizers.table import TokenTable


def _read_vocabulary(vocabulary: Any) -> TokenTable:
    return TokenTable(list(vocabulary.tokens), dict(vocabulary.special), vocabulary.eos_ids)


# In order: a transformers object may also have the methods of a kind below it.
_BY_METHOD: tuple[tuple[str, Callable[[Any], TokenTable]], ...] = (
    ("backend_tokenizer", huggingface.read_wrapper),
    ("get_added_tokens_decoder", huggingface.read_tokenizer),
    ("decode_single_token_bytes", tiktoken.read_encoding),
    ("serialized_model_proto", sentencepiece.read_processor),
    ("convert_ids_to_tokens", huggingface.read_slow),
    ("missing_bytes", _read_vocabulary),
)


def read(tokenizer: Any) -> TokenTable:
    """The token table of any supported tokenizer: an object, a parsed JSON document, or a file's path."""
    if isinstance(tokenizer, str | os.PathLike):
        return files.read_file(tokenizer)
    if isinstance(tokenizer, dict) and _is_document(tokenizer):
        return files.read_json(tokenizer, "the JSON document")
    for method, reader in _BY_METHOD:
        if hasattr(tokenizer, method):
            return reader(tokenizer)
    return plain.read_plain(tokenizer)


def _is_document(document: Mapping[Any, Any]) -> bool:
    """A tokenizer's JSON has objects or arrays inside; a plain vocabulary maps to integers only."""
    return any(isinstance(document.get(key), dict | list) for key in ("model", "vocab", "tokens"))


def vocab_bytes(tok: Any) -> list[bytes | None]:
    """The bytes of each token id: `list` of `bytes`, None where the id is special or has no token.

    `tok` is a `tokenizers.Tokenizer`, a transformers tokenizer, a tiktoken encoding, a SentencePiece
    processor, a Tekken or `tokenizer.json` document (a dict) or a file's path, a `Vocabulary`, or any object
    with a table of token strings (then a string made only of GPT-2 byte map characters is those bytes, any
    other its UTF-8). An added token that is not special is ordinary text.

    Raises `VocabularyError` for what cannot be read exactly.

    >>> vocab_bytes(["a", "Ġthe", "日本"])
    [b'a', b' the', b'\\xe6\\x97\\xa5\\xe6\\x9c\\xac']
    """
    return list(read(tok).tokens)
