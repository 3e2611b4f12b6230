"""Runs the git binary: hardened environment, own process group, bounded, cancellable.

Nothing here knows what a verb means. A caller hands a :data:`Watch` that raises when it is time to
stop; git and all its children are ended before that exception, or any other, goes on.
"""

import contextlib
import logging
import os
import queue
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from types import TracebackType
from typing import IO, Final

from ...errors import BuildCode, Cancelled, LifecycleError
from ...ports.budget import CancelFlag
from .environment import Profile, environment, overrides
from .failures import GitFailed, redact

GIT_FLOOR: Final = (2, 32)
"""The first version with GIT_CONFIG_GLOBAL; older ones would read the user's configuration."""

Watch = Callable[[], None]
"""Polled at least every 50 ms while git runs; raises to stop it."""
OnLine = Callable[[str], None]
"""Called with every line of git's stderr, not redacted, in the caller's thread."""

_POLL_SECONDS = 0.05
_GRACE_SECONDS = 2.0
_CHUNK = 1 << 16
_QUEUED_CHUNKS = 64
_KEPT_LINES = 60
_DEFAULT_MAX_BYTES = 64 * 1024 * 1024

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class GitCall:
    """One git command. ``options`` stand before the verb; ``inherited`` descriptors are passed on.

    ``protocols`` is what GIT_ALLOW_PROTOCOL says; empty allows no transport.
    """

    arguments: tuple[str, ...]
    git_dir: Path | None = None
    profile: Profile = Profile.LOCAL
    protocols: str = ""
    options: tuple[str, ...] = ()
    ssh_configured: bool = False
    inherited: tuple[int, ...] = ()
    on_start: Callable[[int], None] | None = None

    @property
    def verb(self) -> str:
        """The git verb, for messages."""
        return self.arguments[0]

    def command(self) -> list[str]:
        """The whole command line."""
        located = [f"--git-dir={self.git_dir}"] if self.git_dir else []
        return [
            _binary(),
            "--no-pager",
            *located,
            *overrides(self.profile),
            *self.options,
            *self.arguments,
        ]


def until(what: str, seconds: float, cancel: CancelFlag | None) -> Watch:
    """A watch that raises TIMEOUT after ``seconds`` from now, and Cancelled."""
    deadline = time.monotonic() + seconds

    def watch() -> None:
        if cancel is not None and cancel.is_set():
            raise Cancelled(f"{what} was cancelled")
        if time.monotonic() >= deadline:
            raise LifecycleError(
                BuildCode.TIMEOUT,
                f"{what} did not finish within {seconds:g} s; try again, or raise "
                "git.network_timeout",
            )

    return watch


def run(
    call: GitCall,
    watch: Watch,
    on_line: OnLine | None = None,
    max_bytes: int = _DEFAULT_MAX_BYTES,
) -> bytes:
    """Run to the end and return stdout.

    Raises GitFailed for a status other than 0 and for more than ``max_bytes`` of output,
    LifecycleError when there is no git, and whatever ``watch`` raises.
    """
    parts: list[bytes] = []
    size = 0
    with _Child(call, watch, on_line) as child:
        for chunk in child.output():
            parts.append(chunk)
            size += len(chunk)
            if size > max_bytes:
                raise GitFailed(call.verb, 0, [f"error: more than {max_bytes} bytes of output"])
        child.finish()
    return b"".join(parts)


def records(
    call: GitCall, watch: Watch, max_bytes: int = _DEFAULT_MAX_BYTES
) -> Generator[bytes, None, None]:
    """The NUL-terminated records of stdout as they come; closing the iterator ends git.

    ``max_bytes`` bounds one record. Raises what :func:`run` raises.
    """
    with _Child(call, watch, None) as child:
        rest = b""
        for chunk in child.output():
            *whole, rest = (rest + chunk).split(b"\0")
            yield from whole
            if len(rest) > max_bytes:
                raise GitFailed(call.verb, 0, [f"error: a record of more than {max_bytes} bytes"])
        child.finish()
        if rest:
            yield rest


@lru_cache(maxsize=1)
def git_version() -> tuple[int, ...]:
    """The version of the git on PATH, e.g. ``(2, 39, 5)``. LifecycleError when there is none."""
    text = run(GitCall(("version",)), until("git version", 30, None)).decode("utf-8", "replace")
    found = re.search(r"\d+(?:\.\d+)+", text)
    return tuple(int(part) for part in found.group().split(".")) if found else ()


