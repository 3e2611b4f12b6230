"""Real repositories, a real HTTP server for them, and a store over a fresh data directory."""

import os
import subprocess
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from vacmcpd.adapters.git.clone import GitRepositoryStore
from vacmcpd.adapters.git.objects import GitObjects
from vacmcpd.adapters.git.source import GitSource
from vacmcpd.datadir import DataDirectory
from vacmcpd.model import Artifact, Member, Scope
from vacmcpd.ports.budget import Budget
from vacmcpd.testing.demo import DemoRepository, make_demo_repository

IDENTITY = {
    "GIT_AUTHOR_NAME": "A U Thor",
    "GIT_AUTHOR_EMAIL": "author@example.org",
    "GIT_COMMITTER_NAME": "A U Thor",
    "GIT_COMMITTER_EMAIL": "author@example.org",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
}


def run_git(
    folder: Path, *arguments: str | bytes, stdin: bytes = b"", more: Mapping[str, str] | None = None
) -> str:
    """Plain git, with nobody's configuration; its stdout."""
    done = subprocess.run(
        ["git", "-C", str(folder), *arguments],
        input=stdin,
        env={**os.environ, **IDENTITY, **(more or {})},
        capture_output=True,
        check=True,
    )
    return done.stdout.decode("utf-8", "surrogateescape").strip()


class Upstream:
    """A repository that somebody else works in."""

    def __init__(self, path: Path) -> None:
        self.path = path
        path.mkdir(parents=True)
        run_git(path, "init", "--quiet", "--initial-branch=main")
        self._count = 0

    @property
    def url(self) -> str:
        return self.path.as_uri()

    def git(self, *arguments: str | bytes, stdin: bytes = b"") -> str:
        return run_git(self.path, *arguments, stdin=stdin)

    def blob(self, content: bytes) -> str:
        return self.git("hash-object", "-w", "--stdin", stdin=content)

    def tree(self, *entries: tuple[str, str, bytes]) -> str:
        """A tree of (mode, id, name), written without git's checks."""
        raw = b"".join(
            mode.encode() + b" " + name + b"\0" + bytes.fromhex(oid) for mode, oid, name in entries
        )
        return self.git("hash-object", "-t", "tree", "-w", "--literally", "--stdin", stdin=raw)

    def raw_commit(self, content: bytes, branch: str = "main") -> str:
        """Exactly these bytes as a commit, and ``branch`` at it."""
        made = self.git(
            "hash-object", "-t", "commit", "-w", "--literally", "--stdin", stdin=content
        )
        # update-ref reads what it is given; a malformed commit is part of some tests.
        ref = self.path / ".git" / "refs" / "heads" / branch
        ref.parent.mkdir(parents=True, exist_ok=True)
        ref.write_text(f"{made}\n", encoding="ascii")
        return made

    def commit(
        self,
        files: Mapping[str | bytes, bytes | tuple[str, bytes]] | None = None,
        message: str = "",
        branch: str = "main",
    ) -> str:
        """A commit on ``branch`` that changes exactly these files; None is a new one.

        A file is its content, or its mode and content; mode 160000 takes a commit id.
        """
        self._count += 1
        changed = files if files is not None else {f"file{self._count}.txt": b"%d" % self._count}
        index = {"GIT_INDEX_FILE": str(self.path / ".git" / "our-index")}
        try:
            parent = self.git("rev-parse", "--verify", "--quiet", f"refs/heads/{branch}")
        except subprocess.CalledProcessError:
            parent = ""
        run_git(self.path, "read-tree", *([parent] if parent else ["--empty"]), more=index)
        lines = b""
        for path, given in changed.items():
            mode, content = given if isinstance(given, tuple) else ("100644", given)
            oid = content.decode() if mode == "160000" else self.blob(content)
            name = path if isinstance(path, bytes) else path.encode()
            lines += f"{mode} {oid}\t".encode() + name + b"\0"
        run_git(self.path, "update-index", "-z", "--index-info", stdin=lines, more=index)
        tree = run_git(self.path, "write-tree", more=index)
        parents = ["-p", parent] if parent else []
        made = self.git(
            "commit-tree", tree, *parents, stdin=(message or f"change {self._count}\n").encode()
        )
        self.git("update-ref", f"refs/heads/{branch}", made)
        return made


