"""The installed ``vacmcp``, run as a process of its own with a home of its own."""

import json
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

SECONDS = 120.0
CACHE = Path(tempfile.gettempdir()) / f"vacmcp-tests-{os.getpid()}"


@pytest.fixture(scope="session", autouse=True)
def _cache() -> Iterator[None]:
    yield
    shutil.rmtree(CACHE, ignore_errors=True)


def script() -> Path:
    name = "vacmcp.exe" if sys.platform == "win32" else "vacmcp"
    return Path(sysconfig.get_path("scripts")) / name


@dataclass(frozen=True, slots=True)
class Ran:
    """How one command ended."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    @property
    def rows(self) -> list[list[str]]:
        return [line.split("\t") for line in self.out.splitlines()]

    @property
    def pairs(self) -> dict[str, str]:
        """A status answer; the first line of a key counts."""
        found: dict[str, str] = {}
        for line in self.out.splitlines():
            found.setdefault(line[:12].strip(), line[12:])
        return found

    @property
    def error(self) -> str:
        """The code of the first error line."""
        for line in self.err.splitlines():
            if line.startswith("vacmcp: ") and line.count(": ") >= 2:
                return line.split(": ")[1]
        return ""


@dataclass(frozen=True, slots=True)
class Vacmcp:
    """Runs commands with one home and one data directory."""

    home: Path
    data: Path

    def __call__(self, *words: str, env: dict[str, str] | None = None) -> Ran:
        done = subprocess.run(
            [str(script()), *words],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            env=self.environment(env),
            cwd=self.home,
            timeout=SECONDS,
            check=False,
        )
        return Ran(done.returncode, done.stdout, done.stderr)

    @property
    def script(self) -> Path:
        return script()

    def start(self, *words: str, **more: Any) -> "subprocess.Popen[str]":
        return subprocess.Popen(
            [str(script()), *words],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            env=self.environment(None),
            cwd=self.home,
            **more,
        )

    def environment(self, more: dict[str, str] | None) -> dict[str, str]:
        plain = {
            name: value
            for name, value in os.environ.items()
            if name not in {"NO_COLOR", "FORCE_COLOR", "COLUMNS", "LINES"}
        }
        home = {"HOME": str(self.home), "USERPROFILE": str(self.home)}
        # Commands start in half the time when one run's byte code serves the next.
        plain.pop("PYTHONDONTWRITEBYTECODE", None)
        plain["PYTHONPYCACHEPREFIX"] = str(CACHE)
        return {**plain, **home, "VACMCP_DATA_DIR": str(self.data), **(more or {})}


@pytest.fixture
def vacmcp(tmp_path: Path) -> Vacmcp:
    home = tmp_path / "home"
    home.mkdir()
    return Vacmcp(home, tmp_path / "data")


@pytest.fixture(scope="session")
def demo_source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The demo repository; nobody changes it."""
    from vacmcpd.testing.demo import make_demo_repository

    folder = tmp_path_factory.mktemp("demo") / "demo"
    make_demo_repository(folder)
    return folder


@pytest.fixture
def added(vacmcp: Vacmcp, demo_source: Path) -> Vacmcp:
    """A data directory with the demo repository in it."""
    ran = vacmcp("repo", "add", "demo", "--url", demo_source.as_uri())
    assert ran.code == 0, ran.err
    return vacmcp


@pytest.fixture
def pinned(added: Vacmcp) -> Vacmcp:
    """... and the context ``v1``."""
    ran = added("context", "create", "v1", "--repo", "demo", "--ref", "release/v1")
    assert ran.code == 0, ran.err
    return added


@pytest.fixture
def served(pinned: Vacmcp) -> Iterator[Vacmcp]:
    """... and a server that runs on it."""
    child = pinned.start("serve", "--managed", "--address", "127.0.0.1:0")
    try:
        until(lambda: pinned("doctor", "--managed").out.count(str(child.pid)) > 0, child)
        yield pinned
    finally:
        child.terminate()
        child.communicate(timeout=SECONDS)


def until(holds: Callable[[], bool], child: "subprocess.Popen[str]") -> None:
    """Wait until it holds, while ``child`` lives."""
    deadline = time.monotonic() + SECONDS
    while not holds():
        assert child.poll() is None, child.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.05)
