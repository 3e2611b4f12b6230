"""The builder of a search that needs nothing built: it looks at the tree and counts."""

import math

from ...errors import BuildCode, LifecycleError, source_mismatch
from ...model import Artifact, ArtifactKind, Member, MemberCoverage, Scope
from ...ports.artifacts import StoredFile
from ...ports.budget import Budget, CancelFlag
from ...ports.builders import BuildTarget, Built, StoreState
from ...ports.objects import ObjectReader
from ...ports.repository_store import OnProgress
from .documents import Skip, load
from .tree import Leaf, to_leaf

_REPORT_EVERY = 200


class ScanBuilder:
    """A SearchBuilder whose artifact is the tree itself: its key is the tree's id."""

    engine = "scan"
    engine_version = "1"
    needs_worktree = False

    def __init__(self, objects: ObjectReader, *, max_file_bytes: int) -> None:
        self._objects = objects
        self._max_file_bytes = max_file_bytes

    def build(
        self,
        target: BuildTarget,
        store: StoreState,
        progress: OnProgress,
        cancel: CancelFlag | None,
    ) -> Built:
        """Read every blob of the tree once, so that what is missing is known now."""
        del store
        scope = _scope(target)
        budget = Budget("build", self.engine, math.inf, cancel)
        tree = self._objects.prove(scope)
        leaves = [to_leaf(entry) for entry in self._objects.leaves(scope, budget)]
        coverage = self._cover(scope, leaves, progress, budget)
        return Built(self._artifact(target, tree), coverage)

    def verify(self, target: BuildTarget, artifact: Artifact, store: StoreState) -> None:
        """SOURCE_MISMATCH unless the artifact names the pinned commit and its tree."""
        del store
        if (artifact.engine, artifact.engine_version) != (self.engine, self.engine_version):
            raise LifecycleError(
                BuildCode.ARTIFACT_MISSING,
                f'"{target.repository}" has a search artifact of {artifact.label}, not of '
                f"{self.engine}/{self.engine_version}; rebuild the context",
                {"repository": target.repository, "artifact": artifact.label},
            )
        tree = self._objects.prove(_scope(target, artifact))
        if artifact != self._artifact(target, tree):
            raise source_mismatch(
                target.repository,
                target.revision,
                artifact.revision,
                f'the search artifact of "{target.repository}" was not made of the pinned commit; '
                "rebuild the context",
            )

    def prune(self, repository: str, store: StoreState) -> tuple[StoredFile, ...]:
        """All files: what there is is another engine's."""
        del repository
        return store.files

    def _artifact(self, target: BuildTarget, tree: str) -> Artifact:
        return Artifact(
            ArtifactKind.SEARCH, self.engine, self.engine_version, tree, target.revision
        )

    def _cover(
        self, scope: Scope, leaves: list[Leaf], progress: OnProgress, budget: Budget
    ) -> MemberCoverage:
        skipped: dict[str, int] = {}
        for done, leaf in enumerate(leaves):
            budget.check()
            if done % _REPORT_EVERY == 0:
                progress("scan", done, len(leaves))
            skip = self._skip(scope, leaf)
            if skip is not None:
                skipped[str(skip)] = skipped.get(str(skip), 0) + 1
        progress("scan", len(leaves), len(leaves))
        searched = len(leaves) - sum(skipped.values())
        ordered = dict(sorted(skipped.items()))
        return MemberCoverage(scope.repository, scope.revision, len(leaves), searched, ordered)

    def _skip(self, scope: Scope, leaf: Leaf) -> Skip | None:
        if leaf.skip is not None:
            return leaf.skip
        found = load(self._objects, scope, leaf.oid, self._max_file_bytes)
        return found if isinstance(found, Skip) else None


def _scope(target: BuildTarget, artifact: Artifact | None = None) -> Scope:
    member = Member(target.repository, target.branch, target.revision, artifact)
    return Scope(target.context, member)
