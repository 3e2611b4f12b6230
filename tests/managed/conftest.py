"""A world to run the lifecycle in, twice: in memory, and on files, SQLite and git."""

import hashlib
import os
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol

import pytest

from vacmcpd.adapters.artifacts import FolderArtifacts
from vacmcpd.adapters.git.clone import GitRepositoryStore
from vacmcpd.adapters.git.objects import GitObjects
from vacmcpd.adapters.graphless import NoGraphBuilder
from vacmcpd.adapters.lexical.build import ScanBuilder
from vacmcpd.adapters.lexical.embedded import EmbeddedBuilder
from vacmcpd.adapters.locks import FileLocks
from vacmcpd.adapters.syntax.embedded_build import EmbeddedGraphBuilder
from vacmcpd.catalogue import SqliteCatalogue
from vacmcpd.datadir import DataDirectory
from vacmcpd.errors import BuildCode, LifecycleError, QueryError
from vacmcpd.managed.activity import Activity
from vacmcpd.managed.contexts import Contexts
from vacmcpd.managed.engines import Builders, GraphBuilders
from vacmcpd.managed.pipeline import Pipeline
from vacmcpd.managed.queue import LocalQueue
from vacmcpd.managed.recovery import recover
from vacmcpd.managed.repositories import Repositories
from vacmcpd.managed.stores import Stores
from vacmcpd.model import Artifact, ArtifactKind, MemberCoverage
from vacmcpd.ports.artifacts import ArtifactStore, StoredFile
from vacmcpd.ports.budget import CancelFlag
from vacmcpd.ports.builders import BuildTarget, Built, GraphBuilder, SearchBuilder, StoreState
from vacmcpd.ports.locks import Holder, Locks
from vacmcpd.ports.repository_store import FetchReport, OnProgress, RefKind, ResolvedRef
from vacmcpd.testing.artifacts import MemoryArtifacts
from vacmcpd.testing.catalogue import MemoryCatalogue
from vacmcpd.testing.locks import MemoryLocks


class Remote(Protocol):
    """An upstream repository that a test can change."""

    url: str

    def commit(self, branch: str = "main") -> str: ...
    def rewrite(self, branch: str = "main") -> str: ...
    def tag(self, name: str, revision: str) -> None: ...
    def delete_branch(self, name: str) -> None: ...
    def vanish(self) -> None: ...


@dataclass
class MemoryRemote:
    url: str
    branches: dict[str, list[str]] = field(default_factory=lambda: {"main": []})
    tags: dict[str, str] = field(default_factory=dict)
    gone: bool = False
    count: int = 0

    def commit(self, branch: str = "main") -> str:
        self.count += 1
        revision = hashlib.sha1(f"{self.url} {self.count}".encode()).hexdigest()
        line = self.branches.setdefault(branch, list(self.branches.get("main", [])))
        line.append(revision)
        return revision

    def rewrite(self, branch: str = "main") -> str:
        self.branches[branch] = []
        return self.commit(branch)

    def tag(self, name: str, revision: str) -> None:
        self.tags[name] = revision

    def delete_branch(self, name: str) -> None:
        del self.branches[name]

    def vanish(self) -> None:
        self.gone = True


@dataclass
class MemoryClone:
    url: str
    branches: dict[str, str] = field(default_factory=dict)
    tags: dict[str, str] = field(default_factory=dict)
    commits: set[str] = field(default_factory=set)
    keeps: set[str] = field(default_factory=set)
    damaged: bool = False


