"""Random JSON Schemas over all keywords, and random values that have a chance to satisfy them.

Names, texts and numbers come from small pools, so that the parts of a schema and the values have to do with
each other.
"""

from __future__ import annotations

from random import Random
from typing import Any

KEYS = ("a", "b", "c", "ab", "ba")
TEXTS = ("", "a", "b", "ab", "ba", "abc", "é", 'q"', "1", "aab")
NUMBERS = (0, 1, 2, 3, 4, 6, -1, -2, 0.5, 1.5, -0.5, 2.0, 10)
PATTERNS = ("a", "^a", "b$", "^[ab]*$", "^.{2}$", "c")
TYPES = ("null", "boolean", "integer", "number", "string", "array", "object")


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
        return random.choice(TEXTS)
    if kind == "array":
        return [random_value(random, depth - 1) for _ in range(random.randrange(4))]
    return {random.choice(KEYS): random_value(random, depth - 1) for _ in range(random.randrange(4))}


def random_schema(random: Random, depth: int = 3) -> Any:
    """A schema of draft 2020-12, with few or many keywords, sometimes with references to its own
    definitions."""
    schema = _schema(random, depth, references=True)
    if isinstance(schema, dict):
        schema["$defs"] = {"d": _schema(random, 1, references=False), "r": _recursive(random)}
    return schema


def _recursive(random: Random) -> dict[str, Any]:
    """A definition that refers to itself under a key or an item."""
    return {
        "type": ["object", "array", random.choice(TYPES[:5])],
        "properties": {random.choice(KEYS): {"$ref": "#/$defs/r"}},
        "items": {"$ref": "#/$defs/r"},
    }


def _schema(random: Random, depth: int, references: bool) -> Any:
    if random.random() < 0.06:
        return random.random() < 0.7
    if depth == 0:
        return _leaf(random)
    schema: dict[str, Any] = {}
    if random.random() < 0.5:
        schema["type"] = random.choice(TYPES) if random.random() < 0.7 else random.sample(TYPES, 2)
    for _ in range(random.randrange(1, 4)):
        _add(random, schema, depth - 1, references)
    return schema


def _leaf(random: Random) -> Any:
    choice = random.randrange(5)
    if choice == 0:
        return {"type": random.choice(TYPES)}
    if choice == 1:
        return {"const": random_value(random, 1)}
    if choice == 2:
        return {"enum": [random_value(random, 1) for _ in range(random.randrange(1, 4))]}
    if choice == 3:
        return {"type": "string", "pattern": random.choice(PATTERNS)}
    return {"minimum": random.choice(NUMBERS)}


def _add(random: Random, schema: dict[str, Any], depth: int, references: bool) -> None:
    def inner() -> Any:
        return _schema(random, depth, references)

    def some() -> list[Any]:
        return [inner() for _ in range(random.randrange(1, 4))]

    def named() -> dict[str, Any]:
        return {key: inner() for key in random.sample(KEYS, random.randrange(1, 4))}

    def keys() -> list[str]:
        return random.sample(KEYS, random.randrange(3))

    makers: dict[str, Any] = {
        "enum": lambda: [random_value(random) for _ in range(random.randrange(1, 4))],
        "const": lambda: random_value(random),
        "minLength": lambda: random.randrange(3),
        "maxLength": lambda: random.randrange(4),
        "pattern": lambda: random.choice(PATTERNS),
        "minimum": lambda: random.choice(NUMBERS),
        "maximum": lambda: random.choice(NUMBERS),
        "exclusiveMinimum": lambda: random.choice(NUMBERS),
        "exclusiveMaximum": lambda: random.choice(NUMBERS),
        "multipleOf": lambda: random.choice((1, 2, 3, 0.5, 1.5)),
        "items": inner,
        "prefixItems": some,
        "minItems": lambda: random.randrange(3),
        "maxItems": lambda: random.randrange(4),
        "uniqueItems": lambda: True,
        "contains": inner,
        "minContains": lambda: random.randrange(3),
        "maxContains": lambda: random.randrange(1, 3),
        "properties": named,
        "required": keys,
        "additionalProperties": inner,
        "patternProperties": lambda: {
            pattern: inner() for pattern in random.sample(PATTERNS, random.randrange(1, 3))
        },
        "propertyNames": inner,
        "minProperties": lambda: random.randrange(3),
        "maxProperties": lambda: random.randrange(4),
        "dependentRequired": lambda: {random.choice(KEYS): keys()},
        "dependentSchemas": lambda: {random.choice(KEYS): inner()},
        "allOf": some,
        "anyOf": some,
        "oneOf": some,
        "not": inner,
        "if": inner,
        "then": inner,
        "else": inner,
        "unevaluatedProperties": inner,
        "unevaluatedItems": inner,
    }
    if references:
        makers["$ref"] = lambda: random.choice(("#/$defs/d", "#/$defs/r"))
    keyword = random.choice(list(makers))
    schema[keyword] = makers[keyword]()
