"""Where a data directory's server listens for the others: a unix socket at a fixed path.

Where there are none (Windows, a path that is too long, a file system that refuses), the path is
a file with a loopback port and a token, readable by the owner alone.
"""

import json
import os
import secrets
import socket
import stat
import sys
from contextlib import suppress
from pathlib import Path

from ..errors import BuildCode, LifecycleError, Locked

_BACKLOG = 64
_CONNECT_SECONDS = 5.0


def listen(path: Path) -> tuple[socket.socket, str]:
    """A listening socket for ``path`` and the token that a client sends first ("" for none).

    Replaces what a dead server left there; the caller holds the server's lock. Raises
    LifecycleError where something stands that can't be replaced.
    """
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    try:
        path.unlink(missing_ok=True)
    except OSError as failure:
        raise LifecycleError(
            BuildCode.INVALID_ARGUMENT,
            f"{path.parent.name}/{path.name} in the data directory can't be replaced: "
            f"{failure.strerror}; remove it",
        ) from None
    with suppress(OSError):
        return _listen_unix(path), ""
    return _listen_loopback(path)


def connect(path: Path) -> socket.socket:
    """A connection to the server at ``path``, past its token. Raises Locked when none answers."""
    try:
        if sys.platform != "win32" and stat.S_ISSOCK(path.stat().st_mode):
            return _connected(socket.AF_UNIX, str(path))
        note = json.loads(path.read_text(encoding="utf-8"))
        connection = _connected(socket.AF_INET, ("127.0.0.1", int(note["port"])))
        connection.sendall(f"{note['token']}\n".encode())
    except (OSError, ValueError, KeyError, TypeError):
        raise Locked(
            "the server that holds this data directory can't be reached; "
            "stop it and start it again, or connect to its HTTP address"
        ) from None
    return connection


def _connected(family: int, address: str | tuple[str, int]) -> socket.socket:
    connection = socket.socket(family, socket.SOCK_STREAM)
    try:
        connection.settimeout(_CONNECT_SECONDS)
        connection.connect(address)
        connection.settimeout(None)
    except OSError:
        connection.close()
        raise
    return connection


def _listen_unix(path: Path) -> socket.socket:
    if sys.platform != "win32":
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            listener.bind(str(path))
            # Before listen(): nobody can connect while the umask's mode still stands.
            path.chmod(0o600)
            listener.listen(_BACKLOG)
            listener.setblocking(False)
        except OSError:
            listener.close()
            raise
        return listener
    raise OSError("no unix sockets here")


def _listen_loopback(path: Path) -> tuple[socket.socket, str]:
    listener = socket.create_server(("127.0.0.1", 0), backlog=_BACKLOG)
    listener.setblocking(False)
    token = secrets.token_urlsafe(32)
    note = path.with_name(f".{path.name}.{os.getpid()}")
    descriptor = os.open(note, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        json.dump({"port": listener.getsockname()[1], "token": token}, file)
    note.replace(path)
    return listener, token
