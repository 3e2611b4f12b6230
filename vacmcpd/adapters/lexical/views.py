"""One pinned tree over the segments that hold its blobs: what a search walks."""

import threading
from collections import OrderedDict
from functools import cached_property

import numpy as np
import numpy.typing as npt

from .documents import as_utf8
from .generations import Located
from .manifests import Manifest
from .names import Names
from .segments import Codec, Segment

Mask = npt.NDArray[np.bool_]
Rows = npt.NDArray[np.int64]


class Part:
    """One segment as the tree sees it.

    ``live`` has a bit for each of its blocks that the tree needs, the lowest first. ``rows`` and
    ``blobs`` are the tree's rows in it and their blobs, by blob.
    """

    def __init__(self, segment: Segment, rows: Rows, blobs: Rows) -> None:
        self.segment = segment
        order = np.argsort(blobs, kind="stable")
        self.rows, self.blobs = rows[order], blobs[order]
        wanted = np.zeros(len(segment), bool)
        wanted[blobs] = True
        blocks = np.repeat(wanted, segment.block_count)
        self.live = np.packbits(blocks, bitorder="little")

    def rows_of(self, blobs: Rows) -> Rows:
        """The rows of these blobs, which ascend; several where paths share one."""
        low = np.searchsorted(self.blobs, blobs)
        high = np.searchsorted(self.blobs, blobs, side="right")
        counts = high - low
        if not counts.size or int(counts.max()) <= 1:
            return self.rows[low[counts > 0]]
        first = np.repeat(low - (np.cumsum(counts) - counts), counts)
        return self.rows[first + np.arange(first.size)]


class View:
    """A tree's rows.

    ``part`` and ``blob`` say where each row's text is, ``text`` whether it has one. ``order`` has
    the rows as an answer would, before anything is known of their lines: by tier, then shorter
    paths first, then by path.
    """

    def __init__(self, manifest: Manifest, located: Located) -> None:
        self.manifest = manifest
        self._located = located
        self.paths = manifest.paths
        files = manifest.kinds == 0
        ordinals = np.where(files, manifest.ordinals, 0)
        none = located.next_ordinal == 0
        self.part = np.where(files, -1 if none else located.segment[ordinals], -1)
        self.blob = np.where(files, 0 if none else located.blob[ordinals], 0).astype(np.int64)
        self.text = np.zeros(len(self.paths), bool)
        self.parts: list[Part] = []
        for at, segment in enumerate(located.segments):
            rows = np.flatnonzero(self.part == at)
            blobs = self.blob[rows]
            has_text = segment.skips[blobs] == 0
            self.text[rows[has_text]] = True
            self.parts.append(Part(segment, rows[has_text], blobs[has_text]))
        lengths = np.array([len(path) for path in self.paths], np.int64)
        self.order: Rows = np.lexsort((lengths, manifest.tiers))

    def __len__(self) -> int:
        return len(self.paths)

    @cached_property
    def utf8(self) -> tuple[bytes, ...]:
        """The paths as UTF-8, which is what patterns look at."""
        return tuple(as_utf8(path) for path in self.paths)

    @cached_property
    def names(self) -> Names:
        return Names(self.utf8)

    @cached_property
    def skipped(self) -> dict[str, int]:
        """How many rows have no text that is searched, by reason."""
        return self._located.skipped(self.manifest)

    def in_language(self, name: str) -> Mask:
        """The rows of one language."""
        if name not in self.manifest.languages:
            return np.zeros(len(self), bool)
        found: Mask = self.manifest.language == self.manifest.languages.index(name)
        return found


class Texts:
    """Texts of blocks, the last used ones kept. Safe in several threads.

    ``capacity`` is in bytes.
    """

    def __init__(self, capacity: int) -> None:
        self._capacity = capacity
        self._lock = threading.Lock()
        self._kept: OrderedDict[tuple[str, int], bytes] = OrderedDict()
        self._used = 0
        self._local = threading.local()

    def get(self, segment: Segment, block: int) -> bytes:
        """A block's text; :class:`..container.Damaged` when it is not what was written."""
        key = (segment.name, block)
        with self._lock:
            kept = self._kept.get(key)
            if kept is not None:
                self._kept.move_to_end(key)
                return kept
        text = segment.text(block, self._codec())
        if len(text) <= self._capacity // 8:
            self._keep(key, text)
        return text

    def _keep(self, key: tuple[str, int], text: bytes) -> None:
        with self._lock:
            if key in self._kept:
                return
            self._kept[key] = text
            self._used += len(text)
            while self._used > self._capacity:
                _, dropped = self._kept.popitem(last=False)
                self._used -= len(dropped)

    def _codec(self) -> Codec:
        codec: Codec | None = getattr(self._local, "codec", None)
        if codec is None:
            codec = self._local.codec = Codec()
        return codec
