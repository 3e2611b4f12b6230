"""What every SearchProvider promises, run against the fake, the scanner and the index."""

from dataclasses import replace

import pytest

from vacmcpd.adapters.lexical import ScanSearch
from vacmcpd.adapters.lexical.embedded import EmbeddedBuilder, EmbeddedSearch
from vacmcpd.errors import Cancelled, QueryError, WireCode
from vacmcpd.model import Member, Scope
from vacmcpd.ports.budget import Budget
from vacmcpd.ports.builders import BuildTarget, StoreState
from vacmcpd.ports.search import QueryMode, SearchMatch, SearchQuery
from vacmcpd.testing.artifacts import MemoryArtifacts
from vacmcpd.testing.objects import MemoryObjects
from vacmcpd.testing.search import MemorySearch
from vacmcpd.testing.source import MemoryCommit, commit_id

FILES = {
    "a.go": b"func Alpha() {\n\treturn beta\n}\n",
    "b/alpha.txt": b"nothing\n",
    "b/beta.go": b"Alpha beta\r\nbeta\r\n",
    "c.bin": b"\0Alpha",
    "d.txt": b"",
}


class Case:
    """One provider over one commit of FILES, and another commit where nothing matches."""

    def __init__(self, provider, revision, other):
        self.provider = provider
        self.revision = revision
        self.other = other

    def search(
        self,
        text,
        offset=0,
        limit=100,
        *,
        revision="",
        repository="demo",
        budget=None,
        **options,
    ):
        scope = Scope("ctx", Member(repository, "main", revision or self.revision))
        budget = budget or Budget("search", self.provider.name, 60.0)
        return self.provider.search(scope, SearchQuery(text, offset, limit, **options), budget)


def scanner():
    objects = MemoryObjects()
    revision = objects.commit("demo", {path.encode(): content for path, content in FILES.items()})
    other = objects.commit("demo", {b"z": b"zeta\n"})
    return Case(ScanSearch(objects, max_file_bytes=1000), revision, other)


def index():
    objects, artifacts = MemoryObjects(), MemoryArtifacts()
    builder = EmbeddedBuilder(objects, artifacts, max_file_bytes=1000)
    state, revisions = StoreState(), []
    for files in ({path.encode(): content for path, content in FILES.items()}, {b"z": b"zeta\n"}):
        target = BuildTarget("ctx", "demo", "main", objects.commit("demo", files))
        built = builder.build(target, state, lambda *step: None, None)
        state = StoreState(built.files, state.live | {built.artifact.key})
        revisions.append(target.revision)
    return Case(EmbeddedSearch(objects, artifacts, lambda _: state.files), *revisions)


def memory():
    revision, other = commit_id("one"), commit_id("two")
    commits = [MemoryCommit(revision, FILES), MemoryCommit(other, {"z": b"zeta\n"})]
    return Case(MemorySearch({"demo": commits}), revision, other)


@pytest.fixture(params=[scanner, memory, index])
def case(request):
    return request.param()


def test_lines_and_names_are_found_in_one_stable_order(case):
    page = case.search("alpha")
    found = [replace(match, rank=(0, 0)) for match in page.matches]
    assert sorted(found, key=lambda match: match.path) == [
        SearchMatch("a.go", 1, "func Alpha() {", span=(5, 10)),
        SearchMatch("b/alpha.txt", 0, "b/alpha.txt", True),
        SearchMatch("b/beta.go", 1, "Alpha beta", span=(0, 5)),
    ]
    assert case.search("alpha") == page


def test_ranks_never_decrease_along_the_matches(case):
    ranks = [match.rank for match in case.search("alpha").matches]
    assert ranks == sorted(ranks)


def test_lines_around_a_match_are_given_when_asked_for(case):
    (match,) = case.search("return", context_lines=2).matches
    assert (match.before, match.after) == (("func Alpha() {",), ("}",))


def test_a_literal_is_found_as_it_stands(case):
    (match,) = case.search("Alpha() {", mode=QueryMode.LITERAL).matches
    assert (match.path, match.line, match.span) == ("a.go", 1, (5, 14))
    assert case.search("return|beta", mode=QueryMode.LITERAL).total == 0


def test_words_are_joined_by_and_for_a_file(case):
    found = [(match.path, match.line) for match in case.search("alpha return").matches]
    assert sorted(found) == [("a.go", 1), ("a.go", 2)]


def test_the_page_names_the_pinned_commit(case):
    assert case.search("alpha").revision == case.revision
    elsewhere = case.search("alpha", revision=case.other)
    assert (elsewhere.revision, elsewhere.matches, elsewhere.total) == (case.other, (), 0)


def test_windows_join_to_the_whole_and_leave_the_total_alone(case):
    whole = case.search("beta")
    parts = [case.search("beta", offset, 1) for offset in range(whole.total + 1)]
    assert [match for part in parts for match in part.matches] == list(whole.matches)
    assert {part.total for part in parts} == {whole.total} == {len(whole.matches)}
    assert all(part.total_is_exact for part in parts)
    assert case.search("beta", 0, 0).total == whole.total


def test_coverage_counts_every_file_once(case):
    coverage = case.search("alpha").coverage
    assert (coverage.repository, coverage.revision) == ("demo", case.revision)
    assert (coverage.files, coverage.searched, dict(coverage.skipped)) == (5, 4, {"binary": 1})
    assert coverage.complete


def test_a_miss_is_an_answer_with_its_coverage(case):
    page = case.search("nowhere-to-be-found")
    assert (page.matches, page.total, page.total_is_exact) == ((), 0, True)
    assert page.coverage.complete


def test_a_commit_that_is_not_there_is_a_mismatch(case):
    with pytest.raises(QueryError) as caught:
        case.search("alpha", revision="e" * 40)
    assert caught.value.code is WireCode.SOURCE_MISMATCH
    assert caught.value.details["declared_revision"] == "e" * 40
    assert caught.value.details["actual_revision"] is None


def test_a_repository_that_is_not_there_is_not_found(case):
    with pytest.raises(QueryError) as caught:
        case.search("alpha", repository="elsewhere")
    assert caught.value.code is WireCode.REPOSITORY_NOT_FOUND


def test_a_caller_that_went_away_is_not_answered(case, cancelled):
    with pytest.raises(Cancelled):
        case.search("alpha", budget=Budget("search", "test", 60.0, cancelled))


def test_a_deadline_gives_what_there_is(case, stingy):
    page = case.search("alpha", budget=stingy(1))
    assert len(page.matches) == 1
    assert not page.total_is_exact
    assert not page.coverage.complete
    assert page.coverage.files == 5
