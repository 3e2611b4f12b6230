"""Clones as they lie on the disk, and what becomes of them."""

import os
import stat
import subprocess
import threading
from pathlib import Path
from typing import Any

import pytest

from vacmcpd.adapters.git.clone import GitRepositoryStore
from vacmcpd.errors import Cancelled, LifecycleError
from vacmcpd.ports.repository_store import RefKind

World = Any
Upstream = Any
GitServer = Any


def quiet(phase: str, done: int, total: int) -> None:
    """No progress."""


def git(git_dir: Path, *arguments: str) -> str:
    done = subprocess.run(
        ["git", f"--git-dir={git_dir}", *arguments], capture_output=True, check=True, text=True
    )
    return done.stdout.strip()


def failing(action: Any) -> LifecycleError:
    with pytest.raises(LifecycleError) as failure:
        action()
    return failure.value


def test_a_clone_is_bare_whole_and_alone(world: World, upstream: Upstream) -> None:
    upstream.commit()
    git_dir = world.clone(upstream)
    assert git(git_dir, "rev-parse", "--is-bare-repository") == "true"
    assert git(git_dir, "fsck", "--full", "--strict") == ""
    assert git(git_dir, "config", "gc.auto") == "0"
    assert not (git_dir / "objects" / "info" / "alternates").exists()
    assert [each.name for each in world.data.repositories.iterdir()] == ["one.git"]
    assert git(git_dir, "for-each-ref", "--format=%(refname)") == "refs/remotes/origin/main"


def test_a_clone_shares_no_file_with_a_local_original(world: World, upstream: Upstream) -> None:
    upstream.commit()
    upstream.git("gc", "--quiet")
    world.store.clone("one", str(upstream.path), quiet, None)
    files = [path for path in world.data.repository("one").rglob("*") if path.is_file()]
    assert {path.stat().st_nlink for path in files} == {1}


def test_a_clone_is_for_its_owner_alone_whatever_the_umask(
    world: World, upstream: Upstream
) -> None:
    upstream.commit()
    before = os.umask(0)
    try:
        git_dir = world.clone(upstream)
    finally:
        os.umask(before)
    assert stat.S_IMODE(git_dir.stat().st_mode) & 0o077 == 0


def test_nothing_in_a_clone_names_a_path_of_this_machine(
    world: World, upstream: Upstream, tmp_path: Path
) -> None:
    upstream.commit()
    git_dir = world.clone(upstream)
    for path in git_dir.rglob("*"):
        if path.is_file() and path.suffix not in {".pack", ".idx", ".rev"}:
            assert os.fsencode(tmp_path) not in path.read_bytes(), path


def test_a_clone_with_its_data_directory_can_be_moved(
    world: World, upstream: Upstream, tmp_path: Path
) -> None:
    from vacmcpd.datadir import DataDirectory

    head = upstream.commit()
    world.clone(upstream)
    moved = world.data.root.rename(tmp_path / "moved")
    store = GitRepositoryStore(DataDirectory(moved), network_timeout=60)
    assert store.healthy("one")
    store.keep("one", head)
    store.fetch("one", upstream.url, quiet, None)
    assert store.resolve("one", "main").revision == head


def test_a_bundle_file_is_no_repository(world: World, upstream: Upstream, tmp_path: Path) -> None:
    upstream.commit()
    bundle = tmp_path / "all.bundle"
    upstream.git("bundle", "create", str(bundle), "--all")
    failure = failing(lambda: world.store.clone("one", str(bundle), quiet, None))
    assert failure.code == "REPOSITORY_NOT_FOUND"


def test_a_path_with_strange_characters_is_cloned(
    world: World, upstream: Upstream, tmp_path: Path
) -> None:
    upstream.commit()
    odd = tmp_path / "a b%20c?d#e:f"
    upstream.path.rename(odd)
    world.store.clone("one", str(odd), quiet, None)
    world.store.clone("two", odd.as_uri(), quiet, None)
    assert world.store.healthy("one")
    assert world.store.healthy("two")


def test_a_sha256_repository_is_unsupported(world: World, tmp_path: Path) -> None:
    path = tmp_path / "new"
    identity = ["-c", "user.name=a", "-c", "user.email=b"]
    for arguments in (
        ["init", "--quiet", "--object-format=sha256", str(path)],
        ["-C", str(path), *identity, "commit", "--quiet", "--allow-empty", "-m", "x"],
    ):
        subprocess.run(["git", *arguments], check=True, capture_output=True)
    failure = failing(lambda: world.store.clone("one", str(path), quiet, None))
    assert failure.code == "UNSUPPORTED_REPOSITORY"
    assert "SHA-1" in failure.message


