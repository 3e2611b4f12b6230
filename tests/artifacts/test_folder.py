"""Files on a disk: their names, modes and durability, and what else may lie in a folder."""

import errno
import logging
import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from vacmcpd.adapters import artifacts
from vacmcpd.adapters.artifacts import FolderArtifacts
from vacmcpd.errors import BuildCode, LifecycleError
from vacmcpd.ports.artifacts import StoredFile

posix = pytest.mark.skipif(os.name == "nt", reason="modes, links and pipes of POSIX")


class Points:
    def __init__(self) -> None:
        self.reached: list[str] = []
        self.at: dict[str, Callable[[], object]] = {}

    def reach(self, name: str) -> None:
        self.reached.append(name)
        self.at.get(name, lambda: None)()


@pytest.fixture
def points() -> Points:
    return Points()


@pytest.fixture
def store(tmp_path: Path, points: Points) -> FolderArtifacts:
    return FolderArtifacts(lambda name: tmp_path / "store" / name, faults=points)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "store" / "demo"


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def descriptors() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


@posix
def test_files_and_folders_are_their_owners_only_whatever_the_umask(
    store: FolderArtifacts, folder: Path
) -> None:
    before = os.umask(0)
    try:
        made = store.put("demo", "a", [b"x"])
    finally:
        os.umask(before)
    assert folder.stat().st_mode & 0o777 == 0o700
    assert (folder / made.digest).stat().st_mode & 0o777 == 0o600
    assert names(folder) == [made.digest]


def test_a_file_is_whole_and_synced_before_it_has_its_name(
    store: FolderArtifacts, points: Points, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[int] = []
    fsync = os.fsync
    monkeypatch.setattr(
        artifacts.os, "fsync", lambda descriptor: (synced.append(1), fsync(descriptor))
    )
    seen: list[tuple[list[str], int]] = []
    points.at["artifact.put.written"] = lambda: seen.append((names(folder), len(synced)))
    points.at["artifact.put.after"] = lambda: seen.append((names(folder), len(synced)))
    made = store.put("demo", "a", [b"x"])
    (unfinished, before), (finished, after) = seen
    assert len(unfinished) == 1
    assert unfinished[0].startswith(".tmp-")
    assert finished == [made.digest]
    # The folder's parent and the file; then the folder that got the new name.
    assert (before, after) == ((2, 3) if os.name == "posix" else (1, 1))


def test_a_file_that_is_there_and_whole_is_kept_as_it_is(
    store: FolderArtifacts, folder: Path
) -> None:
    made = store.put("demo", "a", [b"x"])
    before = (folder / made.digest).stat().st_ino
    store.put("demo", "a", [b"x"])
    assert (folder / made.digest).stat().st_ino == before
    assert names(folder) == [made.digest]


@pytest.mark.parametrize("point", ["before", "written", "renamed"])
def test_a_put_that_is_cut_off_leaves_no_unfinished_file(
    store: FolderArtifacts, points: Points, folder: Path, point: str
) -> None:
    def stop() -> None:
        raise KeyboardInterrupt

    points.at[f"artifact.put.{point}"] = stop
    with pytest.raises(KeyboardInterrupt):
        store.put("demo", "a", [b"x"])
    assert not [name for name in names(folder) if name.startswith(".tmp-")]


@pytest.mark.parametrize(
    ("number", "code"), [(errno.ENOSPC, BuildCode.NO_SPACE), (errno.EIO, BuildCode.INTERRUPTED)]
)
def test_a_disk_that_refuses_is_told_without_a_path(
    store: FolderArtifacts,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    number: int,
    code: BuildCode,
) -> None:
    def refuse(_: int) -> None:
        raise OSError(number, os.strerror(number))

    store.put("demo", "a", [b"first"])
    monkeypatch.setattr(artifacts.os, "fsync", refuse)
    with pytest.raises(LifecycleError) as caught:
        store.put("demo", "a", [b"second"])
    assert caught.value.code is code
    assert str(folder.parent) not in caught.value.message
    monkeypatch.undo()
    assert len(names(folder)) == 1


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
def test_no_descriptor_outlives_what_was_read(store: FolderArtifacts, folder: Path) -> None:
    made = [store.put("demo", "a", [b"%d" % number]) for number in range(20)]
    empty = store.put("demo", "a", [])
    before = descriptors()
    views = [store.open("demo", file) for file in [*made, empty]]
    for file in made:
        store.verify("demo", file)
    (folder / made[0].digest).write_bytes(b"longer")
    for verb in (store.open, store.verify):
        with pytest.raises(LifecycleError):
            verb("demo", made[0])
    del views
    assert descriptors() == before


def test_a_quick_look_compares_sizes_alone(
    store: FolderArtifacts, folder: Path, tmp_path: Path
) -> None:
    quick = FolderArtifacts(lambda name: tmp_path / "store" / name, hashing=False)
    made = store.put("demo", "a", [b"12345"])
    (folder / made.digest).write_bytes(b"54321")
    quick.verify("demo", made)
    # What is written again is compared all the same.
    quick.put("demo", "a", [b"12345"])
    store.verify("demo", made)
    (folder / made.digest).write_bytes(b"1234")
    with pytest.raises(LifecycleError):
        quick.verify("demo", made)


@posix
@pytest.mark.parametrize("what", ["link", "pipe", "folder"])
def test_what_is_no_ordinary_file_is_missing(
    store: FolderArtifacts, folder: Path, tmp_path: Path, what: str
) -> None:
    made = store.put("demo", "a", [b"x"])
    path = folder / made.digest
    path.unlink()
    if what == "link":
        (tmp_path / "elsewhere").write_bytes(b"x")
        path.symlink_to(tmp_path / "elsewhere")
    elif what == "pipe":
        os.mkfifo(path)
    else:
        path.mkdir()
    for verb in (store.open, store.verify):
        with pytest.raises(LifecycleError) as caught:
            verb("demo", made)
        assert caught.value.code is BuildCode.ARTIFACT_MISSING
        assert str(tmp_path) not in caught.value.message


@pytest.mark.parametrize("digest", ["../../catalogue.sqlite3", "", ".", "A" * 64, "0" * 63 + "\0"])
def test_a_digest_that_is_none_names_no_file(store: FolderArtifacts, digest: str) -> None:
    store.put("demo", "a", [b"x"])
    with pytest.raises(LifecycleError) as caught:
        store.open("demo", StoredFile("a", digest, 1))
    assert caught.value.code is BuildCode.ARTIFACT_MISSING


@posix
def test_a_sweep_takes_unfinished_files_and_links_but_follows_nothing(
    store: FolderArtifacts, folder: Path, tmp_path: Path
) -> None:
    made = store.put("demo", "a", [b"x"])
    (folder / ".tmp-0011223344556677").write_bytes(b"half")
    (folder / "stranger").write_bytes(b"")
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "file").write_bytes(b"theirs")
    (folder / "link").symlink_to(tmp_path / "elsewhere")
    (folder / "folder").mkdir()
    assert store.sweep("demo", {made.digest}) == 3
    assert names(folder) == sorted([made.digest, "folder"])
    assert names(tmp_path / "elsewhere") == ["file"]


