"""Random JSON Schemas over all keywords of each draft, and random values that have a chance to satisfy them.

Names, texts and numbers come from small pools, so that the parts of a schema and the values have to do with
each other.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from random import Random
from typing import Any

__all__ = ["DRAFTS", "REMOTE", "random_schema", "random_value", "words_of"]

DRAFTS = ("4", "6", "7", "2019-09", "2020-12")
ROOT = "http://example.org/root"
REMOTE = "http://example.org/remote"
"""Where a schema may refer to outside itself; the caller's registry has it."""

KEYS = ("a", "b", "c", "ab", "ba", "", "a/b~", "é", 'q"')
TEXTS = ("", "a", "b", "ab", "ba", "abc", "é", 'q"', "1", "aab", "\n", "\\", "/", "😀", "bbbb")
SHAPED = (
    *("2020-02-29", "2019-02-29", "1.2.3.4", "256.1.1.1", "::1", "12:00:00Z", "2020-02-29T12:00:00Z"),
    *("a@b.example", "0b3a4d3e-8f2c-4f1d-9f6e-0123456789ab", "http://example.org/a", "/a/0", "P1D", "a b"),
)
NUMBERS = (0, 1, 2, 3, 4, 6, -1, -2, 0.5, 1.5, -0.5, 2.0, 10, 0.25, 100, 7, -12, 9007199254740993)
STEPS = (1, 2, 3, 0.5, 1.5, 0.25, 7)
PATTERNS = ("a", "^a", "b$", "^[ab]*$", "^.{2}$", "c", r"^\w+$", r"\d", "^(?!a)", "é|^$", "^(a|bb)*$", r"\s")
FORMATS = (
    *("date-time", "email", "ipv4", "ipv6", "uri", "hostname", "unheard-of"),
    *("json-pointer", "uri-reference"),
    *("date", "time", "iri"),
    *("uuid", "duration"),
)
"""Without `regex`: validators read that as Python's and as Rust's own patterns."""
FORMATS_OF_AGE = (7, 9, 12, 14, 14)
"""How many of them each draft has: here a format is one in all drafts, in validators since its own."""
TYPES = ("null", "boolean", "integer", "number", "string", "array", "object")
_OF_OBJECTS = (
    *(
        "properties",
        "required",
        "additionalProperties",
        "patternProperties",
        "propertyNames",
        "minProperties",
    ),
    *("maxProperties", "dependentRequired", "dependentSchemas", "dependencies", "unevaluatedProperties"),
)
_OF_ARRAYS = (
    *(
        "items",
        "minItems",
        "maxItems",
        "uniqueItems",
        "contains",
        "minContains",
        "maxContains",
        "prefixItems",
    ),
    *("array items", "additionalItems", "unevaluatedItems"),
)
_OF_SCALARS = ("minLength", "maxLength", "pattern", "format", "minimum", "maximum", "multipleOf")
_OTHERS = {"object": {*_OF_ARRAYS, *_OF_SCALARS}, "array": {*_OF_OBJECTS, *_OF_SCALARS}}
"""What has nothing to say about a type."""

_COMPANIONS: dict[str, tuple[tuple[str, ...], ...]] = {
    "if": (("then",), ("else",), ("then", "else")),
    "then": (("if",),),
    "else": (("if",),),
    "minContains": (("contains",),),
    "maxContains": (("contains",),),
    "additionalProperties": (("properties",), ("patternProperties",)),
    "required": (("properties",),),
    "unevaluatedProperties": (
        ("properties",),
        ("anyOf",),
        ("allOf",),
        ("if", "then"),
        ("patternProperties",),
    ),
    "unevaluatedItems": (("prefixItems",), ("array items",), ("anyOf",), ("contains",), ("allOf",)),
}
"""For a keyword the others one set of which gives it something to do."""

Maker = Callable[[], dict[str, Any]]
"""Makes a keyword, with what it does not go without."""
Known = dict[str, tuple[int, Callable[[], Any]]]
"""Keywords: the age of the draft that has it first, and what makes its value."""


