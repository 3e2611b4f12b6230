"""One path in two commits, held against what plain ``git diff`` prints."""

import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from vacmcpd.adapters.git.diff import compare
from vacmcpd.errors import QueryError
from vacmcpd.model import Member, Scope
from vacmcpd.ports.budget import Budget
from vacmcpd.ports.objects import TreeEntry
from vacmcpd.ports.source import Change, EntryKind, Hunk, LineKind, SourceDiff

World = Any
Upstream = Any
Diff = Callable[..., SourceDiff]

MARKS = {LineKind.CONTEXT: " ", LineKind.ADDED: "+", LineKind.REMOVED: "-"}
ALL = 10**9


def shown(hunks: tuple[Hunk, ...]) -> str:
    """The hunks as git prints them, without the words behind a header."""
    text = ""
    for hunk in hunks:
        old, new = _range(hunk.old_start, hunk.old_lines), _range(hunk.new_start, hunk.new_lines)
        text += f"@@ -{old} +{new} @@\n"
        for line in hunk.lines:
            text += f"{MARKS[line.kind]}{line.content}\n"
            text += "\\ No newline at end of file\n" if line.no_newline else ""
    return text


def _range(start: int, count: int) -> str:
    return str(start) if count == 1 else f"{start},{count}"


class Bytes:
    """Two blobs that stand for an object reader."""

    def __init__(self, before: bytes, after: bytes) -> None:
        self._blobs = {"before": before, "after": after}

    def entry(self, scope: Scope, path: bytes) -> TreeEntry:
        return TreeEntry(path, 0o100644, scope.revision)

    def blob(self, scope: Scope, oid: str) -> bytes:
        return self._blobs[oid]


def compared(before: bytes, after: bytes, skip: int = 0, most: int = ALL) -> SourceDiff:
    scopes = [Scope("c", Member("r", "b", side)) for side in ("before", "after")]
    reader: Any = Bytes(before, after)
    return compare(reader, scopes[0], scopes[1], "f", skip, most, Budget("diff", "git", 60))


LINES = st.lists(
    st.sampled_from(
        [b"a", b"b", b"", b"  a", b"}", b"@@ -1 +1 @@", b"\\ No", b"-", b"+x", b"\xff"]
    ),
    max_size=30,
)
FILES = st.builds(
    lambda lines, end: b"\n".join(lines) + (b"\n" if end and lines else b""), LINES, st.booleans()
)


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Callable[[bytes, bytes], str]:
    folder = tmp_path_factory.mktemp("plain")

    def diff(before: bytes, after: bytes) -> str:
        for name, content in (("before", before), ("after", after)):
            (folder / name).write_bytes(content)
        done = subprocess.run(
            ["git", "diff", "--no-index", "--no-color", "--no-ext-diff", "before", "after"],
            cwd=folder,
            capture_output=True,
            check=False,
        )
        text = done.stdout.decode("utf-8", "replace")
        start = re.search(r"^@@ ", text, re.MULTILINE)
        body = text[start.start() :] if start else ""
        return re.sub(r"^(@@ -[\d,]+ \+[\d,]+ @@).*$", r"\1", body, flags=re.MULTILINE)

    return diff


@settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(before=FILES, after=FILES)
def test_hunks_are_those_that_git_prints(
    plain: Callable[[bytes, bytes], str], before: bytes, after: bytes
) -> None:
    assert shown(compared(before, after).hunks) == plain(before, after)


@settings(max_examples=100, deadline=None)
@given(before=FILES, after=FILES, size=st.integers(1, 12))
def test_windows_put_together_are_the_whole(before: bytes, after: bytes, size: int) -> None:
    whole = compared(before, after)
    skip, found = 0, []
    while True:
        page = compared(before, after, skip, size)
        assert page.total_hunks == len(whole.hunks)
        cut = [
            hunk for hunk, full in zip(page.hunks, whole.hunks[skip:], strict=False) if hunk != full
        ]
        # Only a first hunk that is longer than the window is ever cut, and it keeps its counts.
        assert not cut or (len(page.hunks) == 1 and len(cut[0].lines) == size and page.truncated)
        assert cut or sum(len(hunk.lines) for hunk in page.hunks) <= size
        found += list(page.hunks)
        skip += len(page.hunks)
        assert page.truncated is (bool(cut) or skip < len(whole.hunks))
        if skip >= len(whole.hunks):
            break
        assert page.hunks
    assert [(h.old_start, h.old_lines, h.new_start, h.new_lines) for h in found] == [
        (h.old_start, h.old_lines, h.new_start, h.new_lines) for h in whole.hunks
    ]


