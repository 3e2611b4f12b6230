"""The data directory's lock: one server, or any number of changing commands.

portalocker, because it has shared locks on every system; filelock has exclusive ones only.
"""

import itertools
import os
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import portalocker

from ...datadir import DataDirectory
from ...errors import BuildCode, LifecycleError, Locked
from ...ports.locks import Holder
from .notes import describe, details, read_note, remove_note, this_process, write_note

_NAME = "server"
# Rides over another process's look at the lock (`server_holder`), which takes it for a moment;
# a command that works is not waited for.
_GRACE_SECONDS = 1.0
_POLL_SECONDS = 0.02
_counter = itertools.count()


class DirectoryLock:
    """``locks/server.lock``, with a note for whoever holds it."""

    def __init__(self, data: DataDirectory) -> None:
        self._data = data

    @contextmanager
    def exclusive(self, verb: str, address: str) -> Iterator[None]:
        """For a server's life; LOCKED, naming the holder, within a second."""
        with _opened(self._data.server_lock) as descriptor:
            deadline = time.monotonic() + _GRACE_SECONDS
            while not _take(descriptor, portalocker.LockFlags.EXCLUSIVE):
                if time.monotonic() >= deadline:
                    raise self._refused_server(descriptor)
                time.sleep(_POLL_SECONDS)
            # Nobody shares it now: what notes of commands there are were left by killed ones.
            for note in self._command_notes():
                remove_note(note)
            write_note(self._data.server_info, this_process(verb, address))
            try:
                yield
            finally:
                remove_note(self._data.server_info)

    @contextmanager
    def shared(self, verb: str) -> Iterator[None]:
        """For one command; LOCKED at once while a server runs."""
        with _opened(self._data.server_lock) as descriptor:
            if not _take(descriptor, portalocker.LockFlags.SHARED):
                raise self._refused_command(verb)
            note = self._data.runtime / f"changing-{os.getpid()}-{next(_counter)}.json"
            write_note(note, this_process(verb))
            try:
                yield
            finally:
                remove_note(note)

    def holder(self) -> Holder | None:
        """The server's note; None when no server holds the lock. Creates nothing."""
        if not self._data.server_lock.exists():
            return None
        with _opened(self._data.server_lock, create=False) as descriptor:
            if _take(descriptor, portalocker.LockFlags.SHARED):
                return None
        return read_note(self._data.server_info) or Holder(0, "serve", "unknown")

    def _refused_server(self, descriptor: int) -> Locked:
        if _take(descriptor, portalocker.LockFlags.SHARED):
            notes = [read_note(path) for path in self._command_notes()]
            known = sorted((note for note in notes if note), key=lambda note: note.started_at)
            command = known[-1] if known else None
            return Locked(
                f"{describe(command)} is changing this data directory; "
                "start the server when it has ended",
                details(_NAME, command),
            )
        server = read_note(self._data.server_info)
        return Locked(
            f"a server already runs on this data directory: {describe(server)}; "
            "use that one, or stop it first",
            details(_NAME, server),
        )

    def _refused_command(self, verb: str) -> Locked:
        server = read_note(self._data.server_info)
        return Locked(
            f"a server runs on this data directory: {describe(server)}; `vacmcp {verb}` changes "
            "what it serves, so stop it, run the command, and start it again",
            details(_NAME, server),
        )

    def _command_notes(self) -> list[Path]:
        return sorted(self._data.runtime.glob("changing-*.json"))


@contextmanager
def _opened(path: Path, create: bool = True) -> Iterator[int]:
    flags = os.O_RDWR | os.O_CREAT if create else os.O_RDONLY
    # portalocker would follow a link; a device or pipe could block the open.
    flags |= getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    try:
        descriptor = os.open(path, flags, 0o600)
    except OSError as error:
        raise unusable(_NAME, error) from error
    try:
        if path.is_symlink() or not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise not_a_file(_NAME)
        yield descriptor
    finally:
        os.close(descriptor)


def _take(descriptor: int, kind: portalocker.LockFlags) -> bool:
    try:
        portalocker.lock(descriptor, kind | portalocker.LockFlags.NON_BLOCKING)
    except portalocker.AlreadyLocked:
        return False
    except portalocker.LockException as error:
        raise LifecycleError(
            BuildCode.INVALID_ARGUMENT,
            "the data directory's file system does not support locks; use a local one",
        ) from error
    return True


def not_a_file(lock: str) -> LifecycleError:
    """A lock file that is a link, a device or a pipe."""
    return LifecycleError(
        BuildCode.INVALID_ARGUMENT,
        f"the lock file of {lock} is not an ordinary file; look at it, delete it and try again",
        {"lock": lock},
    )


def unusable(lock: str, error: OSError) -> LifecycleError:
    """A lock file that can't be opened or locked."""
    return LifecycleError(
        BuildCode.INVALID_ARGUMENT,
        f"the lock file of {lock} can't be used: {error.strerror or type(error).__name__}; "
        "check the owner, mode and file system of the data directory",
        {"lock": lock},
    )
