"""Call graphs in memory."""

from collections.abc import Iterable, Mapping

from ..errors import QueryError, WireCode
from ..model import MemberCoverage, Scope
from ..ports.budget import Budget
from ..ports.graph import CallEdge, CallGraph, Direction, TraceQuery


class MemoryGraph:
    """A GraphProvider over the edges given for each (repository, revision).

    A symbol is asked for as an edge spells it, or by its last dotted part where that names only
    one: ``Keep`` for ``shop.cart.Keep``.
    """

    def __init__(
        self, graphs: Mapping[tuple[str, str], Iterable[CallEdge]], *, name: str = "memory"
    ) -> None:
        self.name = name
        self._graphs = {key: tuple(edges) for key, edges in graphs.items()}

    def trace(self, scope: Scope, query: TraceQuery, budget: Budget) -> CallGraph:
        """The calls reached within the depth, each once."""
        edges = self._graphs.get((scope.repository, scope.revision))
        if edges is None:
            raise QueryError(
                WireCode.GRAPH_PROVIDER_UNAVAILABLE,
                f'no call graph was built for repository "{scope.repository}"',
                {"repository": scope.repository},
            )
        symbol = _symbol(edges, query.symbol)
        files = len({edge.path for edge in edges})
        return CallGraph(
            revision=scope.revision,
            symbol=symbol,
            edges=_reached(edges, symbol, query, budget),
            coverage=MemberCoverage(scope.repository, scope.revision, files, files),
        )


def _symbol(edges: tuple[CallEdge, ...], asked: str) -> str:
    names = {name for edge in edges for name in (edge.caller, edge.callee)}
    if asked in names:
        return asked
    candidates = sorted(name for name in names if name.rpartition(".")[2] == asked)
    if len(candidates) == 1:
        return candidates[0]
    if not candidates:
        raise QueryError(
            WireCode.SYMBOL_NOT_FOUND, f'no symbol "{asked}" in the call graph', {"symbol": asked}
        )
    raise QueryError(
        WireCode.SYMBOL_AMBIGUOUS,
        f'{len(candidates)} symbols are called "{asked}"; ask for one of the candidates',
        {"symbol": asked, "candidates": [{"qualified_name": name} for name in candidates]},
    )


def _reached(
    edges: tuple[CallEdge, ...], symbol: str, query: TraceQuery, budget: Budget
) -> tuple[CallEdge, ...]:
    frontier, seen, reached = {symbol}, {symbol}, dict[CallEdge, None]()
    for _ in range(query.depth):
        budget.check()
        found: set[str] = set()
        for edge in edges:
            here, there = edge.caller, edge.callee
            if query.direction is Direction.CALLERS:
                here, there = there, here
            if here in frontier:
                reached[edge] = None
                found.add(there)
        frontier = found - seen
        seen |= found
    return tuple(reached)
