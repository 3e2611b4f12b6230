"""Illegal moves can't be written: not by SQL, and not by any sequence of public moves."""

import itertools
import shutil
import sqlite3
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, ClassVar

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    invariant,
    multiple,
    rule,
    run_state_machine_as_test,
)
from sqlalchemy import text
from sqlalchemy.orm import Session

from vacmcpd.catalogue import SqliteCatalogue, contexts
from vacmcpd.catalogue.connections import connect, engine_for, writing
from vacmcpd.datadir import DataDirectory
from vacmcpd.errors import IllegalTransition, VacmcpError
from vacmcpd.model import BuildState, ContextState, Member, Step, StepOutcome
from vacmcpd.ports.artifacts import StoredFile
from vacmcpd.ports.catalogue import (
    BuildRecord,
    Catalogue,
    ContextRecord,
    StoreClaim,
)
from vacmcpd.states import BUILD_MOVES, CONTEXT_MOVES
from vacmcpd.testing.catalogue import MemoryCatalogue, built_whole

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
WAYS = {
    ContextState.PENDING: (),
    ContextState.BUILDING: (ContextState.BUILDING,),
    ContextState.READY: (ContextState.BUILDING, ContextState.READY),
    ContextState.FAILED: (ContextState.FAILED,),
}


@pytest.fixture
def raw(data: DataDirectory) -> Iterator[sqlite3.Connection]:
    """The file, past everything but its own constraints."""
    with closing(connect(data.catalogue)) as connection:
        yield connection


def put_context(raw: sqlite3.Connection, state: str = "PENDING") -> None:
    raw.execute(
        "INSERT INTO contexts (id, name, folded, state, generation, created_at, updated_at)"
        " VALUES (1, 'v1', 'v1', ?, 0, '2026-03-01', '2026-03-01')",
        (state,),
    )


def set_context(raw: sqlite3.Connection, state: str) -> None:
    code = "TIMEOUT" if state == "FAILED" else None
    raw.execute("UPDATE contexts SET state = ?, failure_code = ?", (state, code))


def put_build(raw: sqlite3.Connection, state: str) -> None:
    ended = None if state in {"QUEUED", "RUNNING"} else "2026-03-01"
    code = "TIMEOUT" if state in {"FAILED", "INTERRUPTED"} else None
    raw.execute(
        "INSERT INTO builds (id, context_id, generation, rebuild, state, owner, created_at,"
        " ended_at, failure_code) VALUES ('b', 1, 1, 0, ?, 'me', '2026-03-01', ?, ?)",
        (state, ended, code),
    )


def set_build(raw: sqlite3.Connection, state: str) -> None:
    ended = None if state in {"QUEUED", "RUNNING"} else "2026-03-02"
    code = "TIMEOUT" if state in {"FAILED", "INTERRUPTED"} else None
    raw.execute("UPDATE builds SET state = ?, ended_at = ?, failure_code = ?", (state, ended, code))


@pytest.mark.parametrize(("current", "wanted"), list(itertools.product(ContextState, ContextState)))
def test_the_file_takes_no_update_of_a_context_that_the_table_lacks(
    raw: sqlite3.Connection, current: ContextState, wanted: ContextState
) -> None:
    put_context(raw)
    for state in WAYS[current]:
        set_context(raw, state)
    if wanted in CONTEXT_MOVES[current] or wanted is current:
        set_context(raw, wanted)
    else:
        with pytest.raises(sqlite3.IntegrityError, match="contexts: no such move"):
            set_context(raw, wanted)
        wanted = current
    assert raw.execute("SELECT state FROM contexts").fetchone() == (wanted,)


@pytest.mark.parametrize(("current", "wanted"), list(itertools.product(BuildState, BuildState)))
def test_the_file_takes_no_update_of_a_build_that_the_table_lacks(
    raw: sqlite3.Connection, current: BuildState, wanted: BuildState
) -> None:
    put_context(raw)
    put_build(raw, current)
    if wanted in BUILD_MOVES[current] or wanted is current:
        set_build(raw, wanted)
    else:
        with pytest.raises(sqlite3.IntegrityError, match="builds: no such move"):
            set_build(raw, wanted)
        wanted = current
    assert raw.execute("SELECT state FROM builds").fetchone() == (wanted,)


