"""Room for recursion as deep as code nests and calls chain."""

import sys
import threading
from collections.abc import Callable
from typing import TypeVar

_T = TypeVar("_T")

_STACK = 256 << 20
"""Bytes; only what is used of it is ever taken."""

_FRAMES = 200_000


def with_room(work: Callable[[], _T]) -> _T:
    """What ``work`` gives, run in a thread with a stack that holds very deep recursion.

    Raises what it raises, ``RecursionError`` for what is deeper still.
    """
    made: list[_T] = []
    failed: list[BaseException] = []

    def run() -> None:
        try:
            made.append(work())
        except BaseException as error:
            failed.append(error)

    before = threading.stack_size(_STACK)
    limit = sys.getrecursionlimit()
    try:
        thread = threading.Thread(target=run, name="deep")
        sys.setrecursionlimit(max(limit, _FRAMES))
        thread.start()
    finally:
        threading.stack_size(before)
    thread.join()
    sys.setrecursionlimit(limit)
    if failed:
        raise failed[0]
    return made[0]
