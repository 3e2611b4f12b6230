"""The catalogue in one SQLite file of the data directory."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from typing import Self

from sqlalchemy import Engine
from sqlalchemy.orm import Session

from ..datadir import DataDirectory
from ..errors import BuildCode, LifecycleError
from ..model import BuildState, Member, Step, StepOutcome
from ..ports.artifacts import StoredFile
from ..ports.builders import StoreState
from ..ports.catalogue import (
    BuildRecord,
    BuiltMember,
    ContextRecord,
    RepositoryRecord,
    StoreClaim,
)
from ..ports.faults import FaultPoint, NoFaults
from . import builds, contexts, repositories, stores, upgrade
from .connections import engine_for, told, writing
from .records import repository_record

_NO_FAULTS = NoFaults()


class SqliteCatalogue:
    """``ports.catalogue.Catalogue`` over a file that threads and processes share.

    Beside the port's errors every method raises LOCKED when another process writes for too long,
    NO_SPACE, ARTIFACT_MISSING for a damaged file and INVALID_ARGUMENT for one that can't be
    opened or written. A write named ``w`` passes the fault points ``catalogue.w.uncommitted``
    and ``catalogue.w.committed``.
    """

    def __init__(self, engine: Engine, faults: FaultPoint) -> None:
        self._engine = engine
        self._faults = faults
        self._closed = False

    @classmethod
    def open(cls, data: DataDirectory, *, faults: FaultPoint = _NO_FAULTS) -> Self:
        """Open for writing; made if it is not there, brought to the newest revision if older.

        Raises what :func:`upgrade.ensure` raises.
        """
        upgrade.ensure(data, faults)
        return cls(engine_for(data.catalogue), faults)

    @classmethod
    def read_only(cls, data: DataDirectory) -> Self:
        """Open what is there for reading, beside any writer; never upgraded.

        INVALID_ARGUMENT unless it is at the newest revision.
        """
        upgrade.require_head(data.catalogue)
        return cls(engine_for(data.catalogue, "ro"), _NO_FAULTS)

    def add_repository(self, name: str, url: str, at: datetime) -> RepositoryRecord:
        with self._write("add_repository") as session:
            return repositories.add(session, name, url, at)

    def repository(self, name: str) -> RepositoryRecord:
        with self._read() as session:
            return repository_record(repositories.find(session, name))

    def repositories(self) -> Sequence[RepositoryRecord]:
        with self._read() as session:
            return repositories.all_by_name(session)

    def record_sync(self, name: str, at: datetime, error: str | None) -> RepositoryRecord:
        with self._write("record_sync") as session:
            return repositories.record_sync(session, name, at, error)

    def remove_repository(self, name: str) -> None:
        with self._write("remove_repository") as session:
            repositories.remove(session, name)

    def create_context(
        self, context: str, members: Sequence[Member], at: datetime
    ) -> ContextRecord:
        with self._write("create_context") as session:
            return contexts.create(session, context, members, at)

    def context(self, context: str) -> ContextRecord:
        with self._read() as session:
            return contexts.record(session, context)

    def contexts(self) -> Sequence[ContextRecord]:
        with self._read() as session:
            return contexts.all_by_id(session)

    def contexts_of(self, repository: str) -> Sequence[str]:
        with self._read() as session:
            return repositories.contexts_of(session, repository)

    def requeue(self, context: str, at: datetime) -> ContextRecord:
        with self._write("requeue") as session:
            return contexts.requeue(session, context, at)

    def begin_build(self, context: str, owner: str, rebuild: bool, at: datetime) -> BuildRecord:
        with self._write("begin_build") as session:
            return builds.begin(session, context, owner, rebuild, at)

    def claim_store(self, repository: str, kind: str) -> StoreClaim:
        with self._write("claim_store") as session:
            return stores.claim(session, repository, kind)

    def store_state(
        self, repository: str, kind: str, engine: str, engine_version: str
    ) -> StoreState:
        with self._read() as session:
            return stores.state(session, repository, kind, engine, engine_version)

    def store_files(self, repository: str, kind: str) -> tuple[StoredFile, ...]:
        with self._read() as session:
            return stores.files(session, repository, kind)

    def named_files(self, repository: str) -> frozenset[str]:
        with self._read() as session:
            return stores.named(session, repository)

    def publish_store(self, claim: StoreClaim, files: Sequence[StoredFile]) -> None:
        # Durable: the files that it does not name any more are deleted next.
        with self._write("publish_store", durable=True) as session:
            stores.publish(session, claim, files)

    def start_step(self, build: str, step: Step, repository: str, at: datetime) -> int:
        with self._write("start_step") as session:
            return builds.start_step(session, build, step, repository, at)

    def finish_step(
        self, step: int, outcome: StepOutcome, counts: Mapping[str, int], message: str, at: datetime
    ) -> None:
        with self._write("finish_step") as session:
            builds.finish_step(session, step, outcome, counts, message, at)

    def publish(
        self,
        build: str,
        members: Sequence[BuiltMember],
        claims: Sequence[StoreClaim],
        at: datetime,
    ) -> ContextRecord:
        with self._write("publish", durable=True) as session:
            return builds.publish(session, build, members, claims, at)

    def fail_build(
        self, build: str, state: BuildState, code: str, message: str, at: datetime
    ) -> ContextRecord:
        with self._write("fail_build") as session:
            return builds.fail(session, build, state, code, message, at)

    def fail_unbuilt(self, context: str, code: str, message: str, at: datetime) -> ContextRecord:
        with self._write("fail_unbuilt") as session:
            return contexts.fail_unbuilt(session, context, code, message, at)

    def build(self, build: str) -> BuildRecord:
        with self._read() as session:
            return builds.record(session, build)

    def last_build(self, context: str) -> BuildRecord | None:
        with self._read() as session:
            return builds.last_of(session, context)

    def running_builds(self) -> Sequence[BuildRecord]:
        with self._read() as session:
            return builds.running(session)

    def mark_removing(self, context: str, at: datetime) -> ContextRecord:
        with self._write("mark_removing") as session:
            return contexts.mark_removing(session, context, at)

    def delete_context(self, context: str) -> None:
        with self._write("delete_context") as session:
            contexts.remove(session, context)

    def revision(self) -> str:
        with self._read() as session:
            found = session.connection().exec_driver_sql("SELECT version_num FROM alembic_version")
            return str(found.scalar_one())

    def integrity(self) -> Sequence[str]:
        try:
            with self._read() as session:
                return _findings(session)
        except LifecycleError as error:
            # A file so damaged that the check itself can't run is the worst finding.
            if error.code is not BuildCode.ARTIFACT_MISSING:
                raise
            return [error.message]

    def close(self) -> None:
        self._closed = True
        self._engine.dispose()

    @contextmanager
    def _read(self) -> Iterator[Session]:
        self._check_open()
        with told(), Session(self._engine) as session:
            yield session

    @contextmanager
    def _write(self, name: str, durable: bool = False) -> Iterator[Session]:
        self._check_open()
        with told(), Session(writing(self._engine, durable)) as session, session.begin():
            yield session
            session.flush()
            self._faults.reach(f"catalogue.{name}.uncommitted")
        self._faults.reach(f"catalogue.{name}.committed")

    def _check_open(self) -> None:
        if self._closed:
            raise LifecycleError(BuildCode.INVALID_ARGUMENT, "the catalogue is closed")


def _findings(session: Session) -> list[str]:
    connection = session.connection()
    found = [
        str(line)
        for line in connection.exec_driver_sql("PRAGMA integrity_check").scalars()
        if line != "ok"
    ]
    broken = connection.exec_driver_sql("PRAGMA foreign_key_check")
    return found + [
        f"row {row} of {table} refers to a row of {parent} that is gone"
        for table, row, parent, _ in broken
    ]
