"""A search that reads every blob of the pinned tree: slow at scale, and right by construction."""

from dataclasses import dataclass, field

from ...model import MemberCoverage, Scope
from ...paths import to_text
from ...ports.budget import Budget
from ...ports.objects import ObjectReader
from ...ports.search import SearchMatch, SearchPage, SearchQuery
from .cache import BlobCache
from .documents import Skip
from .files import Blobs, File
from .matching import Found, Test, compile_query, merged
from .patterns import Line
from .query import parse
from .tree import Leaf, TreeCache

_CACHE_BYTES = 64 * 1024 * 1024


class ScanSearch:
    """A SearchProvider over git objects alone.

    Matches come by path in byte order, then by line. ``max_file_bytes`` is the largest blob that
    is read; ``cache_bytes`` bounds what is kept of blobs between searches. Safe in several
    threads.
    """

    name = "scan"

    def __init__(
        self, objects: ObjectReader, *, max_file_bytes: int, cache_bytes: int = _CACHE_BYTES
    ) -> None:
        self._objects = objects
        self._max_file_bytes = max_file_bytes
        self._blobs = BlobCache(cache_bytes)
        self._trees = TreeCache(objects)

    def search(self, scope: Scope, query: SearchQuery, budget: Budget) -> SearchPage:
        """One window of the matches; see :class:`vacmcpd.ports.search.SearchProvider`."""
        test = compile_query(parse(query.text, query.mode), scope)
        tree = self._objects.prove(scope)
        leaves = self._trees.leaves(scope, tree, budget)
        tally = _Tally(query.offset, query.offset + query.limit)
        finished = self._scan(scope, leaves, test, query, budget, tally)
        coverage = MemberCoverage(
            scope.repository, scope.revision, len(leaves), tally.searched, tally.skipped_by_reason()
        )
        return SearchPage(scope.revision, tuple(tally.matches), tally.total, finished, coverage)

    def _scan(
        self,
        scope: Scope,
        leaves: tuple[Leaf, ...],
        test: Test,
        query: SearchQuery,
        budget: Budget,
        tally: "_Tally",
    ) -> bool:
        scan = self._blobs.begin()
        blobs = Blobs(self._objects, scope, self._max_file_bytes, self._blobs, scan)

        def tick() -> None:
            budget.check_cancelled()
            if budget.expired():
                raise _OutOfTime

        try:
            for leaf in leaves:
                tick()
                file = File(leaf, blobs, tick)
                _report(file, test, tally, query.context_lines)
                tally.cover(file.skip)
        except _OutOfTime:
            return False
        return True


class _OutOfTime(Exception):
    """The deadline passed; what was gathered is still an answer."""


@dataclass(slots=True)
class _Tally:
    """The window of matches, and the counts of everything."""

    begin: int
    end: int
    matches: list[SearchMatch] = field(default_factory=list)
    total: int = 0
    searched: int = 0
    skipped: dict[Skip, int] = field(default_factory=dict)

    def wanted(self) -> bool:
        """Whether the next match falls into the window."""
        return self.begin <= self.total < self.end

    def cover(self, skip: Skip | None) -> None:
        if skip is None:
            self.searched += 1
        else:
            self.skipped[skip] = self.skipped.get(skip, 0) + 1

    def skipped_by_reason(self) -> dict[str, int]:
        return {str(reason): self.skipped[reason] for reason in sorted(self.skipped)}


def _report(file: File, test: Test, tally: _Tally, context_lines: int) -> None:
    found: Found = []
    if not test.check(file, found):
        return
    if not found:
        if tally.wanted():
            path = to_text(file.leaf.path)
            tally.matches.append(SearchMatch(path, 0, path, file_name=True))
        tally.total += 1
        return
    for line in merged(found):
        if tally.wanted():
            tally.matches.append(_match(file, line, context_lines))
        tally.total += 1


def _match(file: File, line: Line, context_lines: int) -> SearchMatch:
    before, after = file.neighbours(line, context_lines)
    snippet, span = file.snippet(line)
    return SearchMatch(to_text(file.leaf.path), line[0], snippet, False, span, before, after)