def random_value(random: Random, depth: int = 2) -> Any:
    """A JSON value."""
    kind = random.choice(("null", "boolean", "number", "string", "array", "object", "object", "array"))
    if kind == "null":
        return None
    if kind == "boolean":
        return random.random() < 0.5
    if kind == "number" or depth == 0:
        return random.choice(NUMBERS)
    if kind == "string":
        return random.choice(TEXTS if random.random() < 0.9 else SHAPED)
    if kind == "array":
        return [random_value(random, depth - 1) for _ in range(random.randrange(4))]
    return {_key(random): random_value(random, depth - 1) for _ in range(random.randrange(4))}


def words_of(schema: Any) -> tuple[list[str], list[Any]]:
    """The names that a schema has, and values that stand in it or beside its bounds."""
    names: list[str] = list(KEYS[:3])
    values: list[Any] = [None, True, *NUMBERS[:3], "", "a", [], {}]
    waiting = [schema]
    while waiting:
        item = waiting.pop()
        if isinstance(item, list):
            waiting.extend(item)
        elif isinstance(item, dict):
            waiting.extend(item.values())
            for keyword, value in item.items():
                if keyword in ("properties", "dependentSchemas") and isinstance(value, dict):
                    names.extend(value)
                elif keyword == "const":
                    values.append(value)
                elif keyword == "enum" and isinstance(value, list):
                    values.extend(value)
                elif isinstance(value, (int, float)) and not isinstance(value, bool):
                    values.extend((value, value + 1, value - 0.5))
    return names, values


def random_schema(random: Random, depth: int = 3, draft: str = "2020-12") -> Any:
    """A schema with few or many keywords, sometimes with references to itself, to its own definitions or
    to `REMOTE`."""
    return _Maker(random, draft).root(depth)


