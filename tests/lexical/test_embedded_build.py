"""Building the index: what is shared, joined, dropped, refused and mended."""

import threading

import pytest

from vacmcpd.adapters.lexical import ScanBuilder
from vacmcpd.adapters.lexical.embedded_build import EmbeddedBuilder
from vacmcpd.adapters.lexical.generations import SEGMENT, Located, Opener, sorted_out
from vacmcpd.adapters.lexical.manifests import read
from vacmcpd.adapters.merging import MOST_BIG, MOST_SMALL, Load, plan
from vacmcpd.errors import BuildCode, Cancelled, LifecycleError, QueryError, WireCode
from vacmcpd.model import Artifact, ArtifactKind
from vacmcpd.ports.builders import BuildTarget, StoreState
from vacmcpd.testing.artifacts import MemoryArtifacts
from vacmcpd.testing.objects import MemoryObjects, Submodule, Symlink

FILES = {
    b"a.go": b"func Alpha() {\n}\n",
    b"bin": b"\0\1",
    b"big": b"x" * 2000,
    b"dir/empty": b"",
    b"dir/latin": b"caf\xe9\n",
    b"lfs": b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 3\n",
    b"link": Symlink(b"a.go"),
    b"module": Submodule("a" * 40),
    b"twice": b"func Alpha() {\n}\n",
    b"utf16": b"\xff\xfea\x00b\x00c\x00",
}
SKIPPED = {"binary": 1, "lfs_pointer": 1, "submodule": 1, "symlink": 1, "too_large": 1}


class Place:
    """A repository in memory, and the store that builds of it make."""

    def __init__(self, max_file_bytes=1000):
        self.objects = MemoryObjects()
        self.artifacts = MemoryArtifacts()
        self.builder = self.with_limit(max_file_bytes)
        self.state = StoreState()

    def with_limit(self, max_file_bytes):
        return EmbeddedBuilder(self.objects, self.artifacts, max_file_bytes=max_file_bytes)

    def commit(self, files, message=""):
        return BuildTarget("ctx", "demo", "main", self.objects.commit("demo", files, message))

    def build(self, target, *, builder=None, live=True, progress=lambda *step: None, cancel=None):
        built = (builder or self.builder).build(target, self.state, progress, cancel)
        names = {built.artifact.key} if live else set()
        self.state = StoreState(built.files, self.state.live | names)
        self.artifacts.sweep("demo", {file.digest for file in built.files})
        return built

    def located(self):
        files = sorted_out(self.state.files)
        opener = Opener(self.artifacts, "demo", files)
        return Located([opener.segment(file) for file in files.segments])

    def manifest(self, tree):
        return read(self.artifacts.open("demo", sorted_out(self.state.files).manifests[tree]))

    def forget(self, *trees):
        """Let these trees be of no context any more."""
        self.state = StoreState(self.state.files, self.state.live - set(trees))
        files = self.builder.prune("demo", self.state)
        self.state = StoreState(files, self.state.live)
        self.artifacts.sweep("demo", {file.digest for file in files})

    def file(self, role):
        return next(file for file in self.state.files if file.role.startswith(role))


@pytest.fixture
def place():
    return Place()


def test_every_path_is_indexed_or_skipped_with_its_reason(place):
    target = place.commit(FILES)
    built = place.build(target)
    assert (built.coverage.files, built.coverage.searched) == (10, 5)
    assert dict(built.coverage.skipped) == SKIPPED
    assert built.coverage.complete
    scan = ScanBuilder(place.objects, max_file_bytes=1000)
    assert built.coverage == scan.build(target, StoreState(), lambda *_: None, None).coverage


def test_the_artifact_is_the_tree_and_names_the_commit(place):
    target = place.commit(FILES)
    built = place.build(target)
    assert (built.artifact.engine, built.artifact.engine_version) == ("embedded", "1")
    assert built.artifact.revision == target.revision
    assert built.artifact.key in place.state.live
    place.builder.verify(target, built.artifact, place.state)


