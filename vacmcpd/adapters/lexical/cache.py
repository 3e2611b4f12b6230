"""Two bounded memories that are safe to keep: what git names by its content can't change.

No result of a search is kept, and nothing here can change one; only how long it takes.
"""

import threading
from collections import OrderedDict
from dataclasses import dataclass

from .documents import Document, Skip

Key = tuple[str, str]
"""A repository's name and an object's id."""

_SKIP_COST = 256


@dataclass(slots=True)
class _Kept:
    value: Document | Skip
    cost: int
    scan: int


class BlobCache:
    """The least recently used blobs go first, but a scan never pushes out what it used itself.

    A plain LRU would keep nothing at all of a tree that is larger than it, since a scan reads in
    the same order each time. Safe in several threads. ``capacity`` is in bytes.
    """

    def __init__(self, capacity: int) -> None:
        self._capacity = capacity
        self._lock = threading.Lock()
        self._kept: OrderedDict[Key, _Kept] = OrderedDict()
        self._used = 0
        self._scans = 0

    def begin(self) -> int:
        """The number of a new scan, for ``get`` and ``put``."""
        with self._lock:
            self._scans += 1
            return self._scans

    def get(self, key: Key, scan: int) -> Document | Skip | None:
        """What is kept under ``key``."""
        with self._lock:
            kept = self._kept.get(key)
            if kept is None:
                return None
            kept.scan = max(kept.scan, scan)
            self._kept.move_to_end(key)
            return kept.value

    def put(self, key: Key, value: Document | Skip, scan: int) -> None:
        """Keep ``value`` where there is room or something older to drop."""
        cost = _SKIP_COST if isinstance(value, Skip) else value.cost
        with self._lock:
            if key in self._kept or cost > self._capacity or not self._make_room(cost, scan):
                return
            self._kept[key] = _Kept(value, cost, scan)
            self._used += cost

    def _make_room(self, cost: int, scan: int) -> bool:
        while self._used + cost > self._capacity:
            key, oldest = next(iter(self._kept.items()))
            if oldest.scan >= scan:
                return False
            del self._kept[key]
            self._used -= oldest.cost
        return True

    @property
    def used(self) -> int:
        """Bytes that are kept, as the documents count them."""
        with self._lock:
            return self._used
