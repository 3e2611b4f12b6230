"""The demonstration's server: the real one, as a child of this process."""

import http.client
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from vacmcpd.errors import BuildCode, LifecycleError

if TYPE_CHECKING:
    from vacmcpd.ports.locks import Locks

_START_SECONDS = 60.0
_STOP_SECONDS = 40.0
_POLL_SECONDS = 0.05


@contextmanager
def serving(root: Path, locks: "Locks") -> Iterator[tuple[str, "subprocess.Popen[bytes]"]]:
    """A ready server over ``root`` at a free port of 127.0.0.1: its base URL and process.

    Ended with SIGTERM, which drains it. Raises INTERRUPTED with the server's last line when it
    does not come up.
    """
    with tempfile.TemporaryFile() as words, _child(root, words) as child:
        try:
            yield _ready(child, locks, words), child
        finally:
            _end(child)


def command(root: Path, *more: str) -> list[str]:
    """How this interpreter serves ``root``, whatever the current folder holds.

    Without ``-P`` a checkout in the current folder would be imported instead of what is installed.
    """
    line = [sys.executable, "-P", "-m", "vacmcpd.cli", "serve", "--managed"]
    return [*line, *more, "--data-dir", str(root)]


def _child(root: Path, words: Any) -> "subprocess.Popen[bytes]":
    return subprocess.Popen(  # noqa: S603 - this interpreter, fixed words and a folder of ours
        command(root, "--address", "127.0.0.1:0"),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=words,
        env={name: value for name, value in os.environ.items() if not name.startswith("VACMCP_")},
        # Ctrl-C reaches a whole process group; the server is to be asked once, by us.
        start_new_session=True,
    )


def _ready(child: "subprocess.Popen[bytes]", locks: "Locks", words: Any) -> str:
    deadline = time.monotonic() + _START_SECONDS
    while time.monotonic() < deadline and child.poll() is None:
        holder = locks.server_holder()
        if holder is not None and holder.address.startswith("http") and _answers(holder.address):
            return holder.address
        time.sleep(_POLL_SECONDS)
    words.seek(0)
    last = words.read().decode("utf-8", "replace").strip().splitlines()[-1:]
    raise LifecycleError(
        BuildCode.INTERRUPTED,
        f"the demo's server did not come up: {''.join(last) or 'it said nothing'}; "
        "run `vacmcp doctor --managed` to see what is missing",
    )


def _answers(address: str) -> bool:
    where = urlsplit(address)
    connection = http.client.HTTPConnection(where.hostname or "127.0.0.1", where.port, timeout=2.0)
    try:
        connection.request("GET", "/readyz")
        return connection.getresponse().status == http.client.OK
    except OSError:
        return False
    finally:
        connection.close()


def _end(child: "subprocess.Popen[bytes]") -> None:
    child.terminate()
    try:
        child.wait(timeout=_STOP_SECONDS)
    except subprocess.TimeoutExpired:
        child.kill()
        child.wait()
