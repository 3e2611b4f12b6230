"""All locks of a data directory, as files that are never unlinked (two owners otherwise).

Those of repositories, stores and builds are filelock's: exclusive, refused through a symlink,
free within a millisecond of the holder's death, and not inherited over a fork.
"""

import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path

from filelock import FileLock, Timeout

from ...datadir import DataDirectory
from ...errors import Cancelled, Locked
from ...ports.budget import CancelFlag
from ...ports.locks import Guard, Holder, OnWait
from .directory import DirectoryLock, not_a_file, unusable
from .notes import describe, details, read_note, remove_note, this_process, write_note

_POLL_SECONDS = 0.05
# A look at a build (`build_is_dead`, recovery) takes its lock for a moment.
_BUILD_GRACE_SECONDS = 0.5


@dataclass(frozen=True, slots=True)
class Held:
    """A lock that is held."""

    lock: str


class FileLocks:
    """Implements :class:`vacmcpd.ports.locks.Locks` between processes of one machine."""

    def __init__(self, data: DataDirectory) -> None:
        self._data = data
        self._directory = DirectoryLock(data)

    @contextmanager
    def server(self, verb: str, address: str) -> Iterator[Guard]:
        """See the port; a second server is refused within a second."""
        with self._directory.exclusive(verb, address):
            yield Held("server")

    @contextmanager
    def changing(self, verb: str) -> Iterator[Guard]:
        """See the port."""
        with self._directory.shared(verb):
            yield Held("server")

    def repository(
        self,
        name: str,
        verb: str,
        timeout: float,
        on_wait: OnWait,
        cancel: CancelFlag | None = None,
    ) -> AbstractContextManager[Guard]:
        """See the port."""
        path = self._data.repository_lock(_key(name))
        return _exclusive(path, f"repository {name}", verb, timeout, on_wait, cancel)

    def store(
        self,
        name: str,
        verb: str,
        timeout: float,
        on_wait: OnWait,
        cancel: CancelFlag | None = None,
    ) -> AbstractContextManager[Guard]:
        """See the port."""
        path = self._data.store_lock(_key(name))
        return _exclusive(path, f"store {name}", verb, timeout, on_wait, cancel)

    def build(self, build: str, verb: str) -> AbstractContextManager[Guard]:
        """See the port."""
        path = self._data.build_lock(_key(build))
        return _exclusive(path, f"build {build}", verb, _BUILD_GRACE_SECONDS, _unheard, None)

    def build_is_dead(self, build: str) -> bool:
        """See the port; creates nothing."""
        path = self._data.build_lock(_key(build))
        if not path.exists():
            return True
        lock = _file_lock(path)
        if not _try(lock, path, f"build {build}"):
            return False
        lock.release()
        return True

    def server_holder(self) -> Holder | None:
        """See the port; creates nothing."""
        return self._directory.holder()


def _key(name: str) -> str:
    """Names that differ in case alone are one name, and so one lock."""
    return name.lower()


def _unheard(lock: str, holder: Holder | None) -> None:
    del lock, holder


@contextmanager
def _exclusive(
    path: Path,
    name: str,
    verb: str,
    timeout: float,
    on_wait: OnWait,
    cancel: CancelFlag | None,
) -> Iterator[Guard]:
    note = path.with_suffix(".json")
    lock = _file_lock(path)
    _wait(lock, path, name, timeout, on_wait, cancel)
    try:
        write_note(note, this_process(verb))
        try:
            yield Held(name)
        finally:
            remove_note(note)
    finally:
        lock.release()


def _wait(
    lock: FileLock,
    path: Path,
    name: str,
    timeout: float,
    on_wait: OnWait,
    cancel: CancelFlag | None,
) -> None:
    deadline = time.monotonic() + timeout
    told = False
    while not _try(lock, path, name):
        holder = read_note(path.with_suffix(".json"))
        if cancel is not None and cancel.is_set():
            raise Cancelled(f"stopped while waiting for {name}")
        left = deadline - time.monotonic()
        if left <= 0:
            raise Locked(
                f"{name} is in use by {describe(holder)}; run the command again when it has ended",
                details(name, holder),
            )
        if not told:
            on_wait(name, holder)
            told = True
        time.sleep(min(_POLL_SECONDS, left))


def _file_lock(path: Path) -> FileLock:
    # A fresh object each time: sharing one between threads would let both in.
    return FileLock(
        path, mode=0o600, thread_local=False, fallback_to_soft=False, preserve_lock_file=True
    )


def _try(lock: FileLock, path: Path, name: str) -> bool:
    try:
        lock.acquire(blocking=False)
    except Timeout:
        return False
    except (OSError, NotImplementedError) as error:
        if path.is_symlink() or (path.exists() and not path.is_file()):
            raise not_a_file(name) from error
        raise unusable(name, error if isinstance(error, OSError) else OSError()) from error
    return True
