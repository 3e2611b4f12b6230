"""The calls around one symbol of one member."""

from collections.abc import Iterator
from dataclasses import replace

from ..errors import QueryError, WireCode, invalid_argument
from ..model import Scope
from ..ports.budget import CancelFlag
from ..ports.graph import CallEdge, CallGraph, Direction, GraphProvider, TraceQuery
from . import cursor
from .budget import Providers
from .coverage import of_members
from .evidence import cite, cited_row
from .requests import CompareCallsRequest, TraceCallsRequest
from .results import TraceCallsResult
from .rows import call_row
from .scope import check_coverage, check_place, check_revision, resolve, scope_of, select, told
from .text import require_askable
from .tokens import budget_of, fitting, room, rows_of, size

TOOL = "trace_calls"
_DEEPEST = 5


def answer(
    providers: Providers, request: TraceCallsRequest, cancel: CancelFlag | None
) -> TraceCallsResult:
    """One page of the calls.

    Raises INVALID_ARGUMENT, SYMBOL_NOT_FOUND, SYMBOL_AMBIGUOUS (``candidates``, each accepted
    back as the symbol), SOURCE_MISMATCH and GRAPH_PROVIDER_UNAVAILABLE.
    """
    check_depth(TOOL, request, context=request.context)
    limit = rows_of(request.limit, TOOL)
    max_tokens = budget_of(request.max_tokens, providers.max_tokens, TOOL)
    context = resolve(providers, request.context, cancel)
    chosen = select(context, request.repository, TOOL, symbol=request.symbol)
    query = query_of(TOOL, request, context=context.id)
    scope = scope_of(chosen, chosen.members[0])
    members = [(scope.member, scope.member.graph)]
    arguments = [context.id, query.symbol, str(query.direction), query.depth]
    digested = cursor.digest(TOOL, members, arguments)
    start, _ = cursor.read(request.cursor, TOOL, digested)
    graph = trace(TOOL, providers, scope, query, cancel)
    edges = sorted(graph.edges, key=_order)
    empty = TraceCallsResult(
        context=chosen,
        evidence=(),
        coverage=of_members((graph.coverage,)),
        symbol=graph.symbol,
        direction=str(query.direction),
        depth=query.depth,
        calls=(),
        total_matches=len(edges),
        truncated=True,
    )
    window = edges[start : start + limit]
    kept = fitting(_sizes(scope, window), room(max_tokens, empty.to_wire()))
    end = start + kept
    return replace(
        empty,
        evidence=tuple(
            cite(scope.member, path, line, line) for path, line in places(window[:kept])
        ),
        calls=tuple(window[:kept]),
        truncated=end < len(edges),
        next_cursor=cursor.write(TOOL, digested, (end, 0)) if end < len(edges) else "",
    )


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
    """What the graph is asked; INVALID_ARGUMENT for a blank symbol or an unknown direction."""
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
    return TraceQuery(request.symbol, Direction(request.direction), request.depth)


def trace(
    tool: str, providers: Providers, scope: Scope, query: TraceQuery, cancel: CancelFlag | None
) -> CallGraph:
    """What the graph of ``scope`` answers, proved to be of its commit."""
    provider = _require_graph(tool, providers, scope)
    budget = providers.budgets.start("trace", provider, cancel)
    with told(context=scope.context, symbol=query.symbol):
        graph = provider.trace(scope, query, budget)
    budget.check_cancelled()
    check_revision(scope, graph.revision, "the call graph")
    check_coverage(scope, graph.coverage)
    for edge in graph.edges:
        check_place(scope, graph.revision, edge.path, edge.line)
    return graph


def places(edges: list[CallEdge]) -> list[tuple[str, int]]:
    """The distinct places of ``edges``, in their order."""
    return list(dict.fromkeys((edge.path, edge.line) for edge in edges))


def _require_graph(tool: str, providers: Providers, scope: Scope) -> GraphProvider:
    artifact = scope.member.graph
    unbuilt = artifact is not None and artifact.engine == "none"
    if providers.graph is not None and not unbuilt:
        return providers.graph
    reason = (
        f'no call graph was built for it, run "vacmcp context rebuild {scope.context}" with a '
        "version that builds one"
        if unbuilt
        else "this server has no call graph provider"
    )
    raise QueryError(
        WireCode.GRAPH_PROVIDER_UNAVAILABLE,
        f'{tool}: context "{scope.context}", repository "{scope.repository}": {reason}',
        {"context": scope.context, "repository": scope.repository},
    )


def _order(edge: CallEdge) -> tuple[str, str, str, int]:
    return edge.caller, edge.callee, edge.path, edge.line


def _sizes(scope: Scope, edges: list[CallEdge]) -> Iterator[int]:
    cited: set[tuple[str, int]] = set()
    for edge in edges:
        cost = size(call_row(edge)) + 1
        if (edge.path, edge.line) not in cited:
            cited.add((edge.path, edge.line))
            item = cite(scope.member, edge.path, edge.line, edge.line)
            cost += size(cited_row(item, several=False)) + 1
        yield cost
