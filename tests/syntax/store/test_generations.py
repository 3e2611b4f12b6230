"""A store on a disk: builds that end anywhere, and answers from a generation that was replaced."""

import shutil

import pytest
from store.places import said

from vacmcpd.adapters.artifacts import FolderArtifacts
from vacmcpd.adapters.syntax.embedded import EmbeddedGraph, EmbeddedGraphBuilder
from vacmcpd.model import Member, Scope
from vacmcpd.ports.budget import Budget
from vacmcpd.ports.builders import BuildTarget, StoreState
from vacmcpd.ports.graph import TRUSTED, Direction, EdgeKind, TraceQuery
from vacmcpd.testing.objects import MemoryObjects

FILES = {b"a.py": b"def f():\n    f()\n", b"b.py": b"from a import f\n\nf()\n"}


class Ended(Exception):
    pass


class Faults:
    """Notes every point that is reached, and ends the build at one."""

    def __init__(self, at=-1):
        self.reached = []
        self.at = at

    def reach(self, name):
        self.reached.append(name)
        if len(self.reached) - 1 == self.at:
            raise Ended(name)


class Disk:
    def __init__(self, folder):
        self.folder = folder
        self.objects = MemoryObjects()
        self.state = StoreState()

    def target(self, files):
        return BuildTarget("ctx", "demo", "main", self.objects.commit("demo", files))

    def artifacts(self, faults=None):
        options = {"faults": faults} if faults else {}
        return FolderArtifacts(lambda _: self.folder, **options)

    def builder(self, faults=None):
        return EmbeddedGraphBuilder(
            self.objects,
            self.artifacts(faults),
            max_file_bytes=100_000,
            processes=1,
            faults=faults,
        )

    def build(self, target, faults=None):
        built = self.builder(faults).build(target, self.state, lambda *step: None, None)
        self.state = StoreState(built.files, self.state.live | {built.artifact.key})
        self.artifacts().sweep("demo", {file.digest for file in built.files})
        return built

    def graph(self):
        files = self.state.files
        return EmbeddedGraph(self.objects, self.artifacts(), lambda _: files)


def edges(graph, target):
    scope = Scope("ctx", Member("demo", "main", target.revision))
    budget = Budget("edges", "graph", 60.0)
    return said(graph.edges(scope, frozenset(EdgeKind), budget))


def history(disk):
    """Enough versions that the last one joins segments."""
    files = dict(FILES)
    for number in range(6):
        files[b"n%d.py" % number] = b"from a import f\n\n\ndef n%d():\n    f()\n" % number
        yield disk.target(dict(files))


def test_a_build_that_ends_anywhere_loses_nothing(tmp_path):
    disk = Disk(tmp_path / "store")
    *earlier, last = history(disk)
    built = {target: disk.build(target) for target in earlier}
    told = {target: edges(disk.graph(), target) for target in earlier}
    before = disk.state
    shutil.copytree(disk.folder, tmp_path / "before")
    faults = Faults()
    disk.build(last, faults)
    assert {name for name in faults.reached if name.startswith("graph.")} == {
        "graph.segment.before",
        "graph.segment.after",
        "graph.manifest.before",
        "graph.manifest.after",
        "graph.merge.before",
        "graph.merge.after",
    }
    for at in range(len(faults.reached)):
        disk.folder, disk.state = tmp_path / str(at), before
        shutil.copytree(tmp_path / "before", disk.folder)
        with pytest.raises(Ended):
            disk.build(last, Faults(at))
        for target, made in built.items():
            disk.builder().verify(target, made.artifact, disk.state)
            assert edges(disk.graph(), target) == told[target]
        made = disk.build(last)
        disk.builder().verify(last, made.artifact, disk.state)
        left = {path.name for path in disk.folder.iterdir()}
        assert left == {file.digest for file in disk.state.files}


def test_a_generation_that_was_loaded_answers_after_it_was_replaced(tmp_path):
    disk = Disk(tmp_path / "store")
    first = disk.target(FILES)
    built = disk.build(first)
    graph = disk.graph()
    before = edges(graph, first)
    second = disk.target({b"c.py": b"def g():\n    g()\n"})
    disk.build(second)
    disk.state = StoreState(disk.state.files, disk.state.live - {built.artifact.key})
    files = disk.builder().prune("demo", disk.state)
    disk.state = StoreState(files, disk.state.live)
    disk.artifacts().sweep("demo", {file.digest for file in files})
    scope = Scope("ctx", Member("demo", "main", first.revision))
    query = TraceQuery("f", Direction.CALLERS, 5, TRUSTED)
    found = graph.trace(scope, query, Budget("trace", "graph", 60.0))
    assert sorted(said(found.edges)) == sorted(e for e in before if e[-1] == "resolved")
    assert edges(disk.graph(), second) == [("c.g", "c.g", "c.py", 2, "resolved")]
