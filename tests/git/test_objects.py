"""A pin is proved before anything is read, and each way in which it can fail is told apart."""

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from vacmcpd.adapters.git.objects import GitObjects
from vacmcpd.errors import OperationTimeout, QueryError
from vacmcpd.model import Artifact, ArtifactKind
from vacmcpd.ports.budget import Budget

World = Any
Upstream = Any


def mismatch(action: Callable[[], object]) -> dict[str, Any]:
    with pytest.raises(QueryError) as failure:
        action()
    assert failure.value.code == "SOURCE_MISMATCH"
    assert "/" not in failure.value.message.replace("refs/", "")
    return failure.value.details


def pinned(world: World, upstream: Upstream, loose: bool = False) -> tuple[Any, Path]:
    head = upstream.commit({"a": b"one\n", "d/b": b"two\n"})
    git_dir: Path = world.clone(upstream)
    world.store.keep("one", head)
    if loose:
        unpack(git_dir)
    return world.scope(head), git_dir


def unpack(git_dir: Path) -> None:
    """Turn the packs into loose objects, one file each."""
    import subprocess

    packs = list((git_dir / "objects" / "pack").glob("*.pack"))
    contents = [pack.read_bytes() for pack in packs]
    for path in list((git_dir / "objects" / "pack").iterdir()):
        path.unlink()
    for content in contents:
        subprocess.run(
            ["git", f"--git-dir={git_dir}", "unpack-objects", "-q"], input=content, check=True
        )


def loose(git_dir: Path, oid: str) -> Path:
    return git_dir / "objects" / oid[:2] / oid[2:]


def artifact(key: str, revision: str) -> Artifact:
    return Artifact(ArtifactKind.SEARCH, "scan", "1", key, revision)


def test_a_pin_that_holds_names_its_tree(world: World, upstream: Upstream) -> None:
    scope, _ = pinned(world, upstream)
    tree = upstream.git("rev-parse", "main^{tree}")
    assert world.objects().prove(scope) == tree
    search = artifact(tree, scope.revision)
    assert world.objects().prove(world.scope(scope.revision, search)) == tree


def test_a_commit_that_is_gone_is_a_mismatch(world: World, upstream: Upstream) -> None:
    scope, git_dir = pinned(world, upstream, loose=True)
    objects = world.objects()
    objects.prove(scope)
    loose(git_dir, scope.revision).unlink()
    # The same reader, which has just read it, and a new one.
    for reader in (objects, world.objects()):
        details = mismatch(lambda reader=reader: reader.prove(scope))
        assert details == {
            "repository": "one",
            "context": "ctx",
            "declared_revision": scope.revision,
            "actual_revision": None,
            "check": "commit",
        }


def test_a_tree_that_is_gone_is_a_mismatch(world: World, upstream: Upstream) -> None:
    scope, git_dir = pinned(world, upstream, loose=True)
    objects = world.objects()
    loose(git_dir, objects.prove(scope)).unlink()
    details = mismatch(lambda: objects.prove(scope))
    assert (details["check"], details["actual_revision"]) == ("tree", None)


def test_packs_that_are_gone_are_a_mismatch_for_an_open_reader_too(
    world: World, upstream: Upstream
) -> None:
    scope, git_dir = pinned(world, upstream)
    objects = world.objects()
    blob = next(objects.leaves(scope, world.budget())).oid
    assert objects.blob(scope, blob) == b"one\n"
    for path in (git_dir / "objects" / "pack").iterdir():
        path.unlink()
    assert mismatch(lambda: objects.prove(scope))["check"] == "commit"
    assert mismatch(lambda: objects.blob(scope, blob))["check"] == "object"


def test_a_blob_that_is_gone_is_a_mismatch(world: World, upstream: Upstream) -> None:
    scope, git_dir = pinned(world, upstream, loose=True)
    objects = world.objects()
    blob = next(objects.leaves(scope, world.budget())).oid
    loose(git_dir, blob).unlink()
    for read in (objects.blob, objects.size):
        details = mismatch(lambda read=read: read(scope, blob))
        assert (details["check"], details["object"]) == ("object", blob)
    source = world.source()
    assert mismatch(lambda: source.read(scope, "a", 1, 1, world.budget()))["object"] == blob


def test_a_damaged_blob_is_a_mismatch(world: World, upstream: Upstream) -> None:
    import zlib

    scope, git_dir = pinned(world, upstream, loose=True)
    blob = next(world.objects().leaves(scope, world.budget())).oid
    path = loose(git_dir, blob)
    path.chmod(0o600)
    for content in (b"", b"rubbish", zlib.compress(b"blob 4\0evil")):
        path.write_bytes(content)
        assert mismatch(lambda: world.objects().blob(scope, blob))["check"] == "object"


