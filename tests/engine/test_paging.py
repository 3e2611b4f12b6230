"""Pages put together are the uncapped answer, whatever their size."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from vacmcpd.engine import (
    CompareCallsRequest,
    CompareCodeRequest,
    Engine,
    GetCodeRequest,
    SearchCodeRequest,
    SearchHistoryRequest,
    TraceCallsRequest,
)
from vacmcpd.engine.tokens import tokens
from vacmcpd.ports.graph import CallEdge, EdgeKind, Symbol
from vacmcpd.testing.contexts import MemoryContexts, pinned
from vacmcpd.testing.graph import MemoryGraph
from vacmcpd.testing.search import MemorySearch
from vacmcpd.testing.source import MemoryCommit, MemorySource, commit_id

OLD, NEW, OTHER = commit_id("old"), commit_id("new"), commit_id("other")
MAX = 25_000

limits = st.sampled_from([1, 2, 3, 7, 50, 1_000])
budgets = st.sampled_from([256, 300, 500, 2_000, MAX])
lines = st.lists(st.text("ab\r<\N{SNOWMAN}", max_size=60), max_size=60)


def pages(engine: Engine, request: Any) -> Iterator[dict[str, Any]]:
    cursors: set[str] = set()
    while True:
        wire = engine.answer(request).to_wire()
        yield wire
        cursor = wire.get("next_cursor", "")
        assert wire["truncated"] is bool(cursor)
        if not cursor:
            return
        assert cursor not in cursors
        cursors.add(cursor)
        request = replace(request, cursor=cursor)


def text_of(content: list[str]) -> str:
    return "".join(f"{line}\n" for line in content)


def world(old: list[str], new: list[str], other: list[str]) -> Engine:
    repositories = {
        "r": [
            MemoryCommit(OLD, {"a.txt": text_of(old), "same": "a\n"}, "one"),
            MemoryCommit(NEW, {"a.txt": text_of(new), "b.txt": text_of(old)}, "2", parents=(OLD,)),
        ],
        "s": [MemoryCommit(OTHER, {f"{n}.txt": line for n, line in enumerate(other)}, "three")],
    }
    contexts = [
        pinned("old", ("r", "old", OLD)),
        pinned("new", ("r", "new", NEW)),
        pinned("both", ("r", "new", NEW), ("s", "main", OTHER)),
    ]
    return Engine(
        MemoryContexts(contexts),
        MemorySearch(repositories),
        source=MemorySource(repositories),
        max_tokens=MAX,
    )


@given(lines, lines, lines, limits, budgets)
@settings(max_examples=60, deadline=None)
def test_pages_of_a_search_are_the_whole_of_it(
    old: list[str], new: list[str], other: list[str], limit: int, budget: int
) -> None:
    engine = world(old, new, other)
    whole = engine.answer(SearchCodeRequest("both", "a", limit=1_000)).to_wire()
    assert whole["truncated"] is False
    capped = list(pages(engine, SearchCodeRequest("both", "a", limit=limit, max_tokens=budget)))
    for key in ("matches", "evidence"):
        assert [row for page in capped for row in page[key]] == whole[key]
    for page in capped:
        assert page["total_matches"] == whole["total_matches"]
        assert page["coverage"] == whole["coverage"]
        assert len(page["matches"]) <= limit
        assert tokens(page) <= budget or len(page["matches"]) == 1


@given(lines, lines, lines, limits, budgets)
@settings(max_examples=60, deadline=None)
def test_pages_of_a_history_are_the_whole_of_it(
    old: list[str], new: list[str], other: list[str], limit: int, budget: int
) -> None:
    engine = world(old, new, other)
    whole = engine.answer(SearchHistoryRequest("both", limit=1_000)).to_wire()
    capped = list(pages(engine, SearchHistoryRequest("both", limit=limit, max_tokens=budget)))
    for key in ("commits", "evidence"):
        assert [row for page in capped for row in page[key]] == whole[key]
    for page in capped:
        assert len(page["commits"]) <= limit
        assert tokens(page) <= budget or len(page["commits"]) == 1


def joined(hunks: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Hunks with those that a page broke off put together again."""
    whole: list[dict[str, Any]] = []
    for hunk in hunks:
        if not hunk.get("continued"):
            whole.append(dict(hunk))
            continue
        last = whole[-1]
        for side in ("old", "new"):
            if not last[f"{side}_lines"]:
                last[f"{side}_start"] = hunk[f"{side}_start"]
            last[f"{side}_lines"] += hunk[f"{side}_lines"]
        last["lines"] = last["lines"] + hunk["lines"]
    return whole


