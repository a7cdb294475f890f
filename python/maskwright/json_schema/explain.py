"""What does a schema cost, and what does it force? Sizes by place, and a walk over what its values must
look like."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Any

from maskwright.errors import MaskwrightError, shown_place
from maskwright.json_schema.apart import are_apart
from maskwright.json_schema.clauses import Members
from maskwright.json_schema.compile import Options, SchemaCompile
from maskwright.json_schema.forms import FALSE, TRUE, Form
from maskwright.json_schema.keywords import Part
from maskwright.json_schema.order import names_in_order
from maskwright.json_schema.places import Place
from maskwright.json_schema.reading import Reader

__all__ = ["Cost", "Explanation", "explain_schema"]

MAX_PLACES = 2_000

MAX_STRINGS = 200
"""Different strings that are compiled alone: 1 to 50 ms each."""

_MAX_STEPS = 8
"""References followed one after the other."""


@dataclass(frozen=True, slots=True)
class Cost:
    """What one place takes: the states and bytes of its automaton. `hint` says what would make it cheaper.

    `place` is a JSON Pointer behind `#`; `(counted)` and the like are parts that have no place of their own.
    """

    place: str
    states: int
    n_bytes: int
    hint: str = ""


@dataclass(frozen=True, slots=True)
class Explanation:
    """What a schema costs: of each rule, largest first; `inside` them, of each string with a pattern or a
    format, were it alone. `forced` is what all values have in common, a line each. Seconds of the front end
    and of the engine.

    >>> explain_schema({"type": "string", "pattern": "^a+$"}).costs[0].place
    '#'
    """

    costs: tuple[Cost, ...]
    inside: tuple[Cost, ...]
    forced: tuple[str, ...]
    front_seconds: float
    native_seconds: float


def explain_schema(schema: Any, **options: Any) -> Explanation:
    r"""Compile a schema over the 256 bytes and look at the result. `options` are those of
    `Compiler.json_schema`.

    Raises what compiling it raises.

    >>> explained = explain_schema({"type": "object", "properties": {"a": {"const": 1}}, "required": ["a"]})
    >>> print(*explained.forced, sep="\n")
    #: members in this order: "a", then others; always there: "a"
    #/properties/a: always 1
    """
    begin = perf_counter()
    chosen = Options(**options)
    work = SchemaCompile(schema, chosen, pointer_names=True)
    between = perf_counter()
    sizes = work.engine_sizes()
    end = perf_counter()
    places = dict(_places(work))
    costs = tuple(
        Cost(_shown(name), states, size, _hint(work.reader, places.get(name))) for name, states, size in sizes
    )
    inside = _inside(work.reader, places.values(), chosen)
    forced = tuple(line for name, place in places.items() for line in _forced(work.reader, name, place))
    return Explanation(costs, inside, forced, between - begin, end - between)


def _shown(name: str) -> str:
    """A place as `#/pointer`; parts that the engine makes on its own (the members of an object, a loop) as
    it calls them."""
    return shown_place(name) if name.startswith("/") or not name or "#" in name else f"({name})"


def _places(work: SchemaCompile) -> Iterator[tuple[str, Place]]:
    """The schemas that are reached, by pointer, each once."""
    reader = work.reader
    waiting: list[Form] = [work.root]
    seen: set[Form] = set()
    while waiting and len(seen) < MAX_PLACES:
        form = waiting.pop(0)
        if form in seen or form in (TRUE, FALSE):
            continue
        seen.add(form)
        if form.kind == "schema":
            yield form.payload.pointer, form.payload
        cases = reader.cases(form)
        for members in cases.objects:
            waiting.extend(members.named.values())
            waiting.extend(inner for _, inner in members.opens)
        for items in cases.arrays:
            waiting.extend((*items.prefix, items.rest))


def _forced(reader: Reader, pointer: str, place: Place) -> Iterator[str]:
    form = reader.forms.schema(place)
    cases = reader.cases(form)
    if cases.objects and any(members.named for members in cases.objects):
        yield f"{shown_place(pointer)}: {_order(reader, form, cases.objects)}"
    for members in cases.objects[:1]:
        for key, inner in members.named.items():
            if key not in members.required and (inner is FALSE or reader.algebra.is_empty(inner)):
                yield f"{shown_place(pointer)}: {key!r} can never be there, no value satisfies its schema"
    constant = _only_constant(cases)
    if constant is not None:
        yield f"{shown_place(pointer)}: always {constant}"
    yield from _dead_branches(reader, pointer, place)


def _order(reader: Reader, form: Form, clauses: tuple[Members, ...]) -> str:
    names = [
        name for name in names_in_order(reader, form) if any(name in members.named for members in clauses)
    ]
    always = frozenset.intersection(*(members.required for members in clauses))
    shown = ", ".join(f'"{name}"' for name in names[:12]) + (", ..." if len(names) > 12 else "")
    text = f"members in this order: {shown}" if shown else "members in any order"
    if any(members.opens for members in clauses):
        text += ", then others"
    if always:
        text += "; always there: " + ", ".join(f'"{name}"' for name in names if name in always)
    return text


def _only_constant(cases: Any) -> str | None:
    kinds = [cases.null, cases.booleans, cases.numbers, cases.strings, cases.arrays, cases.objects]
    if sum(map(bool, kinds)) != 1:
        return None
    if cases.null:
        return "null"
    if len(cases.booleans) == 1:
        return "true" if True in cases.booleans else "false"
    if len(cases.numbers) == 1 and cases.numbers[0].constants and len(cases.numbers[0].constants) == 1:
        return str(cases.numbers[0].constants[0][0])
    if len(cases.strings) == 1 and cases.strings[0].allowed and len(cases.strings[0].allowed) == 1:
        return repr(next(iter(cases.strings[0].allowed)))
    return None


def _dead_branches(reader: Reader, pointer: str, place: Place) -> Iterator[str]:
    """Branches that no value can take beside the schema's own keywords."""
    flags = reader.flags(place)
    if not flags & (Part.ANY_OF | Part.ONE_OF):
        return
    own = reader.forms.cases(reader.own(place))
    for keyword in ("anyOf", "oneOf"):
        if keyword in place.schema:
            for number, branch in enumerate(reader.listed(place, place.schema, keyword)):
                if reader.algebra.is_empty(reader.forms.all((own, branch))):
                    yield f"{shown_place(pointer)}/{keyword}/{number}: no value can take this branch"


