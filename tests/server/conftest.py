"""Real server processes over the fakes of served.py, and small clients for them."""

import http.client
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from vacmcpd.composition import open_managed
from vacmcpd.managed.activity import QUIET
from vacmcpd.settings import Settings
from vacmcpd.testing.demo import make_demo_repository

DRIVER = Path(__file__).with_name("driver.py")
DEADLINE = 30.0
META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "0"},
    "io.modelcontextprotocol/clientCapabilities": {},
}
JSON_HEADERS = {
    "Content-Type": "application/json",
    "Accept": "application/json, text/event-stream",
}


def until(condition: Callable[[], Any], what: str = "it") -> Any:
    """Poll until the condition holds; its value."""
    deadline = time.monotonic() + DEADLINE
    while time.monotonic() < deadline:
        if value := condition():
            return value
        time.sleep(0.01)
    raise AssertionError(f"waited {DEADLINE} s for {what}")


@dataclass
class Answer:
    """An HTTP response; ``message`` is its JSON, out of the event stream when it is one."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def message(self) -> Any:
        if self.headers.get("content-type", "").startswith("text/event-stream"):
            lines = [line for line in self.body.splitlines() if line.startswith(b"data: {")]
            return json.loads(lines[-1][6:])
        return json.loads(self.body)

    @property
    def result(self) -> Any:
        assert "result" in self.message, self.message
        return self.message["result"]

    @property
    def wire(self) -> Any:
        """The tool's structured answer, which its text must equal."""
        assert json.loads(self.result["content"][0]["text"]) == self.result["structuredContent"]
        return self.result["structuredContent"]


