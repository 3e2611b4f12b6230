"""An artifact store in memory, and ways to damage what it holds."""

import hashlib
import threading
from collections.abc import Collection, Iterable

from ..errors import BuildCode, LifecycleError
from ..ports.artifacts import StoredFile


class MemoryArtifacts:
    """Implements :class:`vacmcpd.ports.artifacts.ArtifactStore`; threads may share it.

    ``room`` bounds the bytes it holds: what does not fit is NO_SPACE. ``writes`` lists the role of
    every file put, ``opens`` of every file opened.
    """

    def __init__(self, room: int | None = None) -> None:
        self.room = room
        self.writes: list[str] = []
        self.opens: list[str] = []
        self._lock = threading.Lock()
        self._files: dict[str, dict[str, bytes]] = {}

    def put(self, repository: str, role: str, parts: Iterable[bytes | memoryview]) -> StoredFile:
        """See the port."""
        data = b"".join(bytes(part) for part in parts)
        digest = hashlib.sha256(data).hexdigest()
        with self._lock:
            if self.room is not None and self._held() + len(data) > self.room:
                raise LifecycleError(
                    BuildCode.NO_SPACE, f'no room is left in the store of "{repository}"'
                )
            self._files.setdefault(repository, {})[digest] = data
            self.writes.append(role)
        return StoredFile(role, digest, len(data))

    def open(self, repository: str, file: StoredFile) -> memoryview:
        """See the port."""
        self.opens.append(file.role)
        return memoryview(self._found(repository, file))

    def verify(self, repository: str, file: StoredFile) -> None:
        """See the port."""
        if hashlib.sha256(self._found(repository, file)).hexdigest() != file.digest:
            raise _missing(repository, file, "is damaged")

    def sweep(self, repository: str, keep: Collection[str]) -> int:
        """See the port."""
        with self._lock:
            files = self._files.get(repository, {})
            gone = files.keys() - set(keep)
            for digest in gone:
                del files[digest]
            return len(gone)

    def remove(self, repository: str) -> None:
        """See the port."""
        with self._lock:
            self._files.pop(repository, None)

    def digests(self, repository: str) -> frozenset[str]:
        """What is there, under the digests it was put by."""
        with self._lock:
            return frozenset(self._files.get(repository, ()))

    def flip_bit(self, repository: str, file: StoredFile, at: int = 0) -> None:
        """Change one bit of the byte at ``at``; negative counts from the end."""
        data = bytearray(self._files[repository][file.digest])
        data[at] ^= 0b100
        self._files[repository][file.digest] = bytes(data)

    def truncate(self, repository: str, file: StoredFile, size: int) -> None:
        """Cut it to ``size`` bytes."""
        self._files[repository][file.digest] = self._files[repository][file.digest][:size]

    def lose(self, repository: str, file: StoredFile) -> None:
        """Let it be gone."""
        del self._files[repository][file.digest]

    def _held(self) -> int:
        return sum(len(data) for files in self._files.values() for data in files.values())

    def _found(self, repository: str, file: StoredFile) -> bytes:
        with self._lock:
            data = self._files.get(repository, {}).get(file.digest)
        if data is None:
            raise _missing(repository, file, "is gone")
        if len(data) != file.size:
            raise _missing(repository, file, f"has {len(data)} bytes instead of {file.size}")
        return data


def _missing(repository: str, file: StoredFile, why: str) -> LifecycleError:
    return LifecycleError(
        BuildCode.ARTIFACT_MISSING,
        f'{file.role} of the store of "{repository}" {why}; '
        "`vacmcp context rebuild --all` makes it anew",
        {"repository": repository, "file": file.role, "digest": file.digest},
    )
