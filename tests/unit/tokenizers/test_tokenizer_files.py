"""Does every damaged or hostile file end in a VocabularyError, and every sound one in its kind's reader?"""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest
from maskwright.errors import VocabularyError
from maskwright.tokenizers import files
from maskwright.vocabulary import Vocabulary
from vocabularies import FIXTURES

HOSTILE = json.loads((FIXTURES / "hostile.json").read_text(encoding="utf-8"))
SOUND = sorted(FIXTURES / name for name in ("ranks.tiktoken", "tekken.json", "sentencepiece.model"))
SOUND += sorted(FIXTURES.glob("*_*.json"))


def content(case: dict[str, Any]) -> bytes:
    if "hex" in case:
        return bytes.fromhex(case["hex"])
    repeated = [case[key][0] * case[key][1] for key in ("repeat", "then") if key in case]
    return "".join([case.get("text", ""), *repeated, case.get("end", "")]).encode()


@pytest.mark.parametrize("case", HOSTILE, ids=lambda case: case["name"])
def test_a_hostile_file_is_refused_by_name(case: dict[str, Any], tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(content(case))
    with pytest.raises(VocabularyError, match=case["says"]) as caught:
        Vocabulary.from_file(path)
    assert str(path) in str(caught.value.where) and caught.value.code.startswith("vocabulary.")


@pytest.mark.parametrize("sound", SOUND, ids=lambda path: path.name)
def test_a_damaged_file_is_read_or_refused_and_nothing_else(sound: Path, tmp_path: Path) -> None:
    data, rng, path = sound.read_bytes(), random.Random(1), tmp_path / "file"
    refused = 0
    for round_ in range(150):
        damaged = bytearray(data[: rng.randrange(len(data))] if round_ % 3 == 0 else data)
        for _ in range(rng.randrange(1, 4)):
            if damaged:
                damaged[rng.randrange(len(damaged))] = rng.randrange(256)
        path.write_bytes(damaged)
        try:
            Vocabulary.from_file(path)
        except VocabularyError:
            refused += 1
    assert refused > 30


def test_the_name_of_a_file_does_not_matter(tmp_path: Path) -> None:
    for i, sound in enumerate(SOUND):
        path = tmp_path / f"{i}.model"
        path.write_bytes(sound.read_bytes())
        assert Vocabulary.from_file(path) == Vocabulary.from_file(str(sound))


def test_a_byte_order_mark_and_leading_space_do_not_matter(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"\xef\xbb\xbf \r\n" + (FIXTURES / "byte_level.json").read_bytes())
    assert Vocabulary.from_file(path) == Vocabulary.from_file(FIXTURES / "byte_level.json")


def test_what_is_no_readable_file_is_refused(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "absent", "nul\0nul"):
        with pytest.raises(VocabularyError, match="cannot read the tokenizer file"):
            Vocabulary.from_file(path)


def test_a_file_that_is_too_large_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "MAX_FILE_BYTES", 100)
    with pytest.raises(VocabularyError, match="too large"):
        Vocabulary.from_file(FIXTURES / "byte_level.json")
