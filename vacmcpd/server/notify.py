"""systemd's notification protocol: one datagram a message, on a socket named in the environment."""

import asyncio
import logging
import os
import socket
from collections.abc import Awaitable, Callable, Mapping

_log = logging.getLogger(__name__)


class Notifier:
    """Tells the service manager how the server is; does nothing where there is none."""

    def __init__(self, address: str, watchdog_seconds: float) -> None:
        self._address = address
        self._watchdog_seconds = watchdog_seconds

    def ready(self, status: str) -> None:
        """The server serves."""
        self._send(f"READY=1\nSTATUS={status}")

    def stopping(self, status: str) -> None:
        """The server finishes what it has and ends."""
        self._send(f"STOPPING=1\nSTATUS={status}")

    async def watch(self, healthy: Callable[[], Awaitable[bool]]) -> None:
        """Beat for the watchdog while ``healthy``, from the event loop, until cancelled."""
        if not self._watchdog_seconds:
            await asyncio.Event().wait()
        while True:
            if await healthy():
                self._send("WATCHDOG=1")
            else:
                _log.warning("no worker answers; the watchdog gets no beat")
            await asyncio.sleep(self._watchdog_seconds / 2)

    def _send(self, message: str) -> None:
        if not self._address or not hasattr(socket, "AF_UNIX"):
            return
        # A leading @ stands for the NUL of an abstract address.
        address = f"\0{self._address[1:]}" if self._address.startswith("@") else self._address
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sender:
            # A receiver whose queue is full would stop the event loop; a lost beat does not.
            sender.setblocking(False)
            try:
                sender.sendto(message.encode(), address)
            except OSError as failure:
                _log.warning("the service manager was not told %r: %s", message, failure.strerror)


def from_environment(environment: Mapping[str, str] = os.environ) -> Notifier:
    """The notifier of the service manager that started this process, if one did."""
    micros = environment.get("WATCHDOG_USEC", "")
    mine = environment.get("WATCHDOG_PID", str(os.getpid())) == str(os.getpid())
    seconds = int(micros) / 1_000_000 if micros.isdecimal() and mine else 0.0
    return Notifier(environment.get("NOTIFY_SOCKET", ""), seconds)
