"""Where does the engine's form of a vocabulary come from: made now, or from a directory where it was kept?

A file is written only into a directory that the caller names, whole or not at all (a temporary file that is
renamed), and read by the engine itself, which checks it and takes nothing from a damaged or foreign one.
Nothing is ever unpickled.
"""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

from maskwright._native import EngineVocabulary, __version__
from maskwright.common_classes import common_classes
from maskwright.errors import MaskwrightError
from maskwright.vocabulary import Vocabulary

__all__ = ["engine_vocabulary"]

MIN_TOKENS = 8_000
"""For fewer tokens a part takes less than half a millisecond, and is made when it is asked for."""


def engine_vocabulary(vocabulary: Vocabulary, cache_dir: str | os.PathLike[str] | None) -> EngineVocabulary:
    """The vocabulary with the parts of common classes, from `cache_dir` or written to it.

    For 128,000 tokens it takes 65 ms to make and 7 ms to read, besides 20 ms for the fingerprint. Raises
    `MaskwrightError` where `cache_dir` cannot be written to.
    """
    if cache_dir is None:
        return _make(vocabulary)
    key = f"maskwright {__version__} {vocabulary.fingerprint()}"
    path = Path(cache_dir) / f"{vocabulary.fingerprint()}.vocabulary"
    found = EngineVocabulary.load(path, key)
    if found is None:
        found = _make(vocabulary)
        _write(path, found.saved(key))
    return found


def _make(vocabulary: Vocabulary) -> EngineVocabulary:
    strings = [token or b"" for token in vocabulary.tokens]
    offsets = np.zeros(len(strings) + 1, np.int64)
    np.cumsum(np.fromiter(map(len, strings), np.int64, len(strings)), out=offsets[1:])
    made = EngineVocabulary(b"".join(strings), offsets, sorted(vocabulary.eos_ids), _special_ids(vocabulary))
    if len(strings) >= MIN_TOKENS:
        made.prebuild(common_classes())
    return made


def _special_ids(vocabulary: Vocabulary) -> list[int]:
    """The ids that a grammar may name: those named, those that end a text, and those without bytes among the
    tokens. What comes after the last of all these is padding, and an empty token is none of them.
    """
    known = {*vocabulary.special.values(), *vocabulary.eos_ids}
    end = len(vocabulary)
    while end and vocabulary.tokens[end - 1] is None and end - 1 not in known:
        end -= 1
    return [token_id for token_id, token in enumerate(vocabulary.tokens[:end]) if token is None]


def _write(path: Path, content: bytes) -> None:
    """Whole or not at all; where several processes write at once, all write the same."""
    import tempfile  # noqa: PLC0415 - 5 ms, once a vocabulary

    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.stem[:16]}-", suffix=".part")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(content)
            os.replace(temporary, path)
        except BaseException:
            os.unlink(temporary)
            raise
    except OSError as error:
        raise MaskwrightError(
            "cannot keep the vocabulary on disk",
            where=f"cache_dir {str(path.parent)!r}",
            why=str(error),
            try_="a directory that can be written to, or no cache_dir",
            code="cache.write",
        ) from error
