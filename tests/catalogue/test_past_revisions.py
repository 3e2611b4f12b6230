"""Up from every past revision, with data in every table that it had.

A new revision is added to ``REVISIONS`` with its script; the one that was the head before gets
its rows here, as SQL that its schema took, and the expectation stays that of today's code.
"""

from collections.abc import Mapping
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest

from vacmcpd.catalogue import SqliteCatalogue
from vacmcpd.catalogue.connections import connect, engine_for, writing
from vacmcpd.catalogue.upgrade import REVISIONS, Schema, run_scripts
from vacmcpd.datadir import DataDirectory
from vacmcpd.model import (
    Artifact,
    ArtifactKind,
    BuildState,
    ContextState,
    Member,
    MemberCoverage,
    Step,
    StepOutcome,
)
from vacmcpd.ports.artifacts import StoredFile
from vacmcpd.ports.builders import StoreState
from vacmcpd.ports.catalogue import Catalogue, StoreClaim

A, B = "a" * 40, "b" * 40
FILES = (
    StoredFile("segment.0", "d" * 64, 0),
    StoredFile("manifest.tree", "c" * 64, 1234567890123),
)

OF_0001 = f"""
INSERT INTO repositories (id, name, folded, url, created_at, last_sync_at, last_sync_error) VALUES
  (1, 'Demo', 'demo', 'https://example.org/demo.git', '2026-03-01 12:00:00.000001',
   '2026-03-02 12:00:00.000000', 'TIMEOUT: slow');
INSERT INTO contexts (id, name, folded, state, generation, created_at, updated_at) VALUES
  (1, 'V1', 'v1', 'PENDING', 1, '2026-03-01 12:00:00.000000', '2026-03-01 12:00:00.000000'),
  (2, 'v2', 'v2', 'PENDING', 1, '2026-03-01 12:00:00.000000', '2026-03-01 12:00:00.000000');
UPDATE contexts SET state = 'BUILDING' WHERE id = 1;
UPDATE contexts SET state = 'READY' WHERE id = 1;
UPDATE contexts SET state = 'FAILED', failure_code = 'NO_SPACE', failure_message = 'disk full',
  removing_since = '2026-03-03 12:00:00.000000' WHERE id = 2;
INSERT INTO members VALUES
  (1, 0, 1, 'main', '{A}', 'scan', '1', 'tree', '{A}', '2026-03-01 12:00:00.000000',
   'none', '0', '', '{A}', '2026-03-01 12:00:00.000000'),
  (2, 0, 1, 'refs/tags/v2', '{B}', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO builds VALUES
  ('first', 1, 1, 0, 'SUCCEEDED', 'me', '2026-03-01 12:00:00.000000',
   '2026-03-01 12:00:00.000000', '2026-03-01 12:00:01.000000', NULL, NULL),
  ('second', 2, 1, 0, 'FAILED', 'me', '2026-03-01 12:00:00.000000',
   '2026-03-01 12:00:00.000000', '2026-03-01 12:00:02.000000', 'NO_SPACE', 'disk full');
INSERT INTO build_steps VALUES
  (7, 'second', 'CLONE', 1, '2026-03-01 12:00:00.000000', '2026-03-01 12:00:02.000000',
   'FAILED', '{{"branches": 2}}', 'disk full');
INSERT INTO stores VALUES (1, 'search', 1, 4, 9);
INSERT INTO coverage VALUES (1, 0, 3, 2, '{{"binary": 1}}');
"""

OF_0002 = f"""{OF_0001}
INSERT INTO store_files VALUES
  (1, 'search', 1, 'manifest.tree', '{"c" * 64}', 1234567890123),
  (1, 'search', 0, 'segment.0', '{"d" * 64}', 0);
"""

PAST: Mapping[str, str] = {"0001": OF_0001, "0002": OF_0002}


def at_revision(data: DataDirectory, revision: str) -> None:
    """A catalogue as the release made it whose newest revision was ``revision``."""
    data.create()
    data.catalogue.touch(mode=0o600)
    with closing(connect(data.catalogue)) as connection:
        connection.execute("PRAGMA journal_mode=WAL")
    engine = engine_for(data.catalogue)
    try:
        with writing(engine).begin() as upgrading:
            run_scripts(upgrading, Schema(), revision)
    finally:
        engine.dispose()
    with closing(connect(data.catalogue)) as connection:
        connection.executescript(PAST[revision])


def test_every_revision_has_its_data_here() -> None:
    assert tuple(sorted(PAST)) == tuple(sorted(REVISIONS))


@pytest.mark.parametrize("revision", REVISIONS)
def test_data_of_every_revision_is_what_it_was_after_the_upgrade(
    data_root: Path, revision: str
) -> None:
    data = DataDirectory(data_root)
    at_revision(data, revision)
    with closing(SqliteCatalogue.open(data)) as catalogue:
        assert catalogue.revision() == REVISIONS[-1]
        assert list(catalogue.integrity()) == []
        files = () if revision == "0001" else FILES
        assert catalogue.store_state("demo", "search", "scan", "1") == StoreState(
            files, frozenset({"tree"})
        )
        check_repositories(catalogue)
        check_contexts(catalogue)
        check_builds(catalogue)
    backups = [path.name for path in data.root.glob("*.bak")]
    assert backups == ([] if revision == REVISIONS[-1] else [f"catalogue.sqlite3.{revision}.bak"])


def moment(day: int, second: int = 0, microsecond: int = 0) -> datetime:
    return datetime(2026, 3, day, 12, 0, second, microsecond, tzinfo=UTC)


def check_repositories(catalogue: Catalogue) -> None:
    (demo,) = catalogue.repositories()
    assert (demo.name, demo.url) == ("Demo", "https://example.org/demo.git")
    assert (demo.created_at, demo.last_sync_at) == (moment(1, 0, 1), moment(2))
    assert demo.last_sync_error == "TIMEOUT: slow"
    assert catalogue.claim_store("demo", "search") == StoreClaim("Demo", "search", 10, 4)


def check_contexts(catalogue: Catalogue) -> None:
    first, second = catalogue.contexts()
    search = Artifact(ArtifactKind.SEARCH, "scan", "1", "tree", A)
    graph = Artifact(ArtifactKind.GRAPH, "none", "0", "", A)
    assert (first.id, first.state, first.generation) == ("V1", ContextState.READY, 1)
    assert first.members == (Member("Demo", "main", A, search, graph),)
    assert first.coverage == (MemberCoverage("Demo", A, 3, 2, {"binary": 1}),)
    assert (second.id, second.shown_state) == ("v2", "REMOVING")
    assert (second.failure_code, second.failure_message) == ("NO_SPACE", "disk full")
    assert second.members == (Member("Demo", "refs/tags/v2", B),)
    assert second.removing_since == moment(3)


def check_builds(catalogue: Catalogue) -> None:
    first, second = catalogue.last_build("v1"), catalogue.last_build("v2")
    assert first is not None
    assert second is not None
    assert (first.id, first.state, first.ended_at) == ("first", BuildState.SUCCEEDED, moment(1, 1))
    assert (second.state, second.failure_code) == (BuildState.FAILED, "NO_SPACE")
    (step,) = second.steps
    assert (step.id, step.step, step.outcome) == (7, Step.CLONE, StepOutcome.FAILED)
    assert (dict(step.counts), step.ended_at) == ({"branches": 2}, moment(1, 2))
