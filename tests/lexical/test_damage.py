"""Damaged stores: an answer is what the scanner finds or an error, never empty, never another."""

from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from vacmcpd.adapters.artifacts import FolderArtifacts
from vacmcpd.adapters.lexical import embedded_build
from vacmcpd.adapters.lexical.generations import DICTIONARY, SEGMENT, sorted_out
from vacmcpd.errors import QueryError, WireCode
from vacmcpd.ports.builders import StoreState
from vacmcpd.testing.artifacts import MemoryArtifacts

REFUSALS = {WireCode.SEARCH_PROVIDER_UNAVAILABLE, WireCode.SOURCE_MISMATCH}
QUERIES = ["Alpha", '"(second|third) version"', "caf. or page/29", r'"\\}\\nfunc"', "lang:go xyz"]
VERSIONS = (b"first", b"second", b"third")


def sources(version):
    """Small files that teach a dictionary, and one of each odd kind."""
    files = {
        b"src/f%03d.go" % number: b"package p%d\n\nfunc Alpha() {\n\treturn\n}\nfunc b() {}\n"
        % number
        for number in range(40)
    }
    files[b"long.txt"] = b"".join(b"GET /page/%d\n" % line for line in range(3_000))
    files[b"latin.txt"] = b"caf\xe9 GET\r\n" * 64
    files[b"wide.txt"] = b"\xff\xfe" + "Alpha wide\n".encode("utf-16-le") * 9
    files[b"tiny"] = b"xyz\n" * 4
    files[b"blob"] = b"\0\1"
    files[b"version"] = b"the %s version of alpha7\n" % version
    return files


class InMemory:
    """Damages what is held in memory; who has a file open keeps what it was."""

    def __init__(self):
        self.artifacts = MemoryArtifacts()

    def read(self, file):
        return self.artifacts._files["demo"][file.digest]

    def write(self, file, data):
        self.artifacts._files["demo"][file.digest] = data

    def lose(self, file):
        self.artifacts.lose("demo", file)


class OnDisk:
    """Damages files in place, so that those who have them open see it."""

    def __init__(self, folder):
        self._folder = folder
        self.artifacts = FolderArtifacts(lambda repository: folder / repository)

    def read(self, file):
        return self._path(file).read_bytes()

    def write(self, file, data):
        path = self._path(file)
        if path.exists() and path.stat().st_size == len(data):
            with path.open("r+b") as opened:
                opened.write(data)
            return
        # Cutting a file that is mapped ends the process that has it mapped, as everywhere.
        other = path.with_name("other")
        other.write_bytes(data)
        other.replace(path)

    def lose(self, file):
        self._path(file).unlink()

    def _path(self, file):
        return self._folder / "demo" / file.digest


@pytest.fixture(scope="module", params=["memory", "disk"])
def damaged(request, indexed, tmp_path_factory):
    """A store of three versions, and what each query answers while it is whole."""
    store = InMemory() if request.param == "memory" else OnDisk(tmp_path_factory.mktemp("store"))
    versions = [sources(name) for name in VERSIONS]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(embedded_build, "_WORTH_TRAINING", 30)
        made = indexed(*versions, artifacts=store.artifacts, cache_bytes=0)
    return Damaged(made, store)


class Damaged:
    def __init__(self, made, store):
        self.made, self.store = made, store
        self.files = made.state.files
        for text in QUERIES:
            made.check(text)
        self.expected = {
            (text, at): outcome(made, made.search, text, at)
            for text in QUERIES
            for at in range(len(made.scopes))
        }
        assert {file.role.partition(".")[0] for file in self.files} == {
            "dictionary",
            "manifest",
            "segment",
        }

    def wrong(self, search=None, files=None):
        """The answers that are neither what they should be nor one of the errors that may be."""
        state = StoreState(files, self.made.state.live) if files else None
        search = search or self.made.opened(state)
        found = {}
        for (text, at), expected in self.expected.items():
            answer = outcome(self.made, search, text, at)
            if answer != expected and answer not in REFUSALS:
                found[text, at] = answer
        return found

    def refused(self, search, at=-1):
        return outcome(self.made, search, "Alpha", at) in REFUSALS

    def put_back(self, originals):
        for file, data in originals.items():
            self.store.write(file, data)
        assert self.wrong() == {}


