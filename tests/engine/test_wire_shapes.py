"""What each query answers, key by key."""

import json
from collections.abc import Callable

import pytest

from vacmcpd.engine import (
    CompareCallsRequest,
    CompareCodeRequest,
    Engine,
    GetCodeRequest,
    ListContextsRequest,
    SearchCodeRequest,
    SearchHistoryRequest,
    TraceCallsRequest,
)
from vacmcpd.testing.contexts import MemoryContexts, pinned
from vacmcpd.testing.search import MemorySearch
from vacmcpd.testing.source import MemoryCommit, MemoryFile, MemorySource, commit_id

FIRST, SECOND, SIDE = commit_id("first"), commit_id("second"), commit_id("side")
V1 = {"id": "v1", "repository": "demo", "branch": "release/v1", "revision": FIRST}
V2 = {"id": "v2", "repository": "demo", "branch": "release/v2", "revision": SECOND}


def covered(repository: str, revision: str, files: int) -> dict[str, object]:
    return {
        "repository": repository,
        "revision": revision,
        "files": files,
        "searched": files,
        "skipped": {},
    }


def at(path: str, line: int) -> dict[str, object]:
    return {"location": {"path": path, "start_line": line, "end_line": line}}


def test_list_contexts_is_sorted_by_id_and_shows_one_member_flat(engine: Engine) -> None:
    wire = engine.list_contexts(ListContextsRequest()).to_wire()
    assert [context["id"] for context in wire["contexts"]] == ["both", "lib", "v1", "v2"]
    assert wire["contexts"][2] == V1
    assert wire["contexts"][0] == {
        "id": "both",
        "members": [
            {"repository": "demo", "branch": "release/v2", "revision": SECOND},
            {"repository": "lib", "branch": "main", "revision": SIDE},
        ],
    }


def test_list_contexts_is_empty_where_nothing_is_configured() -> None:
    assert Engine(MemoryContexts()).list_contexts(ListContextsRequest()).to_wire() == {
        "contexts": []
    }


def test_search_of_one_member_is_flat(engine: Engine) -> None:
    wire = engine.search_code(SearchCodeRequest("v2", "handler()")).to_wire()
    assert wire["context"] == V2
    assert wire["matches"] == [
        {
            "path": "app.py",
            "line": 2,
            "snippet": "    handler()",
            "columns": [5, 14],
            "bytes": [4, 13],
        }
    ]
    assert wire["evidence"] == [{**at("app.py", 2), "snippet": "    handler()"}]
    assert wire["coverage"]["complete"] is True
    assert wire["coverage"]["members"][0]["skipped"] == {"binary": 1, "submodule": 1, "symlink": 1}
    assert (wire["total_matches"], wire["total_is_exact"], wire["truncated"]) == (1, True, False)
    assert "next_cursor" not in wire


def test_search_of_several_members_names_each_one(engine: Engine) -> None:
    wire = engine.search_code(SearchCodeRequest("both", "handler =")).to_wire()
    assert [match["repository"] for match in wire["matches"]] == ["demo", "lib"]
    assert [match["revision"] for match in wire["matches"]] == [SECOND, SIDE]
    assert wire["evidence"][1] == {
        **at("lib.py", 1),
        "snippet": "handler = 2",
        "repository": "lib",
        "revision": SIDE,
    }
    assert len(wire["context"]["members"]) == len(wire["coverage"]["members"]) == 2


def test_search_narrowed_to_a_repository_is_flat(engine: Engine) -> None:
    wire = engine.search_code(SearchCodeRequest("both", "handler", repository="lib")).to_wire()
    assert wire["context"] == {
        "id": "both",
        "repository": "lib",
        "branch": "main",
        "revision": SIDE,
    }
    assert wire["matches"] == [
        {
            "path": "lib.py",
            "line": 1,
            "snippet": "handler = 2",
            "columns": [1, 8],
            "bytes": [0, 7],
        }
    ]


def test_a_match_of_the_name_alone_says_so(engine: Engine) -> None:
    wire = engine.search_code(SearchCodeRequest("v2", "nonl.txt")).to_wire()
    assert wire["matches"] == [
        {"path": "odd/nonl.txt", "snippet": "odd/nonl.txt", "file_name": True}
    ]
    assert wire["evidence"] == [{**at("odd/nonl.txt", 0), "snippet": "odd/nonl.txt"}]


