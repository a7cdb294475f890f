"""What is left unevaluated? `unevaluatedProperties` and `unevaluatedItems`, by which schemas hold for the
value.

A schema is split into outcomes: sets of branches (`anyOf`, `oneOf`, `if`, dependencies) that hold, with the
keys and items that they evaluate. In each outcome the keyword is an `additionalProperties` or an
`additionalItems`. More evaluated is never stricter, so the outcome in which a branch is passed over needs
no "and the branch does not hold".
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from maskwright.errors import LimitError, shown_place
from maskwright.json_schema.clauses import ANY_STRING, BOTH, FULL, Cases, Items, Members, StringSet
from maskwright.json_schema.forms import FALSE, TRUE, Form
from maskwright.json_schema.in_place import others_or
from maskwright.json_schema.key_languages import subtract
from maskwright.json_schema.keywords import Draft
from maskwright.json_schema.refusals import malformed
from maskwright.json_schema.schema_text import are_texts

if TYPE_CHECKING:
    from maskwright.json_schema.places import Place
    from maskwright.json_schema.reading import Reader

__all__ = ["unevaluated"]

MAX_OUTCOMES = 512


@dataclass(frozen=True, slots=True)
class _Seen:
    """What is evaluated: keys by name and by language, items up to a position and those that satisfy a
    form."""

    names: frozenset[str] = frozenset()
    regions: frozenset[StringSet] = frozenset()
    every: bool = False
    length: int = 0
    items: frozenset[Form] = frozenset()

    def join(self, other: _Seen) -> _Seen:
        """What either evaluates."""
        return _Seen(
            self.names | other.names,
            self.regions | other.regions,
            self.every or other.every,
            max(self.length, other.length),
            self.items | other.items,
        )


Outcome = tuple[Form, _Seen]
"""What must hold beside the schema itself, and what is evaluated then."""

_NOTHING = _Seen()


def unevaluated(reader: Reader, place: Place, schema: dict[str, Any]) -> Form:
    """What the two keywords of a schema ask for."""
    parts = []
    if "unevaluatedProperties" in schema:
        rest = reader.child(place, schema["unevaluatedProperties"], "unevaluatedProperties")
        parts.append(_Outcomes(reader, place, "unevaluatedProperties").form(rest))
    if "unevaluatedItems" in schema:
        rest = reader.child(place, schema["unevaluatedItems"], "unevaluatedItems")
        parts.append(_Outcomes(reader, place, "unevaluatedItems").form(rest))
    return reader.forms.all(parts)


class _Outcomes:
    """The outcomes of one schema, for keys or for items."""

    def __init__(self, reader: Reader, place: Place, keyword: str) -> None:
        self._reader = reader
        self._forms = reader.forms
        self._place = place
        self._keyword = keyword
        self._within: list[Any] = []

    def form(self, rest: Form) -> Form:
        """Any outcome, with what it leaves satisfying `rest`."""
        if rest is TRUE:
            return TRUE
        outcomes = self._of(self._place, outermost=True)
        return self._forms.any(
            self._forms.all((condition, self._left(seen, rest))) for condition, seen in outcomes
        )

    def _left(self, seen: _Seen, rest: Form) -> Form:
        if seen.every:
            return TRUE
        if self._keyword == "unevaluatedItems":
            items = Items(
                (TRUE,) * seen.length, self._forms.any((rest, *sorted(seen.items, key=lambda f: f.number)))
            )
            return self._forms.cases(Cases(True, BOTH, FULL.numbers, FULL.strings, (items,), FULL.objects))
        named = dict.fromkeys(sorted(seen.names), TRUE)
        algebra = self._reader.algebra
        outside = [ANY_STRING]
        opens: list[tuple[StringSet, Form]] = []
        for region in sorted(seen.regions, key=repr):
            for keys in outside:
                inside = keys.intersect(region)
                if keys is ANY_STRING or not algebra.no_string(inside):
                    opens.append((inside, TRUE))
            outside = subtract(algebra, outside, region)
        if rest is not FALSE:
            opens.extend((keys, rest) for keys in outside)
        return others_or(self._reader, Members(named, tuple(opens), place=self._place))

    # Outcomes

    def _of(self, place: Place, outermost: bool = False) -> list[Outcome]:
        schema = place.schema
        key = (id(schema), place.scope)
        if not isinstance(schema, dict) or key in self._within:
            return [(TRUE, _NOTHING)]
        self._within.append(key)
        known = place.keywords
        if not schema.keys() <= known.keys():
            schema = {keyword: value for keyword, value in schema.items() if keyword in known}
        if place.draft.ref_hides and "$ref" in schema:
            found = self._of(self._reader.documents.follow(place, "$ref"))
        else:
            found = [(TRUE, self._own(place, schema, outermost))]
            for group in self._groups(place, schema):
                found = self._product(found, group)
        self._within.pop()
        return found

    def _own(self, place: Place, schema: dict[str, Any], outermost: bool) -> _Seen:
        """What the schema's own keywords evaluate."""
        if self._keyword in schema and not outermost:
            return _Seen(every=True)
        if self._keyword == "unevaluatedItems":
            return self._own_items(place, schema)
        if "additionalProperties" in schema:
            return _Seen(every=True)
        patterns = schema.get("patternProperties", {})
        if not isinstance(patterns, dict) or not are_texts(patterns):
            raise malformed(place, "patternProperties", "it must be an object, its keys strings")
        regions = (
            StringSet(patterns=(self._reader.pattern(place, "patternProperties", p),)) for p in patterns
        )
        return _Seen(frozenset(self._reader.properties(place, schema)), frozenset(regions))

    def _own_items(self, place: Place, schema: dict[str, Any]) -> _Seen:
        items = schema.get("items")
        first = schema.get("prefixItems") if place.draft >= Draft.D2020 else None
        if isinstance(items, list) and first is None:
            first, items = items, schema.get("additionalItems")
        if first is not None and not isinstance(first, list):
            raise malformed(place, "prefixItems", "it must be a list of schemas")
        found = _Seen(every=items is not None, length=len(first or ()))
        if "contains" in schema and place.draft >= Draft.D2020:
            return found.join(
                _Seen(items=frozenset((self._reader.child(place, schema["contains"], "contains"),)))
            )
        return found

    def _groups(self, place: Place, schema: dict[str, Any]) -> Iterable[list[Outcome]]:
        """For each keyword that applies in place, the outcomes of which one is the case."""
        documents = self._reader.documents
        for keyword, value in schema.items():
            if keyword == "$ref":
                yield self._of(documents.follow(place, keyword))
            elif keyword == "$dynamicRef":
                yield self._of(documents.follow_dynamic(place))
            elif keyword == "$recursiveRef":
                yield self._of(documents.follow_recursive(place))
            elif keyword == "allOf":
                for inner in self._inner(place, schema, keyword):
                    yield self._of(inner)
            elif keyword == "anyOf":
                yield self._any_of([self._held(inner) for inner in self._inner(place, schema, keyword)])
            elif keyword == "oneOf":
                yield self._useful(
                    [one for inner in self._inner(place, schema, keyword) for one in self._held(inner)]
                )
            elif keyword == "if":
                yield self._if(place, schema)
            elif keyword in ("dependentSchemas", "dependencies"):
                yield from self._dependent(place, keyword, value)

    def _dependent(self, place: Place, keyword: str, rules: Any) -> Iterable[list[Outcome]]:
        """For each key with a schema: the key is there and the schema holds, or nothing is evaluated."""
        if not isinstance(rules, dict) or not are_texts(rules):
            raise malformed(place, keyword, "it must be an object, its keys strings")
        for key, inner in rules.items():
            if isinstance(inner, dict):
                has = self._forms.cases(Cases(objects=(Members({key: TRUE}, required=frozenset((key,))),)))
                outcomes = self._of(self._reader.documents.child(place, inner, keyword, key))
                held = [(self._forms.all((has, condition)), seen) for condition, seen in outcomes]
                yield self._useful([*held, (TRUE, _NOTHING)])

    def _inner(self, place: Place, schema: dict[str, Any], keyword: str) -> list[Place]:
        child, schemas = self._reader.documents.child, schema[keyword]
        if not isinstance(schemas, list):
            raise malformed(place, keyword, "it must be a list of schemas")
        return [child(place, inner, keyword, i) for i, inner in enumerate(schemas)]

    def _held(self, place: Place) -> list[Outcome]:
        """The outcomes of a schema that holds."""
        form = self._forms.schema(place)
        return [(self._forms.all((form, condition)), seen) for condition, seen in self._of(place)]

    def _any_of(self, branches: list[list[Outcome]]) -> list[Outcome]:
        found: list[Outcome] = [(TRUE, _NOTHING)]
        for branch in branches:
            useful = [one for one in branch if one[1] != _NOTHING]
            if useful:
                found = [*found, *self._product(found, useful)]
                self._check(found)
        return found

    def _if(self, place: Place, schema: dict[str, Any]) -> list[Outcome]:
        child = self._reader.documents.child
        condition = child(place, schema["if"], "if")
        found = self._held(condition)
        if "then" in schema:
            found = self._product(found, self._of(child(place, schema["then"], "then")))
        found.append((TRUE, _NOTHING))
        if "else" in schema:
            no = self._forms.no(self._forms.schema(condition))
            others = self._of(child(place, schema["else"], "else"))
            found.extend((self._forms.all((no, form)), seen) for form, seen in others)
        return self._useful(found)

    def _product(self, left: list[Outcome], right: list[Outcome]) -> list[Outcome]:
        found = [
            (self._forms.all((one, other)), seen.join(more)) for one, seen in left for other, more in right
        ]
        return self._check([outcome for outcome in found if outcome[0] is not FALSE])

    def _useful(self, outcomes: list[Outcome]) -> list[Outcome]:
        """One outcome of those that evaluate nothing: the one that asks for nothing."""
        found = [one for one in outcomes if one[1] != _NOTHING]
        return [*found, (TRUE, _NOTHING)] if len(found) < len(outcomes) or not found else found

    def _check(self, outcomes: list[Outcome]) -> list[Outcome]:
        unique = list(dict.fromkeys(outcomes))
        if len(unique) > MAX_OUTCOMES:
            raise LimitError(
                f'"{self._keyword}" depends on too many combinations of schemas',
                limit="outcomes",
                value=MAX_OUTCOMES,
                where=shown_place(self._place.pointer_to(self._keyword)),
            )
        return unique
