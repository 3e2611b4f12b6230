"""One generation of a repository's store: its segments as one, and its manifests by tree."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ...errors import VacmcpError
from ...ports.artifacts import ArtifactStore, StoredFile
from ..container import Damaged
from .manifests import NO_BLOB, Manifest
from .manifests import ROLE as MANIFEST
from .segments import Segment

SEGMENT = "segment."
DICTIONARY = "dictionary."


@dataclass(frozen=True, slots=True)
class Files:
    """The files of a generation by what they are."""

    segments: tuple[StoredFile, ...]
    dictionaries: Mapping[str, StoredFile]
    manifests: Mapping[str, StoredFile]
    """By tree id."""


def sorted_out(files: Iterable[StoredFile]) -> Files:
    """The files by role; segments oldest first, as they are numbered."""
    segments, dictionaries, manifests = [], {}, {}
    for file in files:
        if file.role.startswith(SEGMENT):
            segments.append(file)
        elif file.role.startswith(DICTIONARY):
            dictionaries[file.digest] = file
        elif file.role.startswith(MANIFEST):
            manifests[file.role.removeprefix(MANIFEST)] = file
    segments.sort(key=lambda file: int(file.role.removeprefix(SEGMENT)))
    return Files(tuple(segments), dictionaries, manifests)


class Opener:
    """Opens segments of one repository; dictionaries are read when a block is."""

    def __init__(self, artifacts: ArtifactStore, repository: str, files: Files) -> None:
        self._artifacts = artifacts
        self._repository = repository
        self._dictionaries = files.dictionaries

    def segment(self, file: StoredFile) -> Segment:
        """ARTIFACT_MISSING when it is gone, :class:`..container.Damaged` when it is not whole."""
        data = self._artifacts.open(self._repository, file)
        return Segment(data, self.dictionary, file.digest)

    def dictionary(self, digest: str) -> bytes:
        """A dictionary's bytes."""
        file = self._dictionaries.get(digest)
        if file is None:
            raise Damaged("the dictionary of a segment is not in its generation")
        self._artifacts.verify(self._repository, file)
        return bytes(self._artifacts.open(self._repository, file))


class Located:
    """Where the blob of each ordinal is: ``segment`` (-1 for nowhere) and ``blob`` by ordinal."""

    def __init__(self, segments: Sequence[Segment]) -> None:
        self.segments = tuple(segments)
        self.next_ordinal = max((segment.next_ordinal for segment in segments), default=0)
        self.segment: npt.NDArray[np.int32] = np.full(self.next_ordinal, -1, np.int32)
        self.blob: npt.NDArray[np.uint32] = np.zeros(self.next_ordinal, np.uint32)
        for at, segment in enumerate(segments):
            if len(segment) and int(segment.ordinals.max()) >= self.next_ordinal:
                raise Damaged("a segment holds an ordinal that was never given")
            self._place(at, segment, segment.too_large)
        # A blob that a higher limit let in stands in two segments, whichever is the first.
        for at, segment in enumerate(segments):
            self._place(at, segment, ~segment.too_large)

    def _place(self, at: int, segment: Segment, which: npt.NDArray[np.bool_]) -> None:
        blobs = np.flatnonzero(which)
        self.segment[segment.ordinals[blobs]] = at
        self.blob[segment.ordinals[blobs]] = blobs

    def missing(self, ordinals: npt.NDArray[np.uint32]) -> bool:
        """Whether a blob that a manifest names is in no segment."""
        named = ordinals[ordinals != NO_BLOB]
        if not named.size:
            return False
        return int(named.max()) >= self.next_ordinal or bool((self.segment[named] < 0).any())

    def oids(self, ordinals: npt.NDArray[np.uint32]) -> bytes:
        """The ids of these blobs, one after the other; none of them may be missing."""
        named = ordinals[ordinals != NO_BLOB]
        where, blobs = self.segment[named], self.blob[named]
        found = np.empty((named.size, self._width()), np.uint8)
        for at, segment in enumerate(self.segments):
            mine = where == at
            if mine.any():
                found[mine] = segment.oid_bytes[blobs[mine]]
        return found.tobytes()

    def skipped(self, manifest: Manifest) -> dict[str, int]:
        """How many rows of a tree have no text that is searched, by reason."""
        found = Counter(str(manifest.kind(row)) for row in np.flatnonzero(manifest.kinds).tolist())
        named = manifest.ordinals[manifest.kinds == 0]
        for at, segment in enumerate(self.segments):
            blobs = self.blob[named[self.segment[named] == at]]
            without = blobs[segment.skips[blobs] != 0].tolist()
            found.update(str(segment.skip(blob)) for blob in without)
        return dict(sorted(found.items()))

    def _width(self) -> int:
        return max((segment.oid_bytes.shape[1] for segment in self.segments), default=0)


def reason(error: Damaged | VacmcpError) -> str:
    """What to say of a file that can't be used."""
    return error.message if isinstance(error, VacmcpError) else str(error)
