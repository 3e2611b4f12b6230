"""Closes connections that are open and ask nothing.

uvicorn waits without end for the first byte of a request and for the last of its headers; enough
such connections would use up those that a server takes.
"""

import asyncio
from collections.abc import Collection
from typing import Any, Protocol

import h11


class Connection(Protocol):
    """What is looked at of uvicorn's ``H11Protocol``."""

    conn: Any
    cycle: Any
    timeout_keep_alive_task: Any
    transport: Any


async def close_idle(connections: Collection[Connection], seconds: float) -> None:
    """Close each connection that waits for the same request for ``seconds`` to twice that long.

    Looks at ``connections``, which others change, until cancelled.
    """
    waited: dict[Connection, Any] = {}
    while True:
        await asyncio.sleep(seconds)
        waiting = {each: each.cycle for each in list(connections) if _waits(each)}
        for each, cycle in waiting.items():
            if each in waited and waited[each] is cycle:
                each.transport.close()
        waited = waiting


def _waits(connection: Connection) -> bool:
    """Whether headers are due; between two requests uvicorn has a timer of its own."""
    return connection.conn.their_state is h11.IDLE and connection.timeout_keep_alive_task is None
