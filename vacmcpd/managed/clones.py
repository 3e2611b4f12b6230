"""What commands and builds both do to a clone, under its repository's lock."""

from ..ports.catalogue import Catalogue, RepositoryRecord
from ..ports.faults import FaultPoint
from ..ports.repository_store import FetchReport, RepositoryStore
from .activity import Activity


def pinned(catalogue: Catalogue, repository: str) -> frozenset[str]:
    """The revisions of ``repository`` that any context pins, those being removed too."""
    return frozenset(
        member.revision
        for context in catalogue.contexts_of(repository)
        for member in catalogue.context(context).members
        if member.repository == repository
    )


def restore_clone(
    catalogue: Catalogue,
    store: RepositoryStore,
    record: RepositoryRecord,
    faults: FaultPoint,
    activity: Activity,
) -> FetchReport:
    """Make a missing or damaged clone again, and the keep refs of every pin that came with it."""
    faults.reach("clone.restore.before")
    report = store.clone(record.name, record.url, activity.progress, activity.cancel)
    faults.reach("clone.restore.after")
    for revision in sorted(pinned(catalogue, record.name)):
        if store.has_commit(record.name, revision):
            store.keep(record.name, revision)
    return report


def sweep_keeps(catalogue: Catalogue, store: RepositoryStore, repository: str) -> None:
    """Delete the keep refs that no context needs; what an interrupted removal left, too.

    A context's row is written before its keep ref is, and the ref under the repository's lock:
    held here, no pin can slip in between the look and the deletion.
    """
    if not store.healthy(repository):
        return
    for revision in sorted(store.kept(repository) - pinned(catalogue, repository)):
        store.unkeep(repository, revision)
