"""Schemas as Python values: what JSON text cannot say, and what differs only in Python."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from typing import Any

import maskwright as mw
import pytest


def accepts(index: mw.Index, text: str) -> bool:
    constraint = index.constraint()
    data = text.encode()
    return constraint.try_advance(list(data)) == len(data) and constraint.is_complete()


def test_one_dict_at_two_places_is_read_by_its_surroundings(bytes_compiler: mw.Compiler) -> None:
    shared = {"$ref": "#/$defs/a"}
    schema = {
        "properties": {
            "x": shared,
            "y": {"$id": "http://example.org/inner", "items": shared, "$defs": {"a": {"type": "string"}}},
        },
        "$defs": {"a": {"type": "integer"}},
    }
    index = bytes_compiler.json_schema(schema)
    assert accepts(index, '{"x":1,"y":["a"]}')
    assert not accepts(index, '{"x":"a"}')
    assert not accepts(index, '{"y":[1]}')


@pytest.mark.parametrize(
    ("constant", "accepted", "refused"),
    [
        (1, ["1"], ["true", "1.5"]),
        (True, ["true"], ["1"]),
        (1.0, ["1", "1.0"], ["true"]),
        (Decimal("0.10"), ["0.10", "0.1"], ["1"]),
        (0.1, ["0.1"], ["0.10000000000000001"]),
    ],
)
def test_constants_that_python_takes_for_equal(
    bytes_compiler: mw.Compiler, constant: Any, accepted: list[str], refused: list[str]
) -> None:
    index = bytes_compiler.json_schema({"const": constant})
    assert all(accepts(index, text) for text in accepted)
    assert not any(accepts(index, text) for text in refused)


def test_big_numbers_of_a_text_are_kept(bytes_compiler: mw.Compiler) -> None:
    index = bytes_compiler.json_schema('{"minimum": 12345678901234567890.5, "type": "number"}')
    assert accepts(index, "12345678901234567890.5")
    assert not accepts(index, "12345678901234567890.4")


@pytest.mark.parametrize("value", [float("nan"), float("inf"), object(), {1}])
def test_what_is_no_json_value_is_refused(bytes_compiler: mw.Compiler, value: object) -> None:
    with pytest.raises(mw.SchemaError):
        bytes_compiler.json_schema({"const": value})
    with pytest.raises(mw.SchemaError):
        bytes_compiler.json_schema({"minimum": value})


@pytest.mark.parametrize("constant", [{1: 2}, {"a": [{1: 2}]}, ("a",), [date(2024, 2, 29)]])
def test_a_constant_that_json_does_not_have_is_malformed(
    bytes_compiler: mw.Compiler, constant: object
) -> None:
    for schema in ({"const": constant}, {"enum": [1, constant]}):
        with pytest.raises(mw.SchemaError) as caught:
            bytes_compiler.json_schema(schema)
        assert caught.value.code == f"schema.malformed.{next(iter(schema))}"


def test_a_report_lists_unknown_keywords_that_are_errors() -> None:
    report = mw.check_schema({"type": "string", "maxlength": 3, "title": "a"}, unknown_keywords="error")
    assert [finding.status for finding in report.findings] == ["enforced", "refused", "annotation"]
    assert report.error is not None
    assert report.error.code == "schema.unknown-keyword"
    assert not mw.check_schema({"not": {"x": 1}}, unknown_keywords="error").is_enforced


def test_ignored_keywords_are_listed(bytes_compiler: mw.Compiler) -> None:
    schema = {"type": "object", "properties": {"a": {"type": "array", "uniqueItems": True}}}
    index = bytes_compiler.json_schema(schema, unsupported="ignore")
    assert [(note.pointer, note.keyword) for note in index.ignored] == [
        ("/properties/a/uniqueItems", "uniqueItems")
    ]
    assert accepts(index, '{"a":[1,1]}')
    assert bytes_compiler.json_schema({"type": "object"}, unsupported="ignore").ignored == []


@pytest.mark.parametrize(
    ("schema", "place"),
    [
        ({1: {}}, "#/1"),
        ({"type": "string", None: 1}, "#/None"),
        ({"type": "array", "items": {"type": "integer", 1: 2}}, "#/items/1"),
        ({"type": "array", "items": {1: 2}}, "#/items/1"),
        ({"properties": {"a": {"type": "null", True: 1}}}, "#/properties/a/True"),
        ({"properties": {"a": {1: 1}}}, "#/properties/a/1"),
        ({"anyOf": [{}, {1.5: 2}]}, "#/anyOf/1/1.5"),
        ({"allOf": [{"$ref": "#/$defs/x"}], "$defs": {"x": {"type": "null", 2: 2}}}, "#/$defs/x/2"),
        ({"properties": {1: {}}}, "#/properties"),
        ({"patternProperties": {1: {}}}, "#/patternProperties"),
        ({"dependentRequired": {1: ["a"]}}, "#/dependentRequired"),
        ({"dependentSchemas": {1: {}}}, "#/dependentSchemas"),
        ({"const": {"a": {1: 2}}}, "#/const"),
    ],
)
@pytest.mark.parametrize("style", ["generate", "accept"])
def test_keys_are_strings(bytes_compiler: mw.Compiler, schema: Any, place: str, style: Any) -> None:
    with pytest.raises(mw.SchemaError) as caught:
        bytes_compiler.json_schema(schema, style=style)
    assert caught.value.where == place
    assert caught.value.code.startswith("schema.malformed.")
    report = mw.check_schema(schema, style=style)
    assert not report.is_enforced
    assert [f"#{finding.pointer}" for finding in report.with_status("refused")] == [place]


def test_a_key_that_is_no_string_is_told_where_nothing_is_read() -> None:
    report = mw.check_schema({"$defs": {"x": {1: 2}}})
    assert report.with_status("unknown")[0].note == "the keys of a schema are strings"


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ({"const": "\U0001f600"}, {"const": "\ud83d\ude00"}),
        ({"properties": {"1": {"type": "integer"}}}, {"properties": {1: {"type": "integer"}}}),
        ({"enum": [1, 2]}, {"enum": (1, 2)}),
    ],
)
def test_schemas_that_json_writes_alike_are_not_taken_for_one(
    bytes_compiler: mw.Compiler, first: Any, second: Any
) -> None:
    bytes_compiler.json_schema(first)
    with pytest.raises(mw.SchemaError):
        bytes_compiler.json_schema(second)


def test_keys_that_are_no_texts_in_a_branch_that_nobody_reads_name_no_member(
    bytes_compiler: mw.Compiler,
) -> None:
    unread = {"type": "string", "properties": {1: True}}
    schema = {"properties": {"a": {"type": "null"}}, "anyOf": [{"type": "object"}, unread]}
    index = bytes_compiler.json_schema({**schema, "maxProperties": 1})
    assert accepts(index, '{"a":null}')
    assert not accepts(index, '{"a":1}')