def test_the_same_tree_twice_writes_nothing_new(place):
    first = place.build(place.commit(FILES))
    reads = len(place.objects.reads)
    again = place.build(place.commit(FILES, "another message"))
    assert again.files == first.files
    assert again.artifact.key == first.artifact.key
    assert again.artifact.revision != first.artifact.revision
    assert len(place.objects.reads) == reads


def test_a_further_version_reads_what_changed_and_nothing_else(place):
    place.build(place.commit(FILES))
    place.objects.reads.clear()
    place.build(place.commit({**FILES, b"new.go": b"func New() {\n}\n"}))
    assert len(place.objects.reads) == 1
    assert len(sorted_out(place.state.files).manifests) == 2


def test_builds_of_one_history_are_byte_equal():
    digests = []
    for _ in range(2):
        place = Place()
        place.build(place.commit(FILES))
        place.build(place.commit({**FILES, b"new.go": b"func New() {\n}\n"}))
        digests.append([(file.role, file.digest) for file in place.state.files])
    assert digests[0] == digests[1]


def test_many_versions_leave_few_segments_and_every_blob(place):
    files = dict(FILES)
    for version in range(20):
        files[b"file%d" % version] = b"line of version %d\n" % version
        target = place.commit(files)
        built = place.build(target)
        assert len(sorted_out(built.files).segments) <= MOST_BIG + MOST_SMALL
        place.builder.verify(target, built.artifact, place.state)
    located = place.located()
    for tree in place.state.live:
        assert not located.missing(place.manifest(tree).ordinals)
    assert sum(len(segment) for segment in located.segments) == 27


def test_removal_frees_what_no_tree_names(place):
    first = place.build(place.commit(FILES))
    place.build(place.commit({b"other": b"something else\n" * 50}))
    place.forget(first.artifact.key)
    located = place.located()
    assert sum(len(segment) for segment in located.segments) == 1
    assert {file.role[:9] for file in place.state.files} == {"segment.0", "manifest."}
    assert len(place.artifacts.digests("demo")) == 2


def test_removal_of_the_last_tree_leaves_nothing(place):
    built = place.build(place.commit(FILES))
    place.forget(built.artifact.key)
    assert place.state.files == ()
    assert place.artifacts.digests("demo") == frozenset()


def test_a_removal_keeps_what_another_tree_shares(place):
    first = place.build(place.commit(FILES))
    target = place.commit({**FILES, b"new": b"new\n"})
    second = place.build(target)
    place.forget(first.artifact.key)
    place.builder.verify(target, second.artifact, place.state)


def test_a_higher_limit_reads_what_was_too_large(place):
    first = place.build(place.commit(FILES))
    assert first.coverage.skipped["too_large"] == 1
    target = place.commit({**FILES, b"more": b"more\n"})
    second = place.build(target, builder=place.with_limit(10_000))
    assert "too_large" not in second.coverage.skipped
    place.builder.verify(target, second.artifact, place.state)


def test_progress_starts_at_none_and_ends_at_all(place):
    seen = []
    place.build(place.commit(FILES), progress=lambda *step: seen.append(step))
    assert seen == [("index", 0, 7), ("index", 7, 7)]


def test_a_cancelled_build_stops(place):
    flag = threading.Event()
    flag.set()
    with pytest.raises(Cancelled):
        place.build(place.commit(FILES), cancel=flag)


def test_a_missing_blob_fails_the_build(place):
    target = place.commit(FILES)
    place.objects.lose_blob("demo", b"func Alpha() {\n}\n")
    with pytest.raises(QueryError) as caught:
        place.build(target)
    assert caught.value.code is WireCode.SOURCE_MISMATCH


def test_a_tree_without_files_is_built(place):
    target = place.commit({})
    built = place.build(target)
    assert (built.coverage.files, built.coverage.searched) == (0, 0)
    place.builder.verify(target, built.artifact, place.state)


