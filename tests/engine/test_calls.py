"""What a graph that knows its symbols and kinds makes of the two tools of calls."""

import json
import pickle
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, overload

import jsonschema
import pytest

from vacmcpd.engine import CompareCallsRequest, Engine, Request, TraceCallsRequest
from vacmcpd.engine.tokens import tokens
from vacmcpd.errors import QueryError, WireCode
from vacmcpd.model import Artifact, ArtifactKind, Context, Member, Scope
from vacmcpd.ports.budget import Budget
from vacmcpd.ports.graph import (
    CallEdge,
    CallGraph,
    EdgeKind,
    LanguageCoverage,
    Symbol,
    Tier,
    TraceQuery,
)
from vacmcpd.server.tools import BY_NAME
from vacmcpd.testing.contexts import MemoryContexts
from vacmcpd.testing.graph import MemoryCalls, MemoryGraph, OpenSite
from vacmcpd.testing.source import commit_id

OLD, NEW = commit_id("old"), commit_id("new")


def method(of: str, name: str, line: int = 1, path: str = "") -> Symbol:
    module = of.partition(".")[0]
    return Symbol(name, f"{of}.{name}", path or f"{module}.py", line, "method")


def call(caller: Symbol, callee: Symbol, line: int, kind: EdgeKind = EdgeKind.RESOLVED) -> CallEdge:
    return CallEdge(caller.name, callee.name, caller.path, line, kind, caller, callee)


def outside(caller: Symbol, name: str, line: int) -> CallEdge:
    target = Symbol(name.rpartition(".")[2], name, "", 0, "external")
    return CallEdge(caller.name, name, caller.path, line, EdgeKind.EXTERNAL, caller, target)


RUN, STOP = method("app.Job", "run", 3), method("app.Job", "stop", 20)
OTHER_RUN = method("web.Page", "run", 9)
SAVE, LONELY = method("db.Store", "save", 40), method("db.Store", "lonely", 50)
PYTHON = LanguageCoverage("python", Tier.SCOPED, 3, 1)
LUA = LanguageCoverage("lua", Tier.BY_NAME, 2, 0)

BEFORE = MemoryCalls(
    (
        call(RUN, SAVE, 5),
        call(RUN, SAVE, 6),
        call(OTHER_RUN, SAVE, 11),
        call(RUN, STOP, 8, EdgeKind.DISPATCH),
        call(STOP, LONELY, 22, EdgeKind.CANDIDATE),
        outside(STOP, "os.remove", 23),
    ),
    (LONELY,),
    (OpenSite("lonely", RUN, "app.py", 9), OpenSite("lonely", STOP, "app.py", 24)),
    (PYTHON,),
)
# Job.run moved down by two lines and saves once; Page.run saves no more.
MOVED_RUN, MOVED_STOP = method("app.Job", "run", 5), method("app.Job", "stop", 30)
AFTER = MemoryCalls(
    (
        call(MOVED_RUN, SAVE, 8),
        call(MOVED_RUN, MOVED_STOP, 9),
        call(OTHER_RUN, MOVED_STOP, 11),
    ),
    (LONELY,),
    (),
    (PYTHON,),
)


def artifact(version: str, revision: str) -> Artifact:
    return Artifact(ArtifactKind.GRAPH, "embedded", version, "key", revision)


def engine_of(
    old: MemoryCalls = BEFORE,
    new: MemoryCalls = AFTER,
    *,
    most: int = 0,
    versions: tuple[str, str] = ("1", "1"),
    provider: Any = None,
) -> Engine:
    graph = MemoryGraph({("demo", OLD): old, ("demo", NEW): new}, most=most)
    contexts = [
        Context(name, (Member("demo", name, revision, None, artifact(version, revision)),))
        for name, revision, version in zip(("v1", "v2"), (OLD, NEW), versions, strict=True)
    ]
    return Engine(MemoryContexts(contexts), graph=provider or graph)


