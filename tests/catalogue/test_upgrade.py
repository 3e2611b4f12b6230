"""Making and upgrading the file: in one transaction, under a lock, or not at all."""

import os
import shutil
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from importlib import resources
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from filelock import FileLock
from sqlalchemy import Engine, create_engine, event

from vacmcpd.catalogue import SqliteCatalogue, upgrade
from vacmcpd.catalogue.connections import connect, engine_for, writing
from vacmcpd.catalogue.tables import Base
from vacmcpd.catalogue.upgrade import REVISIONS, Schema, ensure, require_head, revision_of
from vacmcpd.datadir import DataDirectory
from vacmcpd.errors import BuildCode, LifecycleError, Locked
from vacmcpd.ports.faults import NoFaults

posix = pytest.mark.skipif(os.name == "nt", reason="Windows has no modes and no SIGKILL")

HEAD = REVISIONS[-1]
COMING = f"{int(HEAD) + 1:04}"
NEXT = f'''"""A column more in a parent table."""

import sqlalchemy as sa
from alembic import op

revision = "{COMING}"
down_revision = "{HEAD}"


def upgrade() -> None:
    triggers = [
        row.sql
        for row in op.get_bind().execute(
            sa.text(
                "SELECT sql FROM sqlite_master WHERE type = 'trigger' AND tbl_name = 'contexts'"
            )
        )
    ]
    with op.batch_alter_table("contexts", recreate="always") as batch:
        batch.add_column(sa.Column("note", sa.Text()))
    for trigger in triggers:
        op.execute(trigger)
    op.create_table("notes", sa.Column("id", sa.Integer(), primary_key=True))
'''
SEED = """
INSERT INTO repositories (id, name, folded, url, created_at)
  VALUES (1, 'Demo', 'demo', 'file:///demo', '2026-03-01 12:00:00.000000');
INSERT INTO contexts (id, name, folded, state, generation, created_at, updated_at)
  VALUES (1, 'v1', 'v1', 'PENDING', 0, '2026-03-01 12:00:00.000000', '2026-03-01 12:00:00.000000');
INSERT INTO members (context_id, position, repository_id, ref, revision)
  VALUES (1, 0, 1, 'main', 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa');
INSERT INTO builds (id, context_id, generation, rebuild, state, owner, created_at, started_at)
  VALUES ('b1', 1, 1, 0, 'RUNNING', 'me', '2026-03-01 12:00:00.000000',
          '2026-03-01 12:00:00.000000');
INSERT INTO build_steps (build_id, step, repository_id, started_at, counts, message)
  VALUES ('b1', 'CLONE', 1, '2026-03-01 12:00:00.000000', '{}', '');
INSERT INTO stores VALUES (1, 'search', 1, 0, 1);
INSERT INTO store_files VALUES
  (1, 'search', 0, 'segment.0',
   'aaaaaaaaaaaaaaaabbbbbbbbbbbbbbbbccccccccccccccccdddddddddddddddd', 9);
INSERT INTO coverage VALUES (1, 0, 3, 2, '{"binary": 1}');
"""


class Faults:
    """Reaches a named point by doing something there."""

    def __init__(self, at: str, act: Callable[[], Any]) -> None:
        self._at, self._act = at, act

    def reach(self, name: str) -> None:
        if name == self._at:
            self._act()


@pytest.fixture
def coming(tmp_path: Path) -> Schema:
    """The schema of a release to come: one revision more than this one's."""
    scripts = tmp_path / "coming 100%"
    with resources.as_file(resources.files("vacmcpd.migrations")) as shipped:
        shutil.copytree(shipped, scripts, ignore=shutil.ignore_patterns("__pycache__"))
    (scripts / "versions" / f"{COMING}_next.py").write_text(NEXT, encoding="utf-8")
    return Schema((*REVISIONS, COMING), scripts)


@pytest.fixture
def seeded(data: DataDirectory) -> DataDirectory:
    """A catalogue with a row in every table."""
    with closing(connect(data.catalogue)) as connection:
        connection.executescript(SEED)
    return data


@pytest.fixture
def umask() -> Iterator[None]:
    before = os.umask(0)
    yield
    os.umask(before)


def rows(path: Path, table: str) -> list[tuple[Any, ...]]:
    with closing(connect(path, "ro", ())) as connection:
        return connection.execute(f"SELECT * FROM {table}").fetchall()


def dump(path: Path) -> list[str]:
    """Everything in the file, as SQL."""
    with closing(connect(path, "ro", ())) as connection:
        return list(connection.iterdump())


