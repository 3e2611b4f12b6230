"""Requests, results and failures as values: frozen, picklable, never without their context."""

import pickle
from dataclasses import FrozenInstanceError, fields, replace
from datetime import datetime, timedelta, timezone
from typing import Any

import pytest

import vacmcpd.engine as package
from vacmcpd.engine import (
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
from vacmcpd.engine.evidence import Side
from vacmcpd.engine.rows import utc_seconds
from vacmcpd.engine.tokens import fitting, size, tokens
from vacmcpd.errors import QueryError
from vacmcpd.model import Context
from vacmcpd.ports.source import Change

ALL: list[Any] = [
    ListContextsRequest(),
    SearchCodeRequest("both", "handler"),
    TraceCallsRequest("v2", "run", "callees", 1),
    GetCodeRequest("v2", "app.py", 1, 1),
    CompareCodeRequest("v1", "v2", "app.py"),
    CompareCallsRequest("v1", "v2", "run", "callees", 1),
    SearchHistoryRequest("both"),
]
named = pytest.mark.parametrize("request_", ALL, ids=lambda request: type(request).__name__)


@named
def test_requests_and_results_survive_pickling(engine: Engine, request_: Request) -> None:
    result = engine.answer(request_)
    assert pickle.loads(pickle.dumps(request_)) == request_
    again = pickle.loads(pickle.dumps(result))
    assert again == result
    assert again.to_wire() == result.to_wire()


@named
def test_requests_and_results_are_frozen(engine: Engine, request_: Request) -> None:
    for value in (request_, engine.answer(request_)):
        for field in fields(value)[:1]:
            with pytest.raises(FrozenInstanceError):
                setattr(value, field.name, None)


def test_a_failure_survives_pickling(engine: Engine) -> None:
    with pytest.raises(QueryError) as failure:
        engine.answer(SearchCodeRequest("v9", "q"))
    again = pickle.loads(pickle.dumps(failure.value))
    assert again.to_wire() == failure.value.to_wire()


@named
def test_no_result_is_built_without_context_and_evidence(engine: Engine, request_: Request) -> None:
    result = engine.answer(request_)
    kept = {field.name: getattr(result, field.name) for field in fields(result)}
    for name in {"contexts", "context", "evidence", "coverage", "from_side", "to_side"} & set(kept):
        with pytest.raises(TypeError, match=name):
            type(result)(**{key: value for key, value in kept.items() if key != name})


def test_no_result_is_built_of_a_context_that_names_nothing(engine: Engine) -> None:
    empty = Context("c", ())
    for request in ALL:
        result: Any = engine.answer(request)
        if hasattr(result, "context"):
            with pytest.raises(ValueError, match="member"):
                replace(result, context=empty)
    with pytest.raises(ValueError, match="one member"):
        Side(empty, ())


def test_a_comparison_has_the_sides_that_its_change_implies(engine: Engine) -> None:
    compared: Any = engine.answer(ALL[4])
    for wrong in ({"change": Change.ADDED}, {"from_side": None}, {"to_side": None}):
        with pytest.raises(ValueError, match="contradict"):
            replace(compared, **wrong)
    calls: Any = engine.answer(ALL[5])
    with pytest.raises(ValueError, match="one side"):
        replace(calls, from_side=None, to_side=None)


def test_the_package_exports_what_it_says() -> None:
    assert sorted(package.__all__) == package.__all__
    for name in package.__all__:
        assert getattr(package, name).__module__.startswith("vacmcpd.engine") or name in {
            "Request",
            "Result",
        }


def test_a_token_is_three_bytes_of_compact_json_rounded_up() -> None:
    assert size({"a": "b"}) == len('{"a":"b"}')
    assert size("\N{SNOWMAN}") == 5
    assert [tokens("a" * count) for count in (1, 2, 4, 5)] == [1, 2, 2, 3]


def test_an_item_is_costed_once_and_none_after_the_first_that_does_not_fit() -> None:
    costed: list[int] = []

    def sizes() -> Any:
        for number in range(1_000):
            costed.append(number)
            yield 10

    assert fitting(sizes(), 55) == 5
    assert costed == [0, 1, 2, 3, 4, 5]
    assert fitting([99], 1) == 1
    assert fitting([], 1) == 0


@pytest.mark.parametrize(
    ("moment", "expected"),
    [
        (datetime(2026, 1, 1, 1, tzinfo=timezone(timedelta(hours=2))), "2025-12-31T23:00:00Z"),
        (datetime(2026, 1, 1, 1, 2, 3, 999), "2026-01-01T01:02:03Z"),  # noqa: DTZ001
        (datetime(1, 1, 1, 0, 0, tzinfo=timezone.utc), "0001-01-01T00:00:00Z"),  # noqa: UP017
    ],
)
def test_times_are_utc_to_the_second(moment: datetime, expected: str) -> None:
    assert utc_seconds(moment) == expected
