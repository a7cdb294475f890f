"""What are the bytes of each id in a plain tokenizer: any object with a table of token strings?

For tokenizers that belong to no library. The table is the object itself or one of its attributes: token to
id, id to token, or tokens in id order. Nothing says how such a tokenizer spells bytes, so each string decides
for itself: made only of characters of the GPT-2 byte map it is those bytes, else it is its UTF-8. Bytes stand
for themselves.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from maskwright.tokenizers.byte_map import from_byte_map
from maskwright.tokenizers.table import (
    TokenTable,
    check_id,
    name_special,
    place,
    refuse,
    text_bytes,
    without_special,
)

_TABLES = ("get_vocab", "vocabulary", "vocab", "id_to_token")
_SPECIAL = ("special_tokens", "all_special_tokens", "special_ids", "special_token_ids", "all_special_ids")
_EOS = ("eos_token_id", "eos_id", "eos_ids")


def read_plain(tokenizer: Any) -> TokenTable:
    """Read a plain tokenizer: its table, and what it has of special tokens, EOS and padded size."""
    where = f"the tokenizer {type(tokenizer).__name__}"
    entries = list(_entries(_table(tokenizer, where), where))
    named = {token: token_id for token_id, token in entries if isinstance(token, str)}
    special = name_special(_special(tokenizer, named, where), where)
    eos_ids = frozenset(_eos(tokenizer, where))
    tokens = place(((token_id, _bytes(token, token_id, where)) for token_id, token in entries), where)
    tokens = without_special(tokens, special, eos_ids)
    size = getattr(tokenizer, "vocab_size", None)
    if isinstance(size, int):
        tokens += [None] * (check_id(size, f"{where}, vocab_size") - len(tokens))
    return TokenTable(tokens, special, eos_ids)


def _table(tokenizer: Any, where: str) -> Any:
    if isinstance(tokenizer, Mapping | Sequence) and not isinstance(tokenizer, str | bytes):
        return tokenizer
    for name in _TABLES:
        table = getattr(tokenizer, name, None)
        if callable(table) and name == "get_vocab":
            table = table()
        if isinstance(table, Mapping | Sequence):
            return table
    refuse(
        f"cannot read a {type(tokenizer).__name__} as a tokenizer",
        where=where,
        why="it is no tokenizer that is known here, and it has no table of tokens",
        try_="Vocabulary.from_tokens with the bytes of each id",
        code="tokenizer",
    )


def _entries(table: Any, where: str) -> Iterator[tuple[Any, Any]]:
    """(id, token) for each of the three shapes of a table."""
    if not isinstance(table, Mapping):
        yield from enumerate(table)
        return
    for key, value in table.items():
        yield (value, key) if isinstance(key, str | bytes) else (key, value)


def _bytes(token: Any, token_id: Any, where: str) -> bytes | None:
    if token is None or isinstance(token, bytes):
        return token
    if not isinstance(token, str):
        refuse(
            f"token {token_id} is a {type(token).__name__}",
            where=where,
            why="not str or bytes",
            code="tokens",
        )
    try:
        return from_byte_map(token)
    except UnicodeEncodeError:
        return text_bytes(token, where)  # raises: a lone surrogate


def _special(tokenizer: Any, named: Mapping[str, Any], where: str) -> Iterator[tuple[Any, Any]]:
    """(name, id) of the special tokens, which a tokenizer gives as name to id, as names or as ids."""
    names = {token_id: name for name, token_id in named.items()}
    for attribute in _SPECIAL:
        given = getattr(tokenizer, attribute, None)
        if isinstance(given, Mapping):
            yield from given.items()
        elif isinstance(given, Iterable) and not isinstance(given, str | bytes):
            for entry in given:
                if not isinstance(entry, str):
                    token_id = check_id(entry, f"{where}, {attribute}")
                    yield names.get(token_id, f"<special_{token_id}>"), token_id
                elif entry in named:
                    yield entry, named[entry]
                else:
                    refuse(
                        f"special token {entry!r} has no id", where=f"{where}, {attribute}", code="special"
                    )


def _eos(tokenizer: Any, where: str) -> Iterator[int]:
    for attribute in _EOS:
        given = getattr(tokenizer, attribute, None)
        if given is not None and not callable(given):
            ids = given if isinstance(given, list | tuple | set | frozenset) else (given,)
            yield from (check_id(token_id, f"{where}, {attribute}") for token_id in ids)
