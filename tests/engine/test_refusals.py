"""Every code of the wire, the order of the checks, and hostile text."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import vacmcpd
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
from vacmcpd.engine.tokens import size
from vacmcpd.errors import BuildCode, OperationTimeout, QueryError, WireCode
from vacmcpd.model import Artifact, ArtifactKind, Context, Member
from vacmcpd.ports.graph import CallEdge
from vacmcpd.testing.contexts import MemoryContexts, pinned
from vacmcpd.testing.graph import MemoryGraph
from vacmcpd.testing.source import MemoryCommit, commit_id

FIRST, SECOND, SIDE = commit_id("first"), commit_id("second"), commit_id("side")


def refused(engine: Engine, request: Request) -> QueryError:
    with pytest.raises(QueryError) as failure:
        engine.answer(request)
    return failure.value


REFUSALS: list[tuple[str, Request, str, dict[str, Any]]] = [
    ("unknown", SearchCodeRequest("v9", "q"), "CONTEXT_NOT_FOUND", {"context": "v9"}),
    ("not trimmed", GetCodeRequest(" v1", "f", 1, 1), "CONTEXT_NOT_FOUND", {"context": " v1"}),
    ("empty id", SearchHistoryRequest(""), "CONTEXT_NOT_FOUND", {"context": ""}),
    (
        "context before query",
        SearchCodeRequest("v9", " "),
        "CONTEXT_NOT_FOUND",
        {"context": "v9"},
    ),
    ("blank query", SearchCodeRequest("v1", " \t"), "INVALID_ARGUMENT", {"context": "v1"}),
    (
        "foreign repository",
        SearchCodeRequest("both", "q", repository="x"),
        "INVALID_ARGUMENT",
        {"context": "both", "repository": "x", "repositories": ["demo", "lib"]},
    ),
    (
        "get_code of several",
        GetCodeRequest("both", "f", 1, 1),
        "INVALID_ARGUMENT",
        {"context": "both", "path": "f", "repositories": ["demo", "lib"]},
    ),
    (
        "trace of several",
        TraceCallsRequest("both", "s", "callers", 1, repository="  "),
        "INVALID_ARGUMENT",
        {"context": "both", "symbol": "s", "repositories": ["demo", "lib"]},
    ),
    (
        "compare to several",
        CompareCodeRequest("v1", "both", "f"),
        "INVALID_ARGUMENT",
        {"context": "both", "side": "to", "repositories": ["demo", "lib"]},
    ),
    (
        "compare from several",
        CompareCallsRequest("both", "v1", "s", "callers", 1),
        "INVALID_ARGUMENT",
        {"context": "both", "side": "from", "repositories": ["demo", "lib"]},
    ),
    (
        "two repositories",
        CompareCodeRequest("v1", "lib", "f"),
        "INVALID_ARGUMENT",
        {
            "from_context": "v1",
            "to_context": "lib",
            "from_repository": "demo",
            "to_repository": "lib",
        },
    ),
    (
        "calls of two repositories",
        CompareCallsRequest("v1", "lib", "s", "callers", 1),
        "INVALID_ARGUMENT",
        {
            "from_context": "v1",
            "to_context": "lib",
            "from_repository": "demo",
            "to_repository": "lib",
            "symbol": "s",
        },
    ),
    (
        "from before to",
        CompareCodeRequest("a", "b", "/"),
        "CONTEXT_NOT_FOUND",
        {"context": "a"},
    ),
    ("to before path", CompareCodeRequest("v1", "b", "/"), "CONTEXT_NOT_FOUND", {"context": "b"}),
    ("blank path", GetCodeRequest("v1", " ", 0, 0), "INVALID_ARGUMENT", {}),
    ("path before range", GetCodeRequest("v1", "/f", 0, 0), "INVALID_ARGUMENT", {"path": "/f"}),
    (
        "escaping",
        GetCodeRequest("v1", "a/../../f", 1, 1),
        "INVALID_ARGUMENT",
        {"path": "a/../../f"},
    ),
    ("compare escaping", CompareCodeRequest("v1", "v2", ".."), "INVALID_ARGUMENT", {"path": ".."}),
    (
        "range from zero",
        GetCodeRequest("v1", "./app.py", 0, 1),
        "INVALID_ARGUMENT",
        {"path": "app.py", "start_line": 0, "end_line": 1},
    ),
    (
        "backwards",
        GetCodeRequest("v1", "app.py", 2, 1),
        "INVALID_ARGUMENT",
        {"path": "app.py", "start_line": 2, "end_line": 1},
    ),
    *(
        (
            f"lines to {end}",
            GetCodeRequest("v1", "app.py", 1, end),
            "INVALID_ARGUMENT",
            {
                "context": "v1",
                "path": "app.py",
                "revision": FIRST,
                "start_line": 1,
                "end_line": end,
                "line_count": 2,
            },
        )
        for end in (3, 10**6, 10**30)
    ),
    *(
        (
            kind,
            GetCodeRequest("v1", path, 1, 1),
            "INVALID_ARGUMENT",
            {"context": "v1", "path": path, "revision": FIRST, "kind": kind},
        )
        for kind, path in (
            ("missing", "new*.py"),
            ("directory", "odd"),
            ("directory", "."),
            ("submodule", "odd/module"),
        )
    ),
    (
        "missing on both sides",
        CompareCodeRequest("v1", "v2", "*.py"),
        "INVALID_ARGUMENT",
        {"path": "*.py", "from_revision": FIRST, "to_revision": SECOND, "kind": "missing"},
    ),
    *(
        (
            f"comparing a {kind}",
            CompareCodeRequest("v1", "v2", path),
            "INVALID_ARGUMENT",
            {"path": path, "from_revision": FIRST, "to_revision": SECOND, "kind": kind},
        )
        for kind, path in (("directory", "odd"), ("submodule", "odd/module"))
    ),
    (
        "depth before context",
        TraceCallsRequest("v9", "", "", 6),
        "INVALID_ARGUMENT",
        {"context": "v9", "symbol": "", "depth": 6},
    ),
    (
        "depth before both contexts",
        CompareCallsRequest("a", "b", "s", "", 0),
        "INVALID_ARGUMENT",
        {"from_context": "a", "to_context": "b", "symbol": "s", "depth": 0},
    ),
    (
        "blank symbol",
        TraceCallsRequest("v1", " ", "sideways", 1),
        "INVALID_ARGUMENT",
        {"context": "v1"},
    ),
    (
        "direction",
        TraceCallsRequest("v1", "s", "Callers", 1),
        "INVALID_ARGUMENT",
        {"context": "v1", "symbol": "s", "direction": "Callers"},
    ),
    (
        "no symbol",
        TraceCallsRequest("v1", "nowhere", "callers", 1),
        "SYMBOL_NOT_FOUND",
        {"context": "v1", "symbol": "nowhere", "near": []},
    ),
    (
        "no symbol on either side",
        CompareCallsRequest("v1", "v2", "nowhere", "callers", 1),
        "SYMBOL_NOT_FOUND",
        {"from_context": "v1", "to_context": "v2", "symbol": "nowhere", "near": []},
    ),
    ("limit", SearchHistoryRequest("v1", limit=-1), "INVALID_ARGUMENT", {"limit": -1}),
    ("rows", SearchCodeRequest("v1", "q", limit=1_001), "INVALID_ARGUMENT", {"limit": 1_001}),
    *(
        (
            f"mode {mode}",
            SearchCodeRequest("v9", "q", mode=mode),
            "INVALID_ARGUMENT",
            {"mode": mode, "accepted": ["zoekt", "literal", "regex"]},
        )
        for mode in ("fuzzy", "Literal", " ")
    ),
    *(
        (
            f"{lines} context lines",
            SearchCodeRequest("v9", "q", context_lines=lines),
            "INVALID_ARGUMENT",
            {"context_lines": lines},
        )
        for lines in (-1, 11)
    ),
    (
        "blank literal",
        SearchCodeRequest("v1", " \n", mode="literal"),
        "INVALID_ARGUMENT",
        {"context": "v1"},
    ),
    (
        "few tokens",
        GetCodeRequest("v1", "f", 1, 1, max_tokens=255),
        "INVALID_ARGUMENT",
        {"max_tokens": 255},
    ),
    (
        "many tokens",
        CompareCodeRequest("v1", "v2", "f", max_tokens=25_001),
        "INVALID_ARGUMENT",
        {"max_tokens": 25_001},
    ),
    ("NUL in a path", GetCodeRequest("v1", "a\0b", 1, 1), "INVALID_ARGUMENT", {"path": "a\ufffdb"}),
    (
        "NUL in a query",
        SearchCodeRequest("v1", "a\0b"),
        "INVALID_ARGUMENT",
        {"argument": "query"},
    ),
    (
        "surrogate in a symbol",
        SearchHistoryRequest("v1", symbol="\ud800"),
        "INVALID_ARGUMENT",
        {"argument": "symbol"},
    ),
]


@pytest.mark.parametrize(
    ("request_", "code", "details"),
    [case[1:] for case in REFUSALS],
    ids=[case[0] for case in REFUSALS],
)
def test_a_refusal_has_its_code_and_details(
    engine: Engine, request_: Request, code: str, details: dict[str, Any]
) -> None:
    error = refused(engine, request_)
    assert str(error.code) == code
    assert error.details == details


def test_an_ambiguous_symbol_names_candidates_that_are_accepted_back(engine: Engine) -> None:
    error = refused(engine, TraceCallsRequest("v2", "keep", "callers", 1))
    assert error.code is WireCode.SYMBOL_AMBIGUOUS
    assert error.details["context"] == "v2"
    names = [candidate["qualified_name"] for candidate in error.details["candidates"]]
    assert names == ["app.keep", "new.keep"]
    for name in names:
        answer = engine.trace_calls(TraceCallsRequest("v2", name, "callers", 1))
        assert answer.to_wire()["symbol"] == name


def test_an_ambiguous_side_of_a_comparison_is_named(engine: Engine) -> None:
    error = refused(engine, CompareCallsRequest("v1", "v2", "keep", "callers", 1))
    assert error.code is WireCode.SYMBOL_AMBIGUOUS
    assert (error.details["side"], error.details["context"]) == ("to", "v2")
    assert "on the to side" in error.message


def test_a_graph_that_is_missing_on_one_side_fails_the_comparison(
    build: Callable[..., Engine],
) -> None:
    graph = MemoryGraph({("demo", FIRST): [CallEdge("a", "b", "f", 1)]})
    error = refused(build(graph=graph), CompareCallsRequest("v1", "v2", "a", "callees", 1))
    assert error.code is WireCode.GRAPH_PROVIDER_UNAVAILABLE


@pytest.mark.parametrize("tool", ["trace", "compare"])
def test_a_member_without_a_built_graph_names_the_repairing_command(
    build: Callable[..., Engine], tool: str
) -> None:
    none = Artifact(ArtifactKind.GRAPH, "none", "0", "", FIRST)
    contexts = MemoryContexts([Context("v1", (Member("demo", "main", FIRST, graph=none),))])
    request: Request = TraceCallsRequest("v1", "s", "callers", 1)
    if tool == "compare":
        request = CompareCallsRequest("v1", "v1", "s", "callers", 1)
    error = refused(build(contexts=contexts), request)
    assert error.code is WireCode.GRAPH_PROVIDER_UNAVAILABLE
    assert "vacmcp context rebuild v1" in error.message
    assert error.details == {"context": "v1", "repository": "demo"}


@pytest.mark.parametrize(
    ("context", "field"),
    [
        (Context("c", (Member("", "b", FIRST),)), "repository"),
        (Context("c", (Member("r", "", FIRST),)), "branch"),
        (Context("c", (Member("r", "b", "main"),)), "revision"),
        (Context("c", (Member("r", "b", FIRST[:12]),)), "revision"),
        (Context("c", (Member("r", "b", FIRST), Member("r", "b", SECOND))), "repository"),
    ],
)
def test_a_context_that_its_source_left_incomplete_is_refused(context: Context, field: str) -> None:
    error = refused(Engine(MemoryContexts([context])), SearchCodeRequest("c", "q"))
    assert error.code is WireCode.INVALID_ARGUMENT
    assert error.details == {"context": "c", "field": field}


def test_a_context_without_a_member_is_refused() -> None:
    error = refused(Engine(MemoryContexts([Context("c", ())])), SearchCodeRequest("c", "q"))
    assert (error.code, error.details) == (WireCode.INVALID_ARGUMENT, {"context": "c"})


def test_a_pinned_commit_that_is_gone_is_a_source_mismatch(build: Callable[..., Engine]) -> None:
    engine = build(contexts=MemoryContexts([pinned("gone", ("demo", "main", "f" * 40))]))
    for request in (
        SearchCodeRequest("gone", "q"),
        GetCodeRequest("gone", "f", 1, 1),
        CompareCodeRequest("gone", "gone", "f"),
        SearchHistoryRequest("gone"),
    ):
        error = refused(engine, request)
        assert error.code is WireCode.SOURCE_MISMATCH
        assert error.details["declared_revision"] == "f" * 40
        assert error.details["actual_revision"] is None


def test_one_failing_member_fails_the_call(
    build: Callable[..., Engine], contexts: list[Context]
) -> None:
    half = pinned("half", ("demo", "main", SECOND), ("lib", "main", "f" * 40))
    engine = build(contexts=MemoryContexts([*contexts, half]))
    for request in (SearchCodeRequest("half", "handler"), SearchHistoryRequest("half")):
        error = refused(engine, request)
        assert (error.code, error.details["repository"]) == (WireCode.SOURCE_MISMATCH, "lib")


HOSTILE = ["\ud800", "a\udfffb", "\0", "a\0b", "\udce9\udc00", "'; --", "*" * 5_000, "\n\r\u2028"]


def _hostile_requests(text: str) -> Iterator[Request]:
    yield SearchCodeRequest(text, text, text, cursor=text)
    yield SearchCodeRequest("both", text, cursor=text)
    yield SearchCodeRequest("both", "q", text)
    yield SearchCodeRequest("both", "q", mode=text)
    yield SearchCodeRequest("both", text, mode="literal")
    yield TraceCallsRequest(text, text, text, 1, text)
    yield TraceCallsRequest("v1", text, "callers", 1)
    yield TraceCallsRequest("v1", "s", text, 1)
    yield TraceCallsRequest("v1", text, "callers", 9)
    yield GetCodeRequest(text, text, 1, 1, text)
    yield GetCodeRequest("v1", text, 1, 1)
    yield GetCodeRequest("v1", "/" + text, 1, 1)
    yield CompareCodeRequest(text, text, text, text)
    yield CompareCodeRequest("v1", "v2", text, cursor=text)
    yield CompareCallsRequest(text, text, text, text, 1, text)
    yield CompareCallsRequest("v1", "v2", text, "callees", 1)
    yield SearchHistoryRequest(text, text, text, text, text)
    yield SearchHistoryRequest("v1", query=text)
    yield SearchHistoryRequest("v1", symbol=text)
    yield SearchHistoryRequest("v1", path=text)


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_is_answered_or_refused_in_valid_unicode(engine: Engine, text: str) -> None:
    for request in _hostile_requests(text):
        try:
            wire = engine.answer(request).to_wire()
        except QueryError as error:
            wire = error.to_wire()
        # Raises UnicodeEncodeError for a lone surrogate anywhere.
        assert size(wire) > 0


def test_lone_surrogates_of_a_provider_are_replaced() -> None:
    dirty = Context("c\ud800", (Member("r\ud800", "b\ud800", FIRST),))
    engine = Engine(MemoryContexts([dirty]))
    wire = engine.list_contexts(ListContextsRequest()).to_wire()
    assert wire["contexts"][0]["id"] == "c\ufffd"
    assert size(wire) > 0


def test_no_refusal_holds_a_path_of_this_machine(engine: Engine) -> None:
    here = str(Path(vacmcpd.__file__).parent)
    for _, request, _, _ in REFUSALS:
        assert here not in str(refused(engine, request).to_wire())


def test_every_wire_code_is_produced_and_the_reserved_one_never(
    build: Callable[..., Engine], repositories: dict[str, list[MemoryCommit]]
) -> None:
    from vacmcpd.testing.source import MemorySource

    class Late(MemorySource):
        def read(self, *arguments: Any) -> Any:
            raise OperationTimeout("read", "late", 30.0)

    class Unborn(MemoryContexts):
        def resolve(self, *arguments: Any) -> Any:
            raise QueryError(WireCode.REVISION_NOT_FOUND, "no such revision", {"revision": "x"})

    class Plain:
        name = "plain"

        def read(self, *arguments: Any) -> Any:
            raise AssertionError

    gone = MemoryContexts([pinned("gone", ("demo", "main", "f" * 40))])
    trace = TraceCallsRequest("v2", "keep", "callers", 1)
    asked: list[tuple[Engine, Request]] = [
        (build(), SearchCodeRequest("v9", "q")),
        (build(source=None), GetCodeRequest("v1", "f", 1, 1)),
        (build(contexts=Unborn()), SearchCodeRequest("v1", "q")),
        (build(), TraceCallsRequest("v1", "nowhere", "callers", 1)),
        (build(), trace),
        (build(search=None), SearchCodeRequest("v1", "q")),
        (build(graph=None), trace),
        (build(contexts=gone), SearchCodeRequest("gone", "q")),
        (build(), SearchCodeRequest("v1", "")),
        (build(source=Plain()), CompareCodeRequest("v1", "v2", "f")),
        (build(source=Plain()), SearchHistoryRequest("v1")),
        (build(source=Late(repositories)), GetCodeRequest("v1", "f", 1, 1)),
    ]
    produced = [refused(engine, request).code for engine, request in asked]
    assert sorted(produced) == sorted(set(WireCode) - {WireCode.CONTEXT_AMBIGUOUS})


def test_no_module_raises_the_reserved_code() -> None:
    package = Path(vacmcpd.__file__).parent
    naming = [
        path.relative_to(package).as_posix()
        for path in package.rglob("*.py")
        if "CONTEXT_AMBIGUOUS" in path.read_text(encoding="utf-8")
    ]
    assert naming == ["errors.py"]


def test_every_code_is_documented() -> None:
    document = Path(__file__).parents[2] / "docs" / "errors.md"
    described = set(re.findall(r"^\| `([A-Z_]+)` \|", document.read_text(encoding="utf-8"), re.M))
    assert described == {str(code) for code in [*WireCode, *BuildCode]}