def _inside(reader: Reader, places: Iterable[Place], options: Options) -> tuple[Cost, ...]:
    """Strings, of which parts may be in several rules: each is compiled alone, equal ones once."""
    alone = replace(options, registry=None, draft=None, unknown_keywords="annotate")
    known: dict[str, tuple[int, int]] = {}
    found = []
    for place in places:
        target = _target(reader, place)
        if not isinstance(target.schema, dict) or not target.schema.keys() & {"pattern", "format"}:
            continue
        schema = {word: target.schema[word] for word in _STRING_WORDS if word in target.schema}
        key = repr(schema)
        if key not in known and len(known) < MAX_STRINGS:
            try:
                sizes = SchemaCompile({"type": "string", **schema}, alone).engine_sizes()
            except MaskwrightError:  # beside other keywords it did compile
                sizes = []
            known[key] = sum(states for _, states, _ in sizes), sum(size for _, _, size in sizes)
        states, size = known.get(key, (0, 0))
        if states or size:
            found.append(Cost(_shown(place.pointer), states, size, _string_hint(reader, target)))
    return tuple(sorted(found, key=lambda cost: -cost.n_bytes))


def _target(reader: Reader, place: Place) -> Place:
    """The schema that a schema of nothing but references leads to."""
    for _ in range(_MAX_STEPS):
        if not isinstance(place.schema, dict) or reader.flags(place) != Part.REF:
            break
        form = reader.target(place, place.schema)
        if form.kind != "schema":
            break
        place = form.payload
    return place


def _string_hint(reader: Reader, place: Place) -> str:
    return f"format {place.schema['format']!r}" if "format" in place.schema else _hint(reader, place)


_STRING_WORDS = ("pattern", "format", "minLength", "maxLength")


def _together(reader: Reader, place: Place, keyword: str) -> bool:
    """Whether some branches of `anyOf` or `oneOf` are not told apart by what they say on their face."""
    return not are_apart(reader, reader.listed(place, place.schema, keyword))


_HINTS: tuple[tuple[str, Callable[[Reader, Place], bool], str], ...] = (
    (
        "uniqueItems",
        lambda _, place: place.schema["uniqueItems"] and "maxItems" not in place.schema,
        "uniqueItems remembers every item; a maxItems bounds it",
    ),
    (
        "oneOf",
        lambda reader, place: _together(reader, place, "oneOf"),
        "anyOf, or a required constant member in each branch: then no branch has to exclude the others",
    ),
    (
        "not",
        lambda *_: True,
        "what is not allowed is taken out of everything that is; say what is allowed instead",
    ),
    (
        "pattern",
        lambda _, place: not (place.schema["pattern"][:1] == "^" and place.schema["pattern"][-1:] == "$"),
        'a pattern that begins with "^" and ends with "$" has fewer states',
    ),
    (
        "patternProperties",
        lambda _, place: len(place.schema["patternProperties"]) > 1,
        "each further pattern cuts the keys up; patterns that exclude each other stay apart",
    ),
    (
        "anyOf",
        lambda reader, place: _together(reader, place, "anyOf"),
        "branches over the same members are all live at once; a constant member tells them apart early",
    ),
)
"""Keyword, whether it is that which costs here, and what would cost less."""


def _hint(reader: Reader, place: Place | None) -> str:
    if place is None or not isinstance(place.schema, dict):
        return ""
    kept = reader.kept(place)
    return next((hint for word, costs, hint in _HINTS if word in kept and costs(reader, place)), "")