def test_no_match_is_an_empty_list_with_complete_coverage(engine: Engine) -> None:
    wire = engine.search_code(SearchCodeRequest("v1", "handler")).to_wire()
    assert (wire["matches"], wire["evidence"], wire["total_matches"]) == ([], [], 0)
    assert wire["coverage"]["complete"] is True
    assert wire["truncated"] is False


def test_a_snippet_of_more_than_a_thousand_characters_is_cut() -> None:
    revision = commit_id("long")
    commit = MemoryCommit(revision, {"min.js": "x" * 1_500})
    engine = Engine(
        MemoryContexts([pinned("c", ("r", "main", revision))]), MemorySearch({"r": [commit]})
    )
    wire = engine.search_code(SearchCodeRequest("c", "xx")).to_wire()
    assert wire["matches"] == [
        {
            "path": "min.js",
            "line": 1,
            "snippet": "x" * 1_000,
            "columns": [1, 3],
            "bytes": [0, 2],
            "snippet_truncated": True,
        }
    ]
    assert wire["evidence"][0]["snippet"] == "x" * 1_000


def test_trace_sorts_calls_and_cites_each_place_once(engine: Engine) -> None:
    wire = engine.trace_calls(TraceCallsRequest("v1", "run", "callees", 1)).to_wire()
    assert wire["symbol"] == "app.run"
    assert (wire["direction"], wire["depth"]) == ("callees", 1)
    app = {"caller": "app.run", "path": "app.py", "kind": "resolved"}
    assert wire["calls"] == [
        {**app, "callee": "app.keep", "line": 4},
        {**app, "callee": "app.keep", "line": 5},
        {**app, "callee": "app.legacy", "line": 2},
    ]
    assert wire["evidence"] == [at("app.py", 4), at("app.py", 5), at("app.py", 2)]
    assert wire["total_matches"] == 3
    assert wire["context"] == V1


def test_get_code_answers_the_lines_and_where_they_are_from(engine: Engine) -> None:
    wire = engine.get_code(GetCodeRequest("v2", "./app.py", 1, 2)).to_wire()
    assert wire == {
        "content": "def run():\n    handler()\n",
        "context": V2,
        "coverage": {"complete": True, "members": [covered("demo", SECOND, 1)]},
        "end_line": 2,
        "evidence": [{"location": {"path": "app.py", "start_line": 1, "end_line": 2}}],
        "line_count": 2,
        "path": "app.py",
        "start_line": 1,
        "truncated": False,
    }


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("odd/crlf.txt", {"content": "one\r\n", "line_count": 2}),
        ("odd/nonl.txt", {"content": "no newline"}),
        ("odd/latin1.txt", {"content": "caf\N{REPLACEMENT CHARACTER}\n", "lossy": True}),
        ("odd/blob.bin", {"content": "\x00\x01\x02\n", "binary": True}),
        ("odd/link", {"content": "../app.py", "kind": "symlink"}),
        ("odd/big.lfs", {"lfs": {"oid": "ab" * 32, "size": 12}, "line_count": 3}),
        ("odd/empty.txt", {"content": "", "line_count": 0, "end_line": 0, "truncated": False}),
        ('"odd/caf\\351.txt"', {"content": "a name that is not UTF-8\n"}),
        ("odd/naïve.txt", {"content": "ï\n"}),
    ],
)
def test_get_code_says_what_is_not_plain(
    engine: Engine, path: str, expected: dict[str, object]
) -> None:
    wire = engine.get_code(GetCodeRequest("v1", path, 1, 1)).to_wire()
    special = {"kind", "binary", "lossy", "lfs", "line_truncated"}
    assert wire["path"] == path
    assert {key: wire[key] for key in expected} == expected
    assert special & wire.keys() == special & expected.keys()


def test_an_empty_file_is_cited_as_a_whole(engine: Engine) -> None:
    wire = engine.get_code(GetCodeRequest("v1", "odd/empty.txt", 1, 400)).to_wire()
    assert wire["evidence"] == [at("odd/empty.txt", 0)]


