"""How are the keys of objects cut up, so that each part has one form? Disjoint languages, by pattern."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from maskwright.json_schema.clauses import ANY_STRING, StringSet
from maskwright.json_schema.forms import FALSE, TRUE, Form

if TYPE_CHECKING:
    from maskwright.json_schema.algebra import Algebra

__all__ = ["apart", "partition", "refine", "subtract"]


def partition(algebra: Algebra, rules: list[tuple[StringSet, Form]]) -> tuple[tuple[StringSet, Form], ...]:
    """All keys, cut up so that each part has one form: all of the rules that speak about it."""
    parts: list[tuple[StringSet, Form]] = [(ANY_STRING, TRUE)]
    for region, form in rules:
        parts = refine(algebra, parts, region, form)
    return tuple(parts)


def refine(
    algebra: Algebra, parts: list[tuple[StringSet, Form]], region: StringSet, form: Form
) -> list[tuple[StringSet, Form]]:
    """Keys in `region` must also satisfy `form`."""
    if form is TRUE:
        return parts
    made: list[tuple[StringSet, Form]] = []
    for keys, old in parts:
        inside = keys.intersect(region)
        algebra.spend(2)
        if keys is not ANY_STRING and algebra.no_string(inside):
            made.append((keys, old))
            continue
        joined = algebra.forms.all((old, form))
        if joined is not FALSE:
            made.append((inside, joined))
        made.extend((outside, old) for outside in subtract(algebra, [keys], region))
    return made


def subtract(algebra: Algebra, keys: list[StringSet], region: StringSet) -> list[StringSet]:
    """Keys without those of `region`, as disjoint languages."""
    rest: list[StringSet] = []
    for one in keys:
        inside = one
        for part in region.complement():
            algebra.spend()
            outside = inside.intersect(part)
            if not algebra.no_string(outside):
                rest.append(outside)
            for back in part.complement():
                inside = inside.intersect(back)
    return rest


def apart(algebra: Algebra, names: Iterable[StringSet]) -> list[StringSet]:
    """The infinite ones of some sets of strings, cut up so that no two overlap."""
    found: list[StringSet] = []
    seen: list[StringSet] = []
    for region in names:
        if region.allowed is not None:
            continue
        rest = [region]
        for other in seen:
            rest = subtract(algebra, rest, other)
        found.extend(rest)
        seen.append(region)
    return found