def refused(engine: Engine, request: Request) -> QueryError:
    with pytest.raises(QueryError) as failure:
        engine.answer(request)
    return failure.value


def traced(symbol: str, direction: str = "callers", depth: int = 1, **more: Any) -> dict[str, Any]:
    request = TraceCallsRequest("v1", symbol, direction, depth, **more)
    return engine_of().answer(request).to_wire()


def compared(
    symbol: str, direction: str = "callees", engine: Engine | None = None, **more: Any
) -> dict[str, Any]:
    request = CompareCallsRequest("v1", "v2", symbol, direction, 1, **more)
    return (engine or engine_of()).answer(request).to_wire()


def test_a_call_has_its_place_its_kind_and_both_definitions() -> None:
    wire = traced("save")
    assert wire["calls"][0] == {
        "caller": "run",
        "callee": "save",
        "path": "app.py",
        "line": 5,
        "kind": "resolved",
        "caller_qualified_name": "app.Job.run",
        "caller_line": 3,
        "callee_qualified_name": "db.Store.save",
        "callee_path": "db.py",
        "callee_line": 40,
    }
    assert [(row["path"], row["line"]) for row in wire["calls"]] == [
        ("app.py", 5),
        ("app.py", 6),
        ("web.py", 11),
    ]


def test_the_answer_names_its_symbol_kinds_and_languages() -> None:
    wire = traced("Job.run", "callees")
    assert wire["symbol"] == "run"
    assert wire["definition"] == {
        "qualified_name": "app.Job.run",
        "path": "app.py",
        "line": 3,
        "kind": "method",
    }
    assert wire["kinds"] == ["resolved", "dispatch"]
    assert wire["languages"] == [{"name": "python", "tier": "scoped", "files": 3, "with_errors": 1}]
    assert wire["untraced"] == {"unresolved": 1, "candidate": 0, "inferred": 0, "external": 0}
    assert "note" not in wire
    assert [row["kind"] for row in wire["calls"]] == ["resolved", "resolved", "dispatch"]


def test_a_callee_outside_the_repository_has_no_place() -> None:
    (row,) = traced("stop", "callees", kinds=("external",))["calls"]
    assert row == {
        "caller": "stop",
        "callee": "os.remove",
        "path": "app.py",
        "line": 23,
        "kind": "external",
        "caller_qualified_name": "app.Job.stop",
        "caller_line": 20,
        "callee_qualified_name": "os.remove",
    }


def test_a_caller_defined_elsewhere_says_where() -> None:
    macro = method("defs.M", "expand", 7, "defs.h")
    edge = replace(call(macro, SAVE, 2), path="main.c")
    wire = engine_of(MemoryCalls((edge,))).answer(TraceCallsRequest("v1", "save", "callers", 1))
    (row,) = wire.to_wire()["calls"]
    assert (row["path"], row["caller_path"], row["caller_line"]) == ("main.c", "defs.h", 7)


def test_an_empty_answer_tells_of_the_sites_that_carry_the_name() -> None:
    wire = traced("lonely")
    assert (wire["calls"], wire["total_matches"], wire["truncated"]) == ([], 0, False)
    assert wire["untraced"] == {"unresolved": 2, "candidate": 1, "inferred": 0, "external": 0}
    assert wire["note"] == (
        "no resolved or dispatch call of lonely is in this commit, but 2 unresolved and "
        "1 candidate call sites carry this name; kinds candidate shows them; "
        "search_code finds the unresolved ones"
    )
    (row,) = traced("lonely", kinds=("candidate",))["calls"]
    assert (row["caller"], row["line"], row["kind"]) == ("stop", 22, "candidate")


def test_an_empty_answer_says_that_there_are_no_such_sites() -> None:
    assert traced("Page.run")["note"] == (
        "no resolved or dispatch call of run is in this commit, "
        "and no unresolved or candidate call site carries this name"
    )


