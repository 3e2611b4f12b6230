"""Connections to the SQLite file, its transactions, and what its errors mean.

The driver's own transactions are switched off (``isolation_level=None``) and BEGIN is ours: with
them on, DDL of a rolled-back transaction stays. Writes begin IMMEDIATE, because a deferred
transaction that reads and then writes fails at once beside another writer, whatever the timeout.
"""

import errno
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.exc import DBAPIError
from sqlalchemy.pool import QueuePool

from ..errors import BuildCode, LifecycleError, Locked

BUSY_SECONDS = 5.0
PRAGMAS = ("foreign_keys=ON", "trusted_schema=OFF", "synchronous=NORMAL")
"""Of every connection. The journal mode is the file's, and set where the file is made."""

_IMMEDIATE = "vacmcp_immediate"
_DURABLE = "vacmcp_durable"
_MEANINGS = {
    sqlite3.SQLITE_FULL: (
        BuildCode.NO_SPACE,
        "the catalogue can't be written: no space left on its disk; free some and try again",
    ),
    sqlite3.SQLITE_CORRUPT: (
        BuildCode.ARTIFACT_MISSING,
        "the catalogue is damaged; stop vacmcp and put a backup in its place",
    ),
    sqlite3.SQLITE_NOTADB: (
        BuildCode.ARTIFACT_MISSING,
        "the catalogue is damaged or no database; stop vacmcp and put a backup in its place",
    ),
    sqlite3.SQLITE_IOERR: (
        BuildCode.ARTIFACT_MISSING,
        "the disk failed reading or writing the catalogue; see the system's log, "
        "then run `vacmcp doctor --managed`",
    ),
    sqlite3.SQLITE_READONLY: (
        BuildCode.INVALID_ARGUMENT,
        "the catalogue can't be written: it was opened for reading, or its file or directory "
        "is read-only for this user",
    ),
    sqlite3.SQLITE_CANTOPEN: (
        BuildCode.INVALID_ARGUMENT,
        "the catalogue can't be opened; check that it exists and who may read it and its directory",
    ),
    sqlite3.SQLITE_PERM: (
        BuildCode.INVALID_ARGUMENT,
        "the catalogue can't be opened; check who may read it and its directory",
    ),
}
_BUSY = frozenset({sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL})


def connect(path: Path, mode: str = "rw", pragmas: Iterable[str] = PRAGMAS) -> sqlite3.Connection:
    """A connection to an existing file; ``mode`` is SQLite's: ``rw`` or ``ro``."""
    connection = sqlite3.connect(
        f"file:{quote(path.absolute().as_posix())}?mode={mode}",
        uri=True,
        timeout=BUSY_SECONDS,
        isolation_level=None,
        check_same_thread=False,
    )
    try:
        for pragma in pragmas:
            connection.execute(f"PRAGMA {pragma}")
    except sqlite3.Error:
        connection.close()
        raise
    return connection


def engine_for(path: Path, mode: str = "rw", pragmas: Iterable[str] = PRAGMAS) -> Engine:
    """An engine over :func:`connect`, which threads may share."""
    engine = create_engine(
        "sqlite+pysqlite://",
        creator=lambda: connect(path, mode, pragmas),
        # The URL names no file, for which SQLAlchemy would take the pool of in-memory databases.
        poolclass=QueuePool,
        pool_size=4,
        max_overflow=-1,
    )
    event.listen(engine, "begin", _begin)
    return engine


def writing(engine: Engine, durable: bool = False) -> Engine:
    """The same pool, for transactions that write; ``durable`` ones survive a power loss."""
    return engine.execution_options(**{_IMMEDIATE: True, _DURABLE: durable})


@contextmanager
def told() -> Iterator[None]:
    """Turn what SQLite says about the file or the machine into this package's errors.

    LOCKED, NO_SPACE, ARTIFACT_MISSING (damaged) or INVALID_ARGUMENT (not readable or writable).
    A violated constraint or wrong SQL is a bug and stays what it is.
    """
    try:
        yield
    except DBAPIError as error:
        meaning = translated(error.orig)
        if meaning is None:
            raise
        raise meaning from error
    except sqlite3.Error as error:
        meaning = translated(error)
        if meaning is None:
            raise
        raise meaning from error
    except OSError as error:
        raise file_failure(error) from error


def translated(error: BaseException | None) -> LifecycleError | None:
    """What an error of SQLite means; None when it is a bug of ours."""
    # Extended codes (SQLITE_IOERR_WRITE, SQLITE_BUSY_SNAPSHOT) hold the primary in the low byte.
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    if code in _BUSY:
        return Locked(
            f"the catalogue is being written by another process and stayed so for "
            f"{BUSY_SECONDS:g} s; try again"
        )
    if code not in _MEANINGS:
        return None
    return LifecycleError(*_MEANINGS[code])


def file_failure(error: OSError) -> LifecycleError:
    """NO_SPACE for a full disk or quota, INVALID_ARGUMENT for what else a file refuses."""
    if error.errno in {errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC)}:
        return LifecycleError(*_MEANINGS[sqlite3.SQLITE_FULL])
    return LifecycleError(
        BuildCode.INVALID_ARGUMENT,
        f"the catalogue can't be opened: {error.strerror or type(error).__name__}; "
        "check its directory's owner and permissions",
    )


def _begin(connection: Connection) -> None:
    options = connection.get_execution_options()
    if not options.get(_IMMEDIATE):
        connection.exec_driver_sql("BEGIN")
        return
    # It can't be changed inside a transaction, and the connection may come from another's use.
    level = "FULL" if options.get(_DURABLE) else "NORMAL"
    connection.exec_driver_sql(f"PRAGMA synchronous={level}")
    connection.exec_driver_sql("BEGIN IMMEDIATE")
