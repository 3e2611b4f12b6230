"""A provider that answers from elsewhere is never believed."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from vacmcpd.engine import (
    CompareCallsRequest,
    CompareCodeRequest,
    Engine,
    GetCodeRequest,
    Request,
    SearchCodeRequest,
    SearchHistoryRequest,
    TraceCallsRequest,
)
from vacmcpd.errors import QueryError, WireCode
from vacmcpd.model import Context, MemberCoverage
from vacmcpd.ports.graph import CallEdge
from vacmcpd.ports.search import SearchMatch
from vacmcpd.ports.source import Hunk, HunkLine, LineKind
from vacmcpd.testing.contexts import MemoryContexts
from vacmcpd.testing.graph import MemoryGraph
from vacmcpd.testing.search import MemorySearch
from vacmcpd.testing.source import MemorySource, commit_id

FIRST, SECOND = commit_id("first"), commit_id("second")
ELSEWHERE = "e" * 40


class Lying:
    """A provider whose answers are changed on their way out."""

    name = "lying"

    def __init__(self, honest: Any, change: Callable[[Any], Any]) -> None:
        self._honest, self._change = honest, change

    def _lie(self, method: str, arguments: tuple[Any, ...]) -> Any:
        return self._change(getattr(self._honest, method)(*arguments))

    def search(self, *arguments: Any) -> Any:
        return self._lie("search", arguments)

    def trace(self, *arguments: Any) -> Any:
        return self._lie("trace", arguments)

    def read(self, *arguments: Any) -> Any:
        return self._lie("read", arguments)

    def diff(self, *arguments: Any) -> Any:
        return self._lie("diff", arguments)

    def history(self, *arguments: Any) -> Any:
        return self._lie("history", arguments)


def setting(**values: Any) -> Callable[[Any], Any]:
    return lambda answer: replace(answer, **values)


def covering(**values: Any) -> Callable[[Any], Any]:
    return lambda answer: replace(answer, coverage=replace(answer.coverage, **values))


def match_at(path: str, line: int) -> Callable[[Any], Any]:
    return setting(matches=(SearchMatch(path, line, ""),))


def name_at(path: str, line: int) -> Callable[[Any], Any]:
    return setting(matches=(SearchMatch(path, line, path, file_name=True),))


def hit_at(*span: int) -> Callable[[Any], Any]:
    return setting(matches=(SearchMatch("app.py", 1, "text", span=span),))  # type: ignore[arg-type]


def edge_at(path: str, line: int) -> Callable[[Any], Any]:
    return setting(edges=(CallEdge("a", "b", path, line),))


def entry_at(path: str) -> Callable[[Any], Any]:
    return lambda page: replace(page, entries=(replace(page.entries[0], path=path),))


SEARCH = SearchCodeRequest("v2", "handler")
TRACE = TraceCallsRequest("v2", "run", "callees", 1)
CALLS = CompareCallsRequest("v2", "v2", "run", "callees", 1)
READ = GetCodeRequest("v2", "app.py", 1, 2)
DIFF = CompareCodeRequest("v1", "v2", "app.py")
HISTORY = SearchHistoryRequest("v2")
LONG = Hunk(1, 1, 1, 1, (HunkLine(LineKind.ADDED, "a"), HunkLine(LineKind.ADDED, "b")))

LIES: list[tuple[str, str, Request, Callable[[Any], Any]]] = [
    ("searched another commit", "search", SEARCH, setting(revision=ELSEWHERE)),
    ("covered another commit", "search", SEARCH, covering(revision=ELSEWHERE)),
    ("covered another repository", "search", SEARCH, covering(repository="lib")),
    ("covered more than there is", "search", SEARCH, covering(files=1)),
    ("covered less than nothing", "search", SEARCH, covering(skipped={"binary": -1})),
    ("matched at line 0", "search", SEARCH, match_at("app.py", 0)),
    ("matched outside", "search", SEARCH, match_at("../app.py", 1)),
    ("matched at the root of the machine", "search", SEARCH, match_at("/app.py", 1)),
    ("matched nowhere", "search", SEARCH, match_at("", 1)),
    ("matched a name at a line", "search", SEARCH, name_at("app.py", 1)),
    ("matched a name outside", "search", SEARCH, name_at("../app.py", 0)),
    ("matched backwards", "search", SEARCH, hit_at(3, 2)),
    ("matched before the line", "search", SEARCH, hit_at(-1, 2)),
    ("traced another commit", "graph", TRACE, setting(revision=ELSEWHERE)),
    ("compared calls of another commit", "graph", CALLS, setting(revision=ELSEWHERE)),
    ("covered another graph", "graph", TRACE, covering(repository="lib")),
    ("called from outside", "graph", TRACE, edge_at("a/../../b", 1)),
    ("called from line -1", "graph", TRACE, edge_at("a", -1)),
    ("read another commit", "source", READ, setting(revision=ELSEWHERE)),
    ("read another path", "source", READ, setting(path="README")),
    ("read from another line", "source", READ, setting(start_line=2)),
    ("read to another line", "source", READ, setting(end_line=1)),
    ("read too many lines", "source", READ, setting(content="a\nb\nc\n")),
    ("read too few lines", "source", READ, setting(content="a\n")),
    ("read more than there is", "source", READ, setting(line_count=-1)),
    ("read an empty file that is not", "source", READ, setting(line_count=0)),
    ("compared another from", "source", DIFF, setting(from_revision=ELSEWHERE)),
    ("compared another to", "source", DIFF, setting(to_revision=ELSEWHERE)),
    ("compared another path", "source", DIFF, setting(path="README")),
    ("made up a hunk", "source", DIFF, setting(hunks=(LONG,))),
    ("walked another commit", "source", HISTORY, setting(revision=ELSEWHERE)),
    ("walked outside", "source", HISTORY, entry_at("../app.py")),
]


@pytest.mark.parametrize(
    ("part", "request_", "change"), [lie[1:] for lie in LIES], ids=[lie[0] for lie in LIES]
)
def test_a_lie_is_a_source_mismatch(
    build: Callable[..., Engine],
    repositories: Any,
    graphs: Any,
    part: str,
    request_: Request,
    change: Callable[[Any], Any],
) -> None:
    honest = {
        "search": MemorySearch(repositories),
        "graph": MemoryGraph(graphs),
        "source": MemorySource(repositories),
    }[part]
    build(**{part: Lying(honest, lambda answer: answer)}).answer(request_)
    with pytest.raises(QueryError) as failure:
        build(**{part: Lying(honest, change)}).answer(request_)
    assert failure.value.code is WireCode.SOURCE_MISMATCH
    assert failure.value.details["declared_revision"] in {FIRST, SECOND}
    assert "actual_revision" in failure.value.details


def test_the_commit_that_was_really_searched_is_named(
    build: Callable[..., Engine], repositories: Any
) -> None:
    search = Lying(MemorySearch(repositories), setting(revision=ELSEWHERE))
    with pytest.raises(QueryError) as failure:
        build(search=search).answer(SEARCH)
    details = failure.value.details
    assert details == {
        "context": "v2",
        "repository": "demo",
        "declared_revision": SECOND,
        "actual_revision": ELSEWHERE,
    }


def test_a_context_of_another_id_is_not_the_one_asked_for(contexts: list[Context]) -> None:
    class Near(MemoryContexts):
        def resolve(self, context: str, budget: Any) -> Context:
            return super().resolve(context.strip().lower(), budget)

    with pytest.raises(QueryError) as failure:
        Engine(Near(contexts)).answer(SearchCodeRequest("V2", "q"))
    assert failure.value.code is WireCode.CONTEXT_NOT_FOUND


def test_more_matches_than_asked_for_are_left_for_the_next_page(
    build: Callable[..., Engine], repositories: Any
) -> None:
    many = tuple(SearchMatch("app.py", line, "") for line in range(1, 8))
    search = Lying(MemorySearch(repositories), setting(matches=many, total=7))
    wire = build(search=search).answer(SearchCodeRequest("v2", "q", limit=3)).to_wire()
    assert [match["line"] for match in wire["matches"]] == [1, 2, 3]
    assert wire["truncated"] is True


def test_a_count_that_no_match_stands_behind_gives_no_endless_cursor(
    build: Callable[..., Engine], repositories: Any
) -> None:
    search = Lying(MemorySearch(repositories), setting(matches=(), total=9))
    wire = build(search=search).answer(SEARCH).to_wire()
    assert (wire["truncated"], wire["total_matches"]) == (True, 9)
    assert "next_cursor" not in wire
    source = Lying(MemorySource(repositories), setting(hunks=(), total_hunks=3))
    wire = build(source=source).answer(DIFF).to_wire()
    assert wire["truncated"] is True
    assert "next_cursor" not in wire


def test_incomplete_coverage_is_said(build: Callable[..., Engine], repositories: Any) -> None:
    short = covering(searched=1, skipped={})
    wire = build(search=Lying(MemorySearch(repositories), short)).answer(SEARCH).to_wire()
    assert wire["coverage"]["complete"] is False
    assert MemberCoverage("r", FIRST, 2, 1, {"binary": 1}).complete
