"""Zoekt as the benchmark drives it: its indexer on a clone, its web server on the loopback.

The binaries are the caller's: a folder with ``zoekt-git-index`` and ``zoekt-webserver``.
"""

import http.client
import json
import os
import socket
import subprocess
import threading
import time
from pathlib import Path
from typing import Any

MOST_BRANCHES = 64
"""Zoekt keeps a 64-bit mask of branches and refuses more."""

PAGE = {"MaxDocDisplayCount": 50}
PAGE_OF_LINES = {"MaxDocDisplayCount": 50, "MaxMatchDisplayCount": 50}
COUNT = {"MaxDocDisplayCount": 1, "ShardMaxMatchCount": 10**9, "TotalMaxMatchCount": 10**10}
"""Every match is looked for; one file is displayed, so that the answer's size costs nothing."""
EVERYTHING = {"ShardMaxMatchCount": 10**9, "TotalMaxMatchCount": 10**10}

_QUIET = {"JAEGER_DISABLED": "true", "OPENTELEMETRY_DISABLED": "true"}


def branch(commit: str) -> str:
    """A name that no other contains: ``branch:`` in a query is a substring match."""
    return f"v-{commit}"


def scoped(text: str, commit: str) -> str:
    return f"branch:{branch(commit)} {text}"


def make_branches(clone: Path, commits: list[str]) -> None:
    """A branch for every commit of the benchmark's own clone."""
    lines = "".join(f"update refs/heads/{branch(commit)} {commit}\n" for commit in set(commits))
    subprocess.run(
        ["git", "-C", str(clone), "update-ref", "--stdin"], input=lines, text=True, check=True
    )


def index_command(binaries: Path, clone: Path, commits: list[str], folder: Path) -> list[str]:
    """All versions in one run: adding one later is this whole run again, its own ``-delta`` too."""
    return [
        str(binaries / "zoekt-git-index"),
        "-disable_ctags",
        "-submodules=false",
        "-incremental=false",
        "-branches",
        ",".join(branch(commit) for commit in dict.fromkeys(commits)),
        "-index",
        str(folder),
        str(clone),
    ]


def size(folder: Path) -> int:
    return sum(each.stat().st_size for each in folder.glob("*.zoekt"))


class Connection:
    """One kept connection to ``/api/search``; the body is read whole and not parsed."""

    def __init__(self, port: int) -> None:
        self._http = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
        self._http.connect()

    def ask(self, text: str, options: dict[str, Any]) -> tuple[float, bytes]:
        """Milliseconds from before sending to the last byte, and the body."""
        body = json.dumps({"Q": text, "Opts": options}).encode()
        began = time.perf_counter()
        self._http.request("POST", "/api/search", body, {"Content-Type": "application/json"})
        response = self._http.getresponse()
        content = response.read()
        took = (time.perf_counter() - began) * 1000
        if response.status != 200:
            raise RuntimeError(f"zoekt: {text}: {content[:300]!r}")
        return took, content

    def paths(self, text: str) -> set[str]:
        """Every file that matches."""
        _, content = self.ask(text, EVERYTHING)
        return {each["FileName"] for each in json.loads(content)["Result"]["Files"] or ()}

    def close(self) -> None:
        self._http.close()


class Server:
    """A running web server over one index folder."""

    def __init__(self, binaries: Path, folder: Path) -> None:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        began = time.perf_counter()
        self._process = subprocess.Popen(
            [
                str(binaries / "zoekt-webserver"),
                "-listen",
                f"127.0.0.1:{self.port}",
                "-index",
                str(folder),
                "-html=false",
                "-rpc",
            ],
            env={**os.environ, **_QUIET},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        self._wait()
        self.start_seconds = time.perf_counter() - began
        self.connection = Connection(self.port)

    @property
    def pid(self) -> int:
        return self._process.pid

    def close(self) -> None:
        self.connection.close()
        self._process.terminate()
        self._process.wait(30)

    def _wait(self) -> None:
        """Until a search finds something: the server listens before its shards are loaded."""
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            try:
                probe = Connection(self.port)
            except OSError:
                time.sleep(0.01)
                continue
            found = json.loads(probe.ask("file:.", COUNT)[1])["Result"]["FileCount"]
            probe.close()
            if found:
                return
            time.sleep(0.01)
        self._process.kill()
        raise RuntimeError("zoekt-webserver did not answer in 60 s")


def throughput(port: int, texts: list[str], clients: int) -> float:
    """Page queries answered per second by ``clients`` kept connections at once."""
    waiting = iter(texts)
    lock = threading.Lock()

    def client() -> None:
        connection = Connection(port)
        while True:
            with lock:
                text = next(waiting, None)
            if text is None:
                break
            connection.ask(text, PAGE)
        connection.close()

    threads = [threading.Thread(target=client) for _ in range(clients)]
    began = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return len(texts) / (time.perf_counter() - began)
