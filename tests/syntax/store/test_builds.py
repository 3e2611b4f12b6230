"""Building graphs: what is parsed, shared, left out, dropped, refused and mended."""

import sys
import threading

import pytest
from store.places import HERE, Place, said

from vacmcpd.adapters.merging import MOST_BIG, MOST_SMALL
from vacmcpd.adapters.syntax import making, sorting
from vacmcpd.adapters.syntax.skips import Skip
from vacmcpd.adapters.syntax.store.generation import sorted_out
from vacmcpd.errors import BuildCode, Cancelled, LifecycleError, QueryError, WireCode
from vacmcpd.model import Artifact, ArtifactKind, Member, Scope
from vacmcpd.ports.budget import Budget
from vacmcpd.ports.graph import EdgeKind
from vacmcpd.testing.objects import Submodule, Symlink

FILES = {
    "app/__init__.py": b"",
    "app/main.py": b"from app.tools import helper\n\n\ndef run():\n    return helper()\n",
    "app/tools.py": b"def helper():\n    return len([])\n\n\ndef idle():\n    pass\n",
    "app/copy.py": b"def helper():\n    return len([])\n\n\ndef idle():\n    pass\n",
    "binary.py": b"\0\1\2",
    "big.py": b"x = 1\n" * 400,
    "latin.py": b"def caf\xe9():\n    pass\n",
    "pointer.py": b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 3\n",
    "link.py": Symlink(b"app/main.py"),
    "module": Submodule("a" * 40),
    "README": b"words",
    "utf16.py": "def wide():\n    pass\n".encode("utf-16"),
    "broken.py": b"def whole():\n    pass\n\n\ndef (:\n",
}
SKIPPED = {
    "binary": 1,
    "lfs_pointer": 1,
    "submodule": 1,
    "symlink": 1,
    "too_large": 1,
    "unsupported_language": 1,
}
CALL = ("app.main.run", "app.tools.helper", "app/main.py", 5, "resolved")


@pytest.fixture
def place():
    return Place(max_file_bytes=2_000)


def test_every_path_has_facts_or_a_reason(place):
    _, built = place.made(FILES)
    assert (built.coverage.files, built.coverage.searched) == (13, 7)
    assert dict(built.coverage.skipped) == SKIPPED
    assert built.coverage.complete
    (python,) = built.languages
    assert (python.name, python.files, python.with_errors) == ("python", 7, 1)
    assert built.sites["resolved"] == 1
    assert built.sites["external"] == 2


def test_calls_are_found_whatever_else_is_there(place):
    target, _ = place.made(FILES)
    edges = said(place.edges(target))
    assert CALL in edges
    assert ("app.tools.helper", "<builtin>.len", "app/tools.py", 2, "external") in edges


def test_what_is_not_utf_8_is_parsed_all_the_same(place):
    target, _ = place.made(FILES)
    assert place.trace(target, "wide").resolved.path == "utf16.py"
    assert place.trace(target, "caf\xe9").resolved.path == "latin.py"


def test_the_artifact_is_the_tree_and_names_the_commit(place):
    target, built = place.made(FILES)
    assert built.artifact.kind is ArtifactKind.GRAPH
    assert (built.artifact.engine, built.artifact.engine_version) == ("embedded", "1")
    assert built.artifact.revision == target.revision
    assert built.artifact.key in place.state.live
    place.verify(target, built)


def test_the_same_tree_twice_reads_and_writes_nothing(place):
    first = place.build(place.commit({"a.py": b"def f():\n    f()\n"}))
    place.objects.reads.clear()
    place.artifacts.writes.clear()
    again = place.build(place.commit({"a.py": b"def f():\n    f()\n"}, "another message"))
    assert again.files == first.files
    assert again.artifact.key == first.artifact.key
    assert again.artifact.revision != first.artifact.revision
    assert (again.sites, again.languages) == (first.sites, first.languages)
    assert place.objects.reads == []
    assert place.artifacts.writes == []


def test_a_further_version_parses_what_changed_and_nothing_else(place):
    place.made(FILES)
    place.objects.reads.clear()
    target, built = place.made({**FILES, "new.py": b"def new():\n    pass\n"})
    assert len(place.objects.reads) == 1
    assert built.coverage.searched == 8
    place.verify(target, built)


def test_a_renamed_file_is_not_parsed_again(place):
    place.made({"a.py": b"def f():\n    f()\n"})
    place.objects.reads.clear()
    target, _ = place.made({"b.py": b"def f():\n    f()\n"})
    assert place.objects.reads == []
    assert said(place.edges(target)) == [("b.f", "b.f", "b.py", 2, "resolved")]


def test_one_blob_is_parsed_in_each_language_that_it_stands_in(place):
    text = b"function f() { f(); }\n"
    target, built = place.made({"a.js": text, "b.ts": text, "c.js": text})
    assert {each.name: each.files for each in built.languages} == {"javascript": 2, "typescript": 1}
    assert len(place.edges(target)) == 3


