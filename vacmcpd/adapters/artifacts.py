"""The files of stores in folders of the data directory, one folder a repository."""

import errno
import hashlib
import logging
import mmap
import os
import re
import secrets
import shutil
import stat
import sys
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from ..errors import BuildCode, LifecycleError
from ..ports.artifacts import StoredFile
from ..ports.faults import FaultPoint, NoFaults

logger = logging.getLogger(__name__)

_NO_FAULTS = NoFaults()
_DIGEST = re.compile(r"[0-9a-f]{64}")
_READ = os.O_RDONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_NOFOLLOW", 0)
# A pipe under a file's name must not block the open.
_READ |= getattr(os, "O_NONBLOCK", 0)
_WRITE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
_NO_SPACE = frozenset({errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC)})


class FolderArtifacts:
    """Implements :class:`vacmcpd.ports.artifacts.ArtifactStore`.

    ``locate`` gives a repository's folder, which is made (0700) with its first file. A file is
    called by its digest, an unfinished one ``.tmp-…``; links in the folder are not followed.
    ``hashing`` false lets :meth:`verify` compare sizes alone, for a look that is quick.
    Fault points: ``artifact.put.…``, ``artifact.sweep.…`` and ``artifact.remove.…``.
    """

    def __init__(
        self,
        locate: Callable[[str], Path],
        *,
        faults: FaultPoint = _NO_FAULTS,
        hashing: bool = True,
    ) -> None:
        self._locate = locate
        self._faults = faults
        self._hashing = hashing

    def put(self, repository: str, role: str, parts: Iterable[bytes | memoryview]) -> StoredFile:
        """See the port. INTERRUPTED when the file can't be written for another reason than room."""
        with _writing(repository):
            folder = _made(self._locate(repository))
        unfinished = folder / f".tmp-{secrets.token_hex(8)}"
        self._faults.reach("artifact.put.before")
        try:
            with _writing(repository):
                descriptor = os.open(unfinished, _WRITE, 0o600)
            with os.fdopen(descriptor, "wb", buffering=0) as file:
                digest, size = _written(repository, file, parts)
            self._faults.reach("artifact.put.written")
            made = StoredFile(role, digest, size)
            if self._whole(repository, made):
                # Who put it there may have ended before its name was safe.
                with _writing(repository):
                    _sync_folder(folder)
                return made
            with _writing(repository):
                unfinished.replace(folder / digest)
            self._faults.reach("artifact.put.renamed")
            with _writing(repository):
                _sync_folder(folder)
        finally:
            # What can't be deleted now is swept later.
            with suppress(OSError):
                unfinished.unlink()
        self._faults.reach("artifact.put.after")
        return made

    def open(self, repository: str, file: StoredFile) -> memoryview:
        """See the port."""
        with self._opened(repository, file) as descriptor:
            if not file.size:
                # Nothing can't be mapped.
                return memoryview(b"")
            try:
                return memoryview(_mapped(descriptor, file.size))
            except OSError as error:
                raise missing(repository, file, _why(error)) from error

    def verify(self, repository: str, file: StoredFile) -> None:
        """See the port; the size alone without ``hashing``."""
        with self._opened(repository, file) as descriptor:
            if self._hashing and self._digest(repository, file, descriptor) != file.digest:
                raise missing(repository, file, "is damaged")

    def sweep(self, repository: str, keep: Collection[str]) -> int:
        """See the port. What the system does not let go (a mapped file on Windows) stays."""
        kept, gone = frozenset(keep), 0
        for entry in _entries(self._locate(repository)):
            if entry.name in kept or entry.is_dir(follow_symlinks=False):
                continue
            self._faults.reach("artifact.sweep.before")
            try:
                Path(entry.path).unlink()
            except OSError as error:
                details = {"repository": repository, "file": entry.name, "why": _why(error)}
                logger.warning("artifact_not_swept", extra=details)
                continue
            gone += 1
            self._faults.reach("artifact.sweep.after")
        return gone

    def remove(self, repository: str) -> None:
        """See the port. A folder that is a link loses the link and the files, not its place."""
        folder = self._locate(repository)
        self._faults.reach("artifact.remove.before")
        self.sweep(repository, ())
        if folder.is_symlink():
            folder.unlink()
        elif folder.is_dir():
            shutil.rmtree(folder, ignore_errors=True)
        self._faults.reach("artifact.remove.after")

    def _whole(self, repository: str, file: StoredFile) -> bool:
        try:
            with self._opened(repository, file) as descriptor:
                return self._digest(repository, file, descriptor) == file.digest
        except LifecycleError:
            return False

    def _digest(self, repository: str, file: StoredFile, descriptor: int) -> str:
        try:
            with os.fdopen(descriptor, "rb", closefd=False) as data:
                return hashlib.file_digest(data, "sha256").hexdigest()
        except OSError as error:
            raise missing(repository, file, _why(error)) from error

    @contextmanager
    def _opened(self, repository: str, file: StoredFile) -> Iterator[int]:
        if not _DIGEST.fullmatch(file.digest):
            raise missing(repository, file, "has no name that a file could have")
        path = self._locate(repository) / file.digest
        try:
            descriptor = os.open(path, _READ)
        except OSError as error:
            raise missing(repository, file, _why(error)) from error
        try:
            found = os.fstat(descriptor)
            if not stat.S_ISREG(found.st_mode) or path.is_symlink():
                raise missing(repository, file, "is no ordinary file")
            if found.st_size != file.size:
                raise missing(
                    repository, file, f"has {found.st_size:,} bytes instead of {file.size:,}"
                )
            yield descriptor
        finally:
            os.close(descriptor)


