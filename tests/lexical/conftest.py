"""A place to search in: files in memory, or in any provider that the contract is run against."""

import threading
from dataclasses import dataclass, field, replace

import pytest

from vacmcpd.adapters.lexical import ScanSearch
from vacmcpd.adapters.lexical.embedded import EmbeddedBuilder, EmbeddedSearch
from vacmcpd.model import Member, Scope
from vacmcpd.ports.budget import Budget
from vacmcpd.ports.builders import BuildTarget, StoreState
from vacmcpd.ports.search import SearchQuery
from vacmcpd.testing.artifacts import MemoryArtifacts
from vacmcpd.testing.objects import MemoryObjects


@dataclass
class Lab:
    """One repository with one pinned commit, and a scanner over it."""

    files: dict
    branch: str = "main"
    max_file_bytes: int = 1_000_000
    cache_bytes: int = 1_000_000
    objects: MemoryObjects = field(default_factory=MemoryObjects)

    def __post_init__(self):
        self.revision = self.objects.commit("demo", self.files)
        self.scope = Scope("ctx", Member("demo", self.branch, self.revision))
        self.scanner = ScanSearch(
            self.objects, max_file_bytes=self.max_file_bytes, cache_bytes=self.cache_bytes
        )

    def search(self, text, offset=0, limit=10_000, budget=None):
        budget = budget or Budget("search", "scan", 60.0)
        return self.scanner.search(self.scope, SearchQuery(text, offset, limit), budget)

    def hits(self, text):
        """(path, line) of every match; line 0 for a match of the name."""
        return [
            (match.path, 0 if match.file_name else match.line)
            for match in self.search(text).matches
        ]

    def paths(self, text):
        return list(dict.fromkeys(path for path, _ in self.hits(text)))

    def snippets(self, text):
        return [match.snippet for match in self.search(text).matches]

    def skipped(self, text):
        return dict(self.search(text).coverage.skipped)


class StingyBudget:
    """A budget that is over after a number of looks at the clock."""

    operation = "search"
    provider = "scan"
    seconds = 1.0

    def __init__(self, looks):
        self.left = looks

    def remaining(self):
        return 1.0

    def check(self):
        pass

    def check_cancelled(self):
        pass

    def expired(self):
        self.left -= 1
        return self.left < 0


@pytest.fixture(scope="session")
def lab():
    """Makes a :class:`Lab` of text or bytes by path."""

    def make(files, **options):
        raw = {
            path.encode() if isinstance(path, str) else path: (
                content.encode() if isinstance(content, str) else content
            )
            for path, content in files.items()
        }
        return Lab(raw, **options)

    return make


@pytest.fixture(scope="session")
def stingy():
    """Makes a budget that expires after so many polls."""
    return StingyBudget


@pytest.fixture
def cancelled():
    """A cancel flag that is set."""
    flag = threading.Event()
    flag.set()
    return flag


class Indexed:
    """Versions of one repository, indexed one after the other, and a scanner over the same.

    ``state`` is the generation that the last build made; every version before is still in it.
    """

    MOST = 1_000_000

    def __init__(self, *versions, artifacts=None, max_file_bytes=64 * 1024 * 1024, **options):
        self.objects = MemoryObjects()
        self.artifacts = MemoryArtifacts() if artifacts is None else artifacts
        self.builder = EmbeddedBuilder(self.objects, self.artifacts, max_file_bytes=max_file_bytes)
        self.scanner = ScanSearch(self.objects, max_file_bytes=max_file_bytes)
        self.options = options
        self.state = StoreState()
        self.scopes = []
        self.search = self.opened()
        for files in versions:
            self.add(files)

    def add(self, files, builder=None):
        """Index one more version; what the builder made of it."""
        revision = self.objects.commit("demo", files)
        target = BuildTarget("ctx", "demo", "main", revision)
        built = (builder or self.builder).build(target, self.state, lambda *step: None, None)
        self.state = StoreState(built.files, self.state.live | {built.artifact.key})
        self.scopes.append(Scope("ctx", Member("demo", "main", revision)))
        return built

    def opened(self, state=None, **options):
        """A search that has opened nothing yet, of the last generation or of a given one."""
        return EmbeddedSearch(
            self.objects,
            self.artifacts,
            lambda _: (state or self.state).files,
            **(self.options | options),
        )

    def ask(self, provider, text, at=-1, offset=0, limit=MOST, budget=None, **options):
        budget = budget or Budget("search", provider.name, 120.0)
        return provider.search(self.scopes[at], SearchQuery(text, offset, limit, **options), budget)

    def page(self, text, at=-1, **options):
        return self.ask(self.search, text, at, **options)

    def lines(self, text, at=-1, **options):
        """(path, line) of every match in the index; line 0 for a match of the name."""
        return [(match.path, match.line) for match in self.page(text, at, **options).matches]

    def check(self, text, versions=None, **options):
        """Index and scanner find the same in each version; how many matches the last one has."""
        for at in range(len(self.scopes)) if versions is None else versions:
            found = self.ask(self.search, text, at, **options)
            expected = self.ask(self.scanner, text, at, **options)
            assert in_order(found) == in_order(expected), text
            assert (found.total, found.total_is_exact) == (expected.total, True), text
            assert found.total == len(found.matches), text
            assert found.coverage.complete, text
        return found.total


def in_order(page):
    """The matches of a page by path and line, without their rank."""
    return sorted((replace(match, rank=(0, 0)) for match in page.matches), key=by_place)


def by_place(match):
    return match.path, match.line


@pytest.fixture(scope="session")
def indexed():
    """Makes an :class:`Indexed` of versions."""
    return Indexed
