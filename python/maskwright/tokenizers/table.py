"""What does every reader of a tokenizer hand back, and how are its ids checked?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from operator import index
from typing import NoReturn

from maskwright.errors import VocabularyError

MAX_IDS = 1 << 22
"""Ids at or above this are refused: the largest published vocabularies have about a million."""


@dataclass(frozen=True, slots=True)
class TokenTable:
    """The bytes of each id (None: special, or no token), the special tokens by name, the EOS ids if known.

    `open_ended` says that the source lists ordinary tokens only, so special ids may lie past its end.
    """

    tokens: list[bytes | None]
    special: dict[str, int] = field(default_factory=dict)
    eos_ids: frozenset[int] = frozenset()
    open_ended: bool = False


def refuse(what: str, *, where: str, why: str | None = None, try_: str | None = None, code: str) -> NoReturn:
    """Raise a `VocabularyError`; `code` is its last part."""
    raise VocabularyError(what, where=where, why=why, try_=try_, code=f"vocabulary.{code}")


def check_id(value: object, where: str) -> int:
    """`value` as a token id: an integer (NumPy's too, a bool not) from 0 to below `MAX_IDS`."""
    try:
        token_id = -1 if isinstance(value, bool) else index(value)  # type: ignore[arg-type]
    except TypeError:
        token_id = -1
    if not 0 <= token_id < MAX_IDS:
        refuse(
            f"{_shown(value)} is not a token id",
            where=where,
            why=f"a token id is an integer from 0 to {MAX_IDS - 1}",
            code="id",
        )
    return token_id


def place(entries: Iterable[tuple[object, bytes | None]], where: str) -> list[bytes | None]:
    """Order (id, bytes) entries by id; ids without an entry get None; an id that comes twice is an error."""
    placed: dict[int, bytes | None] = {}
    for value, token in entries:
        # The check is inline for plain integers: a call for each of 128,000 entries costs 40 ms.
        token_id = value if type(value) is int and 0 <= value < MAX_IDS else check_id(value, where)
        if token_id in placed:
            refuse(
                f"token id {token_id} is given twice",
                where=where,
                why=f"once for {placed[token_id]!r} and once for {token!r}",
                code="id",
            )
        placed[token_id] = token
    return [placed.get(token_id) for token_id in range(max(placed, default=-1) + 1)]


def name_special(names: Iterable[tuple[object, object]], where: str) -> dict[str, int]:
    """Special tokens as name to id; several names may share an id, one name may not mean two."""
    special: dict[str, int] = {}
    for name, value in names:
        if not isinstance(name, str):
            refuse(
                f"{_shown(name)} is not a name",
                where=where,
                why="a special token's name is a str",
                code="special",
            )
        token_id = check_id(value, f"{where}, special token {name!r}")
        if special.setdefault(name, token_id) != token_id:
            refuse(
                f"special token {name!r} has two ids",
                where=where,
                why=f"{special[name]} and {token_id}",
                code="special",
            )
    return special


def without_special(
    tokens: list[bytes | None], special: Mapping[str, int], eos_ids: Iterable[int] = ()
) -> list[bytes | None]:
    """The tokens with None at every special and EOS id, extended with None up to the highest of them."""
    ids = {*special.values(), *eos_ids}
    cleared = tokens + [None] * (max(ids, default=-1) + 1 - len(tokens))
    for token_id in ids:
        cleared[token_id] = None
    return cleared


def text_bytes(token: str, where: str) -> bytes:
    """The UTF-8 of a token string; a lone surrogate is an error."""
    try:
        return token.encode()
    except UnicodeEncodeError:
        refuse(
            f"the token {token!r} is not text", where=where, why="it holds a lone surrogate", code="tokens"
        )


def _shown(value: object, width: int = 60) -> str:
    """A short repr: hostile values can be long (and an int of 5,000 digits has no repr at all)."""
    try:
        text = repr(value)
    except ValueError:
        text = f"a {type(value).__name__}"
    return text if len(text) <= width else f"{text[:width]}..."
