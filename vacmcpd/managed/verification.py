"""Whether a member is what its context says, looked at without writing anything."""

from typing import TypeVar

from ..errors import BuildCode, LifecycleError
from ..model import Artifact
from ..ports.builders import BuildTarget, StoreState
from ..ports.repository_store import RepositoryStore
from .engines import Builder, Builders, label_of

_B = TypeVar("_B", bound=Builder)


def verify_pin(store: RepositoryStore, target: BuildTarget, kept: frozenset[str]) -> None:
    """REPOSITORY_NOT_FOUND, REVISION_NOT_FOUND or SOURCE_MISMATCH unless the commit is kept."""
    if not store.has_commit(target.repository, target.revision):
        raise missing_commit(target)
    if target.revision not in kept:
        raise LifecycleError(
            BuildCode.SOURCE_MISMATCH,
            f'no keep ref holds commit {target.revision} in the clone of "{target.repository}"; '
            f"run `vacmcp context rebuild {target.context}`",
            _declared(target),
        )


def require_builder(
    builders: Builders[_B], target: BuildTarget, found: Artifact | None
) -> tuple[_B, Artifact]:
    """Who made a member's artifact; ARTIFACT_MISSING for none and for an unknown engine."""
    builder = None if found is None else builders.of(found)
    if found is not None and builder is not None:
        return builder, found
    what = f"has no {builders.kind} artifact"
    if found is not None:
        known = ", ".join(label_of(each) for each in builders.each)
        what = f"has a {builders.kind} artifact of {found.label}, and this vacmcp knows {known}"
    raise LifecycleError(
        BuildCode.ARTIFACT_MISSING,
        f'"{target.repository}" {what}; run `vacmcp context rebuild {target.context}`',
        _declared(target),
    )


def verify_artifact(
    repositories: RepositoryStore,
    builder: Builder,
    target: BuildTarget,
    found: Artifact,
    store: StoreState,
) -> None:
    """ARTIFACT_MISSING or SOURCE_MISMATCH unless the artifact is whole and of the pinned tree."""
    kind = found.kind
    if found.revision != target.revision:
        raise LifecycleError(
            BuildCode.SOURCE_MISMATCH,
            f'the {kind} artifact of "{target.repository}" was made of commit {found.revision}; '
            f"run `vacmcp context rebuild {target.context}`",
            {**_declared(target), "actual_revision": found.revision},
        )
    made_of = {target.revision, repositories.tree_id(target.repository, target.revision)}
    if found.key not in made_of:
        raise LifecycleError(
            BuildCode.SOURCE_MISMATCH,
            f'the {kind} artifact of "{target.repository}" was made of another tree; '
            f"run `vacmcp context rebuild {target.context}`",
            _declared(target),
        )
    builder.verify(target, found, store)


def missing_commit(target: BuildTarget) -> LifecycleError:
    """The pinned commit is not in the clone."""
    return LifecycleError(
        BuildCode.REVISION_NOT_FOUND,
        f'the clone of "{target.repository}" has no commit {target.revision}; '
        f"run `vacmcp repo sync {target.repository}`, then the command again",
        {**_declared(target), "ref": target.branch},
    )


def _declared(target: BuildTarget) -> dict[str, str]:
    return {
        "context": target.context,
        "repository": target.repository,
        "declared_revision": target.revision,
    }
