"""MCP over Streamable HTTP: one listening socket, a gate, worker processes behind it."""

import asyncio
import gc
import math
import socket
from collections.abc import Callable, Collection, Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import TYPE_CHECKING, cast

from ..engine import Budgets, Engine
from . import notify
from .address import bind
from .gate import Exchange, Gate
from .hosts import HostPolicy
from .signals import StopSignal, stop_on_signals
from .workers import WorkerRunner

if TYPE_CHECKING:
    import uvicorn
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

    from .sockets import SocketListener

__all__ = ["HttpServer", "bind"]

_MAX_CONNECTIONS = 1000
_KEEP_ALIVE_SECONDS = 30
_HEADER_SECONDS = 15.0


class HttpServer:
    """One server's life: :meth:`serve` returns when a signal has ended it."""

    def __init__(
        self,
        *,
        listener: socket.socket,
        factory: Callable[[], Engine],
        workers: int,
        budgets: Budgets,
        drain_seconds: float,
        allowed_hosts: Sequence[str],
        proxy_socket_path: Path | None,
        on_ready: Callable[[], None],
    ) -> None:
        self._listener = listener
        self._runner = WorkerRunner(factory, workers, budgets=budgets)
        self._drain_seconds = drain_seconds
        self._proxy_socket_path = proxy_socket_path
        self._on_ready = on_ready
        self._gate = Gate(HostPolicy(listener.getsockname()[0], allowed_hosts))
        self._notifier = notify.from_environment()
        self._proxies: SocketListener | None = None

    async def serve(self) -> int:
        """Serve until a signal; 0. Raises the LifecycleError of an engine that can't be built."""
        with stop_on_signals() as stop:
            async with AsyncExitStack() as stack:
                stack.push_async_callback(self._runner.close)
                await self._runner.start()
                web = await asyncio.to_thread(_load_web, self._gate, self._drain_seconds)
                serving = asyncio.create_task(web.serve(sockets=[self._listener]))
                await _until_started(web, serving)
                # uvicorn took the signals for itself while it started.
                stop.install()
                life = asyncio.create_task(self._life())
                stack.push_async_callback(_cancel, life)
                stack.push_async_callback(_cancel, _closing_idle(web))
                await _until_one_ends(stop, serving, life)
                await self._drain(web, serving)
                if life.done():
                    life.result()
        return 0

    async def _life(self) -> None:
        """Load the protocol, open the gate, say that the server is ready, and keep it so."""
        manager, exchange, self._proxies = await asyncio.to_thread(
            _load_protocol, self._runner, self._proxy_socket_path
        )
        await self._runner.ready()
        # Outside of run(), whose task group would wrap what can't be started.
        if self._proxies is not None:
            await self._proxies.start()
        async with manager.run():
            self._gate.open(manager.handle_request, exchange)
            self._gate.ready = True
            self._notifier.ready("serving")
            self._on_ready()
            await self._notifier.watch(self._runner.healthy)

    async def _drain(self, web: "uvicorn.Server", serving: "asyncio.Task[None]") -> None:
        self._gate.close()
        self._notifier.stopping("finishing the calls in flight")
        web.should_exit = True
        if self._proxies is None:
            await serving
        else:
            await asyncio.gather(serving, self._proxies.close(self._drain_seconds))


async def _until_one_ends(stop: StopSignal, *tasks: "asyncio.Task[None]") -> None:
    asked = asyncio.create_task(stop.wait())
    try:
        await asyncio.wait({asked, *tasks}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        asked.cancel()


def _closing_idle(web: "uvicorn.Server") -> "asyncio.Task[None]":
    from .idle import Connection, close_idle

    connections = cast("Collection[Connection]", web.server_state.connections)
    return asyncio.create_task(close_idle(connections, _HEADER_SECONDS))


async def _cancel(task: "asyncio.Task[None]") -> None:
    task.cancel()
    await asyncio.wait({task})


async def _until_started(web: "uvicorn.Server", serving: "asyncio.Task[None]") -> None:
    while not web.started and not serving.done():
        await asyncio.sleep(0.005)


def _load_web(gate: Gate, drain_seconds: float) -> "uvicorn.Server":
    import uvicorn

    return uvicorn.Server(
        uvicorn.Config(
            gate,
            # httptools keeps the blanks around header values, which the protocol compares.
            http="h11",
            ws="none",
            lifespan="off",
            log_config=None,
            # Its warnings are what clients do wrong, and advice to install what is left out here.
            log_level="error",
            access_log=False,
            proxy_headers=False,
            server_header=False,
            limit_concurrency=_MAX_CONNECTIONS,
            timeout_keep_alive=_KEEP_ALIVE_SECONDS,
            timeout_graceful_shutdown=math.ceil(drain_seconds),
        )
    )


def _load_protocol(
    runner: WorkerRunner, proxy_socket_path: Path | None
) -> "tuple[StreamableHTTPSessionManager, Exchange, SocketListener | None]":
    gc.disable()
    try:
        from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
        from sse_starlette.sse import AppStatus

        from .exchange import plain_exchange
        from .protocol import build_server
        from .sockets import SocketListener
    finally:
        gc.enable()
    gc.freeze()
    # It would cut event streams off at the first signal; they end with their calls here.
    AppStatus.enable_automatic_graceful_drain = False
    server = build_server(runner)
    manager = StreamableHTTPSessionManager(server, json_response=False, stateless=True)
    proxies = SocketListener(server, proxy_socket_path) if proxy_socket_path else None
    return manager, plain_exchange(server), proxies
