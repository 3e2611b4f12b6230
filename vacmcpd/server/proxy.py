"""``serve --stdio`` beside a running server: carries bytes between the client and that server."""

import os
import select
import signal
import socket
import sys
import threading
import time
from pathlib import Path
from types import FrameType
from typing import NoReturn

from .rendezvous import connect

_CHUNK = 65_536
_LOOK_SECONDS = 1.0
_LAST_SECONDS = 10.0


def run_proxy(socket_path: Path) -> int:
    """Carry until either side ends or the parent dies; the exit code.

    0 when the client ended it, 1 when the server went away first. Raises Locked when there is
    no server at ``socket_path`` after all.
    """
    with connect(socket_path) as connection:
        signal.signal(signal.SIGTERM, _end)
        signal.signal(signal.SIGINT, _end)
        client = _Client(connection)
        threading.Thread(target=client.carry_in, name="stdin", daemon=True).start()
        return client.carry_out()


def _end(number: int, frame: FrameType | None) -> NoReturn:
    sys.exit(0)


class _Client:
    """Standard input in a thread, standard output in the caller's."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._parent = os.getppid()
        self._ended_at: float | None = None

    def carry_in(self) -> None:
        try:
            while chunk := os.read(0, _CHUNK):
                self._connection.sendall(chunk)
            self._ended_at = time.monotonic()
            self._connection.shutdown(socket.SHUT_WR)
        except OSError:
            # The server went away; carry_out sees the same and says so.
            return

    def carry_out(self) -> int:
        try:
            while self._waits():
                if not select.select([self._connection], [], [], _LOOK_SECONDS)[0]:
                    continue
                chunk = self._receive()
                if not chunk:
                    return self._server_gone()
                _write_all(chunk)
        except BrokenPipeError:
            return 0
        return 0

    def _receive(self) -> bytes:
        try:
            return self._connection.recv(_CHUNK)
        except ConnectionError:
            return b""

    def _waits(self) -> bool:
        # Another process may hold the client's end of the pipe open after its death.
        if os.getppid() != self._parent:
            return False
        return self._ended_at is None or time.monotonic() < self._ended_at + _LAST_SECONDS

    def _server_gone(self) -> int:
        if self._ended_at is not None:
            return 0
        print("vacmcp: the server that this process had joined went away", file=sys.stderr)
        return 1


def _write_all(chunk: bytes) -> None:
    view = memoryview(chunk)
    while view:
        view = view[os.write(1, view) :]
