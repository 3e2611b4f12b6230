"""What is SQLite's own: pragmas, transactions, readers beside a writer, and its errors."""

import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from datetime import UTC, datetime

import pytest
from sqlalchemy import text
from sqlalchemy.exc import IntegrityError, StatementError

from vacmcpd.catalogue import SqliteCatalogue, connections
from vacmcpd.catalogue.connections import connect, engine_for, told, translated
from vacmcpd.datadir import DataDirectory
from vacmcpd.errors import BuildCode, LifecycleError, Locked
from vacmcpd.model import BuildState, Member
from vacmcpd.testing.catalogue import built_whole

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


@pytest.fixture
def statements(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """Everything that connections opened from here on are told to do."""
    told_to: list[str] = []
    plain = connections.connect

    def traced(*arguments: object) -> sqlite3.Connection:
        opened = plain(*arguments)  # type: ignore[arg-type]
        opened.set_trace_callback(told_to.append)
        return opened

    monkeypatch.setattr(connections, "connect", traced)
    return told_to


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "BUSY_SECONDS", 0.01)


def pinned(catalogue: SqliteCatalogue, context: str = "v1") -> None:
    catalogue.add_repository("demo", "file:///demo", NOON)
    catalogue.create_context(context, (Member("demo", "main", "a" * 40),), NOON)


# ---- connections -----------------------------------------------------------------------------


def test_every_connection_has_its_pragmas(data: DataDirectory) -> None:
    engine = engine_for(data.catalogue)
    expected = {
        "journal_mode": "wal",
        "synchronous": 1,
        "foreign_keys": 1,
        "busy_timeout": 5000,
        "trusted_schema": 0,
    }
    try:
        with ExitStack() as stack:
            for _ in range(8):
                connection = stack.enter_context(engine.connect())
                for pragma, value in expected.items():
                    assert connection.execute(text(f"PRAGMA {pragma}")).scalar() == value, pragma
    finally:
        engine.dispose()


def test_writes_begin_immediate_and_reads_do_not(
    data: DataDirectory, statements: list[str]
) -> None:
    with closing(SqliteCatalogue.open(data)) as catalogue:
        statements.clear()
        catalogue.repositories()
        assert [line for line in statements if line.startswith("BEGIN")] == ["BEGIN"]
        statements.clear()
        pinned(catalogue)
        begun = [line for line in statements if line.startswith("BEGIN")]
        assert begun == ["BEGIN IMMEDIATE"] * 2


def test_only_the_commit_that_makes_ready_waits_for_the_disk(
    data: DataDirectory, statements: list[str]
) -> None:
    with closing(SqliteCatalogue.open(data)) as catalogue:
        pinned(catalogue)
        build = catalogue.begin_build("v1", "me", False, NOON)
        made = built_whole(catalogue.context("v1"))
        assert not [line for line in statements if "synchronous=FULL" in line]
        statements.clear()
        catalogue.publish(build.id, made, (), NOON)
        assert statements[:2] == ["PRAGMA synchronous=FULL", "BEGIN IMMEDIATE"]
        assert statements.count("COMMIT") == 1
        assert [line for line in statements if line.startswith("UPDATE contexts")]
        statements.clear()
        catalogue.record_sync("demo", NOON, None)
        assert statements[:2] == ["PRAGMA synchronous=NORMAL", "BEGIN IMMEDIATE"]


def test_the_number_of_statements_does_not_grow_with_the_contexts(
    data: DataDirectory, statements: list[str]
) -> None:
    with closing(SqliteCatalogue.open(data)) as catalogue:
        pinned(catalogue)
        statements.clear()
        catalogue.contexts()
        few = len(statements)
        for number in range(20):
            catalogue.create_context(f"c{number}", (Member("demo", "main", "b" * 40),), NOON)
        statements.clear()
        assert len(catalogue.contexts()) == 21
        assert len(statements) == few


def test_a_move_names_the_state_and_the_generation_it_starts_from(
    data: DataDirectory, statements: list[str]
) -> None:
    with closing(SqliteCatalogue.open(data)) as catalogue:
        pinned(catalogue)
        statements.clear()
        catalogue.begin_build("v1", "me", False, NOON)
        # SQLite traces a statement again for each trigger that it fires.
        (update,) = {line for line in statements if line.startswith("UPDATE contexts")}
        assert "contexts.state = 'PENDING' AND contexts.generation = 0" in update


# ---- processes and threads -------------------------------------------------------------------


def test_writers_that_read_before_they_write_wait_for_each_other(data: DataDirectory) -> None:
    """A deferred transaction would fail at once here, whatever the busy timeout."""
    with closing(SqliteCatalogue.open(data)) as catalogue:
        pinned(catalogue)
    failures: list[Exception] = []

    def claim() -> None:
        with closing(SqliteCatalogue.open(data)) as catalogue:
            for _ in range(10):
                try:
                    catalogue.claim_store("demo", "search")
                except LifecycleError as error:
                    failures.append(error)

    run([claim] * 4)
    assert not failures
    with closing(SqliteCatalogue.open(data)) as catalogue:
        assert catalogue.claim_store("demo", "search").claim == 41


