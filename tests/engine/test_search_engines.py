"""One provider over the engines that contexts were built with."""

import pytest

from vacmcpd.adapters.search_engines import SearchByEngine
from vacmcpd.errors import QueryError, WireCode
from vacmcpd.model import Artifact, ArtifactKind, Member, MemberCoverage, Scope
from vacmcpd.ports.budget import Budget
from vacmcpd.ports.search import SearchPage, SearchQuery

A = "a" * 40


class Named:
    def __init__(self, name: str) -> None:
        self.name = name
        self.closed = 0

    def search(self, scope: Scope, query: SearchQuery, budget: Budget) -> SearchPage:
        assert budget.provider == self.name
        coverage = MemberCoverage(scope.repository, scope.revision, len(self.name), 0)
        return SearchPage(scope.revision, (), 0, True, coverage)

    def close(self) -> None:
        self.closed += 1


def scope(engine: str | None, version: str = "1") -> Scope:
    artifact = engine and Artifact(ArtifactKind.SEARCH, engine, version, "tree", A)
    return Scope("ctx", Member("demo", "main", A, artifact or None))


def asked(search: SearchByEngine, where: Scope) -> int:
    budget = Budget("search", search.name, 30)
    return search.search(where, SearchQuery("x", 0, 1), budget).coverage.files


def test_each_member_is_asked_of_the_engine_that_built_it() -> None:
    scan, index = Named("scan"), Named("embedded")
    search = SearchByEngine({"scan/1": scan, "embedded/1": index}, unbuilt=scan)
    assert asked(search, scope("scan")) == len("scan")
    assert asked(search, scope("embedded")) == len("embedded")
    assert asked(search, scope(None)) == len("scan")


@pytest.mark.parametrize(("engine", "version"), [("embedded", "2"), ("zoekt", "1"), ("", "1")])
def test_an_unknown_engine_is_unavailable_and_names_the_rebuild(engine: str, version: str) -> None:
    search = SearchByEngine({"embedded/1": Named("embedded")}, unbuilt=Named("scan"))
    artifact = Artifact(ArtifactKind.SEARCH, engine, version, "tree", A)
    with pytest.raises(QueryError) as caught:
        asked(search, Scope("ctx", Member("demo", "main", A, artifact)))
    assert caught.value.code is WireCode.SEARCH_PROVIDER_UNAVAILABLE
    assert "vacmcp context rebuild ctx" in caught.value.message
    assert f"{engine}/{version}" in caught.value.message
    assert caught.value.details == {"context": "ctx", "repository": "demo"}


def test_closing_closes_each_once() -> None:
    scan, index = Named("scan"), Named("embedded")
    SearchByEngine({"scan/1": scan, "embedded/1": index}, unbuilt=scan).close()
    assert (scan.closed, index.closed) == (1, 1)
