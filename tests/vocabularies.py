"""Where are the real vocabularies, and the small ones made for the tests?

The real ones lie in installed packages and are found by the import system. A test that needs an absent one is
skipped with the reason; with MASKWRIGHT_REQUIRE_VOCABULARIES=1 it fails instead.
"""

from __future__ import annotations

import importlib.util
import os
from functools import cache
from pathlib import Path

import pytest
from maskwright.vocabulary import Vocabulary

FIXTURES = Path(__file__).parent / "data" / "tokenizers"

REAL = {
    "llama3": ("llama_models", "llama3/tokenizer.model"),
    "llama4": ("llama_models", "llama4/tokenizer.model"),
    "qwen": ("dashscope", "resources/qwen.tiktoken"),
    "tekken": ("mistral_common", "data/tekken_240911.json"),
    "mistral": ("mistral_common", "data/mistral_instruct_tokenizer_240323.model.v3"),
}
"""Name to package and the file inside it."""

_LLAMA3_SPECIAL = {
    "<|begin_of_text|>": 128000,
    "<|end_of_text|>": 128001,
    "<|eom_id|>": 128008,
    "<|eot_id|>": 128009,
}


def real_path(name: str) -> Path:
    """The file of a real vocabulary; if it is absent, skips the test (fails it, where it is required)."""
    package, inside = REAL[name]
    found = importlib.util.find_spec(package)
    places = list(found.submodule_search_locations or ()) if found else []
    paths = [path for place in places if (path := Path(place) / inside).is_file()]
    if paths:
        return paths[0]
    reason = f"the vocabulary {name} is absent: package {package} does not have {inside}"
    if os.environ.get("MASKWRIGHT_REQUIRE_VOCABULARIES") == "1":
        pytest.fail(reason)
    pytest.skip(reason)


@cache
def real_vocabulary(name: str) -> Vocabulary:
    """A real vocabulary with its EOS: Llama 3's three, `<|endoftext|>` of Qwen, `</s>` of Mistral's two."""
    path = real_path(name)
    if name == "llama3":
        eos = ["<|end_of_text|>", "<|eom_id|>", "<|eot_id|>"]
        return Vocabulary.from_file(path, special=_LLAMA3_SPECIAL, eos_id=eos, vocab_size=128256)
    if name == "llama4":
        return Vocabulary.from_file(
            path, special={"<|end_of_text|>": 200001}, eos_id=200001, vocab_size=202048
        )
    if name == "qwen":
        return Vocabulary.from_file(path, special={"<|endoftext|>": 151643}, eos_id=151643, vocab_size=151936)
    return Vocabulary.from_file(path)
