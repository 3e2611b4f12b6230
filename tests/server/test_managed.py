"""``serve --managed`` as a process: what it says, when it ends, who may have the directory."""

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from vacmcpd.composition import open_managed
from vacmcpd.settings import Settings


@contextmanager
def serving(data: Path, *arguments: str) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-m", "vacmcpd", "--data-dir", str(data), *arguments]
    with subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
        cwd=data.parent,
    ) as child:
        try:
            yield child
        finally:
            child.kill()


def read_until(child: subprocess.Popen[str], words: str) -> str:
    assert child.stderr is not None
    seen = ""
    for line in child.stderr:
        seen += line
        if words in line:
            return seen
    raise AssertionError(seen)


def ask(child: subprocess.Popen[str], *messages: dict[str, object]) -> list[dict[str, object]]:
    assert child.stdin is not None
    assert child.stdout is not None
    for message in messages:
        child.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    child.stdin.flush()
    wanted = sum("id" in message for message in messages)
    return [json.loads(child.stdout.readline()) for _ in range(wanted)]


HANDSHAKE = {
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "t", "version": "0"},
    },
}
LIST = {"id": 2, "method": "tools/call", "params": {"name": "list_contexts", "arguments": {}}}


def test_a_second_server_says_who_serves_and_exits(data_root: Path) -> None:
    with serving(data_root, "--address", "127.0.0.1:0") as first:
        read_until(first, "ready")
        began = time.monotonic()
        with serving(data_root, "--address", "127.0.0.1:0") as second:
            _, words = second.communicate(timeout=60)
        assert second.returncode == 4
        assert str(first.pid) in words
        assert time.monotonic() - began < 60
        first.terminate()
        assert first.wait(40) == 0


def test_a_second_agent_over_stdio_joins_the_running_server(data_root: Path) -> None:
    with serving(data_root, "--stdio") as first:
        ask(first, HANDSHAKE)
        with serving(data_root, "--stdio") as second:
            read_until(second, "joining")
            answers = ask(second, HANDSHAKE, LIST)
            assert [answer["id"] for answer in answers] == [1, 2]
            assert answers[1]["result"]["structuredContent"] == {"contexts": []}  # type: ignore[index]
            _, _ = second.communicate(timeout=40)
            assert second.returncode == 0
        assert ask(first, LIST)[0]["id"] == 2


@pytest.mark.parametrize("closed", ["", "2>&-"], ids=["nobody reads it", "it is closed"])
def test_a_standard_error_that_takes_nothing_stops_no_server(data_root: Path, closed: str) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    command = f'exec "$0" -P -m vacmcpd --data-dir "$1" --stdio {closed}'
    with subprocess.Popen(
        ["sh", "-c", command, sys.executable, str(data_root)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=writer,
        text=True,
        encoding="utf-8",
    ) as child:
        os.close(writer)
        try:
            assert ask(child, HANDSHAKE, LIST)[1]["id"] == 2
            answers, _ = child.communicate(timeout=40)
            assert (answers, child.returncode) == ("", 0)
        finally:
            child.kill()


def test_a_server_that_was_killed_leaves_the_directory_free(data_root: Path) -> None:
    with serving(data_root, "--address", "127.0.0.1:0") as first:
        read_until(first, "ready")
        os.kill(first.pid, signal.SIGKILL)
        first.wait(20)
        with serving(data_root, "--address", "127.0.0.1:0") as second:
            read_until(second, "ready")


def test_a_stop_before_the_server_is_ready_is_clean(data_root: Path) -> None:
    with serving(data_root, "--address", "127.0.0.1:0") as child:
        read_until(child, "listening")
        child.terminate()
        assert child.wait(40) == 0
    managed = open_managed(data_root, Settings())
    with managed.locks.server("test", ""):
        managed.close()


def test_an_address_that_others_reach_is_warned_about(data_root: Path) -> None:
    with serving(data_root, "--address", "0.0.0.0:0") as child:
        assert "warning" in read_until(child, "READY")


@pytest.mark.parametrize("address", ["nonsense", "127.0.0.1:99999", "256.1.1.1:80"])
def test_an_address_that_is_none_is_refused(data_root: Path, address: str) -> None:
    with serving(data_root, "--address", address) as child:
        _, words = child.communicate(timeout=60)
    assert child.returncode == 1
    assert "INVALID_ARGUMENT" in words


def end_of_the_client(server: Any, call: Any) -> None:
    call.shutdown(socket.SHUT_RDWR)


def kill(server: Any, call: Any) -> None:
    server.stop(signal.SIGKILL)


def two_signals(server: Any, call: Any) -> None:
    server.process.send_signal(signal.SIGTERM)
    # Only once the first was taken, which closes the socket, is another one the second.
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline and server.process.poll() is None:
        server.process.send_signal(signal.SIGTERM)
        time.sleep(0.02)
    assert server.wait() == 0


@pytest.mark.parametrize("end", [end_of_the_client, kill, two_signals])
def test_no_git_outlives_whom_it_works_for(
    start: Any, poll: Any, demo_copy: Path, tmp_path: Path, end: Callable[[Any, Any], None]
) -> None:
    real, note = shutil.which("git"), tmp_path / "git.pid"
    folder = tmp_path / "bin"
    folder.mkdir()
    stand_in = folder / "git"
    lines = ('case "$*" in', f'*" log "*) echo $$ > "{note}"; exec sleep 600;;', "esac")
    stand_in.write_text("\n".join(["#!/bin/sh", *lines, f'exec "{real}" "$@"', ""]), "utf-8")
    stand_in.chmod(0o755)
    path = f"{folder}{os.pathsep}{os.environ['PATH']}"
    server = start.managed(demo_copy, "--address", "127.0.0.1:0", PATH=path).ready()
    params = {"name": "search_history", "arguments": {"context": "v1"}}
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    with server.connect(body) as call:
        poll(lambda: note.exists() and note.read_text("utf-8").strip(), "the start of git")
        git = int(note.read_text("utf-8"))
        assert alive(git)
        end(server, call)
        poll(lambda: not alive(git), "the end of git")
    assert "did not stop" not in server.stderr


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True
