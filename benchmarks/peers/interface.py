"""What does a benchmark ask of an engine? One small interface, so thin that its own cost does not show.

A `Matcher` holds the engine's bound functions themselves: a timed call goes straight to its public API.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from time import perf_counter_ns
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from vocabulary import Vocabulary


class Refused(Exception):
    """The engine says that it cannot enforce this format. A verdict, not a crash."""


@dataclass(frozen=True, slots=True)
class Bitmask:
    """An engine's own kind of bitmask, and the same memory as 32-bit words: uint32 [rows, words]."""

    handle: Any
    words: NDArray[np.uint32]

    def allows(self, token: int, row: int = 0) -> bool:
        """Whether the row has the bit of this token."""
        return bool(int(self.words[row, token >> 5]) >> (token & 31) & 1)


@dataclass(frozen=True, slots=True)
class Matcher:
    """One request's position. `fork` gives the engine's own object; `Engine.wrap` makes a Matcher of that.

    `advance` may return False or raise for a token outside the mask, as the engine does.
    """

    raw: Any
    fill: Callable[[Any, int], object]
    advance: Callable[[int], object]
    rollback: Callable[[int], object]
    fork: Callable[[], Any]
    is_complete: Callable[[], bool]


@dataclass(frozen=True, slots=True)
class Format:
    """A compiled format: `start` gives the engine's object for one request; `raw` is what was compiled."""

    raw: Any
    start: Callable[[], Any]


class Engine(ABC):
    """An engine over one vocabulary.

    Kinds of format: "json_schema", "regex" (full match), "gbnf", "lark", "ir", "choices", "builtin_json" (the
    engine's own grammar of JSON; the source is ignored); `kinds` says which are read.
    """

    name: ClassVar[str]
    package: ClassVar[str]
    kinds: ClassVar[frozenset[str]]

    def __init__(self, vocabulary: Vocabulary) -> None:
        self.vocabulary = vocabulary

    @property
    def version(self) -> str:
        """The version of the engine's package."""
        return version(self.package)

    @abstractmethod
    def fresh(self) -> None:
        """Forget every compiled format and mask; keep what belongs to the vocabulary."""

    @abstractmethod
    def compile(self, kind: str, source: Any, **options: Any) -> Format:
        """Compile a format. Raises `Refused` where the engine says that it cannot."""

    @abstractmethod
    def wrap(self, raw: Any) -> Matcher:
        """The matcher around one of the engine's own objects."""

    def matcher(self, form: Format) -> Matcher:
        """A new request's matcher."""
        return self.wrap(form.start())

    def bitmask(self, rows: int = 1) -> Bitmask:
        """A bitmask of so many rows, on the CPU."""
        words = np.zeros((rows, self.vocabulary.words), dtype=np.int32)
        return Bitmask(words, words.view(np.uint32))

    def fill_batch(self, matchers: Sequence[Matcher], bitmask: Bitmask, threads: int) -> Callable[[], object]:
        """A function that fills a row for each matcher, over so many threads."""
        raise NotImplementedError(self.name)

    def memory(self, form: Format) -> dict[str, int]:
        """What the engine itself says it holds, in bytes, by name."""
        return {}

    def ready_from_disk(self, folder: Path) -> bool:
        """Make the vocabulary ready anew with its cache in `folder`; false for an engine without one."""
        return False

    def time_to_first_mask(
        self, kind: str, source: Any, bitmask: Bitmask, **options: Any
    ) -> tuple[int, Format, Matcher]:
        """Compile, start a request, fill its first bitmask: nanoseconds for all of it, and what was made."""
        start = perf_counter_ns()
        form = self.compile(kind, source, **options)
        matcher = self.wrap(form.start())
        matcher.fill(bitmask.handle, 0)
        return perf_counter_ns() - start, form, matcher
