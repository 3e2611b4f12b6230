"""What every repository store promises, asked of the one in memory and of the real one."""

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from vacmcpd.adapters.git.clone import GitRepositoryStore
from vacmcpd.datadir import DataDirectory
from vacmcpd.errors import Cancelled, LifecycleError
from vacmcpd.ports.repository_store import FetchReport, RefKind, RepositoryStore, ResolvedRef
from vacmcpd.testing.repositories import MemoryRemote, MemoryRepositoryStore

GONE = "0" * 40


class MemorySide:
    """The store in memory and its only remote."""

    url = "/memory/one"

    def __init__(self) -> None:
        self.remote = MemoryRemote()
        self.store: RepositoryStore = MemoryRepositoryStore({self.url: self.remote})

    def commit(self, branch: str = "main") -> str:
        return self.remote.commit(branch)

    def point(self, ref: str, revision: str) -> None:
        kind, name = ref.split("/", 2)[1:]
        (self.remote.branches if kind == "heads" else self.remote.tags)[name] = revision

    def delete(self, ref: str) -> None:
        kind, name = ref.split("/", 2)[1:]
        del (self.remote.branches if kind == "heads" else self.remote.tags)[name]

    def forget(self, revision: str) -> None:
        self.remote.commits.discard(revision)


class RealSide:
    """The store over git and a repository beside it."""

    def __init__(self, upstream: Any, data: Path) -> None:
        self.upstream = upstream
        self.url = upstream.url
        self.store: RepositoryStore = GitRepositoryStore(DataDirectory(data), network_timeout=120)

    def commit(self, branch: str = "main") -> str:
        return str(self.upstream.commit(branch=branch))

    def point(self, ref: str, revision: str) -> None:
        self.upstream.git("update-ref", ref, revision)

    def delete(self, ref: str) -> None:
        self.upstream.git("update-ref", "-d", ref)

    def forget(self, revision: str) -> None:
        self.upstream.git("reflog", "expire", "--expire=now", "--all")
        self.upstream.git("gc", "--quiet", "--prune=now")


Side = Any


@pytest.fixture(params=["memory", "real"])
def side(request: pytest.FixtureRequest, tmp_path: Path) -> Side:
    if request.param == "memory":
        return MemorySide()
    return RealSide(request.getfixturevalue("upstream"), tmp_path / "data")


def quiet(phase: str, done: int, total: int) -> None:
    """No progress."""


def clone(side: Side, name: str = "one") -> FetchReport:
    report: FetchReport = side.store.clone(name, side.url, quiet, None)
    return report


def fetch(side: Side) -> FetchReport:
    report: FetchReport = side.store.fetch("one", side.url, quiet, None)
    return report


def refused(action: Callable[[], object], code: str) -> LifecycleError:
    with pytest.raises(LifecycleError) as refusal:
        action()
    assert refusal.value.code == code
    return refusal.value


def test_a_clone_counts_branches_and_tags(side: Side) -> None:
    side.point("refs/tags/v1", side.commit())
    side.commit("other")
    assert clone(side) == FetchReport(2, 1)
    assert side.store.count("one") == FetchReport(2, 1)
    assert side.store.healthy("one")


def test_an_empty_remote_is_cloned(side: Side) -> None:
    assert clone(side) == FetchReport(0, 0)
    assert side.store.healthy("one")
    refused(lambda: side.store.resolve("one", "main"), "REVISION_NOT_FOUND")
    head = side.commit()
    assert fetch(side) == FetchReport(1, 0)
    assert side.store.resolve("one", "main").revision == head


def test_a_clone_that_fails_leaves_nothing(side: Side) -> None:
    refused(
        lambda: side.store.clone("one", side.url + "-nowhere", quiet, None), "REPOSITORY_NOT_FOUND"
    )
    assert not side.store.healthy("one")
    refused(lambda: side.store.count("one"), "REPOSITORY_NOT_FOUND")


def test_a_cancelled_clone_leaves_nothing(side: Side) -> None:
    side.commit()
    flag = threading.Event()
    flag.set()
    with pytest.raises(Cancelled):
        side.store.clone("one", side.url, quiet, flag)
    assert not side.store.healthy("one")


