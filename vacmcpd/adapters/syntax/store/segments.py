"""Segments: blobs with their facts, records of files, and rows of trees, written once.

A row is a path with what stands there in some version: a blob, its record, the qualified name of
the module. What versions have alike they have as the same row. Blobs, records and rows have
ordinals that stay theirs in whichever segment they come to stand.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from ...container import Container, Damaged, Writer
from ..skips import Skip
from .items import DIGEST_BYTES, SITES, Record
from .leaves import ReadsOf, ReadsWriter
from .packs import (
    Frame,
    PackWriter,
    column,
    read_column,
    read_pack,
    read_texts,
    texts,
)

KIND, FORMAT = "graph segment", 1
NONE = (1 << 32) - 1
"""The ordinal that stands for no blob or no record."""

SKIPS: tuple[Skip | None, ...] = (None, *Skip)

_BLOB = np.dtype(
    [("ordinal", "<u4"), ("size", "<u4"), ("errors", "<u4"), ("maker", "<u2"), ("skip", "u1")]
)
_RECORD = np.dtype([("ordinal", "<u4"), *((name, "<u4") for name in SITES)])
_ROW = np.dtype(
    [
        ("ordinal", "<u4"),
        ("blob", "<u4"),
        ("record", "<u4"),
        ("language", "<u2"),
        ("skip", "u1"),
    ]
)


@dataclass(frozen=True, slots=True)
class BlobFacts:
    """A blob that was read. ``maker`` names the language and all that its facts follow from.

    ``skip`` says why it has no facts.
    """

    oid: str
    maker: str
    skip: Skip | None
    size: int
    errors: int = 0
    namespace: str = ""


@dataclass(frozen=True, slots=True)
class Row:
    """A path as bytes, and what stands there. ``language`` is "" for a file that is no code."""

    path: bytes
    oid: str
    language: str = ""
    skip: Skip | None = None
    blob: int = NONE
    record: int = NONE
    module: str = ""


@dataclass(frozen=True, slots=True)
class Next:
    """The ordinals that come next."""

    blob: int = 0
    record: int = 0
    row: int = 0


class Segment:
    """A segment that was opened. Raises :class:`...container.Damaged` when it is not whole.

    ``blobs``, ``records`` and ``rows`` are arrays of what each is but for texts; ``oids`` are the
    blobs' ids, ``row_oids`` those of the rows without a blob, "" for the others.
    """

    def __init__(self, data: memoryview) -> None:
        held = Container(data, KIND, FORMAT)
        facts = held.facts
        self.next = Next(*(int(each) for each in facts["next"]))
        self.makers: list[str] = list(facts["makers"])
        self.languages: list[str] = list(facts["languages"])
        width = int(facts["width"])
        self.blobs = read_column(held, "blobs", _BLOB)
        self.oids: list[str] = _hex(held.section("oids"), width, len(self.blobs))
        self.namespaces = read_texts(held, "namespaces", len(self.blobs))
        self.records = read_column(held, "records", _RECORD)
        self.digests = _parts(held.section("digests"), DIGEST_BYTES, len(self.records))
        self.rows = read_column(held, "rows", _ROW)
        self.paths = read_texts(held, "paths", len(self.rows))
        self.modules = read_texts(held, "modules", len(self.rows))
        alone = np.flatnonzero(self.rows["blob"] == NONE).tolist()
        self.row_oids = [""] * len(self.rows)
        for at, oid in zip(alone, _hex(held.section("others"), width, len(alone)), strict=True):
            self.row_oids[at] = oid
        self.facts = read_pack(held, "facts")
        self.symbols = read_pack(held, "symbols")
        self.states = read_pack(held, "states")
        self.edges = read_pack(held, "edges")
        self.reads = ReadsOf(held, "reads")
        packs = (self.facts, self.symbols), (self.states, self.edges)
        for pair, count in zip(packs, (len(self.blobs), len(self.records)), strict=True):
            if any(len(pack) != count for pack in pair):
                raise Damaged("tables and items contradict each other")
        if len(self.reads) != len(self.records):
            raise Damaged("records and what they read contradict each other")


def _hex(data: bytes, width: int, count: int) -> list[str]:
    found: list[str] = _parts(data.hex(), 2 * width, count)
    return found


def _parts(data, width: int, count: int):  # type: ignore[no-untyped-def]
    if len(data) != width * count:
        raise Damaged("a table and its ids contradict each other")
    return [data[at : at + width] for at in range(0, len(data), width or 1)]


@dataclass(slots=True)
class Draft:
    """A segment in the making; what is added can be read at once.

    ``blobs`` and ``sites`` (of records) are what was added, in order.
    """

    next: Next
    facts: PackWriter = field(default_factory=PackWriter)
    symbols: PackWriter = field(default_factory=PackWriter)
    states: PackWriter = field(default_factory=PackWriter)
    edges: PackWriter = field(default_factory=PackWriter)
    reads: ReadsWriter = field(default_factory=ReadsWriter)
    blobs: list[BlobFacts] = field(default_factory=list)
    sites: list[tuple[int, ...]] = field(default_factory=list)
    _blobs: list[tuple[int, ...]] = field(default_factory=list)
    _records: list[tuple[int, ...]] = field(default_factory=list)
    _rows: list[tuple[int, ...]] = field(default_factory=list)
    _oids: list[bytes] = field(default_factory=list)
    _namespaces: list[bytes] = field(default_factory=list)
    _digests: list[bytes] = field(default_factory=list)
    _paths: list[bytes] = field(default_factory=list)
    _modules: list[bytes] = field(default_factory=list)
    _others: list[bytes] = field(default_factory=list)
    _makers: dict[str, int] = field(default_factory=dict)
    _languages: dict[str, int] = field(default_factory=dict)

    @property
    def empty(self) -> bool:
        return not (self._blobs or self._records or self._rows)

    def add_blob(self, blob: BlobFacts, ordinal: int | None = None) -> int:
        """Add a blob's row; its facts and symbols are added to the packs in the same order."""
        if ordinal is None:
            ordinal = self.next.blob
            self.next = Next(ordinal + 1, self.next.record, self.next.row)
        maker = self._makers.setdefault(blob.maker, len(self._makers))
        skip = SKIPS.index(blob.skip)
        self.blobs.append(blob)
        self._blobs.append((ordinal, min(blob.size, NONE), min(blob.errors, NONE), maker, skip))
        self._oids.append(bytes.fromhex(blob.oid))
        self._namespaces.append(_text(blob.namespace))
        return ordinal

    def add_record(self, record: Record) -> int:
        """Add a record."""
        ordinal = self.next.record
        self.next = Next(self.next.blob, ordinal + 1, self.next.row)
        self.place_record(ordinal, record.digest, record.sites)
        self.states.add(record.state)
        self.edges.add(record.edges)
        self.reads.add(record.reads)
        return ordinal

    def place_record(self, ordinal: int, digest: bytes, sites: Iterable[int]) -> None:
        """Add a record's row; its parts are added in the same order."""
        self.sites.append(tuple(sites))
        self._records.append((ordinal, *self.sites[-1]))
        self._digests.append(digest)

    def add_row(self, row: Row, ordinal: int | None = None) -> int:
        """Add a row."""
        if ordinal is None:
            ordinal = self.next.row
            self.next = Next(self.next.blob, self.next.record, ordinal + 1)
        language = self._languages.setdefault(row.language, len(self._languages))
        skip = SKIPS.index(row.skip)
        self._rows.append((ordinal, row.blob, row.record, language, skip))
        self._paths.append(row.path)
        self._modules.append(_text(row.module))
        if row.blob == NONE:
            self._others.append(bytes.fromhex(row.oid))
        return ordinal

    def write(self) -> Iterator[Frame]:
        """The file's bytes."""
        oids = (*self._oids, *self._others)
        facts: Mapping[str, object] = {
            "next": [self.next.blob, self.next.record, self.next.row],
            "makers": list(self._makers),
            "languages": list(self._languages),
            "width": len(oids[0]) if oids else 0,
        }
        writer = Writer(KIND, FORMAT, dict(facts))
        yield from column(writer, "blobs", np.array(self._blobs, _BLOB))
        yield from writer.section("oids", iter(self._oids))
        yield from texts(writer, "namespaces", self._namespaces)
        yield from column(writer, "records", np.array(self._records, _RECORD))
        yield from writer.section("digests", iter(self._digests))
        yield from column(writer, "rows", np.array(self._rows, _ROW))
        yield from texts(writer, "paths", self._paths)
        yield from texts(writer, "modules", self._modules)
        yield from writer.section("others", iter(self._others))
        yield from self.facts.write(writer, "facts")
        yield from self.symbols.write(writer, "symbols")
        yield from self.states.write(writer, "states")
        yield from self.edges.write(writer, "edges")
        yield from self.reads.write(writer, "reads")
        yield from writer.end()


