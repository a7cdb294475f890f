"""Schemas made to take more than they should: each must give a result or a typed error, soon and in little
memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

__all__ = ["HOSTILE", "REGISTRIES"]


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


def _dynamic_web(count: int) -> Any:
    """Resources that extend each other, each of which refers to whatever the outermost one calls a node."""
    resources = {
        f"r{i}": {
            "$id": f"http://example.org/r{i}",
            "$dynamicAnchor": "node",
            "properties": {
                f"p{i}": {"$dynamicRef": "#node"},
                "next": {"$ref": f"http://example.org/r{(i * 7 + 1) % count}"},
                "other": {"$ref": f"http://example.org/r{(i * 3 + 2) % count}"},
            },
        }
        for i in range(count)
    }
    return {"$id": "http://example.org/web", "$ref": "http://example.org/r0", "$defs": resources}


def _unevaluated_tower(depth: int, width: int, keyword: str) -> Any:
    schema: Any = {keyword: False}
    for level in range(depth):
        if keyword == "unevaluatedProperties":
            own = [{"properties": {f"k{level}_{i}": {"type": "string"}}} for i in range(width)]
        else:
            own = [{"prefixItems": [{"const": level}] * (i + 1)} for i in range(width)]
        schema = {"anyOf": [*own, schema], keyword: False}
    return schema


def _mesh(count: int, keyword: str) -> Any:
    """Each key asks for others, by schemas or by names."""
    if keyword == "dependentRequired":
        return {keyword: {f"k{i}": [f"k{(i * j + 1) % count}" for j in range(1, 6)] for i in range(count)}}
    return {
        keyword: {
            f"k{i}": {
                "properties": {f"k{(i + 1) % count}": {"minimum": i}},
                "anyOf": [{"required": [f"k{(i * 3 + 1) % count}"]}, {"maxProperties": i + 1}],
            }
            for i in range(count)
        }
    }


def _ladder(depth: int) -> Any:
    """if, else if, else if, ..., each rung within the one before it."""
    schema: Any = {"required": ["end"]}
    for level in range(depth):
        schema = {
            "if": {"properties": {"kind": {"const": f"k{level}"}}, "required": ["kind"]},
            "then": {"properties": {f"v{level}": {"type": "integer"}}, "required": [f"v{level}"]},
            "else": schema,
        }
    return {"type": "object", **schema}


def _flat_ladder(count: int) -> Any:
    """The same beside each other, without a `kind` that says which."""
    return {
        "type": "object",
        "allOf": [
            {
                "if": {"required": [f"a{i}"]},
                "then": {"required": [f"b{i}"]},
                "else": {"properties": {f"c{i}": {"type": "string"}}},
            }
            for i in range(count)
        ],
    }


def _id_games(count: int) -> Any:
    """Resources within resources, each with a relative address and an anchor of the same name."""
    schema: Any = {"$anchor": "a", "type": "null"}
    for level in range(count):
        schema = {"$id": f"level{level}/", "$anchor": "a", "properties": {"a": schema, "b": {"$ref": "#a"}}}
    return {"$id": "http://example.org/", **{key: value for key, value in schema.items() if key != "$id"}}


def _not_below(depth: int) -> Any:
    schema: Any = {"type": "integer"}
    for level in range(depth):
        schema = {"not": {"properties": {f"k{level % 3}": schema}, "required": [f"k{level % 2}"]}}
    return schema


def _counted(depth: int) -> Any:
    """Arrays of a thousand arrays of a thousand arrays ..."""
    schema: Any = {"type": "string", "minLength": 1000, "maxLength": 2000}
    for _ in range(depth):
        schema = {"type": "array", "items": schema, "minItems": 1000, "maxItems": 2000}
    return schema


def _constants(count: int, keys: int, *, own: bool) -> list[Any]:
    """Objects as constants: of the same keys, or each of its own."""
    return [{(f"k{i}.{j}" if own else f"k{j}"): i * j for j in range(keys)} for i in range(count)]


def _different(items: Any) -> Any:
    return {"type": "array", "items": items, "uniqueItems": True}


def _pairs(count: int) -> Any:
    """Exactly one of each two keys, in a circle."""
    return {
        "type": "object",
        "allOf": [
            {"oneOf": [{"required": [f"k{i}"]}, {"required": [f"k{(i + 1) % count}"]}]} for i in range(count)
        ],
    }


REGISTRIES: dict[str, Callable[[], dict[str, Any]]] = {
    "a registry in circles": lambda: {
        f"http://example.org/s{i}": {
            "anyOf": [
                {"$ref": f"http://example.org/s{(i + 1) % 2000}"},
                {"properties": {"a": {"$ref": f"http://example.org/s{i * 7 % 2000}"}}},
            ]
        }
        for i in range(2000)
    },
    "a large registry, recursive by members": lambda: {
        f"http://example.org/s{i}": {
            "type": "object",
            "properties": {
                "a": {"$ref": f"http://example.org/s{(i + 1) % 2000}"},
                "b": {"$ref": f"http://example.org/s{i * 7 % 2000}#/properties/a"},
            },
        }
        for i in range(2000)
    },
}
"""Schemas elsewhere, for the schemas of the same names."""

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
    "patternProperties with counters": lambda: {
        "type": "object",
        "patternProperties": {f"^.{{{i},{i + 200}}}x{{{i}}}": {"minimum": i} for i in range(1, 40)},
    },
    "patternProperties of 500 names": lambda: {
        "type": "object",
        "patternProperties": {f"^name{i}$": {"minimum": i} for i in range(500)},
        "additionalProperties": False,
    },
    "a web of 60 $dynamicRefs": lambda: _dynamic_web(60),
    "a tower of unevaluatedProperties": lambda: _unevaluated_tower(12, 4, "unevaluatedProperties"),
    "a tower of unevaluatedItems": lambda: _unevaluated_tower(12, 4, "unevaluatedItems"),
    "unevaluatedProperties over 30 anyOfs": lambda: {
        "type": "object",
        "allOf": [
            {"anyOf": [{"properties": {f"a{i}": {}}}, {"properties": {f"b{i}": {"minimum": i}}}]}
            for i in range(30)
        ],
        "unevaluatedProperties": False,
    },
    "a mesh of dependentSchemas": lambda: _mesh(40, "dependentSchemas"),
    "a mesh of dependentRequired": lambda: _mesh(200, "dependentRequired"),
    "an enum of 20,000 objects": lambda: {
        "enum": [{"id": i, "name": f"name {i}", "tags": [str(i % 7), i]} for i in range(20_000)]
    },
    "an enum of 100,000 numbers": lambda: {"enum": [i * 0.5 for i in range(100_000)]},
    "not an enum of 10,000 strings": lambda: {
        "type": "string",
        "not": {"enum": [f"value {i}" for i in range(10_000)]},
    },
    "not an enum of 10,000 numbers": lambda: {"type": "integer", "not": {"enum": list(range(0, 30_000, 3))}},
    "two enums of 20,000 strings": lambda: {
        "allOf": [{"enum": [f"{i * step}" for i in range(20_000)]} for step in (2, 3)]
    },
    "200 multipleOfs": lambda: {
        "type": "integer",
        "allOf": [{"multipleOf": n} for n in range(3, 203)],
    },
    "no multiple of 60 numbers": lambda: {
        "type": "integer",
        "minimum": 2,
        "allOf": [{"not": {"multipleOf": n}} for n in range(2, 62)],
    },
    "multiples of a tiny decimal": lambda: {"type": "number", "multipleOf": 1e-300, "minimum": 1e-290},
    "ten contains": lambda: {
        "type": "array",
        "allOf": [
            {"contains": {"multipleOf": n}, "minContains": n, "maxContains": 2 * n} for n in range(2, 12)
        ],
    },
    "maxContains of 50,000": lambda: {"contains": {"type": "string"}, "maxContains": 50_000},
    "different tuples of 2,000": lambda: {
        "type": "array",
        "prefixItems": [{"enum": [i, i + 1, i + 2]} for i in range(2000)],
        "items": False,
        "minItems": 2000,
        "uniqueItems": True,
    },
    "different objects of 2,000": lambda: _different({"enum": _constants(2000, 30, own=False)}),
    "different objects of 2,000, each of other keys": lambda: _different(
        {"enum": _constants(2000, 30, own=True)}
    ),
    "different objects of 20,000": lambda: _different({"enum": _constants(20_000, 3, own=False)}),
    "different objects in 2,000 branches": lambda: _different(
        {"anyOf": [{"const": value} for value in _constants(2000, 30, own=False)]}
    ),
    "different arrays of 2,000": lambda: _different(
        {"enum": [[i * j for j in range(30)] for i in range(2000)]}
    ),
    "different texts, each the beginning of the next": lambda: _different(
        {"enum": ["a" * i for i in range(2000)]}
    ),
    "200 arrays of different objects": lambda: {
        "anyOf": [
            {**_different({"enum": _constants(50, 5, own=False)}), "maxItems": i} for i in range(2, 202)
        ]
    },
    "an enum of 2,000 objects, each of other keys": lambda: {"enum": _constants(2000, 30, own=True)},
    "2,000 objects open for each other's keys": lambda: {
        "anyOf": [
            {"type": "object", "properties": {key: {"type": "null"} for key in keys}}
            for keys in _constants(2000, 30, own=True)
        ]
    },
    "a tuple of 20,000": lambda: {
        "type": "array",
        "prefixItems": [{"minimum": i} for i in range(20_000)],
        "minItems": 20_000,
    },
    "not below members, 50 deep": lambda: _not_below(50),
    "names by 40 patterns, at least 20": lambda: {
        "type": "object",
        "propertyNames": {"allOf": [{"pattern": f"[a-{chr(98 + i % 25)}]{{{i % 5}}}"} for i in range(40)]},
        "minProperties": 20,
    },
    "a ladder of 50 ifs": lambda: _ladder(50),
    "60 ifs beside each other": lambda: _flat_ladder(60),
    "allOf that refers to its own members": lambda: {
        "$defs": {
            f"d{i}": {
                "allOf": [
                    {"properties": {"x": {"$ref": f"#/$defs/d{(i + 1) % 30}"}}},
                    {"properties": {"x": {"$ref": f"#/$defs/d{(i * 2) % 30}"}}},
                    {"properties": {"x": {"not": {"$ref": f"#/$defs/d{(i * 3 + 1) % 30}"}}}},
                ]
            }
            for i in range(30)
        },
        "$ref": "#/$defs/d0",
    },
    "anchors in a circle": lambda: {
        "$ref": "#a0",
        "$defs": {
            f"d{i}": {"$anchor": f"a{i}", "anyOf": [{"$ref": f"#a{(i + 1) % 50}"}, {"type": "null"}]}
            for i in range(50)
        },
    },
    "a constant of a megabyte": lambda: {"const": 'a"é\\\n' * 150_000},
    "a pattern of a megabyte": lambda: {"type": "string", "pattern": "^(" + "abc|" * 250_000 + "d)$"},
    "a description of 50 megabytes": lambda: {"type": "null", "description": "x" * 50_000_000},
    "minItems of a million, of objects": lambda: {
        "type": "array",
        "items": {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]},
        "minItems": 1_000_000,
    },
    "minLength of a million with a pattern": lambda: {
        "type": "string",
        "minLength": 1_000_000,
        "pattern": "^(ab|c)*$",
    },
    "minProperties of a million": lambda: {"type": "object", "minProperties": 1_000_000},
    "bounds of 10^399": lambda: {
        "type": "integer",
        "minimum": 10**398,
        "maximum": 10**399 + 7,
        "multipleOf": 7,
    },
    "a text with an exponent of a billion": lambda: '{"minimum": 1e1000000000}',
    "a text with 200,000 brackets": lambda: '{"const": ' + "[" * 200_000,
    "half of surrogate pairs": lambda: {
        "properties": {"\ud800": {"const": "\udfff"}, "a": {"enum": ["\ud800", "b"]}},
        "required": ["a"],
        "propertyNames": {"not": {"const": "\udc00"}},
    },
    "odd keys": lambda: {
        "properties": {
            "": {"$ref": "#/properties/"},
            "__proto__": {"$ref": "#/properties/__proto__/properties/~01"},
        },
        "required": ["__proto__"],
    },
    "resources in resources, 40 deep": lambda: _id_games(40),
    "a registry in circles": lambda: {"$ref": "http://example.org/s0"},
    "a large registry, recursive by members": lambda: {"$ref": "http://example.org/s0"},
    "thousands of thousands, 20 deep": lambda: _counted(20),
    "one of each two of 40 keys": lambda: _pairs(40),
    "additionalProperties false beside 100 allOfs": lambda: {
        "type": "object",
        "properties": {f"k{i}": {"type": "integer"} for i in range(100)},
        "additionalProperties": False,
        "allOf": [{"not": {"required": [f"k{i}", f"k{(i * 7 + 1) % 100}"]}} for i in range(100)],
    },
    "30 formats at once": lambda: {
        "type": "string",
        "allOf": [
            {"format": name}
            for name in (
                "uri",
                "iri",
                "uri-reference",
                "hostname",
                "email",
                "idn-email",
                "uri-template",
                "regex",
            )
        ],
        "maxLength": 5000,
    },
    "not a date-time, nor an address": lambda: {
        "type": "string",
        "not": {"anyOf": [{"format": name} for name in ("date-time", "uri", "email", "ipv6", "hostname")]},
    },
}
