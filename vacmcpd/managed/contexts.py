"""Contexts: created, retried, rebuilt, verified and removed.

Every change holds, in this order: the data directory (shared, refused while a server runs), the
context's build lock, then repository and store locks as a build or a removal needs them.
"""

import os
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass

from ..errors import BuildCode, Cancelled, LifecycleError, VacmcpError
from ..model import ContextState, Member
from ..names import check_name
from ..ports.build_queue import BuildJob
from ..ports.builders import BuildTarget
from ..ports.catalogue import BuildRecord, Catalogue, ContextRecord
from ..ports.faults import FaultPoint, NoFaults
from ..ports.locks import Locks
from ..ports.repository_store import RepositoryStore
from .activity import Activity
from .clock import Clock, utc_now
from .clones import sweep_keeps
from .engines import label_of
from .pipeline import Pipeline
from .queue import LocalQueue

Outcomes = list[tuple[str, ContextRecord | VacmcpError]]
"""What became of each context: its new record, or why it failed."""


@dataclass(frozen=True, slots=True)
class ContextStatus:
    """A context, its newest build attempt, and the command that mends it ("" when none does)."""

    record: ContextRecord
    last_build: BuildRecord | None
    repair: str


class Contexts:
    """The lifecycle of contexts over one data directory."""

    def __init__(
        self,
        catalogue: Catalogue,
        store: RepositoryStore,
        locks: Locks,
        queue: LocalQueue,
        pipeline: Pipeline,
        *,
        lock_timeout: float,
        faults: FaultPoint | None = None,
        clock: Clock = utc_now,
    ) -> None:
        self._catalogue = catalogue
        self._store = store
        self._locks = locks
        self._queue = queue
        self._pipeline = pipeline
        self._lock_timeout = lock_timeout
        self._faults = faults or NoFaults()
        self._clock = clock

    def create(
        self, name: str, pairs: Sequence[tuple[str, str]], *, activity: Activity
    ) -> ContextRecord:
        """Pin ``pairs`` of (repository, ref), in order, and build; the READY record.

        Names, pairs and refs are refused before anything is recorded; refs are looked up in the
        clones, without network. A failed build is recorded and raised.
        """
        check_name("context", name)
        _check_pairs(name, pairs)
        with self._locks.changing("context create"), self._queue.hold(name, "context create"):
            self._check_free(name)
            members = [self._pin(repository, ref) for repository, ref in pairs]
            activity.check()
            self._faults.reach("create.row.before")
            record = self._catalogue.create_context(name, members, self._clock())
            self._faults.reach("create.row.after")
            return self._build(record, activity, "context create")

    def list(self) -> list[ContextRecord]:
        """Every context, by id."""
        return list(self._catalogue.contexts())

    def status(self, name: str) -> ContextStatus:
        """One context with its newest build."""
        record = self._catalogue.context(name)
        return ContextStatus(record, self._catalogue.last_build(record.id), repair(record))

    def outdated(self, record: ContextRecord) -> bool:
        """Whether a READY context was built for other engines than a rebuild would build it for."""
        now = [label_of(each.default) for each in (self._pipeline.search, self._pipeline.graph)]
        return record.state is ContextState.READY and any(
            [artifact.label for artifact in (member.search, member.graph) if artifact] != now
            for member in record.members
        )

    def verify(self, name: str) -> ContextRecord:
        """Raise the first thing that does not hold; in any state, without locks or writes."""
        record = self._catalogue.context(name)
        for target, member in zip(_targets(record), record.members, strict=True):
            self._pipeline.verify(target, member.search, member.graph)
        return record

    def retry(self, name: str, *, activity: Activity) -> ContextRecord:
        """Build a FAILED context again, at the same pins."""
        with self._locks.changing("context retry"):
            name = self._catalogue.context(name).id
            with self._queue.hold(name, "context retry"):
                self._check_state(name, ContextState.FAILED)
                self._faults.reach("retry.row.before")
                record = self._catalogue.requeue(name, self._clock())
                self._faults.reach("retry.row.after")
                return self._build(record, activity, "context retry")

    def rebuild(self, name: str, *, activity: Activity) -> ContextRecord:
        """Build a READY context anew beside what is served; a failure leaves that served."""
        with self._locks.changing("context rebuild"):
            name = self._catalogue.context(name).id
            with self._queue.hold(name, "context rebuild"):
                record = self._check_state(name, ContextState.READY)
                return self._build(record, activity, "context rebuild")

    def rebuild_all(self, *, activity: Activity) -> Outcomes:
        """Rebuild every READY context, going on after a failure but not after a cancellation."""
        outcomes: Outcomes = []
        # Held over all, so that no server can start between two of them.
        with self._locks.changing("context rebuild"):
            for record in self.list():
                if record.removing_since or record.state is not ContextState.READY:
                    continue
                try:
                    outcomes.append((record.id, self.rebuild(record.id, activity=activity)))
                except Cancelled:
                    raise
                except VacmcpError as error:
                    outcomes.append((record.id, error))
        return outcomes

    def remove(self, name: str, *, activity: Activity) -> None:
        """Forget a context in any state, with the files and keep refs that nothing else needs.

        All locks come first: a wait that runs out changes nothing. The stores' are waited for
        before the repositories': a build may hold one for long, and no sync is to wait for it.
        """
        with self._locks.changing("context remove"):
            record = self._catalogue.context(name)
            with self._queue.hold(record.id, "context remove"), ExitStack() as stack:
                repositories = sorted({member.repository for member in record.members})
                for take in (self._locks.store, self._locks.repository):
                    for repository in repositories:
                        stack.enter_context(
                            take(
                                repository,
                                "context remove",
                                self._lock_timeout,
                                activity.on_wait,
                                activity.cancel,
                            )
                        )
                self._remove(record.id, repositories)

    def _remove(self, name: str, repositories: Sequence[str]) -> None:
        self._faults.reach("remove.mark.before")
        self._catalogue.mark_removing(name, self._clock())
        self._faults.reach("remove.mark.after")
        # Marked it is served by nobody and needs no file; its row goes last, so that a removal
        # that is cut off here can be finished.
        for repository in repositories:
            self._pipeline.stores.prune(repository, self._pipeline.search, self._pipeline.graph)
        self._catalogue.delete_context(name)
        self._faults.reach("remove.row.after")
        for repository in repositories:
            sweep_keeps(self._catalogue, self._store, repository)
            self._faults.reach("remove.keep.after")

    def _pin(self, repository: str, ref: str) -> Member:
        record = self._catalogue.repository(repository)
        found = self._store.resolve(record.name, ref)
        return Member(record.name, ref, found.revision)

    def _check_free(self, name: str) -> None:
        for record in self._catalogue.contexts():
            if record.id.lower() == name.lower():
                raise LifecycleError(
                    BuildCode.INVALID_ARGUMENT,
                    f'context "{record.id}" exists ({record.shown_state}) and never changes; '
                    "take another name, or remove it first",
                    {"context": record.id},
                )

    def _check_state(self, name: str, wanted: ContextState) -> ContextRecord:
        record = self._catalogue.context(name)
        if record.removing_since is None and record.state is wanted:
            return record
        verb = "retry" if wanted is ContextState.FAILED else "rebuild"
        raise LifecycleError(
            BuildCode.INVALID_ARGUMENT,
            f'context "{record.id}" is {record.shown_state}, and {verb} is for {wanted} ones; '
            f"{_instead(record)}",
            {"context": record.id, "state": record.shown_state},
        )

    def _build(self, record: ContextRecord, activity: Activity, verb: str) -> ContextRecord:
        search, graph = self._pipeline.search.default, self._pipeline.graph.default
        self._queue.submit(
            BuildJob(
                record.id,
                record.state is ContextState.READY,
                _targets(record),
                label_of(search),
                label_of(graph),
            )
        )
        self._faults.reach("build.begin.before")
        claimed = self._queue.claim(f"vacmcp {verb} (pid {os.getpid()})")
        assert claimed is not None
        try:
            self._faults.reach("build.begin.after")
            return self._pipeline.run(claimed, activity, verb)
        finally:
            self._queue.finish(claimed.build)


