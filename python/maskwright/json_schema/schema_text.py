"""How does a schema come in? JSON text with its order and its big numbers kept, or Python values as they are.

Numbers of a text become `int` or `Numeral`, a `Decimal` that remembers its spelling; a key that an object has
twice is an error, for one of the two would be ignored.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from decimal import Decimal, InvalidOperation
from typing import Any

from maskwright.errors import LimitError, SchemaError

__all__ = ["Numeral", "are_texts", "exact", "parse_json", "spelled"]

MAX_DIGITS = 1000
"""Digits of one number of a schema, its exponent written out: enough for any bound, small for exact
arithmetic."""


_TEXT = frozenset((str,))


class Numeral(Decimal):
    """A number with a fraction or an exponent, as a text spells it."""

    text: str

    def __new__(cls, text: str) -> Numeral:
        made = super().__new__(cls, text)
        made.text = text
        return made


def parse_json(text: str | bytes) -> Any:
    """The value of a JSON text; `SchemaError` where it is none, `LimitError` where it is nested too
    deeply."""
    try:
        if isinstance(text, bytes):
            text = text.decode("utf-8")
        return _decoded(text)
    except json.JSONDecodeError as error:
        why = f"{error.msg}: line {error.lineno}, column {error.colno}"
        try_ = (
            None
            if "{" in text or not text.strip()
            else "the schema itself, not its file's name: a dict, a boolean or JSON text"
        )
        raise SchemaError(
            "the schema is not JSON", pointer="", why=why, try_=try_, code="schema.text"
        ) from None
    except UnicodeDecodeError as error:
        why = f"not UTF-8 at byte {error.start}"
        raise SchemaError("the schema is not JSON", pointer="", why=why, code="schema.text") from None
    except RecursionError:
        raise LimitError(
            "the schema's text is nested too deeply for Python's JSON reader",
            limit="json_nesting",
            value=1000,
            where="#",
            try_="the schema as a dict",
        ) from None


def _members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        seen: set[str] = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        why = f"an object has the key {twice!r} twice, and one of the two would be ignored"
        raise SchemaError("the schema is ambiguous", pointer="", why=why, code="schema.text")
    return members


def _integer(text: str) -> int | Decimal:
    return int(text) if len(text) <= MAX_DIGITS else Numeral(text)


def _no_constant(name: str) -> Any:
    raise SchemaError(
        "the schema is not JSON", pointer="", why=f"{name} is no JSON number", code="schema.text"
    )


def _decoded(text: str) -> Any:
    """What a text says; without a search for white space where none is around it, 10 µs in a busy process."""
    if text[:1] == "{":
        try:
            value, end = _SCAN(text, 0)
        except StopIteration:  # no JSON, and `decode` knows where
            end = -1
        if end == len(text):
            return value
    return _DECODER.decode(text)


_DECODER = json.JSONDecoder(
    object_pairs_hook=_members, parse_float=Numeral, parse_int=_integer, parse_constant=_no_constant
)
_SCAN: Callable[[str, int], tuple[Any, int]] = _DECODER.scan_once  # type: ignore[attr-defined]


def exact(value: Any) -> int | Decimal | None:
    """A number of a schema as an exact one, a whole one as `int`; None for what is no number or too long.

    >>> exact(0.1), exact(5.0), exact(True)
    (Decimal('0.1'), 5, None)
    """
    if type(value) is int:
        return value if value.bit_length() < 4 * MAX_DIGITS else None
    if isinstance(value, bool) or not isinstance(value, (int, float, Decimal)):
        return None
    try:
        number = Decimal(float.__repr__(value)) if isinstance(value, float) else Decimal(value)
    except InvalidOperation:  # pragma: no cover - a Decimal is one
        return None
    if (
        not number.is_finite()
        or abs(number.adjusted()) > MAX_DIGITS
        or len(number.as_tuple().digits) > MAX_DIGITS
    ):
        return None
    if number == number.to_integral_value():
        return int(number)
    return Decimal(number)


def are_texts(keys: Iterable[object]) -> bool:
    """Whether all keys of a dict are strings; JSON has no others."""
    return _TEXT.issuperset(map(type, keys)) or all(isinstance(key, str) for key in keys)


def spelled(value: Any) -> list[str]:
    """How a constant number may be written: as the schema spells it, and in its shortest form.

    >>> spelled(Numeral("1.50")), spelled(5.0), spelled(10**21)
    (['1.50', '1.5'], ['5.0', '5'], ['1000000000000000000000'])
    """
    number = exact(value)
    if number is None:
        return []
    first = (
        value.text
        if isinstance(value, Numeral)
        else str(value)
        if isinstance(value, Decimal)
        else json.dumps(value)
    )
    shortest = str(number) if isinstance(number, int) else _shortest(number)
    texts = [
        text.lower().replace("e+", "e")
        if isinstance(value, Decimal) and not isinstance(value, Numeral)
        else text
        for text in (first,)
    ]
    return list(dict.fromkeys([*texts, shortest]))


def _shortest(number: Decimal) -> str:
    return f"{number.normalize():f}" if abs(number.adjusted()) < 30 else f"{number.normalize():e}"
