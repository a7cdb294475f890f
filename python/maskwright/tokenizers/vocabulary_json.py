"""How does our own vocabulary file look?

    {"format": "maskwright-vocabulary", "version": 1, "vocab_size": 5, "eos": [3], "special": {"<|end|>": 3},
     "tokens": ["a", "é", {"hex": "c3"}, null]}

One entry for each id, in order: a string is its UTF-8, `{"hex": ...}` any other bytes, null no bytes
(special). Ids from the end of the list to `vocab_size` are padding. It is JSON so that it can be read and
compared line by line.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from maskwright.tokenizers.json_text import member, optional
from maskwright.tokenizers.table import (
    TokenTable,
    check_id,
    name_special,
    refuse,
    text_bytes,
    without_special,
)

FORMAT = "maskwright-vocabulary"
_VERSION = 1


def read_document(document: dict[str, Any], where: str) -> TokenTable:
    """Read a parsed vocabulary file."""
    if member(document, "version", int, where) != _VERSION:
        refuse(
            f"version {document['version']} is not known", where=where, why=f"only {_VERSION} is", code="json"
        )
    tokens = [_token(entry, i, where) for i, entry in enumerate(member(document, "tokens", list, where))]
    eos_ids = frozenset(check_id(i, f'{where}, "eos"') for i in optional(document, "eos", list, where) or ())
    special = name_special((optional(document, "special", dict, where) or {}).items(), where)
    size = check_id(optional(document, "vocab_size", int, where) or len(tokens), f'{where}, "vocab_size"')
    highest = max([len(tokens) - 1, *eos_ids, *special.values()])
    if highest >= size:
        refuse(
            f"a vocabulary of {size} ids does not fit",
            where=where,
            why=f"there is an id {highest}",
            code="json",
        )
    tokens = without_special(tokens, special, eos_ids)
    return TokenTable(tokens + [None] * (size - len(tokens)), special, eos_ids)


def _token(entry: Any, token_id: int, where: str) -> bytes | None:
    if entry is None:
        return None
    if isinstance(entry, str):
        return text_bytes(entry, f"{where}, token {token_id}")
    try:
        return bytes.fromhex(entry["hex"])
    except (KeyError, TypeError, IndexError, ValueError) as error:
        refuse(
            f"token {token_id} cannot be read",
            where=where,
            why=f'not a string, null or {{"hex": ...}} ({error})',
            code="json",
        )


def write_text(tokens: Sequence[bytes | None], eos_ids: Iterable[int], special: Mapping[str, int]) -> str:
    """A vocabulary as the text of such a file, a token a line."""
    head = {
        "format": FORMAT,
        "version": _VERSION,
        "vocab_size": len(tokens),
        "eos": sorted(eos_ids),
        "special": dict(sorted(special.items(), key=lambda item: (item[1], item[0]))),
    }
    rows = ",\n".join(json.dumps(_entry(token), ensure_ascii=False) for token in tokens)
    return f'{json.dumps(head, ensure_ascii=False)[:-1]}, "tokens": [\n{rows}\n]}}\n'


def _entry(token: bytes | None) -> object:
    if token is None:
        return None
    try:
        return token.decode()
    except UnicodeDecodeError:
        return {"hex": token.hex()}
