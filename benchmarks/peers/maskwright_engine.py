"""How is Maskwright driven? Through its public API alone, on one thread unless a batch asks for more."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

import maskwright as mw
import numpy as np
from vocabulary import Vocabulary

from peers.interface import Bitmask, Engine, Format, Matcher, Refused


class Maskwright(Engine):
    """A compiler for each thread count, its cache without room: each compile is as in a first request."""

    name: ClassVar[str] = "maskwright"
    package: ClassVar[str] = "maskwright"
    kinds: ClassVar[frozenset[str]] = frozenset({"json_schema", "regex", "gbnf", "lark", "ir", "choices"})

    def __init__(self, vocabulary: Vocabulary) -> None:
        super().__init__(vocabulary)
        self.vocab = mw.Vocabulary.from_tokens(
            vocabulary.tokens, eos_id=vocabulary.eos_id, special=vocabulary.special
        )
        self.threads = 1
        self._compilers = {1: mw.Compiler(self.vocab, cache_bytes=0, threads=1)}

    @property
    def compiler(self) -> mw.Compiler:
        """The compiler for the current number of threads."""
        if self.threads not in self._compilers:
            self._compilers[self.threads] = mw.Compiler(self.vocab, cache_bytes=0, threads=self.threads)
        return self._compilers[self.threads]

    def fresh(self) -> None:
        """Compile something else: a cache without room still keeps the newest format, masks and all."""
        self.compiler.choices(["nothing that is measured"])

    def compile(self, kind: str, source: Any, **options: Any) -> Format:
        try:
            index = self._compile(kind, source, options)
        except mw.InternalError:
            raise  # a defect, not a verdict
        except mw.MaskwrightError as error:
            raise Refused(str(error)) from error
        return Format(index, index.constraint)

    def _compile(self, kind: str, source: Any, options: dict[str, Any]) -> Any:
        if kind == "json_schema":
            return self.compiler.json_schema(source, **options)
        if kind in {"gbnf", "lark"}:
            return self.compiler.grammar(source, syntax=kind)
        if kind == "ir":
            return self.compiler.ir(source)
        if kind == "regex":
            return self.compiler.regex(source)
        if kind == "choices":
            return self.compiler.choices(source)
        raise Refused(f"no notation {kind!r}")

    def ready_from_disk(self, folder: Path) -> bool:
        mw.Compiler(self.vocab, cache_dir=folder)
        return True

    def wrap(self, raw: Any) -> Matcher:
        return Matcher(raw, raw.fill_bitmask, raw.advance, raw.rollback, raw.fork, raw.is_complete)

    def bitmask(self, rows: int = 1) -> Bitmask:
        words = mw.allocate_bitmask(rows, self.vocabulary.size)
        return Bitmask(words, words.view(np.uint32))

    def fill_batch(self, matchers: Sequence[Matcher], bitmask: Bitmask, threads: int) -> Callable[[], object]:
        """The threads are those of the compiler that made the matchers: set `threads`, then compile."""
        if threads != self.threads:
            raise ValueError(f"this compiler has {self.threads} threads, not {threads}")
        return partial(self.compiler.fill_bitmasks, [matcher.raw for matcher in matchers], bitmask.handle)

    def memory(self, form: Format) -> dict[str, int]:
        return {"index": int(form.raw.n_bytes), "shared": int(self.compiler.stats()["vocabulary_bytes"])}


ENGINE = Maskwright
