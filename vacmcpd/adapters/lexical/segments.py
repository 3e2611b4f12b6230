"""Segments: blobs as compressed blocks of whole lines, and which of them hold which key.

A blob's text (:class:`.documents.Document`) is cut into blocks of about 16 KB that end at line
ends, so that the cost of looking into one is bounded whatever the file's size; a longer line makes
a longer block. A blob that is not text has no block, but stands here too, with the reason.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import zstandard

from ..container import Container, Damaged
from .documents import Skip
from .postings import Index

KIND, FORMAT = "segment", 1
# Of a zstd frame: the byte that describes it, and the bit there that says it has a checksum.
_DESCRIPTOR, _CHECKED = 4, 0b100
SKIPS: tuple[Skip | None, ...] = (None, Skip.BINARY, Skip.TOO_LARGE, Skip.LFS_POINTER)

BLOB = np.dtype(
    [
        ("ordinal", "<u4"),
        ("blocks", "<u4"),
        ("skip", "u1"),
        ("crlf", "u1"),
        ("lossy", "u1"),
        ("generated", "u1"),
        ("sign", "<u2"),
        ("language", "<u2"),
    ]
)
BLOCK = np.dtype([("size", "<u4"), ("lines", "<u4")])


@dataclass(frozen=True, slots=True)
class BlobFacts:
    """What a segment knows of a blob beside its text.

    ``sign`` names what of the file's name made its content decide the language (an extension, or
    ``#!``), ``language`` what it decided. ``lossy``: the text is not the blob's own bytes.
    """

    oid: str
    ordinal: int
    skip: Skip | None
    crlf: bool = False
    lossy: bool = False
    generated: bool = False
    sign: str = ""
    language: str = ""


class Segment:
    """A segment that was opened. Raises :class:`..container.Damaged` when it is not whole.

    Arrays are by blob or by block: ``ordinals``, ``first_block``, ``block_count``, ``skips`` (an
    index of reasons, 0 for text), ``crlf``, ``lossy``, ``generated`` by blob; ``block_blob`` and
    ``block_line`` (lines before it in its blob) by block. ``oid_bytes`` has a row for each blob.
    """

    def __init__(
        self, data: memoryview, dictionary: Callable[[str], bytes], name: str = ""
    ) -> None:
        held = Container(data, KIND, FORMAT)
        self.name = name
        self.dictionary = str(held.facts["dictionary"])
        self.next_ordinal = int(held.facts["next"])
        self.languages: list[str] = list(held.facts["languages"])
        self._blobs = np.frombuffer(held.section("blobs"), BLOB)
        self._blocks = np.frombuffer(held.section("blocks"), BLOCK)
        self.oid_bytes = _rows_of(held.section("oids"), len(self._blobs))
        self._content = held.unchecked("content")
        terms, lists = held.section("terms"), (held.unchecked("sparse"), held.unchecked("dense"))
        self.index = Index(terms, *lists, len(self._blocks))
        self._open_dictionary = dictionary
        self._place()

    def _place(self) -> None:
        self.ordinals = self._blobs["ordinal"]
        self.block_count = self._blobs["blocks"].astype(np.int64)
        self.first_block = np.cumsum(self.block_count) - self.block_count
        self.skips, self.crlf = self._blobs["skip"], self._blobs["crlf"]
        self.lossy, self.generated = self._blobs["lossy"], self._blobs["generated"]
        self._ends = np.cumsum(self._blocks["size"], dtype=np.int64)
        if int(self.block_count.sum()) != len(self._blocks):
            raise Damaged("blobs and blocks contradict each other")
        if len(self._ends) and int(self._ends[-1]) != len(self._content):
            raise Damaged("the content is cut")
        self.block_blob = np.repeat(np.arange(len(self._blobs)), self.block_count)
        lines = np.cumsum(self._blocks["lines"], dtype=np.int64) - self._blocks["lines"]
        first = self.first_block[self.block_blob]
        self.block_line = lines - lines[first] if len(lines) else lines

    def __len__(self) -> int:
        """How many blobs it holds."""
        return len(self._blobs)

    @property
    def blocks(self) -> int:
        return len(self._blocks)

    def oid(self, blob: int) -> str:
        return bytes(self.oid_bytes[blob]).hex()

    def oids(self) -> list[str]:
        """Every blob's id, in order."""
        width, whole = 2 * self.oid_bytes.shape[1], self.oid_bytes.tobytes().hex()
        return [whole[at : at + width] for at in range(0, len(whole), width or 1)]

    def facts(self, blob: int) -> BlobFacts:
        row = self._blobs[blob]
        return BlobFacts(
            self.oid(blob),
            int(row["ordinal"]),
            SKIPS[row["skip"]],
            bool(row["crlf"]),
            bool(row["lossy"]),
            bool(row["generated"]),
            self.languages[row["sign"]],
            self.languages[row["language"]],
        )

    @property
    def too_large(self) -> npt.NDArray[np.bool_]:
        """Which blobs were larger than the limit when they were read."""
        found: npt.NDArray[np.bool_] = self.skips == SKIPS.index(Skip.TOO_LARGE)
        return found

    def skip(self, blob: int) -> Skip | None:
        return SKIPS[int(self.skips[blob])]

    def text(self, block: int, codec: "Codec") -> bytes:
        """A block's text."""
        return codec.decompress(self, self.frame(block))

    def frame(self, block: int) -> memoryview:
        """A block as it is stored."""
        end = int(self._ends[block])
        return self._content[end - int(self._blocks["size"][block]) : end]

    def lines(self, block: int) -> int:
        """Line feeds in a block."""
        return int(self._blocks["lines"][block])

    def dictionary_bytes(self) -> bytes:
        """What its blocks were compressed with; empty for none."""
        return self._open_dictionary(self.dictionary) if self.dictionary else b""


def _rows_of(oids: bytes, blobs: int) -> npt.NDArray[np.uint8]:
    width, rest = divmod(len(oids), max(1, blobs))
    if rest:
        raise Damaged("blobs and their ids contradict each other")
    return np.frombuffer(oids, np.uint8).reshape(blobs, width)


class Codec:
    """Decompresses the blocks of many segments. Not for use by several threads at once."""

    def __init__(self) -> None:
        self._by_dictionary: dict[str, zstandard.ZstdDecompressor] = {}

    def decompress(self, segment: Segment, frame: memoryview) -> bytes:
        """A block's text; :class:`..container.Damaged` when its checksum does not hold."""
        codec = self._by_dictionary.get(segment.dictionary)
        if codec is None:
            raw = segment.dictionary_bytes()
            codec = zstandard.ZstdDecompressor(
                dict_data=zstandard.ZstdCompressionDict(raw) if raw else None
            )
            self._by_dictionary[segment.dictionary] = codec
        try:
            text = codec.decompress(frame)
        except (zstandard.ZstdError, MemoryError) as error:
            # A damaged size asks for any amount of memory.
            raise Damaged(f"a block is not what was written: {error}") from None
        # A frame that says it is empty is given back so, whatever it holds; none is written.
        if not text or not frame[_DESCRIPTOR] & _CHECKED:
            raise Damaged("a block is not what was written: its head is damaged")
        return text
