"""Queries that were recorded from Zoekt over the demo repository, as sets of path and line."""

import pytest

from vacmcpd.errors import QueryError, WireCode
from vacmcpd.testing.objects import Symlink

HEAD = "package demo\n\n"
MAIN = {
    "go.mod": "module example.com/demo\n\ngo 1.26\n",
    "README.md": "# demo\n\nTwo releases, two handlers.\n",
    "shared.go": HEAD
    + "// SharedHandler is the same on every release.\n"
    + 'func SharedHandler(req string) string {\n\treturn "shared: " + req\n}\n\n'
    + "// Keep delegates to SharedHandler.\n"
    + "func Keep(req string) string {\n\treturn SharedHandler(req)\n}\n",
    "pkg/sub/deep.go": "package sub\n\n// Deep is nested.\nfunc Deep() int { return 1 }\n",
    "latin1.txt": b"caf\xe9 latin1\nsecond\n",
    "empty.txt": "",
    "link.go": Symlink(b"processor.go"),
    "a file.txt": "spaces here\n",
    "naïve.txt": "unicode name\n",
    r"na\xc3\xafve.txt": "unicode name\n",
}
PROCESS = (
    HEAD
    + "// Process handles one request.\nfunc Process(req string) string {\n\treturn {}(req)\n}\n"
)
VERSION = HEAD + '// Version is the release this branch carries.\nconst Version = "{}"\n'
HANDLER = (
    HEAD + "// {0} serves a request the way {1} do{2}.\n"
    'func {0}(req string) string {{\n\treturn "{3}: " + req\n}}\n'
)
ONLY = (
    HEAD + "// {0}Only is only on {1}.\n"
    'func {0}Only(req string) string {{\n\treturn "{2} only: " + req\n}}\n'
)
V1 = MAIN | {
    "handler.go": HANDLER.format("LegacyHandler", "releases up to v1", "", "legacy"),
    "processor.go": PROCESS.replace("{}", "LegacyHandler"),
    "version.go": VERSION.replace("{}", "v1"),
    "oldonly.go": ONLY.format("Old", "v1", "old"),
    "nonl.txt": "no newline at end",
    "crlf.txt": "one\r\ntwo\r\nthree\r\n",
    "blob.bin": b"\x00\x01\x02binary\x00\n",
}
V2 = MAIN | {
    "handler.go": HANDLER.format("NewHandler", "v2", "es", "new"),
    "processor.go": PROCESS.replace("{}", "NewHandler"),
    "version.go": VERSION.replace("{}", "v2"),
    "newonly.go": ONLY.format("New", "v2", "new"),
    "nonl.txt": "no newline changed",
    "crlf.txt": "one\r\nTWO\r\nthree\r\n",
    "blob.bin": b"\x00\x01\x03binary2\x00\n",
}

NEW_HANDLER = {("handler.go", 3), ("handler.go", 4), ("processor.go", 5)}
SHARED = {("shared.go", line) for line in (3, 4, 8, 10)}

RECORDED = [
    ("v1", "branch:release/v2 NewHandler", set()),
    ("v1", "hotfix", set()),
    ("v2", "newhandler", NEW_HANDLER),
    ("v2", "three", {("crlf.txt", 3)}),
    ("v2", r"Process\(", {("processor.go", 4)}),
    ("v2", "file:handler func", {("handler.go", 4)}),
    ("v1", "HotfixOnly", set()),
    ("v2", "lang:go NewHandler", NEW_HANDLER),
    ("v2", "latin1", {("latin1.txt", 1)}),
    ("v2", "Handler", SHARED | NEW_HANDLER),
    ("v2", "Handler -file:shared", NEW_HANDLER),
    ("v1", "NewHandler", set()),
    ("v2", "NewHandler", NEW_HANDLER),
    ("v2", "NewHandler or SharedHandler", SHARED | NEW_HANDLER),
    (
        "v2",
        "New.*Handler|Keep",
        {("shared.go", 8), ("shared.go", 9), *NEW_HANDLER},
    ),
    ("v1", "repo:other NewHandler", set()),
    ("v2", "return NewHandler", {("handler.go", 5), *NEW_HANDLER}),
    ("v2", "日本", set()),
]

# Zoekt's lines for ".", and what differs: it indexed a link's target and a note about the binary
# file as content, which are matches of the name here, and left out the name of the empty file.
EVERYTHING = {
    "README.md": {1, 3},
    "a file.txt": {1},
    "blob.bin": {0},
    "crlf.txt": {1, 2, 3},
    "empty.txt": {0},
    "go.mod": {1, 3},
    "handler.go": {1, 3, 4, 5, 6},
    "latin1.txt": {1, 2},
    "link.go": {0},
    r"na\xc3\xafve.txt": {1},
    "naïve.txt": {1},
    "newonly.go": {1, 3, 4, 5, 6},
    "nonl.txt": {1},
    "pkg/sub/deep.go": {1, 3, 4},
    "processor.go": {1, 3, 4, 5, 6},
    "shared.go": {1, 3, 4, 5, 6, 8, 9, 10, 11},
    "version.go": {1, 3, 4},
}


@pytest.fixture(scope="module")
def releases(lab):
    return {
        "v1": lab(V1, branch="release/v1"),
        "v2": lab(V2, branch="release/v2"),
    }


@pytest.mark.parametrize(("release", "query", "places"), RECORDED)
def test_a_recorded_query_finds_the_recorded_lines(releases, release, query, places):
    assert set(releases[release].hits(query)) == places


def test_a_pattern_that_matches_everything_finds_every_line_that_is_not_empty(releases):
    page = releases["v2"].search(".")
    found = {}
    for match in page.matches:
        found.setdefault(match.path, set()).add(match.line)
    assert found == EVERYTHING
    named = {match.path for match in page.matches if match.file_name}
    assert named == {"blob.bin", "link.go", "empty.txt"}
    assert dict(page.coverage.skipped) == {"binary": 1, "symlink": 1}


def test_name_matches_that_the_original_dropped_are_answered(releases):
    assert releases["v2"].hits("file:handler.go") == [("handler.go", 0)]
    assert releases["v2"].hits("handler.go") == [("handler.go", 0)]


def test_a_line_feed_separates_words(releases):
    assert set(releases["v2"].hits("New\nHandler")) == NEW_HANDLER


@pytest.mark.parametrize(
    "query",
    [
        "[a",
        '"abc',
        '"Process("',
        "a) or (b",
        "func Process(",
        "sym:Process",
        "type:repo NewHandler",
    ],
)
def test_what_can_not_be_answered_is_refused(releases, query):
    with pytest.raises(QueryError) as caught:
        releases["v2"].search(query)
    assert caught.value.code is WireCode.INVALID_ARGUMENT
    assert caught.value.details["query"] == query


def test_a_release_holds_its_own_handler_only(releases):
    assert releases["v2"].paths("content:NewHandler") == ["handler.go", "processor.go"]
    assert releases["v1"].hits("NewHandler") == []
    assert releases["v1"].paths("LegacyHandler") == ["handler.go", "processor.go"]
