"""One data directory, several agents: the server's socket and the proxies that join it."""

import json
import os
import signal
import socket
import stat
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from vacmcpd.errors import Locked
from vacmcpd.server import rendezvous

Poll = Callable[..., Any]
pytestmark = pytest.mark.skipif(os.name != "posix", reason="unix sockets and signals")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "runtime" / "server.sock"


def search(client: Any, number: Any, query: str = "total", *, meta: bool = False) -> Any:
    client.call(number, "search_code", meta=meta, context="v1", query=query)
    return client.answer(number)["result"]["structuredContent"]


@pytest.mark.parametrize("holder", ["http", "stdio"])
def test_two_proxies_work_at_once_beside_the_holders_own_clients(
    start: Any, pipe: Any, path: Path, holder: str
) -> None:
    server = start(holder, "--socket", str(path)).ready()
    old, new = (pipe(start("proxy", "--socket", str(path))) for _ in range(2))
    old.initialize("2025-03-26")
    for number in range(5):
        assert search(old, number)["total_matches"] == 1
        assert search(new, number, meta=True)["total_matches"] == 1
    if holder == "http":
        assert server.call("list_contexts").wire["contexts"]
    else:
        own = pipe(server)
        own.initialize()
        assert search(own, 1)["total_matches"] == 1
    for client in (old, new):
        client.close()
        assert client.server.wait() == 0
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_slow_call_of_one_proxy_does_not_hold_another_up(
    start: Any, pipe: Any, path: Path, poll: Poll
) -> None:
    server = start("http", "--socket", str(path)).ready()
    slow, quick = (pipe(start("proxy", "--socket", str(path))) for _ in range(2))
    slow.initialize()
    quick.initialize()
    slow.call(1, "search_code", context="v1", query="slow 60")
    poll(lambda: server.notes("started"), "the call's start")
    assert search(quick, 1)["total_matches"] == 1


def test_calls_that_were_sent_are_answered_after_the_end_of_input(
    start: Any, pipe: Any, path: Path
) -> None:
    start("http", "--socket", str(path)).ready()
    client = pipe(start("proxy", "--socket", str(path)))
    client.initialize()
    client.call(1, "search_code", context="v1", query="slow 0.3")
    client.close()
    assert client.all()[-1]["id"] == 1
    assert client.server.wait() == 0


def test_a_proxy_that_is_killed_cancels_its_calls(
    start: Any, pipe: Any, path: Path, poll: Poll
) -> None:
    server = start("http", "--socket", str(path)).ready()
    client = pipe(start("proxy", "--socket", str(path)))
    client.initialize()
    client.call(1, "search_code", context="v1", query="slow 60")
    poll(lambda: server.notes("started"), "the call's start")
    client.server.process.kill()
    poll(lambda: server.notes("ended"), "the cancel")


def test_a_proxy_ends_with_the_server_and_says_so(start: Any, pipe: Any, path: Path) -> None:
    server = start("http", "--socket", str(path)).ready()
    client = pipe(start("proxy", "--socket", str(path)))
    client.initialize()
    server.process.kill()
    assert client.server.wait() == 1
    assert "the server that this process had joined went away" in client.server.stderr


def test_a_proxys_call_in_flight_is_answered_when_the_server_drains(
    start: Any, pipe: Any, path: Path, poll: Poll
) -> None:
    server = start("http", "--socket", str(path)).ready()
    client = pipe(start("proxy", "--socket", str(path)))
    client.initialize()
    client.call(1, "search_code", context="v1", query="slow 1")
    poll(lambda: server.notes("started"), "the call's start")
    assert server.stop() == 0
    assert client.answer(1)["result"]["structuredContent"]["total_matches"] == 1
    assert not path.exists()


def test_a_proxy_ends_at_a_signal(start: Any, pipe: Any, path: Path) -> None:
    start("http", "--socket", str(path)).ready()
    client = pipe(start("proxy", "--socket", str(path)))
    client.initialize()
    assert client.server.stop(signal.SIGTERM) == 0


def test_a_proxy_whose_client_dies_ends_though_the_pipe_stays_open(
    start: Any, pipe: Any, path: Path, poll: Poll
) -> None:
    start("http", "--socket", str(path)).ready()
    between = (
        "import os, subprocess, sys; child = subprocess.Popen(sys.argv[1:]); "
        "os.write(2, b'driver: listening %d\\n' % child.pid); child.wait()"
    )
    prefix = (sys.executable, "-c", between)
    client = pipe(start("proxy", "--socket", str(path), prefix=prefix))
    client.initialize()
    proxy = client.server.port
    client.server.process.kill()
    poll(lambda: gone(proxy), "the end of the orphan")


