"""How are clauses joined? And, or and not of `Cases`, and which clauses surely have no value.

Each step of work is counted, and past the budget a `LimitError` names the schema: the question whether a
schema has a value contains satisfiability, so no bound on the time is possible without one on the work.
(Attouche, Baazizi, Colazzo, Ghelli, Sartiani, Scherzinger, "Witness Generation for JSON Schema", VLDB 2022.)
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from functools import partial
from itertools import combinations
from typing import TYPE_CHECKING, Any, TypeVar, cast

from maskwright.errors import LimitError, SchemaError, shown_place
from maskwright.json_schema.absorb import absorbed
from maskwright.json_schema.clauses import (
    ANY_ITEMS,
    ANY_MEMBERS,
    ANY_NUMBER,
    ANY_STRING,
    BOTH,
    FULL,
    NONE,
    OPEN,
    Cases,
    Exists,
    Items,
    Members,
    Numbers,
    StringSet,
    form_at,
    with_required,
)
from maskwright.json_schema.complement import (
    complement_of_items,
    complement_of_members,
    complement_of_numbers,
)
from maskwright.json_schema.forms import FALSE, TRUE, Form, Forms
from maskwright.json_schema.keywords import Draft, asserting_of
from maskwright.json_schema.places import Place
from maskwright.limits import Limits

if TYPE_CHECKING:
    from maskwright.json_schema.reading import Reader

__all__ = ["MAX_NEEDS", "MAX_WORK", "Algebra"]

MAX_WORK = 30_000
"""Clauses made while schemas are combined: a second at most."""

MAX_NEEDS = 4
"""Members with other names that must exist at once: each set of them is a language of keys and values."""

MAX_CLAUSES = 400
"""Clauses of one type at one place: each is a part of the automaton that may be live at once."""

_EMPTY_DEPTH = 4
_SURELY = -1
_EMPTY_WORK = 400
"""Work for the question whether one form is empty; past it the answer is that it may have a value."""

_PROBE_WORK = 40
_MAX_FEW = 64
"""Keys of a language of which one must be there, up to which each gets a name: a clause each."""
_PROBE_LIMITS = Limits(
    rules=2_000, states=20_000, dfa_states=1_500, edges=40_000, mask_work=1_000_000, cache_bytes=1 << 20
)
"""Asking the engine whether patterns exclude each other: 1 ms mostly, 5 at most. With twice as much, none of
350 such questions of real schemas had another outcome."""

Clause = TypeVar("Clause")


_Complement = Callable[[Clause], list[Clause]]
_Meet = Callable[[Clause, Clause], "Clause | None"]


class _Apart:
    """Which clauses of some branches surely have nothing in common with each other: asked once of each two,
    where each branch is taken out of each other one."""

    def __init__(self, branches: list[tuple[Any, ...]]) -> None:
        self._clauses = {id(clause): clause for branch in branches for clause in branch}
        self._found: dict[tuple[int, int], bool] = {}

    def find(self, one: Any, other: Any) -> bool | None:
        """What is known of two clauses."""
        return self._found.get((id(one), id(other)))

    def add(self, one: Any, other: Any, apart: bool) -> None:
        """Remember it, of clauses that live as long as this does: a later one may have the id of another."""
        if id(one) in self._clauses and id(other) in self._clauses:
            self._found[id(one), id(other)] = self._found[id(other), id(one)] = apart


class Algebra:
    """Joins cases. `reader` gives the cases of a form, and says where it is, for messages."""

    def __init__(self, forms: Forms, reader: Reader, max_work: int = MAX_WORK) -> None:
        self.forms = forms
        self._reader = reader
        self._left = max_work
        self._max_work = max_work
        self._empty: dict[Form, int] = {}
        """`_SURELY`, or the depth from which on a form was looked at and not found empty."""
        self._joined: dict[Form, Form] = {}
        self._pairs: dict[tuple[Form, Form], Form] = {}
        self._same: dict[Form, Form] = {}
        self._first: dict[Any, Form] = {}
        self._no_string: dict[StringSet, bool] = {}
        self._few: dict[StringSet, list[str] | None] = {}
        self._texts: dict[Form, frozenset[str] | None] = {}

    def spend(self, amount: int = 1) -> None:
        """Count work; `LimitError` past the budget."""
        self._left -= amount
        if self._left < 0:
            place = self._reader.place
            raise LimitError(
                "the schema takes too much work to combine",
                limit="schema_work",
                value=self._max_work,
                where=shown_place(place.pointer) if place else None,
                why="its parts are joined by and, or and not, and the combinations grow with their product",
                try_="branches that exclude each other by type or by a constant property",
            )

    # And

    def both(self, a: Cases, b: Cases) -> Cases:
        """The values that are in both."""
        if a is FULL or b is FULL:
            return b if a is FULL else a
        return Cases(
            a.null and b.null,
            a.booleans & b.booleans,
            self._product(a.numbers, b.numbers, ANY_NUMBER, self._meet_numbers),
            self._product(a.strings, b.strings, ANY_STRING, self._meet_strings),
            self._product(a.arrays, b.arrays, ANY_ITEMS, self.meet_items),
            self._product(a.objects, b.objects, ANY_MEMBERS, self.meet_members),
        )

    def _product(
        self,
        left: tuple[Clause, ...],
        right: tuple[Clause, ...],
        whole: Clause,
        meet: Callable[[Clause, Clause], Clause | None],
    ) -> tuple[Clause, ...]:
        if left == (whole,) or right == (whole,):
            return right if left == (whole,) else left
        self.spend(len(left) * len(right))
        return self._distinct(meet(one, other) for one in left for other in right)

    def _distinct(self, clauses: Iterable[Clause | None]) -> tuple[Clause, ...]:
        found = [clause for clause in clauses if clause is not None]
        if len(found) < 2:
            return tuple(found)
        kept: dict[Any, Clause] = {}
        for clause in found:
            kept.setdefault(getattr(clause, "key", clause), clause)
        found = list(kept.values())
        if len(found) > 1 and isinstance(found[0], Members):
            self.spend(1 + len(found) ** 2 // 200)
            found = cast(list[Clause], absorbed(cast(list[Members], found)))
        if len(found) > MAX_CLAUSES:
            self._left = 0
            self.spend()
        return tuple(found)

    def _meet_numbers(self, a: Numbers, b: Numbers) -> Numbers | None:
        if a.constants is None and b.constants is None:
            met = a.set.intersect(b.set)
            return None if met.is_empty() else Numbers(met)
        if a.constants is None:
            a, b = b, a
        constants = tuple(pair for pair in a.constants or () if _has_number(b, pair[0]))
        return Numbers(constants=constants) if constants else None

    def _meet_strings(self, a: StringSet, b: StringSet) -> StringSet | None:
        met = a.intersect(b)
        if met.allowed is not None or met.is_free:
            return None if met.is_empty() else met
        return met

    def _meet_strings_surely(self, a: StringSet, b: StringSet) -> StringSet | None:
        """The same, and the engine is asked whether patterns exclude each other: that takes some
        milliseconds."""
        met = a.intersect(b)
        return None if self.no_string(met) else met

    def no_string(self, strings: StringSet) -> bool:
        """Whether a set surely has no string."""
        if strings.allowed is None and not strings.is_free:
            known = self._no_string.get(strings)
            if known is not None:
                return known
            self.spend(_PROBE_WORK + 20 * (len(strings.patterns) + len(strings.not_patterns)))
        try:
            found = strings.is_empty(_PROBE_LIMITS)
        except LimitError:
            found = False
        self._no_string[strings] = found
        return found

    def meet_items(self, a: Items, b: Items) -> Items | None:
        """The arrays that are in both; None if there surely are none."""
        length = max(len(a.prefix), len(b.prefix))
        join = self._join_two
        maximum = _smaller(a.maximum, b.maximum)
        counts = {count.key: count for count in (*a.contains, *b.contains)}
        met = Items(
            tuple(join(a.at(i), b.at(i)) for i in range(length)),
            join(a.rest, b.rest),
            max(a.minimum, b.minimum),
            maximum,
            tuple(counts.values()),
            a.unique or b.unique,
        )
        return None if self.no_items(met) else met

    def no_items(self, items: Items, depth: int = 0) -> bool:
        """Whether there surely is no such array."""
        if items.maximum is not None and items.minimum > items.maximum:
            return True
        if any(count.high is not None and count.low > count.high for count in items.contains):
            return True
        needed = items.prefix[: items.minimum]
        if items.minimum > len(items.prefix):
            needed = (*needed, items.rest)
        return any(self.is_empty(form, depth + 1) for form in needed)

    def meet_members(self, a: Members, b: Members) -> Members | None:
        """The objects that are in both; None if there surely are none."""
        self.spend((len(a.named) + len(b.named)) // 8)
        if not (self._may_be(a) and self._may_be(b)):
            return None
        mine, theirs, required = self._first_forms(a), self._first_forms(b), a.required | b.required
        changed = self._met_forms(a, b, mine, theirs)
        for key in sorted(required.intersection(changed)):
            known = (key in a.required and changed[key] is mine[key]) or (
                key in b.required and changed[key] is theirs[key]
            )
            if not known and self.is_empty(changed[key], 1):
                return None
        named = {**mine, **changed}
        opens = self._meet_opens(a.opens, b.opens, named)
        some = {one.key: one for one in (*a.exists, *b.exists)}
        low, high = max(a.minimum, b.minimum), _smaller(a.maximum, b.maximum)
        met = Members(named, opens, required, low, high, tuple(some.values()), a.place or b.place)
        if _has_no_room(met):
            return None
        met.first_forms, met.may_be = named, True
        return met

    def _met_forms(
        self, a: Members, b: Members, mine: dict[str, Form], theirs: dict[str, Form]
    ) -> dict[str, Form]:
        """What differs from `mine` in the objects that are in both clauses, in the order of members."""
        join = self._join_two
        changed = {}
        if b.opens != OPEN:
            changed = {key: join(form, theirs.get(key) or form_at(b, key)) for key, form in mine.items()}
        for key, form in theirs.items():
            if key not in changed:
                other = mine.get(key)
                if other is None:
                    changed[key] = form if a.opens == OPEN else join(form_at(a, key), form)
                elif other is not form:
                    changed[key] = join(other, form)
        return changed

    def _first_forms(self, members: Members) -> dict[str, Form]:
        """The members of a clause by name, equal schemas as one form."""
        found = members.first_forms
        if found is None:
            canonical = self._canonical
            found = members.first_forms = {key: canonical(form) for key, form in members.named.items()}
        return found

    def _may_be(self, members: Members) -> bool:
        """Whether there may be such an object, asked once of each clause."""
        if not members.may_be:
            members.may_be = not self.no_members(members)
        return members.may_be

    def _meet_opens(
        self,
        left: tuple[tuple[StringSet, Form], ...],
        right: tuple[tuple[StringSet, Form], ...],
        named: dict[str, Form],
    ) -> tuple[tuple[StringSet, Form], ...]:
        """Each language of keys in each other; a finite one goes into `named`."""
        if OPEN in (left, right):
            return right if left == OPEN else left
        self.spend(len(left) * len(right))
        met: list[tuple[StringSet, Form]] = []
        for one, first in left:
            for other, second in right:
                form = self._join_two(first, second)
                if form is FALSE:
                    continue
                keys = one.intersect(other)
                values = keys.values()
                if values is not None:
                    for key in values:
                        named.setdefault(key, form)
                elif not self.no_string(keys):
                    met.append((keys, form))
        return tuple(met)

    def no_members(self, members: Members, depth: int = 0) -> bool:
        """Whether there surely is no such object."""
        return _has_no_room(members) or any(
            self.is_empty(members.named[key], depth + 1) for key in sorted(members.required)
        )

    def _join_two(self, a: Form, b: Form) -> Form:
        """`join` of two, remembered: unions meet the same members again and again."""
        if b is TRUE:
            return self._canonical(a)
        if a is TRUE:
            return self._canonical(b)
        found = self._pairs.get((a, b))
        if found is None:
            found = self._pairs[a, b] = self.join((a, b))
        return found

    def _canonical(self, form: Form) -> Form:
        """The first form with the same content: equal schemas at different places are one."""
        if form.kind == "not":
            return self.forms.no(self._canonical(form.parts[0]))
        if form.kind != "schema":
            return form
        found = self._same.get(form)
        if found is None:
            place = form.payload
            try:
                text = json.dumps(place.schema)
            except (TypeError, ValueError, RecursionError):
                return form
            found = self._first.setdefault((text, id(place.resource), place.scope), form)
            self._same[form] = found
        return found

    def join(self, forms: Iterable[Form]) -> Form:
        """All of some forms, without a "not" that the others imply: `enum: [a]` and not `enum: [b]` is the
        first.

        Branches that a constant member tells apart would else multiply, here they stay what they are.
        """
        joined = self.forms.all(map(self._canonical, forms))
        if joined.kind != "and" or not any(part.kind == "not" for part in joined.parts):
            return joined
        found = self._joined.get(joined)
        if found is None:
            yes = [part for part in joined.parts if part.kind != "not"]
            kept = list(yes)
            for part in joined.parts:
                if part.kind != "not":
                    continue
                against = self.forms.all((*yes, part.parts[0]))
                if not yes or not self.is_empty(against, 1):
                    kept.append(part)
            found = self._joined[joined] = self.forms.all(kept)
        return found

    # Or

    def any_of(self, branches: list[Cases]) -> Cases:
        """The values that are in at least one."""
        if any(branch is FULL for branch in branches):
            return FULL
        return Cases(
            any(branch.null for branch in branches),
            frozenset().union(*(branch.booleans for branch in branches)),
            self._union([branch.numbers for branch in branches], ANY_NUMBER),
            self._union([branch.strings for branch in branches], ANY_STRING),
            self._union([branch.arrays for branch in branches], ANY_ITEMS),
            self._union([branch.objects for branch in branches], ANY_MEMBERS),
        )

    def _union(self, branches: list[tuple[Clause, ...]], whole: Clause) -> tuple[Clause, ...]:
        kept = [branch for branch in branches if branch]
        if len(kept) < 2:
            return kept[0] if kept else ()
        if any(whole in branch for branch in kept):
            return (whole,)
        return self._distinct(clause for branch in kept for clause in branch)

    # Not

    def without(self, a: Cases, b: Cases) -> Cases:
        """The values of `a` that are not in `b`. Clauses of `b` that have nothing in common with `a` cost
        nothing."""
        if b is FULL:
            return NONE
        return Cases(
            a.null and not b.null,
            a.booleans - b.booleans,
            self._none_of(a.numbers, b.numbers, complement_of_numbers, self._meet_numbers),
            self._none_of(a.strings, b.strings, StringSet.complement, self._meet_strings_surely),
            self._none_of(a.arrays, b.arrays, partial(complement_of_items, self), self.meet_items),
            self._none_of(a.objects, b.objects, partial(complement_of_members, self), self.meet_members),
        )

    def _none_of(
        self,
        clauses: tuple[Clause, ...],
        taken: tuple[Clause, ...],
        complement: _Complement[Clause],
        meet: _Meet[Clause],
        apart: _Apart | None = None,
    ) -> tuple[Clause, ...]:
        """What is in some of `clauses` and in none of `taken`. `apart` remembers which of them have nothing
        in common."""
        for one in taken:
            if not clauses:
                break
            rest: list[Clause | None] = []
            parts: list[Clause] | None = None
            for clause in clauses:
                if self._are_apart(clause, one, meet, apart):
                    rest.append(clause)
                    continue
                if parts is None:
                    parts = complement(one)
                self.spend(len(parts))
                for part in parts:
                    met = meet(clause, part)
                    rest.extend(self._settled(met))
            clauses = self._distinct(rest)
        return clauses

    def _are_apart(self, one: Clause, other: Clause, meet: _Meet[Clause], apart: _Apart | None) -> bool:
        """Whether two clauses surely have nothing in common."""
        if isinstance(one, Members):
            if self._told_apart(one, cast(Members, other)):
                return True
        elif isinstance(one, StringSet) and one.excludes(cast(StringSet, other)):
            return True
        found = None if apart is None else apart.find(one, other)
        if found is None:
            self.spend()
            found = meet(one, other) is None
            if apart is not None:
                apart.add(one, other, found)
        return found

    def _settled(self, clause: Clause | None) -> list[Clause | None]:
        """A clause, or for objects in which some member must exist, one for each that it can be."""
        if isinstance(clause, Members) and clause.exists:
            return cast(list[Clause | None], self.settle(clause))
        return [clause]

    def _told_apart(self, a: Members, b: Members) -> bool:
        """Whether a required member has other constant texts in each: a union of 200 tagged objects has
        40,000 pairs."""
        for key in a.required & b.required:
            mine, others = self.constant_texts(a.named[key]), self.constant_texts(b.named[key])
            if mine is not None and others is not None and not mine & others:
                return True
        return False

    def constant_texts(self, form: Form) -> frozenset[str] | None:
        """The values of a schema that is a constant text, or an enum of texts; None for another."""
        if form.kind != "schema":
            return None
        if form not in self._texts:
            schema = form.payload.schema
            values = schema.get("enum")
            if values is None and "const" in schema and form.payload.draft > Draft.D4:
                values = [schema["const"]]
            fits = isinstance(values, list) and all(isinstance(value, str) for value in values)
            self._texts[form] = frozenset(values) if fits and "$ref" not in schema else None
        return self._texts[form]

    # Exactly one

    def exactly_one(self, branches: list[Cases]) -> Cases:
        """The values that are in one of the cases and in no other. Type by type, as few branches have more
        than one."""
        return Cases(
            [branch.null for branch in branches].count(True) == 1,
            frozenset(it for it in BOTH if [it in branch.booleans for branch in branches].count(True) == 1),
            self._alone(
                [branch.numbers for branch in branches], ANY_NUMBER, complement_of_numbers, self._meet_numbers
            ),
            self._alone(
                [branch.strings for branch in branches],
                ANY_STRING,
                StringSet.complement,
                self._meet_strings_surely,
            ),
            self._alone(
                [branch.arrays for branch in branches],
                ANY_ITEMS,
                partial(complement_of_items, self),
                self.meet_items,
            ),
            self._alone(
                [branch.objects for branch in branches],
                ANY_MEMBERS,
                partial(complement_of_members, self),
                self.meet_members,
            ),
        )

    def _alone(
        self,
        branches: list[tuple[Clause, ...]],
        whole: Clause,
        complement: _Complement[Clause],
        meet: _Meet[Clause],
    ) -> tuple[Clause, ...]:
        """The values of one type that are in one of the branches and in no other."""
        filled = [branch for branch in branches if branch]
        if len(filled) < 2:
            return filled[0] if filled else ()
        apart = _Apart(filled)
        alone = []
        for i, mine in enumerate(filled):
            rest = mine
            for j, other in enumerate(filled):
                if i != j:
                    rest = self._none_of(rest, other, complement, meet, apart)
            alone.append(rest)
        return self._union(alone, whole)

    # Which have no value

    def is_empty(self, form: Form, depth: int = 0) -> bool:
        """Whether a form surely has no value. What is deeper than a few levels counts as having one."""
        if form is FALSE:
            return True
        if form is TRUE or depth > _EMPTY_DEPTH or _is_bare(form):
            return False
        known = self._empty.get(form)
        if known is not None and (known < 0 or known <= depth):
            return known == _SURELY
        self._empty[form] = 0  # within itself it counts as having a value
        left = self._left
        try:
            self._left = min(left, _EMPTY_WORK)
            found = self._all_empty(self._reader.cases(form), depth)
        except (SchemaError, LimitError):
            found = False
        finally:
            self._left = left - min(left, _EMPTY_WORK) + max(self._left, 0)
        self._empty[form] = _SURELY if found else depth
        return found

    def _all_empty(self, cases: Cases, depth: int) -> bool:
        if cases.null or cases.booleans or cases.numbers:
            return False
        return (
            all(self.no_string(strings) for strings in cases.strings)
            and all(self.no_items(items, depth) for items in cases.arrays)
            and all(self.no_members(members, depth) for members in cases.objects)
        )

    # Members that must be somewhere

    def settle(self, members: Members) -> list[Members]:
        """Objects by which member it is that must exist. What is left in `exists` is about keys without a
        name."""
        members = self._with_few_names(members)
        settled = [members]
        for some in members.exists:
            self.spend(len(settled))
            settled = [one for old in settled for one in self._witnesses(old, some)]
        found: list[Members] = []
        for one in settled:
            # A key that got a name on the way may be the member that a condition before asked for.
            named = one.exists and len(one.named) > len(members.named)
            found.extend(self.settle(one) if named else (one,))
        return found

    def _with_few_names(self, members: Members) -> Members:
        """The same objects, where keys that satisfy several conditions at once have names if they are few."""
        if not 1 < len(members.exists) <= MAX_NEEDS:
            return members
        named = dict(members.named)
        for count in range(2, len(members.exists) + 1):
            for some in combinations(members.exists, count):
                for region, form in members.opens:
                    keys = region
                    for one in some:
                        keys = keys.intersect(one.region)
                    for key in () if self.no_string(keys) else self._few_strings(keys) or ():
                        named.setdefault(key, form)
        low, high, exists = members.minimum, members.maximum, members.exists
        if len(named) == len(members.named):
            return members
        return Members(named, members.opens, members.required, low, high, exists, members.place)

    def _witnesses(self, members: Members, some: Exists) -> list[Members]:
        rest = tuple(one for one in members.exists if one is not some)
        bare = _existing(members, rest)
        found: list[Members] = []
        for key, form in members.named.items():
            if key in some.apart or form is FALSE or not some.region.contains(key):
                continue
            joined = self._join_two(form, some.form)
            if not self.is_empty(joined, 1):
                found.append(with_required(bare, key, joined))
        for region, form in members.opens:
            keys = region.intersect(some.region)
            joined = self._join_two(form, some.form)
            if joined is FALSE or self.no_string(keys) or self.is_empty(joined, 1):
                continue
            values = self._few_strings(keys)
            if values is not None:
                found.extend(with_required(bare, key, joined) for key in values if key not in members.named)
                continue
            other = Exists(keys, some.apart, joined, some.place, some.keyword)
            found.append(_existing(members, (*rest, other)))
        return found

    def _few_strings(self, strings: StringSet) -> list[str] | None:
        """The strings of a set, if they are surely few."""
        if strings not in self._few:
            if not strings.is_free and strings.allowed is None:
                self.spend(_PROBE_WORK)
            try:
                self._few[strings] = strings.few_values(_MAX_FEW, _PROBE_LIMITS)
            except LimitError:
                self._few[strings] = None
        return self._few[strings]

    def here(self) -> Place:
        place = self._reader.place
        assert place is not None
        return place


def _has_number(numbers: Numbers, value: Any) -> bool:
    if numbers.constants is not None:
        return any(value == constant for constant, _ in numbers.constants)
    return numbers.set.contains(value)


def _existing(members: Members, exists: tuple[Exists, ...]) -> Members:
    """The same objects, but for what must exist in them."""
    low, high = members.minimum, members.maximum
    return Members(members.named, members.opens, members.required, low, high, exists, members.place)


def _has_no_room(members: Members) -> bool:
    """Whether counts and names that may not be there leave no object."""
    if members.maximum is not None and max(members.minimum, len(members.required)) > members.maximum:
        return True
    if any(members.named[key] is FALSE for key in members.required):
        return True
    return not members.opens and members.minimum > sum(form is not FALSE for form in members.named.values())


def _is_bare(form: Form) -> bool:
    """Whether a form is a schema that says no more than its type."""
    return form.kind == "schema" and asserting_of(form.payload.draft).isdisjoint(form.payload.schema)


def _smaller(left: int | None, right: int | None) -> int | None:
    if left is None or right is None:
        return right if left is None else left
    return min(left, right)
