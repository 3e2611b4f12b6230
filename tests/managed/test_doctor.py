import os
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from vacmcpd.catalogue import SqliteCatalogue
from vacmcpd.datadir import DataDirectory
from vacmcpd.errors import BuildCode, LifecycleError
from vacmcpd.managed import place
from vacmcpd.managed.doctor import Row, Surroundings, checks, failed
from vacmcpd.managed.engines import Builders, label_of
from vacmcpd.model import ArtifactKind, Member

World = Any
NOW = datetime(2026, 12, 1, tzinfo=UTC)
posix = pytest.mark.skipif(sys.platform == "win32", reason="owners and modes of POSIX")


def surroundings(world: World, **changes: Any) -> Surroundings:
    arguments = {
        "data": world.data,
        "open_catalogue": lambda: SqliteCatalogue.read_only(world.data),
        "store": world.store,
        "locks": world.locks,
        "artifacts": world.artifacts,
        "search": world.builders,
        "graph": world.graphs,
        "git_version": lambda: (2, 50, 1),
        "git_floor": (2, 32),
        "mcp_version": "2.3.0",
        "tools": 7,
    }
    return Surroundings(**{**arguments, **changes})


def rows(world: World, **changes: Any) -> dict[tuple[str, str], Row]:
    found = checks(surroundings(world, **changes))
    assert all(row.detail for row in found)
    return {(row.section, row.name): row for row in found}


def everything(root: Path) -> dict[str, Any]:
    return {
        str(path): (path.stat().st_mtime_ns, path.is_file() and path.read_bytes())
        for path in sorted(root.rglob("*"))
        # SQLite maps these for readers, too; they hold no data when nobody writes.
        if not path.name.endswith(("-wal", "-shm"))
    }


def test_all_is_well_with_one_row_each_in_order(real: World) -> None:
    real.added("flask")
    record = real.contexts.create("c", [("flask", "main")], activity=real.activity())
    found = checks(surroundings(real))
    assert [(row.section, row.name) for row in found] == [
        ("vacmcp", "mcp"),
        ("vacmcp", "git"),
        ("vacmcp", "data directory"),
        ("vacmcp", "catalogue"),
        ("vacmcp", "search engine"),
        ("vacmcp", "graph engine"),
        ("repositories", "flask"),
        ("stores", "flask"),
        ("contexts", "c"),
    ]
    by_name = {row.name: row for row in found if row.section != "stores"}
    assert by_name["mcp"].detail == "2.3.0, 7 tools"
    assert by_name["git"].detail == "2.50.1"
    assert "no server" in by_name["data directory"].detail
    assert "GiB free" in by_name["data directory"].detail
    assert by_name["catalogue"].detail == f"revision {real.catalogue.revision()}, integrity ok"
    assert by_name["graph engine"].verdict == "OK"
    assert by_name["flask"].detail == "READY, never synced"
    assert by_name["c"].detail == f"READY flask {record.members[0].revision}"
    files = real.catalogue.store_files("flask", "search")
    (store,) = [row.detail for row in found if row.section == "stores"]
    assert store == f"{len(files)} files, {sum(file.size for file in files):,} bytes"
    labels = [label_of(builder) for builder in real.builders.each]
    assert by_name["search engine"].detail == (
        f"{labels[0]}, serves contexts of {', '.join(labels[1:])} too"
    )
    assert failed(found) == 0


def test_a_repository_of_which_nothing_was_built_has_no_store_to_check(real: World) -> None:
    real.added("flask")
    assert rows(real)["stores", "flask"].verdict == "SKIP"