def gone(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return False


def test_an_idle_proxy_does_not_keep_the_processor_busy(start: Any, pipe: Any, path: Path) -> None:
    start("http", "--socket", str(path)).ready()
    client = pipe(start("proxy", "--socket", str(path)))
    client.initialize()
    before = switches(client.server.process.pid)
    client.send({"jsonrpc": "2.0", "id": "ping", "method": "ping"})
    client.answer("ping")
    # Woken by two messages and once a second, never in a loop.
    assert switches(client.server.process.pid) - before < 50


def switches(pid: int) -> int:
    status = Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
    return sum(int(line.split()[1]) for line in status.split("\n") if "ctxt_switches" in line)


def test_a_proxy_without_a_server_fails_with_what_to_do(start: Any, path: Path) -> None:
    path.parent.mkdir()
    with socket.socket(socket.AF_UNIX) as dead:
        dead.bind(str(path))
    proxy = start("proxy", "--socket", str(path))
    assert proxy.wait() == 1
    assert "driver: LOCKED" in proxy.stderr


def test_a_dead_servers_socket_is_replaced(start: Any, pipe: Any, path: Path) -> None:
    path.parent.mkdir()
    with socket.socket(socket.AF_UNIX) as dead:
        dead.bind(str(path))
    start("http", "--socket", str(path)).ready()
    client = pipe(start("proxy", "--socket", str(path)))
    assert client.initialize()


def test_a_link_in_place_of_the_socket_is_replaced_and_not_followed(
    start: Any, pipe: Any, path: Path, tmp_path: Path
) -> None:
    path.parent.mkdir()
    elsewhere = tmp_path / "elsewhere"
    elsewhere.write_text("kept", encoding="utf-8")
    path.symlink_to(elsewhere)
    start("http", "--socket", str(path)).ready()
    assert stat.S_ISSOCK(path.lstat().st_mode)
    assert stat.S_IMODE(path.lstat().st_mode) == 0o600
    assert elsewhere.read_text(encoding="utf-8") == "kept"


@pytest.mark.parametrize("kind", ["http", "stdio"])
def test_what_can_not_be_replaced_by_a_socket_ends_the_server_with_what_to_do(
    start: Any, path: Path, kind: str
) -> None:
    (path / "something").mkdir(parents=True)
    server = start(kind, "--socket", str(path))
    assert server.wait() == 1
    assert "remove it" in server.stderr
    assert "Traceback" not in server.stderr


def test_more_sessions_than_are_served_are_told_so(start: Any, path: Path) -> None:
    start("http", "--socket", str(path)).ready()
    connections = [rendezvous.connect(path) for _ in range(64)]
    ping = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "ping"}).encode() + b"\n"
    try:
        for connection in connections:
            connection.sendall(ping)
            assert b'"result":{}' in connection.recv(65536)
        with rendezvous.connect(path) as one_more:
            assert b"busy" in one_more.recv(65536)
            assert one_more.recv(65536) == b""
        connections.pop().close()
    finally:
        for connection in connections:
            connection.close()


def test_a_path_too_long_for_a_socket_gets_a_port_and_a_token(
    start: Any, pipe: Any, tmp_path: Path
) -> None:
    path = tmp_path / ("long" * 30) / "server.sock"
    start("http", "--socket", str(path)).ready()
    assert path.is_file()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    client = pipe(start("proxy", "--socket", str(path)))
    client.initialize()
    assert search(client, 1)["total_matches"] == 1
    port = json.loads(path.read_text(encoding="utf-8"))["port"]
    with socket.create_connection(("127.0.0.1", port), timeout=20) as stranger:
        stranger.sendall(b"guess\n" + b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n')
        assert stranger.recv(65536) == b""


@pytest.mark.parametrize("note", ["", "{}", "[]", '{"port": "x"}', '{"port": 1, "token": "t"}'])
def test_a_note_that_leads_nowhere_is_no_server(tmp_path: Path, note: str) -> None:
    path = tmp_path / "server.sock"
    path.write_text(note, encoding="utf-8")
    with pytest.raises(Locked):
        rendezvous.connect(path)
