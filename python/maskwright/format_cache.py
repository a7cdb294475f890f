"""Which compiled formats are kept? Those used last, up to a number of bytes."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable
from threading import Lock

from maskwright.index import Index

__all__ = ["FormatCache"]

_USES_BETWEEN_COUNTS = 256


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
        self._sizes: dict[Hashable, int] = {}
        """Bytes of each index when it was last asked."""
        self._held = 0
        """All of them."""
        self._lock = Lock()
        self._indexes: OrderedDict[Hashable, Index] = OrderedDict()
        self._keys: OrderedDict[Hashable, Hashable] = OrderedDict()

    def find(self, source: Hashable) -> Index | None:
        """The index made from the same text and options, if it is kept."""
        if source not in self._keys:  # without the lock: a new format has enough to wait for
            return None
        with self._lock:
            key = self._keys.get(source)
            index = self._indexes.get(key) if key is not None else None
            if index is None or key is None:
                return None
            self._keys.move_to_end(source)
            self._hit(key)
            return index

    def find_format(self, source: Hashable, key: Hashable) -> Index | None:
        """The index of the same format, whatever it was made from; it is found by this text from now on."""
        with self._lock:
            index = self._indexes.get(key)
            if index is None:
                self.misses += 1
                if (self.hits + self.misses) % _USES_BETWEEN_COUNTS == 0:
                    self._count()
                return None
            self._remember(source, key)
            self._hit(key)
            return index

    def add(self, source: Hashable, key: Hashable, index: Index) -> Index:
        """Keep an index, unless another thread was faster: then that one is returned."""
        with self._lock:
            known = self._indexes.get(key)
            if known is None:
                if self._indexes:
                    self._count_one(next(reversed(self._indexes)))
                self._indexes[key] = index
                self._count_one(key)
            else:
                self._indexes.move_to_end(key)
                index = known
            self._remember(source, key)
            if self._held > self.max_bytes:
                self._evict()
            return index

    def _hit(self, key: Hashable) -> None:
        self.hits += 1
        self._indexes.move_to_end(key)
        self._count_one(key)
        if (self.hits + self.misses) % _USES_BETWEEN_COUNTS == 0:
            self._count()

    def _count_one(self, key: Hashable) -> None:
        size = self._indexes[key].n_bytes
        self._held += size - self._sizes.get(key, 0)
        self._sizes[key] = size

    def _count(self) -> None:
        self._sizes = {key: index.n_bytes for key, index in self._indexes.items()}
        self._held = sum(self._sizes.values())
        self._evict()

    def _remember(self, source: Hashable, key: Hashable) -> None:
        """Several texts may stand for one format: at most four each are remembered on average."""
        self._keys[source] = key
        self._keys.move_to_end(source)
        while len(self._keys) > 4 * len(self._indexes) + 64:
            self._keys.popitem(last=False)

    def _evict(self) -> None:
        """Oldest first; the newest index stays, however large."""
        while self._held > self.max_bytes and len(self._indexes) > 1:
            key, _ = self._indexes.popitem(last=False)
            self._held -= self._sizes.pop(key)
            self.evicted += 1

    def stats(self) -> dict[str, int]:
        """Counts of formats, bytes, hits, misses and evictions."""
        with self._lock:
            return {
                "formats": len(self._indexes),
                "bytes": sum(index.n_bytes for index in self._indexes.values()),
                "hits": self.hits,
                "misses": self.misses,
                "evicted": self.evicted,
            }
