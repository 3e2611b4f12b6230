"""History of a pinned commit, held against plain ``git log``."""

import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from vacmcpd.errors import Cancelled, OperationTimeout, QueryError
from vacmcpd.ports.budget import Budget
from vacmcpd.ports.source import HistoryEntry, HistoryPage, HistoryQuery

World = Any
Upstream = Any


def query(
    message: str = "", symbol: str = "", path: str = "", offset: int = 0, limit: int = 1000
) -> HistoryQuery:
    return HistoryQuery(message, symbol, path, offset, limit)


def history(world: World, head: str, asked: HistoryQuery) -> HistoryPage:
    page: HistoryPage = world.source().history(world.scope(head), asked, world.budget())
    return page


def pairs(page: HistoryPage) -> list[tuple[str, str]]:
    return [(entry.message, entry.path) for entry in page.entries]


@pytest.fixture
def tangled(upstream: Upstream) -> str:
    """A history with a side branch that was undone before its merge."""
    upstream.commit({"a": b"one\n", "d/b": b"two\n"}, "first\n")
    upstream.git("branch", "side", "main")
    upstream.commit({"a": b"side\n"}, "side changes a\n", branch="side")
    upstream.commit({"a": b"one\n"}, "side undoes a\n", branch="side")
    upstream.commit({"c": b"needle\n"}, "main adds c\n")
    tree = upstream.git("rev-parse", "main^{tree}")
    merge = upstream.git("commit-tree", tree, "-p", "main", "-p", "side", stdin=b"merge\n")
    upstream.git("update-ref", "refs/heads/main", merge)
    upstream.commit({"d/e/f": b"needle needle\n", "c": b"nothing\n"}, "LAST Change\n\nbody\n\n\n")
    return str(upstream.git("rev-parse", "main"))


def test_every_path_of_every_commit_but_merges_is_told(
    world: World, upstream: Upstream, tangled: str
) -> None:
    world.clone(upstream)
    page = history(world, tangled, query())
    listed = upstream.git(
        "log", "--no-merges", "--no-renames", "--name-only", "--format=>%H", tangled
    ).splitlines()
    expected, commit = [], ""
    for line in listed:
        if line.startswith(">"):
            commit = line[1:]
        elif line:
            expected.append((commit, line))
    assert [(entry.commit, entry.path) for entry in page.entries] == expected
    assert (page.examined, page.more, page.revision) == (len(expected), False, tangled)
    assert "merge" not in {entry.message for entry in page.entries}


@pytest.mark.parametrize("path", ["a", "c", "d", "d/e", "d/e/f", "nothing", "*", "d/*", "."])
def test_a_path_filter_is_the_unfiltered_history_cut_down(
    world: World, upstream: Upstream, tangled: str, path: str
) -> None:
    world.clone(upstream)
    whole = history(world, tangled, query()).entries
    expected = [
        entry
        for entry in whole
        if path == "." or entry.path == path or entry.path.startswith(f"{path}/")
    ]
    assert list(history(world, tangled, query(path=path)).entries) == expected


def test_a_symbol_is_where_its_number_of_occurrences_changed(
    world: World, upstream: Upstream, tangled: str
) -> None:
    world.clone(upstream)
    assert pairs(history(world, tangled, query(symbol="needle"))) == [
        ("LAST Change\n\nbody", "c"),
        ("LAST Change\n\nbody", "d/e/f"),
        ("main adds c", "c"),
    ]
    assert history(world, tangled, query(symbol="NEEDLE")).entries == ()
    assert history(world, tangled, query(symbol="need.e")).entries == ()


def test_a_message_is_found_without_regard_to_case_and_literally(
    world: World, upstream: Upstream, tangled: str
) -> None:
    world.clone(upstream)
    assert {entry.message for entry in history(world, tangled, query("last CHANGE")).entries} == {
        "LAST Change\n\nbody"
    }
    assert history(world, tangled, query("BODY", path="d")).entries[0].path == "d/e/f"
    assert history(world, tangled, query("l.st")).entries == ()
    page = history(world, tangled, query("side", symbol="needle"))
    assert page.entries == ()


@pytest.mark.parametrize("limit", [1, 2, 3, 5])
def test_pages_put_together_are_the_whole(
    world: World, upstream: Upstream, tangled: str, limit: int
) -> None:
    world.clone(upstream)
    for filters in ({}, {"message": "side"}, {"path": "d"}, {"symbol": "needle"}):
        whole = history(world, tangled, query(**filters)).entries
        found: list[HistoryEntry] = []
        while True:
            page = history(world, tangled, query(**filters, offset=len(found), limit=limit))
            found += page.entries
            assert len(page.entries) <= limit
            if not page.more:
                break
        assert tuple(found) == whole


def test_a_full_page_at_the_end_is_the_last(world: World, upstream: Upstream) -> None:
    head = upstream.commit({"a": b"1"})
    world.clone(upstream)
    assert history(world, head, query(limit=1)).more is False
    second = upstream.commit({"a": b"2"})
    world.fetch(upstream)
    assert history(world, second, query(limit=1)).more is True