def mode(path: Path) -> int:
    return path.stat().st_mode & 0o777


# ---- the revisions ---------------------------------------------------------------------------


def scripts() -> ScriptDirectory:
    config = Config()
    with resources.as_file(resources.files("vacmcpd.migrations")) as shipped:
        config.set_main_option("script_location", str(shipped).replace("%", "%%"))
        return ScriptDirectory.from_config(config)


def test_there_is_one_head_and_the_code_knows_every_revision() -> None:
    assert scripts().get_heads() == [REVISIONS[-1]]
    assert [script.revision for script in scripts().walk_revisions()] == list(reversed(REVISIONS))
    assert Schema().head == REVISIONS[-1]


def test_the_migrated_schema_is_that_of_the_tables(data: DataDirectory) -> None:
    engine = engine_for(data.catalogue)
    try:
        with engine.connect() as connection:
            context = MigrationContext.configure(
                connection, opts={"compare_type": True, "compare_server_default": True}
            )
            assert compare_metadata(context, Base.metadata) == []
    finally:
        engine.dispose()


def test_the_migrated_constraints_and_triggers_are_those_of_the_tables(
    data: DataDirectory, tmp_path: Path
) -> None:
    """What autogenerate does not look at, CHECKs and triggers, compared by name and text."""
    made = create_engine(f"sqlite:///{tmp_path / 'made.sqlite3'}")
    migrated = engine_for(data.catalogue)
    try:
        Base.metadata.create_all(made)
        assert constraints(migrated) == constraints(made)
    finally:
        made.dispose()
        migrated.dispose()


def constraints(engine: Engine) -> dict[str, object]:
    inspector = sqlalchemy.inspect(engine)
    found: dict[str, object] = {
        f"{table}.{check['name']}": " ".join(check["sqltext"].split())
        for table in inspector.get_table_names()
        for check in inspector.get_check_constraints(table)
    }
    with engine.connect() as connection:
        others = connection.exec_driver_sql(
            "SELECT name, sql FROM sqlite_master WHERE type = 'trigger'"
            " OR name LIKE 'ix_builds_under_way' OR sql LIKE '%AUTOINCREMENT%'"
        )
        for name, sql in others:
            found[name] = " ".join(sql.split()) if "TRIGGER" in sql else True
    assert len(found) > 10
    return found


# ---- making ----------------------------------------------------------------------------------


def test_a_new_catalogue_is_made_with_its_folders(data_root: Path) -> None:
    data = DataDirectory(data_root)
    catalogue = SqliteCatalogue.open(data)
    assert catalogue.revision() == REVISIONS[-1]
    assert list(catalogue.integrity()) == []
    catalogue.close()
    assert revision_of(data.catalogue) == REVISIONS[-1]
    assert not list(data_root.glob("*.bak"))


@posix
@pytest.mark.usefixtures("umask")
def test_files_are_their_owners_only_whatever_the_umask(data_root: Path, coming: Schema) -> None:
    data = DataDirectory(data_root)
    with closing(SqliteCatalogue.open(data)) as catalogue:
        catalogue.repositories()
        files = [path for path in data_root.iterdir() if path.is_file()]
        assert {path.name for path in files} == {
            "catalogue.sqlite3",
            "catalogue.sqlite3-wal",
            "catalogue.sqlite3-shm",
        }
        assert {mode(path) for path in files} == {0o600}
        assert mode(data.catalogue_lock) == 0o600
    ensure(data, NoFaults(), coming)
    assert mode(data_root / f"catalogue.sqlite3.{HEAD}.bak") == 0o600
    assert {mode(path) for path in data_root.iterdir() if path.is_file()} == {0o600}
    assert {mode(path) for path in data_root.rglob("*") if path.is_dir()} == {0o700}


def test_an_empty_file_is_made_a_catalogue(data_root: Path) -> None:
    data = DataDirectory(data_root)
    data.create()
    data.catalogue.touch()
    ensure(data, NoFaults())
    assert revision_of(data.catalogue) == REVISIONS[-1]


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such names")
def test_a_directory_may_have_any_name(tmp_path: Path) -> None:
    data = DataDirectory(tmp_path / "a?mode=memory#b %41 ü")
    with closing(SqliteCatalogue.open(data)) as catalogue:
        assert not catalogue.repositories()
    assert data.catalogue.stat().st_size > 0


