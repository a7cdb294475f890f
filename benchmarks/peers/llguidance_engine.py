"""How is llguidance driven? `LLMatcher` over a tiktoken encoding, masks through `llguidance.numpy`."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, ClassVar

import llguidance
import llguidance.numpy
import llguidance.tiktoken
from llguidance import LLExecutor, LLMatcher
from vocabulary import Vocabulary

from peers.interface import Bitmask, Engine, Format, Matcher, Refused


class LLGuidance(Engine):
    """The default slices; errors are states there, so a compile ends in a look at `is_error`."""

    name: ClassVar[str] = "llguidance"
    package: ClassVar[str] = "llguidance"
    kinds: ClassVar[frozenset[str]] = frozenset({"json_schema", "regex", "lark", "choices"})

    def __init__(self, vocabulary: Vocabulary) -> None:
        super().__init__(vocabulary)
        self._tokenizer = llguidance.tiktoken.lltokenizer_from_encoding(
            vocabulary.encoding(), n_vocab=vocabulary.size, eos_token=vocabulary.eos_id
        )

    def fresh(self) -> None:
        """Nothing to forget: it keeps nothing between formats."""

    def compile(self, kind: str, source: Any, **options: Any) -> Format:
        raw = LLMatcher(self._tokenizer, _grammar(kind, source), log_level=0)
        if raw.is_error():
            raise Refused(raw.get_error())
        return Format(raw, raw.deep_copy)

    def wrap(self, raw: Any) -> Matcher:
        fill = partial(llguidance.numpy.fill_next_token_bitmask, raw)
        return Matcher(raw, fill, raw.consume_token, raw.rollback, raw.deep_copy, raw.is_accepting)

    def fill_batch(self, matchers: Sequence[Matcher], bitmask: Bitmask, threads: int) -> Callable[[], object]:
        executor = LLExecutor(num_threads=threads)
        rows = [(matcher.raw, row) for row, matcher in enumerate(matchers)]
        return partial(llguidance.numpy.fill_next_token_bitmask_par, executor, rows, bitmask.handle)


def _grammar(kind: str, source: Any) -> str:
    if kind == "json_schema":
        return '{"grammars":[{"json_schema":' + source + "}]}"
    if kind == "lark":
        return str(source)
    if kind == "regex":
        return LLMatcher.grammar_from_regex(source)
    if kind == "choices":
        return "start: " + " | ".join(map(json.dumps, source))
    raise Refused(f"no notation {kind!r}")


ENGINE = LLGuidance