def _binary() -> str:
    found = shutil.which("git")
    if found is None or not Path(found).is_absolute():
        raise LifecycleError(
            BuildCode.REPOSITORY_NOT_FOUND,
            "git was not found on PATH; install git "
            f"{GIT_FLOOR[0]}.{GIT_FLOOR[1]} or newer and run the command again",
            {"missing": "git"},
        )
    return found


@dataclass(frozen=True, slots=True)
class _Chunk:
    """A piece of one stream; empty at its end."""

    stderr: bool
    data: bytes


class _Child:
    """One running git, with a thread for each of its two streams."""

    def __init__(self, call: GitCall, watch: Watch, on_line: OnLine | None) -> None:
        self._call = call
        self._watch = watch
        self._on_line = on_line
        self._events: queue.Queue[_Chunk] = queue.Queue(_QUEUED_CHUNKS)
        self._closed = threading.Event()
        self._lines: deque[str] = deque(maxlen=_KEPT_LINES)
        self._partial = b""
        self._open = 2

    def __enter__(self) -> "_Child":
        self._watch()
        self._process = _start(self._call)
        for stream, stderr in ((self._process.stdout, False), (self._process.stderr, True)):
            assert stream is not None
            threading.Thread(target=self._pump, args=(stream, stderr), daemon=True).start()
        if self._call.on_start is not None:
            self._call.on_start(self._process.pid)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._process.poll() is None:
            _end(self._process)
        self._closed.set()

    def output(self) -> Iterator[bytes]:
        """Stdout until git has closed it, feeding stderr to the listener meanwhile."""
        idle_since: float | None = None
        while self._open:
            self._watch()
            try:
                event = self._events.get(timeout=_POLL_SECONDS)
            except queue.Empty:
                # A daemon that git's ssh or credential helper left behind can hold stderr open
                # for ever; once git itself has ended, half a second of silence is the end.
                if self._process.poll() is None:
                    continue
                idle_since = idle_since or time.monotonic()
                if time.monotonic() - idle_since > 0.5:
                    return
                continue
            idle_since = None
            if not event.data:
                self._open -= 1
            elif event.stderr:
                self._listen(event.data)
            else:
                yield event.data

    def finish(self) -> None:
        """Wait for git's end; GitFailed unless its status is 0."""
        while self._process.poll() is None:
            self._watch()
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(_POLL_SECONDS)
        self._listen(b"\n")
        if self._process.returncode:
            _log.debug("git %s ended with %s", self._call.verb, self._process.returncode)
            raise GitFailed(self._call.verb, self._process.returncode, self._lines)

    def _listen(self, data: bytes) -> None:
        *whole, self._partial = re.split(rb"[\r\n]", self._partial + data)
        self._partial = self._partial[-_CHUNK:]
        for raw in whole:
            line = raw.decode("utf-8", "replace").strip()
            if not line:
                continue
            self._lines.append(redact(line))
            if self._on_line is not None:
                self._on_line(line)

    def _pump(self, stream: IO[bytes], stderr: bool) -> None:
        with stream:
            while chunk := stream.read(_CHUNK):
                if not self._put(_Chunk(stderr, chunk)):
                    return
        self._put(_Chunk(stderr, b""))

    def _put(self, event: _Chunk) -> bool:
        while not self._closed.is_set():
            with contextlib.suppress(queue.Full):
                self._events.put(event, timeout=_POLL_SECONDS)
                return True
        return False


def _start(call: GitCall) -> subprocess.Popen[bytes]:
    flags = 0
    if sys.platform == "win32":
        flags = subprocess.CREATE_NEW_PROCESS_GROUP
    return subprocess.Popen(  # noqa: S603 - never a shell; the arguments are ours or checked
        call.command(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        bufsize=0,
        cwd=call.git_dir,
        env=environment(call.profile, call.protocols, call.ssh_configured),
        # A session of its own has no terminal, so that ssh has nowhere to ask for a passphrase.
        start_new_session=sys.platform != "win32",
        creationflags=flags,
        pass_fds=call.inherited,
    )


def _end(process: subprocess.Popen[bytes]) -> None:
    """End git and its children: SIGTERM lets it remove its temporary files, SIGKILL follows."""
    if sys.platform == "win32":
        taskkill = Path(os.environ.get("SYSTEMROOT", r"C:\Windows")) / "System32" / "taskkill.exe"
        subprocess.run(  # noqa: S603 - a fixed program and a number
            [str(taskkill), "/T", "/F", "/PID", str(process.pid)], check=False, capture_output=True
        )
    else:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGTERM)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(_GRACE_SECONDS)
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
    process.wait()
