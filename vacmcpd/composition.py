"""The one place that wires adapters into ports: a data directory into services and an engine.

What is heavy (the database layer, the git library) is imported when a part of it is asked for:
commands that need none of it start fast, and a worker imports only what answers queries.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast, get_args

from .datadir import DataDirectory
from .errors import BuildCode, LifecycleError
from .model import ArtifactKind, Context, ContextState
from .ports.artifacts import StoredFile
from .ports.faults import FaultPoint, NoFaults
from .settings import Settings

if TYPE_CHECKING:
    from .adapters.artifacts import FolderArtifacts
    from .adapters.git.clone import GitRepositoryStore
    from .adapters.git.objects import GitObjects
    from .adapters.graph_engines import GraphByEngine
    from .adapters.locks import FileLocks
    from .catalogue import SqliteCatalogue
    from .engine import Budgets, Engine
    from .managed.contexts import Contexts
    from .managed.doctor import Grammar, Row
    from .managed.engines import GraphBuilders, SearchBuilders
    from .managed.graphs import Graphs
    from .managed.pipeline import Pipeline
    from .managed.queue import LocalQueue
    from .managed.repositories import Repositories
    from .managed.stores import Stores
    from .ports.builders import GraphBuilder, SearchBuilder

SEARCH_ENGINES = ("embedded", "scan")
"""The search engines that contexts can be built with; the first unless another is asked for."""

GRAPH_ENGINES = ("embedded", "none")
"""The graph engines, likewise."""


@dataclass(frozen=True, slots=True)
class ServedData:
    """Everything an engine over a data directory is built from; plain data, picklable.

    ``contexts`` and the files of each repository's stores, ``stores`` of search and ``graphs`` of
    call graphs, are what the server read under its lock. Nothing may change them while it runs, so
    no worker needs the catalogue.
    """

    root: Path
    contexts: tuple[Context, ...]
    stores: Mapping[str, tuple[StoredFile, ...]]
    graphs: Mapping[str, tuple[StoredFile, ...]]
    settings: Settings


def build_engine(served: ServedData) -> "Engine":
    """An engine that answers from the clones below ``served.root``, and from READY pins alone."""
    from .adapters.artifacts import FolderArtifacts
    from .adapters.git.objects import GitObjects
    from .adapters.git.source import GitSource
    from .adapters.lexical.embedded import EmbeddedSearch
    from .adapters.lexical.scan import ScanSearch
    from .adapters.search_engines import SearchByEngine
    from .adapters.snapshot import SnapshotContexts
    from .engine import Engine

    settings = served.settings
    data = DataDirectory(served.root)
    objects = GitObjects(data.repository, keep_refs=True)
    artifacts = FolderArtifacts(data.store)
    scan = ScanSearch(objects, max_file_bytes=settings.limits.max_file_bytes)
    embedded = EmbeddedSearch(objects, artifacts, lambda name: served.stores.get(name, ()))
    return Engine(
        SnapshotContexts(served.contexts),
        SearchByEngine({"embedded/1": embedded, "scan/1": scan}, unbuilt=scan),
        graph_engines(objects, artifacts, served.graphs),
        GitSource(objects),
        budgets=budgets_of(settings),
        max_tokens=settings.limits.max_tokens,
    )


def graph_engines(
    objects: "GitObjects",
    artifacts: "FolderArtifacts",
    graphs: Mapping[str, tuple[StoredFile, ...]],
) -> "GraphByEngine":
    """What answers of the call graphs in ``graphs``, the files of each repository's store."""
    from .adapters.graph_engines import GraphByEngine
    from .adapters.graphless import NoGraph
    from .adapters.syntax.embedded import EmbeddedGraph

    none = NoGraph()
    embedded = EmbeddedGraph(objects, artifacts, lambda name: graphs.get(name, ()))
    return GraphByEngine(
        {"embedded/1": embedded, "none/0": none}, {"embedded/1": embedded}, unbuilt=none
    )


def budgets_of(settings: Settings) -> "Budgets":
    """The engine's budgets as the settings have them, in seconds."""
    from .engine import Budgets

    spent = settings.budgets
    return Budgets(
        resolve=spent.resolve,
        read=spent.read,
        diff=spent.diff,
        history=spent.history,
        search=spent.search,
        trace=spent.trace,
    )