def test_an_empty_answer_of_callees_tells_of_the_calls_in_the_symbol() -> None:
    assert traced("stop", "callees")["note"] == (
        "no resolved or dispatch call is in stop, but 1 unresolved and 1 candidate call sites are "
        "in it; 1 in it calls code outside the repository; kinds candidate, external shows them; "
        "search_code finds the unresolved ones"
    )
    assert traced("save", "callees")["note"] == (
        "no resolved or dispatch call is in save, and no unresolved or candidate call site is in it"
    )


def test_an_empty_answer_tells_of_calls_of_the_name_outside_the_repository() -> None:
    remove = method("fs.Disk", "remove", 4)
    engine = engine_of(MemoryCalls(BEFORE.edges, (remove,), (), (PYTHON,)))
    wire = engine.answer(TraceCallsRequest("v1", "Disk.remove", "callers", 1)).to_wire()
    assert wire["note"] == (
        "no resolved or dispatch call of remove is in this commit, and no unresolved or candidate "
        "call site carries this name; 1 calls something of this name outside the repository"
    )


def test_an_empty_answer_names_the_languages_that_are_known_by_name_only() -> None:
    engine = engine_of(MemoryCalls((), (LONELY,), (), (PYTHON, LUA)))
    request = TraceCallsRequest("v1", "lonely", "callers", 1)
    assert (
        engine.answer(request)
        .to_wire()["note"]
        .endswith("; calls in lua are known by name only; kinds candidate shows them")
    )
    asked = engine.answer(replace(request, kinds=("candidate",))).to_wire()
    assert asked["note"] == (
        "no candidate call of lonely is in this commit, "
        "and no unresolved or candidate call site carries this name"
    )


def test_kinds_are_walked_as_asked_in_any_order() -> None:
    one = traced("stop", "callees", kinds=("external", "candidate", "external"))
    assert one == traced("stop", "callees", kinds=("candidate", "external"))
    assert one["kinds"] == ["candidate", "external"]
    assert [row["callee"] for row in one["calls"]] == ["lonely", "os.remove"]
    assert traced("save", kinds=("resolved", "dispatch")) == traced("save")


@pytest.mark.parametrize("comparison", [False, True])
def test_an_unknown_kind_is_refused_with_those_there_are(comparison: bool) -> None:
    kinds = ("resolved", "Resolved", "all", "Resolved")
    request: Request = TraceCallsRequest("v1", "save", "callers", 1, kinds=kinds)
    named: dict[str, Any] = {"context": "v1"}
    if comparison:
        request = CompareCallsRequest("v1", "v2", "save", "callers", 1, kinds=kinds)
        named = {"from_context": "v1", "to_context": "v2"}
    error = refused(engine_of(), request)
    assert error.code is WireCode.INVALID_ARGUMENT
    assert error.details == {
        **named,
        "symbol": "save",
        "kinds": ["Resolved", "all"],
        "accepted": ["resolved", "dispatch", "inferred", "candidate", "external"],
    }
    assert "it takes resolved, dispatch, inferred, candidate, external" in error.message


@pytest.mark.parametrize("comparison", [False, True])
def test_a_cursor_belongs_to_the_kinds_it_was_given_for(comparison: bool) -> None:
    request: Any = TraceCallsRequest("v1", "Job.run", "callees", 1, limit=1)
    if comparison:
        request = CompareCallsRequest("v1", "v2", "Job.run", "callees", 1, limit=1)
    engine = engine_of()
    following = replace(request, cursor=engine.answer(request).to_wire()["next_cursor"])
    assert engine.answer(following).to_wire()
    assert engine.answer(replace(following, kinds=("dispatch", "resolved"))).to_wire()
    error = refused(engine, replace(following, kinds=("resolved",)))
    assert (error.code, error.details) == (WireCode.INVALID_ARGUMENT, {"argument": "cursor"})


