"""Our engine as the benchmarks drive it: one folder is one store over one clone.

    python benchmarks/store.py build CLONE STORE COMMIT…
    python benchmarks/store.py queries CLONE STORE COMMIT < [[TEXT, LIMIT], …]

``build`` adds versions and prints each one's CPU seconds; ``queries`` is a fresh process that
opens the store, runs them and prints how long import, opening and the first query took (ms) and
its resident memory afterwards.
"""

import argparse
import json
import multiprocessing
import os
import sys
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

from process import resident

if TYPE_CHECKING:
    from vacmcpd.engine import Engine
    from vacmcpd.model import Scope
    from vacmcpd.ports.search import SearchPage

REPOSITORY = "code"
MAX_FILE_BYTES = 32 * 1024 * 1024
_QUIET_SECONDS = 3600.0


class Store:
    """The files and artifacts of a folder; ``generation.json`` stands for the catalogue."""

    def __init__(self, clone: Path, folder: Path) -> None:
        from vacmcpd.adapters.artifacts import FolderArtifacts
        from vacmcpd.adapters.git.objects import GitObjects
        from vacmcpd.ports.artifacts import StoredFile

        self.folder = folder
        self._state = folder / "generation.json"
        self.objects = GitObjects(lambda _: clone, keep_refs=False)
        self.artifacts = FolderArtifacts(lambda _: folder / "files")
        state: dict[str, Any] = {"files": [], "trees": {}}
        if self._state.exists():
            state = json.loads(self._state.read_text(encoding="utf-8"))
        self.files = tuple(StoredFile(*each) for each in state["files"])
        self.trees: dict[str, str] = state["trees"]

    @property
    def size(self) -> int:
        """Bytes on disk, whatever they are."""
        return sum(p.stat().st_size for p in (self.folder / "files").rglob("*") if p.is_file())

    def add(self, commit: str) -> None:
        """What a build does between the store's lock being taken and the catalogue's commit."""
        from vacmcpd.adapters.lexical.embedded import EmbeddedBuilder
        from vacmcpd.ports.builders import BuildTarget, StoreState
        from vacmcpd.ports.faults import NoFaults

        builder = EmbeddedBuilder(
            self.objects, self.artifacts, max_file_bytes=MAX_FILE_BYTES, faults=NoFaults()
        )
        target = BuildTarget("bench", REPOSITORY, commit, commit)
        state = StoreState(self.files, frozenset(self.trees.values()))
        built = builder.build(target, state, lambda *_: None, None)
        self.trees[commit] = built.artifact.key
        if built.files is not None:
            self.files = built.files
        self._save()
        self.artifacts.sweep(REPOSITORY, [each.digest for each in self.files])

    def searcher(self) -> "Searcher":
        from vacmcpd.adapters.lexical.embedded import EmbeddedSearch

        return Searcher(self, EmbeddedSearch(self.objects, self.artifacts, lambda _: self.files))

    def scope(self, commit: str) -> "Scope":
        from vacmcpd.adapters.lexical.embedded import EmbeddedBuilder
        from vacmcpd.model import Artifact, ArtifactKind, Member, Scope

        artifact = Artifact(
            ArtifactKind.SEARCH,
            EmbeddedBuilder.engine,
            EmbeddedBuilder.engine_version,
            self.trees[commit],
            commit,
        )
        return Scope("bench", Member(REPOSITORY, commit, commit, artifact))

    def _save(self) -> None:
        files = [[each.role, each.digest, each.size] for each in self.files]
        state = json.dumps({"files": files, "trees": self.trees})
        self._state.write_text(state, encoding="utf-8")


