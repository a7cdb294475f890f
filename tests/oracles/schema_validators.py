"""Is a value valid? Two validators that know nothing of each other; where they differ nobody is right."""

from __future__ import annotations

from typing import Any

import jsonschema
import jsonschema_rs
import referencing
from referencing.jsonschema import specification_with

__all__ = ["SCHEMA_IDS", "Judges"]

SCHEMA_IDS = {
    "4": "http://json-schema.org/draft-04/schema#",
    "6": "http://json-schema.org/draft-06/schema#",
    "7": "http://json-schema.org/draft-07/schema#",
    "2019-09": "https://json-schema.org/draft/2019-09/schema",
    "2020-12": "https://json-schema.org/draft/2020-12/schema",
}


class Judges:
    """Validators of a schema. `registry`: schemas elsewhere, by address. `formats`: does `format` count?"""

    def __init__(self, schema: Any, draft: str, registry: dict[str, Any], formats: bool) -> None:
        name = f"Draft{draft.replace('-', '')}Validator"
        first, second = getattr(jsonschema, name), getattr(jsonschema_rs, name)
        specification = specification_with(SCHEMA_IDS[draft])
        resources = [(uri, specification.create_resource(one)) for uri, one in registry.items()]
        self._first = first(
            schema,
            registry=referencing.Registry().with_resources(resources),
            format_checker=first.FORMAT_CHECKER if formats else None,
        )
        drafts = {"2019-09": jsonschema_rs.Draft201909, "2020-12": jsonschema_rs.Draft202012}
        known = drafts.get(draft) or getattr(jsonschema_rs, f"Draft{draft}")
        self._second = second(
            schema,
            validate_formats=formats,
            registry=jsonschema_rs.Registry(list(registry.items()), draft=known),
        )

    def verdict(self, value: Any) -> bool | None:
        """Whether a value is valid; None where the validators do not agree, or one of them fails."""
        try:
            first = self._first.is_valid(value)
        except (RecursionError, ArithmeticError, TypeError, referencing.exceptions.Unresolvable):
            return None
        try:
            second = self._second.is_valid(value)
        except ValueError:
            return None
        return first if first is second else None
