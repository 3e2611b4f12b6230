"""The embedded call graph of pinned trees: built, traced, written out."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property

from ...errors import LifecycleError, QueryError, VacmcpError, WireCode, source_mismatch
from ...model import MemberCoverage, Scope
from ...ports.artifacts import ArtifactStore, StoredFile
from ...ports.budget import Budget
from ...ports.graph import (
    CallEdge,
    CallGraph,
    Direction,
    EdgeKind,
    GraphSummary,
    TraceQuery,
)
from ...ports.objects import ObjectReader
from ..container import Damaged
from .embedded_build import EmbeddedGraphBuilder, coverage
from .making import ENGINE
from .store import manifests
from .store.generation import Files, Generation, sorted_out
from .store.manifests import Manifest, proof_of
from .store.segments import Segment
from .tracing.candidates import Candidates
from .tracing.columns import Columns
from .tracing.counting import untraced
from .tracing.exporting import exported
from .tracing.loading import load
from .tracing.symbols import Found, Symbols
from .tracing.walking import walk

__all__ = ["EmbeddedGraph", "EmbeddedGraphBuilder"]

_MOST_EDGES = 3_000_000
"""Edges and symbols of the versions that are kept in memory; two versions are in any case."""

_TICK = 0.1

Served = Callable[[str], Sequence[StoredFile]]
"""The files of the generation that is served of a repository."""


class EmbeddedGraph:
    """A GraphProvider and GraphExporter over the stores that EmbeddedGraphBuilder makes.

    Versions that were asked for last are kept in memory. Safe in several threads.
    """

    name = ENGINE

    def __init__(self, objects: ObjectReader, artifacts: ArtifactStore, files: Served) -> None:
        self._objects = objects
        self._artifacts = artifacts
        self._files = files
        self._lock = threading.Lock()
        self._versions: OrderedDict[tuple[str, str, tuple[str, ...]], Version] = OrderedDict()

    def trace(self, scope: Scope, query: TraceQuery, budget: Budget) -> CallGraph:
        """The calls around one symbol; see :class:`vacmcpd.ports.graph.GraphProvider`."""
        version = self._version(scope, budget)
        budget.check()
        found = version.find(query)
        columns = version.columns
        walked = walk(
            columns,
            version.candidates,
            found.members,
            query.direction,
            query.depth,
            query.kinds,
            budget,
        )
        symbol = columns.symbol(found.number)
        inside = found.number < columns.count
        return CallGraph(
            revision=scope.revision,
            symbol=symbol.name if inside else symbol.qualified_name,
            edges=walked.rows,
            coverage=version.coverage(scope),
            resolved=symbol if inside else None,
            languages=version.manifest.languages,
            sites=untraced(columns, version.candidates, found, query),
            total=None if walked.exact else len(walked.rows),
            exact=walked.exact,
        )

    def edges(self, scope: Scope, kinds: frozenset[EdgeKind], budget: Budget) -> Iterator[CallEdge]:
        """Every edge of ``kinds``, by path, line and callee; callers may be lambdas."""
        version = self._version(scope, budget)
        return exported(version.columns, version.candidates, kinds, budget)

    def summary(self, scope: Scope, budget: Budget) -> GraphSummary:
        """What the graph holds, counted; read from the manifest alone."""
        tree, files = self._pinned(scope, budget)
        try:
            generation, manifest = self._read(scope, tree, files)
        except (Damaged, LifecycleError) as error:
            raise _unavailable(scope, _reason(error)) from error
        return GraphSummary(
            coverage(scope, generation, manifest), manifest.languages, dict(manifest.sites)
        )

    def close(self) -> None:
        """Forget every version."""
        with self._lock:
            self._versions.clear()

    def _version(self, scope: Scope, budget: Budget) -> "Version":
        tree, files = self._pinned(scope, budget)
        stored = files.manifests.get(tree)
        digest = stored.digest if stored is not None else ""
        segments = tuple(file.digest for file in files.segments)
        key = (scope.repository, digest, segments)
        while not self._lock.acquire(timeout=_TICK):
            budget.check()
        try:
            found = self._versions.get(key)
            if found is None:
                found = self._versions[key] = self._loaded(scope, tree, files, budget)
                self._forget()
            self._versions.move_to_end(key)
            return found
        finally:
            self._lock.release()

    def _loaded(self, scope: Scope, tree: str, files: Files, budget: Budget) -> "Version":
        try:
            generation, manifest = self._read(scope, tree, files)
            columns = load(generation, manifest, budget.check)
        except (Damaged, LifecycleError) as error:
            raise _unavailable(scope, _reason(error)) from error
        return Version(manifest, columns, coverage(scope, generation, manifest))

    def _forget(self) -> None:
        weight = sum(version.weight for version in self._versions.values())
        while weight > _MOST_EDGES and len(self._versions) > 2:
            _, dropped = self._versions.popitem(last=False)
            weight -= dropped.weight

    def _pinned(self, scope: Scope, budget: Budget) -> tuple[str, Files]:
        """The tree of the commit, once the artifact agrees with it."""
        budget.check()
        tree = self._objects.prove(scope)
        artifact = scope.member.graph
        if artifact is not None and (artifact.revision, artifact.key) != (scope.revision, tree):
            raise _of_another(scope, tree, artifact.key)
        return tree, sorted_out(self._files(scope.repository))

    def _read(self, scope: Scope, tree: str, files: Files) -> tuple[Generation, Manifest]:
        stored = files.manifests.get(tree)
        if stored is None:
            raise Damaged("it has no manifest of the pinned tree")
        manifest = manifests.read(self._artifacts.open(scope.repository, stored))
        if manifest.tree != tree:
            raise _of_another(scope, tree, manifest.tree)
        opened = (self._artifacts.open(scope.repository, file) for file in files.segments)
        generation = Generation([Segment(data) for data in opened])
        if not generation.whole(manifest):
            raise Damaged("something that a file of the tree needs is in no segment")
        paths, oids = generation.texts(manifest, "paths"), generation.oids(manifest)
        if proof_of(zip(paths, oids, strict=True)) != manifest.proof:
            raise Damaged("a path of the tree stands for another file")
        return generation, manifest


class Version:
    """One version, ready to be asked."""

    def __init__(self, manifest: Manifest, columns: Columns, coverage: MemberCoverage) -> None:
        self.manifest = manifest
        self.columns = columns
        self._coverage = coverage
        self._symbols = Symbols(columns)

    @property
    def weight(self) -> int:
        """About how much memory it takes."""
        return len(self.columns.edges) + 2 * self.columns.count

    @cached_property
    def candidates(self) -> Candidates:
        """The open sites, joined with functions by name."""
        return Candidates(self.columns)

    def find(self, query: TraceQuery) -> Found:
        """The symbol that is asked for; with external edges also a name outside."""
        if EdgeKind.EXTERNAL in query.kinds and query.direction is Direction.CALLERS:
            outside = self._symbols.outside(query.symbol)
            if outside is not None and not self._symbols.named(query.symbol):
                return Found(outside, (outside,))
        return self._symbols.find(query.symbol)

    def coverage(self, scope: Scope) -> MemberCoverage:
        """How many files of the version have facts; commits of one tree share a version."""
        return replace(self._coverage, revision=scope.revision)


def _unavailable(scope: Scope, reason: str) -> QueryError:
    return QueryError(
        WireCode.GRAPH_PROVIDER_UNAVAILABLE,
        f'context "{scope.context}": the call graph of "{scope.repository}" can\'t be used: '
        f"{reason}; run `vacmcp context rebuild {scope.context}`",
        {"context": scope.context, "repository": scope.repository},
    )


def _reason(error: Damaged | VacmcpError) -> str:
    return error.message if isinstance(error, VacmcpError) else str(error)


def _of_another(scope: Scope, declared: str, actual: str) -> QueryError:
    return source_mismatch(
        scope.repository,
        scope.revision,
        None,
        f'context "{scope.context}": the call graph of "{scope.repository}" is of another tree; '
        f"run `vacmcp context rebuild {scope.context}`",
        context=scope.context,
        declared_tree=declared,
        actual_tree=actual,
    )