class Searcher:
    """An open store. Nothing caches a result; blocks that were decompressed are kept."""

    def __init__(self, store: Store, provider: Any) -> None:
        self._store, self._provider = store, provider
        self._scopes: dict[str, Scope] = {}

    def search(self, commit: str, text: str, limit: int, mode: str = "zoekt") -> "SearchPage":
        from vacmcpd.ports.budget import Budget
        from vacmcpd.ports.search import QueryMode, SearchQuery

        scope = self._scopes.get(commit)
        if scope is None:
            scope = self._scopes[commit] = self._store.scope(commit)
        query = SearchQuery(text, 0, limit, mode=QueryMode(mode))
        return self._provider.search(scope, query, Budget("search", "bench", _QUIET_SECONDS))

    def timed(self, commit: str, text: str, limit: int) -> float:
        """Milliseconds to the finished page."""
        began = time.perf_counter()
        self.search(commit, text, limit)
        return (time.perf_counter() - began) * 1000

    def engine(self, commit: str) -> "Engine":
        """The seven queries' engine over this store, with one context ``bench``."""
        from vacmcpd.adapters.git.source import GitSource
        from vacmcpd.adapters.graphless import NoGraph
        from vacmcpd.adapters.snapshot import SnapshotContexts
        from vacmcpd.composition import budgets_of
        from vacmcpd.engine import Engine
        from vacmcpd.model import Context
        from vacmcpd.settings import Settings

        settings = Settings()
        return Engine(
            SnapshotContexts([Context("bench", (self._store.scope(commit).member,))]),
            self._provider,
            NoGraph(),
            GitSource(self._store.objects),
            budgets=budgets_of(settings),
            max_tokens=settings.limits.max_tokens,
        )


def open_searcher(clone: Path, folder: Path) -> Searcher:
    return Store(clone, folder).searcher()


def engine_timed(engine: "Engine", text: str, limit: int) -> float:
    """Milliseconds to the engine's finished answer."""
    from vacmcpd.engine import SearchCodeRequest

    began = time.perf_counter()
    engine.search_code(SearchCodeRequest("bench", text, limit=limit))
    return (time.perf_counter() - began) * 1000


_worker: list[tuple[Searcher, str]] = []


def _start_worker(clone: Path, folder: Path, commit: str) -> None:
    _worker.append((open_searcher(clone, folder), commit))


def _work(text: str) -> "SearchPage":
    searcher, commit = _worker[0]
    return searcher.search(commit, text, 50)


def throughput(clone: Path, folder: Path, commit: str, texts: list[str], clients: int) -> float:
    """Page queries answered per second: two worker processes, fed by ``clients`` threads."""
    spawn = multiprocessing.get_context("spawn")
    arguments = (clone, folder, commit)
    with (
        ProcessPoolExecutor(2, spawn, _start_worker, arguments) as workers,
        ThreadPoolExecutor(clients) as threads,
    ):
        warm = [workers.submit(_work, text) for text in sorted(set(texts)) * 2]
        for each in warm:
            each.result()
        began = time.perf_counter()
        list(threads.map(lambda text: workers.submit(_work, text).result(), texts))
        return len(texts) / (time.perf_counter() - began)


def build(clone: Path, folder: Path, commits: list[str]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    store = Store(clone, folder)
    spent = []
    for commit in commits:
        before = _cpu()
        store.add(commit)
        spent.append([commit, _cpu() - before, store.size])
    print(json.dumps(spent))


def queries(clone: Path, folder: Path, commit: str) -> None:
    began = time.perf_counter()
    import vacmcpd.adapters.git.objects
    import vacmcpd.adapters.lexical.embedded  # noqa: F401

    imported = time.perf_counter()
    searcher = open_searcher(clone, folder)
    opened = time.perf_counter()
    first = 0.0
    for text, limit in json.load(sys.stdin):
        searcher.search(commit, text, limit)
        first = first or time.perf_counter()
    held, anonymous = resident(os.getpid())
    took = [(imported - began) * 1000, (opened - imported) * 1000, (first - opened) * 1000]
    print(json.dumps({"start": took, "resident": held, "anonymous": anonymous}))


def _cpu() -> float:
    spent = os.times()
    return spent.user + spent.system + spent.children_user + spent.children_system


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=["build", "queries"])
    parser.add_argument("clone", type=Path)
    parser.add_argument("store", type=Path)
    parser.add_argument("commits", nargs="+")
    options = parser.parse_args()
    if options.what == "build":
        build(options.clone, options.store, options.commits)
    else:
        queries(options.clone, options.store, options.commits[0])


if __name__ == "__main__":
    main()
