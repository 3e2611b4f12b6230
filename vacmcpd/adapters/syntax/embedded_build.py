"""The builder of the embedded call graph: what no version had before is parsed and linked."""

import gc
import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

from ...errors import BuildCode, LifecycleError, source_mismatch
from ...model import Artifact, ArtifactKind, Member, MemberCoverage, Scope
from ...ports.artifacts import ArtifactStore, StoredFile
from ...ports.budget import Budget, CancelFlag
from ...ports.builders import BuildTarget, Built, StoreState
from ...ports.faults import FaultPoint, NoFaults
from ...ports.objects import ObjectReader
from ...ports.repository_store import OnProgress
from ..container import Damaged
from .assembly import Assembly
from .making import ENGINE, VERSION, made_by
from .skips import RETRIED, Skip
from .store import manifests
from .store.generation import SEGMENT, Generation, sorted_out
from .store.held import Held
from .store.manifests import Manifest
from .store.merging import Merging
from .store.segments import Segment, skip_of
from .workers import Workers

_AGAIN = RETRIED | {Skip.TOO_LARGE}
"""Why a file was left out, where building again may read it."""


class EmbeddedGraphBuilder:
    """A GraphBuilder whose artifacts are files of an ArtifactStore.

    ``max_file_bytes`` is the largest blob that is parsed, ``processes`` how many parse at once
    (two, or one on a machine with one processor). Fault points begin with ``graph.``.
    """

    engine = ENGINE
    engine_version = VERSION
    needs_worktree = False

    def __init__(
        self,
        objects: ObjectReader,
        artifacts: ArtifactStore,
        *,
        max_file_bytes: int,
        faults: FaultPoint | None = None,
        processes: int | None = None,
        command: Sequence[str] = (),
    ) -> None:
        self._objects = objects
        self._artifacts = artifacts
        self._max_file_bytes = max_file_bytes
        self._faults = faults or NoFaults()
        self._processes = processes
        self._command = command

    def build(
        self,
        target: BuildTarget,
        store: StoreState,
        progress: OnProgress,
        cancel: CancelFlag | None,
    ) -> Built:
        """Parse and link what is new, join what has become small, write the tree's manifest."""
        with _no_collector():
            return self._build(target, store, progress, cancel)

    def _build(
        self,
        target: BuildTarget,
        store: StoreState,
        progress: OnProgress,
        cancel: CancelFlag | None,
    ) -> Built:
        scope = _scope(target)
        budget = Budget("build", self.engine, math.inf, cancel)
        tree = self._objects.prove(scope)
        held = Held(self._artifacts, target.repository, store)
        generation = held.generation
        kept = held.manifests.get(tree)
        if kept is None or kept.made != made_by() or _open(generation, kept):
            leaves = list(self._objects.leaves(scope, budget))
            with Workers(self._processes, command=self._command, poll=budget.check) as workers:
                assembly = Assembly(
                    self._objects,
                    scope,
                    held,
                    again=kept is not None,
                    max_file_bytes=self._max_file_bytes,
                    budget=budget,
                    progress=progress,
                )
                manifest = assembly.manifest(tree, leaves, workers)
            generation = self._write(target.repository, tree, held, assembly, manifest)
        else:
            manifest = kept
        files = self._files(target.repository, held, generation)
        found = coverage(scope, generation, manifest)
        artifact = self._artifact(tree, target.revision)
        return Built(artifact, found, held.note, files, manifest.languages, manifest.sites)

    def verify(self, target: BuildTarget, artifact: Artifact, store: StoreState) -> None:
        """Every file is what was written, and every path of the tree has its row."""
        scope = _scope(target)
        tree = self._objects.prove(scope)
        if artifact != self._artifact(tree, target.revision):
            raise _not_of_commit(target, artifact.revision)
        try:
            manifest, generation = self._read_whole(target, tree, store)
            if manifest.tree != tree:
                raise _not_of_commit(target, target.revision)
            unlimited = Budget("verify", self.engine, math.inf)
            leaves = [(entry.path, entry.oid) for entry in self._objects.leaves(scope, unlimited)]
            paths, oids = generation.texts(manifest, "paths"), generation.oids(manifest)
        except Damaged as error:
            raise _unusable(target, str(error)) from error
        if leaves != list(zip(paths, oids, strict=True)):
            raise _unusable(target, "its paths are not those of the tree")

    def prune(self, repository: str, store: StoreState) -> tuple[StoredFile, ...]:
        """The manifests of ``store.live``, and segments that hold little else than they need."""
        if not store.live:
            return ()
        held = Held(self._artifacts, repository, store)
        if held.damaged:
            # What damaged files held is not known, so nothing can be told to be dead.
            return store.files
        return self._files(repository, held, held.generation)

    def _artifact(self, tree: str, revision: str) -> Artifact:
        return Artifact(ArtifactKind.GRAPH, self.engine, self.engine_version, tree, revision)

    def _read_whole(
        self, target: BuildTarget, tree: str, store: StoreState
    ) -> tuple[Manifest, Generation]:
        files = sorted_out(store.files)
        stored = files.manifests.get(tree)
        if stored is None:
            raise Damaged("there is no manifest of the pinned tree")
        for file in (stored, *files.segments):
            self._artifacts.verify(target.repository, file)
        opened = (self._artifacts.open(target.repository, file) for file in files.segments)
        generation = Generation([Segment(data) for data in opened])
        manifest = manifests.read(self._artifacts.open(target.repository, stored))
        if not generation.whole(manifest):
            raise Damaged("something that a file of the tree needs is in no segment")
        return manifest, generation

    def _write(
        self, repository: str, tree: str, held: Held, assembly: Assembly, manifest: Manifest
    ) -> Generation:
        segments = list(held.generation.segments)
        if not assembly.draft.empty:
            self._faults.reach("graph.segment.before")
            file = self._artifacts.put(repository, SEGMENT, assembly.draft.write())
            self._faults.reach("graph.segment.after")
            held.segment_files.append(file)
            segments.append(Segment(self._artifacts.open(repository, file)))
        self._faults.reach("graph.manifest.before")
        stored = self._artifacts.put(
            repository, f"{manifests.ROLE}{tree}", manifests.write(manifest)
        )
        self._faults.reach("graph.manifest.after")
        held.manifest_files[tree] = stored
        held.manifests[tree] = manifest
        return Generation(segments)

    def _files(self, repository: str, held: Held, generation: Generation) -> tuple[StoredFile, ...]:
        """The next generation: small segments joined, and nothing that only dead trees need."""
        merging = Merging(generation, held.manifests.values())
        segments = []
        for group in merging.groups:
            if not group.rewrite:
                segments += [held.segment_files[at] for at in group.members]
                continue
            draft = merging.draft(group.members)
            self._faults.reach("graph.merge.before")
            segments.append(self._artifacts.put(repository, SEGMENT, draft.write()))
            self._faults.reach("graph.merge.after")
        return (
            *(replace(file, role=f"{SEGMENT}{at}") for at, file in enumerate(segments)),
            *(held.manifest_files[tree] for tree in sorted(held.manifest_files)),
        )


