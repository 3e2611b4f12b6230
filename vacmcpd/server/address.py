"""Listen addresses: ``host:port``, ``:port`` for every interface, ``[::1]:port``."""

import ipaddress
import re
import socket
import sys
from contextlib import suppress

from ..errors import BuildCode, LifecycleError

_BACKLOG = 2048
_ADDRESS = re.compile(r"(?:\[(?P<six>[0-9A-Fa-f:.%\w]+)\]|(?P<name>[^:\[\]\s]*)):(?P<port>\d{1,5})")


def bind(address: str) -> socket.socket:
    """A socket that listens on ``address``; clients may connect at once and wait for the server.

    Raises LifecycleError (INVALID_ARGUMENT) for an address that is none or can't be had.
    """
    host, port = split(address)
    try:
        return _bind_everywhere(port) if not host else _bind(host, port)
    except OSError as failure:
        reason = failure.strerror or str(failure)
        raise LifecycleError(
            BuildCode.INVALID_ARGUMENT,
            f"can't listen on {address}: {reason}; choose another --address",
            {"address": address, "reason": reason},
        ) from None


def split(address: str) -> tuple[str, int]:
    """Host ("" for every interface) and port. Raises LifecycleError (INVALID_ARGUMENT)."""
    match = _ADDRESS.fullmatch(address.strip())
    if match is None or int(match["port"]) > 65535:
        raise LifecycleError(
            BuildCode.INVALID_ARGUMENT,
            f"{address!r} is no address to listen on; write host:port, :port or [::1]:port",
            {"address": address},
        )
    return match["six"] or match["name"] or "", int(match["port"])


def is_loopback(host: str) -> bool:
    """Whether a bound socket's address can only be reached from this machine."""
    try:
        return ipaddress.ip_address(host.partition("%")[0]).is_loopback
    except ValueError:
        return host == "localhost"


def _bind(host: str, port: int) -> socket.socket:
    family, kind, protocol, _, where = socket.getaddrinfo(
        host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
    )[0]
    return _listen(socket.socket(family, kind, protocol), where)


def _bind_everywhere(port: int) -> socket.socket:
    if socket.has_dualstack_ipv6():
        with suppress(OSError):
            both = socket.socket(socket.AF_INET6, socket.SOCK_STREAM)
            both.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
            return _listen(both, ("::", port))
    return _listen(socket.socket(socket.AF_INET, socket.SOCK_STREAM), ("0.0.0.0", port))  # noqa: S104


def _listen(listener: socket.socket, where: tuple[object, ...]) -> socket.socket:
    try:
        if sys.platform == "win32":
            # There SO_REUSEADDR would let another process take the port over.
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_EXCLUSIVEADDRUSE, 1)
        else:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(where)
        listener.listen(_BACKLOG)
        listener.setblocking(False)
    except OSError:
        listener.close()
        raise
    return listener
