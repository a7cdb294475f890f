"""What is a format compiled for a vocabulary? An `Index`, shared by all its requests."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b
from typing import Any

from maskwright._native import Constraint, EngineIndex
from maskwright.ir import Grammar

__all__ = ["Index"]

KEY_BYTES = 32
"""Of the hash that names a format."""


class Index:
    """A format compiled for a vocabulary. Made by `Compiler`; safe to use from many threads.

    >>> from maskwright import Compiler, Vocabulary
    >>> index = Compiler(Vocabulary.from_tokens([b"a", b"b", b"ab", None], eos_id=3)).regex("(ab)+")
    >>> index.constraint().mask().tolist()
    [True, False, True, False]
    >>> index.stats()["masks"]
    1
    """

    __slots__ = ("_front_seconds", "_grammar", "_identity", "_native", "_native_seconds", "_notes", "_source")

    # A frozen dataclass would be made in 10 µs in a busy process, this in 4.
    def __init__(
        self,
        native: EngineIndex,
        source: str,
        grammar: Grammar,
        identity: bytes,
        notes: Sequence[Any] = (),
        *,
        front_seconds: float = 0.0,
        native_seconds: float = 0.0,
    ) -> None:
        self._native = native
        self._source = source
        self._grammar = grammar
        self._identity = identity
        """The vocabulary, the limits and the engine's version."""
        self._notes = notes
        self._front_seconds = front_seconds
        self._native_seconds = native_seconds

    @property
    def source(self) -> str:
        """What it was made from, shortened, for messages and statistics."""
        return self._source

    @property
    def notes(self) -> Sequence[Any]:
        """What the front end has to say: rules that are never used, say."""
        return self._notes

    @property
    def front_seconds(self) -> float:
        """How long the front end took, from the text to the IR."""
        return self._front_seconds

    @property
    def native_seconds(self) -> float:
        """How long the engine took, from the IR to automata."""
        return self._native_seconds

    @property
    def key(self) -> str:
        """Hash of the format, the vocabulary, the limits and the engine's version.

        Equal keys, equal masks.
        """
        digest = blake2b(self._identity, digest_size=KEY_BYTES)
        self._grammar.add_to(digest)
        if self.notes:
            digest.update(repr([*map(repr, self.notes)]).encode())
        return digest.hexdigest()

    @property
    def compile_seconds(self) -> float:
        """How long the compile took in all."""
        return self.front_seconds + self.native_seconds

    def constraint(self) -> Constraint:
        """One request's position, at the beginning of the text. Takes microseconds."""
        return self._native.constraint()

    @property
    def ignored(self) -> Sequence[Any]:
        """What `unsupported="ignore"` dropped from a schema: pointer, keyword and reason of each."""
        return [note for note in self.notes if hasattr(note, "keyword")]

    @property
    def n_bytes(self) -> int:
        """Bytes held now, without what the vocabulary shares."""
        return self._native.n_bytes + self._grammar.n_bytes

    def stats(self) -> dict[str, Any]:
        """Sizes and counts. It answers two questions.

        Why was the first request slow? `compile_seconds` is `front_seconds` (from the text to the IR) and
        `native_seconds` (from the IR to automata). Then each mask is made when it is first needed: `misses`
        were made, `hits` were there.

        What is large? `rule_sizes` lists (rule, states, bytes), most bytes first, out of `rules`, `states`,
        `edges` and `program_bytes` in all; `grammar_bytes` is the format as it was read. `cache_bytes` is
        what requests left: `configurations` of the stack, its `frames`, and `masks`, of which `masks_sparse`
        are kept as ids, `masks_patched` as changes to a bitmask that others share, `masks_dense` as a bitmask
        of their own; `masks_shared` times a mask turned out to be there already. They take `mask_bytes`,
        which saves `mask_bytes_saved` of the bitmasks that they stand for. `caches` counts how often all that
        was started anew because it reached `Limits.cache_bytes`; hits, misses and masks are those since the
        last time.
        """
        native = self._native.stats()
        return {
            "compile_seconds": self.compile_seconds,
            "front_seconds": self.front_seconds,
            "native_seconds": self.native_seconds,
            "grammar_bytes": self._grammar.n_bytes,
            **native,
            "mask_bytes_saved": native["mask_bytes_dense"] - native["mask_bytes"],
        }

    def __repr__(self) -> str:
        return f"<Index of {self.source}, {self.n_bytes:,} bytes>"