def test_progress_names_a_phase_and_counts(side: Side) -> None:
    side.commit()
    seen: list[tuple[str, int, int]] = []
    side.store.clone("one", side.url, lambda *step: seen.append(step), None)
    assert any(phase == "Receiving objects" and done == total > 0 for phase, done, total in seen)


def test_a_fetch_that_fails_changes_nothing(side: Side) -> None:
    head = side.commit()
    clone(side)
    refused(
        lambda: side.store.fetch("one", side.url + "-nowhere", quiet, None), "REPOSITORY_NOT_FOUND"
    )
    assert side.store.healthy("one")
    assert side.store.resolve("one", "main").revision == head


def test_without_a_clone_everything_says_so(side: Side) -> None:
    store = side.store
    for action in (
        lambda: fetch(side),
        lambda: store.count("one"),
        lambda: store.resolve("one", "main"),
        lambda: store.has_commit("one", GONE),
        lambda: store.tree_id("one", GONE),
        lambda: store.keep("one", GONE),
        lambda: store.kept("one"),
    ):
        refused(action, "REPOSITORY_NOT_FOUND")
    store.remove("one")


def test_a_removed_clone_is_gone_and_can_be_made_again(side: Side) -> None:
    side.commit()
    clone(side)
    side.store.remove("one")
    assert not side.store.healthy("one")
    clone(side)
    assert side.store.healthy("one")


def test_one_clone_is_not_anothers(side: Side) -> None:
    side.commit()
    clone(side, "a")
    clone(side, "a-b")
    side.store.remove("a")
    assert side.store.healthy("a-b")


def test_a_branch_means_the_newest_fetched_commit(side: Side) -> None:
    first = side.commit()
    clone(side)
    second = side.commit()
    assert side.store.resolve("one", "main") == ResolvedRef("main", RefKind.BRANCH, first)
    fetch(side)
    assert side.store.resolve("one", "main") == ResolvedRef("main", RefKind.BRANCH, second)


def test_refs_are_found_by_short_and_full_name_and_by_id(side: Side) -> None:
    head = side.commit("release/v1")
    side.point("refs/tags/v1.0", head)
    clone(side)
    resolve = side.store.resolve
    assert resolve("one", "release/v1").kind is RefKind.BRANCH
    assert resolve("one", "refs/heads/release/v1") == ResolvedRef(
        "refs/heads/release/v1", RefKind.BRANCH, head
    )
    assert resolve("one", "v1.0") == ResolvedRef("v1.0", RefKind.TAG, head)
    assert resolve("one", "refs/tags/v1.0").kind is RefKind.TAG
    assert resolve("one", head) == ResolvedRef(head, RefKind.COMMIT, head)
    assert resolve("one", head[:12]).revision == head
    assert resolve("one", head[:7]).revision == head
    assert resolve("one", head.upper()).revision == head
    assert side.store.has_commit("one", head)
    assert len(side.store.tree_id("one", head)) == 40


@pytest.mark.parametrize("ref", ["release/v2", "refs/heads/v1.0", "refs/tags/release/v1", GONE])
def test_an_unknown_ref_is_not_guessed(side: Side, ref: str) -> None:
    side.point("refs/tags/v1.0", side.commit("release/v1"))
    clone(side)
    failure = refused(lambda: side.store.resolve("one", ref), "REVISION_NOT_FOUND")
    assert failure.details["repository"] == "one"
    assert failure.details["ref"] == ref
    assert isinstance(failure.details["near"], list)


def test_a_near_name_is_offered(side: Side) -> None:
    side.commit("release/v1")
    clone(side)
    failure = refused(lambda: side.store.resolve("one", "release/v2"), "REVISION_NOT_FOUND")
    assert failure.details["near"] == ["release/v1"]


def test_an_abbreviation_of_six_digits_is_too_short(side: Side) -> None:
    head = side.commit()
    clone(side)
    refused(lambda: side.store.resolve("one", head[:6]), "REVISION_NOT_FOUND")


def test_a_name_that_is_branch_and_tag_is_refused_unless_written_in_full(side: Side) -> None:
    first, second = side.commit("both"), side.commit("other")
    side.point("refs/tags/both", second)
    clone(side)
    failure = refused(lambda: side.store.resolve("one", "both"), "INVALID_ARGUMENT")
    assert failure.details["candidates"] == ["refs/heads/both", "refs/tags/both"]
    resolved = [side.store.resolve("one", full) for full in failure.details["candidates"]]
    assert [each.revision for each in resolved] == [first, second]


