"""The schema's revisions: what a file is at, and bringing it to the newest.

Alembic is imported only when there is something to do, and a file that is up to date is opened
without a lock. Everything else happens under the catalogue's lock and in one transaction: a
process that dies in it leaves the file as it was.
"""

import os
import sqlite3
from contextlib import closing, suppress
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

from ..datadir import DataDirectory
from ..errors import BuildCode, LifecycleError, Locked
from ..ports.faults import FaultPoint
from .connections import PRAGMAS, connect, engine_for, told, writing

if TYPE_CHECKING:
    from sqlalchemy import Connection

APPLICATION_ID = 0x7661636D  # "vacm": whose file it is, whatever tables are in it
REVISIONS = ("0001", "0002")
"""Every revision of the schema, oldest first; a test compares them with the scripts."""

LOCK_SECONDS = 60.0
# Rebuilding a parent table drops the old one, which would delete its children by cascade; and
# the pragma is without effect inside a transaction.
_UPGRADE_PRAGMAS = (
    *(pragma for pragma in PRAGMAS if "foreign_keys" not in pragma),
    "foreign_keys=OFF",
)


@dataclass(frozen=True, slots=True)
class Schema:
    """The revisions this code knows, and the folder of the scripts that make them."""

    revisions: tuple[str, ...] = REVISIONS
    scripts: Path | None = None

    @property
    def head(self) -> str:
        """The newest revision."""
        return self.revisions[-1]


def ensure(data: DataDirectory, faults: FaultPoint, schema: Schema | None = None) -> None:
    """Make the catalogue of ``data``, or bring it to the newest revision, or leave it alone.

    Raises INVALID_ARGUMENT, having changed nothing, for a file that is no catalogue or one that
    a newer vacmcp made; LOCKED when another process upgrades it for too long; NO_SPACE.
    """
    schema = schema or Schema()
    with told():
        if _up_to_date(data.catalogue, schema):
            return
        data.create()
        _upgrade_alone(data, faults, schema)


def require_head(path: Path, schema: Schema | None = None) -> None:
    """INVALID_ARGUMENT unless there is a catalogue at exactly the newest revision."""
    schema = schema or Schema()
    with told():
        found = revision_of(path)
        if found is None:
            raise _refused(
                "there is no catalogue in this data directory yet; "
                "`vacmcp repo add NAME --url URL` makes one"
            )
        _refuse_unknown(found, schema)
        if found != schema.head:
            raise _refused(
                f"the catalogue is at revision {found} and this vacmcp needs {schema.head}; "
                "stop what runs on this data directory and run `vacmcp repo list`, "
                "which upgrades it"
            )


def revision_of(path: Path) -> str | None:
    """The revision of a catalogue; None when there is no file or nothing was written to it yet.

    Raises INVALID_ARGUMENT for a file of somebody else's.
    """
    if not path.exists() or path.stat().st_size == 0:
        return None
    with closing(connect(path, "ro", ())) as connection:
        try:
            return _recorded_revision(connection)
        except sqlite3.DatabaseError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_NOTADB:
                raise
            raise _foreign() from error


def _recorded_revision(connection: sqlite3.Connection) -> str | None:
    tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master")}
    if not tables:
        return None
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    if application != APPLICATION_ID or "alembic_version" not in tables:
        raise _foreign()
    found = [str(row[0]) for row in connection.execute("SELECT version_num FROM alembic_version")]
    if len(found) != 1:
        raise _foreign()
    return found[0]


def _up_to_date(path: Path, schema: Schema) -> bool:
    found = revision_of(path)
    if found is None:
        return False
    _refuse_unknown(found, schema)
    # A backup put in the catalogue's place is in rollback mode, where readers block writers.
    return found == schema.head and _is_wal(path)


def _is_wal(path: Path) -> bool:
    with path.open("rb") as file:
        # Bytes 18 and 19 of a SQLite file: write and read version, 2 for WAL.
        return file.read(20)[18:] == b"\2\2"


def _refuse_unknown(found: str, schema: Schema) -> None:
    if found not in schema.revisions:
        raise LifecycleError(
            BuildCode.INVALID_ARGUMENT,
            f"the catalogue was made by a newer vacmcp (revision {found}, this one knows up to "
            f"{schema.head}); install that version, nothing was changed",
            {"revision": found, "known": schema.head},
        )


