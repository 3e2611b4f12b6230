"""One search provider for members that different engines were built for."""

from collections.abc import Mapping
from contextlib import ExitStack

from ..errors import QueryError, WireCode
from ..model import Scope
from ..ports.budget import Budget
from ..ports.search import SearchPage, SearchProvider, SearchQuery


class SearchByEngine:
    """Asks the provider of the engine that a member was built with.

    ``providers`` are by label (``embedded/1``); ``unbuilt`` answers for members that no builder
    saw, as embedders have them.
    """

    name = "search"

    def __init__(self, providers: Mapping[str, SearchProvider], unbuilt: SearchProvider) -> None:
        self._providers = dict(providers)
        self._unbuilt = unbuilt

    def search(self, scope: Scope, query: SearchQuery, budget: Budget) -> SearchPage:
        """SEARCH_PROVIDER_UNAVAILABLE for an engine that is not here; else what it answers."""
        provider = self._of(scope)
        budget.provider = provider.name
        return provider.search(scope, query, budget)

    def close(self) -> None:
        """Close, once each, the providers that have a ``close``."""
        each = {id(provider): provider for provider in (*self._providers.values(), self._unbuilt)}
        with ExitStack() as stack:
            for provider in each.values():
                close = getattr(provider, "close", None)
                if callable(close):
                    stack.callback(close)

    def _of(self, scope: Scope) -> SearchProvider:
        artifact = scope.member.search
        if artifact is None:
            return self._unbuilt
        provider = self._providers.get(artifact.label)
        if provider is None:
            raise QueryError(
                WireCode.SEARCH_PROVIDER_UNAVAILABLE,
                f'"{scope.repository}" in context "{scope.context}" was built for the search '
                f"engine {artifact.label}, which this vacmcp does not have; "
                f"`vacmcp context rebuild {scope.context}` builds it for one that it has",
                {"context": scope.context, "repository": scope.repository},
            )
        return provider
