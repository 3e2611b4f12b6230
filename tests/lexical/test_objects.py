"""The objects in memory: git's ids, git's order, and the proofs of the port."""

import subprocess

import pytest

from vacmcpd.errors import QueryError, WireCode
from vacmcpd.model import Member, Scope
from vacmcpd.ports.budget import Budget
from vacmcpd.testing.objects import MemoryObjects, Submodule, Symlink


def git(folder, *arguments):
    done = subprocess.run(
        ["git", "-C", str(folder), *arguments], check=True, capture_output=True, encoding="utf-8"
    )
    return done.stdout.strip()


def test_trees_have_the_ids_and_the_order_of_git(tmp_path):
    files = {
        b"a.c": b"1\n",
        b"a/b/c.txt": b"2\n",
        b"a/b.txt": b"",
        b"a0": b"3\n",
        b"link": Symlink(b"a0"),
    }
    git(tmp_path, "init", "-q")
    for path, content in files.items():
        place = tmp_path / path.decode()
        place.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, Symlink):
            place.symlink_to(content.target.decode())
        else:
            place.write_bytes(content)
    git(tmp_path, "add", "-A")
    objects = MemoryObjects()
    scope = Scope("ctx", Member("demo", "main", objects.commit("demo", files)))
    assert objects.prove(scope) == git(tmp_path, "write-tree")
    rows = [row.split("\t") for row in git(tmp_path, "ls-files", "-s").splitlines()]
    leaves = list(objects.leaves(scope, Budget("list", "memory", 60.0)))
    assert [(leaf.path.decode(), f"{leaf.mode:o} {leaf.oid} 0") for leaf in leaves] == [
        (path, meta) for meta, path in rows
    ]


def test_what_is_not_there_or_not_the_same_is_refused():
    objects = MemoryObjects()
    revision = objects.commit("demo", {b"f": b"x", b"m": Submodule("a" * 40)})
    scope = Scope("ctx", Member("demo", "main", revision))
    with pytest.raises(QueryError) as caught:
        objects.prove(Scope("ctx", Member("other", "main", revision)))
    assert caught.value.code is WireCode.REPOSITORY_NOT_FOUND
    with pytest.raises(QueryError) as caught:
        objects.prove(Scope("ctx", Member("demo", "main", "f" * 40)))
    assert caught.value.code is WireCode.SOURCE_MISMATCH
    objects.keep("demo", "ctx", revision)
    assert objects.prove(scope)
    objects.lose_blob("demo", b"x")
    leaf = next(objects.leaves(scope, Budget("list", "memory", 60.0)))
    for ask in (objects.size, objects.blob):
        with pytest.raises(QueryError) as caught:
            ask(scope, leaf.oid)
        assert caught.value.code is WireCode.SOURCE_MISMATCH
    objects.lose_repository("demo")
    with pytest.raises(QueryError) as caught:
        objects.prove(scope)
    assert caught.value.code is WireCode.REPOSITORY_NOT_FOUND