def _text(value: str) -> bytes:
    # NUL ends a text; a module is called after paths, which have none, and names that may.
    return value.replace("\0", "").encode("utf-8", "surrogateescape")


def text_of(value: bytes) -> str:
    """A text of a segment."""
    return value.decode("utf-8", "surrogateescape")


def skip_of(number: int) -> Skip | None:
    """The reason that a table's number stands for."""
    if number >= len(SKIPS):
        raise Damaged("a reason that is none")
    return SKIPS[number]


def copied(
    segment: Segment,
    blobs: npt.NDArray[np.bool_],
    records: npt.NDArray[np.bool_],
    rows: npt.NDArray[np.bool_],
    draft: Draft,
) -> None:
    """Add what the masks keep of a segment to another."""
    for at in np.flatnonzero(blobs).tolist():
        draft.add_blob(*blob_of(segment, at))
    segment.facts.copy(blobs, draft.facts)
    segment.symbols.copy(blobs, draft.symbols)
    for at in np.flatnonzero(records).tolist():
        ordinal, *sites = segment.records[at].tolist()
        draft.place_record(ordinal, segment.digests[at], sites)
    segment.states.copy(records, draft.states)
    segment.edges.copy(records, draft.edges)
    for at in np.flatnonzero(records).tolist():
        draft.reads.add(segment.reads.of(at))
    for at in np.flatnonzero(rows).tolist():
        ordinal, blob, record, language, skip = segment.rows[at].tolist()
        row = Row(
            segment.paths[at],
            segment.row_oids[at],
            segment.languages[language],
            skip_of(skip),
            blob,
            record,
            text_of(segment.modules[at]),
        )
        draft.add_row(row, ordinal)


def blob_of(segment: Segment, at: int) -> tuple[BlobFacts, int]:
    """A blob of a segment, and its ordinal."""
    ordinal, size, errors, maker, skip = segment.blobs[at].tolist()
    namespace = text_of(segment.namespaces[at])
    blob = BlobFacts(
        segment.oids[at], segment.makers[maker], skip_of(skip), size, errors, namespace
    )
    return blob, ordinal
