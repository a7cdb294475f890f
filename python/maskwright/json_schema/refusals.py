"""How is a schema refused? Three kinds: what is malformed, what cannot be enforced, what has no value at
all."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import TYPE_CHECKING

from maskwright.errors import SchemaError

if TYPE_CHECKING:
    from maskwright.json_schema.places import Place

__all__ = ["Unsupported", "malformed", "no_keyword", "no_value", "shown", "unsupported"]


_UNSAID = object()

_SHOWN = 60
"""Characters of a value in a message, and bits of a number."""

_PLAIN = (str, int, float, bool, type(None))


class Unsupported(SchemaError):
    """A keyword that cannot be enforced here; `target` is the schema that has it, for the caller who drops
    it."""

    target: object


def malformed(place: Place, keyword: str, why: str, found: object = _UNSAID) -> SchemaError:
    """The value of a keyword is not what the specification asks for; `found` is that value, to be shown."""
    if found is not _UNSAID:
        why += f", not {shown(found)}"
    return SchemaError(
        f'"{keyword}" is malformed',
        pointer=place.pointer_to(keyword),
        keyword=keyword,
        why=why,
        code=f"schema.malformed.{_kebab(keyword)}",
    )


def no_keyword(place: Place, key: object) -> SchemaError:
    """A schema has a key that no JSON text could have: `{1: ...}` is no `{"1": ...}`."""
    return SchemaError(
        "the keys of a schema are strings",
        pointer=f"{place.pointer}/{key}",
        why=f"this key is not: {shown(key)}",
        code="schema.malformed.key",
    )


def unsupported(
    place: Place, keyword: str, why: str, try_: str | None = None, *, may_drop: bool = True
) -> Unsupported:
    """A keyword that we understand and cannot hold the text to. `may_drop`: whether a reader can go on
    without it."""
    drop = 'unsupported="ignore" to drop it knowingly' if may_drop else None
    error = Unsupported(
        f'cannot enforce "{keyword}" here',
        pointer=place.pointer_to(keyword),
        keyword=keyword,
        why=why,
        try_=", or ".join(filter(None, (try_, drop))) or None,
        code=f"schema.unsupported.{_kebab(keyword)}",
    )
    error.target = place.schema
    return error


def no_value(place: Place, why: str, keyword: str | None = None) -> SchemaError:
    """No JSON value satisfies the schema."""
    return SchemaError(
        "no value satisfies the schema",
        pointer=place.pointer_to(keyword) if keyword else place.pointer,
        keyword=keyword,
        why=why,
        code="schema.no-value",
    )


def shown(value: object) -> str:
    """A value of a schema in a message: itself if it is a short text or number, else its type.

    >>> shown("strng"), shown(2.5), shown({1}), shown(10**10_000)
    ("'strng'", '2.5', 'a value of type set', 'a value of type int')
    """
    is_long = type(value) is int and value.bit_length() > _SHOWN
    if not is_long and (type(value) in _PLAIN or isinstance(value, Decimal)):
        text = str(value) if isinstance(value, Decimal) else repr(value)
        if len(text) <= _SHOWN:
            return text
    return f"a value of type {type(value).__name__}"


def _kebab(keyword: str) -> str:
    """`uniqueItems` as `unique-items`.

    >>> _kebab("$dynamicRef"), _kebab("uniqueItems")
    ('dynamic-ref', 'unique-items')
    """
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "-", keyword.lstrip("$")).lower()