@dataclass
class Server:
    """A server process."""

    process: "subprocess.Popen[bytes]"
    notes_path: Path
    said: list[str] = field(default_factory=list)

    def listen_to_stderr(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self.said.append(line.decode("utf-8", "replace").rstrip("\n"))

    def ready(self) -> "Server":
        words = {"driver: ready", "vacmcp: ready"}
        until(lambda: words & set(self.said) or self.process.poll() is not None, "readiness")
        assert self.process.poll() is None, self.said
        return self

    @property
    def port(self) -> int:
        def found() -> "re.Match[str] | None":
            return re.search(r"listening (?:on http://[\d.]+:)?(\d+)", self.stderr)

        return int(until(found, "the port")[1])

    @property
    def stderr(self) -> str:
        return "\n".join(self.said)

    def heard(self, word: str) -> str:
        """Standard error once it has ``word``, which a pipe may bring after the answer."""
        until(lambda: word in self.stderr, word)
        return self.stderr

    def notes(self, word: str) -> list[int]:
        """The processes that noted a word."""
        if not self.notes_path.exists():
            return []
        lines = self.notes_path.read_text(encoding="utf-8").split("\n")
        return [int(line.split()[1]) for line in lines if line.startswith(f"{word} ")]

    def wait(self) -> int:
        return self.process.wait(DEADLINE)

    def stop(self, number: int = signal.SIGTERM) -> int:
        self.process.send_signal(number)
        return self.wait()

    def request(
        self,
        body: Any = None,
        *,
        method: str = "POST",
        path: str = "/mcp",
        headers: dict[str, str | None] | None = None,
    ) -> Answer:
        """One HTTP exchange; a header given as None is left out."""
        sent = {**JSON_HEADERS, **(headers or {})}
        data = body if isinstance(body, bytes | None) else json.dumps(body).encode()
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=DEADLINE)
        try:
            connection.putrequest(method, path, skip_host="Host" in sent)
            for name, value in sent.items():
                if value is not None:
                    connection.putheader(name, value)
            if data is not None:
                connection.putheader("Content-Length", str(len(data)))
            connection.endheaders(data)
            response = connection.getresponse()
            found = {name.lower(): value for name, value in response.getheaders()}
            return Answer(response.status, found, response.read())
        finally:
            connection.close()

    def call(self, tool: str, modern: bool = False, **arguments: Any) -> Answer:
        """A tools/call of either era."""
        params: dict[str, Any] = {"name": tool, "arguments": arguments}
        headers: dict[str, str | None] = {}
        if modern:
            params["_meta"] = META
            headers = {
                "MCP-Protocol-Version": "2026-07-28",
                "Mcp-Method": "tools/call",
                "Mcp-Name": tool,
            }
        body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        return self.request(body, headers=headers)

    def call_in_background(self, tool: str, modern: bool = False, **given: Any) -> "Future[Answer]":
        """The same in a thread."""
        future: Future[Answer] = Future()

        def run() -> None:
            try:
                future.set_result(self.call(tool, modern, **given))
            except (OSError, http.client.HTTPException) as failure:
                future.set_exception(failure)

        threading.Thread(target=run, daemon=True).start()
        return future

    def begin(self, query: str, modern: bool = False) -> "Future[Answer]":
        """A search that has begun when this returns; ``slow SECONDS`` or ``stuck SECONDS``."""
        before = len(self.notes("started"))
        call = self.call_in_background("search_code", modern, context="v1", query=query)
        until(lambda: len(self.notes("started")) > before, f"the start of {query}")
        return call

    def connect(self, body: Any, headers: dict[str, str] | None = None) -> socket.socket:
        """A connection that has sent a request and not read the answer."""
        data = json.dumps(body).encode()
        lines = ["POST /mcp HTTP/1.1", "Host: localhost", f"Content-Length: {len(data)}"]
        lines += [f"{name}: {value}" for name, value in {**JSON_HEADERS, **(headers or {})}.items()]
        connection = socket.create_connection(("127.0.0.1", self.port), timeout=DEADLINE)
        connection.sendall("\r\n".join([*lines, "", ""]).encode() + data)
        return connection

    def status_of(self, body: Any, *lines: str) -> int:
        """The status that a request with exactly these header lines gets."""
        data = json.dumps(body).encode()
        given = ("POST /mcp HTTP/1.1", *lines, "Content-Type: application/json")
        head = "\r\n".join([*given, f"Content-Length: {len(data)}", "", ""])
        with socket.create_connection(("127.0.0.1", self.port), timeout=DEADLINE) as connection:
            connection.sendall(head.encode() + data)
            with connection.makefile("rb") as answer:
                return int(answer.readline().split()[1])


class Pipe:
    """A client on the other end of a stdio server."""

    def __init__(self, server: Server) -> None:
        self.server = server
        assert server.process.stdin is not None
        assert server.process.stdout is not None
        self._stdin = server.process.stdin
        self._lines: list[bytes] = []
        self._closed = threading.Event()
        self._stdout = server.process.stdout
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        for line in self._stdout:
            self._lines.append(line)
        self._closed.set()

    def send(self, *messages: Any) -> None:
        for message in messages:
            line = message if isinstance(message, bytes) else json.dumps(message).encode()
            self._stdin.write(line + b"\n")
        self._stdin.flush()

    def close(self) -> None:
        self._stdin.close()

    @property
    def messages(self) -> list[Any]:
        """What came, each line of it JSON."""
        return [json.loads(line) for line in list(self._lines)]

    def answer(self, number: Any) -> Any:
        """The message with that id."""
        return until(
            lambda: [x for x in self.messages if "id" in x and x["id"] == number],
            f"the answer to {number!r}, got {self._lines!r}, {self.server.said!r}",
        )[0]

    def all(self) -> list[Any]:
        """Everything, once the server has closed its side."""
        assert self._closed.wait(DEADLINE)
        return self.messages

    def initialize(self, version: str = "2025-11-25") -> Any:
        self.send(initialize("init", version), INITIALIZED)
        return self.answer("init")

    def call(self, number: Any, tool: str, *, meta: bool = False, **arguments: Any) -> None:
        params: dict[str, Any] = {"name": tool, "arguments": arguments}
        if meta:
            params["_meta"] = META
        self.send({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params})


