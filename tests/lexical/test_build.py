"""The builder: one look at every leaf, counted as the scanner counts."""

import threading

import pytest

from vacmcpd.adapters.lexical import ScanBuilder
from vacmcpd.errors import BuildCode, Cancelled, LifecycleError, QueryError, WireCode
from vacmcpd.model import Artifact, ArtifactKind
from vacmcpd.ports.artifacts import StoredFile
from vacmcpd.ports.builders import BuildTarget, StoreState
from vacmcpd.testing.objects import Submodule, Symlink

FILES = {
    "a.go": "x\n",
    "b": b"\0",
    "c": b"x" * 2000,
    "d": Symlink(b"a.go"),
    "e": Submodule("a" * 40),
    "f": b"\xff\xfex\x00",
}


@pytest.fixture
def place(lab):
    return lab(FILES, max_file_bytes=1000)


@pytest.fixture
def builder(place):
    return ScanBuilder(place.objects, max_file_bytes=1000)


def target(place):
    return BuildTarget("ctx", "demo", "main", place.revision)


def quiet(phase, done, total):
    pass


def test_an_artifact_is_the_tree_and_names_the_commit(place, builder):
    built = builder.build(target(place), StoreState(), quiet, None)
    tree = place.objects.prove(place.scope)
    assert built.artifact == Artifact(ArtifactKind.SEARCH, "scan", "1", tree, place.revision)
    assert built.artifact.label == "scan/1"
    builder.verify(target(place), built.artifact, StoreState())


def test_a_build_counts_what_a_search_of_everything_counts(place, builder):
    built = builder.build(target(place), StoreState(), quiet, None)
    assert built.coverage == place.search("content:.").coverage
    assert built.coverage.files == 6
    assert dict(built.coverage.skipped) == {
        "binary": 1,
        "submodule": 1,
        "symlink": 1,
        "too_large": 1,
    }


def test_the_same_tree_has_the_same_key_in_another_commit(place, builder):
    again = place.objects.commit("demo", place.files, "another message")
    other = builder.build(BuildTarget("ctx2", "demo", "main", again), StoreState(), quiet, None)
    first = builder.build(target(place), StoreState(), quiet, None)
    assert other.artifact.key == first.artifact.key
    assert other.artifact.revision != first.artifact.revision


def test_progress_starts_at_none_and_ends_at_all(place, builder):
    seen = []
    builder.build(target(place), StoreState(), lambda *step: seen.append(step), None)
    assert seen[0] == ("scan", 0, 6)
    assert seen[-1] == ("scan", 6, 6)


def test_a_cancelled_build_stops(place, builder):
    flag = threading.Event()
    flag.set()
    with pytest.raises(Cancelled):
        builder.build(target(place), StoreState(), quiet, flag)


def test_a_missing_blob_fails_the_build(place, builder):
    place.objects.lose_blob("demo", b"x\n")
    with pytest.raises(QueryError) as caught:
        builder.build(target(place), StoreState(), quiet, None)
    assert caught.value.code is WireCode.SOURCE_MISMATCH


@pytest.mark.parametrize("change", ["key", "revision"])
def test_an_artifact_of_something_else_is_a_mismatch(place, builder, change):
    made = builder.build(target(place), StoreState(), quiet, None).artifact
    values = {"key": made.key, "revision": made.revision, change: "d" * 40}
    wrong = Artifact(ArtifactKind.SEARCH, "scan", "1", **values)
    with pytest.raises(QueryError) as caught:
        builder.verify(target(place), wrong, StoreState())
    assert caught.value.code is WireCode.SOURCE_MISMATCH


def test_an_artifact_of_another_engine_is_missing(place, builder):
    made = builder.build(target(place), StoreState(), quiet, None).artifact
    wrong = Artifact(made.kind, "zoekt", "1", made.key, made.revision)
    with pytest.raises(LifecycleError) as caught:
        builder.verify(target(place), wrong, StoreState())
    assert caught.value.code is BuildCode.ARTIFACT_MISSING


def test_verifying_reads_no_blob(place, builder):
    made = builder.build(target(place), StoreState(), quiet, None).artifact
    reads = len(place.objects.reads)
    builder.verify(target(place), made, StoreState())
    assert len(place.objects.reads) == reads


def test_it_has_no_files_and_touches_no_others(place, builder):
    others = (StoredFile("segment.0", "a" * 64, 1),)
    state = StoreState(others, frozenset({"tree"}))
    assert builder.build(target(place), state, quiet, None).files is None
    assert builder.prune("demo", state) == others