def test_only_what_is_reachable_from_the_pin_is_told(world: World, upstream: Upstream) -> None:
    first = upstream.commit({"a": b"1"}, "first\n")
    upstream.commit({"a": b"2"}, "later\n")
    upstream.commit({"b": b"2"}, "elsewhere\n", branch="other")
    world.clone(upstream)
    assert pairs(history(world, first, query())) == [("first", "a")]


NAMES: list[tuple[bytes, str]] = [
    (b"plain", "plain"),
    (b" edges ", " edges "),
    (b"new\nline", "new\nline"),
    (b"\nstarts", "\nstarts"),
    (b"tab\there", "tab\there"),
    ("na\u00efve".encode(), "na\u00efve"),
    (b"caf\xe9", '"caf\\351"'),
    (b'"quoted"', '"\\"quoted\\""'),
    (b"back\\slash", "back\\slash"),
    (b"5eee04c43633883798501b2d2d1b9caab064e75a", "5eee04c43633883798501b2d2d1b9caab064e75a"),
    (b":(top)x", ":(top)x"),
    (b"-dash", "-dash"),
]


def test_any_name_is_told_and_can_be_asked_for(world: World, upstream: Upstream) -> None:
    head = upstream.commit({name: b"x" for name, _ in NAMES}, "all\n")
    world.clone(upstream)
    whole = history(world, head, query())
    assert {entry.path for entry in whole.entries} == {shown for _, shown in NAMES}
    for _, shown in NAMES:
        assert pairs(history(world, head, query(path=shown))) == [("all", shown)]


SPOOFS = [
    b"\x1e\x1f0000000000000000000000000000000000000000\x1fevil",
    b"x\n\n5eee04c43633883798501b2d2d1b9caab064e75a\n\nevil.txt",
    b"\n\nleading",
    b"caf\xe9 latin",
    b"x\x01y\x7f",
    b"%H %x00 %n",
]


@pytest.mark.parametrize("said", SPOOFS)
def test_a_message_can_not_pass_for_a_record(world: World, upstream: Upstream, said: bytes) -> None:
    tree = upstream.tree(("100644", upstream.blob(b"x"), b"a"))
    head = upstream.raw_commit(
        b"tree %s\nauthor A <a@b> 1700000000 +0000\ncommitter A <a@b> 1 +0000\n\n%s\n\n\n"
        % (tree.encode(), said)
    )
    world.clone(upstream)
    (entry,) = history(world, head, query()).entries
    assert (entry.commit, entry.path) == (head, "a")
    assert entry.message == said.decode("utf-8", "replace")


def test_a_commit_with_nuls_in_its_message_is_one_record(
    world: World, upstream: Upstream, tmp_path: Path
) -> None:
    tree = upstream.tree(("100644", upstream.blob(b"x"), b"a"))
    evil = b"0" * 40
    head = upstream.raw_commit(
        b"tree %s\nauthor A <a@b> 1 +0000\ncommitter A <a@b> 1 +0000\n\nx\0\0%s\0\nevil\0\0"
        % (tree.encode(), evil)
    )
    # git's checks refuse it at a fetch, so it is read where it lies.
    from vacmcpd.adapters.git.objects import GitObjects
    from vacmcpd.adapters.git.source import GitSource

    source = GitSource(GitObjects(lambda name: upstream.path, keep_refs=False))
    page = source.history(world.scope(head), query(), world.budget())
    assert [(entry.commit, entry.path) for entry in page.entries] == [(head, "a")]


def test_author_and_time_are_the_authors_in_utc(world: World, upstream: Upstream) -> None:
    tree = upstream.tree(("100644", upstream.blob(b"x"), b"a"))
    head = upstream.raw_commit(
        b"tree %s\nauthor J\xc3\xb6rg M <j@m> 1767225600 +0900\n"
        b"committer X <x@y> 1 +0000\n\nx\n" % tree.encode()
    )
    world.clone(upstream)
    (entry,) = history(world, head, query()).entries
    assert entry.author == "J\u00f6rg M <j@m>"
    assert entry.timestamp == datetime(2026, 1, 1, tzinfo=UTC)


def test_a_declared_encoding_is_converted(world: World, upstream: Upstream) -> None:
    tree = upstream.tree(("100644", upstream.blob(b"x"), b"a"))
    head = upstream.raw_commit(
        b"tree %s\nauthor J\xf6rg <j@m> 1 +0000\ncommitter X <x@y> 1 +0000\n"
        b"encoding ISO-8859-1\n\ncaf\xe9\n" % tree.encode()
    )
    world.clone(upstream)
    (entry,) = history(world, head, query("CAF\u00c9")).entries
    assert (entry.author, entry.message) == ("J\u00f6rg <j@m>", "caf\u00e9")