def patched(old: list[str], hunks: list[dict[str, Any]]) -> list[str]:
    """``old`` with the hunks applied where they say they belong."""
    result: list[str] = []
    at = 0
    for hunk in hunks:
        start = hunk["old_start"] - (hunk["old_lines"] > 0)
        result += old[at:start]
        at = start
        assert len(result) == hunk["new_start"] - (hunk["new_lines"] > 0)
        for line in hunk["lines"]:
            if line["kind"] != "ADDED":
                assert old[at] == line["content"]
                at += 1
            if line["kind"] != "REMOVED":
                result.append(line["content"])
    return result + old[at:]


@given(lines, lines, budgets)
@settings(max_examples=100, deadline=None)
def test_pages_of_a_comparison_are_the_whole_of_it(
    old: list[str], new: list[str], budget: int
) -> None:
    engine = world(old, new, [])
    whole = engine.answer(CompareCodeRequest("old", "new", "a.txt")).to_wire()
    capped = list(pages(engine, CompareCodeRequest("old", "new", "a.txt", max_tokens=budget)))
    hunks = [hunk for page in capped for hunk in page["hunks"]]
    assert patched(old, hunks) == new
    assert patched(old, whole["hunks"]) == new
    assert [hunk["lines"] for hunk in joined(hunks)] == [hunk["lines"] for hunk in whole["hunks"]]
    assert joined(hunks) == whole["hunks"]
    for page in capped:
        assert page["total_hunks"] == whole["total_hunks"] == len(whole["hunks"])
        rows = sum(len(hunk["lines"]) for hunk in page["hunks"])
        assert tokens(page) <= budget or rows == 1


_names = st.sampled_from(["m.a", "m.b", "n.a", "n.c", "n.d"])
_paths = st.sampled_from(["m.py", "n.py"])
_kinds = st.sampled_from([EdgeKind.RESOLVED, EdgeKind.DISPATCH, EdgeKind.CANDIDATE])
_plain = st.builds(CallEdge, _names, _names, _paths, st.integers(1, 9), _kinds)


def _known(edge: CallEdge) -> CallEdge:
    """The edge with both ends defined: bare names that two modules share."""
    ends = []
    for name in (edge.caller, edge.callee):
        module, _, bare = name.partition(".")
        ends.append(Symbol(bare, name, f"{module}.py", ord(bare[0]), "function"))
    return replace(
        edge,
        caller=ends[0].name,
        callee=ends[1].name,
        caller_symbol=ends[0],
        callee_symbol=ends[1],
    )


edges = st.one_of(st.lists(_plain, max_size=60), st.lists(_plain.map(_known), max_size=60))


def graph_engine(old: list[CallEdge], new: list[CallEdge]) -> Engine:
    root = CallEdge("m.root", "m.a", "m.py", 1)
    if any(edge.caller_symbol for edge in [*old, *new]):
        root = _known(root)
    graph = MemoryGraph({("r", OLD): [root, *old], ("r", NEW): [root, *new]})
    contexts = [pinned("old", ("r", "old", OLD)), pinned("new", ("r", "new", NEW))]
    return Engine(MemoryContexts(contexts), graph=graph, max_tokens=MAX)