@dataclass
class Managed:
    """An open data directory: the services of the lifecycle, each wired when first used.

    ``search_engine``, one of :data:`SEARCH_ENGINES`, and ``graph_engine``, one of
    :data:`GRAPH_ENGINES`, are what contexts are built with from now on; those that others were
    built with are served as they are.
    """

    data: DataDirectory
    settings: Settings
    faults: FaultPoint = field(default_factory=NoFaults)
    search_engine: str = SEARCH_ENGINES[0]
    graph_engine: str = GRAPH_ENGINES[0]

    @cached_property
    def catalogue(self) -> "SqliteCatalogue":
        """The catalogue, migrated to this version's schema."""
        from .catalogue import SqliteCatalogue

        return SqliteCatalogue.open(self.data, faults=self.faults)

    @cached_property
    def locks(self) -> "FileLocks":
        from .adapters.locks import FileLocks

        return FileLocks(self.data)

    @cached_property
    def store(self) -> "GitRepositoryStore":
        from .adapters.git.clone import GitRepositoryStore

        return GitRepositoryStore(
            self.data, network_timeout=self.settings.git.network_timeout, faults=self.faults
        )

    @cached_property
    def artifacts(self) -> "FolderArtifacts":
        from .adapters.artifacts import FolderArtifacts

        return FolderArtifacts(self.data.store, faults=self.faults)

    @cached_property
    def repositories(self) -> "Repositories":
        from .managed.repositories import Repositories

        return Repositories(
            self.catalogue,
            self._late_store,
            self.artifacts,
            self._late_locks,
            allow_http=self.settings.git.allow_http,
            lock_timeout=self.settings.locks.timeout,
            faults=self.faults,
        )

    @cached_property
    def contexts(self) -> "Contexts":
        from .managed.contexts import Contexts

        return Contexts(
            self.catalogue,
            self._late_store,
            self._late_locks,
            self._queue,
            cast("Pipeline", _Late(lambda: self._pipeline)),
            lock_timeout=self.settings.locks.timeout,
            faults=self.faults,
        )

    def recover(self) -> tuple[str, ...]:
        """Find what dead builders left; the contexts that became FAILED(INTERRUPTED)."""
        from .managed.recovery import recover

        return recover(
            self.catalogue,
            self._queue,
            self._late_locks,
            self._late_store,
            self.artifacts,
            self.data,
            faults=self.faults,
        )

    def doctor(self) -> "list[Row]":
        """Every check of the installation, the repositories and the contexts; writes nothing."""
        from .adapters.artifacts import FolderArtifacts
        from .adapters.git import GIT_FLOOR, git_version
        from .catalogue import SqliteCatalogue
        from .engine.requests import Request
        from .managed.doctor import Surroundings, checks

        # Each store is read once and whole; its contexts then need no more than a look.
        artifacts = FolderArtifacts(self.data.store, hashing=False)
        return checks(
            Surroundings(
                data=self.data,
                open_catalogue=partial(SqliteCatalogue.read_only, self.data),
                store=self.store,
                locks=self.locks,
                artifacts=self.artifacts,
                search=self._search_builders(artifacts),
                graph=self._graph_builders(artifacts),
                git_version=git_version,
                git_floor=GIT_FLOOR,
                mcp_version=_version_of("mcp"),
                tools=len(get_args(Request)),
                grammars=_grammars(),
            )
        )

    def served(self) -> ServedData:
        """The READY contexts as they are now; called under the server's lock."""
        ready: Sequence[Context] = [
            Context(record.id, record.members)
            for record in self.catalogue.contexts()
            if record.state is ContextState.READY and record.removing_since is None
        ]
        repositories = {member.repository for context in ready for member in context.members}
        stores, graphs = (
            {name: self.catalogue.store_files(name, kind) for name in sorted(repositories)}
            for kind in (ArtifactKind.SEARCH, ArtifactKind.GRAPH)
        )
        return ServedData(self.data.root, tuple(ready), stores, graphs, self.settings)

    @cached_property
    def graphs(self) -> "Graphs":
        from .adapters.graphless import NoGraphBuilder
        from .managed.engines import label_of
        from .managed.graphs import Graphs

        return Graphs(
            self.catalogue,
            lambda files: graph_engines(self._objects, self.artifacts, files),
            frozenset({label_of(NoGraphBuilder())}),
        )

    def close(self) -> None:
        """Release what was opened; idempotent."""
        if "catalogue" in self.__dict__:
            self.catalogue.close()
            del self.__dict__["catalogue"]

    @cached_property
    def _late_store(self) -> "GitRepositoryStore":
        return cast("GitRepositoryStore", _Late(lambda: self.store))

    @cached_property
    def _late_locks(self) -> "FileLocks":
        return cast("FileLocks", _Late(lambda: self.locks))

    @cached_property
    def _objects(self) -> "GitObjects":
        from .adapters.git.objects import GitObjects

        # A build reads before the keep ref is what it has to be: RESOLVE and VERIFY look at it.
        return GitObjects(self.data.repository, keep_refs=False)

    @cached_property
    def _queue(self) -> "LocalQueue":
        from .managed.queue import LocalQueue

        return LocalQueue(self.catalogue, self._late_locks)

    @cached_property
    def _stores(self) -> "Stores":
        from .managed.stores import Stores

        return Stores(self.catalogue, self.artifacts, self.faults)

    def _search_builders(self, artifacts: "FolderArtifacts") -> "SearchBuilders":
        from .adapters.lexical.build import ScanBuilder
        from .adapters.lexical.embedded import EmbeddedBuilder
        from .managed.engines import Builders

        limit = self.settings.limits.max_file_bytes
        known: dict[str, SearchBuilder] = {
            "embedded": EmbeddedBuilder(
                self._objects, artifacts, max_file_bytes=limit, faults=self.faults
            ),
            "scan": ScanBuilder(self._objects, max_file_bytes=limit),
        }
        default = known.pop(self.search_engine)
        return Builders(ArtifactKind.SEARCH, default, tuple(known.values()))

    def _graph_builders(self, artifacts: "FolderArtifacts") -> "GraphBuilders":
        from .adapters.graphless import NoGraphBuilder
        from .adapters.syntax.embedded_build import EmbeddedGraphBuilder
        from .managed.engines import Builders

        limit = self.settings.limits.max_file_bytes
        known: dict[str, GraphBuilder] = {
            "embedded": EmbeddedGraphBuilder(
                self._objects, artifacts, max_file_bytes=limit, faults=self.faults
            ),
            "none": NoGraphBuilder(),
        }
        default = known.pop(self.graph_engine)
        return Builders(ArtifactKind.GRAPH, default, tuple(known.values()))

    @cached_property
    def _pipeline(self) -> "Pipeline":
        from .managed.pipeline import Pipeline

        return Pipeline(
            catalogue=self.catalogue,
            store=self.store,
            locks=self.locks,
            queue=self._queue,
            stores=self._stores,
            search=self._search_builders(self.artifacts),
            graph=self._graph_builders(self.artifacts),
            lock_timeout=self.settings.locks.timeout,
            faults=self.faults,
        )


