"""What are the bytes of each id in a Tekken JSON file (Mistral)?

Ids below `default_num_special_tokens` are special; the token of rank r has the id r plus that number, and
only as many ranks count as `default_vocab_size` leaves room for. Format: mistral-common,
`tokens/tokenizers/tekken.py`.
"""

from __future__ import annotations

import binascii
from typing import Any

from maskwright.tokenizers.json_text import expect, member, optional
from maskwright.tokenizers.table import TokenTable, check_id, name_special, refuse

# Files up to version 7 do not list their special tokens: these are fixed, in the order of their ids.
_FIXED_NAMES = (
    *("<unk>", "<s>", "</s>", "[INST]", "[/INST]", "[AVAILABLE_TOOLS]", "[/AVAILABLE_TOOLS]"),
    *("[TOOL_RESULTS]", "[/TOOL_RESULTS]", "[TOOL_CALLS]", "[IMG]", "<pad>", "[IMG_BREAK]", "[IMG_END]"),
    *("[PREFIX]", "[MIDDLE]", "[SUFFIX]", "[SYSTEM_PROMPT]", "[/SYSTEM_PROMPT]", "[TOOL_CONTENT]"),
)
_VERSIONS_WITHOUT_NAMES = ("v1", "v2", "v3", "v7")


def read_document(document: dict[str, Any], where: str) -> TokenTable:
    """Read a parsed Tekken document; `</s>` is the EOS, where it is among the special tokens."""
    config = member(document, "config", dict, where)
    vocab = member(document, "vocab", list, where)
    size = check_id(member(config, "default_vocab_size", int, where), f'{where}, "default_vocab_size"')
    reserved = check_id(
        member(config, "default_num_special_tokens", int, where), f'{where}, "default_num_special_tokens"'
    )
    if not reserved <= size <= reserved + len(vocab):
        refuse(
            f"a vocabulary of {size} ids does not fit",
            where=where,
            why=f"the file has {reserved} special tokens and {len(vocab)} others",
            code="tekken",
        )
    ordinary = [_token(entry, rank, where) for rank, entry in enumerate(vocab[: size - reserved])]
    special = _special(document, config, reserved, where)
    eos = special.get("</s>")
    tokens = [*[None] * reserved, *ordinary]
    return TokenTable(tokens, special, frozenset() if eos is None else frozenset({eos}))


def _token(entry: Any, rank: int, where: str) -> bytes:
    try:
        if type(entry["rank"]) is not int or entry["rank"] != rank:
            refuse(
                f"entry {rank} of the vocab has another rank",
                where=where,
                why=repr(entry["rank"]),
                code="tekken",
            )
        return binascii.a2b_base64(entry["token_bytes"], strict_mode=True)
    except (KeyError, TypeError, IndexError) as error:
        why = f"it needs a rank and token_bytes ({type(error).__name__}: {error})"
    except ValueError as error:
        why = f"bad base64: {error}"
    refuse(f"entry {rank} of the vocab cannot be read", where=where, why=why, code="tekken")


def _special(document: dict[str, Any], config: dict[str, Any], reserved: int, where: str) -> dict[str, int]:
    """The named special tokens, then a filler name for each further reserved id."""
    listed = optional(document, "special_tokens", list, where)
    named = _fixed(config, reserved, where) if listed is None else [_named(entry, where) for entry in listed]
    taken = {token_id for _, token_id in named}
    if len(taken) != len(named) or max(taken, default=-1) >= reserved:
        refuse(
            "the special tokens do not fit",
            where=where,
            why=f"their ranks must differ and be below {reserved}",
            code="tekken",
        )
    filler = [(f"<SPECIAL_{token_id}>", token_id) for token_id in range(reserved) if token_id not in taken]
    return name_special([*named, *filler], where)


def _fixed(config: dict[str, Any], reserved: int, where: str) -> list[tuple[str, int]]:
    version = optional(config, "version", str, where) or ""
    if version not in _VERSIONS_WITHOUT_NAMES:
        refuse(
            '"special_tokens" is missing',
            where=where,
            why=f"only versions {', '.join(_VERSIONS_WITHOUT_NAMES)} go without, and this is {version!r}",
            code="tekken",
        )
    return [(name, token_id) for token_id, name in enumerate(_FIXED_NAMES[:reserved])]


def _named(entry: Any, where: str) -> tuple[str, int]:
    entry = expect(entry, dict, where, "a special token")
    name = member(entry, "token_str", str, where)
    return name, check_id(member(entry, "rank", int, where), f"{where}, special token {name!r}")
