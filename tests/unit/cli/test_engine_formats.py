"""Are formats that only the engine takes shown and drawn as exactly as those of the readable definition?"""

from __future__ import annotations

import json
import re
from pathlib import Path

import jsonschema_rs
import numpy as np
import pytest
from maskwright import Compiler, Vocabulary
from maskwright.cli import main
from maskwright.cli.bad_input import BadInput
from maskwright.cli.engine_format import EngineFormat, spelled

SCHEMA = {
    "$schema": "http://json-schema.org/draft-07/schema#",
    "type": "object",
    "properties": {
        "name": {"type": "string", "pattern": "^[A-Z][a-z]+$"},
        "age": {"type": "integer", "minimum": 0, "maximum": 150},
        "tags": {"type": "array", "items": {"enum": ["a", "b", "c"]}, "uniqueItems": True},
        "parent": {"$ref": "#"},
        "note": {"anyOf": [{"type": "null"}, {"type": "number", "multipleOf": 0.5}]},
    },
    "required": ["name", "age"],
    "x-note": "not for the readable definition",
}


@pytest.fixture
def file(tmp_path: Path) -> str:
    path = tmp_path / "schema.json"
    path.write_text(json.dumps(SCHEMA))
    return str(path)


def test_documents_are_lines_that_validate(file: str, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["sample", file, "-n", "12", "--max-tokens", "2000"]) == 0
    out, err = capfd.readouterr()
    assert err == ""
    validator = jsonschema_rs.Draft7Validator(SCHEMA)
    documents = [json.loads(line) for line in out.splitlines()]
    assert len(documents) == 12
    assert all(validator.is_valid(document) for document in documents)
    assert len({json.dumps(document) for document in documents}) > 6


def test_same_seed_same_documents(file: str, capfd: pytest.CaptureFixture[str]) -> None:
    drawn = []
    for seed in ("1", "1", "2"):
        assert main(["sample", file, "-n", "2", "--seed", seed]) == 0
        drawn.append(capfd.readouterr().out)
    assert drawn[0] == drawn[1] != drawn[2]


def test_documents_of_a_pattern_match(capfd: pytest.CaptureFixture[str]) -> None:
    pattern = r"(?=[a-z]*\d)[a-z0-9]{3,8}"
    assert main(["sample", "--regex", pattern, "-n", "9"]) == 0
    documents = capfd.readouterr().out.split()
    assert len(documents) == 9
    assert all(re.fullmatch(pattern, document) for document in documents)


@pytest.mark.parametrize("text", ["", '{"name": "A', '{"name": "Abc", "age": 15', '{"name":"Ab","age":1}'])
def test_a_mask_is_that_of_the_compiler(text: str, file: str, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["mask", file, "--text", text, "--json"]) == 0
    record = json.loads(capfd.readouterr().out)
    vocabulary = Vocabulary.default()
    constraint = Compiler(vocabulary).json_schema(Path(file).read_text()).constraint()
    # A byte at a time: another spelling of the text than that of the command.
    bytes_ = {token: token_id for token_id, token in enumerate(vocabulary.tokens) if token}
    for byte in text.encode():
        constraint.advance(bytes_[bytes([byte])])
    assert record["allowed"] == np.flatnonzero(constraint.mask()).tolist()
    assert (record["may_end"], record["count"]) == (constraint.is_complete(), len(record["allowed"]))


def test_a_mask_for_a_person(file: str, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["mask", file, "--text", '{"name": "Abc", "age": 15']) == 0
    lines = capfd.readouterr().out.splitlines()
    assert lines[:2] == [r'after    "{\"name\": \"Abc\", \"age\": 15"', "may end  no"]
    assert any(line.endswith("  0") for line in lines[3:])


def test_a_schema_is_read_as_its_draft_has_it(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """Draft 4 has no "const", and white space is free where the readable definition has none."""
    file = tmp_path / "schema.json"
    file.write_text('{"$schema": "http://json-schema.org/draft-04/schema#", "type": "array", "const": 5}')
    assert main(["mask", str(file), "--text", "[ 6 ", "--json"]) == 0
    assert json.loads(capfd.readouterr().out)["may_end"] is False


def test_a_pattern_past_the_limits_of_the_readable_definition(capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["mask", "--regex", "(a|b)*a(a|b){20}", "--text", "b", "--json"]) == 0
    assert json.loads(capfd.readouterr().out)["may_end"] is False


@pytest.mark.parametrize("check", ["re", "jsonschema"])
def test_other_checks_of_formats_of_the_engine(
    check: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "schema.json"
    file.write_text('{"$schema": 5, "type": "integer", "maximum": 7}')
    source = ["--regex", r"(?=[a-z]*\d)[a-z0-9]{3,8}"] if check == "re" else [str(file)]
    assert main(["sample", *source, "--check", check, "--json"]) == 0
    assert json.loads(capfd.readouterr().out)["check"] == {"re": "Python's re"}.get(check, check)


def test_a_check_that_is_not_sure_does_not_blame_the_masks(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "schema.json"
    file.write_text(r'{"type": "string", "pattern": "^\ufeff(?!\s)|^\s$", "minLength": 1, "maxLength": 1}')
    codes = {main(["sample", str(file), "--check", "jsonschema", "--seed", str(seed)]) for seed in range(40)}
    assert codes <= {0, 2}
    assert "internal" not in capfd.readouterr().err


def test_a_text_is_read_a_byte_at_a_time() -> None:
    format_ = EngineFormat(lambda compiler: compiler.regex("(ab)+"))
    assert format_.matches(b"abab")
    assert not format_.matches(b"aba")
    with pytest.raises(BadInput, match="byte 2"):
        format_.walk(b"abb")


def test_a_text_is_spelled_by_the_fewest_tokens() -> None:
    vocabulary = Vocabulary.from_tokens([b"a", b"b", b"ab", b"abc", b"cd", b"d", b"ab", None], eos_id=7)
    assert spelled(b"", vocabulary) == []
    assert spelled(b"abcd", vocabulary) in ([2, 4], [3, 5])
    with pytest.raises(BadInput, match="cannot be spelled"):
        spelled(b"abx", vocabulary)
