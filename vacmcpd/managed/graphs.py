"""What the stored call graphs of a context hold, counted and whole; read without locks."""

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TypeVar

from ..errors import BuildCode, LifecycleError, VacmcpError
from ..model import ArtifactKind, Member, Scope
from ..ports.artifacts import StoredFile
from ..ports.budget import Budget, CancelFlag
from ..ports.catalogue import Catalogue, ContextRecord
from ..ports.graph import CallEdge, EdgeKind, GraphExporter, GraphSummary
from .contexts import repair

Export = Callable[[Mapping[str, tuple[StoredFile, ...]]], GraphExporter]
"""Makes what reads call graphs of the files of each repository's store."""

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class MemberGraph:
    """The call graph of one member: ``summary``, or why there is none to be had."""

    repository: str
    engine: str
    summary: GraphSummary | None
    problem: str = ""


class Graphs:
    """Reads the generation of each store that the catalogue names, and the next if that goes."""

    def __init__(self, catalogue: Catalogue, export: Export, graphless: frozenset[str]) -> None:
        """``graphless`` are the labels of engines that record that there is no graph."""
        self._catalogue = catalogue
        self._export = export
        self._graphless = graphless

    def summaries(self, record: ContextRecord) -> tuple[MemberGraph, ...]:
        """What there is for each member that was built, in their order; damage is told."""
        return tuple(
            self._told(record, member) for member in record.members if member.graph is not None
        )

    def edges(
        self,
        name: str,
        repository: str | None,
        kinds: frozenset[EdgeKind],
        cancel: CancelFlag | None = None,
    ) -> Iterator[tuple[str, CallEdge]]:
        """Every edge of ``kinds`` with its repository, member by member, or of one member.

        CONTEXT_NOT_FOUND, REPOSITORY_NOT_FOUND, ARTIFACT_MISSING for a context that was not built,
        and what a :class:`vacmcpd.ports.graph.GraphExporter` raises; all before the first edge.
        """
        record = self._catalogue.context(name)
        scopes = [Scope(record.id, member) for member in _members(record, repository)]
        for scope in scopes:
            self._summary(scope, cancel)
        return self._each(scopes, kinds, cancel)

    def _each(
        self, scopes: list[Scope], kinds: frozenset[EdgeKind], cancel: CancelFlag | None
    ) -> Iterator[tuple[str, CallEdge]]:
        for scope in scopes:
            for edge in self._edges(scope, kinds, cancel):
                yield scope.repository, edge

    def _told(self, record: ContextRecord, member: Member) -> MemberGraph:
        label = member.graph.label if member.graph is not None else ""
        if label in self._graphless:
            return MemberGraph(member.repository, label, None)
        scope = Scope(record.id, member)
        try:
            summary = self._summary(scope, None)
        except VacmcpError as error:
            return MemberGraph(member.repository, label, None, error.message)
        return MemberGraph(member.repository, label, summary)

    def _summary(self, scope: Scope, cancel: CancelFlag | None) -> GraphSummary:
        return self._ask(scope, lambda graph: graph.summary(scope, _budget(cancel)))

    def _edges(
        self, scope: Scope, kinds: frozenset[EdgeKind], cancel: CancelFlag | None
    ) -> Iterator[CallEdge]:
        return self._ask(scope, lambda graph: graph.edges(scope, kinds, _budget(cancel)))

    def _ask(self, scope: Scope, ask: Callable[[GraphExporter], _T]) -> _T:
        """A generation that a builder replaced meanwhile is no finding: the new one is read."""
        while True:
            files = self._catalogue.store_files(scope.repository, ArtifactKind.GRAPH)
            try:
                return ask(self._export({scope.repository: files}))
            except VacmcpError:
                if self._catalogue.store_files(scope.repository, ArtifactKind.GRAPH) == files:
                    raise


def _budget(cancel: CancelFlag | None) -> Budget:
    return Budget("graph", "vacmcp", math.inf, cancel)


def _members(record: ContextRecord, repository: str | None) -> list[Member]:
    chosen = [
        member
        for member in record.members
        if repository is None or member.repository.lower() == repository.lower()
    ]
    if not chosen:
        known = ", ".join(member.repository for member in record.members)
        raise LifecycleError(
            BuildCode.REPOSITORY_NOT_FOUND,
            f'context "{record.id}" has no repository "{repository}"; it has {known}',
            {"context": record.id, "repository": repository},
        )
    for member in chosen:
        if member.graph is None:
            command = repair(record)
            raise LifecycleError(
                BuildCode.ARTIFACT_MISSING,
                f'context "{record.id}" is {record.shown_state} and has no call graph; '
                + (f"run `{command}`" if command else "wait until its build has ended"),
                {"context": record.id, "repository": member.repository},
            )
    return chosen
