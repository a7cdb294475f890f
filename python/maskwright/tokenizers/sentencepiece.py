"""What are the bytes of each id in a SentencePiece model?

The model file is a protocol buffer. Its few fields that matter here are read directly, so that neither the
`sentencepiece` package nor `protobuf` is needed: field 1 of the model is a piece (1 its text, 3 its type),
field 2 the trainer's settings (47 the EOS piece), field 5 a denormaliser. Source:
`sentencepiece_model.proto`.

A piece's bytes are its text with U+2581 as a space. The processor drops that space at the start of a whole
text (it put it there itself); inside a text, where tokens are generated, the space is real.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from maskwright.tokenizers.table import TokenTable, check_id, name_special, place, refuse

_NORMAL, _UNKNOWN, _CONTROL, _BYTE = 1, 2, 3, 6
_SPACE = "\N{LOWER ONE EIGHTH BLOCK}".encode()
_BYTE_PIECES = {f"<0x{byte:02X}>".encode(): bytes([byte]) for byte in range(256)}
_MAX_VARINT_BYTES = 10


def read_processor(processor: Any) -> TokenTable:
    """Read a `sentencepiece.SentencePieceProcessor` through the model that it serialises."""
    return read_model(bytes(processor.serialized_model_proto()), "the SentencePiece processor")


def read_model(data: bytes, where: str) -> TokenTable:
    """Read a `.model` file. Unknown and control pieces are special; the trainer's settings name the EOS."""
    pieces: list[tuple[bytes, int]] = []
    eos_name: bytes | int = b"</s>"
    for number, value in _fields(data, where):
        if number == 1:
            pieces.append(_piece(_message(value, where), f"{where}, piece {len(pieces)}"))
        elif number == 2:
            eos_name = dict(_fields(_message(value, where), where)).get(47, eos_name)
        elif number == 5:
            _refuse_denormalizer(_message(value, where), where)
    check_id(max(len(pieces) - 1, 0), where)
    return _table(pieces, eos_name, where)


def _table(pieces: list[tuple[bytes, int]], eos_name: object, where: str) -> TokenTable:
    if not pieces:
        refuse("the model has no pieces", where=where, code="sentencepiece")
    if len({piece for piece, _ in pieces}) != len(pieces):
        refuse("the model has a piece twice", where=where, code="sentencepiece")
    tokens = place(((i, _token(piece, kind, where)) for i, (piece, kind) in enumerate(pieces)), where)
    names = [(piece, i) for i, (piece, kind) in enumerate(pieces) if kind in (_UNKNOWN, _CONTROL)]
    special = name_special(((_name(piece, where), i) for piece, i in names), where)
    eos = [i for i, (piece, kind) in enumerate(pieces) if piece == eos_name and kind == _CONTROL]
    return TokenTable(tokens, special, frozenset(eos))


def _token(piece: bytes, kind: int, where: str) -> bytes | None:
    if kind in (_UNKNOWN, _CONTROL):
        return None
    if kind != _BYTE:
        return piece.replace(_SPACE, b" ")
    if piece not in _BYTE_PIECES:
        refuse(
            f"{piece!r} is not a byte",
            where=where,
            why="a byte piece is written <0xHH>",
            code="sentencepiece",
        )
    return _BYTE_PIECES[piece]


def _name(piece: bytes, where: str) -> str:
    try:
        return piece.decode()
    except UnicodeDecodeError as error:
        refuse(f"the piece {piece!r} is not UTF-8", where=where, why=str(error), code="sentencepiece")


def _piece(message: bytes, where: str) -> tuple[bytes, int]:
    """The text and the type of a piece."""
    text, kind = b"", _NORMAL
    for number, value in _fields(message, where):
        if number == 1:
            text = _message(value, where)
        elif number == 3 and isinstance(value, int):
            kind = value
    if not text or not _NORMAL <= kind <= _BYTE:
        refuse("a piece cannot be read", where=where, why=f"text {text!r}, type {kind}", code="sentencepiece")
    return text, kind


def _refuse_denormalizer(message: bytes, where: str) -> None:
    """A denormaliser rewrites the decoded text as a whole, so that no token has bytes of its own."""
    if dict(_fields(message, where)).get(2):
        refuse(
            "cannot read a model with a denormaliser",
            where=where,
            why="it rewrites decoded text, so a token alone has no bytes",
            code="sentencepiece",
        )


def _message(value: bytes | int, where: str) -> bytes:
    if isinstance(value, bytes):
        return value
    refuse(
        "not a SentencePiece model", where=where, why="a number where a message belongs", code="sentencepiece"
    )


def _fields(data: bytes, where: str) -> Iterator[tuple[int, bytes | int]]:
    """The fields of a protocol buffer message: number and value (an int for varints, else the raw bytes)."""
    at, end = 0, len(data)
    while at < end:
        tag, at = _varint(data, at, where)
        number, wire = tag >> 3, tag & 7
        if wire == 0:
            value, at = _varint(data, at, where)
            yield number, value
            continue
        if wire == 2:
            size, at = _varint(data, at, where)
        elif wire in (1, 5):
            size = 8 if wire == 1 else 4
        else:
            refuse(
                "not a SentencePiece model",
                where=f"{where}, byte {at}",
                why=f"wire type {wire}",
                code="sentencepiece",
            )
        if number == 0 or size > end - at:
            refuse("the model is damaged or cut off", where=f"{where}, byte {at}", code="sentencepiece")
        yield number, data[at : at + size]
        at += size


def _varint(data: bytes, at: int, where: str) -> tuple[int, int]:
    """The varint at `at`, and the offset after it."""
    value = 0
    for i, byte in enumerate(data[at : at + _MAX_VARINT_BYTES]):
        value |= (byte & 0x7F) << (7 * i)
        if byte < 0x80:
            return value, at + i + 1
    refuse("the model is damaged or cut off", where=f"{where}, byte {at}", code="sentencepiece")
