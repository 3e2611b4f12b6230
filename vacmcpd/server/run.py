"""Runs a server over finished engines: what the composition calls, in either transport."""

import asyncio
import gc
import os
import socket as sockets
from collections.abc import Callable, Sequence
from pathlib import Path

from ..engine import Budgets, Engine
from .answers import largest_context
from .signals import exit_on_signals

_DEFAULT_BUDGETS = Budgets()


def _nothing() -> None:
    return None


def run_http(
    *,
    socket: sockets.socket,
    factory: Callable[[], Engine],
    workers: int,
    budgets: Budgets = _DEFAULT_BUDGETS,
    drain_seconds: float = 30.0,
    allowed_hosts: Sequence[str] = (),
    proxy_socket_path: Path | None = None,
    on_ready: Callable[[], None] = _nothing,
) -> int:
    """Serve HTTP on a listening ``socket`` until a signal, and answer proxies beside it.

    ``factory`` is pickled by reference and builds one engine in each of ``workers`` processes;
    ``budgets`` are those of its engines. ``drain_seconds`` is how long calls in flight may take
    after the first signal. ``allowed_hosts`` are names, beside the loopback ones and the bound
    address, that clients may call this server by. ``on_ready`` is called once it serves.
    Returns the exit code; raises the LifecycleError of an engine that can't be built.
    """
    from .http import HttpServer

    async def serve() -> int:
        server = HttpServer(
            listener=socket,
            factory=factory,
            workers=workers,
            budgets=budgets,
            drain_seconds=drain_seconds,
            allowed_hosts=allowed_hosts,
            proxy_socket_path=proxy_socket_path,
            on_ready=on_ready,
        )
        return await server.serve()

    with exit_on_signals():
        return asyncio.run(serve())


def run_stdio(
    *,
    factory: Callable[[], Engine],
    threads: int = 4,
    budgets: Budgets = _DEFAULT_BUDGETS,
    proxy_socket_path: Path | None = None,
    on_ready: Callable[[], None] = _nothing,
) -> int:
    """Serve the client on standard input and output, and answer proxies beside it.

    From here on descriptor 1 is standard error, so that nothing but the protocol reaches the
    client. Returns the exit code when the client ends its input or dies, or at a signal.
    """
    source, sink = _claim_descriptors()
    with exit_on_signals():
        gc.disable()
        try:
            from .stdio import serve_stdio
            from .threads import ThreadRunner

            engine = factory()
        finally:
            gc.enable()
        gc.freeze()
        members = largest_context(engine)

        async def serve() -> int:
            runner = ThreadRunner(engine, threads, budgets=budgets, members=members)
            return await serve_stdio(source, sink, runner, proxy_socket_path, on_ready)

        return asyncio.run(serve())


def _claim_descriptors() -> tuple[int, int]:
    source, sink = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    return source, sink
