"""Which blocks hold which key: how lists are kept, read, joined and counted.

A list of block numbers (0 to 65,535) is either *sparse*, its numbers as uint16, or *dense*, one bit
a block, whichever is smaller. All sparse lists of a segment stand in one array and all dense ones
in another, both in the order of their keys, so that where a list begins follows from the counts
and a whole segment is decoded at once. Each list has a CRC-32 of its own, checked when it is read.
"""

import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from ..container import Damaged
from .trigrams import Keys

Blocks = npt.NDArray[np.uint16]
Numbers = npt.NDArray[np.uint32]
Bits = npt.NDArray[np.uint8]

MAX_BLOCKS = 1 << 16
_CHUNK = 2_000_000
"""Postings that are worked on at once where a whole segment would take too much memory."""
_RUN = 3_000_000


@dataclass(frozen=True, slots=True)
class Lists:
    """Keys, ascending; how many blocks each has; and the blocks, list after list, ascending."""

    keys: Keys
    counts: Numbers
    blocks: Blocks


def dense_from(blocks: int) -> int:
    """Lists of more numbers than this are kept as bits, in a segment of so many blocks."""
    return blocks // 16


class Gathering:
    """Takes the keys of one block after the other and gives them back as lists."""

    def __init__(self) -> None:
        self._pending: list[Keys] = []
        self._first = 0
        self._blocks = 0
        self._waiting = 0
        self._runs: list[npt.NDArray[np.uint64]] = []
        self.postings = 0

    def add(self, keys: Keys) -> None:
        """The keys of the next block."""
        self._pending.append(keys)
        self._blocks += 1
        self._waiting += keys.size
        self.postings += keys.size
        if self._waiting >= _RUN:
            self._spill()

    def lists(self) -> Iterator[Lists]:
        """Everything that was added, in pieces of ascending keys."""
        self._spill()
        if not self.postings:
            return
        for low, high in self._pieces():
            parts = [run[slice(*np.searchsorted(run, (low, high)))] for run in self._runs]
            pairs = np.concatenate(parts)
            pairs.sort()
            yield _lists_of((pairs >> np.uint64(16)).astype(np.uint32), pairs.astype(np.uint16))

    def _spill(self) -> None:
        """Sort what is pending: many small sorted runs cost less memory than one of all."""
        if not self._pending:
            return
        numbers = np.arange(self._first, self._blocks, dtype=np.uint64)
        sizes = [keys.size for keys in self._pending]
        pairs = np.concatenate(self._pending).astype(np.uint64)
        pairs <<= np.uint64(16)
        pairs |= np.repeat(numbers, sizes)
        pairs.sort()
        self._runs.append(pairs)
        self._pending, self._first, self._waiting = [], self._blocks, 0

    def _pieces(self) -> Iterator[tuple[np.uint64, np.uint64]]:
        count = 1 + self.postings // _CHUNK
        samples = [run[:: max(1, run.size // 4096)] for run in self._runs]
        sample = np.sort(np.concatenate(samples))
        edges = [np.uint64(0)]
        for at in range(1, count):
            edge = sample[sample.size * at // count] >> np.uint64(16) << np.uint64(16)
            if edge > edges[-1]:
                edges.append(edge)
        edges.append(np.uint64(1 << 48))
        yield from pairwise(edges)


def _lists_of(keys: Keys, blocks: Blocks) -> Lists:
    """Pairs sorted by key, then block, as lists."""
    if not keys.size:
        return Lists(keys, np.empty(0, np.uint32), blocks)
    starts = np.flatnonzero(np.concatenate(([True], keys[1:] != keys[:-1])))
    counts = np.diff(np.append(starts, keys.size)).astype(np.uint32)
    return Lists(keys[starts], counts, blocks)


def joined(parts: Sequence[Lists]) -> Lists:
    """Lists of parts whose blocks ascend from part to part, as one."""
    keys = np.unique(np.concatenate([part.keys for part in parts]))
    places = [np.searchsorted(keys, part.keys) for part in parts]
    counts = np.zeros(keys.size, np.uint32)
    for part, place in zip(parts, places, strict=True):
        counts[place] += part.counts
    blocks = np.empty(int(counts.sum()), np.uint16)
    starts = np.cumsum(counts, dtype=np.int64) - counts
    for part, place in zip(parts, places, strict=True):
        own = np.cumsum(part.counts, dtype=np.int64) - part.counts
        target = np.repeat(starts[place] - own, part.counts)
        target += np.arange(target.size)
        blocks[target] = part.blocks
        starts[place] += part.counts
    return Lists(keys, counts, blocks)


def moved(lists: Lists, new_numbers: npt.NDArray[np.int64]) -> Lists:
    """``lists`` with each block renumbered, and without those whose new number is -1.

    New numbers ascend as the old ones do.
    """
    numbers = new_numbers[lists.blocks]
    kept = numbers >= 0
    if kept.all():
        return Lists(lists.keys, lists.counts, numbers.astype(np.uint16))
    owners = np.repeat(np.arange(lists.keys.size), lists.counts)[kept]
    counts = np.bincount(owners, minlength=lists.keys.size).astype(np.uint32)
    used = counts > 0
    return Lists(lists.keys[used], counts[used], numbers[kept].astype(np.uint16))


class Packer:
    """Turns lists into the four sections that :class:`Index` reads."""

    def __init__(self, blocks: int) -> None:
        self._blocks = blocks
        self._keys: list[Keys] = []
        self._counts: list[Numbers] = []
        self._checksums: list[Numbers] = []
        self._dense: list[bytes] = []

    def sparse(self, pieces: Iterable[Lists]) -> Iterator[bytes]:
        """The sparse lists; the other sections are known once this is exhausted."""
        for lists in pieces:
            self._keys.append(lists.keys)
            self._counts.append(lists.counts)
            yield self._pack(lists)

    def dense(self) -> Iterator[bytes]:
        yield from self._dense

    def terms(self) -> Iterator[bytes]:
        for column in (self._keys, self._counts, self._checksums):
            yield from (part.astype("<u4").tobytes() for part in column)

    def _pack(self, lists: Lists) -> bytes:
        ends = np.cumsum(lists.counts, dtype=np.int64)
        is_dense = lists.counts > dense_from(self._blocks)
        checksums = np.empty(lists.keys.size, np.uint32)
        for at in np.flatnonzero(is_dense).tolist():
            bits = np.zeros(self._blocks, bool)
            bits[lists.blocks[ends[at] - lists.counts[at] : ends[at]]] = True
            packed = np.packbits(bits, bitorder="little").tobytes()
            checksums[at] = zlib.crc32(packed)
            self._dense.append(packed)
        sparse = lists.blocks[np.repeat(~is_dense, lists.counts)].astype("<u2").tobytes()
        places = np.flatnonzero(~is_dense)
        stops = (np.cumsum(lists.counts[places], dtype=np.int64) * 2).tolist()
        view, start, crc32 = memoryview(sparse), 0, zlib.crc32
        sums = []
        for stop in stops:
            sums.append(crc32(view[start:stop]))
            start = stop
        checksums[places] = sums
        self._checksums.append(checksums)
        return sparse


class Index:
    """The lists of one segment, read where they lie."""

    def __init__(self, terms: bytes, sparse: memoryview, dense: memoryview, blocks: int) -> None:
        count, rest = divmod(len(terms), 12)
        if rest:
            raise Damaged("the list of keys is cut")
        table = np.frombuffer(terms, "<u4").reshape(3, count)
        self.blocks = blocks
        self.keys, self.counts, self._checksums = table
        self._width = (blocks + 7) // 8
        self._is_dense = self.counts > dense_from(blocks)
        in_sparse = np.where(self._is_dense, 0, self.counts).astype(np.uint64)
        # Where a dense list stands among the dense ones, and a sparse one among the numbers.
        self._places = np.where(
            self._is_dense,
            np.cumsum(self._is_dense, dtype=np.uint64) - np.uint64(1),
            np.cumsum(in_sparse) - in_sparse,
        )
        self._sparse, self._dense = sparse, dense
        if len(dense) != int(self._is_dense.sum()) * self._width:
            raise Damaged("the dense lists are cut")
        if len(sparse) != int(in_sparse.sum()) * 2:
            raise Damaged("the sparse lists are cut")

    def places(self, keys: Sequence[int]) -> list[int] | None:
        """Where the lists of these keys stand, shortest first; None when one key has none."""
        wanted = np.array(keys, np.uint32)
        found = np.searchsorted(self.keys, wanted)
        if found.size and (found.max() >= self.keys.size or (self.keys[found] != wanted).any()):
            return None
        order = np.argsort(self.counts[found], kind="stable")
        places: list[int] = found[order].tolist()
        return places

    def is_dense(self, place: int) -> bool:
        return bool(self._is_dense[place])

    def bits(self, place: int) -> Bits:
        """A dense list, one bit a block, the lowest first."""
        start = int(self._places[place]) * self._width
        return np.frombuffer(self._checked(self._dense, start, self._width, place), np.uint8)

    def numbers(self, place: int) -> Blocks:
        """A sparse list."""
        start, size = int(self._places[place]) * 2, int(self.counts[place]) * 2
        return np.frombuffer(self._checked(self._sparse, start, size, place), "<u2")

    def edges(self) -> list[int]:
        """Keys, from 0 to one above all, between which about a chunk of postings stands."""
        ends = np.cumsum(self.counts, dtype=np.int64)
        total = int(ends[-1]) if ends.size else 0
        inner = np.searchsorted(ends, np.arange(_CHUNK, total, _CHUNK))
        return [0, *dict.fromkeys(self.keys[inner].tolist()), 1 << 32]

    def lists(self, low: int, high: int) -> Lists:
        """The lists of the keys from ``low`` on and below ``high``.

        Sparse lists are not checked one by one: who wants them all has verified the whole file.
        """
        first = int(np.searchsorted(self.keys, low))
        last = int(np.searchsorted(self.keys, high)) if high < 1 << 32 else self.keys.size
        counts, is_dense = self.counts[first:last], self._is_dense[first:last]
        blocks = np.empty(int(counts.sum()), np.uint16)
        begin = int(self.counts[:first][~self._is_dense[:first]].sum())
        sparse = np.repeat(~is_dense, counts)
        size = int(np.count_nonzero(sparse))
        blocks[sparse] = np.frombuffer(self._sparse[begin * 2 : (begin + size) * 2], "<u2")
        ends = np.cumsum(counts, dtype=np.int64)
        for at in np.flatnonzero(is_dense).tolist():
            bits = np.unpackbits(self.bits(first + at), count=self.blocks, bitorder="little")
            numbers = np.flatnonzero(bits)
            if numbers.size != counts[at]:
                raise Damaged("a dense list does not have as many blocks as it says")
            blocks[ends[at] - numbers.size : ends[at]] = numbers
        return Lists(self.keys[first:last], counts, blocks)

    def _checked(self, section: memoryview, start: int, size: int, place: int) -> memoryview:
        found = section[start : start + size]
        if zlib.crc32(found) != self._checksums[place]:
            raise Damaged("a list of blocks is not what was written")
        return found