def test_a_window_beyond_the_last_hunk_is_empty() -> None:
    page = compared(b"a\n", b"b\n", skip=5)
    assert (page.hunks, page.truncated, page.total_hunks) == ((), False, 1)


def test_lines_that_look_like_headers_are_lines() -> None:
    before, after = b"@@ -1,9 +1,9 @@\nx\n", b"@@ -1,9 +1,9 @@\n\\ No newline\n"
    (hunk,) = compared(before, after).hunks
    assert [line.content for line in hunk.lines] == ["@@ -1,9 +1,9 @@", "x", "\\ No newline"]
    assert not any(line.no_newline for line in hunk.lines)


def test_many_changed_lines_are_not_all_taken_apart() -> None:
    before = b"".join(b"old %d\n" % n for n in range(200_000))
    after = b"".join(b"new %d\n" % n for n in range(200_000))
    page = compared(before, after, most=100)
    assert page.truncated
    assert page.total_hunks == 1
    assert len(page.hunks[0].lines) == 100
    assert (page.hunks[0].old_lines, page.hunks[0].new_lines) == (200_000, 200_000)


@pytest.fixture
def sides(world: World, upstream: Upstream) -> tuple[World, Any, Any]:
    inner = upstream.commit({"x": b"x"}, branch="inner")
    before: dict[str | bytes, Any] = {
        "same": b"same\n",
        "text": b"one\ntwo\n",
        "mode": b"run\n",
        "both": b"run\n",
        "kind": b"target",
        "link": ("120000", b"a"),
        "eof": b"one\ntwo",
        "crlf": b"one\ntwo\n",
        "binary": b"\0\1",
        "to-binary": b"text\n",
        "utf16": "a\n".encode("utf-16"),
        "empty": b"",
        "gone": b"gone\n",
        "grows": b"",
        "dir/f": b"f\n",
        "becomes-dir": b"file\n",
        "sub": ("160000", inner.encode()),
        "becomes-sub": b"file\n",
        b"caf\xe9": b"one\n",
        "*": b"star\n",
        "marked.txt": b"one\n",
        ".gitattributes": b"*.txt binary diff=evil\n",
    }
    first = upstream.commit(before)
    upstream.git("rm", "-r", "-q", "--cached", "--ignore-unmatch", ".")
    changes: dict[str | bytes, Any] = {
        **before,
        "text": b"one\n2\n",
        "mode": ("100755", b"run\n"),
        "both": ("100755", b"walk\n"),
        "kind": ("120000", b"target"),
        "link": ("120000", b"b"),
        "eof": b"one\ntwo\n",
        "crlf": b"one\r\ntwo\r\n",
        "binary": b"\0\2",
        "to-binary": b"\0\n",
        "utf16": "b\n".encode("utf-16"),
        "grows": b"grown\n",
        "came": b"came\n",
        "came-empty": b"",
        b"caf\xe9": b"two\n",
        "marked.txt": b"two\n",
    }
    for name in ("gone", "becomes-dir", "becomes-sub"):
        del changes[name]
    changes["becomes-dir/f"] = b"f\n"
    changes["becomes-sub"] = ("160000", inner.encode())
    upstream.git("update-ref", "-d", "refs/heads/main")
    second = upstream.commit(changes)
    upstream.git("update-ref", "refs/heads/first", first)
    world.clone(upstream)
    return world, world.scope(first), world.scope(second)


@pytest.fixture
def diff(sides: tuple[World, Any, Any]) -> Diff:
    world, first, second = sides

    def comparing(path: str, backwards: bool = False) -> SourceDiff:
        pair = (second, first) if backwards else (first, second)
        result: SourceDiff = world.source().diff(*pair, path, 0, ALL, world.budget())
        return result

    return comparing


