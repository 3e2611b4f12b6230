"""Every kind of file, read as it stands in the pinned commit."""

from collections.abc import Callable
from typing import Any

import pytest

from vacmcpd.errors import QueryError
from vacmcpd.ports.source import EntryKind, LfsPointer, SourceContent

World = Any
Upstream = Any

LFS = (
    b"version https://git-lfs.github.com/spec/v1\n"
    b"oid sha256:4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393\n"
    b"size 12345\n"
)


@pytest.fixture
def read(world: World, upstream: Upstream) -> Callable[..., SourceContent]:
    inner = upstream.commit({"x": b"x"}, branch="inner")
    head = upstream.commit(
        {
            "plain": b"one\ntwo\nthree\n",
            "executable": ("100755", b"#!/bin/sh\n"),
            "no-newline": b"one\ntwo",
            "crlf": b"one\r\ntwo\r\n",
            "cr": b"one\rtwo\n",
            "separators": "one\u2028two\x0cthree\x85\n".encode(),
            "empty": b"",
            "blank": b"\n",
            "binary": b"\x00\x01\n\xff\n",
            "late-nul": b"a" * 8000 + b"\0\n",
            "latin1": b"caf\xe9\nplain\n",
            "utf8": "na\u00efve\n".encode(),
            "lfs": LFS,
            "not-lfs": b"x" + LFS,
            "link": ("120000", b"plain"),
            "link-away": ("120000", b"/etc/passwd"),
            "link-dir": ("120000", b"dir"),
            "link-lines": ("120000", b"a\nb"),
            "sub": ("160000", inner.encode()),
            "dir/inner": b"inner\n",
            b"caf\xe9.txt": b"by its bytes\n",
            '"quoted"': b"quoted\n",
            "back\\slash": b"backslash\n",
            " edge ": b"spaces\n",
            ":(glob)*": b"magic\n",
            "*": b"star\n",
            "-dash": b"dash\n",
            "new\nline": b"newline\n",
        }
    )
    world.clone(upstream)
    source, scope = world.source(), world.scope(head)

    def reading(path: str, start: int = 1, end: int = 1) -> SourceContent:
        content: SourceContent = source.read(scope, path, start, end, world.budget())
        return content

    return reading


Read = Callable[..., SourceContent]


def refused(action: Callable[[], object]) -> dict[str, Any]:
    with pytest.raises(QueryError) as refusal:
        action()
    assert refusal.value.code == "INVALID_ARGUMENT"
    return refusal.value.details


@pytest.mark.parametrize(
    ("start", "end", "content"),
    [(1, 1, "one\n"), (2, 3, "two\nthree\n"), (1, 3, "one\ntwo\nthree\n"), (3, 3, "three\n")],
)
def test_a_range_of_lines_keeps_their_ends(read: Read, start: int, end: int, content: str) -> None:
    found = read("plain", start, end)
    assert found.content == content
    assert (found.start_line, found.end_line, found.line_count) == (start, end, 3)
    assert (found.kind, found.binary, found.lossy, found.lfs) == (
        EntryKind.FILE,
        False,
        False,
        None,
    )


@pytest.mark.parametrize(("start", "end"), [(1, 4), (4, 4), (100, 200), (3, 2**31)])
def test_a_range_that_leaves_the_file_is_refused(read: Read, start: int, end: int) -> None:
    details = refused(lambda: read("plain", start, end))
    assert details.pop("revision")
    assert details == {"path": "plain", "start_line": start, "end_line": end, "line_count": 3}


@pytest.mark.parametrize(("start", "end"), [(0, 1), (-1, 1), (2, 1)])
def test_what_is_no_range_is_refused(read: Read, start: int, end: int) -> None:
    details = refused(lambda: read("plain", start, end))
    assert details == {"path": "plain", "start_line": start, "end_line": end}


@pytest.mark.parametrize(
    ("path", "end", "content"),
    [
        ("executable", 1, "#!/bin/sh\n"),
        ("no-newline", 2, "one\ntwo"),
        ("crlf", 2, "one\r\ntwo\r\n"),
        ("cr", 1, "one\rtwo\n"),
        ("separators", 1, "one\u2028two\x0cthree\x85\n"),
        ("blank", 1, "\n"),
        ("utf8", 1, "na\u00efve\n"),
        ("dir/inner", 1, "inner\n"),
        ("back\\slash", 1, "backslash\n"),
        (" edge ", 1, "spaces\n"),
        (":(glob)*", 1, "magic\n"),
        ("*", 1, "star\n"),
        ("-dash", 1, "dash\n"),
        ("new\nline", 1, "newline\n"),
        ('"caf\\351.txt"', 1, "by its bytes\n"),
        ('"\\"quoted\\""', 1, "quoted\n"),
    ],
)
def test_a_file_is_read_under_its_one_spelling(
    read: Read, path: str, end: int, content: str
) -> None:
    found = read(path, 1, end)
    assert (found.content, found.path, found.line_count) == (content, path, end)
    assert not found.lossy


