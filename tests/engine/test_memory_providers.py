"""The shipped in-memory providers, asked directly through their ports."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vacmcpd.errors import QueryError, WireCode
from vacmcpd.model import Member, Scope
from vacmcpd.ports.budget import Budget
from vacmcpd.ports.contexts import ContextSource
from vacmcpd.ports.graph import CallEdge, Direction, GraphProvider, TraceQuery
from vacmcpd.ports.search import QueryMode, SearchMatch, SearchProvider, SearchQuery
from vacmcpd.ports.source import (
    HistoryQuery,
    HunkLine,
    LineKind,
    SourceDiffer,
    SourceHistory,
    SourceProvider,
)
from vacmcpd.testing.contexts import MemoryContexts, pinned
from vacmcpd.testing.graph import MemoryGraph
from vacmcpd.testing.search import MemorySearch
from vacmcpd.testing.source import MemoryCommit, MemorySource, commit_id

START = datetime(2026, 1, 1, tzinfo=UTC)
BUDGET = Budget("test", "memory", 86_400)


def scope(name: str, repository: str = "r") -> Scope:
    return Scope("c", Member(repository, "main", commit_id(name)))


def commit(name: str, day: int, files: dict[str, str], *parents: str) -> MemoryCommit:
    return MemoryCommit(
        commit_id(name),
        files,
        f"{name}\n",
        timestamp=START + timedelta(days=day),
        parents=tuple(commit_id(parent) for parent in parents),
    )


HISTORY = [
    commit("root", 0, {"a": "x\n", "d/b": "1\n"}),
    commit("left", 1, {"a": "x x\n", "d/b": "1\n"}, "root"),
    commit("right", 2, {"a": "x\n", "d/b": "2\n"}, "root"),
    commit("merge", 3, {"a": "x x\n", "d/b": "2\n"}, "left", "right"),
    commit("tip", 4, {"a": "x x\n", "d/c": "2\n"}, "merge"),
]


def walked(
    message: str = "", symbol: str = "", path: str = "", skip: int = 0, most: int = 99
) -> list[str]:
    query = HistoryQuery(message, symbol, path, skip, most)
    page = MemorySource({"r": HISTORY}).history(scope("tip"), query, BUDGET)
    return [f"{entry.message} {entry.path}" for entry in page.entries]


def test_the_memory_providers_implement_their_ports() -> None:
    contexts: ContextSource = MemoryContexts()
    search: SearchProvider = MemorySearch({})
    graph: GraphProvider = MemoryGraph({})
    source: SourceProvider = MemorySource({})
    assert {provider.name for provider in (contexts, search, graph, source)} == {"memory"}
    assert isinstance(source, SourceDiffer)
    assert isinstance(source, SourceHistory)


def test_contexts_are_found_by_their_exact_id_only() -> None:
    contexts = MemoryContexts([pinned("c", ("r", "main", "1" * 40))])
    assert contexts.resolve("c", BUDGET) == contexts.contexts(BUDGET)[0]
    for near in ("C", " c", "", "c "):
        with pytest.raises(QueryError) as failure:
            contexts.resolve(near, BUDGET)
        assert failure.value.code is WireCode.CONTEXT_NOT_FOUND


def test_history_is_newest_first_without_merges() -> None:
    assert walked() == ["tip d/b", "tip d/c", "right d/b", "left a", "root a", "root d/b"]


def test_history_filters_are_joined() -> None:
    assert walked(message="T") == [
        "tip d/b",
        "tip d/c",
        "right d/b",
        "left a",
        "root a",
        "root d/b",
    ]
    assert walked(message="RIGHT") == ["right d/b"]
    assert walked(path="d") == ["tip d/b", "tip d/c", "right d/b", "root d/b"]
    assert walked(path="d/c") == ["tip d/c"]
    assert walked(symbol="x") == ["left a", "root a"]
    assert walked(symbol="x", message="left", path="a") == ["left a"]
    assert walked(symbol="x", path="d") == []


def test_a_window_of_history_counts_what_passed_the_filters() -> None:
    assert walked(skip=2, most=2) == ["right d/b", "left a"]
    assert walked(path="d", skip=1, most=1) == ["tip d/c"]
    source = MemorySource({"r": HISTORY})
    cut = source.history(scope("tip"), HistoryQuery("", "", "", 0, 5), BUDGET)
    whole = source.history(scope("tip"), HistoryQuery("", "", "", 0, 6), BUDGET)
    assert (cut.examined, cut.more) == (5, True)
    assert (whole.examined, whole.more) == (6, False)


def test_a_repository_or_commit_that_is_not_there_is_told_apart() -> None:
    source = MemorySource({"r": HISTORY})
    with pytest.raises(QueryError) as unknown:
        source.read(scope("tip", "other"), "a", 1, 1, BUDGET)
    assert unknown.value.code is WireCode.REPOSITORY_NOT_FOUND
    with pytest.raises(QueryError) as gone:
        source.read(scope("nowhere"), "a", 1, 1, BUDGET)
    assert gone.value.code is WireCode.SOURCE_MISMATCH
    assert gone.value.details["actual_revision"] is None


text = st.lists(st.sampled_from(["a", "b", "\r", "", "é"]), max_size=30).map("\n".join)


@given(text, text)
@settings(max_examples=200, deadline=None)
def test_the_hunks_turn_one_side_into_the_other(old: str, new: str) -> None:
    files = [MemoryCommit(commit_id("old"), {"f": old}), MemoryCommit(commit_id("new"), {"f": new})]
    diff = MemorySource({"r": files}).diff(scope("old"), scope("new"), "f", 0, 10**6, BUDGET)
    result, at = "", 0
    lines = old.splitlines(keepends=True) if "\r" not in old else _split(old)
    for hunk in diff.hunks:
        start = hunk.old_start - bool(hunk.old_lines)
        result += "".join(lines[at:start])
        at = start + hunk.old_lines
        result += "".join(_text(line) for line in hunk.lines if line.kind is not LineKind.REMOVED)
    assert result + "".join(lines[at:]) == new
    assert diff.total_hunks == len(diff.hunks)


def _split(content: str) -> list[str]:
    return [line for line in content.replace("\n", "\n\0").split("\0") if line]


def _text(line: HunkLine) -> str:
    return line.content + ("" if line.no_newline else "\n")


def test_the_first_hunk_is_cut_rather_than_left_out() -> None:
    files = [
        MemoryCommit(commit_id("old"), {}),
        MemoryCommit(commit_id("new"), {"f": "x\n" * 50}),
    ]
    diff = MemorySource({"r": files}).diff(scope("old"), scope("new"), "f", 0, 10, BUDGET)
    assert (len(diff.hunks[0].lines), diff.hunks[0].new_lines, diff.truncated) == (10, 50, True)


def searched(query: str, *files: tuple[str, str]) -> list[tuple[str, int]]:
    search = MemorySearch({"r": [MemoryCommit(commit_id("x"), dict(files))]})
    page = search.search(scope("x"), SearchQuery(query, 0, 99), BUDGET)
    assert page.total == len(page.matches)
    return [(match.path, match.line) for match in page.matches]


def test_search_wants_every_word_somewhere_in_the_file() -> None:
    one, two = ("one.py", "alpha\nbeta\n"), ("two.py", "alpha\n")
    assert searched("alpha", one, two) == [("one.py", 1), ("two.py", 1)]
    assert searched("alpha beta", one, two) == [("one.py", 1), ("one.py", 2)]
    assert searched("alpha two", one, two) == [("two.py", 1)]
    assert searched("two.py", one, two) == [("two.py", 0)]


def test_search_minds_case_only_where_the_query_has_capitals() -> None:
    file = ("f", "Alpha\nalpha\n")
    assert searched("alpha", file) == [("f", 1), ("f", 2)]
    assert searched("Alpha", file) == [("f", 1)]


def test_a_window_of_matches_keeps_the_total() -> None:
    search = MemorySearch({"r": [MemoryCommit(commit_id("x"), {"f": "a\n" * 9})]})
    page = search.search(scope("x"), SearchQuery("a", 4, 2), BUDGET)
    assert ([match.line for match in page.matches], page.total) == ([5, 6], 9)
    nothing = search.search(scope("x"), SearchQuery("a", 0, 0), BUDGET)
    assert (nothing.matches, nothing.total, nothing.coverage.complete) == ((), 9, True)


def matched(query: SearchQuery, content: bytes | str) -> list[SearchMatch]:
    search = MemorySearch({"r": [MemoryCommit(commit_id("x"), {"f": content})]})
    return list(search.search(scope("x"), query, BUDGET).matches)


def test_a_match_says_where_the_first_hit_begins_and_ends() -> None:
    found = matched(SearchQuery("b a", 0, 9), "café b a\r\nxb")
    assert found == [
        SearchMatch("f", 1, "café b a", span=(1, 2)),
        SearchMatch("f", 2, "xb", span=(1, 2)),
    ]
    assert matched(SearchQuery("é", 0, 9), "café\n")[0].span == (3, 5)


def test_lines_around_a_match_are_fewer_at_the_ends_of_a_file() -> None:
    query = SearchQuery("x", 0, 9, context_lines=2)
    found = matched(query, "x\na\nb\nc\r\nx\n")
    assert [(match.before, match.after) for match in found] == [
        ((), ("a", "b")),
        (("b", "c"), ()),
    ]


def test_a_literal_is_one_word_and_may_span_lines() -> None:
    content = "a b\nb a\n"
    assert [match.line for match in matched(SearchQuery("b a", 0, 9), content)] == [1, 2]
    literal = SearchQuery("b a", 0, 9, QueryMode.LITERAL)
    assert [match.line for match in matched(literal, content)] == [2]
    both = SearchQuery("a b\nb", 0, 9, QueryMode.LITERAL)
    assert matched(both, content) == [SearchMatch("f", 1, "a b", span=(0, 3))]
    assert matched(SearchQuery("a|b", 0, 9, QueryMode.LITERAL), content) == []


def test_a_regular_expression_is_one_word_too() -> None:
    query = SearchQuery("^b|a$", 0, 9, QueryMode.REGEX)
    assert [match.span for match in matched(query, "b\r\nxa\r\nxb\n")] == [(0, 1), (1, 2)]
    assert matched(SearchQuery("^$", 0, 9, QueryMode.REGEX), "a\n") == []
    with pytest.raises(QueryError) as failure:
        matched(SearchQuery("(", 0, 9, QueryMode.REGEX), "a\n")
    assert failure.value.code is WireCode.INVALID_ARGUMENT
    assert failure.value.details["position"] == 0


RING = [CallEdge("a", "b", "f", 1), CallEdge("b", "c", "f", 2), CallEdge("c", "a", "f", 3)]


def traced(symbol: str, direction: Direction, depth: int) -> list[int]:
    graph = MemoryGraph({("r", commit_id("x")): RING})
    found = graph.trace(scope("x"), TraceQuery(symbol, direction, depth), BUDGET)
    return [edge.line for edge in found.edges]


def test_a_trace_walks_to_its_depth_and_each_call_once() -> None:
    assert traced("a", Direction.CALLEES, 1) == [1]
    assert traced("a", Direction.CALLEES, 2) == [1, 2]
    assert traced("a", Direction.CALLEES, 5) == [1, 2, 3]
    assert traced("a", Direction.CALLERS, 1) == [3]
    assert traced("a", Direction.CALLERS, 2) == [2, 3]
