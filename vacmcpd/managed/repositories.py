"""Repositories: added, listed, synced and removed."""

from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from ..errors import BuildCode, Cancelled, LifecycleError, VacmcpError
from ..names import check_name
from ..ports.artifacts import ArtifactStore
from ..ports.catalogue import Catalogue, RepositoryRecord
from ..ports.faults import FaultPoint, NoFaults
from ..ports.locks import Guard, Locks
from ..ports.repository_store import FetchReport, RepositoryStore
from .activity import Activity
from .clock import Clock, utc_now
from .clones import keep_pins, restore_clone
from .failures import file_failure

RepositoryState = Literal["READY", "FAILED"]


@dataclass(frozen=True, slots=True)
class RepositoryStatus:
    """A repository as commands show it; FAILED when its last sync failed or its clone is gone.

    ``last_sync_at`` is None before the first sync; ``last_sync_error`` is ``CODE: message``.
    """

    name: str
    url: str
    state: RepositoryState
    last_sync_at: datetime | None
    last_sync_error: str | None
    contexts: tuple[str, ...]
    branches: int
    tags: int


Outcomes = list[tuple[str, RepositoryStatus | VacmcpError]]
"""What became of each repository: its new status, or why it failed."""


class Repositories:
    """The lifecycle of repositories over one data directory."""

    def __init__(
        self,
        catalogue: Catalogue,
        store: RepositoryStore,
        artifacts: ArtifactStore,
        locks: Locks,
        *,
        allow_http: bool,
        lock_timeout: float,
        faults: FaultPoint | None = None,
        clock: Clock = utc_now,
    ) -> None:
        self._catalogue = catalogue
        self._store = store
        self._artifacts = artifacts
        self._locks = locks
        self._allow_http = allow_http
        self._lock_timeout = lock_timeout
        self._faults = faults or NoFaults()
        self._clock = clock

    def add(self, name: str, url: str, *, activity: Activity) -> RepositoryStatus:
        """Clone ``url`` and record it, the row last: a failed add leaves nothing behind.

        Name and URL are refused before anything exists.
        """
        check_name("repository", name)
        self._store.check_url(url, self._allow_http)
        self._check_free(name)
        with self._lock(name, "repo add", activity):
            # Somebody else may have added it while this command waited its turn.
            self._check_free(name)
            activity.check()
            self._clone(name, url, activity)
            record = self._catalogue.add_repository(name, url, self._clock())
            self._faults.reach("add.row.after")
        return self._status(record)

    def list(self) -> list[RepositoryStatus]:
        """Every repository, by name."""
        return [self._status(record) for record in self._catalogue.repositories()]

    def status(self, name: str) -> RepositoryStatus:
        """One repository."""
        return self._status(self._catalogue.repository(name))

    def sync(self, name: str, *, activity: Activity) -> RepositoryStatus:
        """Fetch what the remote has now; a clone that is gone or damaged is made again.

        A failure is recorded and raised, and the clone stays as usable as it was; a cancellation
        leaves the record untouched.
        """
        name = self._catalogue.repository(name).name
        with self._lock(name, "repo sync", activity):
            record = self._catalogue.repository(name)
            activity.check()
            try:
                self._bring(record, activity)
            except Cancelled:
                raise
            except VacmcpError as error:
                self._catalogue.record_sync(name, self._clock(), str(error))
                raise
            self._faults.reach("sync.record.before")
            record = self._catalogue.record_sync(name, self._clock(), None)
            self._faults.reach("sync.record.after")
        return self._status(record)

    def sync_all(self, *, activity: Activity) -> Outcomes:
        """Sync each, going on after a failure but not after a cancellation."""
        outcomes: Outcomes = []
        for record in self._catalogue.repositories():
            try:
                outcomes.append((record.name, self.sync(record.name, activity=activity)))
            except Cancelled:
                raise
            except VacmcpError as error:
                outcomes.append((record.name, error))
        return outcomes

    def remove(self, name: str, *, activity: Activity) -> None:
        """Forget a repository that no context names, then delete its clone and its store."""
        with self._locks.changing("repo remove"):
            name = self._catalogue.repository(name).name
            # In the order in which `context remove` takes them.
            with (
                self._locks.store(
                    name, "repo remove", self._lock_timeout, activity.on_wait, activity.cancel
                ),
                self._lock(name, "repo remove", activity),
            ):
                self._faults.reach("repo_remove.row.before")
                self._catalogue.remove_repository(name)
                self._faults.reach("repo_remove.row.after")
                self._store.remove(name)
                self._faults.reach("repo_remove.clone.after")
                self._artifacts.remove(name)
                self._faults.reach("repo_remove.files.after")

    def _clone(self, name: str, url: str, activity: Activity) -> None:
        whole = False
        try:
            # No row: what lies under this name was left by an add or a removal that died.
            self._store.remove(name)
            self._artifacts.remove(name)
            self._faults.reach("add.clone.before")
            self._store.clone(name, url, activity.progress, activity.cancel)
            self._faults.reach("add.clone.after")
            whole = True
        except OSError as error:
            raise file_failure(f'cloning "{name}"', error) from error
        finally:
            if not whole:
                self._store.remove(name)

    def _bring(self, record: RepositoryRecord, activity: Activity) -> None:
        try:
            if self._store.healthy(record.name):
                self._faults.reach("sync.fetch.before")
                self._store.fetch(record.name, record.url, activity.progress, activity.cancel)
                self._faults.reach("sync.fetch.after")
            else:
                restore_clone(self._store, record, self._faults, activity)
            keep_pins(self._catalogue, self._store, record.name, self._faults)
        except OSError as error:
            raise file_failure(f'syncing "{record.name}"', error) from error

    def _check_free(self, name: str) -> None:
        for record in self._catalogue.repositories():
            if record.name.lower() == name.lower():
                raise LifecycleError(
                    BuildCode.INVALID_ARGUMENT,
                    f'repository "{record.name}" exists; sync it with '
                    f"`vacmcp repo sync {record.name}`, or remove it first",
                    {"repository": record.name},
                )

    def _status(self, record: RepositoryRecord) -> RepositoryStatus:
        healthy = self._store.healthy(record.name)
        found = self._store.count(record.name) if healthy else FetchReport(0, 0)
        return RepositoryStatus(
            record.name,
            record.url,
            "READY" if healthy and not record.last_sync_error else "FAILED",
            record.last_sync_at,
            record.last_sync_error,
            tuple(self._catalogue.contexts_of(record.name)),
            found.branches,
            found.tags,
        )

    def _lock(self, name: str, verb: str, activity: Activity) -> AbstractContextManager[Guard]:
        return self._locks.repository(
            name, verb, self._lock_timeout, activity.on_wait, activity.cancel
        )
