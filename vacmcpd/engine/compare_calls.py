"""Which calls around a symbol came and went between two revisions."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from ..errors import QueryError, WireCode, invalid_argument
from ..model import Context, Evidence, Location
from ..ports.budget import CancelFlag
from ..ports.graph import (
    CallEdge,
    CallGraph,
    EdgeKind,
    LanguageCoverage,
    Symbol,
    Tier,
    TraceQuery,
)
from . import cursor
from .budget import Providers
from .call_notes import comparison_note
from .calls import (
    arguments_of,
    bounded,
    check_depth,
    check_edges,
    in_order,
    near_names,
    query_of,
    require_graph,
    suggestion,
    trace,
)
from .coverage import of_members
from .evidence import Side, evidence_row
from .requests import CompareCallsRequest
from .results import CompareCallsResult, Relation
from .scope import resolve, scope_of, select_sides
from .tokens import budget_of, fitting, room, rows_of, size

TOOL = "compare_calls"
_Key = tuple[str, str, str]
_Graphs = tuple[CallGraph | None, CallGraph | None]


@dataclass(slots=True)
class _Sites:
    """One relation on one side: an edge of it, the lines it stands on, the kinds it has."""

    edge: CallEdge
    lines: set[int] = field(default_factory=set)
    kinds: set[EdgeKind] = field(default_factory=set)


def answer(
    providers: Providers, request: CompareCallsRequest, cancel: CancelFlag | None
) -> CompareCallsResult:
    """One page of the relations: those of the from side in order, then those of the to side only.

    A relation is one (caller, callee, path), whatever its lines; functions are told apart by
    their qualified names where the graph knows them. A symbol that one side lacks is an answer;
    SYMBOL_NOT_FOUND when both do. Raises what trace_calls raises, with ``side`` in the details
    of SYMBOL_AMBIGUOUS; GRAPH_PROVIDER_UNAVAILABLE when the sides were built by different
    engines; INVALID_ARGUMENT for a walk that is too large to compare whole.
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
    _require_one_engine(providers, sides)
    graphs = _both(providers, sides, query, cancel)
    relations = _relations(*graphs)
    window = relations[start : start + limit]
    empty = _result(sides, query, graphs, (), comparison_note(graphs, query, empty=not relations))
    kept = fitting(_sizes(window), room(max_tokens, empty.to_wire()))
    end = start + kept
    return replace(
        _result(sides, query, graphs, window[:kept], empty.note),
        truncated=end < len(relations),
        next_cursor=cursor.write(TOOL, digested, (end, 0)) if end < len(relations) else "",
    )


def _digest(sides: tuple[Context, Context], query: TraceQuery) -> str:
    members = [(side.members[0], side.members[0].graph) for side in sides]
    return cursor.digest(TOOL, members, [*(side.id for side in sides), *arguments_of(query)])


def _require_one_engine(providers: Providers, sides: tuple[Context, Context]) -> None:
    """Raise GRAPH_PROVIDER_UNAVAILABLE unless both graphs are there and of one engine version."""
    labels = []
    for side in sides:
        scope = scope_of(side, side.members[0])
        require_graph(TOOL, providers, scope)
        artifact = scope.member.graph
        labels.append(artifact.label if artifact else "an unknown engine")
    if labels[0] == labels[1]:
        return
    before, after = (side.id for side in sides)
    raise QueryError(
        WireCode.GRAPH_PROVIDER_UNAVAILABLE,
        f'{TOOL}: the call graph of "{before}" was built by {labels[0]} and that of "{after}" by '
        f"{labels[1]}, so that they differ where the code does not; "
        f'"vacmcp context rebuild {before}" and "vacmcp context rebuild {after}" build both alike',
        {
            "from_context": before,
            "to_context": after,
            "repository": sides[0].members[0].repository,
            "from_engine": labels[0],
            "to_engine": labels[1],
        },
    )


