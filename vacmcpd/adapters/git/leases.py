"""What a killed git leaves in a clone, and how it is known to be dead.

Our own ``kill -9`` does not reach git. So git inherits a locked descriptor: as long as any process
of its tree lives, the lock does. The next writer, who holds the repository's lock and therefore
knows that no living vacmcp is at work there, ends such an orphan before it touches anything.
On Windows an open file can't be deleted, so there the sweep itself would fail loudly.
"""

import contextlib
import errno
import logging
import os
import shutil
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from ...errors import BuildCode, LifecycleError, Locked
from .runner import Watch

if sys.platform != "win32":
    import fcntl

_FILE = "vacmcp.lease"
_PATIENCE_SECONDS = 10.0
_POLL_SECONDS = 0.02
_FULL = frozenset({errno.ENOSPC, errno.EDQUOT if sys.platform != "win32" else errno.ENOSPC})

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Lease:
    """Descriptors that git inherits, and what is called with its process id."""

    inherited: tuple[int, ...] = ()
    on_start: Callable[[int], None] | None = None


@contextmanager
def leased(git_dir: Path, watch: Watch) -> Iterator[Lease]:
    """The only git at work in ``git_dir``; locks and temporary files of dead ones are gone.

    Raises Locked when an orphan can't be ended, and what ``watch`` raises.
    """
    if sys.platform == "win32":
        _sweep(git_dir)
        yield Lease()
    else:
        descriptor = os.open(git_dir / _FILE, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            _take(descriptor, watch)
            os.ftruncate(descriptor, 0)
            _sweep(git_dir)
            yield Lease((descriptor,), lambda pid: _note(descriptor, pid))
        finally:
            # Unlocks for every copy: a credential daemon that git started may live on with one.
            fcntl.flock(descriptor, fcntl.LOCK_UN)
            os.close(descriptor)


def remove_tree(folder: Path) -> None:
    """Delete a folder and all below it; nothing there is fine."""
    if sys.platform == "win32":
        # Git makes its objects read-only, and Windows does not delete those.
        for path in folder.rglob("*"):
            path.chmod(0o700)
    with contextlib.suppress(FileNotFoundError):
        shutil.rmtree(folder)


def sync_tree(folder: Path) -> None:
    """Flush every file and folder below ``folder`` to the disk."""
    for here, _, names in os.walk(folder):
        for name in names:
            _sync(Path(here, name))
        sync_folder(Path(here))


def sync_folder(folder: Path) -> None:
    """Flush a folder's own entries; Windows has no such call and needs none."""
    if sys.platform != "win32":
        _sync(folder)


@contextmanager
def file_failures(what: str) -> Iterator[None]:
    """Turn OSError into NO_SPACE or REPOSITORY_NOT_FOUND, without the local path."""
    try:
        yield
    except OSError as error:
        reason = error.strerror or type(error).__name__
        if error.errno in _FULL:
            raise LifecycleError(
                BuildCode.NO_SPACE, f"{what} failed: {reason}; free some space and try again"
            ) from error
        raise LifecycleError(
            BuildCode.REPOSITORY_NOT_FOUND,
            f"{what} failed: {reason}; check the data directory with vacmcp doctor --managed",
        ) from error


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY if sys.platform != "win32" else os.O_RDWR)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _sweep(git_dir: Path) -> None:
    packs, objects = git_dir / "objects" / "pack", git_dir / "objects"
    stale = [*git_dir.glob("*.lock"), *(git_dir / "refs").rglob("*.lock")]
    stale += [*packs.glob("tmp_*"), *packs.glob("*.lock"), *objects.glob("??/tmp_obj_*")]
    stale += [*(objects / "info").glob("*.lock"), *packs.glob(".tmp-*")]
    # A fetch holds its new pack by a .keep file of these words until the refs are written.
    stale += [keep for keep in packs.glob("*.keep") if keep.read_bytes().startswith(b"fetch-pack ")]
    for path in stale:
        _log.info("removing what a dead git left", extra={"file": path.name})
        if path.is_dir():
            remove_tree(path)
        else:
            path.unlink(missing_ok=True)


if sys.platform != "win32":

    def _take(descriptor: int, watch: Watch) -> None:
        deadline = time.monotonic() + _PATIENCE_SECONDS
        ended = False
        while not _try(descriptor):
            watch()
            if not ended:
                _end_orphan(descriptor, signal.SIGTERM)
                ended = True
            elif time.monotonic() > deadline - _PATIENCE_SECONDS / 2:
                _end_orphan(descriptor, signal.SIGKILL)
            if time.monotonic() > deadline:
                raise Locked(
                    "a git process that an earlier vacmcp started is still at work in this "
                    "clone; end it and run the command again"
                )
            time.sleep(_POLL_SECONDS)

    def _try(descriptor: int) -> bool:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def _note(descriptor: int, pid: int) -> None:
        os.pwrite(descriptor, b"%d\n" % pid, 0)

    def _end_orphan(descriptor: int, number: signal.Signals) -> None:
        noted = os.pread(descriptor, 32, 0).strip()
        if noted.isdigit() and int(noted) > 1:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(int(noted), number)
