"""What is done with each keyword, in each draft? The one table: the reader, the report and the docs use it.

`enforced` holds always; `when` says under which condition it holds, and refuses the schema elsewhere;
`annotation` constrains nothing by the standard; `structure` names and groups schemas (`$defs`, `$id`).
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from difflib import get_close_matches
from enum import IntEnum
from functools import cache

from maskwright.json_schema.schema_text import are_texts

__all__ = [
    "NAMING",
    "TABLE",
    "VOCABULARIES",
    "Draft",
    "Keyword",
    "Part",
    "Parts",
    "asserting_of",
    "beside_ref_of",
    "keywords_of",
    "nearest_name",
    "parts_of",
]


class Draft(IntEnum):
    """The drafts that are read. `LATEST` is 2020-12 with the older keywords, for a schema that names none."""

    D4 = 4
    D6 = 6
    D7 = 7
    D2019 = 2019
    D2020 = 2020
    LATEST = 2021

    @property
    def ref_hides(self) -> bool:
        """Whether a `$ref` hides what stands beside it."""
        return self <= Draft.D7

    @property
    def id_keyword(self) -> str:
        """What names a schema."""
        return "id" if self is Draft.D4 else "$id"


class Part:
    """What of a value a keyword speaks about, a bit each; one look at the flags of a node tells what
    reading it takes.

    A keyword that nobody knows has no bit; `NO_NAME` is for a key that is no text at all,
    `NAMES` for those that name a schema or its draft.

    Plain integers: joining two members of an `IntFlag` takes 2 µs, and each keyword of each schema is joined.
    """

    NOTHING = 0
    TYPE = 1
    STRING = 2
    NUMBER = 4
    ARRAY = 8
    OBJECT = 16
    VALUES = 32
    REF = 64
    ANY_OF = 128
    ONE_OF = 256
    IN_PLACE = 512
    UNEVALUATED = 1024
    NO_NAME = 2048
    NAMES = 4096


@dataclass(frozen=True, slots=True)
class Keyword:
    """One keyword: where it belongs, since and until which draft, what is done with it, and in which case."""

    name: str
    part: int
    status: str
    since: Draft = Draft.D4
    until: Draft = Draft.LATEST
    when: str = ""
    note: str = ""


def _many(
    names: str, part: int, status: str, since: Draft = Draft.D4, until: Draft = Draft.LATEST
) -> list[Keyword]:
    return [Keyword(name, part, status, since, until) for name in names.split()]


_FINITE = "the parts of a schema that are combined stay within the budget of work"

TABLE: tuple[Keyword, ...] = (
    *_many("type", Part.TYPE, "enforced"),
    *_many("enum", Part.VALUES, "enforced"),
    Keyword("const", Part.VALUES, "enforced", Draft.D6),
    *_many("minLength maxLength", Part.STRING, "enforced"),
    Keyword(
        "pattern",
        Part.STRING,
        "when",
        when="the pattern is regular: no back-reference, lookaround as docs/regex.md says",
    ),
    Keyword(
        "format",
        Part.STRING,
        "when",
        when='the name is in the list below and formats="enforce"; another name is an annotation',
    ),
    *_many("minimum maximum multipleOf", Part.NUMBER, "enforced"),
    Keyword("exclusiveMinimum", Part.NUMBER, "enforced", note="boolean in draft 4, a number since draft 6"),
    Keyword("exclusiveMaximum", Part.NUMBER, "enforced", note="boolean in draft 4, a number since draft 6"),
    *_many("minItems maxItems", Part.ARRAY, "enforced"),
    Keyword("items", Part.ARRAY, "enforced", note="an array of schemas up to 2019-09"),
    Keyword("additionalItems", Part.ARRAY, "enforced", note="beside an array of items"),
    Keyword("prefixItems", Part.ARRAY, "enforced", Draft.D2020),
    Keyword("contains", Part.ARRAY, "when", Draft.D6, when=_FINITE),
    Keyword("minContains", Part.ARRAY, "when", Draft.D2019, when=_FINITE),
    Keyword("maxContains", Part.ARRAY, "when", Draft.D2019, when=_FINITE),
    Keyword(
        "uniqueItems",
        Part.ARRAY,
        "when",
        when="items are scalars, or arrays and objects that have one spelling up to white space",
    ),
    *_many("properties required additionalProperties", Part.OBJECT, "enforced"),
    *_many("minProperties maxProperties", Part.OBJECT, "enforced"),
    Keyword("patternProperties", Part.OBJECT, "when", when="the patterns are regular"),
    Keyword("propertyNames", Part.OBJECT, "enforced", Draft.D6),
    Keyword("dependentRequired", Part.IN_PLACE, "when", Draft.D2019, when=_FINITE),
    Keyword("dependentSchemas", Part.IN_PLACE, "when", Draft.D2019, when=_FINITE),
    Keyword("dependencies", Part.IN_PLACE, "when", when=_FINITE),
    Keyword("allOf", Part.IN_PLACE, "when", when=_FINITE),
    Keyword("anyOf", Part.ANY_OF, "when", when=_FINITE),
    Keyword("oneOf", Part.ONE_OF, "when", when=_FINITE),
    Keyword("not", Part.IN_PLACE, "when", when=_FINITE),
    Keyword("if", Part.IN_PLACE, "when", Draft.D7, when=_FINITE),
    Keyword("then", Part.IN_PLACE, "when", Draft.D7, when=_FINITE),
    Keyword("else", Part.IN_PLACE, "when", Draft.D7, when=_FINITE),
    Keyword("unevaluatedProperties", Part.UNEVALUATED, "when", Draft.D2019, when=_FINITE),
    Keyword("unevaluatedItems", Part.UNEVALUATED, "when", Draft.D2019, when=_FINITE),
    Keyword(
        "$ref", Part.REF, "when", when="the target is in the schema, the registry or a standard metaschema"
    ),
    Keyword(
        "$dynamicRef", Part.IN_PLACE, "when", Draft.D2020, when="the target is in the schema or the registry"
    ),
    Keyword(
        "$recursiveRef", Part.IN_PLACE, "when", Draft.D2019, Draft.D2019, when="the target is in the schema"
    ),
    Keyword("id", Part.NOTHING, "structure", Draft.D4, Draft.D4),
    Keyword("$id", Part.NOTHING, "structure", Draft.D6),
    *_many("$schema definitions", Part.NOTHING, "structure"),
    *_many("$defs $anchor", Part.NOTHING, "structure", Draft.D2019),
    Keyword("$dynamicAnchor", Part.NOTHING, "structure", Draft.D2020),
    Keyword("$recursiveAnchor", Part.NOTHING, "structure", Draft.D2019, Draft.D2019),
    Keyword("$vocabulary", Part.NOTHING, "annotation", Draft.D2019),
    *_many("title description default", Part.NOTHING, "annotation"),
    Keyword("examples", Part.NOTHING, "annotation", Draft.D6),
    *_many(
        "readOnly writeOnly $comment contentEncoding contentMediaType", Part.NOTHING, "annotation", Draft.D7
    ),
    *_many("deprecated contentSchema", Part.NOTHING, "annotation", Draft.D2019),
)

NAMING = frozenset(("$id", "$schema", "id"))
"""What gives a schema a name, or a draft."""

MAX_KEPT = 1_000
MAX_KEPT_TEXT = 200
"""Tuples of keys whose meaning is kept, and the characters of one."""

_ONLY_OLD = {"additionalItems": Draft.D2019, "dependencies": Draft.D7}
"""Keywords that a later draft has dropped; a schema that names no draft may still use them."""


@cache
def keywords_of(draft: Draft) -> dict[str, int]:
    """The keywords of a draft; one that is not among them is unknown, thus an annotation."""
    return {word.name: word.part for word in TABLE if _belongs(word, draft)}


class Parts(dict[tuple[str, ...], int]):
    """What schemas speak about, by their keys in order: bits of `Part`.

    The first 1,000 of such tuples are those of 97 % of 260,000 real schemas, and to look one up takes a
    quarter of a look at each key. Those with long keys are not kept.
    """

    def __init__(self, known: dict[str, int]) -> None:
        super().__init__()
        self.known = known

    def __missing__(self, keys: tuple[str, ...]) -> int:
        flags = 0 if NAMING.isdisjoint(keys) else Part.NAMES
        for keyword in keys:
            flags |= self.known.get(keyword, Part.NO_NAME)
        if flags & Part.NO_NAME:
            if not are_texts(keys):
                return flags
            flags &= ~Part.NO_NAME
        # A key of another type may hold a document, with a reader's notes on it.
        if len(self) < MAX_KEPT and sum(map(len, keys)) < MAX_KEPT_TEXT and {*map(type, keys)} <= {str}:
            self[keys] = flags
        return flags


@cache
def parts_of(draft: Draft) -> Parts:
    """What the schemas of a draft speak about."""
    return Parts(keywords_of(draft))


@cache
def asserting_of(draft: Draft) -> frozenset[str]:
    """The keywords of a draft without which a schema says its type and no more: those that assert, name or
    choose a draft."""
    found = {name for name, part in keywords_of(draft).items() if part != Part.NOTHING and name != "type"}
    return frozenset(found | NAMING)


@cache
def beside_ref_of(draft: Draft) -> frozenset[str]:
    """The keywords of a draft without which a `$ref` stands alone."""
    if draft.ref_hides:
        return NAMING
    return asserting_of(draft) - {"$ref"} | {"type"}


def _belongs(word: Keyword, draft: Draft) -> bool:
    if draft is Draft.LATEST:
        return word.name != "$recursiveRef"
    last = min(word.until, _ONLY_OLD.get(word.name, Draft.LATEST))
    return word.since <= draft <= last


_VALIDATION = frozenset(
    [
        "type",
        "enum",
        "const",
        "multipleOf",
        "maximum",
        "exclusiveMaximum",
        "minimum",
        "exclusiveMinimum",
        "maxLength",
        "minLength",
        "pattern",
        "maxItems",
        "minItems",
        "uniqueItems",
        "maxContains",
        "minContains",
        "maxProperties",
        "minProperties",
        "required",
        "dependentRequired",
    ]
)
_APPLICATOR = frozenset(
    [
        "prefixItems",
        "items",
        "additionalItems",
        "contains",
        "additionalProperties",
        "properties",
        "patternProperties",
        "dependentSchemas",
        "propertyNames",
        "if",
        "then",
        "else",
        "allOf",
        "anyOf",
        "oneOf",
        "not",
    ]
)
_UNEVALUATED = frozenset(("unevaluatedItems", "unevaluatedProperties"))
_NONE: frozenset[str] = frozenset()

VOCABULARIES: dict[str, frozenset[str]] = {
    f"https://json-schema.org/draft/{draft}/vocab/{name}": words
    for draft, groups in {
        "2019-09": {"validation": _VALIDATION, "applicator": _APPLICATOR | _UNEVALUATED, "format": _NONE},
        "2020-12": {
            "validation": _VALIDATION,
            "applicator": _APPLICATOR,
            "unevaluated": _UNEVALUATED,
            "format-annotation": _NONE,
            "format-assertion": _NONE,
        },
    }.items()
    for name, words in {**groups, "core": _NONE, "meta-data": _NONE, "content": _NONE}.items()
}
"""The keywords that a metaschema with a `$vocabulary` switches on, by the vocabulary that has them."""


_NEAR = 0.8
"""How alike a keyword and a misspelling of it are, by `difflib`: a letter or two of ten differ."""

_LONGEST = 40
"""Characters of a name that is compared with the keywords: the longest of those has 21."""


def nearest_name(name: str, known: Collection[str]) -> str | None:
    """The keyword, or the format, that a name may be a misspelling of.

    >>> nearest_name("aditionalproperties", keywords_of(Draft.D7)), nearest_name("x-a", ["a"])
    ('additionalProperties', None)
    """
    if len(name) > _LONGEST:
        return None
    words = {word.lower(): word for word in known}
    near = get_close_matches(name.lower(), words, 1, _NEAR)
    return words[near[0]] if near else None