def repair(record: ContextRecord) -> str:
    """The command that mends a context; "" when it is READY or being built."""
    if record.removing_since is not None:
        return f"vacmcp context remove {record.id}"
    return f"vacmcp context retry {record.id}" if record.state is ContextState.FAILED else ""


def _instead(record: ContextRecord) -> str:
    if record.removing_since is None and record.state is ContextState.READY:
        return f"`vacmcp context rebuild {record.id}` builds it anew"
    command = repair(record)
    return f"run `{command}`" if command else "wait until its build has ended"


def _targets(record: ContextRecord) -> tuple[BuildTarget, ...]:
    return tuple(
        BuildTarget(record.id, member.repository, member.branch, member.revision)
        for member in record.members
    )


def _check_pairs(name: str, pairs: Sequence[tuple[str, str]]) -> None:
    if not pairs:
        raise LifecycleError(
            BuildCode.INVALID_ARGUMENT,
            f'context "{name}" needs at least one --repo with its --ref',
            {"context": name},
        )
    seen: set[str] = set()
    for repository, ref in pairs:
        if not ref.strip():
            raise LifecycleError(
                BuildCode.INVALID_ARGUMENT,
                f'the ref for repository "{repository}" is empty; name a branch, tag or commit',
                {"context": name, "repository": repository},
            )
        if repository.lower() in seen:
            raise LifecycleError(
                BuildCode.INVALID_ARGUMENT,
                f'repository "{repository}" is given twice; a context has each one once',
                {"context": name, "repository": repository},
            )
        seen.add(repository.lower())