def test_a_bounded_walk_says_how_many_calls_there_are() -> None:
    engine = engine_of(most=2)
    request = TraceCallsRequest("v1", "save", "callers", 1, limit=1)
    first = engine.answer(request).to_wire()
    assert (first["total_matches"], first["total_is_exact"], first["truncated"]) == (3, True, True)
    assert first["coverage"]["complete"] is False
    last = engine.answer(replace(request, cursor=first["next_cursor"])).to_wire()
    assert last["truncated"] is True
    assert "next_cursor" not in last
    assert last["note"] == (
        "the walk stopped after 2 of 3 calls; a smaller depth, "
        "or one of these functions as the symbol, shows the others"
    )


class Lying:
    """A graph whose answers are changed on their way out."""

    name = "lying"

    def __init__(self, **changed: Any) -> None:
        self._changed = changed
        self._honest = MemoryGraph({("demo", OLD): BEFORE, ("demo", NEW): AFTER})

    def trace(self, scope: Scope, query: TraceQuery, budget: Budget) -> CallGraph:
        return replace(self._honest.trace(scope, query, budget), **self._changed)


def test_a_lower_bound_says_that_it_is_one() -> None:
    engine = engine_of(provider=Lying(total=1_000, exact=False))
    wire = engine.answer(TraceCallsRequest("v1", "save", "callers", 1)).to_wire()
    assert (wire["total_matches"], wire["total_is_exact"]) == (1_000, False)
    assert "stopped after 3 of at least 1000 calls" in wire["note"]


@pytest.mark.parametrize(
    "changed",
    [
        {"edges": (call(RUN, SAVE, 5, EdgeKind.INFERRED),)},
        {"edges": (call(method("a", "b", 0), SAVE, 5),)},
        {"edges": (call(RUN, method("a", "b", 3, "../b.py"), 5),)},
        {"resolved": method("a", "b", 3, "/b.py")},
        {"resolved": Symbol("b", "a.b", "", 3, "function")},
    ],
)
@pytest.mark.parametrize("comparison", [False, True])
def test_an_edge_that_nobody_asked_for_is_never_shown(
    changed: dict[str, Any], comparison: bool
) -> None:
    request: Request = TraceCallsRequest("v1", "save", "callers", 1)
    if comparison:
        request = CompareCallsRequest("v1", "v2", "save", "callers", 1)
    error = refused(engine_of(provider=Lying(**changed)), request)
    assert error.code is WireCode.SOURCE_MISMATCH


class Lazy(Sequence[CallEdge]):
    """Ten thousand edges that are made when they are read."""

    def __init__(self) -> None:
        self.read = 0

    def __len__(self) -> int:
        return 10_000

    @overload
    def __getitem__(self, at: int) -> CallEdge: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[CallEdge]: ...
    def __getitem__(self, at: int | slice) -> CallEdge | Sequence[CallEdge]:
        if isinstance(at, slice):
            return [self[number] for number in range(*at.indices(len(self)))]
        if at >= len(self):
            raise IndexError(at)
        self.read += 1
        return call(RUN, SAVE, at + 1)


def test_a_page_reads_no_more_edges_than_it_may_show() -> None:
    edges = Lazy()
    engine = engine_of(provider=Lying(edges=edges))
    request = TraceCallsRequest("v1", "save", "callers", 1, limit=10)
    first = engine.answer(request).to_wire()
    assert (len(first["calls"]), first["total_matches"]) == (10, 10_000)
    second = engine.answer(replace(request, cursor=first["next_cursor"])).to_wire()
    assert [row["line"] for row in second["calls"]] == [*range(11, 21)]
    assert edges.read == 20


