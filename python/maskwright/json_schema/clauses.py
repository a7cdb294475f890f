"""Which values of one type? Clauses, a conjunction each, and `Cases`: for each type a disjunction of clauses.

    strings    StringSet: patterns, formats, lengths, finite sets, some negated
    numbers    Numbers: an interval with multiples, or a list of constants
    arrays     Items: a form by position and one for the rest, length bounds, counts of matching items
    objects    Members: a form for each named key and for each language of other keys, required keys, counts

`algebra.py` closes them under and, or and not.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from maskwright.json_schema.forms import FALSE, TRUE, Form
from maskwright.json_schema.numbers import ANY_NUMBER as EVERY_NUMBER
from maskwright.json_schema.numbers import NumberSet
from maskwright.json_schema.places import Place
from maskwright.json_schema.strings import ANY_STRING, StringSet

__all__ = [
    "ANY_ITEMS",
    "ANY_MEMBERS",
    "ANY_NUMBER",
    "ANY_STRING",
    "BOTH",
    "FULL",
    "NONE",
    "OPEN",
    "Cases",
    "Contains",
    "Exists",
    "Items",
    "Members",
    "Numbers",
    "StringSet",
    "form_at",
]

BOTH = frozenset((False, True))


@dataclass(slots=True, unsafe_hash=True)  # frozen, it takes 2.0 µs to make one instead of 0.2
class Numbers:
    """The numbers of a set, or the constants of a list: pairs of a number and its spellings."""

    set: NumberSet = EVERY_NUMBER
    constants: tuple[tuple[int | Decimal, tuple[str, ...]], ...] | None = None


@dataclass(slots=True, eq=False)
class Contains:
    """`low` to `high` items from position `start` on satisfy `form`. `place` and `keyword` say who asks for
    it."""

    form: Form
    start: int
    low: int
    high: int | None
    place: Place
    keyword: str

    @property
    def key(self) -> Any:
        """Equal keys, equal conditions."""
        return (self.form, self.start, self.low, self.high)


@dataclass(slots=True, eq=False)
class Items:
    """Arrays: the item at each position of `prefix`, then `rest`; `unique` is the place that asks for it."""

    prefix: tuple[Form, ...] = ()
    rest: Form = TRUE
    minimum: int = 0
    maximum: int | None = None
    contains: tuple[Contains, ...] = ()
    unique: Place | None = None

    @property
    def key(self) -> Any:
        """Equal keys, equal arrays."""
        counts = tuple(count.key for count in self.contains)
        return (self.prefix, self.rest, self.minimum, self.maximum, counts, self.unique is None)

    def at(self, position: int) -> Form:
        """What the item at a position must satisfy."""
        return self.prefix[position] if position < len(self.prefix) else self.rest


@dataclass(slots=True, eq=False)
class Exists:
    """Some member with a key in `region`, but not in `apart`, has a value that satisfies `form`."""

    region: StringSet
    apart: frozenset[str]
    form: Form
    place: Place
    keyword: str

    @property
    def key(self) -> Any:
        """Equal keys, equal conditions."""
        return (self.region, self.apart, self.form)


OPEN: tuple[tuple[StringSet, Form], ...] = ((ANY_STRING, TRUE),)


@dataclass(slots=True, eq=False)
class Members:
    """Objects. `named` has what each named key must satisfy if it is there, FALSE for a key that may not be.

    `opens` has disjoint languages of other keys; a key in none of them may not be there. `required` is part
    of `named`. `place` is the schema, for messages.
    """

    named: dict[str, Form] = field(default_factory=dict)
    opens: tuple[tuple[StringSet, Form], ...] = OPEN
    required: frozenset[str] = frozenset()
    minimum: int = 0
    maximum: int | None = None
    exists: tuple[Exists, ...] = ()
    place: Place | None = None
    first_forms: dict[str, Form] | None = field(default=None, init=False)
    """`named`, each form the first one with its content, once `Algebra` has looked: a union of 50 branches
    meets each of them 50 times."""
    may_be: bool = field(default=False, init=False)
    """Whether `Algebra` has looked and not found that there is no such object."""
    _key: Any = field(default=None, init=False)

    @property
    def key(self) -> Any:
        """Equal keys, equal objects up to the order of members. Asked for when the clause is whole."""
        if self._key is None:
            some = tuple(one.key for one in self.exists)
            named = frozenset(self.named.items())
            self._key = (named, self.opens, self.required, self.minimum, self.maximum, some)
        return self._key


ANY_NUMBER = Numbers()
ANY_ITEMS = Items()
ANY_MEMBERS = Members()


@dataclass(slots=True, eq=False)
class Cases:
    """For each type, which of its values: a union of clauses."""

    null: bool = False
    booleans: frozenset[bool] = frozenset()
    numbers: tuple[Numbers, ...] = ()
    strings: tuple[StringSet, ...] = ()
    arrays: tuple[Items, ...] = ()
    objects: tuple[Members, ...] = ()

    @property
    def is_empty(self) -> bool:
        """Whether no clause at all is left."""
        return not (self.null or self.booleans or self.numbers or self.strings or self.arrays or self.objects)


FULL = Cases(True, BOTH, (ANY_NUMBER,), (ANY_STRING,), (ANY_ITEMS,), (ANY_MEMBERS,))
NONE = Cases()


def form_at(members: Members, key: str) -> Form:
    """What the value of a key must satisfy."""
    found = members.named.get(key)
    if found is not None:
        return found
    for region, form in members.opens:
        if region is ANY_STRING or region.contains(key):
            return form
    return FALSE


def with_required(members: Members, key: str, form: Form) -> Members:
    """The objects that have the key, with a value that satisfies `form` in place of what it had to
    satisfy."""
    named, required = {**members.named, key: form}, members.required | {key}
    low, high = members.minimum, members.maximum
    return Members(named, members.opens, required, low, high, members.exists, members.place)