def test_compare_code_of_a_modified_file(engine: Engine) -> None:
    wire = engine.compare_code(CompareCodeRequest("v1", "v2", "app.py")).to_wire()
    assert wire["from"] == {"context": V1, "evidence": []}
    assert wire["to"] == {"context": V2, "evidence": []}
    assert (wire["change"], wire["path"], wire["binary"]) == ("MODIFIED", "app.py", False)
    assert wire["hunks"] == [
        {
            "old_start": 1,
            "old_lines": 2,
            "new_start": 1,
            "new_lines": 2,
            "lines": [
                {"kind": "CONTEXT", "content": "def run():"},
                {"kind": "REMOVED", "content": "    legacy()"},
                {"kind": "ADDED", "content": "    handler()"},
            ],
        }
    ]
    assert wire["total_hunks"] == 1
    assert [row["revision"] for row in wire["coverage"]["members"]] == [FIRST, SECOND]
    assert list(wire)[:6] == ["from", "to", "change", "path", "binary", "hunks"]


def test_compare_code_of_an_added_and_a_removed_file(engine: Engine) -> None:
    added = engine.compare_code(CompareCodeRequest("v1", "v2", "new.py")).to_wire()
    assert (added["from"], added["change"]) == (None, "ADDED")
    assert added["to"]["context"] == V2
    assert (added["hunks"][0]["old_start"], added["hunks"][0]["old_lines"]) == (0, 0)
    assert [row["revision"] for row in added["coverage"]["members"]] == [SECOND]
    removed = engine.compare_code(CompareCodeRequest("v2", "v1", "new.py")).to_wire()
    assert (removed["to"], removed["change"]) == (None, "REMOVED")
    assert removed["from"]["context"] == V2


def test_compare_code_of_the_same_context_is_unchanged(engine: Engine) -> None:
    wire = engine.compare_code(CompareCodeRequest("v1", "v1", "app.py")).to_wire()
    assert (wire["change"], wire["hunks"], wire["truncated"]) == ("UNCHANGED", [], False)


def compare_two(before: MemoryFile, after: MemoryFile) -> dict[str, object]:
    old, new = commit_id("old"), commit_id("new")
    commits = [MemoryCommit(old, {"f": before}), MemoryCommit(new, {"f": after})]
    engine = Engine(
        MemoryContexts([pinned("a", ("r", "a", old)), pinned("b", ("r", "b", new))]),
        source=MemorySource({"r": commits}),
    )
    return engine.compare_code(CompareCodeRequest("a", "b", "f")).to_wire()


def test_a_change_of_mode_alone_has_no_hunks_and_both_modes() -> None:
    wire = compare_two(MemoryFile(b"x\n"), MemoryFile(b"x\n", mode="100755"))
    assert (wire["change"], wire["hunks"], wire["binary"]) == ("MODIFIED", [], False)
    assert (wire["from_mode"], wire["to_mode"]) == ("100644", "100755")
    assert (wire["from_kind"], wire["to_kind"]) == ("file", "file")


def test_a_last_line_without_a_newline_says_so() -> None:
    wire = compare_two(MemoryFile(b"x\n"), MemoryFile(b"x"))
    assert wire["hunks"][0]["lines"] == [  # type: ignore[index]
        {"kind": "REMOVED", "content": "x"},
        {"kind": "ADDED", "content": "x", "no_newline": True},
    ]


def test_a_change_between_binary_files_has_no_hunks() -> None:
    wire = compare_two(MemoryFile(b"\0a"), MemoryFile(b"\0b"))
    assert (wire["change"], wire["binary"], wire["hunks"]) == ("MODIFIED", True, [])


def test_a_very_long_line_of_a_comparison_is_cut_and_says_so() -> None:
    wire = compare_two(MemoryFile(b"x" * 5_000 + b"\n"), MemoryFile(b"y\n"))
    lines = wire["hunks"][0]["lines"]  # type: ignore[index]
    assert lines[0] == {"kind": "REMOVED", "content": "x" * 2_000, "content_truncated": True}
    assert lines[1] == {"kind": "ADDED", "content": "y"}


def test_compare_calls_tells_what_came_and_went(engine: Engine) -> None:
    request = CompareCallsRequest("v1", "v2", "run", "callees", 1)
    wire = engine.compare_calls(request).to_wire()
    assert wire["presence"] == "BOTH"
    assert wire["requested_symbol"] == "run"
    assert (wire["from_resolved_symbol"], wire["to_resolved_symbol"]) == ("app.run", "app.run")
    assert [row["callee"] for row in wire["added"]] == ["app.handler"]
    assert [row["callee"] for row in wire["removed"]] == ["app.legacy"]
    assert wire["unchanged"] == [
        {
            "caller": "app.run",
            "callee": "app.keep",
            "path": "app.py",
            "kinds": ["resolved"],
            "from_evidence": [at("app.py", 4), at("app.py", 5)],
            "to_evidence": [at("app.py", 6)],
        }
    ]
    assert wire["from"]["evidence"] == [at("app.py", 4), at("app.py", 5), at("app.py", 2)]
    assert wire["to"]["evidence"] == [at("app.py", 6), at("app.py", 2)]