class MemoryStore:
    """A repository store over :class:`MemoryRemote`, with the promises that the port makes."""

    def __init__(self) -> None:
        self.remotes: dict[str, MemoryRemote] = {}
        self.clones: dict[str, MemoryClone] = {}

    def check_url(self, url: str, allow_http: bool) -> None:
        if url.startswith("ext::") or (url.startswith("http:") and not allow_http):
            raise LifecycleError(BuildCode.INVALID_ARGUMENT, "no such URL is cloned")

    def clone(
        self, name: str, url: str, progress: OnProgress, cancel: CancelFlag | None
    ) -> FetchReport:
        clone = MemoryClone(url)
        self._pull(clone)
        self.clones[name] = clone
        return self.count(name)

    def fetch(
        self, name: str, url: str, progress: OnProgress, cancel: CancelFlag | None
    ) -> FetchReport:
        self._pull(self._clone(name))
        return self.count(name)

    def _pull(self, clone: MemoryClone) -> None:
        remote = self.remotes.get(clone.url)
        if remote is None or remote.gone:
            raise LifecycleError(BuildCode.REPOSITORY_NOT_FOUND, "the remote is not there")
        clone.branches = {name: line[-1] for name, line in remote.branches.items()}
        clone.tags = dict(remote.tags)
        clone.commits |= {each for line in remote.branches.values() for each in line}
        clone.commits |= set(remote.tags.values())

    def healthy(self, name: str) -> bool:
        return name in self.clones and not self.clones[name].damaged

    def count(self, name: str) -> FetchReport:
        clone = self._clone(name)
        return FetchReport(len(clone.branches), len(clone.tags))

    def remove(self, name: str) -> None:
        self.clones.pop(name, None)

    def resolve(self, name: str, ref: str) -> ResolvedRef:
        clone = self._clone(name)
        for kind, known in ((RefKind.BRANCH, clone.branches), (RefKind.TAG, clone.tags)):
            if ref in known:
                return ResolvedRef(ref, kind, known[ref])
        if ref in clone.commits:
            return ResolvedRef(ref, RefKind.COMMIT, ref)
        raise LifecycleError(BuildCode.REVISION_NOT_FOUND, f"no {ref}", {"ref": ref})

    def has_commit(self, name: str, revision: str) -> bool:
        return revision in self._clone(name).commits

    def tree_id(self, name: str, revision: str) -> str:
        return hashlib.sha1(revision.encode()).hexdigest()

    def keep(self, name: str, revision: str) -> None:
        self._clone(name).keeps.add(revision)

    def unkeep(self, name: str, revision: str) -> None:
        self._clone(name).keeps.discard(revision)

    def kept(self, name: str) -> frozenset[str]:
        return frozenset(self._clone(name).keeps)

    def _clone(self, name: str) -> MemoryClone:
        if not self.healthy(name):
            raise LifecycleError(BuildCode.REPOSITORY_NOT_FOUND, "the clone is gone")
        return self.clones[name]


class MemoryScan:
    engine = "scan"
    engine_version = "1"
    needs_worktree = False

    def __init__(self, store: MemoryStore) -> None:
        self._store = store

    def build(
        self,
        target: BuildTarget,
        store: StoreState,
        progress: OnProgress,
        cancel: CancelFlag | None,
    ) -> Built:
        key = self._store.tree_id(target.repository, target.revision)
        artifact = Artifact(
            ArtifactKind.SEARCH, self.engine, self.engine_version, key, target.revision
        )
        return Built(artifact, MemberCoverage(target.repository, target.revision, 1, 1))

    def verify(self, target: BuildTarget, artifact: Artifact, store: StoreState) -> None:
        self._store.tree_id(target.repository, target.revision)

    def prune(self, repository: str, store: StoreState) -> tuple[StoredFile, ...]:
        return store.files


class ShelfBuilder:
    """The least that keeps files: one with all the live keys, and one a tree.

    The first is new with each change of the keys, so every publication leaves an old one.
    """

    engine = "shelf"
    engine_version = "1"
    needs_worktree = False

    def __init__(self, scan: SearchBuilder, artifacts: ArtifactStore) -> None:
        self._scan = scan
        self._artifacts = artifacts

    def build(
        self,
        target: BuildTarget,
        store: StoreState,
        progress: OnProgress,
        cancel: CancelFlag | None,
    ) -> Built:
        made = self._scan.build(target, StoreState(), progress, cancel)
        artifact = replace(made.artifact, engine=self.engine, engine_version=self.engine_version)
        files = self._of(target.repository, store.live | {artifact.key})
        return Built(artifact, made.coverage, files=files)

    def verify(self, target: BuildTarget, artifact: Artifact, store: StoreState) -> None:
        for file in store.files:
            if file.role in {"segment.0", f"manifest.{artifact.key}"}:
                self._artifacts.verify(target.repository, file)
        assert f"manifest.{artifact.key}" in {file.role for file in store.files}
        assert artifact.key in store.live

    def prune(self, repository: str, store: StoreState) -> tuple[StoredFile, ...]:
        return self._of(repository, store.live) if store.live else ()

    def _of(self, repository: str, keys: frozenset[str]) -> tuple[StoredFile, ...]:
        lines = [f"{key}\n".encode() for key in sorted(keys)]
        manifests = [
            self._artifacts.put(repository, f"manifest.{key}", [b"tree ", key.encode()])
            for key in sorted(keys)
        ]
        return (self._artifacts.put(repository, "segment.0", lines), *manifests)


