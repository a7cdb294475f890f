"""Random JSON Schemas whose parts meet inside one token: keys that begin alike, bounds a few characters away,
texts and numbers that end in several ways.
"""

from __future__ import annotations

from random import Random
from typing import Any

__all__ = ["meeting_schema"]

KEYS = (
    *("a", "b", "ab", "abc", "na", "name", "names", "id", "id2", "x-1", "é", 'q"', "a\\b", "", "😀k", "\t"),
    "long key with spaces",
)
PATTERNS = (
    *("^[a-z]{1,255}$", "^[A-Za-z0-9_.-]{1,40}$", "^[a-z]{0,2}$", "^.{2,5}$", r"^\S{1,63}$", "^[^a]*a[^a]*$"),
    *("a", "ab+c", "^x-", "[0-9]{3}", "b$", "^(?!a)", r"\\", "^$|^a", r"^\w+$", r"^\d{4}-\d{2}$", "^a?b?c?$"),
    *('^[^"]*$', "^(foo|foobar|bar)$", "^é*$", "[😀-😎]", "^([a-z]+,)*[a-z]+$", r"^[\s\S]{0,17}$"),
    *("^[a-c]*[b-d]*$", "^(?=.*a)(?=.*b).*$"),
)
FORMATS = (
    *("date-time", "date", "time", "duration", "email", "idn-email", "hostname", "ipv4", "ipv6", "uuid"),
    *("uri", "uri-reference", "uri-template", "iri", "json-pointer", "regex"),
)
VALUES = (
    "a",
    "ab",
    "abc",
    "b",
    'q"',
    "\n",
    "é",
    "",
    1,
    10,
    100,
    -1,
    1.5,
    None,
    True,
    False,
    [],
    {},
    [1],
    {"a": 1},
)


def meeting_schema(random: Random) -> dict[str, Any]:
    """A schema of depth 1 to 4."""
    return random.choice((_object, _object, _array, _schema))(random, random.choice((1, 2, 2, 3, 3, 4)))


def _schema(random: Random, depth: int) -> dict[str, Any]:
    if depth <= 0 or random.random() < 0.3:
        return _scalar(random)
    makers = (_object,) * 6 + (_array,) * 3 + (_joined,) * 3
    return random.choice(makers)(random, depth)


def _joined(random: Random, depth: int) -> dict[str, Any]:
    """Schemas side by side: two objects may be read at once."""
    objects = [_object(random, depth - 1) for _ in range(random.randrange(2, 4))]
    ways: tuple[dict[str, Any], ...] = (
        *({"anyOf": objects}, {"anyOf": objects}, {"oneOf": objects}, {"allOf": objects[:2]}, {"$ref": "#"}),
        {"anyOf": [objects[0], _array(random, depth - 1), _scalar(random)]},
        {"if": _object(random, 0), "then": objects[0], "else": objects[1]},
    )
    return random.choice(ways)


def _object(random: Random, depth: int) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "object"}
    keys = random.sample(KEYS, random.randrange(6))
    if keys:
        schema["properties"] = {key: _schema(random, depth - 1) for key in keys}
        if random.random() < 0.6:
            schema["required"] = random.sample(keys, random.randrange(1, len(keys) + 1))
    names = (
        {"pattern": random.choice(PATTERNS)},
        {"maxLength": random.choice((2, 3, 6))},
        {"minLength": 2},
        {"enum": ["a", "b", "ab", "zz"]},
    )
    others = (False, False, True, _scalar(random), _schema(random, depth - 1))
    some = {
        "additionalProperties": (0.5, random.choice(others)),
        "patternProperties": (0.25, {random.choice(PATTERNS): _scalar(random) for _ in range(2)}),
        "propertyNames": (0.25, random.choice(names)),
        "minProperties": (0.2, random.randrange(3)),
        "maxProperties": (0.2, random.randrange(1, 5)),
        "dependentRequired": (0.1, {random.choice(KEYS): [random.choice(KEYS)]}),
    }
    return schema | _some(random, some)


def _array(random: Random, depth: int) -> dict[str, Any]:
    some = {
        "items": (0.9, _schema(random, depth - 1)),
        "prefixItems": (0.3, [_scalar(random) for _ in range(random.randrange(1, 3))]),
        "minItems": (0.3, random.randrange(4)),
        "maxItems": (0.3, random.choice((1, 2, 3, 5, 40))),
        "uniqueItems": (0.3, True),
        "contains": (0.15, _scalar(random)),
    }
    return {"type": "array"} | _some(random, some)


def _scalar(random: Random) -> dict[str, Any]:
    return random.choice((_string, _string, _string, _number, _number, _other))(random)


def _string(random: Random) -> dict[str, Any]:
    low = random.choice((0, 1, 2, 3, 5, 8, 12, 16, 17, 20))
    kinds: tuple[tuple[str, Any, float], ...] = (
        ("minLength", low, 0.2),
        ("pattern", random.choice(PATTERNS), 0.3),
        ("format", random.choice(FORMATS), 0.2),
    )
    keyword, value, bounded = random.choice(kinds)
    length = {"maxLength": (0.8 if keyword == "minLength" else bounded, low + random.choice((0, 1, 2, 3, 9)))}
    return {"type": "string", keyword: value} | _some(random, length)


def _number(random: Random) -> dict[str, Any]:
    if random.random() < 0.5:
        decimal = {
            "minimum": (0.5, random.choice((-1.5, 0, 0.25, 10))),
            "exclusiveMaximum": (0.5, random.choice((10.5, 100, 1e6))),
            "multipleOf": (0.3, random.choice((0.5, 0.01, 0.25, 3))),
        }
        return {"type": "number"} | _some(random, decimal)
    whole = {
        "minimum": (0.7, random.choice((-12, 0, 1, 7, 99))),
        "maximum": (0.7, random.choice((100, 127, 1000, 65535))),
        "multipleOf": (0.3, random.choice((2, 3, 7, 10, 9973))),
    }
    return {"type": "integer"} | _some(random, whole)


def _other(random: Random) -> dict[str, Any]:
    kinds = ("string", "object", "array", "boolean", "null", "integer", "number")
    ways: tuple[dict[str, Any], ...] = (
        {},
        {"type": random.choice(kinds)},
        {"type": ["string", "null"], "maxLength": random.choice((1, 4, 10))},
        {"enum": random.sample(VALUES, random.randrange(1, 6))},
        {"enum": random.sample(VALUES, random.randrange(1, 6))},
        {"not": {"type": "string", "pattern": random.choice(PATTERNS)}, "type": ["string", "integer"]},
        {"anyOf": [_string(random), _number(random)]},
    )
    return random.choice(ways)


def _some(random: Random, keywords: dict[str, tuple[float, Any]]) -> dict[str, Any]:
    """Of the keywords each one with its probability."""
    return {keyword: value for keyword, (likely, value) in keywords.items() if random.random() < likely}