def test_a_catalogue_up_to_date_is_opened_without_alembic_or_lock(data: DataDirectory) -> None:
    program = (
        "import sys\n"
        "from pathlib import Path\n"
        "from vacmcpd.catalogue import SqliteCatalogue\n"
        "from vacmcpd.datadir import DataDirectory\n"
        "catalogue = SqliteCatalogue.open(DataDirectory(Path(sys.argv[1])))\n"
        "catalogue.contexts()\n"
        "catalogue.close()\n"
        "print(sorted({'alembic', 'mako', 'filelock'} & set(sys.modules)))\n"
    )
    with FileLock(data.catalogue_lock):
        done = subprocess.run(
            [sys.executable, "-P", "-W", "error", "-c", program, str(data.root)],
            capture_output=True,
            check=True,
            encoding="utf-8",
        )
    assert done.stdout.strip() == "[]"
    assert done.stderr == ""


def test_six_processes_open_a_new_catalogue_at_once(data_root: Path) -> None:
    program = (
        "import sys\n"
        "from datetime import UTC, datetime\n"
        "from pathlib import Path\n"
        "from vacmcpd.catalogue import SqliteCatalogue\n"
        "from vacmcpd.datadir import DataDirectory\n"
        "sys.stdin.readline()\n"
        "catalogue = SqliteCatalogue.open(DataDirectory(Path(sys.argv[1])))\n"
        "catalogue.add_repository(sys.argv[2], 'file:///r', datetime.now(UTC))\n"
        "catalogue.close()\n"
    )
    processes = [
        subprocess.Popen(
            [sys.executable, "-P", "-W", "error", "-c", program, str(data_root), f"r{number}"],
            stdin=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
        )
        for number in range(6)
    ]
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    ends = [(process.communicate()[1], process.returncode) for process in processes]
    assert ends == [("", 0)] * 6
    with closing(SqliteCatalogue.read_only(DataDirectory(data_root))) as catalogue:
        assert [each.name for each in catalogue.repositories()] == [f"r{n}" for n in range(6)]


# ---- upgrading -------------------------------------------------------------------------------


def test_an_upgrade_of_a_parent_table_keeps_its_children(
    seeded: DataDirectory, coming: Schema
) -> None:
    children = (
        *("members", "builds", "build_steps", "coverage"),
        *("stores", "store_files", "repositories"),
    )
    before = {table: rows(seeded.catalogue, table) for table in children}
    assert all(len(found) == 1 for found in before.values())
    ensure(seeded, NoFaults(), coming)
    assert revision_of(seeded.catalogue) == COMING
    assert {table: rows(seeded.catalogue, table) for table in children} == before
    assert [row[1] for row in rows(seeded.catalogue, "contexts")] == ["v1"]
    with (
        closing(connect(seeded.catalogue)) as connection,
        pytest.raises(sqlite3.IntegrityError, match="no such move"),
    ):
        connection.execute("UPDATE contexts SET state = 'READY'")


def test_what_was_there_before_an_upgrade_is_kept_beside_it(
    seeded: DataDirectory, coming: Schema
) -> None:
    backup = seeded.root / f"catalogue.sqlite3.{HEAD}.bak"
    backup.write_text("of an earlier try", encoding="utf-8")
    before = dump(seeded.catalogue)
    ensure(seeded, NoFaults(), coming)
    assert revision_of(backup) == HEAD
    assert dump(backup) == before
    assert not list(seeded.root.glob("*.tmp"))
    # Put in its place the backup is the catalogue again.
    backup.replace(seeded.catalogue)
    with closing(SqliteCatalogue.open(seeded)) as catalogue:
        assert catalogue.context("v1").members[0].repository == "Demo"
        assert list(catalogue.integrity()) == []
    assert seeded.catalogue.read_bytes()[18:20] == b"\2\2"


def test_a_backup_that_does_not_fit_on_the_disk_stops_the_upgrade(
    seeded: DataDirectory, coming: Schema
) -> None:
    def full() -> None:
        raise OSError(28, "No space left on device")

    before = dump(seeded.catalogue)
    with pytest.raises(LifecycleError) as failure:
        ensure(seeded, Faults("catalogue.backup.before", full), coming)
    assert failure.value.code is BuildCode.NO_SPACE
    assert dump(seeded.catalogue) == before
    assert not list(seeded.root.glob("*.bak*"))


def test_an_upgrade_that_breaks_references_is_taken_back(
    seeded: DataDirectory, coming: Schema
) -> None:
    assert coming.scripts is not None
    breaking = NEXT + '    op.execute("DELETE FROM repositories")\n'
    (coming.scripts / "versions" / f"{COMING}_next.py").write_text(breaking, encoding="utf-8")
    before = dump(seeded.catalogue)
    with pytest.raises(LifecycleError, match="refer to rows that are gone"):
        ensure(seeded, NoFaults(), coming)
    assert dump(seeded.catalogue) == before


