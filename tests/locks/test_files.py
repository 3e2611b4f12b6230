"""What only locks between processes, and files, can get wrong."""

import json
import os
import stat
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from vacmcpd.adapters.locks import FileLocks
from vacmcpd.datadir import DataDirectory
from vacmcpd.errors import BuildCode, LifecycleError, Locked

DRIVER = Path(__file__).with_name("holder_process.py")
posix = pytest.mark.skipif(sys.platform == "win32", reason="modes, links and pipes of POSIX")


def ignored(*_: object) -> None:
    pass


@contextmanager
def holder(data: DataDirectory, kind: str) -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen(
        [sys.executable, str(DRIVER), str(data.root), kind],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        encoding="utf-8",
    )
    with process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        try:
            yield process
        finally:
            process.kill()


def test_another_process_is_refused_and_named(data: DataDirectory) -> None:
    locks = FileLocks(data)
    with holder(data, "server") as process:
        with pytest.raises(Locked) as caught, locks.changing("context create"):
            pass
        assert caught.value.details["pid"] == process.pid
        assert "`vacmcp context create`" in caught.value.message
        assert "127.0.0.1:8080" in caught.value.message
        found = locks.server_holder()
        assert found is not None
        assert found.pid == process.pid
    with holder(data, "changing") as process:
        with pytest.raises(Locked) as caught, locks.server("serve", ""):
            pass
        assert caught.value.details["pid"] == process.pid


@pytest.mark.parametrize("kind", ["server", "changing", "repository", "build"])
def test_a_killed_holder_frees_its_lock_and_its_note_fools_nobody(
    data: DataDirectory, kind: str
) -> None:
    locks = FileLocks(data)
    with holder(data, kind) as process:
        process.kill()
        process.wait()
    assert locks.server_holder() is None
    assert locks.build_is_dead("b")
    with (
        locks.server("serve", ""),
        locks.repository("a", "repo sync", 0, ignored),
        locks.build("b", "context retry"),
    ):
        assert not list(data.runtime.glob("changing-*"))


def test_a_wait_ends_when_the_holder_is_killed(data: DataDirectory) -> None:
    told = threading.Event()
    with holder(data, "repository") as process:

        def on_wait(*_: object) -> None:
            told.set()
            process.kill()

        with FileLocks(data).repository("a", "repo sync", 30, on_wait):
            assert told.is_set()


def test_the_servers_note_is_json_put_there_by_rename_and_goes_with_it(
    data: DataDirectory,
) -> None:
    with FileLocks(data).server("serve", "127.0.0.1:8080"):
        note = json.loads(data.server_info.read_text(encoding="utf-8"))
        assert note["pid"] == os.getpid()
        assert note.keys() == {"pid", "verb", "started", "address"}
        assert not list(data.runtime.glob(".*"))
    assert not data.server_info.exists()


def test_a_lock_file_stays_for_the_next_holder(data: DataDirectory) -> None:
    locks = FileLocks(data)
    for _ in range(2):
        with locks.repository("a", "x", 0, ignored), locks.server("x", ""):
            inode = data.repository_lock("a").stat().st_ino, data.server_lock.stat().st_ino
        assert inode == (data.repository_lock("a").stat().st_ino, data.server_lock.stat().st_ino)


@posix
def test_lock_files_and_notes_are_the_owners_alone(data: DataDirectory) -> None:
    before = os.umask(0)
    try:
        locks = FileLocks(data)
        with locks.server("x", ""), locks.repository("a", "x", 0, ignored):
            files = [path for path in data.root.rglob("*") if path.is_file()]
            assert len(files) == 4
            assert {stat.S_IMODE(path.stat().st_mode) for path in files} == {0o600}
    finally:
        os.umask(before)


@posix
@pytest.mark.parametrize("dangling", [False, True])
def test_a_symbolic_link_is_no_lock_file(
    data: DataDirectory, tmp_path: Path, dangling: bool
) -> None:
    canary = tmp_path / "canary"
    if not dangling:
        canary.write_text("whole", encoding="utf-8")
    locks = FileLocks(data)
    for path in (data.server_lock, data.repository_lock("a"), data.build_lock("b")):
        path.symlink_to(canary)
    for take in (
        lambda: locks.server("x", ""),
        lambda: locks.changing("x"),
        lambda: locks.repository("a", "x", 5, ignored),
        lambda: locks.build("b", "x"),
    ):
        with pytest.raises(LifecycleError, match=r"not an ordinary file|can't be used"), take():
            pass
    assert canary.exists() is not dangling
    if not dangling:
        assert canary.read_text(encoding="utf-8") == "whole"


@posix
def test_a_pipe_in_a_lock_files_place_is_refused_rather_than_waited_for(
    data: DataDirectory,
) -> None:
    os.mkfifo(data.server_lock)
    with pytest.raises(LifecycleError) as caught, FileLocks(data).server("x", ""):
        pass
    assert caught.value.code is BuildCode.INVALID_ARGUMENT


def test_a_missing_directory_is_a_plain_refusal(tmp_path: Path) -> None:
    locks = FileLocks(DataDirectory(tmp_path / "nowhere"))
    assert locks.server_holder() is None
    assert locks.build_is_dead("b")
    with pytest.raises(LifecycleError), locks.changing("x"):
        pass
    assert not (tmp_path / "nowhere").exists()


@pytest.mark.parametrize(
    "note",
    [
        b"",
        b"{",
        b"[]",
        b'{"pid": "x"}',
        b'{"pid": 1, "verb": 7}',
        b"\xff",
        b"[" * 4000,
        b"0" * 9999,
    ],
)
def test_a_damaged_note_is_as_good_as_none(data: DataDirectory, note: bytes) -> None:
    one, other = FileLocks(data), FileLocks(data)
    with one.repository("a", "x", 0, ignored), one.server("x", ""):
        data.repository_lock("a").with_suffix(".json").write_bytes(note)
        data.server_info.write_bytes(note)
        with pytest.raises(Locked), other.repository("a", "x", 0, ignored):
            pass
        with pytest.raises(Locked), other.changing("x"):
            pass
        assert other.server_holder() is not None


def test_a_note_that_cannot_be_written_costs_no_lock(data: DataDirectory) -> None:
    data.server_info.mkdir()
    locks = FileLocks(data)
    with locks.server("x", ""):
        assert locks.server_holder() is not None


def test_a_look_at_the_lock_does_not_refuse_a_server(data: DataDirectory) -> None:
    stop = threading.Event()

    def look() -> None:
        locks = FileLocks(data)
        while not stop.is_set():
            locks.server_holder()

    thread = threading.Thread(target=look)
    thread.start()
    try:
        for _ in range(20):
            with FileLocks(data).server("x", ""):
                pass
    finally:
        stop.set()
        thread.join()