def coverage(scope: Scope, generation: Generation, manifest: Manifest) -> MemberCoverage:
    """How many files of a version have facts, and why others have none."""
    skips: dict[str, int] = {}
    for number in generation.column(manifest, "skip").tolist():
        reason = skip_of(number)
        if reason is not None:
            skips[reason] = skips.get(reason, 0) + 1
    files = len(manifest.rows)
    ordered = {str(reason): skips[reason] for reason in sorted(skips)}
    return MemberCoverage(
        scope.repository, scope.revision, files, files - sum(skips.values()), ordered
    )


def _open(generation: Generation, manifest: Manifest) -> bool:
    """Whether building a version again may read what it left out."""
    numbers = set(generation.column(manifest, "skip").tolist())
    return any(skip_of(number) in _AGAIN for number in numbers)


@contextmanager
def _no_collector() -> Iterator[None]:
    """Without the garbage collector, which would look through millions of values that stay."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            # What was made meanwhile counts as old, or all of it would be looked through now.
            gc.freeze()
            gc.enable()
            gc.unfreeze()


def _scope(target: BuildTarget) -> Scope:
    return Scope(target.context, Member(target.repository, target.branch, target.revision))


def _unusable(target: BuildTarget, reason: str) -> LifecycleError:
    return LifecycleError(
        BuildCode.ARTIFACT_MISSING,
        f'the call graph of "{target.repository}" can\'t be used: {reason}; '
        f"run `vacmcp context rebuild {target.context}`",
        {"context": target.context, "repository": target.repository},
    )


def _not_of_commit(target: BuildTarget, revision: str) -> Exception:
    return source_mismatch(
        target.repository,
        target.revision,
        revision,
        f'the call graph of "{target.repository}" was not made of the pinned commit; '
        f"run `vacmcp context rebuild {target.context}`",
    )
