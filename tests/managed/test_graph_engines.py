"""Call graphs over one data directory: contexts without one are served as they are until moved."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from vacmcpd.composition import GRAPH_ENGINES, Managed, build_engine, open_managed
from vacmcpd.engine.requests import CompareCallsRequest, TraceCallsRequest
from vacmcpd.errors import BuildCode, LifecycleError, QueryError, WireCode
from vacmcpd.managed.activity import QUIET
from vacmcpd.model import ArtifactKind
from vacmcpd.ports.graph import EdgeKind
from vacmcpd.settings import Settings
from vacmcpd.testing.demo import make_demo_repository

VERSIONS = ("v1", "v2")
ALL = frozenset(EdgeKind)


@pytest.fixture
def old(data_root: Path, tmp_path: Path) -> Path:
    """A data directory as it was before there was a call graph."""
    make_demo_repository(tmp_path / "demo")
    managed = open_managed(data_root, Settings(), graph_engine="none")
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


@pytest.fixture
def moved(managed: Managed) -> Managed:
    """... and every context rebuilt."""
    managed.contexts.rebuild_all(activity=QUIET)
    return managed


def labels(managed: Managed) -> list[str]:
    return [
        member.graph.label
        for record in managed.contexts.list()
        for member in record.members
        if member.graph
    ]


def called(managed: Managed) -> dict[str, list[str] | str]:
    """What Process calls in each version, or the code of the refusal."""
    found: dict[str, list[str] | str] = {}
    with build_engine(managed.served()) as engine:
        for version in VERSIONS:
            request = TraceCallsRequest(version, "Process", direction="callees", depth=1)
            try:
                found[version] = [edge.callee for edge in engine.trace_calls(request).calls]
            except QueryError as error:
                found[version] = str(error.code)
    return found


def test_contexts_without_a_graph_open_as_they_are_and_get_it_at_their_pins(
    managed: Managed,
) -> None:
    assert labels(managed) == ["none/0", "none/0"]
    assert called(managed) == dict.fromkeys(VERSIONS, "GRAPH_PROVIDER_UNAVAILABLE")
    pins = [
        (record.id, [replace(member, search=None, graph=None) for member in record.members])
        for record in managed.contexts.list()
    ]
    for version in VERSIONS:
        managed.contexts.verify(version)
    assert dict(managed.contexts.rebuild_all(activity=QUIET)).keys() == set(VERSIONS)
    assert labels(managed) == ["embedded/1", "embedded/1"]
    assert pins == [
        (record.id, [replace(member, search=None, graph=None) for member in record.members])
        for record in managed.contexts.list()
    ]
    for version in VERSIONS:
        managed.contexts.verify(version)
    assert called(managed) == {"v1": ["LegacyHandler"], "v2": ["NewHandler"]}


def test_versions_of_different_engines_are_served_but_not_compared(managed: Managed) -> None:
    managed.contexts.rebuild("v2", activity=QUIET)
    assert labels(managed) == ["none/0", "embedded/1"]
    assert called(managed) == {"v1": "GRAPH_PROVIDER_UNAVAILABLE", "v2": ["NewHandler"]}
    request = CompareCallsRequest("v1", "v2", "Process", direction="callees", depth=1)
    with build_engine(managed.served()) as engine, pytest.raises(QueryError) as caught:
        engine.compare_calls(request)
    assert caught.value.code is WireCode.GRAPH_PROVIDER_UNAVAILABLE
    rows = {row.name: row for row in managed.doctor() if row.section == "contexts"}
    assert {row.verdict for row in rows.values()} == {"OK"}


def test_what_is_served_names_the_files_of_both_stores(moved: Managed) -> None:
    served = moved.served()
    for kind, files in ((ArtifactKind.SEARCH, served.stores), (ArtifactKind.GRAPH, served.graphs)):
        assert files == {"demo": moved.catalogue.store_files("demo", kind)}
        assert files["demo"]


def digests(managed: Managed, kind: ArtifactKind) -> set[str]:
    return {file.digest for file in managed.catalogue.store_files("demo", kind)}


def on_disk(managed: Managed) -> set[str]:
    return {path.name for path in managed.data.store("demo").iterdir()}


def test_removing_a_context_frees_its_graph_and_nothing_that_others_need(moved: Managed) -> None:
    before = moved.catalogue.store_files("demo", ArtifactKind.GRAPH)
    assert on_disk(moved) == digests(moved, ArtifactKind.SEARCH) | {file.digest for file in before}
    gone = moved.contexts.status("v1").record.members[0].graph
    assert gone is not None
    moved.contexts.remove("v1", activity=QUIET)
    after = moved.catalogue.store_files("demo", ArtifactKind.GRAPH)
    manifests = [
        {file.role for file in files if file.role.startswith("manifest.")}
        for files in (before, after)
    ]
    assert manifests[0] - manifests[1] == {f"manifest.{gone.key}"}
    assert sum(file.size for file in after) < sum(file.size for file in before)
    assert on_disk(moved) == digests(moved, ArtifactKind.SEARCH) | {file.digest for file in after}
    moved.contexts.verify("v2")
    moved.contexts.remove("v2", activity=QUIET)
    assert on_disk(moved) == set()


def test_a_lost_graph_refuses_traces_and_is_mended_by_a_rebuild(moved: Managed) -> None:
    for digest in digests(moved, ArtifactKind.GRAPH):
        (moved.data.store("demo") / digest).unlink()
    assert called(moved) == dict.fromkeys(VERSIONS, "GRAPH_PROVIDER_UNAVAILABLE")
    verdicts = {(row.section, row.name): row for row in moved.doctor()}
    assert verdicts["stores", "demo"].verdict == "FAIL"
    assert verdicts["contexts", "v1"].verdict == "FAIL"
    assert verdicts["contexts", "v1"].repair == "vacmcp context rebuild v1"
    (told,) = moved.graphs.summaries(moved.contexts.status("v1").record)
    assert told.summary is None
    assert "vacmcp context rebuild v1" in told.problem
    with pytest.raises(QueryError):
        moved.graphs.edges("v1", None, ALL)
    moved.contexts.rebuild_all(activity=QUIET)
    assert called(moved) == {"v1": ["LegacyHandler"], "v2": ["NewHandler"]}


def test_a_flipped_bit_of_a_graph_is_found_by_verifying(moved: Managed) -> None:
    other = moved.contexts.status("v2").record.members[0].graph
    assert other is not None
    files = moved.catalogue.store_files("demo", ArtifactKind.GRAPH)
    needed = [file for file in files if file.role != f"manifest.{other.key}"]
    assert len(needed) > 1
    for file in needed:
        path = moved.data.store("demo") / file.digest
        whole = path.read_bytes()
        path.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
        with pytest.raises(LifecycleError) as caught:
            moved.contexts.verify("v1")
        assert caught.value.code is BuildCode.ARTIFACT_MISSING
        assert "vacmcp context rebuild" in caught.value.message
        path.write_bytes(whole)
        moved.contexts.verify("v1")


def test_every_edge_is_written_out_with_its_repository(moved: Managed) -> None:
    edges = list(moved.graphs.edges("v2", None, ALL))
    told = [(name, edge.caller, edge.callee, edge.kind) for name, edge in edges]
    assert ("demo", "Process", "NewHandler", EdgeKind.RESOLVED) in told
    assert list(moved.graphs.edges("v2", "DEMO", ALL)) == edges
    resolved = [edge for _, edge in edges if edge.kind is EdgeKind.RESOLVED]
    only = moved.graphs.edges("v2", None, frozenset({EdgeKind.RESOLVED}))
    assert [edge for _, edge in only] == resolved
    assert list(moved.graphs.edges("v2", None, frozenset())) == []


def test_an_export_of_what_is_not_there_is_refused_before_the_first_edge(managed: Managed) -> None:
    with pytest.raises(LifecycleError) as nowhere:
        managed.graphs.edges("v1", "other", ALL)
    assert nowhere.value.code is BuildCode.REPOSITORY_NOT_FOUND
    assert "demo" in nowhere.value.message
    with pytest.raises(LifecycleError) as unknown:
        managed.graphs.edges("nope", None, ALL)
    assert unknown.value.code is BuildCode.CONTEXT_NOT_FOUND
    with pytest.raises(QueryError) as graphless:
        managed.graphs.edges("v1", None, ALL)
    assert graphless.value.code is WireCode.GRAPH_PROVIDER_UNAVAILABLE
    assert "none/0" in graphless.value.message
    (told,) = managed.graphs.summaries(managed.contexts.status("v1").record)
    assert (told.engine, told.summary, told.problem) == ("none/0", None, "")


def test_the_summary_counts_files_languages_and_call_sites(moved: Managed) -> None:
    (told,) = moved.graphs.summaries(moved.contexts.status("v2").record)
    assert told.summary is not None
    coverage = told.summary.coverage
    assert coverage.complete
    assert coverage.searched == sum(each.files for each in told.summary.languages)
    assert [each.name for each in told.summary.languages] == ["go"]
    assert told.summary.sites["resolved"] == 2
    steps = moved.contexts.status("v2").last_build
    assert steps is not None
    (counts,) = [step.counts for step in steps.steps if step.step == "GRAPH"]
    assert counts["parsed"] == coverage.searched
    assert counts["resolved"] == 2


def test_a_graph_that_was_replaced_while_it_was_asked_is_asked_again(
    moved: Managed, monkeypatch: pytest.MonkeyPatch
) -> None:
    record = moved.contexts.status("v2").record
    real = moved.catalogue.store_files
    (file, *_) = real("demo", ArtifactKind.GRAPH)
    gone = [(replace(file, digest="0" * 64),)]

    def read(name: str, kind: ArtifactKind) -> object:
        return gone.pop() if gone else real(name, kind)

    monkeypatch.setattr(moved.catalogue, "store_files", read)
    (told,) = moved.graphs.summaries(record)
    assert told.problem == ""
    assert told.summary is not None


def test_a_graph_engine_that_is_none_of_them_is_refused_before_anything_is_made(
    tmp_path: Path,
) -> None:
    with pytest.raises(LifecycleError) as caught:
        open_managed(tmp_path / "data", Settings(), graph_engine="cbm")
    assert caught.value.code is BuildCode.INVALID_ARGUMENT
    assert all(engine in caught.value.message for engine in GRAPH_ENGINES)
    assert not (tmp_path / "data").exists()
