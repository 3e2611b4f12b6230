"""The files of a repository's store: immutable, named by their content, few and big."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class StoredFile:
    """One file of a store's generation.

    ``role`` is what it is to the engine that made it (``segment.0``, ``manifest.<tree>``),
    ``digest`` the SHA-256 of its content in hex, ``size`` its bytes. No path: where it stands is
    the store's business.
    """

    role: str
    digest: str
    size: int


class ArtifactStore(Protocol):
    """Keeps files by digest, per repository. Nothing is ever changed in place.

    A file that is gone, of another size or unreadable is ARTIFACT_MISSING; NO_SPACE when it can't
    be written.
    """

    def put(self, repository: str, role: str, parts: Iterable[bytes | memoryview]) -> StoredFile:
        """Write ``parts`` one after the other, durably and under their digest."""
        ...

    def open(self, repository: str, file: StoredFile) -> memoryview:
        """Its bytes, mapped read-only; they stay readable when the file is deleted meanwhile.

        The length is compared with ``file.size``, the content is not: engines check what they
        read, and :meth:`verify` all of it.
        """
        ...

    def verify(self, repository: str, file: StoredFile) -> None:
        """Raise ARTIFACT_MISSING unless the content has the digest."""
        ...

    def sweep(self, repository: str, keep: Collection[str]) -> int:
        """Delete every file whose digest is not in ``keep``, unfinished ones too; how many went.

        The caller holds the store's lock: what another builder writes would go too.
        """
        ...

    def remove(self, repository: str) -> None:
        """Delete all of a repository's files; idempotent."""
        ...
