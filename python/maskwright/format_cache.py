"""Which compiled formats are kept? Those used last, up to a number of bytes."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable
from dataclasses import dataclass, field
from threading import Lock

from maskwright.index import Index

__all__ = ["FormatCache"]

_USES_BETWEEN_COUNTS = 256


@dataclass(slots=True, eq=False)
class _Kept:
    """An index, and what it is found by.

    A key is all of a format (a digest takes 25 µs in a busy process): texts hold none of an index that went.
    """

    key: Hashable
    index: Index
    size: int = 0
    """Bytes when it was last asked."""
    sources: set[Hashable] = field(default_factory=set)


class FormatCache:
    """Least recently used first out.

    An index grows while it is used, most after it was added, so sizes are asked anew: of an index that is
    used, of the newest one when another comes, and of all after some uses, for a thousand take 0.3 ms.
    `source` is a text with its options, or a digest of that, `key` is equal for equal formats.
    """

    def __init__(self, max_bytes: int) -> None:
        self.max_bytes = max_bytes
        self.hits = 0
        self.misses = 0
        self.evicted = 0
        self._held = 0
        """Bytes of all indexes, as they were when each was last asked."""
        self._lock = Lock()
        self._formats: OrderedDict[Hashable, _Kept] = OrderedDict()
        self._sources: OrderedDict[Hashable, _Kept] = OrderedDict()

    def find(self, source: Hashable) -> Index | None:
        """The index made from the same text and options, if it is kept."""
        if source not in self._sources:  # without the lock: a new format has enough to wait for
            return None
        with self._lock:
            kept = self._sources.get(source)
            if kept is None:
                return None
            self._sources.move_to_end(source)
            self._hit(kept)
            return kept.index

    def find_format(self, source: Hashable, key: Hashable) -> Index | None:
        """The index of the same format, whatever it was made from; it is found by this text from now on."""
        with self._lock:
            kept = self._formats.get(key)
            if kept is None:
                self.misses += 1
                if (self.hits + self.misses) % _USES_BETWEEN_COUNTS == 0:
                    self._count()
                return None
            self._remember(source, kept)
            self._hit(kept)
            return kept.index

    def add(self, source: Hashable, key: Hashable, index: Index) -> Index:
        """Keep an index, unless another thread was faster: then that one is returned."""
        with self._lock:
            kept = self._formats.get(key)
            if kept is None:
                if self._formats:
                    self._count_one(self._formats[next(reversed(self._formats))])
                kept = self._formats[key] = _Kept(key, index)
                self._count_one(kept)
            else:
                self._formats.move_to_end(key)
            self._remember(source, kept)
            if self._held > self.max_bytes:
                self._evict()
            return kept.index

    def _hit(self, kept: _Kept) -> None:
        self.hits += 1
        self._formats.move_to_end(kept.key)
        self._count_one(kept)
        if (self.hits + self.misses) % _USES_BETWEEN_COUNTS == 0:
            self._count()

    def _count_one(self, kept: _Kept) -> None:
        size = kept.index.n_bytes
        self._held += size - kept.size
        kept.size = size

    def _count(self) -> None:
        for kept in self._formats.values():
            self._count_one(kept)
        self._evict()

    def _remember(self, source: Hashable, kept: _Kept) -> None:
        """Several texts may stand for one format: at most four each are remembered on average."""
        self._sources[source] = kept
        self._sources.move_to_end(source)
        kept.sources.add(source)
        while len(self._sources) > 4 * len(self._formats) + 64:
            forgotten, of = self._sources.popitem(last=False)
            of.sources.discard(forgotten)

    def _evict(self) -> None:
        """Oldest first; the newest index stays, however large."""
        while self._held > self.max_bytes and len(self._formats) > 1:
            _, kept = self._formats.popitem(last=False)
            for source in kept.sources:
                self._sources.pop(source, None)
            self._held -= kept.size
            self.evicted += 1

    def stats(self) -> dict[str, int]:
        """Counts of formats, bytes, hits, misses and evictions."""
        with self._lock:
            return {
                "formats": len(self._formats),
                "bytes": sum(kept.index.n_bytes for kept in self._formats.values()),
                "hits": self.hits,
                "misses": self.misses,
                "evicted": self.evicted,
            }
