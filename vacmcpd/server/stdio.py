"""MCP over standard input and output, for the one client that started this process."""

import asyncio
import os
from collections.abc import Callable
from pathlib import Path

from .lines import DescriptorLines
from .protocol import build_server
from .runner import Runner
from .session import Session
from .signals import StopSignal, stop_on_signals
from .sockets import SocketListener

_LOOK_SECONDS = 1.0


async def serve_stdio(
    source: int,
    sink: int,
    runner: Runner,
    proxy_socket_path: Path | None,
    on_ready: Callable[[], None],
) -> int:
    """Serve until the client ends its input or dies, or a signal comes; the exit code."""
    server = build_server(runner)
    with stop_on_signals() as stop:
        listener = SocketListener(server, proxy_socket_path) if proxy_socket_path else None
        session = Session(server, DescriptorLines(source, sink))
        try:
            if listener is not None:
                await listener.start()
            on_ready()
            await _until_the_end(session, stop)
        finally:
            if listener is not None:
                await listener.close(0.0)
            await runner.close()
    return 0


async def _until_the_end(session: Session, stop: StopSignal) -> None:
    serving = asyncio.create_task(session.run())
    others = {asyncio.create_task(stop.wait()), asyncio.create_task(_parent_dies())}
    await asyncio.wait({serving, *others}, return_when=asyncio.FIRST_COMPLETED)
    for task in {serving, *others}:
        task.cancel()
    await asyncio.wait({serving, *others})
    if not serving.cancelled():
        serving.result()


async def _parent_dies() -> None:
    # A client that is killed leaves its pipe open when another process holds the other end.
    parent = os.getppid()
    while os.getppid() == parent:
        await asyncio.sleep(_LOOK_SECONDS)
