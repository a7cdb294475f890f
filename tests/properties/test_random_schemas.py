"""Does the pattern of a schema take exactly the documents that a JSON Schema validator takes?"""

from __future__ import annotations

import json
from random import Random
from typing import Any

import jsonschema
import pytest
from maskwright.reference import json_schema_to_regex, regex_to_dfa

NAMES = ["a", "b", "c", "d"]
SCALARS: list[Any] = [0, -7, 12, 1.5, -0.25, 1e30, "", "a", 'q"\\', "é\n", True, False, None]
TYPES = ["string", "integer", "number", "boolean", "null"]


def random_schema(rng: Random, depth: int) -> dict[str, Any]:
    roll = rng.random()
    if depth == 0 or roll < 0.3:
        return {"type": rng.choice(TYPES)} if rng.random() < 0.7 else {"enum": rng.sample(SCALARS, 3)}
    if roll < 0.45:
        return {"anyOf": [random_schema(rng, depth - 1) for _ in range(rng.randrange(1, 3))]}
    if roll < 0.65:
        least = rng.randrange(3)
        bounds = [("minItems", least), ("maxItems", least + rng.randrange(3))]
        chosen = dict(bound for bound in bounds if rng.random() < 0.6)
        return {"type": "array", "items": random_schema(rng, depth - 1), **chosen}
    names = sorted(rng.sample(NAMES, rng.randrange(len(NAMES) + 1)))
    schema = {"type": "object", "properties": {name: random_schema(rng, depth - 1) for name in names}}
    schema["required"] = [name for name in names if rng.random() < 0.4]
    return {**schema, "additionalProperties": False}


def random_document(schema: dict[str, Any], rng: Random) -> Any:
    """A document of the schema, but for a fault here and there. Members come in the order of their names."""
    if rng.random() < 0.04:
        return rng.choice([*SCALARS, [], {}, [None], {"a": 0}])
    if "enum" in schema:
        return rng.choice(schema["enum"])
    if "anyOf" in schema:
        return random_document(rng.choice(schema["anyOf"]), rng)
    match schema["type"]:
        case "array":
            least = schema.get("minItems", 0)
            length = max(
                0, rng.randrange(least - (rng.random() < 0.1), schema.get("maxItems", least + 3) + 1)
            )
            return [random_document(schema["items"], rng) for _ in range(length + (rng.random() < 0.05))]
        case "object":
            properties, required = schema["properties"], schema["required"]
            kept = [name for name in properties if rng.random() < (0.97 if name in required else 0.5)]
            extra = [rng.choice(NAMES)] if rng.random() < 0.05 else []
            names = sorted({*kept, *extra})
            return {name: random_document(properties.get(name, {"type": "null"}), rng) for name in names}
        case name:
            of_type = jsonschema.Draft202012Validator({"type": name})
            return rng.choice([value for value in SCALARS if of_type.is_valid(value)])


def as_written(schema: dict[str, Any]) -> dict[str, Any]:
    """For the validator: 1e30 has type integer there, and the pattern of integers has no exponent."""
    if schema.get("type") == "integer":
        return {"type": "integer", "not": {"const": 1e30}}
    written = dict(schema)
    if "anyOf" in schema:
        written["anyOf"] = [as_written(branch) for branch in schema["anyOf"]]
    if "items" in schema:
        written["items"] = as_written(schema["items"])
    if "properties" in schema:
        written["properties"] = {name: as_written(value) for name, value in schema["properties"].items()}
    return written


@pytest.mark.parametrize("seed", range(8))
def test_random_documents(seed: int) -> None:
    rng, accepted, refused = Random(seed), 0, 0
    for _ in range(30):
        schema = random_schema(rng, 3)
        dfa = regex_to_dfa(json_schema_to_regex(schema))
        validator = jsonschema.Draft202012Validator(as_written(schema))
        for _ in range(30):
            document = random_document(schema, rng)
            text = json.dumps(document, separators=(",", ":"), ensure_ascii=rng.random() < 0.5)
            valid = validator.is_valid(document)
            assert dfa.matches(text.encode()) == valid, (schema, text)
            accepted, refused = accepted + valid, refused + (not valid)
    assert accepted > 300
    assert refused > 50
