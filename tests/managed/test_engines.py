"""The engines over one data directory: contexts of the scan are served as they are until moved."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from vacmcpd.composition import SEARCH_ENGINES, Managed, build_engine, open_managed
from vacmcpd.engine.requests import SearchCodeRequest
from vacmcpd.errors import BuildCode, LifecycleError, QueryError, WireCode
from vacmcpd.managed.activity import QUIET
from vacmcpd.settings import Settings
from vacmcpd.testing.demo import make_demo_repository

VERSIONS = ("v1", "v2")
QUERIES = ("NewHandler", "func", "file:go$", "Process -file:_test", "case:yes error", "zzz absent")


@pytest.fixture
def old(data_root: Path, tmp_path: Path) -> Path:
    """A data directory as it was before there was an index."""
    make_demo_repository(tmp_path / "demo")
    managed = open_managed(data_root, Settings(), search_engine="scan")
    try:
        managed.repositories.add("demo", (tmp_path / "demo").as_uri(), activity=QUIET)
        for version in VERSIONS:
            pairs = [("demo", f"release/{version}")]
            managed.contexts.create(version, pairs, activity=QUIET)
    finally:
        managed.close()
    return data_root


@pytest.fixture
def managed(old: Path) -> Iterator[Managed]:
    opened = open_managed(old, Settings())
    yield opened
    opened.close()


def labels(managed: Managed) -> set[str]:
    return {
        member.search.label
        for record in managed.contexts.list()
        for member in record.members
        if member.search
    }


def found(managed: Managed) -> dict[tuple[str, str], set[tuple[str, int, str]]]:
    """Every match of every query, in no order: the engines rank differently."""
    answers = {}
    with build_engine(managed.served()) as engine:
        for version in VERSIONS:
            for query in QUERIES:
                request = SearchCodeRequest(version, query, exact_total=True)
                answer = engine.search_code(request)
                assert not answer.truncated
                assert answer.total_matches == len(answer.matches)
                assert answer.coverage.complete
                answers[version, query] = {
                    (match.path, match.line, match.snippet) for _, match in answer.matches
                }
    return answers


def test_contexts_of_the_scan_open_as_they_are_and_move_with_their_pins(managed: Managed) -> None:
    assert labels(managed) == {"scan/1"}
    before = found(managed)
    assert before["v2", "NewHandler"]
    assert not before["v1", "NewHandler"]
    pins = {
        record.id: [replace(member, search=None, graph=None) for member in record.members]
        for record in managed.contexts.list()
    }
    coverage = {record.id: record.coverage for record in managed.contexts.list()}
    for version in VERSIONS:
        managed.contexts.verify(version)
    outcomes = dict(managed.contexts.rebuild_all(activity=QUIET))
    assert outcomes.keys() == set(VERSIONS)
    assert labels(managed) == {"embedded/1"}
    for record in managed.contexts.list():
        members = [replace(member, search=None, graph=None) for member in record.members]
        assert members == pins[record.id]
        assert record.coverage == coverage[record.id]
        managed.contexts.verify(record.id)
    assert found(managed) == before


def test_both_engines_are_served_beside_each_other(managed: Managed) -> None:
    managed.contexts.rebuild("v2", activity=QUIET)
    assert labels(managed) == {"scan/1", "embedded/1"}
    assert found(managed)["v2", "NewHandler"]
    rows = {row.name: row for row in managed.doctor() if row.section == "contexts"}
    assert {row.verdict for row in rows.values()} == {"OK"}


def test_what_is_served_names_the_files_of_every_store(managed: Managed) -> None:
    assert managed.served().stores == {"demo": ()}
    managed.contexts.rebuild("v1", activity=QUIET)
    served = managed.served().stores["demo"]
    assert served == managed.catalogue.store_files("demo", "search")
    assert served


def test_a_lost_index_refuses_queries_and_is_mended_by_a_rebuild(managed: Managed) -> None:
    managed.contexts.rebuild_all(activity=QUIET)
    before = found(managed)
    for path in managed.data.store("demo").iterdir():
        path.unlink()
    with (
        build_engine(managed.served()) as engine,
        pytest.raises(QueryError) as caught,
    ):
        engine.search_code(SearchCodeRequest("v1", "func"))
    assert caught.value.code is WireCode.SEARCH_PROVIDER_UNAVAILABLE
    verdicts = {(row.section, row.name): row for row in managed.doctor()}
    assert verdicts["contexts", "v1"].verdict == "FAIL"
    assert verdicts["contexts", "v1"].repair == "vacmcp context rebuild v1"
    managed.contexts.rebuild_all(activity=QUIET)
    assert found(managed) == before


def test_doctor_finds_the_context_that_a_rebuild_of_another_did_not_mend(
    managed: Managed,
) -> None:
    managed.contexts.rebuild_all(activity=QUIET)
    for path in managed.data.store("demo").iterdir():
        path.unlink()
    managed.contexts.rebuild("v1", activity=QUIET)
    rows = {(row.section, row.name): row for row in managed.doctor()}
    assert rows["stores", "demo"].verdict == "OK"
    assert rows["contexts", "v1"].verdict == "OK"
    assert rows["contexts", "v2"].verdict == "FAIL"
    assert rows["contexts", "v2"].repair == "vacmcp context rebuild v2"


def test_a_flipped_bit_is_found_by_verifying(managed: Managed) -> None:
    managed.contexts.rebuild_all(activity=QUIET)
    other = managed.contexts.status("v2").record.members[0].search
    assert other is not None
    files = managed.catalogue.store_files("demo", "search")
    needed = [file for file in files if file.role != f"manifest.{other.key}"]
    assert len(needed) > 1
    for file in needed:
        path = managed.data.store("demo") / file.digest
        whole = path.read_bytes()
        path.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
        with pytest.raises(LifecycleError) as caught:
            managed.contexts.verify("v1")
        assert caught.value.code is BuildCode.ARTIFACT_MISSING
        assert "vacmcp context rebuild" in caught.value.message
        path.write_bytes(whole)
        managed.contexts.verify("v1")


def test_an_engine_that_is_none_is_refused_before_anything_is_made(tmp_path: Path) -> None:
    with pytest.raises(LifecycleError) as caught:
        open_managed(tmp_path / "data", Settings(), search_engine="zoek")
    assert caught.value.code is BuildCode.INVALID_ARGUMENT
    assert all(engine in caught.value.message for engine in SEARCH_ENGINES)
    assert not (tmp_path / "data").exists()