@pytest.mark.parametrize("start", ["nothing", HEAD])
def test_a_failure_at_any_statement_of_an_upgrade_changes_nothing(
    seeded: DataDirectory, coming: Schema, start: str
) -> None:
    if start == "nothing":
        seeded.catalogue.unlink()
    before = None if start == "nothing" else dump(seeded.catalogue)
    statements = 0
    while failed_at(seeded, coming, statements):
        if before is None:
            assert revision_of(seeded.catalogue) is None
        else:
            assert dump(seeded.catalogue) == before
        statements += 1
    assert statements > 8
    assert revision_of(seeded.catalogue) == COMING


class _Broken(Exception):
    pass


def failed_at(data: DataDirectory, schema: Schema, statement: int) -> bool:
    """Upgrade, failing before statement number ``statement``; False when there were not so many."""
    seen = 0

    def count(*_: Any) -> None:
        nonlocal seen
        if seen == statement:
            raise _Broken
        seen += 1

    event.listen(Engine, "before_cursor_execute", count)
    try:
        ensure(data, NoFaults(), schema)
    except _Broken:
        return True
    finally:
        event.remove(Engine, "before_cursor_execute", count)
    return False


KILLED = """
import os, signal, sys
from pathlib import Path
from vacmcpd.catalogue.upgrade import Schema, ensure
from vacmcpd.datadir import DataDirectory

class Kill:
    def reach(self, name):
        if name == sys.argv[2]:
            os.kill(os.getpid(), signal.SIGKILL)

ensure(DataDirectory(Path(sys.argv[1])), Kill(), Schema(tuple(sys.argv[4:]), Path(sys.argv[3])))
"""


@posix
@pytest.mark.parametrize(
    ("point", "revision"),
    [
        ("catalogue.backup.before", HEAD),
        ("catalogue.backup.after", HEAD),
        ("catalogue.upgrade.before", HEAD),
        ("catalogue.upgrade.uncommitted", HEAD),
        ("catalogue.upgrade.committed", COMING),
    ],
)
def test_a_process_killed_in_an_upgrade_leaves_the_old_or_the_new(
    seeded: DataDirectory, coming: Schema, point: str, revision: str
) -> None:
    done = subprocess.run(
        [
            sys.executable,
            "-P",
            "-c",
            KILLED,
            str(seeded.root),
            point,
            str(coming.scripts),
            *coming.revisions,
        ],
        check=False,
        capture_output=True,
    )
    assert done.returncode == -signal.SIGKILL, done.stderr
    assert revision_of(seeded.catalogue) == revision
    ensure(seeded, NoFaults(), coming)
    assert revision_of(seeded.catalogue) == COMING
    assert revision_of(seeded.root / f"catalogue.sqlite3.{HEAD}.bak") == HEAD
    assert not list(seeded.root.glob("*.tmp"))
    assert len(rows(seeded.catalogue, "coverage")) == 1


@posix
def test_a_process_killed_while_making_a_catalogue_leaves_none(
    data_root: Path, coming: Schema
) -> None:
    data = DataDirectory(data_root)
    done = subprocess.run(
        [
            sys.executable,
            "-P",
            "-c",
            KILLED,
            str(data_root),
            "catalogue.upgrade.uncommitted",
            str(coming.scripts),
            *coming.revisions,
        ],
        check=False,
    )
    assert done.returncode == -signal.SIGKILL
    assert revision_of(data.catalogue) is None
    with closing(SqliteCatalogue.open(data)) as catalogue:
        assert not catalogue.contexts()


