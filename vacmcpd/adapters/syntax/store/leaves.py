"""What records read: sets of 32-bit leaves, of which those of one segment stand in one table.

A record reads much the same in each of its rounds, so it has one list of leaves, each with a mask:
bit 0 for its bases, bit n for round n.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from ...container import Container, Damaged, Writer
from ..linking.records import Linked
from .packs import Frame, column, read_column, summed

_LEAF = np.dtype("<u4")
_MOST_SETS = 8


@dataclass(frozen=True, slots=True)
class Reads:
    """The leaves of a record, ascending, and their masks."""

    leaves: npt.NDArray[np.uint32]
    masks: npt.NDArray[np.uint8]

    def sets(self, count: int) -> list[bytes]:
        """The sets that :func:`reads_of` joined: of the bases, then of each round."""
        chosen = (self.leaves[(self.masks & (1 << bit)) != 0] for bit in range(count))
        return [leaves.astype(_LEAF).tobytes() for leaves in chosen]


def reads_of(linked: Linked) -> Reads:
    """What a record reads."""
    sets = [np.frombuffer(each, _LEAF) for each in (linked.bases.reads, *linked.reads)]
    if len(sets) > _MOST_SETS:
        raise ValueError(f"{len(sets)} rounds do not fit a mask")
    leaves = np.unique(np.concatenate(sets))
    masks = np.zeros(len(leaves), np.uint8)
    for bit, each in enumerate(sets):
        masks[np.searchsorted(leaves, each)] |= np.uint8(1 << bit)
    return Reads(leaves, masks)


@dataclass(slots=True)
class ReadsWriter:
    """The reads of the records of a segment in the making."""

    _reads: list[Reads] = field(default_factory=list)

    def add(self, reads: Reads) -> None:
        """Add those of a record behind the others."""
        self._reads.append(reads)

    def write(self, writer: Writer, name: str) -> Iterator[Frame]:
        """Four sections of a file, called after ``name``."""
        counts = np.array([len(each.leaves) for each in self._reads], _LEAF)
        leaves = _joined([each.leaves for each in self._reads], np.uint32)
        masks = _joined([each.masks for each in self._reads], np.uint8)
        table, places = np.unique(leaves, return_inverse=True)
        steps = np.diff(places.astype(np.int64), prepend=0)
        firsts = np.cumsum(counts, dtype=np.int64)[:-1][counts[1:] > 0]
        steps[firsts] = places[firsts]
        yield from column(writer, f"{name}.counts", counts)
        yield from column(writer, f"{name}.table", _planes(np.diff(table, prepend=0)))
        yield from column(writer, f"{name}.places", _planes(steps))
        yield from column(writer, f"{name}.masks", masks)


class ReadsOf:
    """The reads of the records of a segment, by number."""

    def __init__(self, held: Container, name: str) -> None:
        counts = read_column(held, f"{name}.counts", _LEAF).astype(np.int64)
        table = np.cumsum(_read_planes(held, f"{name}.table"), dtype=np.int64)
        steps = _read_planes(held, f"{name}.places").astype(np.int64)
        self._masks = read_column(held, f"{name}.masks", np.dtype("u1"))
        self._ends = np.cumsum(counts)
        starts = self._ends - counts
        total = int(counts.sum())
        if len(steps) != total or len(self._masks) != total:
            raise Damaged("reads and their counts contradict each other")
        places = summed(steps, counts)
        if places.size and not 0 <= int(places.min()) <= int(places.max()) < len(table):
            raise Damaged("a read of no leaf")
        self._leaves = table[places].astype(np.uint32)
        self._starts = starts

    def __len__(self) -> int:
        return len(self._ends)

    def of(self, at: int) -> Reads:
        """Those of one record."""
        start, end = int(self._starts[at]), int(self._ends[at])
        return Reads(self._leaves[start:end], self._masks[start:end])


def _joined(parts: Sequence[npt.NDArray[np.generic]], kind: type) -> npt.NDArray[np.generic]:
    return np.concatenate(parts) if parts else np.zeros(0, kind)


def _planes(values: npt.NDArray[np.generic]) -> npt.NDArray[np.uint8]:
    """The bytes of 32-bit numbers, first all the lowest ones, last all the highest."""
    return np.ascontiguousarray(values.astype(_LEAF).view(np.uint8).reshape(-1, 4).T)


def _read_planes(held: Container, name: str) -> npt.NDArray[np.uint32]:
    data = read_column(held, name, np.dtype("u1"))
    if len(data) % 4:
        raise Damaged(f"{name} is cut")
    found: npt.NDArray[np.uint32] = np.ascontiguousarray(data.reshape(4, -1).T).view(_LEAF)[:, 0]
    return found