def outcome(made, search, text, at):
    try:
        page = made.ask(search, text, at)
    except QueryError as error:
        return error.code
    coverage = page.coverage
    skipped = tuple(coverage.skipped.items())
    return (
        page.total,
        page.total_is_exact,
        page.matches,
        (coverage.files, coverage.searched, skipped),
    )


def harmed(data, places):
    """``data`` with these bits turned over: (how far into it, from 0 to 1; which bit)."""
    changed = bytearray(data)
    for share, bit in places:
        changed[int(share * (len(data) - 1))] ^= 1 << bit
    return bytes(changed)


bits = st.tuples(st.floats(0, 1), st.integers(0, 7))


@settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(which=st.integers(0, 99), places=st.lists(bits, min_size=1, max_size=3))
def test_turned_bits_are_noticed_where_they_are_read(damaged, which, places):
    file = damaged.files[which % len(damaged.files)]
    whole = damaged.store.read(file)
    damaged.store.write(file, harmed(whole, places))
    try:
        assert damaged.wrong() == {}
    finally:
        damaged.store.write(file, whole)


@settings(max_examples=100, deadline=None)
@given(which=st.integers(0, 99), places=st.lists(bits, min_size=1, max_size=3))
def test_turned_bits_are_noticed_by_who_has_the_file_open(damaged, which, places):
    file = damaged.files[which % len(damaged.files)]
    whole = damaged.store.read(file)
    search = damaged.made.opened()
    assert not damaged.refused(search)
    damaged.store.write(file, harmed(whole, places))
    try:
        assert damaged.wrong(search) == {}
    finally:
        damaged.store.write(file, whole)


