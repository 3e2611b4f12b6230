"""The disk under a data directory: whose it is, who may read it, what kind and how much room."""

import os
import shutil
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

_GIBIBYTE = 1024**3
_LITTLE = _GIBIBYTE
_TOO_LITTLE = 64 * 1024**2
_MOUNTS = Path("/proc/self/mountinfo")
# flock is emulated or absent on these, and SQLite's WAL needs shared memory between processes.
_NETWORK = frozenset(
    {"nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "afs", "ceph", "glusterfs", "fuse.sshfs"}
)


@dataclass(frozen=True, slots=True)
class Place:
    """What was found, the worst verdict of it, and what to do."""

    verdict: Literal["OK", "WARN", "FAIL"]
    detail: str
    repair: str


def look_at(root: Path) -> Place:
    """The verdict on ``root``, which exists. Reads only."""
    try:
        status = root.stat()
        free = shutil.disk_usage(root).free
    except OSError as error:
        return Place("FAIL", f"can't be read: {error.strerror}", "check its owner and mode")
    kind = file_system(root)
    detail = f"{_owner(status)}, mode {stat.S_IMODE(status.st_mode):04o}"
    detail += f", {kind or 'unknown file system'}, {free / _GIBIBYTE:.1f} GiB free"
    for verdict, wrong, repair in _problems(status, kind, free):
        if wrong:
            return Place(verdict, detail, repair)
    return Place("OK", detail, "")


def file_system(root: Path) -> str:
    """The type of the file system that holds ``root``; "" where that can't be told."""
    try:
        mounts = _MOUNTS.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
    found = ("", "")
    target = f"{root.resolve()}/"
    for line in mounts.splitlines():
        before, _, after = line.partition(" - ")
        fields, kinds = before.split(" "), after.split(" ")
        if len(fields) < 5:
            continue
        # The kernel writes a blank in a mount point as \040.
        point = fields[4].replace("\\040", " ").rstrip("/")
        # The last of equal mount points hides the others.
        if target.startswith(f"{point}/") and len(point) >= len(found[0]):
            found = (point, kinds[0])
    return found[1]


def _problems(
    status: os.stat_result, kind: str, free: int
) -> list[tuple[Literal["WARN", "FAIL"], bool, str]]:
    return [
        ("FAIL", _foreign(status), "run vacmcp as the owner (`sudo -u OWNER vacmcp …`)"),
        ("FAIL", free < _TOO_LITTLE, "free some space"),
        ("WARN", _open_to_others(status), "chmod 700 the data directory"),
        ("WARN", kind in _NETWORK, "use a local disk: locks are not safe on a network one"),
        ("WARN", free < _LITTLE, "free some space"),
    ]


def _owner(status: os.stat_result) -> str:
    return f"owner {status.st_uid}" if _foreign(status) else "own"


def _foreign(status: os.stat_result) -> bool:
    user = getattr(os, "geteuid", None)
    return user is not None and status.st_uid != user()


def _open_to_others(status: os.stat_result) -> bool:
    # Windows reports modes that say nothing about who may read.
    return os.name == "posix" and bool(status.st_mode & 0o077)