def test_a_reader_sees_what_was_committed_beside_a_live_writer(data: DataDirectory) -> None:
    with closing(SqliteCatalogue.open(data)) as writer, closing(connect(data.catalogue)) as raw:
        pinned(writer)
        raw.execute("BEGIN IMMEDIATE")
        raw.execute("UPDATE repositories SET url = 'file:///other'")
        with closing(SqliteCatalogue.read_only(data)) as reader:
            assert reader.repository("demo").url == "file:///demo"
            raw.execute("COMMIT")
            assert reader.repository("demo").url == "file:///other"


def test_twenty_readers_read_whole_records_while_a_writer_writes(data: DataDirectory) -> None:
    with closing(SqliteCatalogue.open(data)) as writer:
        pinned(writer)
        build = writer.begin_build("v1", "me", False, NOON)
        writer.publish(build.id, built_whole(writer.context("v1"), 0), (), NOON)
        done = threading.Event()
        seen: list[set[int]] = []
        reader = SqliteCatalogue.read_only(data)

        def read() -> None:
            files: set[int] = set()
            while True:
                last = done.is_set()
                (context,) = reader.contexts()
                (coverage,) = context.coverage
                # Each rebuild number n publishes n files: half a publication would differ.
                assert coverage.files == coverage.searched
                files.add(coverage.files)
                if last:
                    break
            seen.append(files)

        def write() -> None:
            for number in range(1, 16):
                rebuild = writer.begin_build("v1", "me", True, NOON)
                made = built_whole(writer.context("v1"), number)
                writer.publish(rebuild.id, made, (), NOON)
            done.set()

        run([write, *[read] * 20])
        reader.close()
    assert len(seen) == 20
    assert all(15 in files for files in seen)


def run(targets: list[Callable[[], None]]) -> None:
    """Run all at once; the first thing that one of them raised."""
    raised: list[Exception] = []

    def guarded(target: Callable[[], None]) -> None:
        try:
            target()
        except Exception as error:
            raised.append(error)

    threads = [threading.Thread(target=guarded, args=(target,)) for target in targets]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if raised:
        raise raised[0]


# ---- faults and errors -----------------------------------------------------------------------


class Stop(Exception):
    pass


class StopAt:
    def __init__(self, at: str) -> None:
        self.at = at

    def reach(self, name: str) -> None:
        if name == self.at:
            raise Stop


@pytest.mark.parametrize(
    ("point", "state"),
    [("catalogue.publish.uncommitted", "BUILDING"), ("catalogue.publish.committed", "READY")],
)
def test_a_publication_is_there_whole_or_not_at_all(
    data: DataDirectory, point: str, state: str
) -> None:
    with closing(SqliteCatalogue.open(data, faults=StopAt(point))) as catalogue:
        pinned(catalogue)
        build = catalogue.begin_build("v1", "me", False, NOON)
        claim = catalogue.claim_store("demo", "search")
        with pytest.raises(Stop):
            catalogue.publish(build.id, built_whole(catalogue.context("v1")), [claim], NOON)
        context = catalogue.context("v1")
        whole = state == "READY"
        assert context.state == state
        assert bool(context.coverage) is whole
        assert (context.members[0].search is not None) is whole
        assert (catalogue.build(build.id).state is BuildState.SUCCEEDED) is whole
        assert catalogue.claim_store("demo", "search").generation == int(whole)


@pytest.mark.usefixtures("impatient")
def test_a_writer_that_stays_away_too_long_is_told_as_locked(data: DataDirectory) -> None:
    with closing(SqliteCatalogue.open(data)) as catalogue, closing(connect(data.catalogue)) as raw:
        pinned(catalogue)
        raw.execute("BEGIN IMMEDIATE")
        with pytest.raises(Locked, match="written by another process") as failure:
            catalogue.record_sync("demo", NOON, None)
        assert failure.value.code is BuildCode.LOCKED
        assert catalogue.repository("demo").last_sync_at is None
        raw.execute("ROLLBACK")
        assert catalogue.record_sync("demo", NOON, None).last_sync_at == NOON


