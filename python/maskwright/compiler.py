"""How does a format become an index? The `Compiler`: one for each vocabulary, with a cache of compiled formats."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any, Literal

import numpy as np

from maskwright._native import Constraint, EngineVocabulary, fill_bitmasks
from maskwright.format_cache import FormatCache
from maskwright.index import Index
from maskwright.ir import Builder, Grammar
from maskwright.limits import Limits
from maskwright.regex import Dialect, regex_to_ir
from maskwright.vocabulary import Vocabulary

__all__ = ["Compiler"]

Syntax = Literal["lark", "gbnf"]

DEFAULT_CACHE_BYTES = 512 << 20
"""Room for some thousands of formats in use."""


class Compiler:
    """Compiles formats for one vocabulary and keeps those used last.

    `cache_bytes` bounds what compiled formats hold together, `limits` each of them; `threads` is how many
    `fill_bitmasks` uses, by default one a core. Safe to use from many threads.

    >>> from maskwright import Compiler, Vocabulary
    >>> compiler = Compiler(Vocabulary.from_tokens([b"yes", b"no", b"y", None], eos_id=3))
    >>> constraint = compiler.choices(["yes", "no"]).constraint()
    >>> constraint.mask().tolist()
    [True, True, True, False]
    """

    def __init__(
        self,
        vocabulary: Vocabulary,
        *,
        cache_bytes: int = DEFAULT_CACHE_BYTES,
        limits: Limits | None = None,
        threads: int | None = None,
    ) -> None:
        self.vocabulary = vocabulary
        self.limits = limits or Limits()
        self.threads = threads or os.cpu_count() or 1
        self._cache = FormatCache(cache_bytes)
        self._native = _engine_vocabulary(vocabulary)
        self._compile_seconds = 0.0

    def regex(self, pattern: str | bytes, dialect: Dialect = "python") -> Index:
        """The texts that match the whole pattern.

        Raises `PatternError` with the place in the pattern, and `LimitError`.
        """
        return self._compile(("regex", pattern, dialect), lambda: (regex_to_ir(pattern, dialect), ()))

    def grammar(self, text: str, syntax: Syntax = "lark", *, start: str | None = None) -> Index:
        """The texts of a grammar in Lark's notation or in llama.cpp's GBNF.

        `start` names the rule of the whole text: by default `start` in Lark's notation, `root` in GBNF. Special tokens
        are named as `<|name|>` or `<[id]>`. Raises `GrammarError` with line and column, and `LimitError`.
        """
        return self._compile(("grammar", text, syntax, start), lambda: self._read_grammar(text, syntax, start))

    def choices(self, texts: Iterable[str | bytes]) -> Index:
        """Any one of the texts."""
        words = [text.encode() if isinstance(text, str) else text for text in texts]
        return self._compile(("choices", tuple(words)), lambda: (_choices_to_ir(words), ()))

    def ir(self, grammar: Grammar) -> Index:
        """A format that is given in the engine's own terms (`maskwright.ir`)."""
        return self._compile(("ir", grammar.key), lambda: (grammar, ()))

    def fill_bitmasks(
        self,
        constraints: Sequence[Constraint | None],
        bitmask: Any,
        rows: Sequence[int] | None = None,
    ) -> list[Exception | None] | None:
        """Fill a row for each constraint, cold masks over `threads` threads.

        `bitmask` is int32 [n, words]; `rows` says which row each constraint has, by default its own place. The row of a
        None gets every token with bytes and every EOS. Returns None, or for each constraint its error or None: a row with an
        error is all zero, and the others are filled.
        """
        native_rows = None if rows is None else [int(row) for row in rows]
        return fill_bitmasks(list(constraints), bitmask, native_rows, self._native, self.threads)

    def stats(self) -> dict[str, Any]:
        """Formats and bytes kept, hits and misses, time spent compiling, bytes shared through the vocabulary."""
        shared = {"vocabulary_bytes": self._native.n_bytes, "parts": self._native.n_parts}
        return {**self._cache.stats(), **shared, "compile_seconds": self._compile_seconds}

    def _compile(self, source_key: Hashable, read: Callable[[], tuple[Grammar, tuple[Any, ...]]]) -> Index:
        found = self._cache.find(source_key)
        if found is not None:
            return found
        begin = time.perf_counter()
        grammar, notes = read()
        key = grammar.key
        found = self._cache.find_format(source_key, key)
        if found is not None:
            return found
        index = Index(self._native, grammar, self.limits, source=_shorten(source_key), notes=notes)
        index.key = key
        index.compile_seconds = time.perf_counter() - begin
        self._compile_seconds += index.compile_seconds
        return self._cache.add(source_key, key, index)

    def _read_grammar(self, text: str, syntax: Syntax, start: str | None) -> tuple[Grammar, tuple[Any, ...]]:
        special = self.vocabulary.special
        if syntax == "gbnf":
            from maskwright.grammar import gbnf_to_ir  # noqa: PLC0415 - not needed for a regex

            parsed = gbnf_to_ir(text, root=start or "root", special=special)
        elif syntax == "lark":
            from maskwright.grammar import lark_to_ir  # noqa: PLC0415 - an optional extra

            parsed = lark_to_ir(text, start=start or "start", special=special)
        else:
            raise ValueError(f"unknown syntax {syntax!r}; there are 'lark' and 'gbnf'")
        return parsed.grammar, parsed.notes


def _choices_to_ir(words: list[bytes]) -> Grammar:
    if not words:
        raise ValueError("choices needs at least one text")
    builder = Builder()
    return builder.grammar(builder.rule("choices", builder.literals(words)))


def _engine_vocabulary(vocabulary: Vocabulary) -> EngineVocabulary:
    strings = [token or b"" for token in vocabulary.tokens]
    offsets = np.zeros(len(strings) + 1, np.int64)
    np.cumsum(np.fromiter(map(len, strings), np.int64, len(strings)), out=offsets[1:])
    return EngineVocabulary(b"".join(strings), offsets, sorted(vocabulary.eos_ids))


def _shorten(source_key: Hashable) -> str:
    kind, what, *_ = source_key  # type: ignore[misc]
    text = f"{kind} {what!r}"
    return text if len(text) <= 60 else text[:57] + "..."
