"""Blocking calls in daemon threads: one that never returns must not hold the process up."""

import asyncio
import threading
from collections.abc import Callable
from typing import TypeVar

_T = TypeVar("_T")


def start(name: str, target: Callable[[], None]) -> None:
    """Run ``target`` in a daemon thread."""
    threading.Thread(target=target, name=name, daemon=True).start()


async def call(name: str, function: Callable[[], _T]) -> _T:
    """The value of ``function``, run in a thread of its own; a cancel leaves the thread behind.

    ``function`` raises OSError or nothing.
    """
    loop = asyncio.get_running_loop()
    future: asyncio.Future[_T] = loop.create_future()

    def work() -> None:
        try:
            value = function()
        except OSError as failure:
            tell(loop, _fail, future, failure)
        else:
            tell(loop, _settle, future, value)

    start(name, work)
    return await future


def tell(
    loop: asyncio.AbstractEventLoop, callback: Callable[..., None], *arguments: object
) -> bool:
    """Call back in the event loop; False when that is closed, because the process is ending."""
    try:
        loop.call_soon_threadsafe(callback, *arguments)
    except RuntimeError:
        return False
    return True


def _settle(future: "asyncio.Future[_T]", value: _T) -> None:
    if not future.done():
        future.set_result(value)


def _fail(future: "asyncio.Future[_T]", failure: OSError) -> None:
    if not future.done():
        future.set_exception(failure)