def open_managed(
    root: Path,
    settings: Settings,
    *,
    faults: FaultPoint | None = None,
    search_engine: str = SEARCH_ENGINES[0],
    graph_engine: str = GRAPH_ENGINES[0],
) -> Managed:
    """The services over ``root``, which is made (0700) when it is not there.

    INVALID_ARGUMENT for engines that are none of :data:`SEARCH_ENGINES` and :data:`GRAPH_ENGINES`.
    """
    _check_engine("search", search_engine, SEARCH_ENGINES)
    _check_engine("graph", graph_engine, GRAPH_ENGINES)
    data = DataDirectory(root.absolute())
    data.create()
    return Managed(data, settings, faults or NoFaults(), search_engine, graph_engine)


def _check_engine(kind: str, name: str, known: tuple[str, ...]) -> None:
    if name not in known:
        raise LifecycleError(
            BuildCode.INVALID_ARGUMENT,
            f'there is no {kind} engine "{name}"; take one of {", ".join(known)}',
        )


def _grammars() -> "tuple[Grammar, ...]":
    from .adapters.syntax.languages import installed
    from .managed.doctor import Grammar
    from .ports.graph import Tier

    return tuple(
        Grammar(each.language, each.distribution, each.version, each.tier is Tier.SCOPED)
        for each in installed()
    )


class _Late:
    """Stands for an adapter until something of it is used.

    Most commands only read the catalogue; importing git's and the search's libraries for them
    would double their time.
    """

    def __init__(self, make: Callable[[], Any]) -> None:
        self._make = make

    def __getattr__(self, name: str) -> Any:
        return getattr(self._make(), name)


def _version_of(distribution: str) -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(distribution)
    except PackageNotFoundError:
        return ""
