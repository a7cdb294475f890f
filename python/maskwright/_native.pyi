"""The native core, as Python sees it: `maskwright.kernel` and `maskwright.compiler` build these objects.

Arrays are NumPy's here, but may be anything with the buffer protocol.
"""

import os
from collections.abc import Iterable, Sequence
from typing import Any, TypedDict, final

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "Constraint",
    "DfaMasks",
    "EngineIndex",
    "EngineVocabulary",
    "TokenTrie",
    "__version__",
    "_panic",
    "fill_bitmasks",
    "mask_logits",
]

__version__: str

@final
class TokenTrie:
    """A vocabulary as a trie. Token i is `blob[offsets[i]:offsets[i + 1]]`; an empty one is never allowed.

    `offsets` is int64 [tokens + 1]. Raises MaskwrightError where it does not cut up the blob, LimitError
    for a token of 16 MiB or more, or tokens of 2 GiB or more together.
    """

    def __new__(cls, blob: bytes, offsets: NDArray[np.int64]) -> TokenTrie: ...
    @property
    def n_tokens(self) -> int: ...
    @property
    def n_nodes(self) -> int: ...
    @property
    def n_bytes(self) -> int:
        """Memory held, in bytes."""

@final
class DfaMasks:
    """The bitmasks of a DFA over a vocabulary, computed when first asked for.

    `trans` is int32 [states, 256] with -1 for the dead state; `accept` is uint8 [states], zero or not.
    An id in `eos_ids` is allowed exactly in accepting states, whatever its bytes. At most `cache_bytes`
    of finished bitmasks are kept. Raises MaskwrightError for a bad table, VocabularyError for an unknown
    EOS id, LimitError for 2**24 - 1 states or more.
    """

    def __new__(
        cls,
        trie: TokenTrie,
        trans: NDArray[np.int32],
        accept: NDArray[np.uint8],
        eos_ids: Sequence[int],
        cache_bytes: int,
    ) -> DfaMasks: ...
    @property
    def n_states(self) -> int: ...
    @property
    def n_words(self) -> int:
        """Words of 32 tokens in a bitmask."""

    @property
    def n_cached(self) -> int:
        """Bitmasks kept now."""

    def fill_bitmask(self, state: int, bitmask: NDArray[np.int32], row: int = 0) -> bool:
        """Write the bitmask of `state` over a whole row of `bitmask`.

        `bitmask` is int32 [words] or [rows, words], writable and contiguous: token i is bit i % 32 of word
        i // 32, surplus words become zero. Returns false only if every id is allowed.
        Raises MaskwrightError for a state, row or array that does not fit, and then writes nothing.
        """

    def walk_bitmask(self, state: int, bitmask: NDArray[np.int32], row: int = 0) -> bool:
        """Do as `fill_bitmask` does, but walk the trie whatever is kept, and keep nothing."""

@final
class EngineVocabulary:
    """A vocabulary for the engine: token i is `blob[offsets[i]:offsets[i + 1]]`, empty if it is special or
    padding.

    `offsets` is int64 [tokens + 1]; `eos_ids` end a text. Raises as `TokenTrie` does, and VocabularyError
    for an EOS id that is not in the vocabulary.
    """

    def __new__(
        cls,
        blob: bytes,
        offsets: NDArray[np.int64],
        eos_ids: Iterable[int],
        special_ids: list[int] | None = None,
    ) -> EngineVocabulary: ...
    @staticmethod
    def load(path: str | os.PathLike[str], key: str) -> EngineVocabulary | None:
        """The vocabulary that `saved(key)` was written for, with its parts.

        None if the file is absent, cannot be read, is damaged, or has another key or version. Every number
        in it that is used as an index is checked: a forged file can give wrong masks, but no crash.
        """

    def saved(self, key: str) -> bytes:
        """The content of a file for `load`: the trie, the tokens, and the parts made so far."""

    def prebuild(self, classes: Sequence[Sequence[tuple[int, int]]]) -> None:
        """Make the parts of classes: ascending inclusive ranges of code points, without surrogates."""

    @property
    def n_tokens(self) -> int: ...
    @property
    def n_bytes(self) -> int:
        """Memory held, in bytes, with the parts made so far."""

    @property
    def n_parts(self) -> int:
        """Classes of characters that have a part."""

