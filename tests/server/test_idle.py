"""Connections that ask nothing are closed, and no others."""

import asyncio
import socket
from collections.abc import Awaitable, Callable
from typing import Any

import uvicorn

from vacmcpd.server.idle import close_idle

SECONDS = 0.05
REQUEST = b"GET / HTTP/1.1\r\nHost: localhost\r\n"


async def application(scope: Any, receive: Any, send: Any) -> None:
    """Answers after many rounds of closing."""
    await asyncio.sleep(SECONDS * 6)
    headers = [(b"content-length", b"2")]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": b"ok"})


def served(client: Callable[[int], Awaitable[bytes]]) -> bytes:
    """What a client of a server that closes idle connections gets."""

    async def run() -> bytes:
        with socket.create_server(("127.0.0.1", 0)) as listener:
            config = uvicorn.Config(
                application, http="h11", lifespan="off", log_config=None, ws="none"
            )
            server = uvicorn.Server(config)
            serving = asyncio.create_task(server._serve([listener]))
            closing = asyncio.create_task(close_idle(server.server_state.connections, SECONDS))
            try:
                return await asyncio.wait_for(client(listener.getsockname()[1]), 20)
            finally:
                closing.cancel()
                server.should_exit = True
                await serving

    return asyncio.run(run())


async def everything(port: int, *parts: bytes) -> bytes:
    """Sends the parts and reads until the server closes."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        for part in parts:
            writer.write(part)
            await writer.drain()
        return await reader.read()
    finally:
        writer.close()
        await writer.wait_closed()


def test_a_connection_that_says_nothing_is_closed() -> None:
    assert served(lambda port: everything(port)) == b""


def test_headers_that_never_end_are_not_waited_for() -> None:
    assert served(lambda port: everything(port, REQUEST)) == b""


def test_headers_that_come_byte_by_byte_are_not_waited_for() -> None:
    async def drip(port: int) -> bytes:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(REQUEST)
        while not reader.at_eof():
            writer.write(b"X: y\r\n")
            try:
                await writer.drain()
                await asyncio.wait_for(reader.read(1), SECONDS / 5)
            except TimeoutError:
                continue
            except ConnectionError:
                break
        writer.close()
        return b"closed"

    assert served(drip) == b"closed"


def test_a_second_request_that_never_ends_is_not_waited_for() -> None:
    answer = served(lambda port: everything(port, REQUEST + b"\r\n" + REQUEST))
    assert answer.startswith(b"HTTP/1.1 200")
    assert answer.endswith(b"ok")


def test_a_call_that_takes_long_keeps_its_connection() -> None:
    last = REQUEST + b"Connection: close\r\n\r\n"
    answer = served(lambda port: everything(port, REQUEST + b"\r\n", last))
    assert answer.count(b"HTTP/1.1 200") == 2