@given(edges, limits, budgets)
@settings(max_examples=60, deadline=None)
def test_pages_of_a_trace_are_the_whole_of_it(new: list[CallEdge], limit: int, budget: int) -> None:
    engine = graph_engine([], new)
    request = TraceCallsRequest("new", "m.root", "callees", 5, limit=1_000)
    whole = engine.answer(request).to_wire()
    capped = list(pages(engine, replace(request, limit=limit, max_tokens=budget)))
    assert [row for page in capped for row in page["calls"]] == whole["calls"]
    for page in capped:
        assert page["total_matches"] == whole["total_matches"] == len(whole["calls"])
        cited = [item["location"] for item in page["evidence"]]
        assert {(at["path"], at["start_line"]) for at in cited} == {
            (row["path"], row["line"]) for row in page["calls"]
        }
        assert tokens(page) <= budget or len(page["calls"]) == 1


@given(edges, edges, limits, budgets)
@settings(max_examples=60, deadline=None)
def test_pages_of_a_call_comparison_are_the_whole_of_it(
    old: list[CallEdge], new: list[CallEdge], limit: int, budget: int
) -> None:
    engine = graph_engine(old, new)
    request = CompareCallsRequest("old", "new", "m.root", "callees", 5, limit=1_000)
    whole = engine.answer(request).to_wire()
    capped = list(pages(engine, replace(request, limit=limit, max_tokens=budget)))
    for key in ("added", "removed", "unchanged"):
        assert [row for page in capped for row in page[key]] == whole[key]
    for page in capped:
        rows = sum(len(page[key]) for key in ("added", "removed", "unchanged"))
        assert rows <= limit
        assert tokens(page) <= budget or rows == 1


@given(lines.filter(bool), budgets)
@settings(max_examples=100, deadline=None)
def test_parts_of_a_file_read_on_from_end_line_are_the_whole_of_it(
    content: list[str], budget: int
) -> None:
    engine = world(content, [], [])
    text, start = "", 1
    while start <= len(content):
        request = GetCodeRequest("old", "a.txt", start, len(content), max_tokens=budget)
        wire = engine.answer(request).to_wire()
        assert "line_truncated" not in wire
        assert tokens(wire) <= budget
        assert wire["truncated"] is (wire["end_line"] < len(content))
        assert wire["evidence"][0]["location"]["end_line"] == wire["end_line"]
        text += wire["content"]
        start = wire["end_line"] + 1
    assert text == text_of(content)


def test_a_line_longer_than_the_budget_is_cut_inside() -> None:
    for character in ("x", "\N{SNOWMAN}", '"', "\x01"):
        engine = world([character * 90_000, "next"], [], [])
        wire = engine.answer(GetCodeRequest("old", "a.txt", 1, 2, max_tokens=1_000)).to_wire()
        assert (wire["truncated"], wire["line_truncated"], wire["end_line"]) == (True, True, 1)
        assert set(wire["content"]) == {character}
        assert 900 < tokens(wire) <= 1_000


def test_a_large_file_is_not_read_beyond_what_an_answer_holds(
    build: Callable[..., Engine], repositories: Any
) -> None:
    asked: list[int] = []

    class Watched(MemorySource):
        def read(self, scope: Any, path: str, start: int, end: int, budget: Any) -> Any:
            asked.append(end)
            return super().read(scope, path, start, end, budget)

    revision = commit_id("large")
    commit = MemoryCommit(revision, {"f": "\n" * 200_000})
    engine = build(
        contexts=MemoryContexts([pinned("c", ("r", "main", revision))]),
        source=Watched({"r": [commit]}),
    )
    wire = engine.answer(GetCodeRequest("c", "f", 1, 200_000)).to_wire()
    assert wire["truncated"] is True
    assert wire["end_line"] < asked[0] < 20_000
    assert tokens(wire) <= 10_000
