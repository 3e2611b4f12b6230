"""A place to search in: files in memory, or in any provider that the contract is run against."""

import threading
from dataclasses import dataclass, field

import pytest

from vacmcpd.adapters.lexical import ScanSearch
from vacmcpd.model import Member, Scope
from vacmcpd.ports.budget import Budget
from vacmcpd.ports.search import SearchQuery
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
