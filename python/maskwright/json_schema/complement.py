"""What is everything of a type but a clause? Clauses, one for each way not to be in it."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

from maskwright.json_schema.clauses import ANY_STRING, OPEN, Contains, Exists, Items, Members, Numbers
from maskwright.json_schema.forms import FALSE, TRUE, Form
from maskwright.json_schema.key_languages import partition, subtract
from maskwright.json_schema.numbers import NumberSet
from maskwright.json_schema.places import Place
from maskwright.json_schema.refusals import unsupported

if TYPE_CHECKING:
    from maskwright.json_schema.algebra import Algebra

__all__ = ["complement_of_items", "complement_of_members", "complement_of_numbers"]


def complement_of_numbers(numbers: Numbers) -> list[Numbers]:
    """The numbers that are not in a clause."""
    if numbers.constants is None:
        return [Numbers(part) for part in numbers.set.complement()]
    values = frozenset(Fraction(value) for value, _ in numbers.constants)
    return [Numbers(NumberSet(excluded=values))]


def complement_of_items(algebra: Algebra, items: Items) -> list[Items]:
    """The arrays that are not in a clause."""
    no = algebra.forms.no
    parts = [
        Items((TRUE,) * i + (no(form),), minimum=i + 1)
        for i, form in enumerate(items.prefix)
        if form is not TRUE
    ]
    start = len(items.prefix)
    if items.rest is FALSE:
        parts.append(Items(minimum=start + 1))
    elif items.rest is not TRUE:
        place = _place_of(items.rest) or algebra.here()
        parts.append(Items(contains=(Contains(no(items.rest), start, 1, None, place, "items"),)))
    if items.minimum:
        parts.append(Items(maximum=items.minimum - 1))
    if items.maximum is not None:
        parts.append(Items(minimum=items.maximum + 1))
    for count in items.contains:
        if count.low:
            parts.append(Items(contains=(replace(count, low=0, high=count.low - 1),)))
        if count.high is not None:
            parts.append(Items(contains=(replace(count, low=count.high + 1, high=None),)))
    if items.unique is not None and not (items.maximum is not None and items.maximum < 2):
        raise unsupported(items.unique, "uniqueItems", "arrays with two items alike have no regular form")
    return parts


def complement_of_members(algebra: Algebra, members: Members) -> list[Members]:
    """The objects that are not in a clause."""
    no = algebra.forms.no
    place = members.place
    parts = []
    for key, form in members.named.items():
        if key in members.required:  # not there, or there with another value: one clause, it is optional
            parts.append(Members({key: no(form)}, place=place))
        elif form is not TRUE:
            parts.append(Members({key: no(form)}, required=frozenset((key,)), place=place))
    parts.extend(_open_violations(algebra, members))
    if members.minimum:
        parts.append(Members(maximum=members.minimum - 1, place=place))
    if members.maximum is not None:
        parts.append(Members(minimum=members.maximum + 1, place=place))
    for one in members.exists:
        named = dict.fromkeys(sorted(one.apart), TRUE)  # a set has another order in each process
        opens = partition(algebra, [(one.region, no(one.form))])
        parts.append(Members(named, opens, place=place))
    return parts


def _open_violations(algebra: Algebra, members: Members) -> list[Members]:
    """Objects with a key that is in no language of `opens`, or one whose value is not as it must be."""
    no = algebra.forms.no
    if members.opens == OPEN:
        return []
    apart = frozenset(members.named)
    named = dict.fromkeys(members.named, TRUE)
    place = members.place or algebra.here()
    outside = [ANY_STRING]
    parts = []
    for region, form in members.opens:
        outside = subtract(algebra, outside, region)
        if form is not TRUE:
            some = Exists(region, apart, no(form), place, "additionalProperties")
            parts.append(Members(named, exists=(some,), place=place))
    for region in outside:
        some = Exists(region, apart, TRUE, place, "additionalProperties")
        parts.append(Members(named, exists=(some,), place=place))
    return parts


def _place_of(form: Form) -> Place | None:
    return form.payload if form.kind == "schema" else None
