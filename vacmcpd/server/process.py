"""The server's end of one worker process."""

import asyncio
import json
import logging
import os
import pickle
import sys
from contextlib import suppress

from ..engine import Request
from ..errors import BuildCode, LifecycleError
from . import frames
from .runner import Reply, ReplyKind

_log = logging.getLogger(__name__)

# multiprocessing's spawn would import the main script again (the whole command line in every
# worker) and keep a resource tracker process; a worker needs the import path and nothing else.
# -P keeps the current folder, which may be anybody's repository, off that path.
_PROGRAM = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]); "
    "from vacmcpd.server.worker import main; main()"
)
_NOT_INHERITED = ("NOTIFY_SOCKET", "WATCHDOG_PID", "WATCHDOG_USEC")


class Worker:
    """One process. ``ended`` is done when it is gone, ``up`` holds its members when it is ready."""

    def __init__(self, process: asyncio.subprocess.Process, factory: bytes) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        loop = asyncio.get_running_loop()
        self._process = process
        self._stdin = process.stdin
        self._stdout = process.stdout
        self._answer: asyncio.Future[Reply | None] | None = None
        self._pong = asyncio.Event()
        self.up: asyncio.Future[int] = loop.create_future()
        self.up.add_done_callback(_seen)
        self._send(frames.BUILD, factory)
        self.ended = loop.create_task(self._listen())

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def members(self) -> int:
        """The members of its largest context."""
        return self.up.result()

    def ask(self, number: int, request: Request) -> "asyncio.Future[Reply | None]":
        """The reply to come; None when the process dies first."""
        self._answer = asyncio.get_running_loop().create_future()
        self._send(frames.REQUEST, frames.NUMBER.pack(number) + pickle.dumps(request))
        if self.ended.done():
            self._answer.set_result(None)
        return self._answer

    def cancel(self, number: int) -> None:
        """Tell it that nobody waits for this request any more."""
        self._send(frames.CANCEL, frames.NUMBER.pack(number))

    async def answers_ping(self, seconds: float) -> bool:
        """Whether it is there, busy or not."""
        self._pong.clear()
        self._send(frames.PING)
        with suppress(TimeoutError):
            await asyncio.wait_for(self._pong.wait(), seconds)
        return self._pong.is_set()

    def kill(self) -> None:
        """End it at once."""
        with suppress(ProcessLookupError):
            self._process.kill()

    async def close(self, seconds: float) -> None:
        """Let it close its engine and end; kill it after ``seconds``."""
        self._send(frames.QUIT)
        await asyncio.wait({self.ended}, timeout=seconds)
        self.kill()
        await self.ended

    def _send(self, kind: bytes, body: bytes = b"") -> None:
        if not self._stdin.is_closing():
            self._stdin.write(frames.pack(kind, body))

    async def _listen(self) -> None:
        with suppress(asyncio.IncompleteReadError, ConnectionError):
            while True:
                header = await self._stdout.readexactly(frames.HEADER.size)
                kind, length = frames.HEADER.unpack(header)
                self._take(kind, await self._stdout.readexactly(length))
        self._stdin.close()
        await self._process.wait()
        if not self.up.done():
            self.up.set_exception(_never_up(self._process.returncode))
        if self._answer is not None and not self._answer.done():
            self._answer.set_result(None)

    def _take(self, kind: bytes, body: bytes) -> None:
        if kind == frames.PONG:
            self._pong.set()
        elif kind == frames.UP:
            (members,) = frames.COUNT.unpack(body)
            self.up.set_result(members)
        elif kind == frames.BROKEN:
            self.up.set_exception(_broken(body))
        elif self._answer is not None and not self._answer.done():
            self._answer.set_result(Reply(ReplyKind(kind.decode()), body))


async def spawn(factory: bytes) -> Worker:
    """Start a worker over a pickled factory; it is not up yet."""
    path = json.dumps([entry for entry in sys.path if entry])
    environment = {key: value for key, value in os.environ.items() if key not in _NOT_INHERITED}
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-P",
        "-c",
        _PROGRAM,
        path,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        env=environment,
    )
    return Worker(process, factory)


def _seen(up: "asyncio.Future[int]") -> None:
    # A worker that is closed before it was up has nobody to tell, and that is no warning.
    if not up.cancelled():
        up.exception()


def _never_up(status: int | None) -> LifecycleError:
    return LifecycleError(
        BuildCode.INTERRUPTED,
        f"a worker process ended with status {status} before it could serve; "
        "its own words are on stderr",
    )


def _broken(body: bytes) -> LifecycleError:
    error = json.loads(body)["error"]
    return LifecycleError(BuildCode(error["code"]), error["message"], error["details"])
