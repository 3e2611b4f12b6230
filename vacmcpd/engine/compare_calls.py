"""Which calls around a symbol came and went between two revisions."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from ..errors import QueryError, WireCode
from ..model import Context, Evidence, Location
from ..ports.budget import CancelFlag
from ..ports.graph import CallGraph, TraceQuery
from . import cursor
from .budget import Providers
from .coverage import of_members
from .evidence import Side, evidence_row
from .requests import CompareCallsRequest
from .results import CompareCallsResult, Relation
from .scope import resolve, scope_of, select_sides
from .tokens import budget_of, fitting, room, rows_of, size
from .trace_calls import check_depth, query_of, trace

TOOL = "compare_calls"
_Key = tuple[str, str, str]


def answer(
    providers: Providers, request: CompareCallsRequest, cancel: CancelFlag | None
) -> CompareCallsResult:
    """One page of the relations: those of the from side in order, then those of the to side only.

    A relation is one (caller, callee, path), whatever its lines. A symbol that one side lacks is
    an answer; SYMBOL_NOT_FOUND when both do. Raises what trace_calls raises, with ``side`` in
    the details of SYMBOL_AMBIGUOUS.
    """
    named = {"from_context": request.from_context, "to_context": request.to_context}
    check_depth(TOOL, request, **named)
    limit = rows_of(request.limit, TOOL)
    max_tokens = budget_of(request.max_tokens, providers.max_tokens, TOOL)
    before = resolve(providers, request.from_context, cancel)
    after = resolve(providers, request.to_context, cancel)
    sides = select_sides(TOOL, (before, after), request.repository, symbol=request.symbol)
    query = query_of(TOOL, request, **named)
    digested = _digest(sides, query)
    start, _ = cursor.read(request.cursor, TOOL, digested)
    graphs = (
        _trace("from", providers, sides[0], query, cancel),
        _trace("to", providers, sides[1], query, cancel),
    )
    if graphs == (None, None):
        raise _found_nowhere(query.symbol, named)
    relations = _relations(*graphs)
    window = relations[start : start + limit]
    empty = _result(sides, query, graphs, ())
    kept = fitting(_sizes(window), room(max_tokens, empty.to_wire()))
    end = start + kept
    return replace(
        _result(sides, query, graphs, window[:kept]),
        truncated=end < len(relations),
        next_cursor=cursor.write(TOOL, digested, (end, 0)) if end < len(relations) else "",
    )


def _digest(sides: tuple[Context, Context], query: TraceQuery) -> str:
    members = [(side.members[0], side.members[0].graph) for side in sides]
    named = [side.id for side in sides]
    return cursor.digest(TOOL, members, [*named, query.symbol, str(query.direction), query.depth])


def _trace(
    side: str, providers: Providers, context: Context, query: TraceQuery, cancel: CancelFlag | None
) -> CallGraph | None:
    scope = scope_of(context, context.members[0])
    try:
        return trace(TOOL, providers, scope, query, cancel)
    except QueryError as error:
        if error.code is WireCode.SYMBOL_NOT_FOUND:
            return None
        if error.code is WireCode.SYMBOL_AMBIGUOUS:
            message = f"{TOOL}: on the {side} side, {error.message}"
            raise QueryError(error.code, message, {**error.details, "side": side}) from error
        raise


def _found_nowhere(symbol: str, named: dict[str, str]) -> QueryError:
    return QueryError(
        WireCode.SYMBOL_NOT_FOUND,
        f'{TOOL}: neither "{named["from_context"]}" nor "{named["to_context"]}" has the symbol '
        f'"{symbol}"; search_code finds how it is spelled',
        {**named, "symbol": symbol},
    )


def _relations(before: CallGraph | None, after: CallGraph | None) -> list[Relation]:
    old, new = _sites(before), _sites(after)
    keys = [*old, *(key for key in new if key not in old)]
    return [Relation(*key, _evidence(old, key), _evidence(new, key)) for key in keys]


def _sites(graph: CallGraph | None) -> dict[_Key, list[int]]:
    """The lines of each relation of one side, both in order."""
    sites: dict[_Key, set[int]] = {}
    for edge in graph.edges if graph else ():
        sites.setdefault((edge.caller, edge.callee, edge.path), set()).add(edge.line)
    return {key: sorted(sites[key]) for key in sorted(sites)}


def _evidence(sites: dict[_Key, list[int]], key: _Key) -> tuple[Evidence, ...]:
    return tuple(Evidence(Location(key[2], line, line)) for line in sites.get(key, ()))


def _result(
    sides: tuple[Context, Context],
    query: TraceQuery,
    graphs: tuple[CallGraph | None, CallGraph | None],
    relations: Sequence[Relation],
) -> CompareCallsResult:
    before, after = graphs
    from_evidence = _distinct(relation.from_evidence for relation in relations)
    to_evidence = _distinct(relation.to_evidence for relation in relations)
    return CompareCallsResult(
        from_side=Side(sides[0], from_evidence) if before else None,
        to_side=Side(sides[1], to_evidence) if after else None,
        coverage=of_members(graph.coverage for graph in graphs if graph),
        requested_symbol=query.symbol,
        from_resolved_symbol=before.symbol if before else "",
        to_resolved_symbol=after.symbol if after else "",
        added=tuple(item for item in relations if not item.from_evidence),
        removed=tuple(item for item in relations if not item.to_evidence),
        unchanged=tuple(item for item in relations if item.from_evidence and item.to_evidence),
        truncated=True,
    )


def _distinct(evidence: Iterable[tuple[Evidence, ...]]) -> tuple[Evidence, ...]:
    return tuple(dict.fromkeys(item for items in evidence for item in items))


def _sizes(relations: Sequence[Relation]) -> Iterator[int]:
    cited: set[tuple[str, Evidence]] = set()
    for relation in relations:
        cost = size(relation.to_wire()) + 1
        for side, items in (("from", relation.from_evidence), ("to", relation.to_evidence)):
            fresh = [item for item in items if (side, item) not in cited]
            cited.update((side, item) for item in fresh)
            cost += sum(size(evidence_row(item)) + 1 for item in fresh)
        yield cost
