"""How is XGrammar driven? One compile thread, masks on demand, special tokens known by their id."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, ClassVar

import numpy as np
import xgrammar
from vocabulary import Vocabulary
from xgrammar import GrammarCompiler, GrammarMatcher, TokenizerInfo, VocabType

from peers.interface import Bitmask, Engine, Format, Matcher, Refused


class XGrammar(Engine):
    """Its caches live until `fresh`."""

    name: ClassVar[str] = "xgrammar"
    package: ClassVar[str] = "xgrammar"
    kinds: ClassVar[frozenset[str]] = frozenset({"json_schema", "builtin_json", "regex", "gbnf", "choices"})

    def __init__(self, vocabulary: Vocabulary) -> None:
        super().__init__(vocabulary)
        self._info = TokenizerInfo(
            [token or b"" for token in vocabulary.tokens],
            VocabType.RAW,
            vocab_size=vocabulary.size,
            stop_token_ids=[vocabulary.eos_id],
            add_prefix_space=False,
        )
        self.fresh()

    def fresh(self) -> None:
        self._compiler = GrammarCompiler(self._info, max_threads=1, enable_dynamic_compilation=True)

    def compile(self, kind: str, source: Any, **options: Any) -> Format:
        try:
            raw = self._compile(kind, source)
        except RuntimeError as error:  # its own parse errors are RuntimeErrors
            raise Refused(str(error)) from error
        return Format(raw, partial(GrammarMatcher, raw))

    def _compile(self, kind: str, source: Any) -> Any:
        if kind == "json_schema":
            return self._compiler.compile_json_schema(source, any_whitespace=False, strict_mode=True)
        if kind == "builtin_json":
            return self._compiler.compile_builtin_json_grammar()
        if kind == "gbnf":
            return self._compiler.compile_grammar(source)
        if kind == "regex":
            return self._compiler.compile_regex(source)
        if kind == "choices":
            return self._compiler.compile_grammar("root ::= " + " | ".join(map(json.dumps, source)))
        raise Refused(f"no notation {kind!r}")

    def wrap(self, raw: Any) -> Matcher:
        fill = raw.fill_next_token_bitmask
        return Matcher(raw, fill, raw.accept_token, raw.rollback, raw.fork, raw.is_completed)

    def bitmask(self, rows: int = 1) -> Bitmask:
        handle = xgrammar.allocate_token_bitmask(rows, self.vocabulary.size)
        return Bitmask(handle, handle.numpy().view(np.uint32))

    def fill_batch(self, matchers: Sequence[Matcher], bitmask: Bitmask, threads: int) -> Callable[[], object]:
        batch = xgrammar.BatchGrammarMatcher(max_threads=threads)
        raws = [matcher.raw for matcher in matchers]
        return partial(batch.batch_fill_next_token_bitmask, raws, bitmask.handle)

    def memory(self, form: Format) -> dict[str, int]:
        return {"index": int(form.raw.memory_size_bytes)}


ENGINE = XGrammar
