"""``serve --managed``: one data directory, served by one process, under its lock.

The order is lock, socket and a line on stderr first, so that a client knows within a moment what
it got; then catalogue, recovery and the heavy imports; then readiness.
"""

import os
import sys
from contextlib import ExitStack, suppress
from functools import partial
from pathlib import Path
from socket import gethostname

from ..composition import Managed, ServedData, budgets_of, build_engine, open_managed
from ..errors import Locked
from ..settings import Settings


def serve_http(root: Path, settings: Settings, address: str) -> int:
    """Serve over Streamable HTTP until a signal; the exit code.

    LOCKED, naming the holder, when another server or a changing command has the directory;
    INVALID_ARGUMENT when the address can't be had.
    """
    from .address import bind, is_loopback
    from .run import run_http
    from .signals import exit_on_signals

    _open_standard_streams()
    with ExitStack() as stack:
        stack.enter_context(exit_on_signals())
        managed = open_managed(root, settings)
        socket = stack.enter_context(bind(address))
        host, port = socket.getsockname()[:2]
        url = f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
        stack.enter_context(managed.locks.server("serve --managed", url))
        _say(f"listening on {url}/mcp")
        if not is_loopback(host):
            _say(
                "warning: other machines can reach this address and read every context without "
                "a password; put an authenticating proxy in front of a loopback address instead"
            )
        served = _read(managed)
        return run_http(
            socket=socket,
            factory=partial(build_engine, served),
            workers=settings.server.workers,
            budgets=budgets_of(settings),
            drain_seconds=settings.server.drain_seconds,
            allowed_hosts=() if is_loopback(host) else (gethostname(),),
            proxy_socket_path=managed.data.server_socket,
            on_ready=partial(_say, "ready"),
        )


def serve_stdio(root: Path, settings: Settings) -> int:
    """Serve over stdio; beside a running server, join it."""
    from .proxy import run_proxy
    from .run import run_stdio
    from .signals import exit_on_signals

    _open_standard_streams()
    with ExitStack() as stack:
        stack.enter_context(exit_on_signals())
        managed = open_managed(root, settings)
        try:
            stack.enter_context(managed.locks.server("serve --managed --stdio", "stdio"))
        except Locked as refused:
            if not managed.data.server_socket.exists():
                raise
            holder = refused.details.get("pid", "unknown")
            _say(f"joining the server that holds this data directory (pid {holder})")
            return run_proxy(managed.data.server_socket)
        served = _read(managed)
        return run_stdio(
            factory=partial(build_engine, served),
            budgets=budgets_of(settings),
            proxy_socket_path=managed.data.server_socket,
            on_ready=partial(_say, "ready"),
        )


def _read(managed: Managed) -> ServedData:
    """The READY contexts, after what a dead builder left was found; under the server's lock."""
    try:
        for context in managed.recover():
            _say(f"context {context} was being built by a process that died; it is FAILED now")
        served = managed.served()
    finally:
        managed.close()
    many = len(served.contexts)
    _say(f"{many} READY {'context' if many == 1 else 'contexts'}")
    return served


def _open_standard_streams() -> None:
    """Open what this process was started without, or the next file would be taken for it."""
    while (descriptor := os.open(os.devnull, os.O_RDWR)) <= 2:
        os.set_inheritable(descriptor, True)
    os.close(descriptor)


def _say(line: str) -> None:
    # Without a standard error print would write to standard output, which is the client's. One
    # that nobody reads is no reason to stop serving.
    if sys.stderr is not None:
        with suppress(OSError):
            print(f"vacmcp: {line}", file=sys.stderr, flush=True)