def test_the_users_and_the_clones_configuration_change_nothing(
    world: World, upstream: Upstream, tangled: str, home: Path
) -> None:
    git_dir = world.clone(upstream)
    before = history(world, tangled, query())
    text = (
        "[log]\n\tfollow = true\n\tshowRoot = false\n\tdate = relative\n\tmailmap = true\n"
        "\tshowSignature = true\n\tdecorate = full\n"
        "[diff]\n\trenames = copies\n\torderFile = /nowhere\n\tnoprefix = true\n"
        "\tignoreSubmodules = all\n\trelative = true\n"
        "[format]\n\tpretty = oneline\n[color]\n\tui = always\n[i18n]\n"
        "\tlogOutputEncoding = ISO-8859-1\n[core]\n\tquotePath = true\n\tabbrev = 4\n"
    )
    (home / ".gitconfig").write_text(text, encoding="utf-8")
    with (git_dir / "config").open("a", encoding="utf-8") as config:
        config.write(text)
    assert history(world, tangled, query()) == before
    assert history(world, tangled, query(path="a")).entries


def test_a_renamed_file_is_two_paths(world: World, upstream: Upstream) -> None:
    upstream.commit({"old": b"same\n" * 20})
    tree = upstream.tree(("100644", upstream.blob(b"same\n" * 20), b"new"))
    head = upstream.git("commit-tree", tree, "-p", "main", stdin=b"move\n")
    upstream.git("update-ref", "refs/heads/main", head)
    world.clone(upstream)
    page = history(world, head, query("move"))
    assert [entry.path for entry in page.entries] == ["new", "old"]


@pytest.mark.parametrize("symbol", ["a\0b", "\ud800", "x" * 70_000])
def test_a_symbol_that_git_can_not_be_given_is_refused(
    world: World, upstream: Upstream, symbol: str
) -> None:
    head = upstream.commit()
    world.clone(upstream)
    with pytest.raises(QueryError) as refusal:
        history(world, head, query(symbol=symbol))
    assert refusal.value.code == "INVALID_ARGUMENT"
    refusal.value.message.encode()


def test_a_spent_budget_is_a_timeout_and_a_cancelled_one_is_not(
    world: World, upstream: Upstream
) -> None:
    head = upstream.commit()
    world.clone(upstream)
    spent = Budget("history", "git", 0.001)
    while not spent.expired():
        time.sleep(0.001)
    with pytest.raises(OperationTimeout):
        world.source().history(world.scope(head), query(), spent)
    flag = threading.Event()
    flag.set()
    with pytest.raises(Cancelled):
        world.source().history(world.scope(head), query(), Budget("history", "git", 60, flag))


def test_a_pin_that_does_not_hold_has_no_history(world: World, upstream: Upstream) -> None:
    upstream.commit()
    world.clone(upstream)
    with pytest.raises(QueryError) as failure:
        history(world, "0" * 40, query())
    assert failure.value.code == "SOURCE_MISMATCH"


def test_a_pin_that_breaks_while_it_is_read_gives_no_answer(
    world: World, upstream: Upstream, monkeypatch: pytest.MonkeyPatch
) -> None:
    from vacmcpd.adapters.git import history as module
    from vacmcpd.adapters.git.source import GitSource

    head = upstream.commit()
    world.clone(upstream)
    world.store.keep("one", head)
    source = GitSource(world.objects())
    read: Callable[..., Any] = module._page

    def reading(*given: Any) -> Any:
        page = read(*given)
        world.store.unkeep("one", head)
        return page

    monkeypatch.setattr(module, "_page", reading)
    with pytest.raises(QueryError) as failure:
        source.history(world.scope(head), query(), world.budget())
    assert failure.value.details["check"] == "keep_ref"


def test_an_object_missing_on_the_way_is_a_mismatch_without_local_paths(
    world: World, upstream: Upstream
) -> None:
    import subprocess

    first = upstream.commit({"a": b"1"})
    head = upstream.commit({"a": b"2"})
    git_dir = world.clone(upstream)
    packs = git_dir / "objects" / "pack"
    contents = [pack.read_bytes() for pack in packs.glob("*.pack")]
    for path in list(packs.iterdir()):
        path.unlink()
    for content in contents:
        subprocess.run(
            ["git", f"--git-dir={git_dir}", "unpack-objects", "-q"], input=content, check=True
        )
    (git_dir / "objects" / first[:2] / first[2:]).unlink()
    with pytest.raises(QueryError) as failure:
        history(world, head, query())
    assert failure.value.code == "SOURCE_MISMATCH"
    assert failure.value.details["declared_revision"] == head
    assert str(git_dir) not in str(failure.value.to_wire())


def test_without_git_history_is_unavailable_and_reading_is_not(
    world: World, upstream: Upstream, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    head = upstream.commit({"a": b"1\n"})
    world.clone(upstream)
    monkeypatch.setenv("PATH", str(tmp_path / "nowhere"))
    with pytest.raises(QueryError) as failure:
        history(world, head, query())
    assert failure.value.code == "SOURCE_HISTORY_UNAVAILABLE"
    content = world.source().read(world.scope(head), "a", 1, 1, world.budget())
    assert content.content == "1\n"