def missing(repository: str, file: StoredFile, why: str) -> LifecycleError:
    """ARTIFACT_MISSING for a file that can't be read as what it was written."""
    return LifecycleError(
        BuildCode.ARTIFACT_MISSING,
        f'{file.role} of the store of "{repository}" {why}; '
        "`vacmcp context rebuild --all` makes it anew",
        {"repository": repository, "file": file.role, "digest": file.digest},
    )


def _written(
    repository: str, file: BinaryIO, parts: Iterable[bytes | memoryview]
) -> tuple[str, int]:
    """The digest and the size of what was written, durably."""
    digest, size = hashlib.sha256(), 0
    for part in parts:
        left = memoryview(part).cast("B") if len(part) else memoryview(b"")
        digest.update(left)
        size += len(left)
        while left:
            with _writing(repository):
                left = left[file.write(left) :]
    with _writing(repository):
        os.fsync(file.fileno())
    return digest.hexdigest(), size


@contextmanager
def _writing(repository: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        doing = f'writing to the store of "{repository}"'
        if error.errno in _NO_SPACE:
            raise LifecycleError(
                BuildCode.NO_SPACE,
                f"{doing}: no space left on the data directory's disk; free some and try again",
                {"repository": repository},
            ) from error
        raise LifecycleError(
            BuildCode.INTERRUPTED,
            f"{doing}: {error.strerror or type(error).__name__}; mend it and try again",
            {"repository": repository},
        ) from error


def _mapped(descriptor: int, size: int) -> mmap.mmap:
    if sys.version_info >= (3, 13) and os.name == "posix":
        # A hundred versions are a hundred files: their maps need no descriptor each.
        return mmap.mmap(descriptor, size, access=mmap.ACCESS_READ, trackfd=False)
    return mmap.mmap(descriptor, size, access=mmap.ACCESS_READ)


def _entries(folder: Path) -> Iterator[os.DirEntry[str]]:
    with suppress(FileNotFoundError, NotADirectoryError), os.scandir(folder) as entries:
        # Listed before the first is deleted: what readdir shows meanwhile is undefined.
        yield from list(entries)


def _made(folder: Path) -> Path:
    if not folder.is_dir():
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        folder.chmod(0o700)
        _sync_folder(folder.parent)
    return folder


def _sync_folder(folder: Path) -> None:
    if os.name == "nt":
        # Windows opens no directories, and journals renames itself.
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _why(error: OSError) -> str:
    if isinstance(error, FileNotFoundError):
        return "is gone"
    return f"can't be read: {error.strerror or type(error).__name__}"