@pytest.mark.parametrize("how", ["lost", "short", "empty", "flipped"])
def test_a_store_file_that_is_not_whole_fails_its_store_and_the_contexts_that_need_it(
    real: World, how: str
) -> None:
    real.added("flask")
    for name, ref in (("a", "v1"), ("b", "main")):
        real.contexts.create(name, [("flask", ref)], activity=real.activity())
    tree = real.catalogue.context("a").members[0].search.key
    (file,) = [
        each for each in real.catalogue.store_files("flask", "search") if each.role.endswith(tree)
    ]
    path = real.data.store("flask") / file.digest
    if how == "lost":
        path.unlink()
    elif how == "flipped":
        raw = bytearray(path.read_bytes())
        raw[len(raw) // 2] ^= 4
        path.write_bytes(raw)
    else:
        path.write_bytes(path.read_bytes()[: 3 if how == "short" else 0])
    found = rows(real)
    store = found["stores", "flask"]
    assert (store.verdict, store.repair) == ("FAIL", "vacmcp context rebuild --all")
    assert "ARTIFACT_MISSING" in store.detail
    assert str(real.data.root) not in store.detail
    broken = found["contexts", "a"]
    assert (broken.verdict, broken.repair) == ("FAIL", "vacmcp context rebuild a")
    assert found["contexts", "b"].verdict == "OK"
    real.contexts.rebuild("a", activity=real.activity())
    assert failed(checks(surroundings(real))) == 0


def test_contexts_that_need_no_file_stay_well_beside_a_broken_store(real: World) -> None:
    real.added("flask")
    real.contexts.create("new", [("flask", "main")], activity=real.activity())
    real.builders = Builders(ArtifactKind.SEARCH, real.scan, (real.search,))
    real.wire()
    real.contexts.create("old", [("flask", "v1")], activity=real.activity())
    for file in real.catalogue.store_files("flask", "search"):
        (real.data.store("flask") / file.digest).unlink()
    found = rows(real)
    assert found["stores", "flask"].verdict == "FAIL"
    assert found["contexts", "new"].verdict == "FAIL"
    assert found["contexts", "old"].verdict == "OK"


def test_a_context_of_an_engine_that_is_not_there_fails(real: World) -> None:
    real.added("flask")
    real.contexts.create("c", [("flask", "main")], activity=real.activity())
    row = rows(real, search=Builders(ArtifactKind.SEARCH, real.scan))["contexts", "c"]
    assert (row.verdict, row.repair) == ("FAIL", "vacmcp context rebuild c")
    assert label_of(real.search) in row.detail


def test_it_writes_nothing_and_works_beside_a_server(real: World) -> None:
    real.added("flask")
    real.contexts.create("c", [("flask", "main")], activity=real.activity())
    with real.locks.server("serve", "127.0.0.1:8080"):
        before = everything(real.data.root)
        found = rows(real)
        assert everything(real.data.root) == before
    assert f"server running, pid {os.getpid()}" in found["vacmcp", "data directory"].detail
    assert found["contexts", "c"].verdict == "OK"


def test_a_missing_directory_fails_with_what_to_do_and_is_not_made(
    real: World, tmp_path: Path
) -> None:
    data = DataDirectory(tmp_path / "nowhere")
    found = rows(real, data=data)
    row = found["vacmcp", "data directory"]
    assert row.verdict == "FAIL"
    assert "vacmcp repo add" in row.repair
    assert found["vacmcp", "catalogue"].verdict == "SKIP"
    assert not data.root.exists()


def test_a_failed_context_shows_its_reason_and_the_command_that_mends_it(real: World) -> None:
    real.added("flask")

    def broken(_: object) -> None:
        raise LifecycleError(BuildCode.SOURCE_MISMATCH, "not of the pinned commit")

    real.search.on_build = broken
    with pytest.raises(LifecycleError):
        real.contexts.create("c", [("flask", "main")], activity=real.activity())
    row = rows(real)["contexts", "c"]
    assert row.verdict == "FAIL"
    assert "SOURCE_MISMATCH: not of the pinned commit" in row.detail
    assert row.repair == "vacmcp context retry c"


def test_unfinished_contexts_are_told_from_abandoned_ones(real: World) -> None:
    real.added("flask")
    member = Member("flask", "main", real.store.resolve("flask", "main").revision)
    real.catalogue.create_context("c", [member], NOW)
    with real.locks.build("c", "context create"):
        assert rows(real)["contexts", "c"].verdict == "SKIP"
    assert rows(real)["contexts", "c"].verdict == "FAIL"
    real.catalogue.mark_removing("c", NOW)
    row = rows(real)["contexts", "c"]
    assert (row.verdict, row.repair) == ("SKIP", "vacmcp context remove c")


def test_a_pin_that_nothing_keeps_and_a_clone_that_is_gone_fail(real: World) -> None:
    real.added("flask")
    record = real.contexts.create("c", [("flask", "main")], activity=real.activity())
    real.store.unkeep("flask", record.members[0].revision)
    row = rows(real)["contexts", "c"]
    assert (row.verdict, row.repair) == ("FAIL", "vacmcp context rebuild c")
    real.store.remove("flask")
    found = rows(real)
    assert found["repositories", "flask"].verdict == "FAIL"
    assert found["repositories", "flask"].repair == "vacmcp repo sync flask"
    assert found["contexts", "c"].verdict == "FAIL"


def test_a_failed_sync_fails_its_repository(real: World) -> None:
    real.added("flask").vanish()
    with pytest.raises(LifecycleError):
        real.repositories.sync("flask", activity=real.activity())
    row = rows(real)["repositories", "flask"]
    assert row.verdict == "FAIL"
    assert "REPOSITORY_NOT_FOUND" in row.detail


@pytest.mark.parametrize(
    ("version", "verdict"),
    [
        ((2, 31, 9), "FAIL"),
        ((2, 39, 5), "WARN"),
        ((2, 43, 6), "WARN"),
        ((2, 43, 7), "OK"),
        ((2, 50, 0), "WARN"),
        ((2, 50, 1), "OK"),
        ((2, 51), "OK"),
        ((3, 0, 0), "OK"),
    ],
)
def test_an_old_git_fails_and_one_that_may_lack_fixes_warns(
    real: World, version: tuple[int, ...], verdict: str
) -> None:
    row = rows(real, git_version=lambda: version)["vacmcp", "git"]
    assert row.verdict == verdict
    assert (row.verdict == "WARN") == ("CVE-2025-48384" in row.detail)


def test_a_git_that_is_not_there_and_an_mcp_that_is_not_installed_fail(real: World) -> None:
    def missing() -> tuple[int, ...]:
        raise LifecycleError(BuildCode.INVALID_ARGUMENT, "there is no git on PATH")

    found = checks(surroundings(real, git_version=missing, mcp_version=""))
    assert failed(found) == 2


def test_a_damaged_catalogue_fails_and_the_rest_is_still_looked_at(real: World) -> None:
    real.catalogue.close()
    real.data.catalogue.write_bytes(b"no database at all" * 100)
    found = rows(real)
    assert found["vacmcp", "catalogue"].verdict == "FAIL"
    assert found["vacmcp", "search engine"].verdict == "OK"


@posix
def test_a_directory_that_others_may_read_warns(real: World) -> None:
    real.data.root.chmod(0o755)
    row = rows(real)["vacmcp", "data directory"]
    assert row.verdict == "WARN"
    assert "mode 0755" in row.detail
    assert "chmod 700" in row.repair


@posix
def test_somebody_elses_directory_fails(real: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(place.os, "geteuid", lambda: 12345)
    row = rows(real)["vacmcp", "data directory"]
    assert row.verdict == "FAIL"
    assert "sudo -u" in row.repair


@pytest.mark.parametrize(("free", "verdict"), [(2**40, "OK"), (2**29, "WARN"), (2**20, "FAIL")])
def test_little_room_warns_and_none_fails(
    real: World, monkeypatch: pytest.MonkeyPatch, free: int, verdict: str
) -> None:
    usage = type("Usage", (), {"free": free})
    monkeypatch.setattr(place.shutil, "disk_usage", lambda _: usage)
    monkeypatch.setattr(place, "file_system", lambda _: "ext4")
    assert place.look_at(real.data.root).verdict == verdict


def test_a_network_file_system_warns(
    real: World, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    mounts = tmp_path / "mountinfo"
    root = str(real.data.root.resolve().parent).replace(" ", "\\040")
    mounts.write_text(
        "22 1 8:1 / / rw - ext4 /dev/sda1 rw\n"
        "garbage\n"
        f"23 22 0:5 / {root} rw shared:1 - nfs4 server:/x rw\n"
        f"24 22 0:6 / {root}x rw - tmpfs none rw\n",
        encoding="utf-8",
    )
    monkeypatch.setattr(place, "_MOUNTS", mounts)
    assert place.file_system(real.data.root) == "nfs4"
    row = rows(real)["vacmcp", "data directory"]
    assert "nfs4" in row.detail
    assert row.verdict == "WARN"
    assert place.file_system(Path("/")) == "ext4"