class _Maker:
    """Makes schemas of one draft. `consumed`: a value lies between the schema and the root, so that a
    reference to the root makes no circle."""

    def __init__(self, random: Random, draft: str) -> None:
        self.random = random
        self.draft = draft
        self.age = DRAFTS.index(draft)
        self.identifies = random.random() < 0.3
        # Draft 2019-09 does not say that `contains` evaluates items; both validators have it so.
        self.omitted = random.choice(("contains", "unevaluatedItems")) if draft == "2019-09" else None
        self.references = ["#/definitions/d", "#/definitions/r"]
        if self.age >= 3:
            self.references = ["#/$defs/d", "#/$defs/r", "#/$defs/e%25%7E1", "#here"]

    def root(self, depth: int) -> Any:
        if self.identifies:
            self.references += [REMOTE, ROOT + self.references[0], "inner"]
        schema = self.schema(depth, references=True, consumed=False)
        if not isinstance(schema, dict):
            return schema
        definitions = {
            "d": self.schema(1, references=False, consumed=False),
            "r": self._recursive(),
        }
        if self.age >= 3:
            here = self.schema(1, references=False, consumed=False)
            definitions["h"] = {**here, "$anchor": "here"} if isinstance(here, dict) else {"$anchor": "here"}
            definitions["e%/"] = self.schema(1, references=False, consumed=False)
        name = "id" if self.age == 0 else "$id"
        if self.age < 3 and "$ref" in schema:
            schema = {"allOf": [schema]}  # a reference would hide the name and the definitions
        if self.identifies:
            inner = self.schema(1, references=False, consumed=False)
            definitions["i"] = {**(inner if isinstance(inner, dict) else {}), name: "inner"}
            schema[name] = ROOT
            if self.draft == "2020-12" and self.random.random() < 0.7:
                self._extend(definitions)
        schema["definitions" if self.age < 3 else "$defs"] = definitions
        if self.draft == "2020-12" and "$dynamicRef" in str(schema):
            schema["$dynamicAnchor"] = "node"
        if self.draft == "2019-09" and "$recursiveRef" in str(schema):
            schema["$recursiveAnchor"] = self.random.random() < 0.5
        return schema

    def _extend(self, definitions: dict[str, Any]) -> None:
        """Two resources with the same dynamic anchor, one of which leads to the other."""
        random = self.random
        definitions["i"]["$dynamicAnchor"] = "node"
        definitions["i"].setdefault("properties", {})[_key(random)] = {"$ref": "other"}
        definitions["o"] = {
            "$id": "other",
            "$dynamicAnchor": "node",
            "type": ["object", random.choice(TYPES[:5])],
            "properties": {key: {"$dynamicRef": "#node"} for key in random.sample(KEYS[:4], 2)},
        }

    def _recursive(self) -> dict[str, Any]:
        """A definition that refers to itself under a key or an item."""
        random, itself = self.random, self.references[1]
        return {
            "type": ["object", "array", random.choice(TYPES[:5])],
            "properties": {_key(random): {"$ref": itself}},
            "items": {"$ref": itself},
        }

    def schema(self, depth: int, references: bool, consumed: bool) -> Any:
        random = self.random
        if random.random() < 0.06 and self.age > 0:
            return random.random() < 0.7
        if depth == 0:
            return self._leaf()
        schema: dict[str, Any] = {}
        if random.random() < 0.5:
            schema["type"] = random.choice(TYPES) if random.random() < 0.7 else random.sample(TYPES, 2)
        makers = self._makers(depth - 1, references, consumed)
        known = list(makers)
        topic = random.choice(("object", "object", "array", None, None))
        if topic:
            if "type" in schema and random.random() < 0.8:
                schema["type"] = topic
            known = [keyword for keyword in known if keyword not in _OTHERS[topic]]
        for _ in range(random.choice((1, 1, 2, 2, 3, 3, 5))):
            keyword = random.choice(known)
            schema.update(makers[keyword]())
            if random.random() < 0.7:
                for other in random.choice(_COMPANIONS.get(keyword, ((),))):
                    if other in makers and other not in schema:
                        schema.update(makers[other]())
        return schema

    def _leaf(self) -> Any:
        random = self.random
        choice = random.randrange(5)
        if choice == 0:
            return {"type": random.choice(TYPES)}
        if choice == 1 and self.age > 0:
            return {"const": random_value(random, 1)}
        if choice == 2:
            return {"enum": _different([random_value(random, 1) for _ in range(random.randrange(1, 4))])}
        if choice == 3:
            return {"type": "string", "pattern": random.choice(PATTERNS)}
        return {"minimum": random.choice(NUMBERS)}

    def _makers(self, depth: int, references: bool, consumed: bool) -> dict[str, Maker]:
        """For each keyword of the draft, what makes it, with those that it does not go without."""

        def inner() -> Any:
            return self.schema(depth, references, consumed)

        def below() -> Any:
            return self.schema(depth, references, True)

        known = {**self._scalars(), **self._arrays(below), **self._objects(below, inner)}
        known.update(self._in_place(below, inner))
        makers = {
            keyword: partial(_one, keyword, make)
            for keyword, (since, make) in known.items()
            if self.age >= since and keyword != self.omitted
        }
        makers.update(self._of_this_draft(below, inner))
        if references:
            makers["$ref"] = partial(self._reference, consumed)
        return makers

    def _some(self, make: Callable[[], Any]) -> list[Any]:
        return [make() for _ in range(self.random.randrange(1, 4))]

    def _keys(self, least: int = 0) -> list[str]:
        return self.random.sample(KEYS[:6], self.random.randrange(least, 3))

    def _scalars(self) -> Known:
        random = self.random
        number = partial(random.choice, NUMBERS)
        return {
            "enum": (0, lambda: _different([random_value(random) for _ in range(random.randrange(1, 4))])),
            "const": (1, lambda: random_value(random)),
            "minLength": (0, lambda: random.randrange(3)),
            "maxLength": (0, lambda: random.randrange(4)),
            "pattern": (0, lambda: random.choice(PATTERNS)),
            "format": (0, lambda: random.choice(FORMATS[: FORMATS_OF_AGE[self.age]])),
            "minimum": (0, number),
            "maximum": (0, number),
            "exclusiveMinimum": (1, number),
            "exclusiveMaximum": (1, number),
            "multipleOf": (0, lambda: random.choice(STEPS)),
        }

    def _arrays(self, below: Callable[[], Any]) -> Known:
        random = self.random
        return {
            "items": (0, below),
            "minItems": (0, lambda: random.randrange(3)),
            "maxItems": (0, lambda: random.randrange(4)),
            "uniqueItems": (0, lambda: random.random() < 0.9),
            "contains": (1, below),
            "minContains": (3, lambda: random.randrange(3)),
            "maxContains": (3, lambda: random.randrange(1, 3)),
        }

    def _objects(self, below: Callable[[], Any], inner: Callable[[], Any]) -> Known:
        random = self.random
        return {
            "properties": (0, lambda: {key: below() for key in random.sample(KEYS, random.randrange(1, 4))}),
            "required": (0, lambda: self._keys(1 if self.age == 0 else 0) or ["a"]),
            "additionalProperties": (0, lambda: below() if random.random() < 0.7 else False),
            "patternProperties": (
                0,
                lambda: {pattern: below() for pattern in random.sample(PATTERNS, random.randrange(1, 3))},
            ),
            "propertyNames": (1, below),
            "minProperties": (0, lambda: random.randrange(3)),
            "maxProperties": (0, lambda: random.randrange(4)),
            "dependentRequired": (3, lambda: {_key(random): self._keys()}),
            "dependentSchemas": (3, lambda: {_key(random): inner()}),
        }

    def _in_place(self, below: Callable[[], Any], inner: Callable[[], Any]) -> Known:
        some = partial(self._some, inner)
        return {
            **dict.fromkeys(("allOf", "anyOf"), (0, some)),
            "oneOf": (0, lambda: some() if self.random.random() < 0.6 else self._tagged(below)),
            "not": (0, inner),
            **dict.fromkeys(("if", "then", "else"), (2, inner)),
            "unevaluatedProperties": (3, below),
            "unevaluatedItems": (3, below),
        }

    def _tagged(self, below: Callable[[], Any]) -> list[Any]:
        """Schemas that a constant tells apart, or nearly."""
        random = self.random
        branches: list[Any] = []
        for _ in range(random.randrange(2, 4)):
            tag = {"enum": random.sample(TEXTS[:6], random.randrange(1, 3))}
            if random.random() < 0.3:
                branches.append(tag)
                continue
            key = random.choice(KEYS[:2])
            named = {key: tag, random.choice(KEYS[2:5]): below()}
            branches.append({"type": "object", "properties": named, "required": [key]})
        return branches

    def _of_this_draft(self, below: Callable[[], Any], inner: Callable[[], Any]) -> dict[str, Maker]:
        """Keywords that came, went, or changed their meaning."""
        random, some = self.random, partial(self._some, below)
        makers: dict[str, Maker] = {}
        if self.draft == "2020-12":
            makers["prefixItems"] = lambda: {"prefixItems": some()}
        else:
            makers["array items"] = lambda: {"items": some()}
            makers["additionalItems"] = lambda: {"items": some(), "additionalItems": below()}
        if self.age < 3:
            makers["dependencies"] = lambda: {
                "dependencies": {_key(random): ["a"] if random.random() < 0.5 else inner()}
            }
        if self.age == 0:
            makers["exclusiveMinimum"] = partial(self._exclusive, "minimum")
            makers["exclusiveMaximum"] = partial(self._exclusive, "maximum")
        return makers

    def _exclusive(self, name: str) -> dict[str, Any]:
        exclusive = f"exclusive{name.title()}"
        return {name: self.random.choice(NUMBERS), exclusive: self.random.random() < 0.7}

    def _reference(self, consumed: bool) -> dict[str, Any]:
        random = self.random
        if not consumed or random.random() < 0.7:
            return {"$ref": random.choice(self.references)}
        if self.draft == "2020-12" and random.random() < 0.5:
            return {"$dynamicRef": "#node"}
        if self.draft == "2019-09" and random.random() < 0.5:
            return {"$recursiveRef": "#"}
        return {"$ref": "#"}


def _one(keyword: str, make: Callable[[], Any]) -> dict[str, Any]:
    return {keyword: make()}


def _key(random: Random) -> str:
    """A name: mostly one of the plain ones."""
    return random.choice(KEYS[:5] if random.random() < 0.8 else KEYS)


def _different(values: list[Any]) -> list[Any]:
    """The values, none twice: some drafts ask for that."""
    kept: list[Any] = []
    for value in values:
        if not any(_equal(value, other) for other in kept):
            kept.append(value)
    return kept


def _equal(left: Any, right: Any) -> bool:
    """Equality of JSON values: `True` is not 1."""
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(_equal, left, right))
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(_equal(left[key], right[key]) for key in left)
    return bool(left == right)
