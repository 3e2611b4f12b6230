"""What both tools of the call graph share: the question, the proof of its answer, its errors."""

import re
from collections.abc import Iterable, Mapping
from typing import Any

from ..errors import QueryError, WireCode, invalid_argument
from ..model import Scope
from ..ports.budget import CancelFlag
from ..ports.graph import (
    TRUSTED,
    CallEdge,
    CallGraph,
    Direction,
    EdgeKind,
    GraphProvider,
    Symbol,
    TraceQuery,
)
from .budget import Providers
from .requests import CompareCallsRequest, TraceCallsRequest
from .scope import check_coverage, check_place, check_revision, inside, mismatch, told
from .text import require_askable, shown_name

_DEEPEST = 5
_MOST_CANDIDATES = 30
_MOST_NEAR = 10
_NAMED = 3
_LAST_PART = re.compile(r"[^.:/#]+\W*\Z")


def check_depth(tool: str, request: TraceCallsRequest | CompareCallsRequest, **named: str) -> None:
    """Raise INVALID_ARGUMENT for a depth outside 1 to 5; ``named`` are the contexts."""
    if not 1 <= request.depth <= _DEEPEST:
        raise invalid_argument(
            f"{tool}: depth {request.depth} is outside 1-{_DEEPEST}",
            **named,
            symbol=request.symbol,
            depth=request.depth,
        )


def query_of(
    tool: str, request: TraceCallsRequest | CompareCallsRequest, **named: str
) -> TraceQuery:
    """What the graph is asked.

    Raises INVALID_ARGUMENT for a blank symbol, an unknown direction and unknown kinds.
    """
    if not request.symbol.strip():
        raise invalid_argument(f"{tool}: symbol is required", **named)
    require_askable(request.symbol, "symbol", tool)
    if request.direction not in list(Direction):
        raise invalid_argument(
            f'{tool}: direction "{request.direction}" is neither "callers" nor "callees"',
            **named,
            symbol=request.symbol,
            direction=request.direction,
        )
    kinds = _kinds(tool, request, named)
    return TraceQuery(request.symbol, Direction(request.direction), request.depth, kinds)


def in_order(kinds: Iterable[EdgeKind]) -> tuple[EdgeKind, ...]:
    """``kinds`` once each, the most certain first."""
    given = set(kinds)
    return tuple(kind for kind in EdgeKind if kind in given)


def arguments_of(query: TraceQuery) -> list[Any]:
    """What of a question a cursor is tied to."""
    kinds = [str(kind) for kind in in_order(query.kinds)]
    return [query.symbol, str(query.direction), query.depth, kinds]


def trace(
    tool: str,
    providers: Providers,
    scope: Scope,
    query: TraceQuery,
    cancel: CancelFlag | None,
    *,
    side: str = "",
) -> CallGraph:
    """What the graph of ``scope`` answers, of its commit; its edges are still to be checked.

    Raises SYMBOL_NOT_FOUND and SYMBOL_AMBIGUOUS in the engine's own words, which name ``side``.
    """
    provider = require_graph(tool, providers, scope)
    budget = providers.budgets.start("trace", provider, cancel)
    try:
        with told(context=scope.context, symbol=query.symbol):
            graph = provider.trace(scope, query, budget)
    except QueryError as error:
        where = f"{tool}: on the {side} side, " if side else f"{tool}: "
        raise _in_our_words(error, where, scope, query.symbol) from error
    budget.check_cancelled()
    check_revision(scope, graph.revision, "the call graph")
    check_coverage(scope, graph.coverage)
    return graph


def require_graph(tool: str, providers: Providers, scope: Scope) -> GraphProvider:
    """The provider; GRAPH_PROVIDER_UNAVAILABLE where there is none, or no graph of the member."""
    artifact = scope.member.graph
    unbuilt = artifact is not None and artifact.engine == "none"
    if providers.graph is not None and not unbuilt:
        return providers.graph
    reason = (
        f'no call graph was built for it; "vacmcp context rebuild {scope.context}" builds one'
        if unbuilt
        else "this server has no call graph provider"
    )
    raise QueryError(
        WireCode.GRAPH_PROVIDER_UNAVAILABLE,
        f'{tool}: context "{scope.context}", repository "{scope.repository}": {reason}',
        {"context": scope.context, "repository": scope.repository},
    )


