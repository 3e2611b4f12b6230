"""The calls around one symbol of one member."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from ..model import Scope
from ..ports.budget import CancelFlag
from ..ports.graph import CallEdge
from . import cursor
from .budget import Providers
from .call_notes import trace_note
from .calls import arguments_of, bounded, check_depth, check_edges, in_order, query_of, trace
from .coverage import of_members
from .evidence import cite, cited_row
from .requests import TraceCallsRequest
from .results import TraceCallsResult
from .rows import call_row
from .scope import resolve, scope_of, select
from .tokens import budget_of, fitting, room, rows_of, size

TOOL = "trace_calls"


def answer(
    providers: Providers, request: TraceCallsRequest, cancel: CancelFlag | None
) -> TraceCallsResult:
    """One page of the calls, in the provider's order.

    Raises INVALID_ARGUMENT, SYMBOL_NOT_FOUND (``near``), SYMBOL_AMBIGUOUS (``candidates``, each
    accepted back as the symbol), SOURCE_MISMATCH and GRAPH_PROVIDER_UNAVAILABLE.
    """
    check_depth(TOOL, request, context=request.context)
    limit = rows_of(request.limit, TOOL)
    max_tokens = budget_of(request.max_tokens, providers.max_tokens, TOOL)
    context = resolve(providers, request.context, cancel)
    chosen = select(context, request.repository, TOOL, symbol=request.symbol)
    query = query_of(TOOL, request, context=context.id)
    scope = scope_of(chosen, chosen.members[0])
    members = [(scope.member, scope.member.graph)]
    digested = cursor.digest(TOOL, members, [context.id, *arguments_of(query)])
    start, _ = cursor.read(request.cursor, TOOL, digested)
    graph = trace(TOOL, providers, scope, query, cancel)
    # Only these are read: a graph may hand out its edges lazily.
    window = graph.edges[start : start + limit]
    check_edges(scope, graph, query, window)
    found, cut = len(graph.edges), bounded(graph)
    empty = TraceCallsResult(
        context=chosen,
        evidence=(),
        coverage=of_members((graph.coverage,), cut=cut),
        symbol=graph.symbol,
        direction=str(query.direction),
        depth=query.depth,
        calls=(),
        total_matches=found if graph.total is None else graph.total,
        truncated=True,
        kinds=in_order(query.kinds),
        definition=graph.resolved,
        languages=graph.languages,
        untraced=graph.sites,
        total_is_exact=graph.exact,
        note=trace_note(graph, query),
    )
    kept = fitting(_sizes(scope, window), room(max_tokens, empty.to_wire()))
    end = start + kept
    return replace(
        empty,
        evidence=tuple(
            cite(scope.member, path, line, line) for path, line in places(window[:kept])
        ),
        calls=tuple(window[:kept]),
        truncated=end < found or cut,
        next_cursor=cursor.write(TOOL, digested, (end, 0)) if end < found else "",
    )


def places(edges: Iterable[CallEdge]) -> list[tuple[str, int]]:
    """The distinct places of ``edges``, in their order."""
    return list(dict.fromkeys((edge.path, edge.line) for edge in edges))


def _sizes(scope: Scope, edges: Sequence[CallEdge]) -> Iterator[int]:
    cited: set[tuple[str, int]] = set()
    for edge in edges:
        cost = size(call_row(edge)) + 1
        if (edge.path, edge.line) not in cited:
            cited.add((edge.path, edge.line))
            item = cite(scope.member, edge.path, edge.line, edge.line)
            cost += size(cited_row(item, several=False)) + 1
        yield cost
