"""What is left unevaluated? `unevaluatedProperties` and `unevaluatedItems`, by which schemas hold for the value.

A schema is split into outcomes: for each `anyOf`, `oneOf`, `if` and dependency, which of its branches hold. An outcome
knows which keys and items it evaluates, so that in each of them the keyword is an `additionalProperties`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from maskwright.json_schema.forms import Form

if TYPE_CHECKING:
    from maskwright.json_schema.places import Place
    from maskwright.json_schema.reading import Reader

__all__ = ["unevaluated"]


def unevaluated(reader: Reader, place: Place, schema: dict[str, Any]) -> Form:
    """What the two keywords ask for."""
    from maskwright.json_schema.refusals import unsupported

    keyword = "unevaluatedProperties" if "unevaluatedProperties" in schema else "unevaluatedItems"
    raise unsupported(place, keyword, "not yet")
