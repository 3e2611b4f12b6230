"""The builder of the embedded search: blobs that no version had before become a segment."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt
import zstandard

from ...errors import BuildCode, LifecycleError, source_mismatch
from ...model import Artifact, ArtifactKind, Member, Scope
from ...ports.artifacts import ArtifactStore, StoredFile
from ...ports.budget import Budget, CancelFlag
from ...ports.builders import BuildTarget, Built, StoreState
from ...ports.faults import FaultPoint, NoFaults
from ...ports.objects import ObjectReader
from ...ports.repository_store import OnProgress
from ..container import Damaged
from ..merging import Load, plan
from . import manifests
from .blobs import Reader, Supply, Wanted, wanted
from .generations import DICTIONARY, SEGMENT, Located, Opener, sorted_out
from .held import Held
from .manifests import NO_BLOB, Manifest
from .postings import MAX_BLOCKS
from .rows import coverage, manifest_rows
from .segment_writer import Dictionary, Draft, Merge
from .segments import Segment
from .tree import Leaf, to_leaf

ENGINE, VERSION = "embedded", "1"
_TRAINING_BLOBS = 1_000
_DICTIONARY_BYTES = 112 * 1024
_WORTH_TRAINING = 200

_Segments = list[tuple[StoredFile, Segment]]


class EmbeddedBuilder:
    """A SearchBuilder whose artifacts are files of an ArtifactStore.

    ``max_file_bytes`` is the largest blob that is read; a blob that an earlier build found too
    large is read once the limit allows it. Fault points begin with ``search.``.
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
    ) -> None:
        self._objects = objects
        self._artifacts = artifacts
        self._max_file_bytes = max_file_bytes
        self._faults = faults or NoFaults()

    def build(
        self,
        target: BuildTarget,
        store: StoreState,
        progress: OnProgress,
        cancel: CancelFlag | None,
    ) -> Built:
        """Index what is new, merge what has become small, and write the tree's manifest."""
        scope = _scope(target)
        budget = Budget("build", self.engine, math.inf, cancel)
        tree = self._objects.prove(scope)
        leaves = [to_leaf(entry) for entry in self._objects.leaves(scope, budget)]
        held = Held(self._artifacts, target.repository, store)
        reader = Reader(self._objects, scope, self._max_file_bytes, progress, budget)
        new = wanted(held, leaves, reader)
        segments = self._write_new(target.repository, held, new, reader)
        located = Located([segment for _, segment in segments])
        rows = manifest_rows(leaves, new.ordinals, located)
        proof = manifests.proof_of(b"".join(_blob_ids(leaves)))
        self._faults.reach("search.manifest.before")
        stored = self._artifacts.put(
            target.repository, f"{manifests.ROLE}{tree}", manifests.write(tree, proof, rows)
        )
        self._faults.reach("search.manifest.after")
        held.manifest_files[tree] = stored
        held.manifests[tree] = manifests.read(self._artifacts.open(target.repository, stored))
        found = coverage(scope, held.manifests[tree], located)
        files = self._files(target.repository, held, segments, located)
        return Built(self._artifact(tree, target.revision), found, held.note, files)

    def verify(self, target: BuildTarget, artifact: Artifact, store: StoreState) -> None:
        """Every file is what was written, and every path of the tree has its row and its blob."""
        scope = _scope(target, artifact)
        tree = self._objects.prove(scope)
        if artifact != self._artifact(tree, target.revision):
            raise _not_of_commit(target, artifact.revision)
        try:
            manifest, located = self._read_whole(target, tree, store)
        except Damaged as error:
            raise _unusable(target, str(error)) from error
        if manifest.tree != tree:
            raise _not_of_commit(target, target.revision)
        unlimited = Budget("verify", self.engine, math.inf)
        leaves = [to_leaf(entry) for entry in self._objects.leaves(scope, unlimited)]
        _check_rows(target, leaves, manifest, located)

    def prune(self, repository: str, store: StoreState) -> tuple[StoredFile, ...]:
        """The manifests of ``store.live``, and segments that hold little else than their blobs."""
        if not store.live:
            return ()
        held = Held(self._artifacts, repository, store)
        if held.damaged:
            # What damaged files held is not known, so nothing can be told to be dead.
            return store.files
        located = Located([segment for _, segment in held.segments])
        return self._files(repository, held, held.segments, located)

    def _artifact(self, tree: str, revision: str) -> Artifact:
        return Artifact(ArtifactKind.SEARCH, self.engine, self.engine_version, tree, revision)

    def _read_whole(
        self, target: BuildTarget, tree: str, store: StoreState
    ) -> tuple[Manifest, Located]:
        files = sorted_out(store.files)
        stored = files.manifests.get(tree)
        if stored is None:
            raise Damaged("there is no manifest of the pinned tree")
        for file in (stored, *files.segments, *files.dictionaries.values()):
            self._artifacts.verify(target.repository, file)
        opener = Opener(self._artifacts, target.repository, files)
        located = Located([opener.segment(file) for file in files.segments])
        return manifests.read(self._artifacts.open(target.repository, stored)), located

    def _write_new(self, repository: str, held: Held, new: Wanted, reader: Reader) -> _Segments:
        segments = list(held.segments)
        reader.begin(len(new.blobs))
        if not new.blobs:
            return segments
        dictionary = self._dictionary(repository, held, new, reader)
        opener = held.opener()
        supply = Supply(new.blobs, reader)
        while not supply.empty:
            draft = Draft(dictionary, new.next_ordinal)
            self._faults.reach("search.segment.before")
            file = self._artifacts.put(repository, SEGMENT, draft.write(supply.fill(draft)))
            self._faults.reach("search.segment.after")
            segments.append((file, opener.segment(file)))
        return segments

    def _dictionary(self, repository: str, held: Held, new: Wanted, reader: Reader) -> Dictionary:
        """The store's dictionary; a new one where there is none and enough to learn from."""
        newest = held.newest_dictionary()
        if newest.digest or len(new.blobs) < _WORTH_TRAINING:
            return newest
        every = -(-len(new.blobs) // _TRAINING_BLOBS)
        samples = [reader.sample(blob) for blob in new.blobs[::every]]
        try:
            trained = zstandard.train_dictionary(
                _DICTIONARY_BYTES, [sample for sample in samples if sample], k=512, d=8
            )
        except zstandard.ZstdError:
            # Too few or too like texts teach nothing; blocks are compressed without, then.
            return newest
        data = trained.as_bytes()
        self._faults.reach("search.dictionary.before")
        file = self._artifacts.put(repository, DICTIONARY, iter([data]))
        self._faults.reach("search.dictionary.after")
        held.dictionaries.append(file)
        return Dictionary(file.digest, data)

    def _files(
        self, repository: str, held: Held, segments: _Segments, located: Located
    ) -> tuple[StoredFile, ...]:
        """The next generation: small segments joined, and nothing that only dead trees need."""
        merged = self._merged(repository, held, segments, located)
        return (
            *_numbered(DICTIONARY, held.dictionaries if merged else []),
            *_numbered(SEGMENT, merged),
            *(held.manifest_files[tree] for tree in sorted(held.manifest_files)),
        )

    def _merged(
        self, repository: str, held: Held, segments: _Segments, located: Located
    ) -> list[StoredFile]:
        live = _live(held.manifests.values(), located.next_ordinal)
        kept = [
            live[segment.ordinals] & (located.segment[segment.ordinals] == at)
            for at, (_, segment) in enumerate(segments)
        ]
        files = []
        loads = [_load(segment, mask) for (_, segment), mask in zip(segments, kept, strict=True)]
        for group in plan(loads, MAX_BLOCKS):
            if not group.rewrite:
                files += [segments[at][0] for at in group.members]
                continue
            merge = Merge(
                [(segments[at][1], kept[at]) for at in group.members],
                held.newest_dictionary(),
                located.next_ordinal,
            )
            self._faults.reach("search.merge.before")
            files.append(self._artifacts.put(repository, SEGMENT, merge.write()))
            self._faults.reach("search.merge.after")
        return files


def _blob_ids(leaves: Iterable[Leaf]) -> Iterable[bytes]:
    return (bytes.fromhex(leaf.oid) for leaf in leaves if leaf.skip is None)


def _numbered(role: str, files: Sequence[StoredFile]) -> list[StoredFile]:
    return [replace(file, role=f"{role}{at}") for at, file in enumerate(files)]


def _live(held: Iterable[Manifest], ordinals: int) -> npt.NDArray[np.bool_]:
    live = np.zeros(ordinals, bool)
    for manifest in held:
        live[manifest.ordinals[manifest.ordinals < ordinals]] = True
    return live


def _load(segment: Segment, kept: npt.NDArray[np.bool_]) -> Load:
    blocks = int(segment.block_count[kept].sum())
    blobs = int(np.count_nonzero(kept))
    return Load(blocks, blobs, segment.blocks + len(segment) - blocks - blobs)


def _check_rows(
    target: BuildTarget, leaves: Sequence[Leaf], manifest: Manifest, located: Located
) -> None:
    """ARTIFACT_MISSING unless each leaf has its row, and each row's blob is the leaf's."""
    if tuple(leaf.path for leaf in leaves) != manifest.paths:
        raise _unusable(target, "its paths are not those of the tree")
    if located.missing(manifest.ordinals):
        raise _unusable(target, "a file of the tree is in no segment")
    oids = [segment.oids() for segment in located.segments]
    for row, leaf in enumerate(leaves):
        ordinal = int(manifest.ordinals[row])
        held = "" if ordinal == NO_BLOB else oids[located.segment[ordinal]][located.blob[ordinal]]
        if manifest.kind(row) is not leaf.skip or held != ("" if leaf.skip else leaf.oid):
            raise _unusable(target, "a path of the tree stands for another file")


def _scope(target: BuildTarget, artifact: Artifact | None = None) -> Scope:
    member = Member(target.repository, target.branch, target.revision, artifact)
    return Scope(target.context, member)


def _unusable(target: BuildTarget, reason: str) -> LifecycleError:
    return LifecycleError(
        BuildCode.ARTIFACT_MISSING,
        f'the search index of "{target.repository}" can\'t be used: {reason}; '
        f"run `vacmcp context rebuild {target.context}`",
        {"context": target.context, "repository": target.repository},
    )


def _not_of_commit(target: BuildTarget, revision: str) -> Exception:
    return source_mismatch(
        target.repository,
        target.revision,
        revision,
        f'the search index of "{target.repository}" was not made of the pinned commit; '
        f"run `vacmcp context rebuild {target.context}`",
    )
