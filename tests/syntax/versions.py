"""Versions of a repository in memory, built by the embedded engine, and what it answers of them."""

from collections.abc import Mapping
from textwrap import dedent

from vacmcpd.adapters.syntax.embedded import EmbeddedGraph, EmbeddedGraphBuilder
from vacmcpd.model import Member, Scope
from vacmcpd.ports.budget import Budget
from vacmcpd.ports.builders import BuildTarget, StoreState
from vacmcpd.ports.graph import TRUSTED, CallEdge, CallGraph, Direction, EdgeKind, TraceQuery
from vacmcpd.testing.artifacts import MemoryArtifacts
from vacmcpd.testing.objects import MemoryObjects

REPOSITORY = "shop"


class Versions:
    """The versions of one repository, each built beside those before it."""

    def __init__(self) -> None:
        self.objects = MemoryObjects()
        self.artifacts = MemoryArtifacts()
        self.builder = EmbeddedGraphBuilder(self.objects, self.artifacts, max_file_bytes=1 << 20)
        self.state = StoreState()
        self.graph = EmbeddedGraph(self.objects, self.artifacts, lambda _: self.state.files)
        self._members: dict[str, Member] = {}

    def build(self, files: Mapping[str, str]) -> str:
        """The revision of a new version."""
        tree = {path.encode(): dedent(text).encode() for path, text in files.items()}
        revision = self.objects.commit(REPOSITORY, tree)
        target = BuildTarget("ctx", REPOSITORY, "main", revision)
        built = self.builder.build(target, self.state, lambda *step: None, None)
        assert built.files is not None
        self.state = StoreState(built.files, self.state.live | {built.artifact.key})
        self._members[revision] = Member(REPOSITORY, "main", revision, graph=built.artifact)
        return revision

    def trace(
        self,
        revision: str,
        symbol: str,
        direction: Direction = Direction.CALLERS,
        *,
        depth: int = 1,
        kinds: frozenset[EdgeKind] = TRUSTED,
    ) -> CallGraph:
        """The calls around a symbol."""
        query = TraceQuery(symbol, direction, depth, kinds)
        return self.graph.trace(self._scope(revision), query, _budget())

    def edges(
        self, revision: str, kinds: frozenset[EdgeKind] = frozenset(EdgeKind)
    ) -> list[CallEdge]:
        """Every edge."""
        return list(self.graph.edges(self._scope(revision), kinds, _budget()))

    def _scope(self, revision: str) -> Scope:
        return Scope("ctx", self._members[revision])


def callers(graph: CallGraph) -> set[tuple[str, int]]:
    """(qualified caller, line) of each edge."""
    return {
        (edge.caller_symbol.qualified_name if edge.caller_symbol else edge.caller, edge.line)
        for edge in graph.edges
    }


def _budget() -> Budget:
    return Budget("trace", "embedded", 60.0)