def test_a_shallow_remote_is_unsupported_rather_than_cloned_with_holes(
    world: World, upstream: Upstream, tmp_path: Path
) -> None:
    upstream.commit()
    upstream.commit()
    shallow = tmp_path / "shallow"
    upstream.git("clone", "--quiet", "--depth=1", upstream.url, str(shallow))
    failure = failing(lambda: world.store.clone("one", str(shallow), quiet, None))
    assert failure.code == "UNSUPPORTED_REPOSITORY"
    assert not world.store.healthy("one")


def test_too_little_space_is_said_before_anything_is_fetched(
    world: World, upstream: Upstream, monkeypatch: pytest.MonkeyPatch
) -> None:
    import shutil

    usage = shutil.disk_usage(world.data.root)
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage._replace(free=1 << 20))
    failure = failing(lambda: world.clone(upstream))
    assert failure.code == "NO_SPACE"
    assert list(world.data.repositories.iterdir()) == []


def test_a_data_directory_that_can_not_be_written_is_said_without_its_path(
    world: World, upstream: Upstream
) -> None:
    world.data.repositories.rmdir()
    world.data.repositories.write_text("in the way", encoding="utf-8")
    failure = failing(lambda: world.clone(upstream))
    assert failure.code == "REPOSITORY_NOT_FOUND"
    assert str(world.data.root) not in failure.message


def test_a_damaged_clone_is_replaced(world: World, upstream: Upstream) -> None:
    head = upstream.commit()
    git_dir = world.clone(upstream)
    for pack in (git_dir / "objects" / "pack").iterdir():
        pack.unlink()
    assert not world.store.healthy("one")
    world.clone(upstream)
    assert world.store.healthy("one")
    assert world.store.has_commit("one", head)
    assert [each.name for each in world.data.repositories.iterdir()] == ["one.git"]


@pytest.mark.parametrize("lost", ["HEAD", "objects", "refs", "packed-refs", "config"])
def test_a_clone_that_lost_a_part_is_no_longer_what_it_was(
    world: World, upstream: Upstream, lost: str
) -> None:
    head = upstream.commit()
    git_dir = world.clone(upstream)
    git_dir.joinpath(lost).rename(git_dir.parent / "aside")
    if lost in {"HEAD", "objects", "refs", "config"}:
        assert not world.store.healthy("one")
    world.store.remove("one")
    world.clone(upstream)
    assert world.store.healthy("one")
    assert world.store.resolve("one", "main").revision == head


def test_what_an_earlier_clone_left_is_swept_but_not_anothers(
    world: World, upstream: Upstream
) -> None:
    upstream.commit()
    mine = world.data.repositories / ".tmp-one-0123456789abcdef"
    others = [
        world.data.repositories / ".tmp-one-two-0123456789abcdef",
        world.data.repositories / ".tmp-one-0123456789abcdef-0123456789abcdef",
        world.data.repositories / "one-two.git",
        world.data.repositories / ".tmp-one-notes",
    ]
    for folder in (mine, *others):
        (folder / "objects").mkdir(parents=True)
    world.clone(upstream)
    assert not mine.exists()
    assert all(folder.exists() for folder in others)


def test_locks_and_packs_of_a_dead_git_do_not_stop_the_next(
    world: World, upstream: Upstream
) -> None:
    head = upstream.commit()
    git_dir = world.clone(upstream)
    packs = git_dir / "objects" / "pack"
    refs = git_dir / "refs" / "remotes" / "origin"
    refs.mkdir(parents=True, exist_ok=True)
    keeps = git_dir / "refs" / "vacmcp" / "keep"
    keeps.mkdir(parents=True)
    stale = [
        git_dir / "packed-refs.lock",
        git_dir / "HEAD.lock",
        git_dir / "config.lock",
        git_dir / "shallow.lock",
        refs / "main.lock",
        refs / "new.lock",
        keeps / f"{head}.lock",
        packs / "tmp_pack_abc",
        packs / "tmp_idx_abc",
    ]
    for path in stale:
        path.write_bytes(b"")
    (packs / "pack-dead.keep").write_text("fetch-pack 1 on here\n", encoding="utf-8")
    (packs / "pack-mine.keep").write_text("by hand\n", encoding="utf-8")
    world.store.keep("one", head)
    assert not any(path.exists() for path in stale)
    assert not (packs / "pack-dead.keep").exists()
    assert (packs / "pack-mine.keep").exists()
    upstream.commit(branch="new")
    world.fetch(upstream)
    assert world.store.count("one").branches == 2


