"""Do all grammars begin alike, so that the engine can know the parts that they share?"""

from __future__ import annotations

import gc
from typing import Any

import pytest
from maskwright.json_schema import Options, SchemaCompile
from maskwright.json_schema.prelude import prelude
from maskwright.json_schema.whitespace import choose_whitespace

SCHEMAS: list[Any] = [
    True,
    {"type": "string"},
    {"type": "object", "properties": {"a": {"type": ["array", "integer"]}}},
    {"type": "array", "items": {"anyOf": [{"type": "string", "format": "date"}, {"type": "object"}]}},
]
COMBINED = {"oneOf": [{"not": {"items": {"$ref": "#"}}}, {"minLength": 2}]}


@pytest.mark.parametrize("options", [Options(), Options(style="accept"), Options(indent=2)])
@pytest.mark.parametrize("schema", SCHEMAS)
def test_grammars_begin_alike(schema: Any, options: Options) -> None:
    whitespace = choose_whitespace(options.whitespace, options.indent, options.style)
    builder = prelude(options.style, whitespace).builder
    begin = builder.grammar(0)
    grammar = SchemaCompile(schema, options).grammar
    assert grammar.words.startswith(begin.words)
    assert grammar.blob.startswith(begin.blob)
    assert grammar.rules[: len(begin.rules)] == begin.rules
    assert grammar.names[: len(begin.names)] == begin.names
    assert grammar.root == len(begin.rules)


@pytest.mark.parametrize("schema", [{"type": "object"}, {"type": "array"}, {"type": "string"}, True, {}])
def test_any_value_of_a_type_is_not_written_again(schema: Any) -> None:
    grammar = SchemaCompile({"type": "object", "properties": {"a": schema}}, Options()).grammar
    one = SchemaCompile({"type": "object", "properties": {"a": True}}, Options()).grammar
    assert len(grammar.words) == len(one.words)
    assert len(grammar.rules) == len(one.rules)


@pytest.mark.parametrize("options", [Options(), Options(style="accept"), Options(unsupported="ignore")])
@pytest.mark.parametrize("schema", [*SCHEMAS, COMBINED])
def test_a_compile_leaves_nothing_to_the_garbage_collector(schema: Any, options: Options) -> None:
    SchemaCompile(schema, options)
    gc.collect()
    gc.disable()
    try:
        SchemaCompile(schema, options)
        assert gc.collect() == 0
    finally:
        gc.enable()