def test_an_ambiguous_name_shows_its_candidates() -> None:
    error = refused(engine_of(), TraceCallsRequest("v1", "run", "callers", 1))
    assert error.code is WireCode.SYMBOL_AMBIGUOUS
    assert error.message == (
        'trace_calls: context "v1" has 2 symbols matching "run"; '
        "ask again with one of the candidates: app.Job.run, web.Page.run"
    )
    assert error.details == {
        "context": "v1",
        "symbol": "run",
        "total_candidates": 2,
        "candidates": [
            {
                "symbol": "app.Job.run",
                "qualified_name": "app.Job.run",
                "name": "run",
                "label": "Method",
                "kind": "method",
                "path": "app.py",
                "line": 3,
            },
            {
                "symbol": "web.Page.run",
                "qualified_name": "web.Page.run",
                "name": "run",
                "label": "Method",
                "kind": "method",
                "path": "web.py",
                "line": 9,
            },
        ],
    }
    for candidate in error.details["candidates"]:
        assert traced(candidate["symbol"])["definition"]["path"] == candidate["path"]


def test_candidates_of_a_provider_that_knows_little_are_shown_as_they_are() -> None:
    class Terse:
        name = "terse"

        def trace(self, scope: Scope, query: TraceQuery, budget: Budget) -> CallGraph:
            details = {"candidates": [{"qualified_name": "b::run"}, {"symbol": "a.run"}, {}, 1]}
            raise QueryError(WireCode.SYMBOL_AMBIGUOUS, "several", details)

    error = refused(engine_of(provider=Terse()), TraceCallsRequest("v1", "run", "callers", 1))
    assert error.details["candidates"] == [
        {"symbol": ""},
        {"symbol": "a.run"},
        {"symbol": "b::run", "qualified_name": "b::run", "name": "run"},
    ]
    assert error.details["total_candidates"] == 3


def test_namesakes_in_two_files_are_told_apart_by_their_path() -> None:
    one, other = method("x.A", "f", 1, "a/x.py"), method("x.A", "f", 1, "b/x.py")
    engine = engine_of(MemoryCalls((call(one, SAVE, 2), call(other, SAVE, 3)), (), (), (PYTHON,)))
    error = refused(engine, TraceCallsRequest("v1", "x.A.f", "callees", 1))
    asked = [candidate["symbol"] for candidate in error.details["candidates"]]
    assert asked == ["a/x.py:x.A.f", "b/x.py:x.A.f"]
    lines = []
    for symbol in asked:
        wire = engine.answer(TraceCallsRequest("v1", symbol, "callees", 1)).to_wire()
        lines.append([row["line"] for row in wire["calls"]])
    assert lines == [[2], [3]]


def test_a_name_of_very_many_stays_short_and_says_how_to_narrow_it() -> None:
    many = tuple(method(f"m{number}.T", "get") for number in range(400))
    engine = engine_of(MemoryCalls((), many))
    error = refused(engine, TraceCallsRequest("v1", "get", "callers", 1))
    assert (len(error.details["candidates"]), error.details["total_candidates"]) == (30, 400)
    assert "has 400 symbols" in error.message
    assert error.message.endswith(", …; a type (Type.name) or a file (path:name) narrows it")
    assert tokens(error.to_wire()) < 2_500


def test_an_unknown_name_is_told_those_spelled_alike() -> None:
    error = refused(engine_of(), TraceCallsRequest("v1", "Lonly", "callers", 1))
    assert (error.code, error.details["near"]) == (WireCode.SYMBOL_NOT_FOUND, ["lonely"])
    assert error.message == (
        'trace_calls: context "v1" has no symbol "Lonly"; spelled alike: lonely'
    )
    nothing = refused(engine_of(), TraceCallsRequest("v1", "xyzzy", "callers", 1))
    assert nothing.message.endswith("search_code finds how it is spelled")
    both = refused(engine_of(), CompareCallsRequest("v1", "v2", "lonly", "callers", 1))
    assert both.details == {
        "from_context": "v1",
        "to_context": "v2",
        "symbol": "lonly",
        "near": ["lonely"],
    }
    assert both.message.endswith("spelled alike: lonely")


def named(rows: list[dict[str, Any]]) -> list[tuple[str, str]]:
    return [(row["caller_qualified_name"], row["callee_qualified_name"]) for row in rows]