def test_an_upgrade_that_another_process_makes_is_waited_for_so_long(
    seeded: DataDirectory, coming: Schema, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(upgrade, "LOCK_SECONDS", 0.05)
    with FileLock(seeded.catalogue_lock), pytest.raises(Locked, match="upgrading the catalogue"):
        ensure(seeded, NoFaults(), coming)
    assert revision_of(seeded.catalogue) == HEAD


def test_schema_changes_of_a_transaction_that_is_taken_back_do_not_stay(
    data: DataDirectory,
) -> None:
    engine = engine_for(data.catalogue)
    try:
        with writing(engine).connect() as connection:
            transaction = connection.begin()
            connection.exec_driver_sql("CREATE TABLE stays (x INTEGER)")
            connection.exec_driver_sql("ALTER TABLE contexts ADD COLUMN stays INTEGER")
            transaction.rollback()
        with engine.connect() as connection:
            inspector = sqlalchemy.inspect(connection)
            assert "stays" not in inspector.get_table_names()
            assert "stays" not in {column["name"] for column in inspector.get_columns("contexts")}
    finally:
        engine.dispose()


# ---- refusing --------------------------------------------------------------------------------


def test_a_catalogue_of_a_newer_release_is_refused_with_both_revisions(
    seeded: DataDirectory, coming: Schema
) -> None:
    ensure(seeded, NoFaults(), coming)
    before = dump(seeded.catalogue)
    for opening in (SqliteCatalogue.open, SqliteCatalogue.read_only):
        with pytest.raises(LifecycleError, match="newer vacmcp") as failure:
            opening(seeded)
        assert failure.value.code is BuildCode.INVALID_ARGUMENT
        assert COMING in failure.value.message
        assert REVISIONS[-1] in failure.value.message
        assert failure.value.details == {"revision": COMING, "known": REVISIONS[-1]}
    assert dump(seeded.catalogue) == before


def text_file(path: Path) -> None:
    path.write_text("not a database, whatever its name says\n" * 100, encoding="utf-8")


def other_database(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE contexts (id INTEGER)")
        connection.commit()


def other_alembic_database(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE alembic_version (version_num VARCHAR(32))")
        connection.execute("INSERT INTO alembic_version VALUES ('0001')")
        connection.commit()


def catalogue_without_revision(path: Path) -> None:
    ensure(DataDirectory(path.parent), NoFaults())
    with closing(connect(path)) as connection:
        connection.execute("DELETE FROM alembic_version")


@pytest.mark.parametrize(
    "make", [text_file, other_database, other_alembic_database, catalogue_without_revision]
)
def test_a_file_that_is_no_catalogue_is_refused_and_left_alone(
    data_root: Path, make: Callable[[Path], None]
) -> None:
    data = DataDirectory(data_root)
    data.create()
    make(data.catalogue)
    before = data.catalogue.read_bytes()
    for opening in (SqliteCatalogue.open, SqliteCatalogue.read_only):
        with pytest.raises(LifecycleError, match="no catalogue of vacmcp") as failure:
            opening(data)
        assert failure.value.code is BuildCode.INVALID_ARGUMENT
        assert str(data_root) not in failure.value.message
    assert data.catalogue.read_bytes() == before
    assert not list(data_root.glob("*.bak*"))


def test_a_directory_in_the_place_of_the_catalogue_is_a_failure_that_is_told(
    data_root: Path,
) -> None:
    data = DataDirectory(data_root)
    data.create()
    data.catalogue.mkdir()
    (data.catalogue / "file").touch()
    with pytest.raises(LifecycleError):
        SqliteCatalogue.open(data)


def test_reading_needs_a_catalogue_and_makes_none(data_root: Path) -> None:
    with pytest.raises(LifecycleError, match="no catalogue in this data directory yet"):
        SqliteCatalogue.read_only(DataDirectory(data_root))
    assert not data_root.exists()


def test_reading_refuses_an_older_catalogue_and_upgrades_none(
    seeded: DataDirectory, coming: Schema
) -> None:
    before = dump(seeded.catalogue)
    with pytest.raises(LifecycleError, match=f"at revision {HEAD} and this vacmcp needs {COMING}"):
        require_head(seeded.catalogue, coming)
    assert dump(seeded.catalogue) == before
    assert not list(seeded.root.glob("*.bak"))


def test_opening_for_reading_changes_nothing(seeded: DataDirectory) -> None:
    before = seeded.catalogue.read_bytes(), seeded.catalogue.stat().st_mtime_ns
    with closing(SqliteCatalogue.read_only(seeded)) as catalogue:
        assert [each.id for each in catalogue.contexts()] == ["v1"]
        assert catalogue.revision() == REVISIONS[-1]
        assert list(catalogue.integrity()) == []
    assert (seeded.catalogue.read_bytes(), seeded.catalogue.stat().st_mtime_ns) == before


def test_opening_twice_writes_no_more_than_opening_once(seeded: DataDirectory) -> None:
    before = seeded.catalogue.read_bytes()
    with closing(SqliteCatalogue.open(seeded)) as catalogue:
        assert catalogue.contexts()
    assert seeded.catalogue.read_bytes() == before
    assert not list(seeded.root.glob("*.bak"))