def test_a_branch_and_tag_of_one_commit_are_refused_as_well(side: Side) -> None:
    side.point("refs/tags/both", side.commit("both"))
    clone(side)
    refused(lambda: side.store.resolve("one", "both"), "INVALID_ARGUMENT")


def test_a_branch_that_is_called_like_a_commit_is_refused(side: Side) -> None:
    head = side.commit()
    side.point(f"refs/heads/{head[:8]}", side.commit("other"))
    clone(side)
    failure = refused(lambda: side.store.resolve("one", head[:8]), "INVALID_ARGUMENT")
    assert failure.details["candidates"] == [f"refs/heads/{head[:8]}", head]


def test_a_moved_tag_does_not_break_a_fetch(side: Side) -> None:
    side.point("refs/tags/v1", side.commit())
    clone(side)
    second = side.commit()
    side.point("refs/tags/v1", second)
    fetch(side)
    assert side.store.resolve("one", "v1").revision == second


def test_deleted_branches_and_tags_go_with_the_next_fetch(side: Side) -> None:
    side.commit()
    side.point("refs/tags/v1", side.commit("other"))
    clone(side)
    side.delete("refs/heads/other")
    side.delete("refs/tags/v1")
    assert fetch(side) == FetchReport(1, 0)
    refused(lambda: side.store.resolve("one", "other"), "REVISION_NOT_FOUND")
    refused(lambda: side.store.resolve("one", "v1"), "REVISION_NOT_FOUND")


def test_a_branch_that_becomes_a_folder_of_branches_is_fetched(side: Side) -> None:
    head = side.commit("topic")
    clone(side)
    side.delete("refs/heads/topic")
    side.point("refs/heads/topic/one", head)
    assert fetch(side) == FetchReport(1, 0)
    assert side.store.resolve("one", "topic/one").revision == head


def test_a_kept_commit_outlives_its_branch(side: Side) -> None:
    side.commit()
    lost = side.commit("other")
    clone(side)
    side.store.keep("one", lost)
    side.delete("refs/heads/other")
    side.forget(lost)
    fetch(side)
    assert side.store.has_commit("one", lost)
    assert side.store.kept("one") == {lost}
    assert side.store.resolve("one", lost).revision == lost


def test_keeping_and_letting_go_may_happen_twice(side: Side) -> None:
    head = side.commit()
    clone(side)
    for _ in range(2):
        side.store.keep("one", head)
        assert side.store.kept("one") == {head}
    for _ in range(2):
        side.store.unkeep("one", head)
        assert side.store.kept("one") == frozenset()


def test_what_is_not_there_can_not_be_kept(side: Side) -> None:
    side.commit()
    clone(side)
    assert not side.store.has_commit("one", GONE)
    refused(lambda: side.store.keep("one", GONE), "REVISION_NOT_FOUND")
    refused(lambda: side.store.tree_id("one", GONE), "REVISION_NOT_FOUND")
    assert side.store.kept("one") == frozenset()


@pytest.mark.parametrize(
    "url",
    [
        "ext::sh -c x",
        "--upload-pack=x",
        "https://user:hunter2@h/a",
        "https://user@h/a",
        "https://h/a?token=hunter2",
        "ssh://-oProxyCommand=x/a",
        "git@-x:a",
        "http://h.example/a",
        "relative",
        "https://h/a\nb",
    ],
)
def test_an_unsafe_url_is_refused(side: Side, url: str) -> None:
    failure = refused(lambda: side.store.check_url(url, False), "INVALID_ARGUMENT")
    assert "hunter2" not in str(failure)


@pytest.mark.parametrize(
    "url", ["https://h/a", "ssh://git@h/a", "git@h.example:a", "/srv/a", "file:///srv/a"]
)
def test_an_ordinary_url_is_accepted(side: Side, url: str) -> None:
    side.store.check_url(url, False)


def test_http_is_for_this_machine_unless_allowed(side: Side) -> None:
    side.store.check_url("http://127.0.0.1:80/a", False)
    side.store.check_url("http://h.example/a", True)
