"""The graph engine ``none/0``: records that there is no call graph, and says so when asked."""

from ..errors import BuildCode, LifecycleError, QueryError, WireCode
from ..model import Artifact, ArtifactKind, Scope
from ..ports.artifacts import StoredFile
from ..ports.budget import Budget, CancelFlag
from ..ports.builders import BuildTarget, Built, StoreState
from ..ports.graph import CallGraph, TraceQuery
from ..ports.repository_store import OnProgress

_ENGINE = "none"
_VERSION = "0"


class NoGraphBuilder:
    """Builds nothing, in the shape of a :class:`vacmcpd.ports.builders.GraphBuilder`."""

    engine = _ENGINE
    engine_version = _VERSION
    needs_worktree = False

    def build(
        self,
        target: BuildTarget,
        store: StoreState,
        progress: OnProgress,
        cancel: CancelFlag | None,
    ) -> Built:
        """An artifact that says so."""
        del store, progress, cancel
        artifact = Artifact(
            ArtifactKind.GRAPH, self.engine, self.engine_version, target.revision, target.revision
        )
        return Built(artifact, None, "no call graph: the graph engine is none")

    def verify(self, target: BuildTarget, artifact: Artifact, store: StoreState) -> None:
        """SOURCE_MISMATCH unless it was recorded for the pinned commit."""
        del store
        if artifact.key != target.revision:
            raise LifecycleError(
                BuildCode.SOURCE_MISMATCH,
                f'the graph artifact of "{target.repository}" was recorded for another commit',
                {
                    "repository": target.repository,
                    "declared_revision": target.revision,
                    "actual_revision": artifact.key,
                },
            )

    def prune(self, repository: str, store: StoreState) -> tuple[StoredFile, ...]:
        """The files are another engine's, and stay."""
        del repository
        return store.files


class NoGraph:
    """Answers every trace with GRAPH_PROVIDER_UNAVAILABLE."""

    name = _ENGINE

    def trace(self, scope: Scope, query: TraceQuery, budget: Budget) -> CallGraph:
        """Always refused, naming the reason and the command that would build a graph."""
        del query
        budget.check()
        raise QueryError(
            WireCode.GRAPH_PROVIDER_UNAVAILABLE,
            f'no call graph was built for "{scope.repository}" in context "{scope.context}" '
            f"(graph engine {_ENGINE}/{_VERSION}); "
            f"`vacmcp context rebuild {scope.context}` builds it",
            {"context": scope.context, "repository": scope.repository},
        )
