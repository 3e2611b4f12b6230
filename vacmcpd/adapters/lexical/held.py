"""What a builder finds in a store: what is whole is used again, what is not is made anew."""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import compress

import numpy as np
import numpy.typing as npt

from ...errors import VacmcpError
from ...ports.artifacts import ArtifactStore, StoredFile
from ...ports.builders import StoreState
from ..container import Damaged
from . import manifests
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
        self.too_large = self._too_large()
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
            manifest = None if file is None else self._manifest(file)
            if file is None or manifest is None or manifest.tree != tree:
                self.damaged += 1
                continue
            self.manifest_files[tree] = file
            self.manifests[tree] = manifest

    def _manifest(self, file: StoredFile) -> Manifest | None:
        if not self._is_whole(file):
            return None
        try:
            return manifests.read(self._artifacts.open(self._repository, file))
        except Damaged:
            return None

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
            rows = zip(segment.oids(), segment.ordinals.tolist(), segment.too_large, strict=True)
            for oid, ordinal, large in rows:
                unread = oid not in self.known or (oid in self.too_large and not large)
                if ordinal in paths and unread:
                    self.known[oid] = ordinal
                    self.too_large.discard(oid)
                    yield Lost(oid, ordinal, paths[ordinal])

    def _too_large(self) -> set[str]:
        """The blobs that no segment has the text of, since the limit was lower."""
        found = {oid for _, segment in self.segments for oid in _chosen(segment, True)}
        if found:
            for _, segment in self.segments:
                found.difference_update(_chosen(segment, False))
        return found

    def _next_ordinal(self) -> int:
        given = [segment.next_ordinal for _, segment in self.segments]
        named = [_highest(manifest.ordinals) + 1 for manifest in self.manifests.values()]
        return max([*given, *named, *(lost.ordinal + 1 for lost in self.lost)], default=0)


def _highest(ordinals: npt.NDArray[np.uint32]) -> int:
    named = ordinals[ordinals != NO_BLOB]
    return int(named.max()) if named.size else -1


def _chosen(segment: Segment, large: bool) -> list[str]:
    """The blobs that were too large, or all others."""
    return list(compress(segment.oids(), segment.too_large == large))