def test_a_relation_is_qualified_so_that_two_methods_of_one_name_are_two() -> None:
    wire = compared("save", "callers")
    assert named(wire["unchanged"]) == [("app.Job.run", "db.Store.save")]
    assert named(wire["removed"]) == [("web.Page.run", "db.Store.save")]
    assert wire["added"] == []
    assert wire["removed"][0]["caller"] == "run"


def test_calls_whose_lines_only_moved_are_unchanged() -> None:
    wire = compared("Job.run")
    assert [row["callee"] for row in wire["unchanged"]] == ["save", "stop"]
    assert (wire["added"], wire["removed"]) == ([], [])
    saved, stopped = wire["unchanged"]
    assert [item["location"]["start_line"] for item in saved["from_evidence"]] == [5, 6]
    assert [item["location"]["start_line"] for item in saved["to_evidence"]] == [8]
    assert stopped["kinds"] == ["resolved", "dispatch"]
    assert saved["kinds"] == ["resolved"]


def test_both_sides_say_which_symbol_they_are_about() -> None:
    wire = compared("Job.run")
    assert (wire["from_resolved_symbol"], wire["to_resolved_symbol"]) == ("run", "run")
    assert [wire[side]["definition"]["line"] for side in ("from", "to")] == [3, 5]
    assert wire["from"]["untraced"]["unresolved"] == 1
    assert wire["kinds"] == ["resolved", "dispatch"]
    assert wire["languages"] == [{"name": "python", "tier": "scoped"}]
    assert "note" not in wire


def test_a_comparison_walks_the_kinds_that_were_asked_for() -> None:
    wire = compared("Job.run", kinds=("dispatch",))
    assert wire["kinds"] == ["dispatch"]
    assert [row["callee"] for row in wire["removed"]] == ["stop"]
    assert (wire["added"], wire["unchanged"]) == ([], [])
    lost = compared("lonely", "callers", kinds=("candidate",))
    assert named(lost["removed"]) == [("app.Job.stop", "db.Store.lonely")]


def test_an_empty_comparison_is_evidence_on_both_sides() -> None:
    note = compared("lonely", "callers")["note"]
    assert note == (
        "from: no resolved or dispatch call of lonely is in this commit, but 2 unresolved and "
        "1 candidate call sites carry this name; kinds candidate shows them; "
        "search_code finds the unresolved ones; "
        "to: no resolved or dispatch call of lonely is in this commit, "
        "and no unresolved or candidate call site carries this name"
    )


def test_a_symbol_of_one_side_only_is_an_answer_with_all_its_calls() -> None:
    gone = MemoryCalls(tuple(edge for edge in AFTER.edges if edge.callee != "save"))
    wire = compared("save", "callers", engine_of(new=gone))
    assert (wire["presence"], wire["to"]) == ("FROM_ONLY", None)
    assert named(wire["removed"]) == [
        ("app.Job.run", "db.Store.save"),
        ("web.Page.run", "db.Store.save"),
    ]


def test_two_symbols_of_one_name_are_said_to_be_two() -> None:
    moved = method("store.Store", "save", 2)
    wire = compared("save", "callers", engine_of(new=MemoryCalls((call(RUN, moved, 5),))))
    assert wire["note"] == (
        "two symbols are compared: db.Store.save of the from side and "
        "store.Store.save of the to side"
    )
    assert len(wire["removed"]) == 2
    assert named(wire["added"]) == [("app.Job.run", "store.Store.save")]


def test_an_ambiguous_side_is_an_error_that_names_it() -> None:
    error = refused(engine_of(), CompareCallsRequest("v1", "v2", "run", "callers", 1))
    assert error.code is WireCode.SYMBOL_AMBIGUOUS
    assert (error.details["side"], error.details["context"]) == ("from", "v1")
    assert error.message.startswith(
        'compare_calls: on the from side, context "v1" has 2 symbols matching "run"; '
    )