def test_a_force_push_a_deletion_and_a_gc_lose_no_kept_commit(
    world: World, upstream: Upstream
) -> None:
    first = upstream.commit({"a": b"one\n"})
    deleted = upstream.commit({"b": b"two\n"}, branch="other")
    git_dir = world.clone(upstream)
    for revision in (first, deleted):
        world.store.keep("one", revision)
    upstream.git("update-ref", "-d", "refs/heads/main")
    upstream.git("update-ref", "-d", "refs/heads/other")
    upstream.commit({"c": b"three\n"})
    upstream.git("gc", "--quiet", "--prune=now")
    world.fetch(upstream)
    git(git_dir, "reflog", "expire", "--expire=now", "--all")
    git(git_dir, "gc", "--quiet", "--prune=now")
    world.fetch(upstream)
    objects = world.objects()
    for revision, path in ((first, b"a"), (deleted, b"b")):
        scope = world.scope(revision)
        assert [leaf.path for leaf in objects.leaves(scope, world.budget())] == [path]
    assert git(git_dir, "fsck", "--full") == ""


def test_a_commit_that_is_not_kept_goes_with_its_branch(world: World, upstream: Upstream) -> None:
    lost = upstream.commit({"a": b"one\n"})
    git_dir = world.clone(upstream)
    upstream.git("update-ref", "-d", "refs/heads/main")
    upstream.commit({"b": b"two\n"})
    world.fetch(upstream)
    git(git_dir, "gc", "--quiet", "--prune=now")
    assert not world.store.has_commit("one", lost)


def test_a_reader_that_is_open_sees_what_a_repack_moved(world: World, upstream: Upstream) -> None:
    head = upstream.commit({"a": b"one\n"})
    git_dir = world.clone(upstream)
    world.store.keep("one", head)
    objects, scope = world.objects(), world.scope(head)
    objects.prove(scope)
    upstream.commit()
    world.fetch(upstream)
    git(git_dir, "repack", "-a", "-d", "-q")
    leaves = list(objects.leaves(scope, world.budget()))
    assert objects.blob(scope, leaves[0].oid) == b"one\n"


def test_nested_annotated_tags_are_peeled(world: World, upstream: Upstream) -> None:
    head = upstream.commit()
    for name, target in (("inner", "main"), ("outer", "inner"), ("outermost", "outer")):
        upstream.git("tag", "-a", "-m", name, name, target)
    world.clone(upstream)
    resolved = world.store.resolve("one", "outermost")
    assert (resolved.kind, resolved.revision) == (RefKind.TAG, head)
    tag = upstream.git("rev-parse", "outermost")
    assert world.store.resolve("one", tag).revision == head
    assert world.store.resolve("one", tag[:10]).revision == head


def test_tags_of_trees_and_blobs_name_no_commit(world: World, upstream: Upstream) -> None:
    upstream.commit({"a": b"x"})
    upstream.git("tag", "tree", "main^{tree}")
    upstream.git("tag", "-a", "-m", "x", "blob", "main:a")
    world.clone(upstream)
    for ref in ("tree", "refs/tags/blob", upstream.git("rev-parse", "main:a")):
        assert failing(lambda ref=ref: world.store.resolve("one", ref)).code == "REVISION_NOT_FOUND"


def test_a_short_id_of_several_commits_is_refused_with_each(
    world: World, upstream: Upstream
) -> None:
    # The first pair below shares seven digits; found by trying messages, not by luck.
    seen: dict[str, str] = {}
    tree = upstream.git("mktree")
    template = f"tree {tree}\nauthor A <a@b> 1 +0000\ncommitter A <a@b> 1 +0000\n\n"
    pair = _colliding(template, seen)
    for number, content in enumerate(pair):
        upstream.raw_commit(content, branch=f"b{number}")
    world.clone(upstream)
    ids = sorted(upstream.git("rev-parse", f"b{number}") for number in range(2))
    failure = failing(lambda: world.store.resolve("one", ids[0][:7]))
    assert failure.code == "INVALID_ARGUMENT"
    assert failure.details["candidates"] == ids
    assert world.store.resolve("one", ids[0]).revision == ids[0]


def _colliding(template: str, seen: dict[str, str]) -> tuple[bytes, bytes]:
    import hashlib

    for number in range(1_000_000):
        content = f"{template}{number}\n"
        raw = content.encode()
        found = hashlib.sha1(b"commit %d\0" % len(raw) + raw).hexdigest()[:7]
        if found in seen:
            return seen[found].encode(), raw
        seen[found] = content
    raise AssertionError("no two of a million share seven digits")


