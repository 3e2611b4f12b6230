"""One graph provider for members that different engines were built for."""

from collections.abc import Iterator, Mapping
from contextlib import ExitStack

from ..errors import QueryError, WireCode
from ..model import Scope
from ..ports.budget import Budget
from ..ports.graph import (
    CallEdge,
    CallGraph,
    EdgeKind,
    GraphExporter,
    GraphProvider,
    GraphSummary,
    TraceQuery,
)


class GraphByEngine:
    """Asks the provider of the engine that a member was built with.

    ``providers`` are by label (``embedded/1``), ``exporters`` those of them that can write a whole
    graph out; ``unbuilt`` answers for members that no builder saw, as embedders have them.
    """

    name = "graph"

    def __init__(
        self,
        providers: Mapping[str, GraphProvider],
        exporters: Mapping[str, GraphExporter],
        unbuilt: GraphProvider,
    ) -> None:
        self._providers = dict(providers)
        self._exporters = dict(exporters)
        self._unbuilt = unbuilt

    def trace(self, scope: Scope, query: TraceQuery, budget: Budget) -> CallGraph:
        """GRAPH_PROVIDER_UNAVAILABLE for an engine that is not here; else what it answers."""
        provider = self._of(scope)
        budget.provider = provider.name
        return provider.trace(scope, query, budget)

    def edges(self, scope: Scope, kinds: frozenset[EdgeKind], budget: Budget) -> Iterator[CallEdge]:
        """See the port; GRAPH_PROVIDER_UNAVAILABLE for an engine that can't write its graph out."""
        return self._exporter(scope).edges(scope, kinds, budget)

    def summary(self, scope: Scope, budget: Budget) -> GraphSummary:
        """See the port; GRAPH_PROVIDER_UNAVAILABLE for an engine that counts nothing."""
        return self._exporter(scope).summary(scope, budget)

    def close(self) -> None:
        """Close, once each, the providers that have a ``close``."""
        each = {id(provider): provider for provider in (*self._providers.values(), self._unbuilt)}
        with ExitStack() as stack:
            for provider in each.values():
                close = getattr(provider, "close", None)
                if callable(close):
                    stack.callback(close)

    def _of(self, scope: Scope) -> GraphProvider:
        artifact = scope.member.graph
        if artifact is None:
            return self._unbuilt
        provider = self._providers.get(artifact.label)
        if provider is None:
            raise _unavailable(
                scope,
                f"was built for the graph engine {artifact.label}, which this vacmcp does not have",
            )
        return provider

    def _exporter(self, scope: Scope) -> GraphExporter:
        artifact = scope.member.graph
        found = self._exporters.get(artifact.label) if artifact is not None else None
        if found is None:
            made = artifact.label if artifact is not None else "no engine"
            raise _unavailable(scope, f"has no call graph to write out: it was built for {made}")
        return found


def _unavailable(scope: Scope, why: str) -> QueryError:
    return QueryError(
        WireCode.GRAPH_PROVIDER_UNAVAILABLE,
        f'"{scope.repository}" in context "{scope.context}" {why}; '
        f"`vacmcp context rebuild {scope.context}` builds it for one that it has",
        {"context": scope.context, "repository": scope.repository},
    )