def test_graphs_of_two_engine_versions_are_not_compared() -> None:
    error = refused(
        engine_of(versions=("1", "2")), CompareCallsRequest("v1", "v2", "save", "callers", 1)
    )
    assert error.code is WireCode.GRAPH_PROVIDER_UNAVAILABLE
    assert error.details == {
        "from_context": "v1",
        "to_context": "v2",
        "repository": "demo",
        "from_engine": "embedded/1",
        "to_engine": "embedded/2",
    }
    assert '"vacmcp context rebuild v1"' in error.message
    assert '"vacmcp context rebuild v2"' in error.message


def test_a_walk_that_was_cut_is_not_compared() -> None:
    request = CompareCallsRequest("v1", "v2", "save", "callers", 3)
    error = refused(engine_of(most=2), request)
    assert error.code is WireCode.INVALID_ARGUMENT
    assert error.details == {
        "context": "v1",
        "symbol": "save",
        "depth": 3,
        "side": "from",
        "total": 3,
    }
    assert "smaller depth" in error.message


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("trace_calls", {"context": "v1", "symbol": "save", "direction": "callers"}),
        ("trace_calls", {"context": "v1", "symbol": "lonely", "direction": "callers"}),
        ("trace_calls", {"context": "v1", "symbol": "run", "direction": "callers"}),
        (
            "trace_calls",
            {"context": "v1", "symbol": "stop", "direction": "callees", "kinds": ["external"]},
        ),
        ("compare_calls", {"symbol": "save", "direction": "callers"}),
        ("compare_calls", {"symbol": "nowhere", "direction": "callers"}),
    ],
)
def test_an_answer_is_what_its_schema_says(tool: str, arguments: dict[str, Any]) -> None:
    given = {**arguments, "depth": 2}
    if tool == "compare_calls":
        given = {**given, "from_context": "v1", "to_context": "v2"}
    try:
        wire = engine_of().answer(BY_NAME[tool].request(given)).to_wire()
    except QueryError as error:
        wire = error.to_wire()
    schema = BY_NAME[tool].output_schema
    assert schema is not None
    jsonschema.validate(wire, schema)
    known = set(schema["properties"])
    assert set(wire) <= known
    if "calls" in wire:
        fields = set(schema["properties"]["calls"]["items"]["properties"])
        assert {key for row in wire["calls"] for key in row} <= fields


def test_results_travel_between_processes() -> None:
    for request in (
        TraceCallsRequest("v1", "save", "callers", 1, kinds=("resolved",)),
        CompareCallsRequest("v1", "v2", "save", "callers", 1),
    ):
        result = engine_of().answer(pickle.loads(pickle.dumps(request)))
        assert pickle.loads(pickle.dumps(result)) == result


def test_a_hundred_callers_fit_into_the_default_answer() -> None:
    many = [method(f"package.module{number}.Service", "handle") for number in range(100)]
    edges = tuple(call(each, SAVE, 1) for each in many)
    wire = engine_of(MemoryCalls(edges)).answer(TraceCallsRequest("v1", "save", "callers", 1))
    text = json.dumps(wire.to_wire(), separators=(",", ":"))
    assert len(wire.to_wire()["calls"]) > 90
    assert len(text) <= 30_000


def test_a_name_without_end_is_cut_wherever_it_is_shown() -> None:
    endless, near = method("m.T", "n" * 100_000), method("m.T", "o" * 100_000)
    twin = method("other.T", "o" * 100_000)
    graph = MemoryCalls((call(endless, SAVE, 1), call(near, SAVE, 2)), (twin,))
    engine = engine_of(graph, graph)
    for request in (
        TraceCallsRequest("v1", "save", "callers", 1),
        TraceCallsRequest("v1", endless.name, "callers", 1),
        CompareCallsRequest("v1", "v2", "save", "callers", 1),
    ):
        assert tokens(engine.answer(request).to_wire()) < 2_000
    ambiguous = refused(engine, TraceCallsRequest("v1", near.name, "callers", 1))
    assert tokens({**ambiguous.to_wire()["error"]["details"], "symbol": ""}) < 2_000
    assert len(ambiguous.message) < 2_500