def test_a_file_that_the_system_does_not_let_go_stays_for_the_next_sweep(
    store: FolderArtifacts,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    made = [store.put("demo", "a", [b"%d" % number]) for number in range(2)]
    unlink = Path.unlink

    def held(path: Path, missing_ok: bool = False) -> None:
        if path.name == made[0].digest:
            raise PermissionError(errno.EACCES, "Permission denied")
        unlink(path, missing_ok=missing_ok)

    monkeypatch.setattr(Path, "unlink", held)
    with caplog.at_level(logging.WARNING):
        assert store.sweep("demo", ()) == 1
    assert [record.message for record in caplog.records] == ["artifact_not_swept"]
    monkeypatch.undo()
    assert store.sweep("demo", ()) == 1
    assert names(folder) == []


@posix
def test_removing_a_folder_that_is_a_link_empties_it_and_drops_the_link(
    store: FolderArtifacts, folder: Path, tmp_path: Path
) -> None:
    elsewhere = tmp_path / "big disk"
    elsewhere.mkdir()
    folder.parent.mkdir()
    folder.symlink_to(elsewhere)
    store.verify("demo", store.put("demo", "a", [b"x"]))
    store.remove("demo")
    assert not folder.is_symlink()
    assert names(elsewhere) == []


def test_every_step_has_its_fault_points(store: FolderArtifacts, points: Points) -> None:
    store.put("demo", "a", [b"x"])
    store.sweep("demo", ())
    store.remove("demo")
    assert points.reached == [
        "artifact.put.before",
        "artifact.put.written",
        "artifact.put.renamed",
        "artifact.put.after",
        "artifact.sweep.before",
        "artifact.sweep.after",
        "artifact.remove.before",
        "artifact.remove.after",
    ]
