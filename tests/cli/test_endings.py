"""Waiting for others, and being asked to stop."""

import os
import signal
import socket
import subprocess
import sys
from datetime import UTC, datetime

import pytest

posix = pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")


@pytest.fixture
def held(added):
    """The demo repository's lock, held by this process as by a long sync."""
    from vacmcpd.adapters.locks import FileLocks
    from vacmcpd.datadir import DataDirectory

    locks = FileLocks(DataDirectory(added.data))
    with locks.repository("demo", "repo sync", 10.0, lambda lock, holder: None):
        yield added


def test_a_command_waits_says_once_for_whom_and_gives_up_with_4(held) -> None:
    ran = held("repo", "sync", "demo", "--lock-timeout", "0.3")
    assert ran.code == 4
    assert ran.out == ""
    waiting = [line for line in ran.err.splitlines() if "waiting" in line]
    assert len(waiting) == 1
    assert str(os.getpid()) in waiting[0]
    assert "repo sync" in waiting[0]
    assert ran.err.splitlines()[-2].startswith("vacmcp: LOCKED: ")


def test_a_quiet_command_waits_without_a_word_and_json_stays_pure(held) -> None:
    ran = held("repo", "sync", "demo", "--lock-timeout", "0", "--quiet", "--json")
    assert ran.code == 4
    assert ran.err == ""
    assert ran.json["error"]["code"] == "LOCKED"


@posix
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_ends_a_wait_with_its_exit_code(held, number, code) -> None:
    child = held.start("repo", "sync", "demo", "--json")
    assert child.stderr is not None
    assert "waiting" in child.stderr.readline()
    child.send_signal(number)
    out, _ = child.communicate(timeout=60)
    assert child.returncode == code
    assert '"CANCELLED"' in out


@posix
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_ends_git_leaves_no_repository_and_exits(vacmcp, number, code) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        silent.settimeout(60)
        url = f"http://127.0.0.1:{silent.getsockname()[1]}/x.git"
        child = vacmcp.start("repo", "add", "slow", "--url", url)
        asked, _ = silent.accept()
        with asked:
            asked.settimeout(60)
            assert asked.recv(1) == b"G"
            child.send_signal(number)
            _, told = child.communicate(timeout=60)
            assert child.returncode == code
            while asked.recv(65536):
                pass  # what git had asked; then its end of the connection is closed
    assert "CANCELLED" in told
    assert vacmcp("repo", "list").out == ""
    assert [path.name for path in (vacmcp.data / "repos").iterdir()] == []


@posix
def test_a_second_signal_ends_at_once() -> None:
    code = (
        "import signal, time\n"
        "from vacmcpd.cli.signals import SIGNALS\n"
        "SIGNALS.install()\n"
        "with SIGNALS.tidying() as flag:\n"
        "    print('up', flush=True)\n"
        "    flag.wait()\n"
        "    print('asked', flush=True)\n"
        "    signal.pause()\n"
    )
    child = subprocess.Popen(
        [sys.executable, "-P", "-c", code], stdout=subprocess.PIPE, encoding="utf-8"
    )
    assert child.stdout is not None
    with child.stdout:
        assert child.stdout.readline() == "up\n"
        child.send_signal(signal.SIGINT)
        assert child.stdout.readline() == "asked\n"
        child.send_signal(signal.SIGTERM)
        assert child.wait(timeout=60) == 143


def test_serve_refuses_a_second_server_at_once(served) -> None:
    ran = served("serve", "--managed", "--address", "127.0.0.1:0")
    assert ran.code == 4
    assert ran.out == ""
    assert ran.error == "LOCKED"
    assert "pid" in ran.err


def test_only_what_changes_what_is_served_is_refused_beside_a_server(served, demo_source) -> None:
    refused = [
        ["context", "create", "z", "--repo", "demo", "--ref", "main"],
        ["context", "retry", "v1"],
        ["context", "rebuild", "v1"],
        ["context", "rebuild", "--all"],
        ["context", "remove", "v1"],
        ["repo", "remove", "demo"],
    ]
    for words in refused:
        ran = served(*words)
        assert (ran.code, ran.error) == (4, "LOCKED"), ran
        assert "serve --managed" in ran.err
    accepted = [
        ["repo", "add", "other", "--url", demo_source.as_uri()],
        ["repo", "sync", "--all"],
        ["repo", "list"],
        ["repo", "status", "demo"],
        ["context", "list"],
        ["context", "status", "v1"],
        ["context", "verify", "v1"],
        ["doctor", "--managed"],
    ]
    for words in accepted:
        ran = served(*words)
        assert ran.code == 0, ran


def test_a_context_that_is_being_removed_is_only_removable(pinned) -> None:
    from vacmcpd.catalogue import SqliteCatalogue
    from vacmcpd.datadir import DataDirectory

    catalogue = SqliteCatalogue.open(DataDirectory(pinned.data))
    try:
        catalogue.mark_removing("v1", datetime.now(UTC))
    finally:
        catalogue.close()
    assert pinned("context", "list").rows[0][3] == "REMOVING"
    record = pinned("context", "status", "v1", "--json").json
    assert record["state"] == "REMOVING"
    assert record["removing_since"]
    assert record["repair"] == "vacmcp context remove v1"
    for verb in ("retry", "rebuild"):
        ran = pinned("context", verb, "v1")
        assert (ran.code, ran.error) == (1, "INVALID_ARGUMENT")
        assert "vacmcp context remove v1" in ran.err
    assert pinned("context", "remove", "v1").rows == [["v1", "REMOVED"]]
    assert pinned("context", "remove", "v1").code == 5
