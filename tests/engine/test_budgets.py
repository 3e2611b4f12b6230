"""Time that runs out, callers that go away, and answers that come late."""

import threading
from collections.abc import Callable
from typing import Any

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
from vacmcpd.errors import Cancelled, OperationTimeout, WireCode
from vacmcpd.testing.contexts import MemoryContexts
from vacmcpd.testing.search import MemorySearch
from vacmcpd.testing.source import MemorySource

NOW = 1e-9
ALL: list[tuple[str, Request]] = [
    ("resolve", ListContextsRequest()),
    ("search", SearchCodeRequest("v2", "handler")),
    ("trace", TraceCallsRequest("v2", "run", "callees", 1)),
    ("read", GetCodeRequest("v2", "app.py", 1, 1)),
    ("diff", CompareCodeRequest("v1", "v2", "app.py")),
    ("trace", CompareCallsRequest("v1", "v2", "run", "callees", 1)),
    ("history", SearchHistoryRequest("v2")),
]


@pytest.mark.parametrize(
    ("operation", "request_"),
    [case for case in ALL if case[0] != "search"],
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)
def test_an_operation_that_overruns_says_which_whose_and_how_long(
    build: Callable[..., Engine], operation: str, request_: Request
) -> None:
    engine = build(budgets=Budgets(**{operation: NOW}))
    with pytest.raises(OperationTimeout) as failure:
        engine.answer(request_)
    assert failure.value.code is WireCode.OPERATION_TIMEOUT
    assert failure.value.details == {
        "operation": operation,
        "provider": "memory",
        "timeout_ms": 0,
    }


def test_a_search_that_runs_out_of_time_returns_what_it_has(
    build: Callable[..., Engine],
) -> None:
    wire = build(budgets=Budgets(search=NOW)).answer(SearchCodeRequest("both", "e")).to_wire()
    assert (wire["truncated"], wire["total_is_exact"]) == (True, False)
    assert wire["coverage"]["complete"] is False
    assert "next_cursor" not in wire


@pytest.mark.parametrize("request_", [case[1] for case in ALL], ids=lambda r: type(r).__name__)
def test_a_caller_who_went_away_before_gets_nothing(engine: Engine, request_: Request) -> None:
    gone = threading.Event()
    gone.set()
    with pytest.raises(Cancelled):
        engine.answer(request_, gone)


@pytest.mark.parametrize(
    "request_",
    [case[1] for case in ALL if not isinstance(case[1], ListContextsRequest)],
    ids=lambda r: type(r).__name__,
)
def test_a_caller_who_goes_away_during_the_work_gets_nothing(
    build: Callable[..., Engine], contexts: Any, request_: Request
) -> None:
    gone = threading.Event()

    class Leaving(MemoryContexts):
        def resolve(self, context: str, budget: Any) -> Any:
            found = super().resolve(context, budget)
            gone.set()
            return found

    with pytest.raises(Cancelled):
        build(contexts=Leaving(contexts)).answer(request_, gone)


def test_a_provider_that_returns_late_is_still_answered(
    build: Callable[..., Engine], repositories: Any
) -> None:
    class Late(MemorySource):
        def read(self, scope: Any, path: str, start: int, end: int, budget: Any) -> Any:
            while not budget.expired():
                pass
            return super().read(scope, path, start, end, Unhurried())

    class Unhurried:
        def check(self) -> None:
            pass

    engine = build(source=Late(repositories), budgets=Budgets(read=0.001))
    assert engine.answer(ALL[3][1]).to_wire()["content"] == "def run():\n"


def test_each_member_has_a_budget_of_its_own(
    build: Callable[..., Engine], repositories: Any
) -> None:
    budgets: list[Any] = []

    class Watched(MemorySearch):
        def search(self, scope: Any, query: Any, budget: Any) -> Any:
            budgets.append(budget)
            return super().search(scope, query, budget)

    build(search=Watched(repositories)).answer(SearchCodeRequest("both", "handler"))
    assert len({id(budget) for budget in budgets}) == 2
    assert {(budget.operation, budget.seconds) for budget in budgets} == {("search", 30.0)}


def test_a_flag_that_is_never_set_changes_nothing(engine: Engine) -> None:
    for _, request in ALL:
        assert engine.answer(request, threading.Event()) == engine.answer(request)