class GitRemote:
    def __init__(self, folder: Path) -> None:
        self.url = str(folder)
        self._count = 0
        folder.mkdir(parents=True)
        self._git("init", "--quiet", "--initial-branch=main")
        self._git("config", "uploadpack.allowAnySHA1InWant", "true")

    def commit(self, branch: str = "main") -> str:
        if self._git("branch", "--list", branch) or self._count == 0:
            self._git("symbolic-ref", "HEAD", f"refs/heads/{branch}")
            if self._count:
                self._git("reset", "--quiet", "--hard")
        else:
            self._git("checkout", "--quiet", "-b", branch)
        self._count += 1
        (Path(self.url) / f"file{self._count}.txt").write_text(
            f"line {self._count}\n", encoding="utf-8"
        )
        self._git("add", "--all")
        self._git("commit", "--quiet", "--message", f"change {self._count}")
        return self._git("rev-parse", "HEAD")

    def rewrite(self, branch: str = "main") -> str:
        self._git("checkout", "--quiet", "--orphan", "rewritten")
        self._git("rm", "-r", "--force", "--quiet", ".")
        self._count += 1
        (Path(self.url) / "rewritten.txt").write_text(f"{self._count}\n", encoding="utf-8")
        self._git("add", "--all")
        self._git("commit", "--quiet", "--message", "rewritten")
        self._git("branch", "--force", "--move", "rewritten", branch)
        self._git("reflog", "expire", "--expire=now", "--all")
        self._git("gc", "--quiet", "--prune=now")
        return self._git("rev-parse", "HEAD")

    def tag(self, name: str, revision: str) -> None:
        self._git("tag", "--force", name, revision)

    def delete_branch(self, name: str) -> None:
        self._git("checkout", "--quiet", "main")
        self._git("branch", "--delete", "--force", name)

    def vanish(self) -> None:
        Path(self.url).rename(f"{self.url}-gone")

    def _git(self, *arguments: str) -> str:
        environment = {
            **os.environ,
            "GIT_AUTHOR_NAME": "A",
            "GIT_AUTHOR_EMAIL": "a@example.org",
            "GIT_COMMITTER_NAME": "A",
            "GIT_COMMITTER_EMAIL": "a@example.org",
            "GIT_CONFIG_GLOBAL": os.devnull,
        }
        done = subprocess.run(
            ["git", "-C", self.url, *arguments],
            env=environment,
            capture_output=True,
            check=True,
            encoding="utf-8",
        )
        return done.stdout.strip()


class Points:
    """Fault points: remembers what was reached, and does what a test asks for at one."""

    def __init__(self) -> None:
        self.reached: list[str] = []
        self.at: dict[str, Callable[[], object]] = {}

    def reach(self, name: str) -> None:
        self.reached.append(name)
        act = self.at.pop(name, None)
        if act is not None:
            act()


class HookedSearch:
    """The search builder under test, and what a test wants to happen when it builds."""

    needs_worktree = False

    def __init__(self, inner: SearchBuilder) -> None:
        self._inner = inner
        self.engine = inner.engine
        self.engine_version = inner.engine_version
        self.on_build: Callable[[BuildTarget], object] | None = None
        self.on_built: Callable[[BuildTarget], object] | None = None
        self.on_verify: Callable[[BuildTarget], object] | None = None
        self.on_prune: Callable[[str], object] | None = None

    def build(
        self,
        target: BuildTarget,
        store: StoreState,
        progress: OnProgress,
        cancel: CancelFlag | None,
    ) -> Built:
        if self.on_build is not None:
            answer = self.on_build(target)
            if isinstance(answer, Built):
                return answer
        built = self._inner.build(target, store, progress, cancel)
        if self.on_built is not None:
            self.on_built(target)
        return built

    def verify(self, target: BuildTarget, artifact: Artifact, store: StoreState) -> None:
        if self.on_verify is not None:
            self.on_verify(target)
        self._inner.verify(target, artifact, store)

    def prune(self, repository: str, store: StoreState) -> tuple[StoredFile, ...]:
        if self.on_prune is not None:
            self.on_prune(repository)
        return self._inner.prune(repository, store)