@pytest.mark.parametrize("state", ["BUILDING", "READY", "FAILED"])
def test_a_context_is_born_pending_whoever_writes_it(raw: sqlite3.Connection, state: str) -> None:
    with pytest.raises(sqlite3.IntegrityError):
        put_context(raw, state)


def test_the_file_takes_no_state_that_is_none(raw: sqlite3.Connection) -> None:
    put_context(raw)
    with pytest.raises(sqlite3.IntegrityError):
        set_context(raw, "DONE")
    with pytest.raises(sqlite3.IntegrityError, match="ck_builds_state"):
        put_build(raw, "DONE")


@pytest.mark.parametrize(
    ("statement", "constraint"),
    [
        ("UPDATE contexts SET state = 'FAILED'", "ck_contexts_failure"),
        ("UPDATE contexts SET failure_code = 'TIMEOUT'", "ck_contexts_failure"),
        ("UPDATE contexts SET generation = -1", "ck_contexts_generation"),
        ("UPDATE members SET revision = 'main'", "ck_members_revision"),
        ("UPDATE members SET revision = NULL", "NOT NULL"),
        ("UPDATE members SET search_engine = 'scan'", "ck_members_search"),
        ("UPDATE members SET graph_key = 'k'", "ck_members_graph"),
        ("UPDATE members SET repository_id = 99", "FOREIGN KEY"),
        ("DELETE FROM repositories", "FOREIGN KEY"),
        ("UPDATE builds SET state = 'SUCCEEDED'", "ck_builds_ended"),
        ("UPDATE builds SET state = 'FAILED', ended_at = '2026-03-01'", "ck_builds_failure"),
        (
            "INSERT INTO builds SELECT 'c', context_id, 2, rebuild, state, owner, created_at,"
            " started_at, ended_at, failure_code, failure_message FROM builds",
            "builds.context_id",
        ),
    ],
)
def test_the_file_takes_no_half_truth(
    sqlite: SqliteCatalogue, raw: sqlite3.Connection, statement: str, constraint: str
) -> None:
    sqlite.add_repository("demo", "https://example.org/demo.git", NOON)
    sqlite.create_context("v1", (Member("demo", "main", "a" * 40),), NOON)
    put_build(raw, "RUNNING")
    with pytest.raises(sqlite3.IntegrityError, match=constraint):
        raw.execute(statement)


def test_a_move_from_what_is_no_longer_so_is_refused_by_the_database(data: DataDirectory) -> None:
    engine = engine_for(data.catalogue)
    try:
        with Session(writing(engine)) as session, session.begin():
            session.execute(
                text(
                    "INSERT INTO contexts (name, folded, state, generation, created_at, updated_at)"
                    " VALUES ('v1', 'v1', 'PENDING', 0, :at, :at)"
                ),
                {"at": "2026-03-01 00:00:00.000000"},
            )
            stale = contexts.find(session, "v1")
            session.expunge(stale)
            session.execute(text("UPDATE contexts SET generation = 1"))
            with pytest.raises(IllegalTransition):
                contexts.move(session, stale, ContextState.BUILDING, NOON)
            assert contexts.find(session, "v1").state is ContextState.PENDING
    finally:
        engine.dispose()


# ---- any sequence of moves -------------------------------------------------------------------

REPOSITORIES = ("alpha", "Beta")
NAMES = st.sampled_from(["v1", "V1", "v2"])
CODES = st.sampled_from(["TIMEOUT", "NO_SPACE", "INTERRUPTED"])
ENDED = st.sampled_from([BuildState.FAILED, BuildState.INTERRUPTED])
Pair = tuple[Any, Any]


@dataclass(frozen=True)
class _Id:
    """An id that a catalogue chose: equal to every other, since only its meaning counts."""

    value: int = field(compare=False)


def normal(value: Any) -> Any:
    """What two catalogues must agree on: everything but the ids they choose."""
    if isinstance(value, BuildRecord):
        return replace(value, id="", steps=tuple(replace(step, id=0) for step in value.steps))
    if isinstance(value, list | tuple):
        return [normal(each) for each in value]
    return value


