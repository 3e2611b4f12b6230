"""Many small items as few compressed blocks: one is read without the blocks of the others."""

from collections import OrderedDict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Any

import numpy as np
import numpy.typing as npt
import zstandard

from ...container import Container, Damaged, Writer

BLOCK_BYTES = 512 * 1024
"""Smaller blocks compress worse, larger ones cost more to read one item of."""

_LEVEL = 9
_KEPT_BLOCKS = 48
_SMALL = BLOCK_BYTES // 4
_BLOCK = np.dtype([("size", "<u4"), ("raw", "<u4"), ("items", "<u4")])

Frame = bytes | memoryview


class Pack:
    """Items by their number. Raises :class:`...container.Damaged` for a block that is not whole.

    Keeps the blocks that were read last. Not for use by several threads at once.
    """

    def __init__(
        self, frames: Sequence[Frame], raws: Sequence[int], counts: Sequence[int], sizes: list[int]
    ) -> None:
        if sum(counts) != len(sizes) or not len(frames) == len(raws) == len(counts):
            raise Damaged("items and blocks contradict each other")
        self._frames = frames
        self._raws = raws
        self._first = list(accumulate(counts, initial=0))
        self._sizes = sizes
        self._block = [at for at, count in enumerate(counts) for _ in range(count)]
        self._starts = _starts(self._first, sizes)
        self._expand = zstandard.ZstdDecompressor().decompress
        self._kept: OrderedDict[int, bytes] = OrderedDict()

    def __len__(self) -> int:
        return len(self._sizes)

    def item(self, at: int) -> bytes:
        """One item."""
        start = self._starts[at]
        return self._read(self._block[at])[start : start + self._sizes[at]]

    def copy(self, kept: npt.NDArray[np.bool_], to: "PackWriter") -> None:
        """Add the items that ``kept`` marks to another pack, whole blocks as they are."""
        for block, frame in enumerate(self._frames):
            first, last = self._first[block], self._first[block + 1]
            if kept[first:last].all() and self._raws[block] > _SMALL:
                to.add_block(bytes(frame), self._raws[block], self._sizes[first:last])
                continue
            for at in range(first, last):
                if kept[at]:
                    to.add(self.item(at))

    def _read(self, block: int) -> bytes:
        kept = self._kept.get(block)
        if kept is not None:
            self._kept.move_to_end(block)
            return kept
        try:
            raw = self._expand(self._frames[block])
        except (zstandard.ZstdError, MemoryError) as error:
            # A damaged size asks for any amount of memory.
            raise Damaged(f"a block is not what was written: {error}") from None
        if len(raw) != self._raws[block]:
            raise Damaged("a block is not what was written")
        self._kept[block] = raw
        if len(self._kept) > _KEPT_BLOCKS:
            self._kept.popitem(last=False)
        return raw


def _starts(first: list[int], sizes: list[int]) -> list[int]:
    starts: list[int] = []
    for at in range(len(first) - 1):
        starts.extend(accumulate(sizes[first[at] : first[at + 1] - 1], initial=0))
    return starts