def test_a_full_disk_is_told_and_changes_nothing(
    data: DataDirectory, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = connections.connect

    def on_a_small_disk(*arguments: object) -> sqlite3.Connection:
        opened = plain(*arguments)  # type: ignore[arg-type]
        (pages,) = opened.execute("PRAGMA page_count").fetchone()
        opened.execute(f"PRAGMA max_page_count={pages + 2}")
        return opened

    monkeypatch.setattr(connections, "connect", on_a_small_disk)
    with closing(SqliteCatalogue.open(data)) as catalogue:
        catalogue.add_repository("demo", "file:///demo", NOON)
        with pytest.raises(LifecycleError, match="no space left") as failure:
            catalogue.record_sync("demo", NOON, "x" * 100_000)
        assert failure.value.code is BuildCode.NO_SPACE
        assert catalogue.repository("demo").last_sync_error is None
        assert catalogue.record_sync("demo", NOON, None).last_sync_at == NOON


def test_a_damaged_file_is_told_and_found(data: DataDirectory) -> None:
    with closing(SqliteCatalogue.open(data)) as catalogue:
        pinned(catalogue)
    content = bytearray(data.catalogue.read_bytes())
    # The first page keeps the schema's root; what it points to is gone.
    content[4096:] = b"\xa5" * (len(content) - 4096)
    data.catalogue.write_bytes(content)
    for opening in (SqliteCatalogue.open, SqliteCatalogue.read_only):
        with pytest.raises(LifecycleError, match="damaged") as failure:
            opening(data)
        assert failure.value.code is BuildCode.ARTIFACT_MISSING
        assert str(data.root) not in failure.value.message


def test_damage_that_is_found_later_is_told_and_listed(data: DataDirectory) -> None:
    with closing(SqliteCatalogue.open(data)) as catalogue:
        pinned(catalogue)
    with closing(connect(data.catalogue)) as raw:
        (root,) = raw.execute(
            "SELECT rootpage FROM sqlite_master WHERE name = 'repositories'"
        ).fetchone()
    with data.catalogue.open("r+b") as file:
        file.seek((root - 1) * 4096)
        file.write(b"\xa5" * 4096)
    with closing(SqliteCatalogue.open(data)) as catalogue:
        with pytest.raises(LifecycleError, match="damaged") as failure:
            catalogue.repositories()
        assert failure.value.code is BuildCode.ARTIFACT_MISSING
        assert catalogue.integrity()


def test_rows_that_refer_to_nothing_are_listed(data: DataDirectory) -> None:
    with closing(SqliteCatalogue.open(data)) as catalogue:
        pinned(catalogue)
        with closing(connect(data.catalogue, pragmas=())) as raw:
            raw.execute("DELETE FROM repositories")
        assert list(catalogue.integrity()) == [
            "row 1 of members refers to a row of repositories that is gone"
        ]


def test_a_reader_is_told_that_it_may_not_write(data: DataDirectory) -> None:
    with closing(SqliteCatalogue.read_only(data)) as catalogue:
        with pytest.raises(LifecycleError, match="opened for reading") as failure:
            catalogue.add_repository("demo", "file:///demo", NOON)
        assert failure.value.code is BuildCode.INVALID_ARGUMENT
        assert not catalogue.repositories()


def test_a_file_that_went_away_is_told(data: DataDirectory) -> None:
    with closing(SqliteCatalogue.open(data)) as catalogue:
        data.catalogue.unlink()
        with pytest.raises(LifecycleError, match="can't be opened") as failure:
            catalogue.repositories()
    assert failure.value.code is BuildCode.INVALID_ARGUMENT
    assert str(data.root) not in failure.value.message
    assert not data.catalogue.exists()


@pytest.mark.parametrize(
    ("code", "meaning"),
    [
        (sqlite3.SQLITE_BUSY_SNAPSHOT, BuildCode.LOCKED),
        (sqlite3.SQLITE_IOERR_WRITE, BuildCode.ARTIFACT_MISSING),
        (sqlite3.SQLITE_FULL, BuildCode.NO_SPACE),
        (sqlite3.SQLITE_CORRUPT_INDEX, BuildCode.ARTIFACT_MISSING),
        (sqlite3.SQLITE_READONLY_DIRECTORY, BuildCode.INVALID_ARGUMENT),
        (sqlite3.SQLITE_CONSTRAINT_TRIGGER, None),
        (sqlite3.SQLITE_ERROR, None),
    ],
)
def test_extended_codes_mean_what_their_primary_code_means(
    code: int, meaning: BuildCode | None
) -> None:
    error = sqlite3.OperationalError("x")
    error.sqlite_errorcode = code
    found = translated(error)
    assert (None if found is None else found.code) == meaning


def test_a_bug_stays_a_bug(data: DataDirectory) -> None:
    engine = engine_for(data.catalogue)
    try:
        with pytest.raises(IntegrityError), told(), engine.begin() as connection:
            connection.execute(text("INSERT INTO coverage VALUES (1, 0, 1, 1, '{}')"))
    finally:
        engine.dispose()


def test_a_moment_without_its_zone_is_refused(sqlite: SqliteCatalogue) -> None:
    with pytest.raises(StatementError, match="without its time zone"):
        sqlite.add_repository("demo", "file:///demo", NOON.replace(tzinfo=None))
    assert not sqlite.repositories()