def _both(
    providers: Providers,
    sides: tuple[Context, Context],
    query: TraceQuery,
    cancel: CancelFlag | None,
) -> _Graphs:
    """Both graphs, None for one without the symbol. Raises SYMBOL_NOT_FOUND when both are."""
    graphs: list[CallGraph | None] = []
    near: list[str] = []
    for side, context in zip(("from", "to"), sides, strict=True):
        try:
            graphs.append(_trace(side, providers, context, query, cancel))
        except QueryError as error:
            if error.code is not WireCode.SYMBOL_NOT_FOUND:
                raise
            graphs.append(None)
            near += [name for name in near_names(error) if name not in near]
    if graphs == [None, None]:
        before, after = (side.id for side in sides)
        raise QueryError(
            WireCode.SYMBOL_NOT_FOUND,
            f'{TOOL}: neither "{before}" nor "{after}" has the symbol "{query.symbol}"; '
            f"{suggestion(near)}",
            {"from_context": before, "to_context": after, "symbol": query.symbol, "near": near},
        )
    return graphs[0], graphs[1]


def _trace(
    side: str, providers: Providers, context: Context, query: TraceQuery, cancel: CancelFlag | None
) -> CallGraph:
    scope = scope_of(context, context.members[0])
    try:
        graph = trace(TOOL, providers, scope, query, cancel, side=side)
    except QueryError as error:
        if error.code is WireCode.SYMBOL_AMBIGUOUS:
            details = {**error.details, "side": side}
            raise QueryError(error.code, error.message, details) from error
        raise
    if bounded(graph):
        total = graph.total if graph.total is not None else len(graph.edges)
        raise invalid_argument(
            f'{TOOL}: on the {side} side, {total} or more calls are around "{query.symbol}" within '
            f"depth {query.depth}, too many to compare; ask for a smaller depth, or for one of "
            "the functions around it",
            context=context.id,
            symbol=query.symbol,
            depth=query.depth,
            side=side,
            total=total,
        )
    check_edges(scope, graph, query, graph.edges)
    return graph


def _relations(before: CallGraph | None, after: CallGraph | None) -> list[Relation]:
    old, new = _sides_sites(before), _sides_sites(after)
    keys = [*old, *(key for key in new if key not in old)]
    return [_relation(key, old.get(key), new.get(key)) for key in keys]


def _relation(key: _Key, old: _Sites | None, new: _Sites | None) -> Relation:
    shown = old or new
    assert shown is not None
    kinds = (old.kinds if old else set()) | (new.kinds if new else set())
    return Relation(
        shown.edge.caller,
        shown.edge.callee,
        key[2],
        _evidence(key[2], old),
        _evidence(key[2], new),
        caller_qualified_name=_qualified(shown.edge.caller_symbol),
        callee_qualified_name=_qualified(shown.edge.callee_symbol),
        kinds=in_order(kinds),
    )


def _sides_sites(graph: CallGraph | None) -> dict[_Key, _Sites]:
    """The relations of one side, by bare caller, bare callee and path, then qualified."""
    sites: dict[_Key, _Sites] = {}
    for edge in graph.edges if graph else ():
        found = sites.setdefault(_key(edge), _Sites(edge))
        found.lines.add(edge.line)
        found.kinds.add(edge.kind)
    return {key: sites[key] for key in sorted(sites, key=lambda key: _order(sites[key], key))}


def _order(sites: _Sites, key: _Key) -> tuple[str, str, str, str, str]:
    return sites.edge.caller, sites.edge.callee, key[2], key[0], key[1]


def _key(edge: CallEdge) -> _Key:
    return (
        _qualified(edge.caller_symbol) or edge.caller,
        _qualified(edge.callee_symbol) or edge.callee,
        edge.path,
    )


def _qualified(symbol: Symbol | None) -> str:
    return symbol.qualified_name if symbol else ""


def _evidence(path: str, sites: _Sites | None) -> tuple[Evidence, ...]:
    lines = sorted(sites.lines) if sites else ()
    return tuple(Evidence(Location(path, line, line)) for line in lines)


def _result(
    sides: tuple[Context, Context],
    query: TraceQuery,
    graphs: _Graphs,
    relations: Sequence[Relation],
    note: str,
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
        kinds=in_order(query.kinds),
        definitions=(before.resolved if before else None, after.resolved if after else None),
        languages=_tiers(graph.languages for graph in graphs if graph),
        untraced=(before.sites if before else None, after.sites if after else None),
        note=note,
    )


def _tiers(languages: Iterable[tuple[LanguageCoverage, ...]]) -> tuple[tuple[str, Tier], ...]:
    """Both sides' languages; one engine has one tier for each."""
    return tuple(dict.fromkeys((each.name, each.tier) for side in languages for each in side))


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
