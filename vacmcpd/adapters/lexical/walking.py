"""Walks the rows that a query can match, window by window, until a page is full."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice

import numpy as np

from ...paths import to_text
from ...ports.budget import Budget
from ...ports.search import SearchMatch, SearchQuery
from .indexed import IndexedFile, Original
from .matching import Found, Test, merged
from .patterns import Line
from .planning import Plan
from .ranking import TIER, WINDOW_FILES, WINDOW_LINES, Words, score_of_lines
from .shown import SNIPPET_LIMIT, neighbours, shown
from .tiers import Tier
from .views import Rows, Texts, View

_KEPT_LINES = 2_048
_MOST_CALLED_SO = 1_000


class _OutOfTime(Exception):
    """The deadline passed; what was gathered is still an answer."""


@dataclass(slots=True)
class _Matching:
    """A file that matches: its first lines, and how many there are (0 for its name alone)."""

    file: IndexedFile
    lines: list[Line]
    count: int
    score: int

    @property
    def total(self) -> int:
        return self.count or 1


@dataclass(slots=True)
class Walk:
    """One search under way; afterwards ``matches``, ``total``, and what was left unread.

    ``unread`` counts rows that can match and were not looked at, ``late`` says that the deadline
    was the reason.
    """

    view: View
    plan: Plan
    test: Test
    words: Words
    query: SearchQuery
    budget: Budget
    texts: Texts
    original: Original
    matches: list[SearchMatch] = field(default_factory=list)
    total: int = 0
    unread: int = 0
    late: bool = False

    def run(self) -> None:
        """Fill the page; go on counting where an exact total was asked for."""
        rows = self._order()
        self.unread = rows.size
        windows = self._windows(rows)
        end = self.query.offset + self.query.limit
        for number, window in enumerate(windows):
            self._take(number, window)
            if self.late:
                return
            if self.total > end and not self._counts_all():
                self._count_names()
                return

    def _count_names(self) -> None:
        """Where no text is asked for, every row that is left is one match."""
        if not self.plan.hits:
            self.total, self.unread = int(np.count_nonzero(self.plan.possible)), 0

    def _counts_all(self) -> bool:
        return self.query.exact_total or self.query.limit == 0

    def _order(self) -> Rows:
        """The rows that can match; files that are called like a word of the query first."""
        ordered = self.view.order[self.plan.possible[self.view.order]]
        if not self.words.words:
            return ordered
        named = np.flatnonzero(self.plan.named & self.plan.possible)[:_MOST_CALLED_SO]
        called = [row for row in named.tolist() if self.words.called_so(self.view.utf8[row])]
        if not called:
            return ordered
        first = np.zeros(len(self.view), bool)
        first[called] = True
        return np.concatenate((ordered[first[ordered]], ordered[~first[ordered]]))

    def _windows(self, rows: Rows) -> Iterator[list[_Matching]]:
        """Files that match, some at a time; how many does not depend on the page."""
        window: list[_Matching] = []
        lines = 0
        try:
            for row in rows.tolist():
                self._tick()
                found = self._match(row)
                self.unread -= 1
                if found is None:
                    continue
                window.append(found)
                lines += found.total
                if len(window) >= WINDOW_FILES or lines >= WINDOW_LINES:
                    yield window
                    window, lines = [], 0
        except _OutOfTime:
            self.late = True
        if window:
            yield window

    def _tick(self) -> None:
        self.budget.check_cancelled()
        if self.budget.expired():
            raise _OutOfTime

    def _match(self, row: int) -> _Matching | None:
        file = IndexedFile(self.view, row, self.plan.hits, self.texts, self._tick)
        found: Found = []
        if not self.test.check(file, found):
            return None
        lines = merged(found) if found else iter(())
        kept = list(islice(lines, _KEPT_LINES))
        count = len(kept)
        if count == _KEPT_LINES:
            count += sum(1 for _ in lines)
        return _Matching(file, kept, count, self._score(file, kept))

    def _score(self, file: IndexedFile, lines: Sequence[Line]) -> int:
        if self.query.limit == 0:
            return 0
        tier = TIER[Tier(int(self.view.manifest.tiers[file.row]))]
        return score_of_lines(lines) + self.words.score(file.name) + tier

    def _take(self, number: int, window: list[_Matching]) -> None:
        begin, end = self.query.offset, self.query.offset + self.query.limit
        size = sum(found.total for found in window)
        if self.total >= end or self.total + size <= begin:
            self.total += size
            return
        # Sorting is stable: files of one score stay in the order of the walk.
        for found in sorted(window, key=lambda each: -each.score):
            low, high = max(0, begin - self.total), min(found.total, end - self.total)
            if low < high:
                self.matches += self._shown(found, low, high, (number, -found.score))
            self.total += found.total

    def _shown(
        self, found: _Matching, low: int, high: int, rank: tuple[int, int]
    ) -> Iterator[SearchMatch]:
        path = to_text(found.file.path)
        if not found.count:
            yield SearchMatch(path, 0, path, file_name=True, rank=rank)
            return
        for line in self._lines(found, low, high):
            yield self._match_of(found.file, path, line, rank)

    def _lines(self, found: _Matching, low: int, high: int) -> Sequence[Line]:
        if high <= len(found.lines):
            return found.lines[low:high]
        again: Found = []
        self.test.check(found.file, again)
        return list(islice(merged(again), low, high))

    def _match_of(
        self, file: IndexedFile, path: str, line: Line, rank: tuple[int, int]
    ) -> SearchMatch:
        number, text, start, end, first, last = line
        raw = text[start : min(end, start + SNIPPET_LIMIT)]
        around: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())
        wanted = self.query.context_lines
        if wanted or file.is_lossy():
            lines = file.text_lines(self.original)
            raw = lines[number - 1] if file.is_lossy() else raw
            around = neighbours(lines, number, wanted)
        span = (first - start, last - start)
        return SearchMatch(path, number, shown(raw), False, span, *around, rank)
