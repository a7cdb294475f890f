"""Which kind of tokenizer file is this, and what are the bytes of its ids?

Told by content, never by name: published files are called `tokenizer.model` in two formats.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

from maskwright.tokenizers import huggingface, sentencepiece, tekken, tiktoken, vocabulary_json
from maskwright.tokenizers.json_text import parse_object
from maskwright.tokenizers.table import TokenTable, refuse

MAX_FILE_BYTES = 1 << 28
"""Larger files are refused: the largest published tokenizer file has about 35 MB."""

_TIKTOKEN_LINE = re.compile(rb"\s*[A-Za-z0-9+/]+={0,2}[ \t]+[0-9]+\s")
_PROTOBUF_FIELD_1 = b"\x0a"


def read_file(path: str | os.PathLike[str]) -> TokenTable:
    """Read a tokenizer file of any known kind; what cannot be read is a `VocabularyError`."""
    where = os.fsdecode(path)
    data = _load(Path(where), where)
    if data.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{"):
        return read_json(parse_object(data, where), where)
    if _TIKTOKEN_LINE.match(data):
        return tiktoken.read_text(data, where)
    if data.startswith(_PROTOBUF_FIELD_1):
        return sentencepiece.read_model(data, where)
    refuse(
        "cannot tell what kind of tokenizer file this is",
        where=where,
        why="it is not JSON, not a tiktoken file and not a SentencePiece model",
        code="file",
    )


def read_json(document: dict[str, Any], where: str) -> TokenTable:
    """Read a parsed JSON tokenizer of any known kind."""
    if document.get("format") == vocabulary_json.FORMAT:
        return vocabulary_json.read_document(document, where)
    if isinstance(document.get("vocab"), list) and "config" in document:
        return tekken.read_document(document, where)
    if "model" in document:
        return huggingface.read_document(document, where)
    refuse(
        "cannot tell what kind of tokenizer this JSON is",
        where=where,
        why='it has neither "model" (tokenizer.json), nor "config" and "vocab" (Tekken), nor our "format"',
        code="file",
    )


def _load(path: Path, where: str) -> bytes:
    try:
        size = path.stat().st_size
        if size <= MAX_FILE_BYTES:
            return path.read_bytes()
    except (OSError, ValueError) as error:  # ValueError: a null byte in the path
        refuse("cannot read the tokenizer file", where=where, why=str(error), code="file")
    refuse(
        "the tokenizer file is too large", where=where, why=f"{size} > {MAX_FILE_BYTES} bytes", code="file"
    )
