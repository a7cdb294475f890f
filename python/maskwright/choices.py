"""How do texts become the format that is any one of them? As a list of words for the engine."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NoReturn

from maskwright.errors import MaskwrightError
from maskwright.ir import Builder, Grammar

__all__ = ["choices_to_ir", "encoded"]


def encoded(texts: Iterable[str | bytes]) -> list[bytes]:
    """The texts as bytes.

    Raises `MaskwrightError` with the place of what has no bytes, and for no text at all.

    >>> encoded(["é", b"\\xff"])
    [b'\\xc3\\xa9', b'\\xff']
    """
    if isinstance(texts, str | bytes):
        _refuse(
            "choices are one text, not several",
            why="its characters would each be a choice",
            try_="a list of it",
        )
    if not isinstance(texts, Iterable):
        _refuse(
            "choices are not several texts", why=f"the type is {type(texts).__name__}", try_="a list of texts"
        )
    words = _all_encoded(list(texts))
    if not words:
        _refuse(
            "there is nothing to choose from", why="no text at all would be allowed", code="choices.empty"
        )
    return words


def choices_to_ir(words: Sequence[bytes]) -> Grammar:
    """The format of all the words."""
    builder = Builder()
    return builder.grammar(builder.rule("choices", builder.literals(words)))


def _all_encoded(texts: list[Any]) -> list[bytes]:
    """All texts as bytes; where they are all `str`, in one pass (a call a text takes 0.1 s for 100,000)."""
    if set(map(type, texts)) == {str}:
        try:
            return list(map(str.encode, texts))
        except UnicodeEncodeError:
            pass  # the slow way finds the place
    return [text if type(text) is bytes else _encoded(text, at) for at, text in enumerate(texts)]


def _encoded(text: object, at: int) -> bytes:
    if isinstance(text, bytes | bytearray | memoryview):
        return bytes(text)
    if not isinstance(text, str):
        _refuse(
            "a choice is no text",
            where=f"choice {at}",
            why=f"its type is {type(text).__name__}, not str or bytes",
        )
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        _refuse(
            "a choice has no UTF-8",
            where=f"choice {at}, character {error.start}",
            why="half of a surrogate pair",
        )


def _refuse(
    what: str, *, why: str, where: str = "choices", try_: str | None = None, code: str = "argument.choices"
) -> NoReturn:
    raise MaskwrightError(what, where=where, why=why, try_=try_, code=code)
