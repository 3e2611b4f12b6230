"""What a builder finds in a store: what is whole is used again, what is not is made anew."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ...errors import VacmcpError
from ...ports.artifacts import ArtifactStore, StoredFile
from ...ports.builders import StoreState
from . import manifests
from .container import Damaged
from .documents import Skip
from .generations import Files, Opener, sorted_out
from .manifests import NO_BLOB, Manifest
from .segment_writer import Dictionary
from .segments import Segment


@dataclass(frozen=True, slots=True)
class Lost:
    """A blob of a damaged segment that a context needs; it keeps its ordinal."""

    oid: str
    ordinal: int
    path: bytes


class Held:
    """A generation as a builder sees it: every file of it was read and compared with its digest.

    ``segments`` (file and segment), ``manifests`` and ``manifest_files`` by tree are what is whole
    and in use, ``known`` the ordinal of every blob in them, ``lost`` what has to be read again.
    """

    def __init__(self, artifacts: ArtifactStore, repository: str, store: StoreState) -> None:
        self._artifacts = artifacts
        self._repository = repository
        self.files: Files = sorted_out(store.files)
        self.dictionaries = [
            file for file in self.files.dictionaries.values() if self._is_whole(file)
        ]
        self.manifest_files: dict[str, StoredFile] = {}
        self.manifests: dict[str, Manifest] = {}
        self.segments: list[tuple[StoredFile, Segment]] = []
        self.damaged = 0
        self._read_manifests(store.live)
        tables = self._read_segments()
        self.known = {
            oid: int(ordinal)
            for _, segment in self.segments
            for oid, ordinal in zip(segment.oids(), segment.ordinals.tolist(), strict=True)
        }
        self.too_large = {
            oid for _, segment in self.segments for oid in _of_reason(segment, Skip.TOO_LARGE)
        }
        self.lost = list(self._lost(tables))
        self.next_ordinal = self._next_ordinal()

    @property
    def note(self) -> str:
        """What to say of damage; "" for none."""
        if not self.damaged:
            return ""
        return (
            f"{self.damaged} damaged files were replaced; `vacmcp context rebuild --all` "
            "mends contexts that still need them"
        )

    def opener(self) -> Opener:
        files = {file.digest: file for file in self.dictionaries}
        return Opener(self._artifacts, self._repository, Files((), files, {}))

    def newest_dictionary(self) -> Dictionary:
        """The one that new blocks are compressed with."""
        if not self.dictionaries:
            return Dictionary()
        file = self.dictionaries[-1]
        return Dictionary(file.digest, bytes(self._artifacts.open(self._repository, file)))

    def _is_whole(self, file: StoredFile) -> bool:
        try:
            self._artifacts.verify(self._repository, file)
        except VacmcpError:
            return False
        return True

    def _read_manifests(self, live: Iterable[str]) -> None:
        for tree in sorted(live):
            file = self.files.manifests.get(tree)
            if file is None or not self._is_whole(file):
                self.damaged += 1
                continue
            self.manifest_files[tree] = file
            self.manifests[tree] = manifests.read(self._artifacts.open(self._repository, file))

    def _read_segments(self) -> list[Segment]:
        """Fills ``segments``; the damaged ones whose tables still tell what they held."""
        opener, readable = self.opener(), []
        for file in self.files.segments:
            whole = self._is_whole(file)
            try:
                segment = opener.segment(file)
                usable = whole and (not segment.dictionary or bool(segment.dictionary_bytes()))
            except (Damaged, VacmcpError):
                self.damaged += 1
                continue
            if usable:
                self.segments.append((file, segment))
            else:
                self.damaged += 1
                readable.append(segment)
        return readable

    def _lost(self, tables: Iterable[Segment]) -> Iterable[Lost]:
        paths: dict[int, bytes] = {}
        for manifest in self.manifests.values() if self.damaged else ():
            paths.update(zip(manifest.ordinals.tolist(), manifest.paths, strict=True))
        for segment in tables:
            for oid, ordinal in zip(segment.oids(), segment.ordinals.tolist(), strict=True):
                if ordinal in paths and oid not in self.known:
                    self.known[oid] = ordinal
                    yield Lost(oid, ordinal, paths[ordinal])

    def _next_ordinal(self) -> int:
        given = [segment.next_ordinal for _, segment in self.segments]
        named = [_highest(manifest.ordinals) + 1 for manifest in self.manifests.values()]
        return max([*given, *named, *(lost.ordinal + 1 for lost in self.lost)], default=0)


def _highest(ordinals: npt.NDArray[np.uint32]) -> int:
    named = ordinals[ordinals != NO_BLOB]
    return int(named.max()) if named.size else -1


def _of_reason(segment: Segment, reason: Skip) -> list[str]:
    return [
        segment.oid(int(blob))
        for blob in np.flatnonzero(segment.skips != 0)
        if segment.skip(int(blob)) is reason
    ]