@pytest.mark.parametrize(
    ("path", "change", "text"),
    [
        ("same", Change.UNCHANGED, ""),
        ("*", Change.UNCHANGED, ""),
        ("sub/../same", None, ""),
        ("text", Change.MODIFIED, "@@ -1,2 +1,2 @@\n one\n-two\n+2\n"),
        ("marked.txt", Change.MODIFIED, "@@ -1 +1 @@\n-one\n+two\n"),
        ("mode", Change.MODIFIED, ""),
        ("both", Change.MODIFIED, "@@ -1 +1 @@\n-run\n+walk\n"),
        ("kind", Change.MODIFIED, ""),
        (
            "link",
            Change.MODIFIED,
            "@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+b\n\\ No newline at end of file\n",
        ),
        (
            "eof",
            Change.MODIFIED,
            "@@ -1,2 +1,2 @@\n one\n-two\n\\ No newline at end of file\n+two\n",
        ),
        ("crlf", Change.MODIFIED, "@@ -1,2 +1,2 @@\n-one\n-two\n+one\r\n+two\r\n"),
        ("gone", Change.REMOVED, "@@ -1 +0,0 @@\n-gone\n"),
        ("came", Change.ADDED, "@@ -0,0 +1 @@\n+came\n"),
        ("grows", Change.MODIFIED, "@@ -0,0 +1 @@\n+grown\n"),
        ("came-empty", Change.ADDED, ""),
        ("empty", Change.UNCHANGED, ""),
        ('"caf\\351"', Change.MODIFIED, "@@ -1 +1 @@\n-one\n+two\n"),
        ("becomes-dir", Change.REMOVED, "@@ -1 +0,0 @@\n-file\n"),
        ("becomes-dir/f", Change.ADDED, "@@ -0,0 +1 @@\n+f\n"),
        ("becomes-sub", Change.REMOVED, "@@ -1 +0,0 @@\n-file\n"),
    ],
)
def test_each_kind_of_change_is_told(
    diff: Diff, path: str, change: Change | None, text: str
) -> None:
    if change is None:
        with pytest.raises(QueryError):
            diff(path)
        return
    found = diff(path)
    assert (found.change, found.path, shown(found.hunks)) == (change, path, text)
    assert (found.binary, found.truncated) == (False, False)
    assert (found.from_entry is None) is (change is Change.ADDED)
    assert (found.to_entry is None) is (change is Change.REMOVED)


@pytest.mark.parametrize("path", ["binary", "to-binary", "utf16"])
def test_a_binary_side_has_no_hunks(diff: Diff, path: str) -> None:
    found = diff(path)
    assert (found.binary, found.hunks, found.change) == (True, (), Change.MODIFIED)


def test_both_sides_say_what_they_are(diff: Diff) -> None:
    found = diff("kind")
    assert found.from_entry is not None
    assert found.to_entry is not None
    assert (found.from_entry.kind, found.from_entry.mode, found.from_entry.size) == (
        EntryKind.FILE,
        "100644",
        6,
    )
    assert (found.to_entry.kind, found.to_entry.mode) == (EntryKind.SYMLINK, "120000")
    modes = diff("mode")
    assert modes.from_entry is not None
    assert modes.to_entry is not None
    assert (modes.from_entry.mode, modes.to_entry.mode) == ("100644", "100755")


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("nothing", "missing"),
        ("*.txt", "missing"),
        ("dir", "directory"),
        (".", "directory"),
        ("sub", "submodule"),
        ("dir/f/x", "missing"),
    ],
)
def test_what_neither_side_has_as_a_file_is_refused(
    sides: tuple[World, Any, Any], diff: Diff, path: str, kind: str
) -> None:
    with pytest.raises(QueryError) as refusal:
        diff(path)
    assert refusal.value.code == "INVALID_ARGUMENT"
    assert refusal.value.details == {
        "path": path,
        "from_revision": sides[1].revision,
        "to_revision": sides[2].revision,
        "kind": kind,
    }


def test_the_other_way_round_is_the_opposite(diff: Diff) -> None:
    assert diff("came", backwards=True).change is Change.REMOVED
    assert diff("becomes-dir", backwards=True).change is Change.ADDED
    (hunk,) = diff("text", backwards=True).hunks
    assert [MARKS[line.kind] + line.content for line in hunk.lines] == [" one", "-2", "+two"]


def test_attributes_and_configuration_of_the_clone_change_nothing(
    sides: tuple[World, Any, Any], diff: Diff
) -> None:
    before = shown(diff("marked.txt").hunks), shown(diff("text").hunks)
    git_dir: Path = sides[0].data.repository("one")
    (git_dir / "info").mkdir(exist_ok=True)
    (git_dir / "info" / "attributes").write_text("* binary\n", encoding="utf-8")
    with (git_dir / "config").open("a", encoding="utf-8") as config:
        config.write("[diff]\n\tcontext = 0\n\tnoprefix = true\n\talgorithm = patience\n")
    assert (shown(diff("marked.txt").hunks), shown(diff("text").hunks)) == before


def test_a_side_whose_pin_does_not_hold_is_a_mismatch(sides: tuple[World, Any, Any]) -> None:
    world, first, _ = sides
    gone = world.scope("0" * 40)
    for pair in ((first, gone), (gone, first)):
        with pytest.raises(QueryError) as failure:
            world.source().diff(*pair, "text", 0, ALL, world.budget())
        assert failure.value.code == "SOURCE_MISMATCH"
        assert failure.value.details["declared_revision"] == "0" * 40