def _upgrade_alone(data: DataDirectory, faults: FaultPoint, schema: Schema) -> None:
    # Both imports cost more than opening; only here are they needed.
    from filelock import FileLock, Timeout

    lock = FileLock(data.catalogue_lock, timeout=LOCK_SECONDS, mode=0o600, fallback_to_soft=False)
    try:
        with lock:
            # Whoever held the lock may have done it.
            if not _up_to_date(data.catalogue, schema):
                _upgrade(data.catalogue, faults, schema)
    except Timeout as error:
        raise Locked(
            f"another process has been upgrading the catalogue for {LOCK_SECONDS:g} s; "
            "wait for it to end and try again"
        ) from error


def _upgrade(path: Path, faults: FaultPoint, schema: Schema) -> None:
    found = revision_of(path)
    if found is None:
        _make_private(path)
    elif found != schema.head:
        _back_up(path, path.with_name(f"{path.name}.{found}.bak"), faults)
    with closing(connect(path)) as connection:
        connection.execute("PRAGMA journal_mode=WAL")
    if found != schema.head:
        _migrate(path, faults, schema)


def _migrate(path: Path, faults: FaultPoint, schema: Schema) -> None:
    engine = engine_for(path, pragmas=_UPGRADE_PRAGMAS)
    try:
        faults.reach("catalogue.upgrade.before")
        with writing(engine, durable=True).begin() as connection:
            run_scripts(connection, schema)
            broken = connection.exec_driver_sql("PRAGMA foreign_key_check").fetchall()
            if broken:
                raise LifecycleError(
                    BuildCode.ARTIFACT_MISSING,
                    f"the catalogue was not upgraded to {schema.head}: {len(broken)} rows of it "
                    "refer to rows that are gone; nothing was changed",
                )
            faults.reach("catalogue.upgrade.uncommitted")
        faults.reach("catalogue.upgrade.committed")
    finally:
        engine.dispose()


def run_scripts(connection: "Connection", schema: Schema, target: str = "") -> None:
    """Run Alembic up to ``target`` (the newest) inside the connection's transaction."""
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.attributes["connection"] = connection
    with resources.as_file(resources.files("vacmcpd.migrations")) as shipped:
        scripts = str(schema.scripts or shipped)
        config.set_main_option("script_location", scripts.replace("%", "%%"))
        command.upgrade(config, target or schema.head)
    connection.exec_driver_sql(f"PRAGMA application_id={APPLICATION_ID}")


def _back_up(path: Path, backup: Path, faults: FaultPoint) -> None:
    """Write what the catalogue is now to ``backup``, whole or not at all."""
    unfinished = backup.with_name(f"{backup.name}.tmp")
    unfinished.unlink(missing_ok=True)
    try:
        # VACUUM INTO takes an empty file and keeps its mode; a missing one gets the umask's.
        _make_private(unfinished)
        with closing(connect(path, pragmas=())) as connection:
            connection.execute("VACUUM INTO ?", (str(unfinished),))
        _sync(unfinished)
        faults.reach("catalogue.backup.before")
        unfinished.replace(backup)
    finally:
        with suppress(FileNotFoundError):
            unfinished.unlink()
    _sync(path.parent)
    faults.reach("catalogue.backup.after")


def _make_private(path: Path) -> None:
    """An empty file that only its owner reads; SQLite gives its mode to the files beside it."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    os.close(descriptor)
    path.chmod(0o600)


def _sync(path: Path) -> None:
    if path.is_dir() and os.name == "nt":
        # Windows opens no directories, and journals renames itself.
        return
    descriptor = os.open(path, os.O_RDONLY if path.is_dir() else os.O_RDWR)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _foreign() -> LifecycleError:
    return _refused(
        "the file catalogue.sqlite3 of this data directory is no catalogue of vacmcp; "
        "move it away or choose another data directory, nothing was changed"
    )


def _refused(message: str) -> LifecycleError:
    return LifecycleError(BuildCode.INVALID_ARGUMENT, message)