class _IndexStats(TypedDict):
    rules: int
    states: int
    edges: int
    program_bytes: int
    configurations: int
    frames: int
    masks: int
    masks_sparse: int
    masks_patched: int
    masks_dense: int
    masks_shared: int
    mask_bytes: int
    mask_bytes_dense: int
    cache_bytes: int
    caches: int
    hits: int
    misses: int
    rule_sizes: list[tuple[str, int, int]]

@final
class EngineIndex:
    """A format, given as the record of `maskwright.ir.Grammar`, compiled for a vocabulary.

    `limits` are seven ceilings: rules, states, dfa_states, edges, mask_work, stack_depth, cache_bytes.
    Raises LimitError, GrammarError for a format without a text or with an unknown special token,
    VocabularyError for missing bytes.
    """

    def __new__(
        cls,
        vocabulary: EngineVocabulary,
        words: bytes,
        blob: bytes,
        rules: Sequence[int],
        names: Sequence[str],
        root: int,
        limits: Sequence[int],
    ) -> EngineIndex: ...
    def constraint(self) -> Constraint:
        """A position at the beginning of the text."""

    def stats(self) -> _IndexStats: ...
    @property
    def n_bytes(self) -> int:
        """Memory held now, in bytes, without the vocabulary."""

@final
class Constraint:
    """One request's position in a format; follows `maskwright.protocol.ConstraintProtocol`. Made by an index.

    It belongs to one request: two threads may not use it at once; MaskwrightError where they try. LimitError
    from any method leaves it as it was.
    """

    @property
    def state(self) -> int:
        """Two constraints of one index with equal numbers have equal futures."""

    @property
    def tokens(self) -> tuple[int, ...]:
        """The tokens taken so far, an end of text among them."""

    @property
    def done(self) -> bool:
        """Whether the end was taken."""

    @property
    def vocab_size(self) -> int:
        """How many token ids there are, special ones and padding among them."""

    def is_complete(self) -> bool:
        """Whether the text so far is in the format; it stays true after the end."""

    def fill_bitmask(self, bitmask: Any, row: int = 0) -> bool:
        """Write one whole row: int32, token t is bit t % 32 of word t // 32, surplus words zero.

        `bitmask` is [words] or [rows, words], a NumPy array or a torch tensor on the CPU, writable and
        contiguous. False if nothing is masked: every id is allowed, the end, special tokens and padding too.
        Raises MaskwrightError for an array or row that does not fit, LimitError.
        """

    def mask(self) -> NDArray[np.bool_]:
        """The tokens allowed next: bool [vocab_size]."""

    def allows(self, token_id: int) -> bool:
        """Whether the token may come next; false for an id outside the vocabulary."""

    def advance(self, token_id: int) -> None:
        """Take a token; raises TokenNotAllowed with what was expected, and then nothing has changed."""

    def try_advance(self, token_ids: Iterable[int]) -> int:
        """Take the longest allowed beginning, no further than an end, and return its length."""

    def count_allowed(self, token_ids: Iterable[int]) -> int:
        """What `try_advance` would return, without moving."""

    def rollback(self, n: int) -> None:
        """Undo the last n tokens; raises MaskwrightError if n is negative or more than were taken."""

    def reset(self) -> None:
        """Go back to the beginning and forget what was taken."""

    def fork(self) -> Constraint:
        """Another constraint at the same place that shares nothing that moves."""

    def __copy__(self) -> Constraint: ...
    def __deepcopy__(self, _memo: Any) -> Constraint: ...
    def forced_text(self) -> bytes:
        """The bytes that every completion in tokens goes on with, at most 65,536 of them.

        They agree with the mask: where they are not empty, each allowed token begins with the first one."""

def fill_bitmasks(
    constraints: list[Constraint | None],
    bitmask: Any,
    rows: Sequence[int] | None,
    vocabulary: EngineVocabulary,
    threads: int,
) -> list[Exception | None] | None:
    """Fill a row for each constraint, cold masks over threads; see `Compiler.fill_bitmasks`."""

def mask_logits(logits: NDArray[Any], bitmask: NDArray[np.int32], minus_infinity: int) -> None:
    """Set masked logits to the bits `minus_infinity`, in place.

    `logits` is uint16, uint32 or uint64 [rows, width], writable, without gaps in a row; `bitmask` int32
    [rows, words]. Logits past the last word are masked. Raises MaskwrightError for arrays that do not fit.
    """

def _panic(message: str) -> None:
    """Panic in the core, so that a test can see what a defect looks like from Python."""
