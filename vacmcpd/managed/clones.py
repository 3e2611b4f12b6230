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
    store: RepositoryStore, record: RepositoryRecord, faults: FaultPoint, activity: Activity
) -> FetchReport:
    """Make a missing or damaged clone again; :func:`keep_pins` has to follow."""
    faults.reach("clone.restore.before")
    report = store.clone(record.name, record.url, activity.progress, activity.cancel)
    faults.reach("clone.restore.after")
    return report


def keep_pins(
    catalogue: Catalogue, store: RepositoryStore, repository: str, faults: FaultPoint
) -> None:
    """Write the keep refs that are missing, of every context: a new clone comes without any."""
    for revision in sorted(pinned(catalogue, repository) - store.kept(repository)):
        if store.has_commit(repository, revision):
            faults.reach("clone.keep.before")
            store.keep(repository, revision)
            faults.reach("clone.keep.after")


def sweep_keeps(catalogue: Catalogue, store: RepositoryStore, repository: str) -> None:
    """Delete the keep refs that no context needs; what an interrupted removal left, too.

    A context's row is written before its keep ref is, and the ref under the repository's lock:
    held here, no pin can slip in between the look and the deletion.
    """
    if not store.healthy(repository):
        return
    for revision in sorted(store.kept(repository) - pinned(catalogue, repository)):
        store.unkeep(repository, revision)