@settings(max_examples=60, deadline=None)
@given(
    which=st.integers(0, 99),
    start=st.floats(0, 1),
    size=st.sampled_from([1, 8, 512, 4096]),
    taken=st.one_of(st.none(), st.floats(0, 1)),
)
def test_lost_sectors_are_noticed(damaged, which, start, size, taken):
    """Zeros, or what stands elsewhere in the file, in place of what was written."""
    file = damaged.files[which % len(damaged.files)]
    whole = damaged.store.read(file)
    at = int(start * len(whole)) // size * size
    source = bytes(size) if taken is None else whole[int(taken * len(whole)) // size * size :]
    changed = whole[:at] + source[: len(whole[at : at + size])] + whole[at + size :]
    damaged.store.write(file, changed[: len(whole)].ljust(len(whole), b"\0"))
    try:
        assert damaged.wrong() == {}
    finally:
        damaged.store.write(file, whole)


def test_every_bit_of_a_small_store_matters_or_changes_nothing(indexed):
    """All positions, of texts short enough that one bit can make their size 0."""
    made = indexed({b"four": b"abc\n", b"eight": b"abc def\n"}, cache_bytes=0)
    expected = outcome(made, made.search, "abc", -1)
    for file in made.state.files:
        whole = made.artifacts._files["demo"][file.digest]
        for at in range(len(whole) * 8):
            changed = bytearray(whole)
            changed[at // 8] ^= 1 << at % 8
            made.artifacts._files["demo"][file.digest] = bytes(changed)
            answer = outcome(made, made.opened(), "abc", -1)
            assert answer == expected or answer in REFUSALS, (file.role, at)
        made.artifacts._files["demo"][file.digest] = whole


@pytest.mark.parametrize("role", ["segment.", "manifest.", "dictionary."])
@pytest.mark.parametrize("left", [0, 1, 15, 16, 0.5, 0.99, -1])
def test_a_file_that_was_cut_is_refused(damaged, role, left):
    for file in [file for file in damaged.files if file.role.startswith(role)]:
        whole = damaged.store.read(file)
        size = int(left * len(whole)) if isinstance(left, float) else left % len(whole)
        damaged.store.write(file, whole[:size])
        try:
            assert damaged.wrong() == {}
            assert any(damaged.refused(damaged.made.opened(), at) for at in range(3))
        finally:
            damaged.store.write(file, whole)


def test_a_file_that_is_gone_is_refused_and_keeps_answering_where_it_is_open(damaged):
    for file in damaged.files:
        opened = damaged.made.opened()
        assert damaged.wrong(opened) == {}
        whole = damaged.store.read(file)
        damaged.store.lose(file)
        try:
            assert damaged.wrong() == {}
            assert any(damaged.refused(damaged.made.opened(), at) for at in range(3))
            assert damaged.wrong(opened) == {}
            assert not damaged.refused(opened)
        finally:
            damaged.store.write(file, whole)


def test_files_that_changed_places_are_refused_or_make_no_difference(damaged):
    for one in damaged.files:
        for other in damaged.files:
            if one.digest == other.digest:
                continue
            swapped = {
                one: replace(other, role=one.role),
                other: replace(one, role=other.role),
            }
            files = tuple(swapped.get(file, file) for file in damaged.files)
            assert damaged.wrong(files=files) == {}, (one.role, other.role)


def test_a_manifest_that_stands_for_two_trees_is_refused_though_one_was_asked_before(damaged):
    manifests = sorted(sorted_out(damaged.files).manifests.items())
    wrong = manifests[0][1]
    files = tuple(
        replace(wrong, role=file.role) if file.role.startswith("manifest.") else file
        for file in damaged.files
    )
    search = damaged.made.opened(StoreState(files, damaged.made.state.live))
    for _ in range(2):
        answers = [outcome(damaged.made, search, "version", at) for at in range(3)]
        assert answers.count(WireCode.SOURCE_MISMATCH) == 2


def test_a_whole_segment_of_another_history_is_refused(indexed):
    """A backup that was mixed up: the same name and size, and every checksum in it holds."""
    made = indexed({b"a": b"abc\n"})
    one = segment_of(made)
    others = (indexed({b"a": b"%cyz\n" % letter}) for letter in b"defghijklmnop")
    other = next(each for each in others if segment_of(each).size == one.size)
    wrong = segment_of(other)
    data = other.artifacts._files["demo"][wrong.digest]
    made.artifacts._files["demo"][one.digest] = data
    for text in ("abc", ".yz"):
        assert outcome(made, made.opened(), text, -1) in REFUSALS


def segment_of(made):
    return next(file for file in made.state.files if file.role.startswith(SEGMENT))


def test_nothing_of_a_generation_is_an_error_that_says_what_to_do(damaged):
    with pytest.raises(QueryError) as caught:
        damaged.made.ask(damaged.made.opened(StoreState((damaged.files[0],))), "Alpha")
    assert caught.value.code is WireCode.SEARCH_PROVIDER_UNAVAILABLE
    assert "vacmcp context rebuild ctx" in caught.value.message
    assert caught.value.details["repository"] == "demo"


@pytest.mark.parametrize("role", ["segment.", "manifest.", DICTIONARY])
def test_a_build_makes_anew_what_is_another_file_than_its_role_says(indexed, role):
    made = indexed(sources(b"first"), sources(b"second"))
    for other in made.state.files:
        files = tuple(
            replace(other, role=file.role) if file.role.startswith(role) else file
            for file in made.state.files
        )
        healed = indexed(artifacts=made.artifacts)
        healed.objects, healed.state = made.objects, StoreState(files, made.state.live)
        healed.builder = made.builder
        for name in (b"first", b"second"):
            healed.add(sources(name))
        healed.search = made.opened(healed.state)
        healed.scanner = made.scanner
        for text in QUERIES:
            healed.check(text)
