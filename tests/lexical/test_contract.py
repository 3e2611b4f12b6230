"""What every SearchProvider promises, run against the fake and the scanner."""

import pytest

from vacmcpd.adapters.lexical import ScanSearch
from vacmcpd.errors import Cancelled, QueryError, WireCode
from vacmcpd.model import Member, Scope
from vacmcpd.ports.budget import Budget
from vacmcpd.ports.search import SearchMatch, SearchQuery
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

    def search(self, text, offset=0, limit=100, *, revision="", repository="demo", budget=None):
        scope = Scope("ctx", Member(repository, "main", revision or self.revision))
        budget = budget or Budget("search", self.provider.name, 60.0)
        return self.provider.search(scope, SearchQuery(text, offset, limit), budget)


def scanner():
    objects = MemoryObjects()
    revision = objects.commit("demo", {path.encode(): content for path, content in FILES.items()})
    other = objects.commit("demo", {b"z": b"zeta\n"})
    return Case(ScanSearch(objects, max_file_bytes=1000), revision, other)


def memory():
    revision, other = commit_id("one"), commit_id("two")
    commits = [MemoryCommit(revision, FILES), MemoryCommit(other, {"z": b"zeta\n"})]
    return Case(MemorySearch({"demo": commits}), revision, other)


@pytest.fixture(params=[scanner, memory])
def case(request):
    return request.param()


def test_lines_and_names_are_found_in_one_stable_order(case):
    page = case.search("alpha")
    assert list(page.matches) == [
        SearchMatch("a.go", 1, "func Alpha() {"),
        SearchMatch("b/alpha.txt", 1, "b/alpha.txt", True),
        SearchMatch("b/beta.go", 1, "Alpha beta"),
    ]
    assert case.search("alpha") == page


def test_words_are_joined_by_and_for_a_file(case):
    found = [(match.path, match.line) for match in case.search("alpha return").matches]
    assert found == [("a.go", 1), ("a.go", 2)]


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
    assert [match.path for match in page.matches] == ["a.go"]
    assert not page.total_is_exact
    assert not page.coverage.complete
    assert page.coverage.files == 5