INITIALIZED = {"jsonrpc": "2.0", "method": "notifications/initialized"}


def initialize(number: Any, version: str) -> dict[str, Any]:
    return {
        "jsonrpc": "2.0",
        "id": number,
        "method": "initialize",
        "params": {
            "protocolVersion": version,
            "capabilities": {},
            "clientInfo": {"name": "test", "version": "0"},
        },
    }


class Starter:
    """Starts servers in one folder; each is killed at the end."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._started: list[tuple[Server, threading.Thread]] = []

    def __call__(self, *arguments: str, prefix: tuple[str, ...] = (), **environment: str) -> Server:
        """A server over the fakes of served.py."""
        return self._start(
            [*prefix, sys.executable, "-W", "error", str(DRIVER), *arguments], environment
        )

    def managed(self, data: Path, *arguments: str, **environment: str) -> Server:
        """``vacmcpd`` over a data directory."""
        command = [sys.executable, "-W", "error", "-m", "vacmcpd", "--data-dir", str(data)]
        return self._start([*command, *arguments], environment)

    def _start(self, command: list[str], environment: dict[str, str]) -> Server:
        notes = self._folder / "notes"
        process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=self._folder,
            env={**os.environ, "SERVED_NOTES": str(notes), **environment},
        )
        server = Server(process, notes)
        listener = threading.Thread(target=server.listen_to_stderr, daemon=True)
        listener.start()
        self._started.append((server, listener))
        return server

    def end(self) -> None:
        for server, _ in self._started:
            if server.process.poll() is None:
                server.process.kill()
            server.process.wait()
        for server, listener in self._started:
            listener.join(DEADLINE)
            for stream in (server.process.stdin, server.process.stdout, server.process.stderr):
                assert stream is not None
                with suppress(BrokenPipeError):
                    stream.close()


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Starter]:
    """Starts servers that end with the test."""
    starter = Starter(tmp_path)
    yield starter
    starter.end()


@pytest.fixture(scope="session")
def demo_data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data directory with ``v1``, ``v2`` and ``both`` of the demo repository; to be copied."""
    folder = tmp_path_factory.mktemp("demo")
    url = make_demo_repository(folder / "demo").url
    managed = open_managed(folder / "data", Settings())
    for name in ("demo", "other"):
        managed.repositories.add(name, url, activity=QUIET)
    for release in ("v1", "v2"):
        managed.contexts.create(release, [("demo", f"release/{release}")], activity=QUIET)
    pairs = [("demo", "release/v2"), ("other", "release/v1")]
    managed.contexts.create("both", pairs, activity=QUIET)
    managed.close()
    return folder / "data"


@pytest.fixture
def demo_copy(demo_data: Path, tmp_path: Path) -> Path:
    """A data directory of one's own to break."""
    return Path(shutil.copytree(demo_data, tmp_path / "data"))


@pytest.fixture(scope="session")
def http_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """One HTTP server for all tests that leave it as it was."""
    starter = Starter(tmp_path_factory.mktemp("shared"))
    yield starter("http").ready()
    starter.end()


@pytest.fixture(scope="session")
def empty_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """One HTTP server without a context."""
    starter = Starter(tmp_path_factory.mktemp("empty"))
    yield starter("http", "--engine", "build_empty").ready()
    starter.end()


@pytest.fixture
def stdio_server(start: Starter) -> Pipe:
    """A stdio server that is ready, and its client's end."""
    return Pipe(start("stdio").ready())


@pytest.fixture
def poll() -> Callable[..., Any]:
    """Polls a condition until it holds."""
    return until


@pytest.fixture
def pipe() -> Callable[[Server], Pipe]:
    """A client's end for a server that was started by the test."""
    return Pipe
