"""What are the bytes of each id in a tiktoken encoding, or in a tiktoken text file?"""

from __future__ import annotations

import binascii
from typing import Any

from maskwright.tokenizers.table import TokenTable, check_id, name_special, place, refuse


def read_encoding(encoding: Any) -> TokenTable:
    """Read a `tiktoken.Encoding` by its public methods; its `eot_token`, where there is one, is the EOS."""
    where = f"tiktoken encoding {getattr(encoding, 'name', '?')!r}"
    names = sorted(encoding.special_tokens_set)
    special = name_special(((name, encoding.encode_single_token(name)) for name in names), where)
    special_ids = set(special.values())
    size = check_id(encoding.n_vocab - 1, where) + 1
    tokens = [None if i in special_ids else _token(encoding, i) for i in range(size)]
    eos = special.get("<|endoftext|>")  # the token that `Encoding.eot_token` looks up
    return TokenTable(tokens, special, frozenset() if eos is None else frozenset({eos}))


def _token(encoding: Any, token_id: int) -> bytes | None:
    try:
        token: bytes = encoding.decode_single_token_bytes(token_id)
    except KeyError:  # a hole between the ordinary and the special ids
        return None
    return token


def read_text(data: bytes, where: str) -> TokenTable:
    """Read the text format: a line for each ordinary token, its bytes in base64, a space, its rank (the id).

    The format has no special tokens: Llama 3 puts 256 of them after the last rank, Qwen 208. Their names and
    ids are in code elsewhere, so the caller has to give them.
    """
    entries: list[tuple[int, bytes]] = []
    for number, line in enumerate(data.split(b"\n"), start=1):
        if line and not line.isspace():
            entries.append(_entry(line, f"{where}, line {number}"))
    tokens = place(entries, where)
    _refuse_equal(entries, where)
    return TokenTable(tokens, open_ended=True)


def _entry(line: bytes, where: str) -> tuple[int, bytes]:
    fields = line.split()
    if len(fields) != 2 or not fields[1].isdigit() or len(fields[1]) > 10:
        refuse(
            "not a line of a tiktoken file",
            where=where,
            why="it is not base64, a space and a rank",
            code="tiktoken",
        )
    try:
        return int(fields[1]), binascii.a2b_base64(fields[0], strict_mode=True)
    except binascii.Error as error:
        refuse("not a line of a tiktoken file", where=where, why=f"bad base64: {error}", code="tiktoken")


def _refuse_equal(entries: list[tuple[int, bytes]], where: str) -> None:
    first: dict[bytes, int] = {}
    for rank, token in entries:
        if first.setdefault(token, rank) != rank:
            refuse(
                f"the ranks {first[token]} and {rank} have the same bytes",
                where=where,
                why=f"both are {token!r}, and a byte string has one rank",
                code="tiktoken",
            )
