"""What a builder finds in a store: what is whole is used again, the rest is as if it never was."""

from collections.abc import Iterable

from ....errors import VacmcpError
from ....ports.artifacts import ArtifactStore, StoredFile
from ....ports.builders import StoreState
from ...container import Damaged
from . import manifests
from .generation import Files, Generation, sorted_out
from .manifests import Manifest
from .segments import Segment


class Held:
    """A generation as a builder sees it: every file of it was read and compared with its digest.

    ``manifests`` by tree are those in use whose rows are all there; ``files`` are the segments of
    ``generation`` and those manifests. ``damaged`` counts the files that can't be used.
    """

    def __init__(self, artifacts: ArtifactStore, repository: str, store: StoreState) -> None:
        self._artifacts = artifacts
        self._repository = repository
        self.damaged = 0
        found = sorted_out(store.files)
        opened = list(self._segments(found.segments))
        self.segment_files = [file for file, _ in opened]
        self.generation = Generation([segment for _, segment in opened])
        self.manifests: dict[str, Manifest] = {}
        self.manifest_files: dict[str, StoredFile] = {}
        self._read_manifests(found, store.live)

    @property
    def note(self) -> str:
        """What to say of damage; "" for none."""
        if not self.damaged:
            return ""
        return (
            f"{self.damaged} damaged files of the call graph were dropped; "
            "`vacmcp context rebuild --all` mends contexts that still need them"
        )

    def _segments(self, files: Iterable[StoredFile]) -> Iterable[tuple[StoredFile, Segment]]:
        for file in files:
            try:
                self._artifacts.verify(self._repository, file)
                yield file, Segment(self._artifacts.open(self._repository, file))
            except (Damaged, VacmcpError):
                self.damaged += 1

    def _read_manifests(self, files: Files, live: Iterable[str]) -> None:
        for tree in sorted(live):
            file = files.manifests.get(tree)
            found = self._manifest(file) if file is not None else None
            if file is None or found is None or found.tree != tree:
                self.damaged += 1
            elif self.generation.whole(found):
                self.manifests[tree] = found
                self.manifest_files[tree] = file

    def _manifest(self, file: StoredFile) -> Manifest | None:
        try:
            self._artifacts.verify(self._repository, file)
            return manifests.read(self._artifacts.open(self._repository, file))
        except (Damaged, VacmcpError):
            return None