@dataclass(slots=True)
class PackWriter:
    """A pack in the making."""

    _frames: list[bytes] = field(default_factory=list)
    _raws: list[int] = field(default_factory=list)
    _counts: list[int] = field(default_factory=list)
    _sizes: list[int] = field(default_factory=list)
    _open: list[bytes] = field(default_factory=list)
    _open_bytes: int = 0
    _compressor: zstandard.ZstdCompressor = field(
        default_factory=lambda: zstandard.ZstdCompressor(level=_LEVEL, write_checksum=True)
    )

    def add(self, item: bytes) -> None:
        """Add an item behind the others."""
        self._open.append(item)
        self._open_bytes += len(item)
        self._sizes.append(len(item))
        if self._open_bytes >= BLOCK_BYTES:
            self.close()

    def add_block(self, frame: bytes, raw: int, sizes: list[int]) -> None:
        """Add a block as it was written; ``raw`` is its size before."""
        self.close()
        self._frames.append(frame)
        self._raws.append(raw)
        self._counts.append(len(sizes))
        self._sizes.extend(sizes)

    def close(self) -> None:
        """End the block that is being filled."""
        if not self._open:
            return
        raw = b"".join(self._open)
        self._frames.append(self._compressor.compress(raw))
        self._raws.append(len(raw))
        self._counts.append(len(self._open))
        self._open, self._open_bytes = [], 0

    def pack(self) -> Pack:
        """What was added so far, to be read."""
        self.close()
        return Pack(list(self._frames), list(self._raws), list(self._counts), list(self._sizes))

    def write(self, writer: Writer, name: str) -> Iterator[Frame]:
        """Three sections of a file, called after ``name``."""
        self.close()
        rows = zip(map(len, self._frames), self._raws, self._counts, strict=True)
        yield from writer.section(name, iter(self._frames))
        table = np.array(list(rows), _BLOCK).tobytes()
        yield from writer.section(f"{name}.blocks", iter([table]))
        yield from column(writer, f"{name}.sizes", np.array(self._sizes, "<u4"))


def read_pack(held: Container, name: str) -> Pack:
    """The pack that :meth:`PackWriter.write` wrote."""
    content = held.unchecked(name)
    table = np.frombuffer(held.section(f"{name}.blocks"), _BLOCK)
    ends = list(accumulate(table["size"].tolist(), initial=0))
    if ends[-1] != len(content):
        raise Damaged("the content is cut")
    frames = [content[ends[at] : ends[at + 1]] for at in range(len(table))]
    sizes = read_column(held, f"{name}.sizes", np.dtype("<u4")).tolist()
    return Pack(frames, table["raw"].tolist(), table["items"].tolist(), sizes)


def column(writer: Writer, name: str, values: npt.NDArray[Any]) -> Iterator[Frame]:
    """A section of numbers or rows, compressed column by column."""
    raw = np.ascontiguousarray(values)
    names = raw.dtype.names
    parts = [np.ascontiguousarray(raw[each]).tobytes() for each in names or ()]
    data = b"".join(parts) if names else raw.tobytes()
    yield from writer.section(name, iter([_squeeze(data)]))


def read_column(held: Container, name: str, kind: "np.dtype[Any]") -> npt.NDArray[Any]:
    """What :func:`column` wrote."""
    data = expand(held.section(name))
    count, rest = divmod(len(data), kind.itemsize)
    if rest:
        raise Damaged(f"{name} is cut")
    if kind.names is None:
        return np.frombuffer(data, kind)
    rows = np.empty(count, kind)
    start = 0
    for each in kind.names:
        rows[each] = np.frombuffer(data, kind[each], count, start)
        start += count * kind[each].itemsize
    return rows


def summed(steps: npt.NDArray[Any], counts: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    """Numbers from their steps, of several lists one behind the other, each with its count."""
    found = np.cumsum(steps, dtype=np.int64)
    some = counts > 0
    starts = (np.cumsum(counts, dtype=np.int64) - counts)[some]
    found -= np.repeat(found[starts] - steps[starts], counts[some])
    return found


def texts(writer: Writer, name: str, values: Sequence[bytes]) -> Iterator[Frame]:
    """A section of texts without NUL, compressed."""
    yield from writer.section(name, iter([_squeeze(b"\0".join(values))]))


def read_texts(held: Container, name: str, count: int) -> list[bytes]:
    """What :func:`texts` wrote: ``count`` texts."""
    data = expand(held.section(name))
    values = data.split(b"\0") if count else []
    if len(values) != count:
        raise Damaged(f"{name} is cut")
    return values


def expand(data: bytes) -> bytes:
    """A section as it was before; its checksum was compared already."""
    try:
        return zstandard.ZstdDecompressor().decompress(data)
    except zstandard.ZstdError as error:
        raise Damaged(f"a section is not what was written: {error}") from None


def _squeeze(data: bytes) -> bytes:
    return zstandard.ZstdCompressor(level=_LEVEL).compress(data)
