"""The unit file, and what the server tells the service manager that started it."""

import json
import os
import shutil
import signal
import socket
import subprocess
from collections.abc import Callable, Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from vacmcpd.server.notify import from_environment

Poll = Callable[..., Any]
posix = pytest.mark.skipif(os.name != "posix", reason="the protocol needs unix sockets")


class Manager:
    """The service manager's end of the notification socket."""

    def __init__(self, address: str) -> None:
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(address)
        self.socket.setblocking(False)
        self._said: list[str] = []

    def said(self, word: str) -> list[str]:
        """The messages so far that start with a word."""
        while True:
            try:
                self._said.append(self.socket.recv(4096).decode())
            except BlockingIOError:
                return [message for message in self._said if message.startswith(word)]


@pytest.fixture
def manager(tmp_path: Path) -> Iterator[Manager]:
    manager = Manager(str(tmp_path / "notify"))
    yield manager
    manager.socket.close()


@posix
def test_readiness_beats_and_stopping_are_told(
    start: Any, manager: Manager, tmp_path: Path, poll: Poll
) -> None:
    told = {"NOTIFY_SOCKET": str(tmp_path / "notify"), "WATCHDOG_USEC": "200000"}
    server = start("http", **told)
    poll(lambda: manager.said("READY=1"), "READY")
    assert server.request(method="GET", path="/readyz").status == 200
    seen = len(manager.said("WATCHDOG=1"))
    poll(lambda: len(manager.said("WATCHDOG=1")) >= seen + 3, "beats")
    call = server.begin("slow 1")
    server.process.send_signal(signal.SIGTERM)
    poll(lambda: manager.said("STOPPING=1"), "STOPPING")
    assert call.result(30).status == 200
    assert server.wait() == 0


@posix
def test_a_manager_that_does_not_listen_holds_nothing_up(
    start: Any, manager: Manager, tmp_path: Path, poll: Poll
) -> None:
    told = {"NOTIFY_SOCKET": str(tmp_path / "notify"), "WATCHDOG_USEC": "2000"}
    server = start("http", **told).ready()
    poll(lambda: "was not told" in server.stderr, "a full queue")
    assert server.call("list_contexts").status == 200
    assert server.stop() == 0


@posix
def test_no_beat_is_sent_while_no_worker_answers(
    start: Any, manager: Manager, tmp_path: Path, poll: Poll
) -> None:
    told = {"NOTIFY_SOCKET": str(tmp_path / "notify"), "WATCHDOG_USEC": "100000"}
    server = start("http", "--workers", "1", **told).ready()
    server.begin("stuck 60")
    (worker,) = server.notes("started")
    poll(lambda: manager.said("WATCHDOG=1"), "beats of a busy worker")
    os.kill(worker, signal.SIGSTOP)
    poll(lambda: "no worker answers" in server.stderr, "the missing beat")
    os.kill(worker, signal.SIGKILL)


@posix
def test_an_abstract_address_is_understood(tmp_path: Path) -> None:
    if not Path("/proc/net/unix").exists():
        pytest.skip("abstract sockets are Linux")
    manager = Manager(f"\0vacmcp-test-{os.getpid()}")
    try:
        notifier = from_environment({"NOTIFY_SOCKET": f"@vacmcp-test-{os.getpid()}"})
        notifier.ready("serving")
        assert manager.said("READY=1") == ["READY=1\nSTATUS=serving"]
    finally:
        manager.socket.close()


def test_without_a_manager_nothing_is_told() -> None:
    notifier = from_environment({})
    notifier.ready("serving")
    notifier.stopping("done")


def test_the_user_of_the_unit_is_the_one_that_sysusers_makes() -> None:
    folder = files("vacmcpd.systemd")
    unit = folder.joinpath("vacmcpd.service").read_text(encoding="utf-8")
    users = folder.joinpath("vacmcp.sysusers.conf").read_text(encoding="utf-8")
    assert "User=vacmcp\n" in unit
    assert "u vacmcp - " in users
    assert "Type=notify\n" in unit


@pytest.fixture
def unit(tmp_path: Path) -> Path:
    """A copy of the unit whose program is there."""
    if shutil.which("systemd-analyze") is None:
        assert os.environ.get("CI") != "true", "systemd-analyze is missing in CI"
        pytest.skip("systemd-analyze is not on PATH")
    text = files("vacmcpd.systemd").joinpath("vacmcpd.service").read_text(encoding="utf-8")
    program = next(line for line in text.split("\n") if line.startswith("ExecStart="))
    copy = tmp_path / "vacmcpd.service"
    copy.write_text(text.replace(program, "ExecStart=/bin/true"), encoding="utf-8")
    return copy


@pytest.mark.systemd
def test_the_unit_has_no_mistake_that_systemd_can_find(unit: Path) -> None:
    done = subprocess.run(["systemd-analyze", "verify", str(unit)], capture_output=True, text=True)
    assert (done.returncode, done.stdout + done.stderr) == (0, "")


@pytest.mark.systemd
def test_the_unit_is_hardened(unit: Path) -> None:
    command = ["systemd-analyze", "security", "--offline=true", "--threshold=15", str(unit)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
    as_json = subprocess.run([*command, "--json=short"], capture_output=True, text=True)
    assert json.loads(as_json.stdout)