def test_a_symbol_of_one_side_only_is_an_answer(engine: Engine) -> None:
    request = CompareCallsRequest("v1", "v2", "legacy", "callers", 1)
    wire = engine.compare_calls(request).to_wire()
    assert (wire["presence"], wire["to"], wire["to_resolved_symbol"]) == ("FROM_ONLY", None, "")
    assert [row["caller"] for row in wire["removed"]] == ["app.run"]
    assert [row["revision"] for row in wire["coverage"]["members"]] == [FIRST]
    back = CompareCallsRequest("v2", "v1", "legacy", "callers", 1)
    assert engine.compare_calls(back).to_wire()["presence"] == "TO_ONLY"


def test_history_entries_are_in_utc_with_the_whole_message(engine: Engine) -> None:
    wire = engine.search_history(SearchHistoryRequest("v2", query="USE")).to_wire()
    assert wire["commits"] == [
        {
            "commit": SECOND,
            "path": path,
            "author": "A U Thor <author@example.com>",
            "timestamp": "2026-03-02T12:00:00Z",
            "message": "Use the handler\n\nBecause.",
        }
        for path in ("app.py", "new.py")
    ]
    assert wire["evidence"] == [at("app.py", 0), at("new.py", 0)]
    assert wire["coverage"]["complete"] is True
    assert wire["truncated"] is False


def test_history_of_several_members_names_the_repository(engine: Engine) -> None:
    wire = engine.search_history(SearchHistoryRequest("both", symbol="handler")).to_wire()
    assert [(row["repository"], row["path"]) for row in wire["commits"]] == [
        ("demo", "app.py"),
        ("demo", "new.py"),
        ("lib", "lib.py"),
    ]
    assert [item["repository"] for item in wire["evidence"]] == ["demo", "demo", "lib"]


def test_a_capped_history_is_the_prefix_of_the_uncapped_one(engine: Engine) -> None:
    whole = engine.search_history(SearchHistoryRequest("both")).to_wire()["commits"]
    for limit in range(1, len(whole)):
        wire = engine.search_history(SearchHistoryRequest("both", limit=limit)).to_wire()
        assert wire["commits"] == whole[:limit]
        assert wire["truncated"] is True
        assert wire["coverage"]["complete"] is False
    exactly = engine.search_history(SearchHistoryRequest("both", limit=len(whole))).to_wire()
    assert exactly["truncated"] is False
    assert "next_cursor" not in exactly


def test_history_of_the_root_filters_nothing(engine: Engine) -> None:
    everything = engine.search_history(SearchHistoryRequest("v2")).to_wire()
    assert engine.search_history(SearchHistoryRequest("v2", path="./")).to_wire() == everything


def test_history_of_a_directory_finds_what_is_below(engine: Engine) -> None:
    wire = engine.search_history(SearchHistoryRequest("v2", path="odd/")).to_wire()
    assert len(wire["commits"]) == 9
    assert all(row["path"].startswith("odd/") for row in wire["commits"])


def test_a_message_of_more_than_four_thousand_characters_is_cut() -> None:
    revision = commit_id("long")
    commit = MemoryCommit(revision, {"a": "a"}, "m" * 5_000)
    engine = Engine(
        MemoryContexts([pinned("c", ("r", "main", revision))]), source=MemorySource({"r": [commit]})
    )
    row = engine.search_history(SearchHistoryRequest("c")).to_wire()["commits"][0]
    assert row["message"] == "m" * 4_000
    assert row["message_truncated"] is True


def test_two_engines_over_the_same_data_answer_the_same(build: Callable[..., Engine]) -> None:
    requests = [
        ListContextsRequest(),
        SearchCodeRequest("both", "handler", limit=1),
        TraceCallsRequest("v2", "run", "callees", 5, limit=1),
        GetCodeRequest("v2", "app.py", 1, 2),
        CompareCodeRequest("v1", "v2", "app.py"),
        CompareCallsRequest("v1", "v2", "run", "callees", 1, limit=1),
        SearchHistoryRequest("both", limit=1),
    ]
    one, other = build(), build()
    for request in requests:
        assert json.dumps(one.answer(request).to_wire()) == json.dumps(
            other.answer(request).to_wire()
        )
