"""Whether a member is what its context says, looked at without writing anything."""

from ..errors import BuildCode, LifecycleError
from ..model import Artifact
from ..ports.builders import BuildTarget, GraphBuilder, SearchBuilder, StoreState
from ..ports.repository_store import RepositoryStore
from .engines import SearchBuilders, label_of


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
    builders: SearchBuilders, target: BuildTarget, found: Artifact | None
) -> tuple[SearchBuilder, Artifact]:
    """Who made a member's search artifact; ARTIFACT_MISSING for none and for an unknown engine."""
    builder = None if found is None else builders.of(found)
    if found is not None and builder is not None:
        return builder, found
    what = "has no search artifact"
    if found is not None:
        known = ", ".join(label_of(each) for each in builders.each)
        what = f"has a search artifact of {found.label}, and this vacmcp knows {known}"
    raise LifecycleError(
        BuildCode.ARTIFACT_MISSING,
        f'"{target.repository}" {what}; run `vacmcp context rebuild {target.context}`',
        _declared(target),
    )


def verify_search(
    repositories: RepositoryStore,
    builder: SearchBuilder,
    target: BuildTarget,
    found: Artifact,
    store: StoreState,
) -> None:
    """ARTIFACT_MISSING or SOURCE_MISMATCH unless the search artifact is of the pinned tree."""
    _verify_revision("search", target, found)
    if found.key != repositories.tree_id(target.repository, target.revision):
        raise LifecycleError(
            BuildCode.SOURCE_MISMATCH,
            f'the search artifact of "{target.repository}" was made of another tree; '
            f"run `vacmcp context rebuild {target.context}`",
            _declared(target),
        )
    builder.verify(target, found, store)


def verify_graph(builder: GraphBuilder, target: BuildTarget, artifact: Artifact | None) -> None:
    """ARTIFACT_MISSING or SOURCE_MISMATCH unless the graph is of the pinned commit."""
    wanted = f"{builder.engine}/{builder.engine_version}"
    if artifact is None or artifact.label != wanted:
        made = "nothing" if artifact is None else artifact.label
        raise LifecycleError(
            BuildCode.ARTIFACT_MISSING,
            f'"{target.repository}" has no graph artifact of {wanted} but {made}; '
            f"run `vacmcp context rebuild {target.context}`",
            _declared(target),
        )
    _verify_revision("graph", target, artifact)
    builder.verify(target, artifact)


def missing_commit(target: BuildTarget) -> LifecycleError:
    """The pinned commit is not in the clone."""
    return LifecycleError(
        BuildCode.REVISION_NOT_FOUND,
        f'the clone of "{target.repository}" has no commit {target.revision}; '
        f"run `vacmcp repo sync {target.repository}`, then the command again",
        {**_declared(target), "ref": target.branch},
    )


def _verify_revision(kind: str, target: BuildTarget, found: Artifact) -> None:
    if found.revision != target.revision:
        raise LifecycleError(
            BuildCode.SOURCE_MISMATCH,
            f'the {kind} artifact of "{target.repository}" was made of commit {found.revision}; '
            f"run `vacmcp context rebuild {target.context}`",
            {**_declared(target), "actual_revision": found.revision},
        )


def _declared(target: BuildTarget) -> dict[str, str]:
    return {
        "context": target.context,
        "repository": target.repository,
        "declared_revision": target.revision,
    }
