"""Whether a member is what its context says, looked at without writing anything."""

from ..errors import BuildCode, LifecycleError
from ..model import Artifact
from ..ports.builders import BuildTarget, GraphBuilder, SearchBuilder
from ..ports.repository_store import RepositoryStore


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


def verify_search(
    store: RepositoryStore, builder: SearchBuilder, target: BuildTarget, artifact: Artifact | None
) -> None:
    """ARTIFACT_MISSING or SOURCE_MISMATCH unless the search artifact is of the pinned tree."""
    found = _verify_made_by(builder, "search", target, artifact)
    if found.key != store.tree_id(target.repository, target.revision):
        raise LifecycleError(
            BuildCode.SOURCE_MISMATCH,
            f'the search artifact of "{target.repository}" was made of another tree; '
            f"run `vacmcp context rebuild {target.context}`",
            _declared(target),
        )
    builder.verify(target, found)


def verify_graph(builder: GraphBuilder, target: BuildTarget, artifact: Artifact | None) -> None:
    """ARTIFACT_MISSING or SOURCE_MISMATCH unless the graph is of the pinned commit."""
    builder.verify(target, _verify_made_by(builder, "graph", target, artifact))


def missing_commit(target: BuildTarget) -> LifecycleError:
    """The pinned commit is not in the clone."""
    return LifecycleError(
        BuildCode.REVISION_NOT_FOUND,
        f'the clone of "{target.repository}" has no commit {target.revision}; '
        f"run `vacmcp repo sync {target.repository}`, then the command again",
        {**_declared(target), "ref": target.branch},
    )


def _verify_made_by(
    builder: SearchBuilder | GraphBuilder, kind: str, target: BuildTarget, found: Artifact | None
) -> Artifact:
    wanted = f"{builder.engine}/{builder.engine_version}"
    if found is None or found.label != wanted:
        made = "nothing" if found is None else found.label
        raise LifecycleError(
            BuildCode.ARTIFACT_MISSING,
            f'"{target.repository}" has no {kind} artifact of {wanted} but {made}; '
            f"run `vacmcp context rebuild {target.context}`",
            _declared(target),
        )
    if found.revision != target.revision:
        raise LifecycleError(
            BuildCode.SOURCE_MISMATCH,
            f'the {kind} artifact of "{target.repository}" was made of commit {found.revision}; '
            f"run `vacmcp context rebuild {target.context}`",
            {**_declared(target), "actual_revision": found.revision},
        )
    return found


def _declared(target: BuildTarget) -> dict[str, str]:
    return {
        "context": target.context,
        "repository": target.repository,
        "declared_revision": target.revision,
    }
