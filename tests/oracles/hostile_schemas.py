"""Schemas made to take more than they should: each must give a result or a typed error, soon and in little
memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

__all__ = ["HOSTILE"]


def _nested(keyword: str, depth: int) -> Any:
    schema: Any = {"type": "null"}
    for _ in range(depth):
        schema = {keyword: [schema]} if keyword in ("allOf", "anyOf", "oneOf") else {keyword: schema}
    return schema


def _nested_objects(depth: int) -> Any:
    schema: Any = {"type": "null"}
    for _ in range(depth):
        schema = {"type": "object", "properties": {"a": schema}, "additionalProperties": False}
    return schema


def _branches(count: int) -> Any:
    branch = [{"properties": {"a": {"type": "string"}}}, {"properties": {"b": {"type": "string"}}}]
    return {"type": "object", "allOf": [{"anyOf": branch} for _ in range(count)]}


def _different_branches(count: int) -> Any:
    return {
        "type": "object",
        "allOf": [
            {"anyOf": [{"properties": {f"a{i}": {"const": i}}}, {"required": [f"b{i}"]}]}
            for i in range(count)
        ],
    }


def _overlapping(count: int) -> Any:
    """Optional branches over the same keys."""
    keys = [f"k{i}" for i in range(8)]
    return {
        "anyOf": [
            {"type": "object", "properties": {key: {"maxLength": i + j} for j, key in enumerate(keys)}}
            for i in range(count)
        ]
    }


def _satisfiability(variables: int, clauses: int) -> Any:
    """Clauses of three literals each, as keys that must or must not be there."""
    parts = []
    state = 12345
    for _ in range(clauses):
        literals = []
        for _ in range(3):
            state = (state * 1103515245 + 12345) % 2**31
            name = f"x{state // 7 % variables}"
            has = {"required": [name]}
            literals.append(has if state // 1000 % 2 else {"not": has})
        parts.append({"anyOf": literals})
    return {"type": "object", "allOf": parts}


def _one_of_one_of(depth: int, width: int) -> Any:
    schema: Any = {"required": ["x"]}
    for level in range(depth):
        schema = {"oneOf": [schema, *({"required": [f"k{level}_{i}"]} for i in range(width))]}
    return schema


HOSTILE: dict[str, Callable[[], Any]] = {
    "objects nested 20,000 deep": lambda: _nested_objects(20_000),
    "items nested 20,000 deep": lambda: _nested("items", 20_000),
    "allOf nested 20,000 deep": lambda: _nested("allOf", 20_000),
    "anyOf nested 20,000 deep": lambda: _nested("anyOf", 20_000),
    "not nested 20,000 deep": lambda: _nested("not", 20_000),
    "a reference to itself": lambda: {"$ref": "#"},
    "references in a circle": lambda: {
        "$ref": "#/$defs/a",
        "$defs": {
            "a": {"allOf": [{"$ref": "#/$defs/b"}]},
            "b": {"anyOf": [{"$ref": "#/$defs/a"}, {"type": "null"}]},
        },
    },
    "a chain of 10,000 references": lambda: {
        "$ref": "#/$defs/d0",
        "$defs": {
            **{f"d{i}": {"$ref": f"#/$defs/d{i + 1}"} for i in range(10_000)},
            "d10000": {"type": "null"},
        },
    },
    "oneOf of oneOfs": lambda: _one_of_one_of(6, 6),
    "allOf of 200 patterns": lambda: {
        "type": "string",
        "allOf": [{"pattern": f"{i}.*{i + 1}"} for i in range(200)],
    },
    "10,000 optional properties": lambda: {
        "type": "object",
        "properties": {f"key{i}": {"type": "integer"} for i in range(10_000)},
        "additionalProperties": False,
    },
    "an enum of 100,000 strings": lambda: {"enum": [f"value {i}" for i in range(100_000)]},
    "500 tools": lambda: {
        "anyOf": [
            {
                "type": "object",
                "properties": {
                    "name": {"const": f"tool{i}"},
                    "arguments": {
                        "type": "object",
                        "properties": {f"p{j}": {"type": "string"} for j in range(6)},
                        "required": ["p0"],
                        "additionalProperties": False,
                    },
                },
                "required": ["name", "arguments"],
                "additionalProperties": False,
            }
            for i in range(500)
        ]
    },
    "oneOf of 200 discriminated objects": lambda: {
        "oneOf": [
            {
                "type": "object",
                "properties": {"t": {"const": f"t{i}"}, "v": {"minimum": i}},
                "required": ["t"],
            }
            for i in range(200)
        ]
    },
    "oneOf of 60 overlapping objects": lambda: {
        "oneOf": [{"type": "object", "properties": {f"p{i}": {"type": "integer"}}} for i in range(60)]
    },
    "satisfiability, 20 variables": lambda: _satisfiability(20, 85),
    "satisfiability, 60 variables": lambda: _satisfiability(60, 250),
    "40 branches over the same keys": lambda: _overlapping(40),
    "40 equal anyOfs": lambda: _branches(40),
    "40 different anyOfs": lambda: _different_branches(40),
    "60 overlapping patternProperties": lambda: {
        "type": "object",
        "patternProperties": {f"{i}.*x": {"minimum": i} for i in range(60)},
    },
    "uniqueItems with 100,000 items": lambda: {
        "type": "array",
        "items": {"type": "integer"},
        "uniqueItems": True,
        "maxItems": 100_000,
    },
    "contains of 100,000": lambda: {"contains": {"const": 1}, "minContains": 100_000},
    "multiples of two primes": lambda: {
        "type": "integer",
        "allOf": [{"multipleOf": 9973}, {"multipleOf": 9967}],
    },
    "a pattern of 100,000 characters": lambda: {"type": "string", "pattern": "a" * 100_000},
    "a number of 100,000 digits": lambda: {"const": 10**100_000},
    "minItems of a billion": lambda: {"type": "array", "items": {"type": "null"}, "minItems": 10**9},
    "a constant nested 20,000 deep": lambda: {"const": _nested("a", 20_000)},
}
