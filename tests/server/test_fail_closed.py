"""The ways of a pin that does not hold any more, each through a real server and real data.

No query answers then: not partly, not with nothing found, and not from somewhere else.
"""

import shutil
import sqlite3
import subprocess
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

CALLS: dict[str, dict[str, Any]] = {
    "get_code": {"context": "v1", "path": "pkg/sub/deep.go", "start_line": 1, "end_line": 2},
    "search_code": {"context": "v1", "query": "Deep"},
    "compare_code": {"from_context": "v1", "to_context": "v2", "path": "pkg/sub/deep.go"},
    # Only a search for a string opens the files of past commits.
    "search_history": {"context": "v1", "symbol": "Deep"},
}

PIN = "refs/remotes/origin/release/v1"
V2 = "refs/remotes/origin/release/v2"


def clone_of(data: Path) -> Path:
    return data / "repos" / "demo.git"


def git(data: Path, *words: str, **options: Any) -> str:
    command = ["git", "-C", str(clone_of(data)), *words]
    return subprocess.run(
        command, check=True, capture_output=True, text=True, encoding="utf-8", **options
    ).stdout.strip()


def forget(data: Path, name: str) -> None:
    """Delete one object of the clone, out of its pack."""
    clone, oid = clone_of(data), git(data, "rev-parse", name)
    for pack in list((clone / "objects" / "pack").glob("*.pack")):
        moved = pack.rename(clone / pack.name)
        pack.with_suffix(".idx").unlink()
        with moved.open("rb") as stream:
            git(data, "unpack-objects", "-q", stdin=stream)
        moved.unlink()
    (clone / "objects" / oid[:2] / oid[2:]).unlink()


def move_keep_ref(data: Path) -> None:
    pinned, other = git(data, "rev-parse", PIN), git(data, "rev-parse", f"{PIN}~1")
    git(data, "update-ref", f"refs/vacmcp/keep/{pinned}", other)


def drop_keep_ref(data: Path) -> None:
    git(data, "update-ref", "-d", f"refs/vacmcp/keep/{git(data, 'rev-parse', PIN)}")


def remove_clone(data: Path) -> None:
    shutil.rmtree(clone_of(data))


def replace_clone(data: Path) -> None:
    """Another repository under the name, with a keep ref of the right name."""
    pinned = git(data, "rev-parse", PIN)
    remove_clone(data)
    subprocess.run(["git", "init", "-q", "--bare", str(clone_of(data))], check=True)
    names = ("-c", "user.name=n", "-c", "user.email=e@example.invalid")
    tree = git(data, "hash-object", "-w", "-t", "tree", "--stdin", stdin=subprocess.DEVNULL)
    other = git(data, *names, "commit-tree", tree, "-m", "other")
    git(data, "update-ref", f"refs/vacmcp/keep/{pinned}", other)


def edit_row(data: Path, column: str) -> None:
    """Let the catalogue say that the search artifact of v1 was made of v2."""
    with closing(sqlite3.connect(data / "catalogue.sqlite3")) as catalogue, catalogue:
        ids = dict(catalogue.execute("SELECT name, id FROM contexts"))
        (wrong,) = catalogue.execute(
            f"SELECT {column} FROM members WHERE context_id = ?",
            (ids["v2"],),
        ).fetchone()
        catalogue.execute(
            f"UPDATE members SET {column} = ? WHERE context_id = ?",
            (wrong, ids["v1"]),
        )