def test_an_empty_file_has_no_lines_for_any_range(read: Read) -> None:
    for start, end in ((1, 1), (1, 100), (7, 9)):
        found = read("empty", start, end)
        assert (found.content, found.line_count, found.end_line) == ("", 0, 0)


def test_a_binary_file_is_flagged_and_its_bytes_shown_as_far_as_they_are_text(read: Read) -> None:
    found = read("binary", 1, 2)
    assert (found.binary, found.lossy) == (True, True)
    assert found.content == "\x00\x01\n\ufffd\n"


def test_a_nul_behind_the_first_8000_bytes_is_no_binary(read: Read) -> None:
    assert not read("late-nul").binary


def test_content_that_is_not_utf8_is_lossy_only_where_it_is(read: Read) -> None:
    assert read("latin1", 1, 1).content == "caf\ufffd\n"
    assert read("latin1", 1, 1).lossy
    assert not read("latin1", 2, 2).lossy


def test_an_lfs_pointer_is_flagged(read: Read) -> None:
    found = read("lfs", 1, 3)
    assert found.lfs == LfsPointer(
        "4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393", 12345
    )
    assert found.content == LFS.decode()
    assert read("not-lfs").lfs is None


@pytest.mark.parametrize(
    ("path", "target", "lines"),
    [
        ("link", "plain", 1),
        ("link-away", "/etc/passwd", 1),
        ("link-dir", "dir", 1),
        ("link-lines", "a\nb", 2),
    ],
)
def test_a_symlink_is_its_target_text_and_is_not_followed(
    read: Read, path: str, target: str, lines: int
) -> None:
    found = read(path, 1, lines)
    assert (found.content, found.kind, found.line_count) == (target, EntryKind.SYMLINK, lines)


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("nothing", "missing"),
        ("dir/nothing", "missing"),
        ("plain/below", "missing"),
        ("link-dir/inner", "missing"),
        ("sub/x", "missing"),
        ("PLAIN", "missing"),
        ("pla*", "missing"),
        ("plain/", "missing"),
        ("/plain", "missing"),
        ("dir//inner", "missing"),
        ("dir/../plain", "missing"),
        ("..", "missing"),
        ("caf\u00e9.txt", "missing"),
        ("dir", "directory"),
        (".", "directory"),
        ("", "directory"),
        ("sub", "submodule"),
    ],
)
def test_what_is_no_file_is_told_by_its_kind(read: Read, path: str, kind: str) -> None:
    details = refused(lambda: read(path))
    assert details.pop("revision")
    assert details == {"context": "ctx", "path": path, "kind": kind}


def test_lines_of_a_file_of_100_mb_are_cut_without_splitting_it(
    world: World, upstream: Upstream
) -> None:
    import tracemalloc

    lines = 2_000_000
    content = b"".join(b"%049d\n" % number for number in range(lines))
    head = upstream.commit({"big": content})
    world.clone(upstream)
    source, scope = world.source(), world.scope(head)
    size = len(content)
    del content
    tracemalloc.start()
    found = source.read(scope, "big", lines - 1, lines, world.budget())
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert found.content == f"{lines - 2:049d}\n{lines - 1:049d}\n"
    assert found.line_count == lines
    # The blob once, not once more for its lines.
    assert peak < size * 1.5


def test_a_line_across_the_pieces_is_whole(world: World, upstream: Upstream) -> None:
    content = b"".join(b"x" * width + b"\n" for width in (65535, 65536, 65537, 0, 1, 200_000))
    head = upstream.commit({"a": content + b"end"})
    world.clone(upstream)
    source, scope = world.source(), world.scope(head)
    expected = (content + b"end").decode().splitlines(keepends=True)
    for start in range(1, 8):
        for end in range(start, 8):
            found = source.read(scope, "a", start, end, world.budget())
            assert found.content == "".join(expected[start - 1 : end])
