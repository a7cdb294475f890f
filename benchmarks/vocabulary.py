"""Which real vocabulary do the benchmarks use? Llama 3's 128,256 tokens, from a file inside a package.

The package `llama-models` (installed without its dependencies) carries the file: no download at run time.
"""

from __future__ import annotations

import base64
import importlib.util
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

_FILE = Path("llama3") / "tokenizer.model"
_SPLIT = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*"
    r"|\s*[\r\n]+|\s+(?!\S)|\s+"
)
_NAMED_SPECIAL = (
    "<|begin_of_text|>",
    "<|end_of_text|>",
    "<|reserved_special_token_0|>",
    "<|reserved_special_token_1|>",
    "<|finetune_right_pad_id|>",
    "<|step_id|>",
    "<|start_header_id|>",
    "<|end_header_id|>",
    "<|eom_id|>",
    "<|eot_id|>",
    "<|python_tag|>",
    "<|image|>",
)
_SPECIAL_COUNT = 256


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """A model's table of tokens, neutral to the engines: bytes by id, None for a special token."""

    name: str
    tokens: tuple[bytes | None, ...]
    """A tuple, which the garbage collector stops looking at. A list of 128,000 is gone through in each
    collection: 8 ms, and nothing is left in the processor's caches."""
    special: dict[str, int]
    eos_id: int
    ranks: dict[bytes, int] = field(repr=False)
    split: str = field(repr=False)

    @property
    def size(self) -> int:
        """How many ids there are, special tokens included."""
        return len(self.tokens)

    @property
    def words(self) -> int:
        """How many 32-bit words one bitmask row has."""
        return (self.size + 31) // 32

    def encoding(self) -> Any:
        """The tiktoken encoding of this vocabulary, which turns text into ids."""
        import tiktoken  # noqa: PLC0415 - tests of the other parts do without

        return tiktoken.Encoding(
            self.name, pat_str=self.split, mergeable_ranks=self.ranks, special_tokens=self.special
        )


def llama3() -> Vocabulary:
    """The Llama 3 vocabulary. Raises ModuleNotFoundError where `llama-models` is not installed."""
    ranks = _read_ranks(_package_folder("llama_models") / _FILE)
    base = len(ranks)
    unnamed = [f"<|reserved_special_token_{2 + i}|>" for i in range(_SPECIAL_COUNT - len(_NAMED_SPECIAL))]
    special = {name: base + i for i, name in enumerate([*_NAMED_SPECIAL, *unnamed])}
    tokens: list[bytes | None] = [None] * (base + _SPECIAL_COUNT)
    for token, token_id in ranks.items():
        tokens[token_id] = token
    return Vocabulary("llama3", tuple(tokens), special, special["<|end_of_text|>"], ranks, _SPLIT)


def _package_folder(package: str) -> Path:
    """Where a package lies, found without importing it (its own imports may be missing)."""
    spec = importlib.util.find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        raise ModuleNotFoundError(f"no package {package!r}: see benchmarks/README.md")
    return Path(spec.submodule_search_locations[0])


def _read_ranks(path: Path) -> dict[bytes, int]:
    """Read tiktoken's text format: a line each, the token in base 64 and its rank."""
    lines = (line.split() for line in path.read_bytes().splitlines() if line)
    return {base64.b64decode(token): int(rank) for token, rank in lines}
