"""What every test stands on: no home of the user's, no network, no git configuration."""

import os
import socket
from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def _nothing_of_the_user(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A test can't read or write the user's home, git configuration or vacmcp settings."""
    home = tmp_path_factory.mktemp("home")
    for name in list(os.environ):
        if name.startswith(("GIT_", "VACMCP_", "SSH_")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("USERPROFILE", str(home))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    monkeypatch.setenv("PYTHONWARNDEFAULTENCODING", "1")


@pytest.fixture(autouse=True)
def _only_loopback(monkeypatch: pytest.MonkeyPatch) -> None:
    """Connecting anywhere but to this machine fails the test at once."""
    connect = socket.socket.connect

    def guarded(self: socket.socket, address: object) -> None:
        if isinstance(address, tuple) and address[0] not in {"127.0.0.1", "::1", "localhost"}:
            raise AssertionError(f"a test tried to reach {address!r}")
        connect(self, address)  # type: ignore[arg-type]

    monkeypatch.setattr(socket.socket, "connect", guarded)
    return


@pytest.fixture
def data_root(tmp_path: Path) -> Path:
    """A data directory that does not exist yet."""
    return tmp_path / "data"
