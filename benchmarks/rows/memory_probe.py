"""What does one engine hold? A process: load it, time that, walk 2,000 tokens, print what it all takes.

The grammar is first compiled and walked once, so that what belongs to the vocabulary is there already and the
growth is that of the indexes alone.
"""

from __future__ import annotations

import ctypes
import gc
import json
import sys
import tempfile
from pathlib import Path
from time import perf_counter_ns

import formats
import peers
from peers.interface import Engine, Format
from texts import Text, make_texts
from vocabulary import llama3

_TOKENS = 2_000
_INDEXES = 8  # all kept: one alone may fit into what was freed before


def main(name: str) -> dict[str, float]:
    """All figures of one engine: bytes and nanoseconds by name."""
    vocabulary = llama3()
    texts = make_texts(vocabulary.encoding().encode_ordinary, count=20)
    peers.import_engine(name)  # the import is not what is timed
    start = perf_counter_ns()
    engine = peers.load(name, vocabulary)
    found: dict[str, float] = {"ready_ns": perf_counter_ns() - start}
    held = [_walk(engine, name, texts)]
    before = _resident()
    held += [_walk(engine, name, texts) for _ in range(_INDEXES)]
    found["grown"] = max(0, _resident() - before) / _INDEXES
    found |= engine.memory(held[-1])
    if (again := _ready_from_disk(engine)) is not None:
        found["ready_cached_ns"] = again
    return found


def _walk(engine: Engine, name: str, texts: list[Text]) -> Format:
    engine.fresh()
    form = engine.compile(*formats.JSON_FOR_ENGINE[name])
    bitmask = engine.bitmask()
    left = _TOKENS
    for text in texts:
        matcher = engine.matcher(form)
        for token in text.tokens[:left]:
            matcher.fill(bitmask.handle, 0)
            matcher.advance(token)
        left -= min(left, len(text.tokens))
    return form


def _ready_from_disk(engine: Engine) -> int | None:
    """Nanoseconds until ready when the cache on disk is there; None for an engine without one."""
    with tempfile.TemporaryDirectory() as folder:
        if not engine.ready_from_disk(Path(folder)):
            return None
        start = perf_counter_ns()
        engine.ready_from_disk(Path(folder))
        return perf_counter_ns() - start


def _resident() -> int:
    """Bytes of this process that are in memory now, without what its allocator has free."""
    gc.collect()
    if hasattr(libc := ctypes.CDLL(None), "malloc_trim"):
        libc.malloc_trim(0)
    text = Path("/proc/self/status").read_text()
    return int(text.split("VmRSS:")[1].split()[0]) * 1024


if __name__ == "__main__":
    print(json.dumps(main(sys.argv[1])))
