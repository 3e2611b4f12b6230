"""A repository in memory, and the store of call graphs that builds of it make."""

from pathlib import Path

from vacmcpd.adapters.syntax.embedded import EmbeddedGraph, EmbeddedGraphBuilder
from vacmcpd.adapters.syntax.facts import encode
from vacmcpd.adapters.syntax.store import manifests
from vacmcpd.adapters.syntax.store.generation import Generation, sorted_out
from vacmcpd.adapters.syntax.store.segments import NONE, Segment
from vacmcpd.model import Member, Scope
from vacmcpd.ports.budget import Budget
from vacmcpd.ports.builders import BuildTarget, StoreState
from vacmcpd.ports.graph import TRUSTED, Direction, EdgeKind, TraceQuery
from vacmcpd.testing.artifacts import MemoryArtifacts
from vacmcpd.testing.objects import MemoryObjects

ALL = frozenset(EdgeKind)


class Place:
    """Builds, forgets and asks versions; ``state`` stands for the catalogue."""

    def __init__(self, *, max_file_bytes=100_000, processes=1, command=(), objects=None):
        self.objects = objects or MemoryObjects()
        self.artifacts = MemoryArtifacts()
        self.options = {"processes": processes, "command": command}
        self.builder = self.with_limit(max_file_bytes)
        self.state = StoreState()
        self.graph = EmbeddedGraph(self.objects, self.artifacts, lambda _: self.state.files)

    def with_limit(self, max_file_bytes):
        return EmbeddedGraphBuilder(
            self.objects, self.artifacts, max_file_bytes=max_file_bytes, **self.options
        )

    def commit(self, files, message=""):
        tree = {
            path if isinstance(path, bytes) else path.encode(): content
            for path, content in files.items()
        }
        return BuildTarget("ctx", "demo", "main", self.objects.commit("demo", tree, message))

    def build(self, target, *, builder=None, progress=lambda *step: None, cancel=None):
        built = (builder or self.builder).build(target, self.state, progress, cancel)
        self.state = StoreState(built.files, self.state.live | {built.artifact.key})
        self.artifacts.sweep("demo", {file.digest for file in built.files})
        return built

    def made(self, files, **options):
        """The target and what was built of these files."""
        target = self.commit(files)
        return target, self.build(target, **options)

    def verify(self, target, built):
        self.builder.verify(target, built.artifact, self.state)

    def forget(self, *trees):
        """Let these trees be of no context any more."""
        self.state = StoreState(self.state.files, self.state.live - set(trees))
        files = self.builder.prune("demo", self.state)
        self.state = StoreState(files, self.state.live)
        self.artifacts.sweep("demo", {file.digest for file in files})

    def file(self, role):
        return next(file for file in self.state.files if file.role.startswith(role))

    def generation(self):
        files = sorted_out(self.state.files).segments
        return Generation([Segment(self.artifacts.open("demo", file)) for file in files])

    def manifest(self, tree):
        stored = sorted_out(self.state.files).manifests[tree]
        return manifests.read(self.artifacts.open("demo", stored))

    def records(self, built):
        """The records of a version as bytes, by path."""
        generation, manifest = self.generation(), self.manifest(built.artifact.key)
        paths = generation.texts(manifest, "paths")
        numbers = generation.column(manifest, "record").tolist()
        return {
            path.decode(): encode(generation.linked(number))
            for path, number in zip(paths, numbers, strict=True)
            if number != NONE
        }

    def edges(self, target, kinds=ALL):
        """Every edge of a version."""
        scope = Scope("ctx", Member("demo", "main", target.revision))
        return list(self.graph.edges(scope, kinds, Budget("edges", "graph", 60.0)))

    def trace(self, target, symbol, direction=Direction.CALLERS, depth=1, kinds=TRUSTED):
        scope = Scope("ctx", Member("demo", "main", target.revision))
        query = TraceQuery(symbol, direction, depth, kinds)
        return self.graph.trace(scope, query, Budget("trace", "graph", 60.0))


def said(edges):
    """Edges as (caller, callee, path, line, kind), by qualified names."""
    return [
        (
            edge.caller_symbol.qualified_name,
            edge.callee_symbol.qualified_name,
            edge.path,
            edge.line,
            str(edge.kind),
        )
        for edge in edges
    ]


HERE = Path(__file__).parent
