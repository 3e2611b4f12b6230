"""Writes segments: of blobs as they are read, and of other segments when they are merged.

Both give the file's bytes piece by piece, for :meth:`vacmcpd.ports.artifacts.ArtifactStore.put`;
what they hold in memory are the numbers, not the texts.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt
import zstandard

from ..container import Writer
from .postings import Gathering, Index, Lists, Packer, joined, moved
from .segments import BLOB, BLOCK, FORMAT, KIND, SKIPS, BlobFacts, Codec, Segment
from .trigrams import keys_of_text

BLOCK_BYTES = 16 * 1024
_LEVEL = 1
_FULL_BLOCKS = 30_000
_FULL_POSTINGS = 24_000_000
# No blob has more blocks than fit behind a segment that is nearly full (`postings.MAX_BLOCKS`).
_BLOB_BLOCKS = 16_000


@dataclass(frozen=True, slots=True)
class Dictionary:
    """What blocks are compressed with; ``digest`` names its file, both empty for none."""

    digest: str = ""
    data: bytes = b""

    def compressor(self) -> zstandard.ZstdCompressor:
        trained = zstandard.ZstdCompressionDict(self.data) if self.data else None
        return zstandard.ZstdCompressor(level=_LEVEL, dict_data=trained, write_checksum=True)


def blocks_of(text: bytes) -> Iterator[bytes]:
    """``text`` cut behind line feeds, into at most 32,000 blocks that join to the whole."""
    target = max(BLOCK_BYTES, len(text) // _BLOB_BLOCKS)
    start, size = 0, len(text)
    while start < size:
        end = start + target
        if end < size:
            end = text.rfind(b"\n", start, end) + 1 or text.find(b"\n", end) + 1 or size
        yield text[start:end]
        start = end


class _Table:
    """The rows of a segment in the making."""

    def __init__(self) -> None:
        self._names = {"": 0}
        self._blobs: list[tuple[int, ...]] = []
        self._oids: list[bytes] = []
        self.blocks: list[tuple[int, int]] = []

    def add(self, facts: BlobFacts, blocks: int) -> None:
        self._oids.append(bytes.fromhex(facts.oid))
        self._blobs.append(
            (
                facts.ordinal,
                blocks,
                SKIPS.index(facts.skip),
                facts.crlf,
                facts.lossy,
                facts.generated,
                self._names.setdefault(facts.sign, len(self._names)),
                self._names.setdefault(facts.language, len(self._names)),
            )
        )

    def write(self, writer: Writer) -> Iterator[bytes | memoryview]:
        yield from writer.section("blobs", iter([np.array(self._blobs, BLOB).tobytes()]))
        yield from writer.section("blocks", iter([np.array(self.blocks, BLOCK).tobytes()]))
        yield from writer.section("oids", iter(self._oids))
        writer.facts["languages"] = list(self._names)


class Draft:
    """A segment of blobs that no other segment holds."""

    def __init__(self, dictionary: Dictionary, next_ordinal: int) -> None:
        facts = {"dictionary": dictionary.digest, "next": next_ordinal}
        self._writer = Writer(KIND, FORMAT, facts)
        self._compressor = dictionary.compressor()
        self._table = _Table()
        self._gathering = Gathering()

    @property
    def full(self) -> bool:
        """Whether it takes no further blob."""
        return len(self._table.blocks) >= _FULL_BLOCKS or self._gathering.postings >= _FULL_POSTINGS

    def write(self, blobs: Iterable[tuple[BlobFacts, bytes]]) -> Iterator[bytes | memoryview]:
        """The file's bytes; takes blobs until they end, so the giver asks :attr:`full`."""
        yield from self._writer.section("content", self._content(blobs))
        yield from self._table.write(self._writer)
        yield from _write_lists(self._writer, self._gathering.lists(), len(self._table.blocks))
        yield from self._writer.end()

    def _content(self, blobs: Iterable[tuple[BlobFacts, bytes]]) -> Iterator[bytes]:
        compress = self._compressor.compress
        for facts, text in blobs:
            before = len(self._table.blocks)
            for block in blocks_of(text):
                self._gathering.add(keys_of_text(block))
                frame = compress(block)
                self._table.blocks.append((len(frame), block.count(b"\n")))
                yield frame
            self._table.add(facts, len(self._table.blocks) - before)


class Merge:
    """A segment of blobs of others: of each, those that its mask keeps.

    Ordinals stay, so manifests do. The others' files must have been verified.
    """

    def __init__(
        self,
        parts: Sequence[tuple[Segment, npt.NDArray[np.bool_]]],
        dictionary: Dictionary,
        next_ordinal: int,
    ) -> None:
        facts = {"dictionary": dictionary.digest, "next": next_ordinal}
        self._writer = Writer(KIND, FORMAT, facts)
        self._segments = [segment for segment, _ in parts]
        self._kept = [kept for _, kept in parts]
        self._dictionary = dictionary
        self._table = _Table()

    def write(self) -> Iterator[bytes | memoryview]:
        """The file's bytes."""
        yield from self._writer.section("content", self._content())
        yield from self._table.write(self._writer)
        yield from _write_lists(self._writer, self._lists(), len(self._table.blocks))
        yield from self._writer.end()

    def _content(self) -> Iterator[bytes | memoryview]:
        codec, compress = Codec(), self._dictionary.compressor().compress
        for segment, kept in zip(self._segments, self._kept, strict=True):
            same = segment.dictionary == self._dictionary.digest
            for blob in np.flatnonzero(kept).tolist():
                first, count = int(segment.first_block[blob]), int(segment.block_count[blob])
                for block in range(first, first + count):
                    frame: bytes | memoryview = segment.frame(block)
                    if not same:
                        frame = compress(segment.text(block, codec))
                    self._table.blocks.append((len(frame), segment.lines(block)))
                    yield frame
                self._table.add(segment.facts(blob), count)

    def _lists(self) -> Iterator[Lists]:
        numbers, start = [], 0
        for segment, kept in zip(self._segments, self._kept, strict=True):
            in_blocks = np.repeat(kept, segment.block_count)
            new = np.where(in_blocks, np.cumsum(in_blocks) - 1 + start, -1)
            start += int(np.count_nonzero(in_blocks))
            numbers.append(new)
        edges = max((segment.index for segment in self._segments), key=_weight).edges()
        for low, high in pairwise(edges):
            parts = [
                moved(segment.index.lists(low, high), new)
                for segment, new in zip(self._segments, numbers, strict=True)
            ]
            yield joined(parts)


def _weight(index: Index) -> int:
    return int(index.counts.sum())


def _write_lists(
    writer: Writer, lists: Iterable[Lists], blocks: int
) -> Iterator[bytes | memoryview]:
    packer = Packer(blocks)
    yield from writer.section("sparse", packer.sparse(lists))
    yield from writer.section("dense", packer.dense())
    yield from writer.section("terms", packer.terms())