def test_a_damaged_pack_is_a_mismatch(world: World, upstream: Upstream) -> None:
    scope, git_dir = pinned(world, upstream)
    for pack in (git_dir / "objects" / "pack").glob("*.pack"):
        pack.chmod(0o600)
        content = pack.read_bytes()
        pack.write_bytes(content[:12] + b"\xff" * (len(content) - 12))
    mismatch(lambda: world.objects().prove(scope))


@pytest.mark.parametrize("packed", [False, True])
def test_a_keep_ref_that_is_gone_is_a_mismatch(
    world: World, upstream: Upstream, packed: bool
) -> None:
    scope, _ = pinned(world, upstream)
    if packed:
        world.fetch(upstream)
    objects = world.objects()
    objects.prove(scope)
    world.store.unkeep("one", scope.revision)
    details = mismatch(lambda: objects.prove(scope))
    assert (details["check"], details["actual_revision"]) == ("keep_ref", None)
    assert world.objects(keep_refs=False).prove(scope)


def test_a_keep_ref_that_was_moved_is_a_mismatch(world: World, upstream: Upstream) -> None:
    scope, git_dir = pinned(world, upstream)
    other = upstream.commit()
    world.fetch(upstream)
    objects = world.objects()
    objects.prove(scope)
    ref = git_dir / "refs" / "vacmcp" / "keep" / scope.revision
    ref.parent.mkdir(parents=True, exist_ok=True)
    ref.write_text(f"{other}\n", encoding="ascii")
    details = mismatch(lambda: objects.prove(scope))
    assert (details["check"], details["actual_revision"]) == ("keep_ref", other)
    assert world.store.kept("one") == frozenset()


def test_an_artifact_of_another_commit_is_a_mismatch(world: World, upstream: Upstream) -> None:
    scope, _ = pinned(world, upstream)
    tree, other = world.objects().prove(scope), "1" * 40
    details = mismatch(
        lambda: world.objects().prove(world.scope(scope.revision, artifact(tree, other)))
    )
    assert (details["check"], details["actual_revision"]) == ("search_artifact", other)


def test_an_artifact_of_another_tree_is_a_mismatch(world: World, upstream: Upstream) -> None:
    scope, _ = pinned(world, upstream)
    search = artifact("2" * 40, scope.revision)
    details = mismatch(lambda: world.objects().prove(world.scope(scope.revision, search)))
    assert details["check"] == "search_artifact"
    assert details["actual_tree"] == "2" * 40
    assert details["declared_tree"] == upstream.git("rev-parse", "main^{tree}")


@pytest.mark.parametrize("revision", ["main", "", "HEAD", "abc1234", "0" * 40, "Z" * 40, "0" * 64])
def test_a_pin_that_is_no_commit_here_is_a_mismatch(
    world: World, upstream: Upstream, revision: str
) -> None:
    pinned(world, upstream)
    assert mismatch(lambda: world.objects().prove(world.scope(revision)))["check"] == "commit"


@pytest.mark.parametrize("what", ["main^{tree}", "main:a"])
def test_a_pin_that_is_another_kind_of_object_is_a_mismatch(
    world: World, upstream: Upstream, what: str
) -> None:
    pinned(world, upstream)
    scope = world.scope(upstream.git("rev-parse", what))
    mismatch(lambda: world.objects(keep_refs=False).prove(scope))


def test_a_repository_that_is_gone_is_not_found(
    world: World, upstream: Upstream, tmp_path: Path
) -> None:
    scope, git_dir = pinned(world, upstream)
    objects = world.objects()
    objects.prove(scope)
    git_dir.rename(tmp_path / "aside")
    for reader in (objects, world.objects()):
        with pytest.raises(QueryError) as failure:
            reader.prove(scope)
        assert failure.value.code == "REPOSITORY_NOT_FOUND"
        assert str(tmp_path) not in str(failure.value.to_wire())


def test_a_clone_that_was_replaced_is_opened_again(world: World, upstream: Upstream) -> None:
    scope, git_dir = pinned(world, upstream)
    objects = world.objects()
    objects.prove(scope)
    (git_dir / "HEAD").unlink()
    world.clone(upstream)
    assert mismatch(lambda: objects.prove(scope))["check"] == "keep_ref"
    world.store.keep("one", scope.revision)
    assert objects.prove(scope)