class TwoCatalogues(RuleBasedStateMachine):
    """The same moves in SQLite and in memory have the same outcomes and leave the same."""

    fresh: ClassVar[Path]
    builds: Bundle[Pair] = Bundle("builds")
    steps: Bundle[Pair] = Bundle("steps")
    claims: Bundle[Pair] = Bundle("claims")

    def __init__(self) -> None:
        super().__init__()
        self._folder = tempfile.TemporaryDirectory()
        data = DataDirectory(Path(self._folder.name))
        data.create()
        shutil.copy(self.fresh, data.catalogue)
        self._both: tuple[Catalogue, Catalogue] = (SqliteCatalogue.open(data), MemoryCatalogue())
        self._seconds = 0
        for name in REPOSITORIES:
            self._try(lambda each, name=name: each.add_repository(name, "file:///r", self._at()))
        self._create("v1", True)

    def teardown(self) -> None:
        for each in self._both:
            each.close()
        self._folder.cleanup()

    def _at(self) -> datetime:
        return NOON + timedelta(seconds=self._seconds)

    def _try(self, move: Callable[..., Any], *pairs: Pair) -> Pair | None:
        """Make one move in both; the pair of what they returned, None when both refused."""
        self._seconds += 1
        outcomes: list[tuple[Any, Any]] = []
        for side, each in enumerate(self._both):
            try:
                outcomes.append((move(each, *(pair[side] for pair in pairs)), None))
            except VacmcpError as error:
                outcomes.append((None, (type(error), error.code, _public(error.details))))
        (real, refused), (fake, refused_too) = outcomes
        assert refused == refused_too
        assert normal(real) == normal(fake)
        return None if refused else (real, fake)

    @rule(name=NAMES, both=st.booleans())
    def create(self, name: str, both: bool) -> None:
        self._create(name, both)

    def _create(self, name: str, both: bool) -> None:
        members = [Member("ALPHA", "main", "a" * 40), Member("beta", "v1", "b" * 40)]
        self._try(lambda each: each.create_context(name, members[: 1 + both], self._at()))

    @rule(target=builds, name=NAMES)
    def make_ready(self, name: str) -> Any:
        """The usual way from wherever the context is: chance alone rarely finds a long one."""
        self._create(name, True)
        found = self._both[0].context(name)
        if found.state is ContextState.FAILED:
            self._try(lambda each: each.requeue(name, self._at()))
        rebuild = found.state is ContextState.READY
        begun = self._try(lambda each: each.begin_build(name, "me", rebuild, self._at()))
        claimed = self._try(lambda each: each.claim_store("alpha", "search"))
        if begun is None or claimed is None:
            return multiple()
        build = begun[0].id, begun[1].id
        self._publish(build, 5, 0, claimed)
        return build

    @rule(name=NAMES)
    def requeue(self, name: str) -> None:
        self._try(lambda each: each.requeue(name, self._at()))

    @rule(target=builds, name=NAMES, rebuild=st.booleans())
    def begin(self, name: str, rebuild: bool) -> Any:
        begun = self._try(lambda each: each.begin_build(name, "me", rebuild, self._at()))
        return multiple() if begun is None else (begun[0].id, begun[1].id)

    @rule(target=claims, repository=st.sampled_from(["alpha", "BETA", "gone"]))
    def claim(self, repository: str) -> Any:
        return self._try(lambda each: each.claim_store(repository, "search")) or multiple()

    @rule(target=steps, build=builds, step=st.sampled_from(Step))
    def start(self, build: Pair, step: Step) -> Any:
        opened = self._try(
            lambda each, build: _Id(each.start_step(build, step, "beta", self._at())), build
        )
        return multiple() if opened is None else (opened[0].value, opened[1].value)

    @rule(step=steps, outcome=st.sampled_from(StepOutcome), count=st.integers(0, 9))
    def finish(self, step: Pair, outcome: StepOutcome, count: int) -> None:
        self._try(
            lambda each, step: each.finish_step(step, outcome, {"n": count}, "m", self._at()), step
        )

    @rule(build=builds, files=st.integers(0, 9))
    def publish(self, build: Pair, files: int) -> None:
        self._publish(build, files, 0)

    @rule(build=builds, claim=claims)
    def publish_claimed(self, build: Pair, claim: Pair) -> None:
        self._publish(build, 3, 0, claim)

    @rule(build=builds)
    def publish_without_a_member(self, build: Pair) -> None:
        self._publish(build, 3, 1)

    def _publish(self, build: Pair, files: int, left_out: int, *claimed: Pair) -> None:
        def move(each: Catalogue, build: str, *claims: StoreClaim) -> ContextRecord:
            made = built_whole(each.context(each.build(build).context), files)
            if files % 2:
                named = (StoredFile(f"file.{files}", f"{files:064}", files),)
                made = (replace(made[0], search_files=named), *made[1:])
            return each.publish(build, made[left_out:], claims, self._at())

        self._try(move, build, *claimed)

    @rule(build=builds, state=ENDED, code=CODES)
    def fail(self, build: Pair, state: BuildState, code: str) -> None:
        self._try(lambda each, build: each.fail_build(build, state, code, "why", self._at()), build)

    @rule(name=NAMES, code=CODES)
    def fail_unbuilt(self, name: str, code: str) -> None:
        self._try(lambda each: each.fail_unbuilt(name, code, "why", self._at()))

    @rule(name=NAMES)
    def mark_removing(self, name: str) -> None:
        self._try(lambda each: each.mark_removing(name, self._at()))

    @rule(name=NAMES)
    def delete(self, name: str) -> None:
        self._try(lambda each: each.delete_context(name))

    @rule(name=st.sampled_from(REPOSITORIES), failed=st.booleans())
    def sync(self, name: str, failed: bool) -> None:
        error = "TIMEOUT: slow" if failed else None
        self._try(lambda each: each.record_sync(name, self._at(), error))

    @rule(name=st.sampled_from(REPOSITORIES))
    def remove_and_add_repository(self, name: str) -> None:
        self._try(lambda each: each.remove_repository(name))
        self._try(lambda each: each.add_repository(name, "file:///r", self._at()))

    @rule(name=NAMES)
    def look(self, name: str) -> None:
        for ask in (
            lambda each: each.last_build(name),
            lambda each: each.context(name),
            lambda each: each.repositories(),
            lambda each: each.contexts_of("alpha"),
        ):
            self._try(ask)

    @invariant()
    def both_hold_the_same(self) -> None:
        self._try(lambda each: each.contexts())
        self._try(lambda each: each.running_builds())
        for repository in REPOSITORIES:
            self._try(lambda each, name=repository: each.store_files(name, "search"))
            self._try(lambda each, name=repository: each.named_files(name))
            self._try(lambda each, name=repository: each.store_state(name, "search", "scan", "1"))

    @rule(claim=claims, size=st.integers(0, 2))
    def publish_store(self, claim: Pair, size: int) -> None:
        files = [StoredFile("file", f"{number:064}", number) for number in range(size)]
        self._try(lambda each, claim: each.publish_store(claim, files), claim)

    @invariant()
    def what_is_recorded_is_true(self) -> None:
        real = self._both[0]
        running = [build.context for build in real.running_builds()]
        assert len(running) == len(set(running))
        for context in real.contexts():
            assert (context.failure_code is not None) == (context.state is ContextState.FAILED)
            assert (context.id in running) or context.state is not ContextState.BUILDING
            if context.state is ContextState.READY:
                assert len(context.coverage) == len(context.members)
                for member in context.members:
                    assert member.search is not None
                    assert member.search.revision == member.revision
                    assert member.graph is not None


def _public(details: dict[str, Any]) -> dict[str, Any]:
    """Without ``wanted``, which may name the build by its id."""
    return {key: value for key, value in details.items() if key != "wanted"}


def test_memory_and_sqlite_agree_after_any_sequence_of_moves(fresh_catalogue: Path) -> None:
    TwoCatalogues.fresh = fresh_catalogue
    run_state_machine_as_test(  # type: ignore[no-untyped-call]
        TwoCatalogues,
        settings=settings(
            max_examples=25,
            stateful_step_count=30,
            deadline=None,
            database=None,
            suppress_health_check=list(HealthCheck),
        ),
    )