@dataclass
class World:
    """A store, an object reader and a source over one data directory."""

    data: DataDirectory
    store: GitRepositoryStore

    def objects(self, keep_refs: bool = True) -> GitObjects:
        return GitObjects(self.data.repository, keep_refs=keep_refs)

    def source(self) -> GitSource:
        return GitSource(self.objects(keep_refs=False))

    def clone(self, upstream: Upstream | DemoRepository, name: str = "one") -> Path:
        self.store.clone(name, upstream.url, quiet, None)
        return self.data.repository(name)

    def fetch(self, upstream: Upstream | DemoRepository, name: str = "one") -> None:
        self.store.fetch(name, upstream.url, quiet, None)

    def scope(self, revision: str, search: Artifact | None = None, name: str = "one") -> Scope:
        return Scope("ctx", Member(name, "main", revision, search))

    def budget(self, seconds: float = 60) -> Budget:
        return Budget("test", "git", seconds)


def quiet(phase: str, done: int, total: int) -> None:
    """No progress."""


@pytest.fixture
def upstream(tmp_path: Path) -> Upstream:
    return Upstream(tmp_path / "upstream")


@pytest.fixture
def world(tmp_path: Path) -> World:
    data = DataDirectory(tmp_path / "data")
    data.create()
    return World(data, GitRepositoryStore(data, network_timeout=120))


@pytest.fixture
def demo(tmp_path: Path) -> DemoRepository:
    return make_demo_repository(tmp_path / "demo")


class GitServer:
    """Smart HTTP for the repositories below a folder; ``mode`` can be changed while it runs.

    ``serve``; ``401`` asks for credentials that nothing satisfies; ``basic`` asks for those of
    user ``robot`` with password ``hunter2``; ``stall`` never answers; ``404``.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self.mode = "serve"
        self.seen: list[str] = []
        self.asked = threading.Event()
        self.release = threading.Event()
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._http.daemon_threads = True
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.01,), daemon=True)
        self._thread.start()

    @property
    def port(self) -> int:
        return int(self._http.server_address[1])

    def url(self, path: str = "upstream/.git") -> str:
        return f"http://127.0.0.1:{self.port}/{path}"

    def close(self) -> None:
        self.release.set()
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()


def _handler(server: GitServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def log_message(self, format: str, *args: object) -> None:
            """Say nothing."""

        def do_GET(self) -> None:
            server.seen.append(f"{self.path} {self.headers.get('Authorization', '')}")
            server.asked.set()
            if server.mode == "stall":
                server.release.wait(60)
            elif server.mode == "404":
                self._say(404)
            elif server.mode == "401" or not self._may():
                self._say(401, ("WWW-Authenticate", 'Basic realm="x"'))
            else:
                self._backend()

        do_POST = do_GET

        def _may(self) -> bool:
            # robot:hunter2
            wanted = "Basic cm9ib3Q6aHVudGVyMg=="
            return server.mode != "basic" or self.headers.get("Authorization") == wanted

        def _say(self, status: int, *headers: tuple[str, str]) -> None:
            self.send_response(status)
            for name, value in (*headers, ("Content-Length", "0")):
                self.send_header(name, value)
            self.end_headers()

        def _backend(self) -> None:
            path, _, query = self.path.partition("?")
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            told = {
                "REQUEST_METHOD": self.command,
                "PATH_INFO": path,
                "QUERY_STRING": query,
                "CONTENT_TYPE": self.headers.get("Content-Type", ""),
                "CONTENT_LENGTH": str(len(body)),
                "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", ""),
                "GIT_PROTOCOL": self.headers.get("Git-Protocol", ""),
                "GIT_PROJECT_ROOT": str(server.root),
                "GIT_HTTP_EXPORT_ALL": "1",
            }
            done = subprocess.run(
                ["git", "http-backend"],
                input=body,
                env={**os.environ, **IDENTITY, **told},
                capture_output=True,
                check=False,
            )
            head, _, content = done.stdout.partition(b"\r\n\r\n")
            headers = dict(line.split(": ", 1) for line in head.decode("ascii").split("\r\n"))
            self.send_response(int(headers.pop("Status", "200 OK").split()[0]))
            for name, value in {**headers, "Content-Length": str(len(content))}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(content)

    return Handler


@pytest.fixture
def server(tmp_path: Path) -> Iterator[GitServer]:
    made = GitServer(tmp_path)
    yield made
    made.close()


@pytest.fixture
def home() -> Path:
    """The home that the user's git configuration is read from."""
    return Path(os.environ["HOME"])
