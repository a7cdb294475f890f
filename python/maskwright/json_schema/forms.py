"""What must a value satisfy? A form: a boolean expression over schemas, each equal one made once.

Forms stay unread until something asks for their clauses, so a recursive schema is a finite set of forms.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from maskwright.json_schema.clauses import Cases
    from maskwright.json_schema.places import Place

__all__ = ["FALSE", "TRUE", "Form", "Forms"]


class Form:
    """One expression. `kind` is "true", "false", "schema", "and", "or", "not", "one", "value" or "cases".

    `payload` is the place of a schema, the constant of a value or ready-made clauses. Compared by identity.
    """

    __slots__ = ("kind", "number", "parts", "payload")

    def __init__(self, kind: str, number: int, parts: tuple[Form, ...] = (), payload: Any = None) -> None:
        self.kind = kind
        self.number = number
        self.parts = parts
        self.payload = payload

    def __repr__(self) -> str:
        inner = ", ".join(map(repr, self.parts)) or getattr(self.payload, "pointer", "")
        return f"{self.kind}({inner})"


TRUE = Form("true", 0)
FALSE = Form("false", 1)


class Forms:
    """Makes forms, each equal one once."""

    def __init__(self) -> None:
        self._made: dict[Any, Form] = {}
        self._count = 1

    def schema(self, place: Place) -> Form:
        """What a schema says."""
        schema = place.schema
        if schema is True or schema == {}:
            return TRUE
        if schema is False:
            return FALSE
        # One dict may stand at two places of a schema, with other resources around it.
        key = (id(schema), id(place.resource), place.scope)
        return self._made.get(key) or self._new(key, "schema", (), place)

    def child(
        self, place: Place, schema: dict[str, Any], steps: tuple[Any, ...], flags: int | None = None
    ) -> Form:
        """What a schema inside another one says, one that does not name itself; `flags` if they are known."""
        if not schema:
            return TRUE
        key = (id(schema), id(place.resource), place.scope)
        found = self._made.get(key)
        if found is None:
            self._count += 1
            inner = type(place)(schema, place.resource, (place.trail, *steps), place.scope, flags)
            found = self._made[key] = Form("schema", self._count, (), inner)
        return found

    def value(self, value: Any, place: Place) -> Form:
        """Exactly one constant; `place` is where it is written. A constant inside another has its own
        form."""
        scalar = not isinstance(value, (dict, list))
        key = ("value", type(value), repr(value)) if scalar else ("value", id(value))
        return self._made.get(key) or self._new(key, "value", (), (value, place))

    def cases(self, cases: Cases) -> Form:
        """Ready-made clauses."""
        return self._new(("cases", id(cases)), "cases", (), cases)

    def all(self, forms: Iterable[Form]) -> Form:
        """All of them."""
        parts = self._flat("and", forms, TRUE, FALSE)
        if parts is None:
            return FALSE
        if any(part.kind == "not" and part.parts[0] in parts for part in parts):
            return FALSE
        return self._join("and", parts, TRUE)

    def any(self, forms: Iterable[Form]) -> Form:
        """At least one of them."""
        parts = self._flat("or", forms, FALSE, TRUE)
        if parts is None:
            return TRUE
        if any(part.kind == "not" and part.parts[0] in parts for part in parts):
            return TRUE
        return self._join("or", parts, FALSE)

    def one(self, forms: list[Form]) -> Form:
        """Exactly one of them."""
        kept = [form for form in forms if form is not FALSE]
        if not kept:
            return FALSE
        if len(kept) == 1:
            return kept[0]
        key = ("one", *kept)
        return self._made.get(key) or self._new(key, "one", tuple(kept))

    def no(self, form: Form) -> Form:
        """Not it."""
        if form is TRUE:
            return FALSE
        if form is FALSE:
            return TRUE
        if form.kind == "not":
            return form.parts[0]
        key = ("not", form)
        return self._made.get(key) or self._new(key, "not", (form,))

    def _flat(self, kind: str, forms: Iterable[Form], unit: Form, zero: Form) -> dict[Form, None] | None:
        """The parts, one level of the same kind opened, without the unit; None if the zero is among them."""
        parts: dict[Form, None] = {}
        for form in forms:
            if form is zero:
                return None
            if form.kind == kind:
                parts.update(dict.fromkeys(form.parts))
            elif form is not unit:
                parts[form] = None
        return parts

    def _join(self, kind: str, parts: dict[Form, None], unit: Form) -> Form:
        if len(parts) < 2:
            return next(iter(parts), unit)
        ordered = tuple(sorted(parts, key=lambda form: form.number))
        key = (kind, *ordered)
        return self._made.get(key) or self._new(key, kind, ordered)

    def _new(self, key: Any, kind: str, parts: tuple[Form, ...], payload: Any = None) -> Form:
        self._count += 1
        made = self._made[key] = Form(kind, self._count, parts, payload)
        return made