def test_builds_of_one_history_are_byte_equal():
    digests = []
    for processes in (1, 2):
        place = Place(max_file_bytes=2_000, processes=processes)
        place.made(FILES)
        place.made({**FILES, "new.py": b"from app.main import run\n\nrun()\n"})
        digests.append([(file.role, file.digest) for file in place.state.files])
    assert digests[0] == digests[1]


def test_many_versions_leave_few_segments_and_every_call(place):
    files = dict(FILES)
    targets = []
    for version in range(14):
        files[f"file{version}.py"] = b"from app.tools import idle\n\nidle()\n" + b"#" * version
        targets.append(place.made(files))
        assert len(sorted_out(place.state.files).segments) <= MOST_BIG + MOST_SMALL
    for number, (target, built) in enumerate(targets):
        place.verify(target, built)
        callers = place.trace(target, "app.tools.idle").edges
        assert [edge.path for edge in callers] == sorted(f"file{at}.py" for at in range(number + 1))


def test_removal_frees_what_no_version_has(place):
    _, first = place.made(FILES)
    target, second = place.made({"other.py": b"def alone():\n    alone()\n"})
    place.forget(first.artifact.key)
    generation = place.generation()
    assert sum(len(segment.blobs) for segment in generation.segments) == 1
    assert sum(len(segment.records) for segment in generation.segments) == 1
    assert sum(len(segment.rows) for segment in generation.segments) == 1
    assert len(place.artifacts.digests("demo")) == 2
    place.verify(target, second)
    assert len(place.edges(target)) == 1


def test_removal_of_the_last_version_leaves_nothing(place):
    _, built = place.made(FILES)
    place.forget(built.artifact.key)
    assert place.state.files == ()
    assert place.artifacts.digests("demo") == frozenset()


def test_a_removal_keeps_what_another_version_shares(place):
    _, first = place.made(FILES)
    target, second = place.made({**FILES, "new.py": b"new()\n"})
    place.forget(first.artifact.key)
    place.verify(target, second)
    assert CALL in said(place.edges(target))


def test_a_version_that_comes_again_after_its_removal_is_the_same(place):
    target, first = place.made(FILES)
    records = place.records(first)
    place.made({**FILES, "new.py": b"new()\n"})
    place.forget(first.artifact.key)
    again = place.build(target)
    assert place.records(again) == records
    place.verify(target, again)


def test_a_file_that_goes_back_has_the_rows_it_had(place):
    _, first = place.made(FILES)
    place.made({**FILES, "app/tools.py": b"def helper():\n    pass\n"})
    back = dict(FILES)
    del back["README"]
    _, third = place.made(back)
    before = set(place.manifest(first.artifact.key).rows.tolist())
    assert set(place.manifest(third.artifact.key).rows.tolist()) <= before


def test_a_higher_limit_reads_what_was_too_large(place):
    _, first = place.made(FILES)
    assert first.coverage.skipped["too_large"] == 1
    target, second = place.made(FILES, builder=place.with_limit(10_000))
    assert "too_large" not in second.coverage.skipped
    place.verify(target, second)
    _, third = place.made(FILES)
    assert "too_large" not in third.coverage.skipped


def test_a_grammar_that_is_not_there_is_a_reason(place, monkeypatch):
    monkeypatch.setattr(sorting, "usable", lambda name: name != "javascript")
    _, built = place.made({"a.py": b"f()\n", "b.js": b"f();\n"})
    assert dict(built.coverage.skipped) == {"grammar_not_installed": 1}
    assert [each.name for each in built.languages] == ["python"]


def test_progress_starts_at_none_and_ends_at_all(place):
    seen = []
    place.made(FILES, progress=lambda *step: seen.append(step))
    assert seen[0] == ("parse", 0, 8)
    assert ("parse", 8, 8) in seen
    assert seen[-1] == ("link", 1, 1)


def test_a_cancelled_build_stops(place):
    flag = threading.Event()
    flag.set()
    with pytest.raises(Cancelled):
        place.made(FILES, cancel=flag)


def test_a_build_that_is_cancelled_while_it_links_stops(place):
    flag = threading.Event()

    def progress(phase, done, total):
        if phase == "link":
            flag.set()

    with pytest.raises(Cancelled):
        place.made(FILES, progress=progress, cancel=flag)


def test_a_missing_blob_fails_the_build(place):
    target = place.commit(FILES)
    place.objects.lose_blob("demo", FILES["app/main.py"])
    with pytest.raises(QueryError) as caught:
        place.build(target)
    assert caught.value.code is WireCode.SOURCE_MISMATCH


def test_a_tree_without_files_is_built(place):
    target, built = place.made({})
    assert (built.coverage.files, built.coverage.searched) == (0, 0)
    place.verify(target, built)
    assert place.edges(target) == []


def test_what_another_analyser_made_is_not_linked_with(place, monkeypatch):
    old_target, old = place.made(FILES)
    monkeypatch.setattr(making, "ANALYSER", making.ANALYSER + 1)
    for cached in (making.maker_of, making.made_by):
        cached.cache_clear()
    try:
        place.objects.reads.clear()
        target, new = place.made({**FILES, "new.py": b"new()\n"})
        assert len(place.objects.reads) == 10
        before, after = (place.manifest(each.artifact.key) for each in (old, new))
        assert before.made != after.made
        blobs = [set(place.generation().column(each, "blob").tolist()) for each in (before, after)]
        assert not {each for each in blobs[0] & blobs[1] if each < 2**32 - 1}
        assert CALL in said(place.edges(target))
        assert CALL in said(place.edges(old_target))
        again = place.build(old_target)
        assert place.manifest(again.artifact.key).made == after.made
    finally:
        monkeypatch.undo()
        for cached in (making.maker_of, making.made_by):
            cached.cache_clear()


