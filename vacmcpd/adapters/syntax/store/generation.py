"""One generation of a repository's graphs: its segments as one, and its manifests by tree."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ....ports.artifacts import StoredFile
from ...container import Damaged
from ..linking.records import Linked
from .items import SITES, linked_of
from .manifests import ROLE as MANIFEST
from .manifests import Manifest
from .segments import NONE, Next, Row, Segment, skip_of, text_of

SEGMENT = "segment."

_Places = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Files:
    """The files of a generation by what they are; segments oldest first."""

    segments: tuple[StoredFile, ...]
    manifests: Mapping[str, StoredFile]
    """By tree id."""


def sorted_out(files: Iterable[StoredFile]) -> Files:
    """The files by role."""
    segments, manifests = [], {}
    for file in files:
        if file.role.startswith(SEGMENT):
            segments.append(file)
        elif file.role.startswith(MANIFEST):
            manifests[file.role.removeprefix(MANIFEST)] = file
    segments.sort(key=lambda file: int(file.role.removeprefix(SEGMENT)))
    return Files(tuple(segments), manifests)


class Table:
    """Where each ordinal of one kind stands: the segment, and the number in it; -1 for nowhere."""

    def __init__(self, ordinals: Sequence[npt.NDArray[Any]], count: int) -> None:
        self.segment: npt.NDArray[np.int32] = np.full(count, -1, np.int32)
        self.at: _Places = np.zeros(count, np.int64)
        for number, each in enumerate(ordinals):
            if each.size and int(each.max()) >= count:
                raise Damaged("a segment holds an ordinal that was never given")
            self.segment[each] = number
            self.at[each] = np.arange(each.size)

    def place(self, ordinal: int) -> tuple[int, int]:
        """The segment and the number in it; Damaged for nowhere."""
        segment = int(self.segment[ordinal]) if ordinal < len(self.segment) else -1
        if segment < 0:
            raise Damaged("something that a file of the tree needs is in no segment")
        return segment, int(self.at[ordinal])

    def has(self, ordinals: npt.NDArray[Any]) -> bool:
        """Whether all of these are somewhere, :data:`.segments.NONE` aside."""
        named = ordinals[ordinals != NONE]
        if not named.size:
            return True
        return int(named.max()) < len(self.segment) and bool((self.segment[named] >= 0).all())


class Generation:
    """The segments of a store as one. Not for use by several threads at once."""

    def __init__(self, segments: Sequence[Segment]) -> None:
        self.segments = tuple(segments)
        given = [segment.next for segment in segments]
        self.next = Next(
            max((each.blob for each in given), default=0),
            max((each.record for each in given), default=0),
            max((each.row for each in given), default=0),
        )
        self.blobs = Table([each.blobs["ordinal"] for each in segments], self.next.blob)
        self.records = Table([each.records["ordinal"] for each in segments], self.next.record)
        self.rows = Table([each.rows["ordinal"] for each in segments], self.next.row)

    def whole(self, manifest: Manifest) -> bool:
        """Whether all that a version needs is there."""
        if not self.rows.has(manifest.rows):
            return False
        return self.blobs.has(self.column(manifest, "blob")) and self.records.has(
            self.column(manifest, "record")
        )

    def column(self, manifest: Manifest, name: str) -> npt.NDArray[np.int64]:
        """A column of the rows of a version: ``blob``, ``record`` or ``skip``."""
        return self._gathered(self.rows, manifest.rows, [each.rows[name] for each in self.segments])

    def texts(self, manifest: Manifest, which: str) -> list[bytes]:
        """``paths`` or ``modules`` of the rows of a version."""
        columns = [getattr(segment, which) for segment in self.segments]
        segments = self.rows.segment[manifest.rows].tolist()
        places = self.rows.at[manifest.rows].tolist()
        return [columns[number][at] for number, at in zip(segments, places, strict=True)]

    def languages(self, manifest: Manifest) -> list[str]:
        """The languages of the rows of a version; "" for none."""
        columns = [
            [segment.languages[number] for number in segment.rows["language"].tolist()]
            for segment in self.segments
        ]
        segments = self.rows.segment[manifest.rows].tolist()
        places = self.rows.at[manifest.rows].tolist()
        return [columns[number][at] for number, at in zip(segments, places, strict=True)]

    def oids(self, manifest: Manifest) -> list[str]:
        """The blob ids of the rows of a version."""
        segments = self.rows.segment[manifest.rows].tolist()
        places = self.rows.at[manifest.rows].tolist()
        found = []
        blobs = self.column(manifest, "blob").tolist()
        for blob, number, at in zip(blobs, segments, places, strict=True):
            if blob == NONE:
                found.append(self.segments[number].row_oids[at])
            else:
                where, which = self.blobs.place(blob)
                found.append(self.segments[where].oids[which])
        return found

    def marked(self, now: Mapping[bytes, str]) -> npt.NDArray[np.bool_]:
        """By ordinal, which rows have at their path what ``now`` has there."""
        found = np.zeros(self.next.row, bool)
        for segment in self.segments:
            rows = zip(segment.paths, segment.row_oids, segment.rows["blob"].tolist(), strict=True)
            same = [now.get(path) == self._oid(oid, blob) for path, oid, blob in rows]
            found[segment.rows["ordinal"]] = same
        return found

    def row_list(self, manifest: Manifest) -> list[Row]:
        """The rows of a version."""
        made = [self._rows_in(segment) for segment in self.segments]
        segments = self.rows.segment[manifest.rows].tolist()
        places = self.rows.at[manifest.rows].tolist()
        return [made[number][at] for number, at in zip(segments, places, strict=True)]

    def all_rows(self) -> dict[Row, int]:
        """Every row's ordinal."""
        return {
            row: ordinal
            for segment in self.segments
            for row, ordinal in zip(
                self._rows_in(segment), segment.rows["ordinal"].tolist(), strict=True
            )
        }

    def digests(self) -> dict[bytes, int]:
        """The ordinals of all records by their digests."""
        return {
            digest: ordinal
            for segment in self.segments
            for digest, ordinal in zip(
                segment.digests, segment.records["ordinal"].tolist(), strict=True
            )
        }

    def _rows_in(self, segment: Segment) -> list[Row]:
        columns = [segment.rows[name].tolist() for name in ("language", "skip", "blob", "record")]
        return [
            Row(
                path,
                self._oid(oid, blob),
                segment.languages[language],
                skip_of(skip),
                blob,
                record,
                text_of(module),
            )
            for path, oid, module, language, skip, blob, record in zip(
                segment.paths, segment.row_oids, segment.modules, *columns, strict=True
            )
        ]

    def _oid(self, own: str, blob: int) -> str:
        if blob == NONE:
            return own
        number, at = int(self.blobs.segment[blob]), int(self.blobs.at[blob])
        # A row of a version that is gone may have lost its blob.
        return self.segments[number].oids[at] if number >= 0 else own

    def blob_column(self, blobs: npt.NDArray[np.int64], name: str) -> npt.NDArray[np.int64]:
        """A column of blobs by their ordinals: ``size``, ``errors`` or ``skip``."""
        return self._gathered(self.blobs, blobs, [each.blobs[name] for each in self.segments])

    def sites(self, records: npt.NDArray[np.int64]) -> dict[str, int]:
        """The call sites of records by kind, as :data:`.items.SITES`."""
        return {
            name: int(
                self._gathered(
                    self.records, records, [each.records[name] for each in self.segments]
                ).sum()
            )
            for name in SITES
        }

    def facts(self, blob: int) -> bytes:
        """The facts of a blob, as bytes."""
        number, at = self.blobs.place(blob)
        return self.segments[number].facts.item(at)

    def symbols(self, blob: int) -> bytes:
        """The symbols of a blob, as bytes."""
        number, at = self.blobs.place(blob)
        return self.segments[number].symbols.item(at)

    def edges(self, record: int) -> bytes:
        """The edges of a record, as bytes."""
        number, at = self.records.place(record)
        return self.segments[number].edges.item(at)

    def linked(self, record: int) -> Linked:
        """A record."""
        number, at = self.records.place(record)
        segment = self.segments[number]
        return linked_of(segment.states.item(at), segment.edges.item(at), segment.reads.of(at))

    @staticmethod
    def _gathered(
        table: Table, ordinals: npt.NDArray[Any], columns: Sequence[npt.NDArray[Any]]
    ) -> npt.NDArray[np.int64]:
        found = np.empty(len(ordinals), np.int64)
        segments, places = table.segment[ordinals], table.at[ordinals]
        for number, column in enumerate(columns):
            mine = segments == number
            if mine.any():
                found[mine] = column[places[mine]]
        return found