def test_a_branch_with_a_name_that_is_not_utf8_is_found(world: World, upstream: Upstream) -> None:
    head = upstream.commit()
    (upstream.path / ".git" / "refs" / "heads" / "caf\udce9").write_text(f"{head}\n")
    world.clone(upstream)
    assert world.store.count("one").branches == 2
    assert world.store.resolve("one", "main").revision == head
    failing(lambda: world.store.resolve("one", "cafe"))


def test_private_repositories_work_through_the_users_own_helper(
    world: World, upstream: Upstream, server: GitServer, home: Path
) -> None:
    head = upstream.commit()
    server.mode = "basic"
    helper = home / "helper.sh"
    helper.write_text("#!/bin/sh\necho username=robot\necho password=hunter2\n", encoding="utf-8")
    helper.chmod(0o755)
    (home / ".gitconfig").write_text(f"[credential]\n\thelper = {helper}\n", encoding="utf-8")
    world.store.clone("one", server.url(), quiet, None)
    assert world.store.resolve("one", "main").revision == head
    for path in world.data.root.rglob("*"):
        if path.is_file():
            assert b"hunter2" not in path.read_bytes()


def test_a_remote_that_asks_for_a_password_fails_without_a_prompt(
    world: World, upstream: Upstream, server: GitServer, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    canary = home / "asked"
    ask = home / "ask.sh"
    ask.write_text(f"#!/bin/sh\ntouch {canary}\necho hunter2\n", encoding="utf-8")
    ask.chmod(0o755)
    (home / ".gitconfig").write_text(f"[core]\n\taskPass = {ask}\n", encoding="utf-8")
    monkeypatch.setenv("GIT_ASKPASS", str(ask))
    monkeypatch.setenv("SSH_ASKPASS", str(ask))
    monkeypatch.setenv("DISPLAY", ":0")
    server.mode = "401"
    # Waiting for somebody to type would end as TIMEOUT.
    store = GitRepositoryStore(world.data, network_timeout=30)
    failure = failing(lambda: store.clone("one", server.url(), quiet, None))
    assert failure.code == "AUTH_FAILED"
    assert "git says:" in failure.message
    assert not canary.exists()


def test_a_wrong_password_is_in_no_message(
    world: World, upstream: Upstream, server: GitServer, home: Path
) -> None:
    helper = home / "helper.sh"
    helper.write_text("#!/bin/sh\necho username=robot\necho password=s3cr3t\n", encoding="utf-8")
    helper.chmod(0o755)
    (home / ".gitconfig").write_text(f"[credential]\n\thelper = {helper}\n", encoding="utf-8")
    server.mode = "basic"
    failure = failing(lambda: world.store.clone("one", server.url(), quiet, None))
    assert failure.code == "AUTH_FAILED"
    assert "s3cr3t" not in f"{failure} {failure.to_wire()}"


def test_a_repository_that_the_server_does_not_have_is_not_found(
    world: World, server: GitServer
) -> None:
    server.mode = "404"
    failure = failing(lambda: world.store.clone("one", server.url(), quiet, None))
    assert failure.code == "REPOSITORY_NOT_FOUND"
    assert "not found" in failure.message


def test_a_server_that_never_answers_times_out(world: World, server: GitServer) -> None:
    server.mode = "stall"
    store = GitRepositoryStore(world.data, network_timeout=0.5)
    failure = failing(lambda: store.clone("one", server.url(), quiet, None))
    assert failure.code == "TIMEOUT"
    assert list(world.data.repositories.iterdir()) == []


def test_a_clone_that_waits_for_a_server_can_be_cancelled(world: World, server: GitServer) -> None:
    server.mode = "stall"
    with pytest.raises(Cancelled):
        world.store.clone("one", server.url(), quiet, server.asked)
    assert list(world.data.repositories.iterdir()) == []


def test_a_cancelled_fetch_leaves_the_clone_whole(
    world: World, upstream: Upstream, server: GitServer
) -> None:
    head = upstream.commit()
    world.store.clone("one", server.url(), quiet, None)
    server.mode = "stall"
    server.asked.clear()
    with pytest.raises(Cancelled):
        world.store.fetch("one", server.url(), quiet, server.asked)
    assert world.store.healthy("one")
    world.store.keep("one", head)


def test_reading_refs_needs_no_lock_and_no_network(world: World, upstream: Upstream) -> None:
    upstream.commit()
    world.clone(upstream)
    upstream.path.rename(upstream.path.parent / "unplugged")
    results: list[str] = []
    threads = [
        threading.Thread(target=lambda: results.append(world.store.resolve("one", "main").revision))
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(results)) == 1
    assert len(results) == 4