def test_a_repository_is_not_searched_for_above_its_folder(
    world: World, upstream: Upstream
) -> None:
    scope, _ = pinned(world, upstream)
    below = upstream.path / "below"
    below.mkdir()
    with pytest.raises(QueryError) as failure:
        GitObjects(lambda name: below, keep_refs=False).prove(scope)
    assert failure.value.code == "REPOSITORY_NOT_FOUND"


def test_an_ordinary_repository_can_be_read_in_place(upstream: Upstream, world: World) -> None:
    scope = world.scope(upstream.commit({"a": b"one\n"}))
    for folder in (upstream.path, upstream.path / ".git"):
        objects = GitObjects(lambda name, folder=folder: folder, keep_refs=False)
        leaf = next(objects.leaves(scope, world.budget()))
        assert objects.blob(scope, leaf.oid) == b"one\n"


def test_leaves_come_by_path_in_byte_order_with_modes(world: World, upstream: Upstream) -> None:
    inner = upstream.commit({"x": b"x"}, branch="inner")
    files: dict[str | bytes, Any] = {
        "a": b"1",
        "a-b": b"2",
        "a.d/x": b"3",
        "a/x": ("100755", b"4"),
        "a0": b"5",
        "link": ("120000", b"a"),
        "sub": ("160000", inner.encode()),
        "sub-x/y": b"6",
        b"caf\xe9/\xff": b"7",
        "b/c/d/e": b"8",
    }
    del files["a"]
    head = upstream.commit(files)
    world.clone(upstream)
    objects, scope = world.objects(keep_refs=False), world.scope(head)
    found = list(objects.leaves(scope, world.budget()))
    paths = [leaf.path for leaf in found]
    assert paths == sorted(paths)
    assert set(paths) == {path if isinstance(path, bytes) else path.encode() for path in files}
    modes = {leaf.path: leaf.mode for leaf in found}
    assert modes[b"a/x"] == 0o100755
    assert modes[b"link"] == 0o120000
    assert modes[b"sub"] == 0o160000
    listed = upstream.git("ls-tree", "-r", "--format=%(objectname)", head).splitlines()
    assert [leaf.oid for leaf in found] == listed


def test_sizes_and_contents_agree(world: World, upstream: Upstream) -> None:
    head = upstream.commit({"a": b"", "b": b"x" * 100_000, "c": b"\0\xff"})
    world.clone(upstream)
    objects, scope = world.objects(keep_refs=False), world.scope(head)
    for leaf in objects.leaves(scope, world.budget()):
        assert objects.size(scope, leaf.oid) == len(objects.blob(scope, leaf.oid))


def test_a_tree_can_not_be_read_as_a_blob(world: World, upstream: Upstream) -> None:
    scope, _ = pinned(world, upstream)
    tree = world.objects().prove(scope)
    mismatch(lambda: world.objects().blob(scope, tree))
    mismatch(lambda: world.objects().size(scope, tree))
    mismatch(lambda: world.objects().blob(scope, "not an id"))


def test_a_tree_bomb_ends_with_the_budget(world: World, upstream: Upstream) -> None:
    tree = upstream.tree(*[("100644", upstream.blob(b"x"), b"f%d" % n) for n in range(10)])
    for _ in range(12):
        tree = upstream.tree(*[("40000", tree, b"d%d" % n) for n in range(10)])
    head = upstream.git("commit-tree", tree, stdin=b"bomb\n")
    upstream.git("update-ref", "refs/heads/main", head)
    world.clone(upstream)
    leaves = world.objects(keep_refs=False).leaves(world.scope(head), Budget("search", "scan", 0.2))
    with pytest.raises(OperationTimeout):
        for _ in leaves:
            pass


def test_a_deep_tree_is_walked(world: World, upstream: Upstream) -> None:
    tree = upstream.tree(("100644", upstream.blob(b"x"), b"f"))
    for _ in range(300):
        tree = upstream.tree(("40000", tree, b"d"))
    head = upstream.git("commit-tree", tree, stdin=b"deep\n")
    upstream.git("update-ref", "refs/heads/main", head)
    world.clone(upstream)
    found = list(world.objects(keep_refs=False).leaves(world.scope(head), world.budget()))
    assert [leaf.path for leaf in found] == [b"d/" * 300 + b"f"]


def test_threads_share_one_reader(world: World, upstream: Upstream) -> None:
    scope, _ = pinned(world, upstream)
    objects = world.objects()
    failures: list[BaseException] = []

    def read() -> None:
        try:
            for _ in range(50):
                objects.prove(scope)
                for leaf in objects.leaves(scope, world.budget()):
                    objects.blob(scope, leaf.oid)
        except BaseException as error:
            failures.append(error)
            raise

    threads = [threading.Thread(target=read) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
