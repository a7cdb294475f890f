"""How is a schema refused? Three kinds: what is malformed, what cannot be enforced, what has no value at
all."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from maskwright.errors import SchemaError

if TYPE_CHECKING:
    from maskwright.json_schema.places import Place

__all__ = ["Unsupported", "malformed", "no_value", "unsupported"]


class Unsupported(SchemaError):
    """A keyword that cannot be enforced here; `target` is the schema that has it, for the caller who drops
    it."""

    target: object


def malformed(place: Place, keyword: str, why: str) -> SchemaError:
    """The value of a keyword is not what the specification asks for."""
    return SchemaError(
        f'"{keyword}" is malformed',
        pointer=place.pointer_to(keyword),
        keyword=keyword,
        why=why,
        code=f"schema.malformed.{_kebab(keyword)}",
    )


def unsupported(place: Place, keyword: str, why: str, try_: str | None = None) -> Unsupported:
    """A keyword that we understand and cannot hold the text to."""
    error = Unsupported(
        f'cannot enforce "{keyword}" here',
        pointer=place.pointer_to(keyword),
        keyword=keyword,
        why=why,
        try_=(f"{try_}, or " if try_ else "") + 'unsupported="ignore" to drop it knowingly',
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


def _kebab(keyword: str) -> str:
    """`uniqueItems` as `unique-items`.

    >>> _kebab("$dynamicRef"), _kebab("uniqueItems")
    ('dynamic-ref', 'unique-items')
    """
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "-", keyword.lstrip("$")).lower()