@pytest.fixture
def odd():
    return Place(command=(sys.executable, str(HERE / "odd_worker.py")))


def test_a_file_that_ends_the_parser_is_left_out_and_the_rest_is_linked(odd):
    files = {**FILES, "bad.py": b"# DIE\n"}
    target, built = odd.made(files)
    assert built.coverage.skipped["crashed"] == 1
    assert CALL in said(odd.edges(target))
    odd.verify(target, built)


def test_what_failed_is_tried_again_when_its_version_is_built_again(odd, tmp_path, monkeypatch):
    files = {"a.py": b"f()\n", "bad.py": b"def bad():\n    pass  # DIE\n"}
    target, first = odd.made(files)
    assert first.coverage.skipped == {"crashed": 1}
    _, further = odd.made({**files, "b.py": b"g()\n"})
    assert further.coverage.skipped == {"crashed": 1}
    odd.builder = Place(objects=odd.objects).builder
    odd.builder._artifacts = odd.artifacts
    again = odd.build(target)
    assert again.coverage.skipped == {}
    odd.verify(target, again)


def test_a_damaged_segment_is_dropped_and_made_anew(place):
    target, built = place.made(FILES)
    place.artifacts.flip_bit("demo", place.file("segment."), 100)
    with pytest.raises(LifecycleError) as caught:
        place.verify(target, built)
    assert caught.value.code is BuildCode.ARTIFACT_MISSING
    again = place.build(target)
    assert "1 damaged files" in again.note
    place.verify(target, again)
    assert CALL in said(place.edges(target))


def test_a_damaged_manifest_is_made_anew_from_the_facts_that_are_there(place):
    target, built = place.made(FILES)
    place.artifacts.flip_bit("demo", place.file("manifest."), 8)
    with pytest.raises(LifecycleError):
        place.verify(target, built)
    place.objects.reads.clear()
    again = place.build(target)
    place.verify(target, again)
    assert place.objects.reads == [] or len(place.objects.reads) <= 2


def test_every_bit_of_a_store_that_changes_is_found(place):
    target, built = place.made({"a.py": b"def f():\n    f()\n"})
    for file in place.state.files:
        for at in range(0, file.size, 29):
            place.artifacts.flip_bit("demo", file, at)
            with pytest.raises(LifecycleError):
                place.verify(target, built)
            place.artifacts.flip_bit("demo", file, at)
    place.verify(target, built)


def test_a_query_of_a_damaged_store_is_refused_or_right(place):
    """A server does not compare digests: what it reads is checked piece by piece."""
    target, _ = place.made(FILES)
    expected = said(place.edges(target))
    for file in place.state.files:
        for at in range(0, file.size, 17):
            place.artifacts.flip_bit("demo", file, at)
            place.graph.close()
            assert answered(place, target) in (expected, WireCode.GRAPH_PROVIDER_UNAVAILABLE)
            place.artifacts.flip_bit("demo", file, at)


def answered(place, target):
    """Every edge, or the code of the refusal."""
    try:
        return said(place.edges(target))
    except QueryError as error:
        return error.code


def test_a_missing_manifest_is_unavailable(place):
    target = place.commit(FILES)
    with pytest.raises(QueryError) as caught:
        place.edges(target)
    assert caught.value.code is WireCode.GRAPH_PROVIDER_UNAVAILABLE


@pytest.mark.parametrize("field", ["key", "revision"])
def test_an_artifact_of_another_commit_is_a_mismatch(place, field):
    target, built = place.made(FILES)
    values = {"key": built.artifact.key, "revision": target.revision, field: "f" * 40}
    wrong = Artifact(ArtifactKind.GRAPH, "embedded", "1", values["key"], values["revision"])
    with pytest.raises(QueryError) as caught:
        place.builder.verify(target, wrong, place.state)
    assert caught.value.code is WireCode.SOURCE_MISMATCH


def test_reasons_keep_their_numbers():
    assert [str(each) for each in Skip] == [
        "submodule",
        "symlink",
        "unsupported_language",
        "grammar_not_installed",
        "too_large",
        "binary",
        "lfs_pointer",
        "too_deep",
        "timeout",
        "crashed",
    ]


def test_the_summary_is_what_was_built(place):
    target, built = place.made(FILES)
    scope = Scope("ctx", Member("demo", "main", target.revision, graph=built.artifact))
    summary = place.graph.summary(scope, Budget("status", "graph", 60.0))
    assert summary.coverage == built.coverage
    assert (summary.languages, summary.sites) == (built.languages, built.sites)
    assert sum(1 for e in place.edges(target) if e.kind is EdgeKind.RESOLVED) == 1
