"""Cursors: whose they are, and that nothing else is taken for one."""

import base64
import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vacmcpd.engine import (
    CompareCallsRequest,
    CompareCodeRequest,
    Engine,
    Request,
    SearchCodeRequest,
    SearchHistoryRequest,
    TraceCallsRequest,
)
from vacmcpd.engine import cursor as cursors
from vacmcpd.errors import QueryError, WireCode
from vacmcpd.model import Artifact, ArtifactKind, Context, Member
from vacmcpd.testing.contexts import MemoryContexts
from vacmcpd.testing.source import commit_id

FIRST, SECOND = commit_id("first"), commit_id("second")
PAGED: list[Any] = [
    SearchCodeRequest("both", "handler", limit=1),
    TraceCallsRequest("v1", "run", "callees", 1, limit=1),
    CompareCallsRequest("v1", "v2", "run", "callees", 1, limit=1),
    SearchHistoryRequest("both", limit=1),
]


def first_cursor(engine: Engine, request: Request) -> str:
    cursor: str = engine.answer(request).to_wire()["next_cursor"]
    return cursor


def refused(engine: Engine, request: Request) -> str:
    with pytest.raises(QueryError) as failure:
        engine.answer(request)
    assert failure.value.code is WireCode.INVALID_ARGUMENT
    assert failure.value.details == {"argument": "cursor"}
    return failure.value.message


def forged(**values: Any) -> str:
    raw = json.dumps(values).encode("utf-8")
    return base64.urlsafe_b64encode(raw).decode("ascii").rstrip("=")


@pytest.mark.parametrize("request_", PAGED, ids=lambda request: type(request).__name__)
def test_a_cursor_of_another_query_is_refused(engine: Engine, request_: Any) -> None:
    cursor = first_cursor(engine, request_)
    changed = {"query": "legacy"} if hasattr(request_, "query") else {"depth": 2}
    assert "another query" in refused(engine, replace(request_, cursor=cursor, **changed))


@pytest.mark.parametrize("request_", PAGED, ids=lambda request: type(request).__name__)
def test_a_cursor_of_another_tool_is_refused(engine: Engine, request_: Any) -> None:
    for other in PAGED:
        if type(other) is not type(request_):
            cursor = first_cursor(engine, other)
            assert "another tool" in refused(engine, replace(request_, cursor=cursor))


def test_a_cursor_of_another_version_is_refused(engine: Engine) -> None:
    cursor = forged(v=cursors.VERSION + 1, t="search_history", d="", p=[0, 0])
    assert "another version" in refused(engine, SearchHistoryRequest("v1", cursor=cursor))


def test_a_cursor_outlives_another_page_size(engine: Engine) -> None:
    cursor = first_cursor(engine, PAGED[0])
    wire = engine.answer(replace(PAGED[0], cursor=cursor, limit=50, max_tokens=9_999)).to_wire()
    assert wire["matches"][0]["repository"] == "demo"
    assert wire["truncated"] is False


@pytest.mark.parametrize("changed", ["revision", "artifact", "member", "context"])
def test_a_cursor_dies_with_what_it_was_answered_from(
    build: Callable[..., Engine], changed: str
) -> None:
    def pinned(context: str, repository: str, revision: str, key: str) -> Engine:
        artifact = Artifact(ArtifactKind.SEARCH, "scan", "1", key, revision)
        member = Member(repository, "main", revision, search=artifact)
        return build(contexts=MemoryContexts([Context(context, (member,))]))

    before = pinned("c", "demo", SECOND, "k")
    cursor = first_cursor(before, SearchCodeRequest("c", "e", limit=1))
    before.answer(SearchCodeRequest("c", "e", limit=1, cursor=cursor))
    context, after = {
        "revision": ("c", pinned("c", "demo", FIRST, "k")),
        "artifact": ("c", pinned("c", "demo", SECOND, "other")),
        "member": ("c", pinned("c", "lib", commit_id("side"), "k")),
        "context": ("d", pinned("d", "demo", SECOND, "k")),
    }[changed]
    assert "another query" in refused(after, SearchCodeRequest(context, "e", cursor=cursor))


BROKEN = [
    "x",
    "====",
    "%",
    "é",
    "\ud800",
    "\0",
    " ",
    "e30",
    "W10",
    "MQ",
    "x" * 10_000,
    base64.urlsafe_b64encode(b"\xff\xfe\xff").decode("ascii"),
    base64.urlsafe_b64encode(b"[" * 180).decode("ascii"),
    base64.urlsafe_b64encode(b"1" * 180).decode("ascii"),
]


@pytest.mark.parametrize("cursor", BROKEN)
def test_what_is_no_cursor_is_refused_by_every_tool(engine: Engine, cursor: str) -> None:
    for request in [*PAGED, CompareCodeRequest("v1", "v2", "app.py")]:
        refused(engine, replace(request, cursor=cursor))


POSITIONS = [None, [], [0], [0, 0, 0], [-1, 0], [0, 1.0], [True, 0], ["0", 0], [2**31, 0], {"0": 0}]


