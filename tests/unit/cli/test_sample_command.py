"""Does `maskwright sample` print documents of the format, the same for the same seed, and nothing else?"""

from __future__ import annotations

import base64
import json
import re
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from maskwright.cli import main
from maskwright.cli.check import Check, choose_check
from maskwright.cli.formats import Format
from maskwright.reference import regex_to_dfa
from maskwright.vocabulary import Vocabulary
from vocabularies import real_path

EXAMPLES = sorted((Path(__file__).parents[3] / "examples").glob("*.json"))
PATTERN = r"[a-c]{2,5}(-[0-9]+)?"


@pytest.fixture
def draw(capfdbinary: pytest.CaptureFixture[bytes]) -> Any:
    def run(*arguments: str) -> tuple[int, bytes, bytes]:
        code = main(["sample", *arguments])
        out, err = capfdbinary.readouterr()
        return code, out, err

    return run


@pytest.mark.parametrize("schema", EXAMPLES, ids=lambda file: file.name)
def test_documents_of_a_schema_validate(schema: Path, draw: Any) -> None:
    code, out, err = draw(str(schema), "-n", "20", "--max-tokens", "2000")
    assert (code, err) == (0, b"")
    validator = Draft202012Validator(json.loads(schema.read_text()))
    documents = [json.loads(line) for line in out.splitlines()]
    assert len(documents) == 20
    for document in documents:
        validator.validate(document)
    assert len({json.dumps(document) for document in documents}) > 3


def test_documents_of_a_pattern_match(draw: Any) -> None:
    code, out, err = draw("--regex", PATTERN, "-n", "50")
    assert (code, err) == (0, b"")
    documents = out.split()
    assert len(documents) == 50
    assert all(re.fullmatch(PATTERN.encode(), document) for document in documents)
    assert len(set(documents)) > 20


def test_same_seed_same_documents(draw: Any) -> None:
    first, again, other = (draw("--regex", PATTERN, "-n", "5", "--seed", seed)[1] for seed in ("1", "1", "2"))
    assert first == again != other


def test_a_document_does_not_depend_on_how_many_are_drawn(draw: Any) -> None:
    few, many = (draw("--regex", PATTERN, "-n", n)[1].split() for n in ("2", "6"))
    assert many[:2] == few


def test_greedy_documents_are_all_alike(draw: Any) -> None:
    documents = draw("--regex", PATTERN, "-n", "3", "--temperature", "0")[1].split()
    assert len(documents) == 3
    assert len(set(documents)) == 1


def test_json_lines_tell_all(draw: Any) -> None:
    code, out, _ = draw("--regex", PATTERN, "-n", "3", "--json")
    assert code == 0
    vocabulary = Vocabulary.default()
    for number, record in enumerate(map(json.loads, out.splitlines())):
        assert list(record) == ["index", "text", "tokens", "logprob", "check"]
        assert (record["index"], record["check"]) == (number, "the automaton")
        *tokens, end = record["tokens"]
        assert end in vocabulary.eos_ids
        assert b"".join(vocabulary[token] or b"" for token in tokens).decode() == record["text"]
        assert record["logprob"] < 0


def test_documents_that_are_no_text(draw: Any) -> None:
    tokens = " ".join(["<eos>", *(chr(0xDC80 + byte) for byte in range(128))])
    arguments = ("--regex", r"[\x80-\xff]{4}", "--tokens", tokens)
    raw = draw(*arguments)[1].rstrip(b"\n")
    record = json.loads(draw(*arguments, "--json")[1])
    assert base64.b64decode(record["base64"]) == raw
    assert len(raw) == 4
    assert min(raw) >= 0x80


def test_unfinished_documents_are_not_printed(draw: Any) -> None:
    code, out, err = draw("--regex", "a{50}|b", "--tokens", "a b <eos>", "-n", "20", "--max-tokens", "10")
    lines = err.decode().splitlines()
    assert code == 1
    assert 0 < len(lines) < 20
    says = r"maskwright: document \d+ is unfinished after 10 tokens: not printed \(--max-tokens\)"
    assert all(re.fullmatch(says, line) for line in lines)
    assert out.split() == [b"b"] * (20 - len(lines))


def test_the_last_token_may_be_the_end(draw: Any) -> None:
    assert draw("--regex", "ab", "--tokens", "a b <eos>", "--max-tokens", "3")[:2] == (0, b"ab\n")
    assert draw("--regex", "ab", "--tokens", "a b <eos>", "--max-tokens", "2")[:2] == (1, b"")


@pytest.mark.parametrize("name", ["mistral", "tekken"])
def test_real_tokenizer_that_knows_its_end(name: str, draw: Any) -> None:
    code, out, err = draw(str(EXAMPLES[0]), "--tokenizer", str(real_path(name)), "--max-tokens", "2000")
    assert (code, err) == (0, b"")
    assert isinstance(json.loads(out), dict)


def test_real_tokenizer_that_does_not_know_its_end(draw: Any) -> None:
    path = str(real_path("llama3"))
    code, out, err = draw("--regex", "[0-9]{1,3}", "--tokenizer", path, "--json")
    assert code == 0
    assert b"note: the tokenizer's file names no end token; id 128000" in err
    assert json.loads(out)["tokens"][-1] == 128000
    code, out, err = draw("--regex", "[0-9]{1,3}", "--tokenizer", path, "--json", "--eos", "128009")
    assert (code, err) == (0, b"")
    assert json.loads(out)["tokens"][-1] == 128009


@pytest.mark.parametrize("name", ["dfa", "re"])
def test_a_pattern_can_be_checked_two_ways(name: str) -> None:
    check = choose_check(Format("a+", regex_to_dfa("a+")), name)
    assert check.passes(b"aa")
    assert not check.passes(b"ab")


def test_a_schema_is_checked_by_an_independent_validator() -> None:
    schema = {"type": "integer"}
    check = choose_check(Format("-?[0-9]+", regex_to_dfa("-?[0-9]+"), schema, is_schema=True), None)
    assert check.name == "jsonschema"
    assert check.passes(b"1" * 5000)
    assert not check.passes(b'"1"')
    assert not check.passes(b"01")


def test_a_document_that_fails_its_check_is_a_defect(monkeypatch: pytest.MonkeyPatch, draw: Any) -> None:
    broken = Check("nobody", lambda text: False)
    monkeypatch.setattr("maskwright.cli.sample.choose_check", lambda *_: broken)
    code, out, err = draw("--regex", "ab")
    assert (code, out) == (1, b"")
    assert b"document 0 failed its check with nobody" in err


def test_a_terminal_gets_no_control_bytes(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    assert main(["sample", "--regex", r"\x1b\[2J"]) == 0
    assert capfd.readouterr().out == '"\\x1b[2J"\n'