class World:
    def __init__(self, data: DataDirectory, real: bool) -> None:
        self.data = data
        self.real = real
        self.faults = Points()
        self.waits: list[tuple[str, Holder | None]] = []
        self.progress: list[str] = []
        self.store: Any
        self.catalogue: Any
        self.artifacts: Any
        self.scan: SearchBuilder
        self.locks: Locks
        if real:
            data.create()
            self.catalogue = SqliteCatalogue.open(data, faults=self.faults)
            self.locks = FileLocks(data)
            self.store = GitRepositoryStore(data, network_timeout=60, faults=self.faults)
            objects = GitObjects(data.repository, keep_refs=False)
            self.artifacts = FolderArtifacts(data.store, faults=self.faults)
            self.scan = ScanBuilder(objects, max_file_bytes=1 << 20)
            self.search = HookedSearch(
                EmbeddedBuilder(objects, self.artifacts, max_file_bytes=1 << 20, faults=self.faults)
            )
            linked: tuple[GraphBuilder, ...] = (
                EmbeddedGraphBuilder(
                    objects, self.artifacts, max_file_bytes=1 << 20, faults=self.faults
                ),
            )
        else:
            self.catalogue = MemoryCatalogue()
            self.locks = MemoryLocks()
            self.store = MemoryStore()
            self.artifacts = MemoryArtifacts()
            self.scan = MemoryScan(self.store)
            self.search = HookedSearch(ShelfBuilder(self.scan, self.artifacts))
            linked = ()
        self.builders = Builders(ArtifactKind.SEARCH, self.search, (self.scan,))
        self.graphs: GraphBuilders = Builders(ArtifactKind.GRAPH, NoGraphBuilder(), linked)
        self.queue = LocalQueue(self.catalogue, self.locks)
        self.wire()

    def wire(self, lock_timeout: float = 30) -> None:
        self.pipeline = Pipeline(
            self.catalogue,
            self.store,
            self.locks,
            self.queue,
            Stores(self.catalogue, self.artifacts, self.faults),
            self.builders,
            self.graphs,
            lock_timeout=lock_timeout,
            faults=self.faults,
        )
        self.contexts = Contexts(
            self.catalogue,
            self.store,
            self.locks,
            self.queue,
            self.pipeline,
            lock_timeout=lock_timeout,
            faults=self.faults,
        )
        self.repositories = Repositories(
            self.catalogue,
            self.store,
            self.artifacts,
            self.locks,
            allow_http=False,
            lock_timeout=lock_timeout,
            faults=self.faults,
        )

    def activity(self, cancel: CancelFlag | None = None) -> Activity:
        return Activity(
            lambda phase, done, total: self.progress.append(phase),
            lambda lock, holder: self.waits.append((lock, holder)),
            cancel,
        )

    def recover(self) -> tuple[str, ...]:
        return recover(
            self.catalogue,
            self.queue,
            self.locks,
            self.store,
            self.artifacts,
            self.data,
            faults=self.faults,
        )

    def remote(self, name: str) -> Remote:
        """An upstream with two commits, the first tagged v1."""
        remote: Remote
        if self.real:
            remote = GitRemote(self.data.root.parent / "remotes" / name)
        else:
            remote = self.store.remotes[f"/{name}"] = MemoryRemote(f"/{name}")
        remote.tag("v1", remote.commit())
        remote.commit()
        return remote

    def added(self, name: str) -> Remote:
        remote = self.remote(name)
        self.repositories.add(name, remote.url, activity=self.activity())
        return remote

    def damage(self, name: str) -> None:
        """Make the clone one that does not open."""
        if self.real:
            (self.data.repository(name) / "HEAD").unlink()
        else:
            self.store.clones[name].damaged = True

    def on_disk(self, name: str) -> frozenset[str]:
        """The digests of the files in a repository's store, and the names of unfinished ones."""
        if not self.real:
            found: frozenset[str] = self.artifacts.digests(name)
            return found
        folder = self.data.store(name)
        return frozenset(path.name for path in folder.iterdir()) if folder.is_dir() else frozenset()

    def kept(self, name: str) -> frozenset[str]:
        found: frozenset[str] = self.store.kept(name)
        return found

    def close(self) -> None:
        self.catalogue.close()


@pytest.fixture(params=["memory", "real"])
def world(request: pytest.FixtureRequest, data_root: Path) -> Iterator[World]:
    made = World(DataDirectory(data_root), request.param == "real")
    yield made
    made.close()


@pytest.fixture
def real(data_root: Path) -> Iterator[World]:
    made = World(DataDirectory(data_root), True)
    yield made
    made.close()


Refused = LifecycleError | QueryError


@pytest.fixture
def make_world() -> Callable[[DataDirectory], World]:
    """Open a real world over any data directory, with call graphs; the test closes it."""

    def make(data: DataDirectory) -> World:
        world = World(data, True)
        without, linked = world.graphs.each
        world.graphs = Builders(ArtifactKind.GRAPH, linked, (without,))
        world.wire()
        return world

    return make