@pytest.mark.parametrize("position", POSITIONS)
def test_a_forged_position_is_refused(engine: Engine, position: Any) -> None:
    cursor = first_cursor(engine, PAGED[3])
    padded = cursor + "=" * (-len(cursor) % 4)
    value = json.loads(base64.urlsafe_b64decode(padded))
    refused(engine, replace(PAGED[3], cursor=forged(**{**value, "p": position})))


def moved(engine: Engine, request: Any, *position: int) -> Any:
    """The request with its cursor's position forged."""
    cursor = first_cursor(engine, request)
    value = json.loads(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
    return replace(request, cursor=forged(**{**value, "p": list(position)}))


@pytest.mark.parametrize("request_", PAGED, ids=lambda request: type(request).__name__)
def test_a_position_beyond_the_end_is_an_empty_last_page(engine: Engine, request_: Any) -> None:
    walked = isinstance(request_, TraceCallsRequest | CompareCallsRequest)
    searched = isinstance(request_, SearchCodeRequest)
    far = 2**31 - 1
    position = (far, 0) if walked else (far, far) if searched else (1, far)
    last = moved(engine, request_, *position)
    wire = engine.answer(last).to_wire()
    assert wire["truncated"] is False
    assert "next_cursor" not in wire
    plain = engine.answer(request_).to_wire()
    assert wire.get("total_matches") == plain.get("total_matches")
    if not walked:
        # The last member was asked, so that the answer rests on something.
        assert wire["coverage"]["members"]


@pytest.mark.parametrize("position", [(2, 0), (2**31 - 1, 7)])
def test_a_position_in_a_member_that_is_not_there_is_refused(
    engine: Engine, position: tuple[int, int]
) -> None:
    refused(engine, moved(engine, PAGED[3], *position))


@pytest.mark.parametrize("position", [(), (0,), (0, 0, 0), (0, -1), (0, 2**31), (0, True)])
def test_a_search_goes_on_at_one_place_in_each_member(
    engine: Engine, position: tuple[int, ...]
) -> None:
    refused(engine, moved(engine, PAGED[0], *position))
    engine.answer(moved(engine, PAGED[0], 0, 1))


@pytest.mark.parametrize("position", [(1, 0), (2**31 - 1, 0)])
def test_a_position_in_a_hunk_that_is_not_there_is_refused(
    engine: Engine, contexts: list[Context], position: tuple[int, int]
) -> None:
    pins = {context.id: context.members[0] for context in contexts}
    sides = [(pins["v1"], None), (pins["v2"], None)]
    digest = cursors.digest("compare_code", sides, ["v1", "v2", "app.py"])
    request = CompareCodeRequest("v1", "v2", "app.py")
    assert engine.answer(request).to_wire()["total_hunks"] == 1
    refused(engine, replace(request, cursor=cursors.write("compare_code", digest, position)))
    first = cursors.write("compare_code", digest, (0, 0))
    assert engine.answer(replace(request, cursor=first)) == engine.answer(request)


@given(st.text(max_size=300))
def test_arbitrary_text_never_crashes_the_reader(text: str) -> None:
    if not text:
        assert cursors.read(text, "tool", "digest") == (0, 0)
        return
    with pytest.raises(QueryError) as failure:
        cursors.read(text, "tool", "digest")
    assert failure.value.code is WireCode.INVALID_ARGUMENT


_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=2), inner),
    max_leaves=8,
)


@given(st.fixed_dictionaries({}, optional=dict.fromkeys("vtdp", _json)))
def test_arbitrary_json_never_crashes_the_reader(value: dict[str, Any]) -> None:
    with pytest.raises(QueryError):
        cursors.read(forged(**value), "tool", "digest")


@given(st.lists(st.integers(0, 2**31 - 1), min_size=1, max_size=60))
def test_a_position_in_many_members_survives_the_round_trip(offsets: list[int]) -> None:
    written = cursors.write("tool", "digest", offsets)
    assert cursors.read_offsets(written, "tool", "digest", len(offsets)) == tuple(offsets)
    for other in {len(offsets) - 1, len(offsets) + 1, 1_000}:
        with pytest.raises(QueryError):
            cursors.read_offsets(written, "tool", "digest", other)


def test_a_cursor_longer_than_its_members_can_need_is_refused() -> None:
    far = [2**31 - 1] * 50
    digest = cursors.digest("search_code", [], [])
    written = cursors.write("search_code", digest, far)
    assert cursors.read_offsets(written, "search_code", digest, 50) == tuple(far)
    value = {"v": cursors.VERSION, "t": "search_code", "d": digest, "p": far, "x": "x" * 500}
    with pytest.raises(QueryError, match="not one that this tool gives"):
        cursors.read_offsets(forged(**value), "search_code", digest, 50)


@given(st.integers(0, 2**31 - 1), st.integers(0, 2**31 - 1))
def test_a_position_survives_the_round_trip(first: int, second: int) -> None:
    written = cursors.write("tool", "digest", (first, second))
    assert cursors.read(written, "tool", "digest") == (first, second)
    assert written.isascii()
    assert len(written) < 120