@pytest.mark.parametrize("role", ["segment.", "manifest."])
@pytest.mark.parametrize("damage", ["flip", "truncate", "lose"])
def test_a_damaged_file_is_refused_by_verify_and_made_anew_by_a_build(place, role, damage):
    target = place.commit(FILES)
    built = place.build(target)
    harm(place, place.file(role), damage)
    with pytest.raises(LifecycleError) as caught:
        place.builder.verify(target, built.artifact, place.state)
    assert caught.value.code is BuildCode.ARTIFACT_MISSING
    again = place.build(target)
    assert again.note
    assert again.coverage == built.coverage
    place.builder.verify(target, again.artifact, place.state)


def harm(place, file, damage):
    if damage == "flip":
        place.artifacts.flip_bit("demo", file, 3)
    elif damage == "truncate":
        place.artifacts.truncate("demo", file, file.size // 2)
    else:
        place.artifacts.lose("demo", file)


def test_a_flipped_bit_of_shared_content_is_mended_for_every_tree(place):
    first = place.commit(FILES)
    built = place.build(first)
    place.artifacts.flip_bit("demo", place.file(SEGMENT), 3)
    other = place.commit({b"other": b"other\n"})
    place.build(other)
    place.builder.verify(first, built.artifact, place.state)


def test_a_bit_flipped_anywhere_is_mended_or_refused(place):
    target = place.commit(FILES)
    built = place.build(target)
    size = place.file(SEGMENT).size
    for at in range(0, size, 17):
        place.artifacts.flip_bit("demo", place.file(SEGMENT), at)
        again = place.build(target)
        assert again.coverage == built.coverage
        place.builder.verify(target, again.artifact, place.state)


def test_another_manifest_under_the_trees_name_is_no_artifact_of_the_commit(place):
    target = place.commit(FILES)
    built = place.build(target)
    other = place.build(place.commit({b"other": b"other\n"}))
    wrong = sorted_out(place.state.files).manifests[other.artifact.key]
    files = tuple(
        type(file)(file.role, wrong.digest, wrong.size)
        if file.role == f"manifest.{built.artifact.key}"
        else file
        for file in place.state.files
    )
    with pytest.raises(QueryError) as caught:
        place.builder.verify(target, built.artifact, StoreState(files, place.state.live))
    assert caught.value.code is WireCode.SOURCE_MISMATCH


@pytest.mark.parametrize("field", ["key", "revision"])
def test_an_artifact_of_another_commit_is_a_mismatch(place, field):
    target = place.commit(FILES)
    built = place.build(target)
    values = {"key": built.artifact.key, "revision": target.revision, field: "f" * 40}
    wrong = Artifact(ArtifactKind.SEARCH, "embedded", "1", values["key"], values["revision"])
    with pytest.raises(QueryError) as caught:
        place.builder.verify(target, wrong, place.state)
    assert caught.value.code is WireCode.SOURCE_MISMATCH


def groups(*loads):
    planned = plan([Load(*load) for load in loads], 65_535)
    return [(group.members, group.rewrite) for group in planned]


def test_a_version_that_changes_little_costs_no_large_merge():
    big, small = (1_000, 900, 0), (5, 5, 0)
    assert groups(big, big, big, big, small) == [((at,), False) for at in range(5)]
    merged = groups(big, big, big, big, small, small, small, small)
    assert merged[-3:] == [((4, 5), True), ((6,), False), ((7,), False)]


def test_a_fifth_big_segment_is_joined_with_the_smallest():
    sizes = [(900, 0, 0), (300, 0, 0), (800, 0, 0), (400, 0, 0), (700, 0, 0)]
    assert groups(*sizes) == [((0,), False), ((1, 3), True), ((2,), False), ((4,), False)]


def test_what_is_dead_for_a_quarter_is_rewritten_and_what_is_all_dead_dropped():
    assert groups((10, 5, 6), (10, 5, 5), (0, 0, 50)) == [((0,), True), ((1,), False)]


def test_segments_that_one_file_can_not_hold_stay_apart():
    assert groups(*[(40_000, 0, 0)] * 6) == [((at,), False) for at in range(6)]