def check_edges(
    scope: Scope, graph: CallGraph, query: TraceQuery, edges: Iterable[CallEdge]
) -> None:
    """Raise SOURCE_MISMATCH for an edge that no question of this kind has as its answer."""
    for edge in edges:
        check_place(scope, graph.revision, edge.path, edge.line)
        if edge.kind not in query.kinds:
            raise mismatch(
                scope, graph.revision, f"the call graph gave a call of kind {edge.kind} unasked"
            )
        for symbol in (edge.caller_symbol, edge.callee_symbol):
            _check_definition(scope, graph.revision, symbol)
    _check_definition(scope, graph.revision, graph.resolved)


def bounded(graph: CallGraph) -> bool:
    """Whether the walk stopped before it had every edge."""
    return not graph.exact or (graph.total is not None and graph.total > len(graph.edges))


def near_names(error: QueryError) -> list[str]:
    """The names that a provider found spelled alike, as many as help."""
    near = error.details.get("near")
    names = near[:_MOST_NEAR] if isinstance(near, list | tuple) else ()
    return [shown_name(str(name)) for name in names]


def suggestion(near: list[str]) -> str:
    """What to try in place of an unknown symbol."""
    if not near:
        return "search_code finds how it is spelled"
    return f"spelled alike: {', '.join(near[:_NAMED])}"


def _kinds(
    tool: str, request: TraceCallsRequest | CompareCallsRequest, named: Mapping[str, str]
) -> frozenset[EdgeKind]:
    accepted = [str(kind) for kind in EdgeKind]
    unknown = [kind for kind in dict.fromkeys(request.kinds) if kind not in accepted][:_NAMED]
    if unknown:
        raise invalid_argument(
            f"{tool}: kinds has {', '.join(map(repr, map(shown_name, unknown)))}; "
            f"it takes {', '.join(accepted)}",
            **named,
            symbol=request.symbol,
            kinds=[shown_name(kind) for kind in unknown],
            accepted=accepted,
        )
    return frozenset(map(EdgeKind, request.kinds)) or TRUSTED


def _check_definition(scope: Scope, actual: str, symbol: Symbol | None) -> None:
    # What is not in the tree has neither path nor line; everything else has both.
    if symbol is None or (not symbol.path and not symbol.line):
        return
    if symbol.line < 1 or not inside(symbol.path):
        raise mismatch(
            scope, actual, "the provider cites a definition outside the tree", path=symbol.path
        )


def _in_our_words(error: QueryError, where: str, scope: Scope, symbol: str) -> QueryError:
    if error.code is WireCode.SYMBOL_NOT_FOUND:
        near = near_names(error)
        lacking = f'{where}context "{scope.context}" has no symbol "{shown_name(symbol)}"'
        message = f"{lacking}; {suggestion(near)}"
        return QueryError(error.code, message, {**error.details, "near": near})
    if error.code is WireCode.SYMBOL_AMBIGUOUS:
        return _ambiguous(error, where, scope, symbol)
    return error


def _ambiguous(error: QueryError, where: str, scope: Scope, symbol: str) -> QueryError:
    given = error.details.get("candidates")
    rows = [_candidate(each) for each in given or () if isinstance(each, Mapping)]
    rows.sort(key=lambda row: (row.get("path", ""), row.get("line", 0), row["symbol"]))
    total = max(len(rows), int(error.details.get("total_candidates", 0)))
    shown = ", ".join(row["symbol"] for row in rows[:_NAMED])
    more = ", …" if total > _NAMED else ""
    narrow = (
        "; a type (Type.name) or a file (path:name) narrows it" if total > _MOST_CANDIDATES else ""
    )
    message = (
        f'{where}context "{scope.context}" has {total} symbols matching "{shown_name(symbol)}"; '
        f"ask again with one of the candidates: {shown}{more}{narrow}"
    )
    details = {**error.details, "candidates": rows[:_MOST_CANDIDATES], "total_candidates": total}
    return QueryError(error.code, message, details)


def _candidate(given: Mapping[str, Any]) -> dict[str, Any]:
    """A candidate with the keys of the original beside the provider's."""
    qualified = str(given.get("qualified_name", ""))
    kind = str(given.get("kind", ""))
    last = _LAST_PART.search(qualified)
    row = {
        "symbol": str(given.get("symbol") or qualified),
        "qualified_name": qualified,
        "name": given.get("name") or (last.group() if last else qualified),
        "label": kind.capitalize(),
        "kind": kind,
        "path": given.get("path", ""),
        "line": given.get("line", 0),
    }
    return {
        key: shown_name(value) if isinstance(value, str) else value
        for key, value in row.items()
        if value or key == "symbol"
    }
