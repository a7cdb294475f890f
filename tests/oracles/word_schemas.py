"""Random schemas for strings of words: patterns with blanks and counts, lengths, addresses, keys that begin
as names do.

Their masks are made of what follows a blank, of counts near their bounds, and of states that nearly always go
on to another.
"""

from __future__ import annotations

from random import Random
from typing import Any

__all__ = ["word_schema"]

_PATTERNS = (
    r"^(?:\S+\s+){0,%d}\S+$",
    r"^$|(^(?:\S+\s+){0,%d}\S+$)",
    r"^[a-z]+(?:(?:\s+|-)[a-z]+)*$",
    r"^[A-Za-z]{1,%d}( [a-z]{2,%d})*$",
    r"^( ?[^\s,]){2,%d}$",
    r"^\s*[a-n]+\s*$",
    r"^[^ ]* [^-]{0,%d}$",
    r"^(?:[ab]+ ){3}[^ ]+$",
)
_KEYS = (r"^(n_(([a-c]{2,3}(-[a-c]{2})?)|[a-n]{4}))$", r"^name$", r"^an+", r"^[a-z]{1,40}$", r"^x-", r"^ ?b")


def word_schema(random: Random) -> Any:
    """A string, a list of strings, or an object whose keys are words too."""
    kind = random.random()
    if kind < 0.5:
        return _words(random)
    if kind < 0.65:
        return {"type": "array", "items": _words(random), "maxItems": random.choice((3, 40))}
    names = random.sample(("name", "names", "na", "n_ab", " b", "x", "ann"), random.randrange(0, 4))
    schema: dict[str, Any] = {
        "type": "object",
        "properties": {name: random.choice(({}, {"type": "null"}, _words(random))) for name in names},
        "patternProperties": {
            pattern: random.choice(({}, {"type": "integer"}))
            for pattern in random.sample(_KEYS, random.randrange(0, 3))
        },
    }
    if random.random() < 0.3:
        schema["additionalProperties"] = random.choice((False, {"type": "boolean"}, _words(random)))
    if random.random() < 0.3:
        schema["propertyNames"] = {"maxLength": random.choice((2, 4, 20, 60))}
    return schema


def _words(random: Random) -> dict[str, Any]:
    if random.random() < 0.15:
        return {"type": "string", "format": random.choice(("email", "hostname", "uri"))}
    pattern = random.choice(_PATTERNS)
    counts = [random.choice((2, 3, 7, 9, 19, 49)) for _ in range(pattern.count("%d"))]
    schema: dict[str, Any] = {"type": "string", "pattern": pattern % tuple(counts)}
    if random.random() < 0.6:
        schema["maxLength"] = random.choice((3, 8, 20, 30, 64, 100, 140))
    if random.random() < 0.2:
        schema["minLength"] = random.choice((1, 2, 5, 20))
    return schema
