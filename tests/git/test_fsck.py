"""git's strict checks stay on; old, harmless findings are let through, harmful ones are not."""

from collections.abc import Callable
from typing import Any

import pytest

from vacmcpd.errors import LifecycleError
from vacmcpd.ports.source import HistoryQuery

World = Any
Upstream = Any

GOOD = b"A U Thor <author@example.org> 1700000000 +0000"


def content(tree: str, author: bytes = GOOD, committer: bytes = GOOD) -> bytes:
    return b"tree %s\nauthor %s\ncommitter %s\n\nold\n" % (tree.encode(), author, committer)


def plain_tree(upstream: Upstream) -> str:
    return str(upstream.tree(("100644", upstream.blob(b"one\n"), b"a")))


def zero_padded(upstream: Upstream) -> bytes:
    inner = upstream.tree(("100644", upstream.blob(b"one\n"), b"a"))
    return content(
        upstream.tree(("100644", upstream.blob(b"one\n"), b"a"), ("040000", inner, b"d"))
    )


def tag_without_tagger(upstream: Upstream) -> bytes:
    head = upstream.raw_commit(content(plain_tree(upstream)), branch="tagged")
    raw = f"object {head}\ntype commit\ntag old\n\nold tag\n".encode()
    tag = upstream.git("hash-object", "-t", "tag", "-w", "--literally", "--stdin", stdin=raw)
    (upstream.path / ".git" / "refs" / "tags" / "old").write_text(f"{tag}\n", encoding="ascii")
    return content(plain_tree(upstream))


def by(author: bytes) -> Callable[[Upstream], bytes]:
    return lambda upstream: content(plain_tree(upstream), author)


HARMLESS: dict[str, Callable[[Upstream], bytes]] = {
    "zeroPaddedFilemode": zero_padded,
    "badTimezone": by(b"A U Thor <author@example.org> 1280000000 +051800"),
    "missingSpaceBeforeDate": by(b"A U Thor <author@example.org>1280000000 +0000"),
    "missingSpaceBeforeEmail": by(b"A U Thor<author@example.org> 1280000000 +0000"),
    "badDate": by(b"A U Thor <author@example.org> yesterday +0000"),
    "badDateOverflow": by(b"A U Thor <author@example.org> 99999999999999999999999 +0000"),
    "missingEmail": by(b"A U Thor 1280000000 +0000"),
    "missingNameBeforeEmail": by(b"<author@example.org> 1280000000 +0000"),
    "badName": by(b"A > U Thor <author@example.org> 1280000000 +0000"),
    "missingTaggerEntry": tag_without_tagger,
}


@pytest.mark.parametrize("finding", HARMLESS)
def test_old_history_that_strict_checks_dislike_is_cloned_and_read(
    world: World, upstream: Upstream, finding: str
) -> None:
    head = upstream.raw_commit(HARMLESS[finding](upstream))
    world.clone(upstream)
    world.store.keep("one", head)
    scope, budget = world.scope(head), world.budget()
    assert world.objects().prove(scope) == world.store.tree_id("one", head)
    assert world.source().read(scope, "a", 1, 1, budget).content == "one\n"
    entry = world.source().history(scope, HistoryQuery("", "", "a", 0, 9), budget).entries[0]
    assert (entry.commit, entry.message) == (head, "old")
    assert entry.timestamp.tzinfo is not None
    assert world.store.resolve("one", head[:8]).revision == head


def test_a_tree_with_zero_padded_modes_lists_its_files(world: World, upstream: Upstream) -> None:
    head = upstream.raw_commit(zero_padded(upstream))
    world.clone(upstream)
    leaves = world.objects(keep_refs=False).leaves(world.scope(head), world.budget())
    assert [leaf.path for leaf in leaves] == [b"a", b"d/a"]


def named(name: bytes, mode: str = "100644") -> Callable[[Upstream], bytes]:
    def make(upstream: Upstream) -> bytes:
        inner = plain_tree(upstream)
        oid = inner if mode == "40000" else upstream.blob(b"[core]\n")
        return content(upstream.tree((mode, oid, name)))

    return make


def modules(text: bytes, mode: str = "100644") -> Callable[[Upstream], bytes]:
    return lambda upstream: content(upstream.tree((mode, upstream.blob(text), b".gitmodules")))


HARMFUL: dict[str, Callable[[Upstream], bytes]] = {
    "a .git folder": named(b".git", "40000"),
    "a .GIT folder": named(b".GIT", "40000"),
    "a name that folds to .git": named("\u200c.git".encode(), "40000"),
    "a short name of .git": named(b"git~1", "40000"),
    "..": named(b"..", "40000"),
    ".": named(b".", "40000"),
    "a name with a slash": named(b"a/../../b"),
    "a .gitmodules link": modules(b"/etc/passwd", "120000"),
    "a .gitmodules that names an option": modules(
        b'[submodule "x"]\n\tpath = x\n\turl = --upload-pack=touch\n'
    ),
    "a .gitmodules that runs": modules(
        b'[submodule "x"]\n\tpath = x\n\turl = /x\n\tupdate = !touch\n'
    ),
    "entries twice": lambda upstream: content(
        upstream.tree(*[("100644", upstream.blob(b"x"), b"a")] * 2)
    ),
    "entries out of order": lambda upstream: content(
        upstream.tree(("100644", upstream.blob(b"x"), b"b"), ("100644", upstream.blob(b"x"), b"a"))
    ),
    "a commit without author": lambda upstream: (
        b"tree %s\ncommitter %s\n\nx\n" % (plain_tree(upstream).encode(), GOOD)
    ),
    "a NUL in the headers": by(b"A\0B <author@example.org> 1280000000 +0000"),
}


@pytest.mark.parametrize("case", HARMFUL)
def test_a_harmful_object_is_refused_and_nothing_is_left(
    world: World, upstream: Upstream, case: str
) -> None:
    upstream.commit()
    upstream.raw_commit(HARMFUL[case](upstream), branch="evil")
    with pytest.raises(LifecycleError) as refusal:
        world.clone(upstream)
    assert refusal.value.code == "UNSUPPORTED_REPOSITORY"
    assert not world.store.healthy("one")
    assert list(world.data.repositories.iterdir()) == []


def test_a_harmful_object_that_comes_later_is_refused_and_the_clone_stays(
    world: World, upstream: Upstream
) -> None:
    head = upstream.commit()
    world.clone(upstream)
    upstream.raw_commit(named(b".git", "40000")(upstream), branch="evil")
    with pytest.raises(LifecycleError) as refusal:
        world.fetch(upstream)
    assert refusal.value.code == "UNSUPPORTED_REPOSITORY"
    assert world.store.healthy("one")
    assert world.store.resolve("one", "main").revision == head
    assert world.store.count("one").branches == 1


def test_a_users_own_setting_does_not_switch_the_checks_off(
    world: World, upstream: Upstream, home: Any
) -> None:
    (home / ".gitconfig").write_text(
        "[fetch]\n\tfsckObjects = false\n[transfer]\n\tfsckObjects = false\n", encoding="utf-8"
    )
    upstream.raw_commit(named(b".git", "40000")(upstream))
    with pytest.raises(LifecycleError) as refusal:
        world.clone(upstream)
    assert refusal.value.code == "UNSUPPORTED_REPOSITORY"
