"""Does `maskwright mask` show exactly the allowed tokens, and a fair sample of many?"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

import pytest
from maskwright.cli import main
from maskwright.cli.mask import MaskReader
from maskwright.reference import regex_to_dfa
from maskwright.vocabulary import Vocabulary
from vocabularies import real_path

WORDS = r"[a-z]+( [a-z]+)*"


def show(capfd: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert main(["mask", "--regex", WORDS, *arguments]) == 0
    return capfd.readouterr().out


@pytest.mark.parametrize("text", ["", "a", "a ", "the cat"])
def test_ids_are_those_whose_text_continues(text: str, capfd: pytest.CaptureFixture[str]) -> None:
    """Against Python's `re`: some word or nothing finishes what is a prefix of this format."""
    record = json.loads(show(capfd, "--text", text, "--json"))
    vocabulary = Vocabulary.default()
    pattern = re.compile(WORDS.encode())

    def continues(token: bytes | None) -> bool:
        whole = text.encode() + (token or b"")
        return bool(token) and any(pattern.fullmatch(whole + rest) for rest in (b"", b"x"))

    expected = {i for i, token in enumerate(vocabulary.tokens) if continues(token)}
    assert record["may_end"] is bool(pattern.fullmatch(text.encode()))
    assert set(record["allowed"]) == expected | (vocabulary.eos_ids if record["may_end"] else set())
    assert (record["count"], record["of"]) == (len(record["allowed"]), len(vocabulary))


def ids_of(lines: Sequence[str]) -> list[int]:
    return [int(m[1]) for line in lines if (m := re.match(r" +(\d+)  ", line))]


def test_many_tokens_are_sampled_and_all_can_be_listed(capfd: pytest.CaptureFixture[str]) -> None:
    allowed = json.loads(show(capfd, "--text", "a", "--json"))["allowed"]
    lines = show(capfd, "--text", "a").splitlines()
    sample = ids_of(lines)
    assert len(sample) == 20
    assert set(sample) <= set(allowed)
    assert lines[-1] == f"  ({len(allowed) - 20} more; --all lists them)"
    assert ids_of(show(capfd, "--text", "a", "--all").splitlines()) == allowed


def test_a_sample_is_spread_readable_and_holds_the_end() -> None:
    tokens = [bytes([byte]) for byte in range(256)]
    reader = MaskReader(regex_to_dfa(r"[\x00-\xff]*"), Vocabulary.from_tokens([*tokens, None], eos_id=256))
    sample = reader.sample(range(257), 10)
    assert len(sample) == 10
    assert sample == sorted(set(sample))
    assert sample[-1] == 256
    assert all(0x20 <= token < 0x7F for token in sample[:-1])
    assert (sample[0], sample[-2]) == (0x20, 0x7E)


def test_a_sample_of_unreadable_tokens_is_still_one() -> None:
    tokens = [bytes([byte]) for byte in range(128, 256)]
    reader = MaskReader(regex_to_dfa(r"[\x00-\xff]*"), Vocabulary.from_tokens(tokens))
    assert len(reader.sample(range(128), 10)) == 10


def test_all_states_are_listed(capfd: pytest.CaptureFixture[str]) -> None:
    rows = show(capfd, "--states", "all").splitlines()
    assert [row.split()[0] for row in rows] == ["State", "0", "1"]
    assert "more)" in rows[1]
    assert "more)" not in show(capfd, "--states", "all", "--all")


def test_an_added_end_is_one_more_id(capfd: pytest.CaptureFixture[str]) -> None:
    """A tiktoken file names no end token: one id past the 128,000 of Llama 3 stands for it."""
    record = json.loads(show(capfd, "--tokenizer", str(real_path("llama3")), "--text", "a", "--json"))
    assert record["of"] == 128_001
    assert record["allowed"][-1] == 128_000
