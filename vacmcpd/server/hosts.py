"""Which Host and Origin headers are answered; what keeps web pages out of a local server.

A page whose name resolves to 127.0.0.1 reaches a loopback port with its own name in Host, and
any page can post across origins; neither can claim to be ``localhost``.
"""

import ipaddress
import re
from collections.abc import Iterable

_HOST = re.compile(r"(?P<host>\[[0-9A-Fa-f:.]+\]|[^:\[\]/@\s]+)(?::(?P<port>\d{1,5}))?")
_ORIGIN = re.compile(r"https?://(?P<authority>[^/?#]+)", re.IGNORECASE)
_LOOPBACK = ("127.0.0.1", "localhost", "[::1]")


class HostPolicy:
    """Answers for the loopback names, the bound address and ``extra`` names, on any port.

    One bound to every interface answers for any address too: which ones it has changes while it
    runs, and a page that rebinds its name still sends the name. Ports are not compared: forwarded
    ports are common and change nothing about who asks.
    """

    def __init__(self, bound: str, extra: Iterable[str] = ()) -> None:
        self._names = {name.lower() for name in (*_LOOPBACK, _bracketed(bound), *extra)}
        self._everywhere = ipaddress.ip_address(bound).is_unspecified

    def admits_host(self, header: str | None) -> bool:
        """Whether a Host header names this server."""
        if header is None:
            return False
        return self._admits(header) or (self._everywhere and _is_address(header))

    def admits_origin(self, header: str | None) -> bool:
        """Whether an Origin is absent (no browser) or one of this server's own names."""
        if header is None:
            return True
        match = _ORIGIN.fullmatch(header)
        return match is not None and self._admits(match["authority"])

    def _admits(self, authority: str) -> bool:
        match = _HOST.fullmatch(authority)
        return match is not None and match["host"].lower() in self._names


def _is_address(authority: str) -> bool:
    match = _HOST.fullmatch(authority)
    try:
        return match is not None and bool(ipaddress.ip_address(match["host"].strip("[]")))
    except ValueError:
        return False


def _bracketed(bound: str) -> str:
    return f"[{bound}]" if ipaddress.ip_address(bound).version == 6 else bound
