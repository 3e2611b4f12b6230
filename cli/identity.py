"""The data directory belongs to one user; nobody else's process may leave files in it."""

import errno
import os
import shlex
import stat
import sys
from pathlib import Path

from vacmcpd.errors import BuildCode, LifecycleError

from .text import redacted


def refuse_unusable(root: Path) -> None:
    """INVALID_ARGUMENT when ``root`` is there and is no folder of this user.

    For another user's the message has the ``sudo -u`` line. Root is another user too: what it
    writes, the owner's server can't open afterwards.
    """
    try:
        found = root.stat()
    except FileNotFoundError:
        return
    except OSError as error:
        raise unusable(root, error) from None
    if not stat.S_ISDIR(found.st_mode):
        raise unusable(root, NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR)))
    if sys.platform != "win32":
        _refuse_other_user(root, found.st_uid)


def unusable(root: Path, error: OSError) -> LifecycleError:
    """What the file system says about a data directory, as an error of ours."""
    return LifecycleError(
        BuildCode.NO_SPACE if error.errno == errno.ENOSPC else BuildCode.INVALID_ARGUMENT,
        f'data directory "{root}" can\'t be used: {error.strerror}; '
        "give another with --data-dir or VACMCP_DATA_DIR",
    )


if sys.platform != "win32":
    import pwd

    def _refuse_other_user(root: Path, owner: int) -> None:
        me = os.geteuid()
        if owner == me:
            return
        user = _name(owner, "#")
        command = redacted(shlex.join(["sudo", "-u", user, "vacmcp", *sys.argv[1:]]))
        raise LifecycleError(
            BuildCode.INVALID_ARGUMENT,
            f'data directory "{root}" belongs to {_name(owner)}, and this is {_name(me)}; '
            f"run: {command}",
            {"owner": _name(owner), "user": _name(me), "command": command},
        )

    def _name(user: int, prefix: str = "user ") -> str:
        try:
            return pwd.getpwuid(user).pw_name
        except KeyError:
            return f"{prefix}{user}"