def refused(server: Any, data: Path, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """The error of a call that must fail; neither side of it may name a local path."""
    answer = server.call(tool, **arguments)
    assert answer.result["isError"] is True, answer.wire
    assert str(data.parent) not in answer.body.decode()
    assert set(answer.wire) == {"error"}
    return dict(answer.wire["error"])


def answers(server: Any) -> None:
    """The calls are answered while the pin holds, so that a refusal means something."""
    for tool, arguments in CALLS.items():
        answer = server.call(tool, **arguments)
        assert answer.result["isError"] is False, answer.wire


WAYS: dict[str, tuple[Callable[[Path], None], str | None]] = {
    "the pinned commit is missing": (lambda data: forget(data, PIN), None),
    "its tree is missing": (lambda data: forget(data, f"{PIN}^{{tree}}"), None),
    "a tree below is missing": (lambda data: forget(data, f"{PIN}:pkg/sub"), None),
    "a file's blob is missing": (lambda data: forget(data, f"{PIN}:pkg/sub/deep.go"), None),
    "the keep ref moved": (move_keep_ref, f"{PIN}~1"),
    "the keep ref is gone": (drop_keep_ref, None),
    "another repository is there": (replace_clone, None),
    "the artifact's commit differs": (
        lambda data: edit_row(data, "search_revision"),
        V2,
    ),
    "the artifact's tree differs": (lambda data: edit_row(data, "search_key"), PIN),
}


INDEXED = {"a tree below is missing", "a file's blob is missing"}
"""What the index was made of and does not read again: its content has the tree's id as its name."""


@pytest.mark.parametrize("way", WAYS)
def test_no_query_answers_from_a_pin_that_does_not_hold(
    start: Any, demo_copy: Path, way: str
) -> None:
    damage, named = WAYS[way]
    declared = git(demo_copy, "rev-parse", PIN)
    actual = git(demo_copy, "rev-parse", named) if named else None
    damage(demo_copy)
    server = start.managed(demo_copy, "--address", "127.0.0.1:0").ready()
    for tool, arguments in CALLS.items():
        if tool == "search_code" and way in INDEXED:
            found = server.call(tool, **arguments).wire
            assert "pkg/sub/deep.go" in {match["path"] for match in found["matches"]}
            assert found["context"]["revision"] == declared
            continue
        error = refused(server, demo_copy, tool, arguments)
        assert error["code"] == "SOURCE_MISMATCH", (tool, error)
        assert error["details"]["repository"] == "demo"
        assert error["details"]["declared_revision"] == declared
        assert error["details"]["actual_revision"] == actual, tool
    # What is configured can be listed, and nothing of it read.
    assert len(server.call("list_contexts").wire["contexts"]) == 3


@pytest.mark.parametrize("how", ["lost", "cut", "emptied"])
def test_no_search_answers_from_an_index_that_is_not_whole(
    start: Any, demo_copy: Path, how: str
) -> None:
    for path in (demo_copy / "store" / "demo").iterdir():
        if how == "lost":
            path.unlink()
        else:
            path.write_bytes(path.read_bytes()[: -1 if how == "cut" else 0])
    server = start.managed(demo_copy, "--address", "127.0.0.1:0").ready()
    error = refused(server, demo_copy, "search_code", CALLS["search_code"])
    assert error["code"] == "SEARCH_PROVIDER_UNAVAILABLE"
    assert "vacmcp context rebuild" in error["message"]
    assert server.call("get_code", **CALLS["get_code"]).result["isError"] is False


def test_no_query_answers_without_the_clone(start: Any, demo_copy: Path) -> None:
    remove_clone(demo_copy)
    server = start.managed(demo_copy, "--address", "127.0.0.1:0").ready()
    for tool, arguments in CALLS.items():
        error = refused(server, demo_copy, tool, arguments)
        assert error["code"] == "REPOSITORY_NOT_FOUND", (tool, error)
        assert error["details"]["repository"] == "demo"


DAMAGES_BESIDE = {
    "the pinned commit is missing": "SOURCE_MISMATCH",
    "the keep ref moved": "SOURCE_MISMATCH",
    "another repository is there": "SOURCE_MISMATCH",
    "the clone is gone": "REPOSITORY_NOT_FOUND",
}


@pytest.mark.parametrize("way", DAMAGES_BESIDE)
def test_nothing_that_a_server_remembers_outlives_the_pin(
    start: Any, demo_copy: Path, way: str
) -> None:
    server = start.managed(demo_copy, "--address", "127.0.0.1:0", VACMCP_SERVER_WORKERS="1").ready()
    answers(server)
    damage = WAYS[way][0] if way in WAYS else remove_clone
    damage(demo_copy)
    for tool, arguments in CALLS.items():
        assert refused(server, demo_copy, tool, arguments)["code"] == DAMAGES_BESIDE[way]


def test_history_is_refused_where_an_ancestor_is_missing(start: Any, demo_copy: Path) -> None:
    forget(demo_copy, f"{PIN}~1")
    server = start.managed(demo_copy, "--address", "127.0.0.1:0").ready()
    error = refused(server, demo_copy, "search_history", {"context": "v1"})
    assert error["code"] == "SOURCE_MISMATCH"
    assert error["details"]["actual_revision"] is None
    assert server.call("get_code", **CALLS["get_code"]).result["isError"] is False


@pytest.mark.parametrize("tool", ["search_code", "search_history"])
def test_one_member_that_does_not_hold_fails_the_answer_of_several(
    start: Any, demo_copy: Path, tool: str
) -> None:
    arguments = {"context": "both", "query": "Deep" if tool == "search_code" else "Add"}
    git(demo_copy, "update-ref", "-d", "refs/vacmcp/keep/" + git(demo_copy, "rev-parse", V2))
    server = start.managed(demo_copy, "--address", "127.0.0.1:0").ready()
    error = refused(server, demo_copy, tool, arguments)
    assert error["code"] == "SOURCE_MISMATCH"
    assert error["details"]["repository"] == "demo"
    narrowed = server.call(tool, **arguments, repository="other")
    assert narrowed.result["isError"] is False
