"""Are Tekken files read as their format says?"""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest
import tiktoken
from maskwright.errors import VocabularyError
from maskwright.vocabulary import Vocabulary
from vocabularies import FIXTURES, real_path

TEXTS = json.loads((FIXTURES / "texts.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module", params=["fixture", "tekken"])
def path(request: pytest.FixtureRequest) -> Path:
    return FIXTURES / "tekken.json" if request.param == "fixture" else real_path(request.param)


def test_the_bytes_of_an_encoded_text_are_the_text(path: Path) -> None:
    vocabulary = Vocabulary.from_tekken(path)
    document: dict[str, Any] = json.loads(path.read_bytes())
    shift, size = (document["config"][f"default_{key}"] for key in ("num_special_tokens", "vocab_size"))
    ranks = {base64.b64decode(e["token_bytes"]): e["rank"] for e in document["vocab"][: size - shift]}
    encoding = tiktoken.Encoding(
        "tekken", pat_str=document["config"]["pattern"], mergeable_ranks=ranks, special_tokens={}
    )
    for text in TEXTS:
        ids = [rank + shift for rank in encoding.encode_ordinary(text)]
        assert b"".join(vocabulary[i] or b"<none>" for i in ids) == text.encode()
    assert vocabulary.vocab_size == size
    assert vocabulary.tokens[:shift] == (None,) * shift
    assert list(vocabulary.tokens[shift:]) == sorted(ranks, key=ranks.__getitem__)


def test_special_tokens_and_fillers_have_names(path: Path) -> None:
    vocabulary = Vocabulary.from_tekken(path)
    reserved = vocabulary.tokens.count(None)
    assert vocabulary.special["</s>"] == 2 == vocabulary.eos_id
    assert sorted(vocabulary.special.values()) == list(range(reserved))
    assert vocabulary.special[f"<SPECIAL_{reserved - 1}>"] == reserved - 1


def test_a_file_that_must_list_its_special_tokens_and_does_not_is_refused() -> None:
    document = json.loads((FIXTURES / "tekken.json").read_text(encoding="utf-8"))
    del document["special_tokens"]
    with pytest.raises(VocabularyError, match='"special_tokens" is missing'):
        Vocabulary.from_tekken(document)
    document["config"]["version"] = "v3"
    assert Vocabulary.from_tekken(document).special["[TOOL_CALLS]"] == 9
