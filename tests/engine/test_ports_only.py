"""Providers that implement nothing but the ports, absent providers, and closing."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime

import pytest

from vacmcpd.engine import (
    Budgets,
    CompareCallsRequest,
    CompareCodeRequest,
    Engine,
    GetCodeRequest,
    ListContextsRequest,
    Request,
    SearchCodeRequest,
    SearchHistoryRequest,
    TraceCallsRequest,
)
from vacmcpd.errors import QueryError, WireCode
from vacmcpd.model import Context, Member, MemberCoverage, Scope
from vacmcpd.ports.budget import Budget
from vacmcpd.ports.graph import CallEdge, CallGraph, TraceQuery
from vacmcpd.ports.search import SearchMatch, SearchPage, SearchQuery
from vacmcpd.ports.source import (
    Change,
    EntryKind,
    HistoryEntry,
    HistoryPage,
    HistoryQuery,
    SideEntry,
    SourceContent,
    SourceDiff,
)

REVISION = "1" * 40
ONE = Context("c", (Member("r", "main", REVISION),))
ALL: dict[str, Request] = {
    "list_contexts": ListContextsRequest(),
    "search_code": SearchCodeRequest("c", "q"),
    "trace_calls": TraceCallsRequest("c", "s", "callers", 1),
    "get_code": GetCodeRequest("c", "f", 1, 1),
    "compare_code": CompareCodeRequest("c", "c", "f"),
    "compare_calls": CompareCallsRequest("c", "c", "s", "callers", 1),
    "search_history": SearchHistoryRequest("c"),
}


class BareContexts:
    name = "bare"

    def contexts(self, budget: Budget) -> Sequence[Context]:
        return [ONE]

    def resolve(self, context: str, budget: Budget) -> Context:
        return ONE


class BareSearch:
    name = "bare"

    def search(self, scope: Scope, query: SearchQuery, budget: Budget) -> SearchPage:
        coverage = MemberCoverage("r", REVISION, 1, 1)
        return SearchPage(REVISION, (SearchMatch("f", 1, "q"),), 1, True, coverage)


class BareGraph:
    name = "bare"

    def trace(self, scope: Scope, query: TraceQuery, budget: Budget) -> CallGraph:
        coverage = MemberCoverage("r", REVISION, 1, 1)
        return CallGraph(REVISION, "s", (CallEdge("t", "s", "f", 1),), coverage)


class BareSource:
    name = "bare"

    def read(self, scope: Scope, path: str, start: int, end: int, budget: Budget) -> SourceContent:
        return SourceContent(REVISION, path, start, end, 1, "text\n")


class FullSource(BareSource):
    def diff(
        self, before: Scope, after: Scope, path: str, skip: int, most: int, budget: Budget
    ) -> SourceDiff:
        entry = SideEntry(EntryKind.FILE, "100644", 5)
        change = Change.UNCHANGED
        return SourceDiff(REVISION, REVISION, path, change, False, (), entry, entry)

    def history(self, scope: Scope, query: HistoryQuery, budget: Budget) -> HistoryPage:
        entry = HistoryEntry(REVISION, "f", "a <b>", datetime(2026, 1, 1, tzinfo=UTC), "m")
        return HistoryPage(REVISION, (entry,), 1, False)


def test_all_seven_queries_run_on_providers_that_implement_nothing_but_the_ports() -> None:
    engine = Engine(BareContexts(), BareSearch(), BareGraph(), FullSource())
    answers = {tool: engine.answer(request).to_wire() for tool, request in ALL.items()}
    assert answers["list_contexts"]["contexts"][0]["id"] == "c"
    assert answers["search_code"]["matches"][0]["path"] == "f"
    assert answers["trace_calls"]["calls"][0]["caller"] == "t"
    assert answers["get_code"]["content"] == "text\n"
    assert answers["compare_code"]["change"] == "UNCHANGED"
    assert answers["compare_calls"]["presence"] == "BOTH"
    assert answers["search_history"]["commits"][0]["commit"] == REVISION
    engine.close()


@pytest.mark.parametrize(
    ("missing", "failing"),
    [
        (
            "search",
            {"search_code": "SEARCH_PROVIDER_UNAVAILABLE"},
        ),
        (
            "graph",
            {
                "trace_calls": "GRAPH_PROVIDER_UNAVAILABLE",
                "compare_calls": "GRAPH_PROVIDER_UNAVAILABLE",
            },
        ),
        (
            "source",
            {
                "get_code": "REPOSITORY_NOT_FOUND",
                "compare_code": "REPOSITORY_NOT_FOUND",
                "search_history": "REPOSITORY_NOT_FOUND",
            },
        ),
    ],
)
def test_an_absent_provider_fails_its_own_queries_and_no_others(
    missing: str, failing: dict[str, str]
) -> None:
    parts = {"search": BareSearch(), "graph": BareGraph(), "source": FullSource(), missing: None}
    engine = Engine(BareContexts(), **parts)  # type: ignore[arg-type]
    codes = {}
    for tool, request in ALL.items():
        try:
            engine.answer(request)
        except QueryError as error:
            codes[tool] = str(error.code)
    assert codes == failing


def test_a_source_without_a_capability_fails_the_query_that_needs_it() -> None:
    engine = Engine(BareContexts(), source=BareSource())
    with pytest.raises(QueryError) as compared:
        engine.answer(ALL["compare_code"])
    assert compared.value.code is WireCode.SOURCE_DIFF_UNAVAILABLE
    assert compared.value.details == {"from_context": "c", "to_context": "c", "path": "f"}
    with pytest.raises(QueryError) as walked:
        engine.answer(ALL["search_history"])
    assert walked.value.code is WireCode.SOURCE_HISTORY_UNAVAILABLE
    assert walked.value.details == {"context": "c"}
    assert engine.answer(ALL["get_code"]).to_wire()["content"] == "text\n"


def test_a_change_of_no_known_kind_is_no_comparison() -> None:
    class Odd(FullSource):
        def diff(
            self, before: Scope, after: Scope, path: str, skip: int, most: int, budget: Budget
        ) -> SourceDiff:
            change: Change = "RENAMED"  # type: ignore[assignment]
            return SourceDiff(REVISION, REVISION, path, change, False, (), None, None)

    with pytest.raises(QueryError) as failure:
        Engine(BareContexts(), source=Odd()).answer(ALL["compare_code"])
    assert failure.value.code is WireCode.SOURCE_DIFF_UNAVAILABLE
    assert failure.value.details["change"] == "RENAMED"


def test_a_change_spelled_as_plain_text_is_understood() -> None:
    class Plain(FullSource):
        def diff(
            self, before: Scope, after: Scope, path: str, skip: int, most: int, budget: Budget
        ) -> SourceDiff:
            change: Change = "ADDED"  # type: ignore[assignment]
            return SourceDiff(REVISION, REVISION, path, change, False, (), None, None)

    wire = Engine(BareContexts(), source=Plain()).answer(ALL["compare_code"]).to_wire()
    assert (wire["from"], wire["change"]) == (None, "ADDED")


def test_something_that_is_no_request_is_refused() -> None:
    with pytest.raises(TypeError, match="no request"):
        Engine(BareContexts()).answer("list_contexts")  # type: ignore[arg-type]


class Closable(BareContexts):
    def __init__(self, name: str, log: list[str], fails: bool = False) -> None:
        self.name, self.log, self.fails = name, log, fails

    def close(self) -> None:
        self.log.append(self.name)
        if self.fails:
            raise OSError(self.name)


def test_building_an_engine_touches_no_provider() -> None:
    Engine(object(), object(), object(), object())  # type: ignore[arg-type]


def test_closing_closes_each_provider_once_and_a_second_time_nothing() -> None:
    log: list[str] = []
    shared = Closable("shared", log)
    engine = Engine(Closable("contexts", log), shared, None, shared)  # type: ignore[arg-type]
    engine.close()
    engine.close()
    assert log == ["contexts", "shared"]


def test_closing_goes_on_after_a_failure_and_tells_every_one() -> None:
    log: list[str] = []
    contexts = Closable("contexts", log, fails=True)
    search = Closable("search", log, fails=True)
    source = Closable("source", log)
    engine = Engine(contexts, search, None, source)  # type: ignore[arg-type]
    with pytest.raises(OSError, match="search") as failure:
        engine.close()
    assert log == ["contexts", "search", "source"]
    assert str(failure.value.__context__) == "contexts"
    engine.close()
    assert log == ["contexts", "search", "source"]


def test_closing_leaves_alone_what_has_no_callable_close() -> None:
    contexts = BareContexts()
    contexts.close = "not callable"  # type: ignore[attr-defined]
    with Engine(contexts, BareSearch(), BareGraph(), BareSource()) as engine:
        engine.answer(ALL["list_contexts"])


@pytest.mark.parametrize("seconds", [0, -1, float("nan"), float("inf")])
@pytest.mark.parametrize("option", ["resolve", "read", "diff", "history", "search", "trace"])
def test_a_budget_that_is_no_positive_number_is_refused(option: str, seconds: float) -> None:
    with pytest.raises(ValueError, match=option):
        Budgets(**{option: seconds})


@pytest.mark.parametrize("tokens", [0, 255, 25_001])
def test_an_engine_refuses_a_token_budget_outside_the_range(tokens: int) -> None:
    with pytest.raises(ValueError, match="256-25000"):
        Engine(BareContexts(), max_tokens=tokens)


def test_each_operation_is_blamed_on_its_provider(build: Callable[..., Engine]) -> None:
    seen: list[tuple[str, str, float]] = []

    class Watched(FullSource):
        name = "watched"

        def read(
            self, scope: Scope, path: str, start: int, end: int, budget: Budget
        ) -> SourceContent:
            seen.append((budget.operation, budget.provider, budget.seconds))
            return super().read(scope, path, start, end, budget)

        def diff(
            self, before: Scope, after: Scope, path: str, skip: int, most: int, budget: Budget
        ) -> SourceDiff:
            seen.append((budget.operation, budget.provider, budget.seconds))
            return super().diff(before, after, path, skip, most, budget)

        def history(self, scope: Scope, query: HistoryQuery, budget: Budget) -> HistoryPage:
            seen.append((budget.operation, budget.provider, budget.seconds))
            return super().history(scope, query, budget)

    engine = Engine(BareContexts(), source=Watched(), budgets=Budgets(read=1, diff=2, history=3))
    for tool in ("get_code", "compare_code", "search_history"):
        engine.answer(ALL[tool])
    assert seen == [("read", "watched", 1), ("diff", "watched", 2), ("history", "watched", 3)]
