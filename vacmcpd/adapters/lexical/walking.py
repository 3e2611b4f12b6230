"""Walks the rows that a query can match, window by window, until a page is full."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from ...paths import to_text
from ...ports.budget import Budget
from ...ports.search import SearchMatch, SearchQuery
from .counting import Single, count, single
from .finding import Alone, Finder, Matching, Testing
from .indexed import IndexedFile, Original
from .matching import Test
from .patterns import Line
from .planning import Plan
from .query import Query
from .ranking import TIER, WINDOW_FILES, Words, score_of_lines, words_of
from .shown import SNIPPET_LIMIT, neighbours, shown, shown_span
from .tiers import Tier
from .views import Rows, Texts, View

_MOST_CALLED_SO = 1_000


class _OutOfTime(Exception):
    """The deadline passed; what was gathered is still an answer."""


@dataclass(slots=True)
class Walk:
    """One search under way; afterwards ``matches``, ``total``, and what was left unread.

    ``unread`` counts rows that can match and were not looked at, ``late`` says that the deadline
    was the reason. ``exact``: ``total`` is all there is.
    """

    view: View
    plan: Plan
    test: Test
    parsed: Query
    query: SearchQuery
    budget: Budget
    texts: Texts
    original: Original
    matches: list[SearchMatch] = field(default_factory=list)
    total: int = 0
    unread: int = 0
    late: bool = False
    exact: bool = True
    _words: Words = field(default_factory=lambda: Words(()))
    _alone: Single | None = None

    def run(self) -> None:
        """Fill the page; count everything where an exact total was asked for."""
        self._alone = single(self.parsed, self.plan, self.view)
        rows = self._order()
        self.unread = rows.size
        try:
            if self.query.limit:
                self._fill(rows)
            if not self.exact or not self.query.limit:
                self._count(rows)
        except _OutOfTime:
            self.late, self.exact = True, False

    def _fill(self, rows: Rows) -> None:
        end = self.query.offset + self.query.limit
        for number, window in enumerate(self._windows(rows)):
            self._take(number, window)
            if self.late or self.total > end:
                self.exact = self.exact and not self.unread
                return

    def _count(self, rows: Rows) -> None:
        """The exact total, where it was asked for or costs nothing."""
        if not self.plan.hits:
            self.total = rows.size
        elif self.late or not (self.query.exact_total or not self.query.limit):
            return
        elif self._alone is not None:
            self.total = count(self._alone, self.plan, self.view, self.texts, self._tick)
        else:
            self._count_each(rows)
        if not self.late:
            self.unread, self.exact = 0, True

    def _count_each(self, rows: Rows) -> None:
        total, unread = 0, rows.size
        try:
            for found in self._finder(rows):
                if found is not None:
                    total += found.take(0, 0, whole=True)[1]
                unread -= 1
        finally:
            # Out of time, it may have got less far than the page did.
            self.total, self.unread = max(self.total, total), min(self.unread, unread)

    def _order(self) -> Rows:
        """The rows that can match; files that are called like a word of the query first."""
        ordered = self.view.order[self.plan.possible[self.view.order]]
        if not self.query.limit:
            return ordered
        self._words = words_of(self.parsed)
        named = np.flatnonzero(self.plan.named & self.plan.possible)[:_MOST_CALLED_SO]
        called = [row for row in named.tolist() if self._words.called_so(self.view.utf8[row])]
        if not called:
            return ordered
        first = np.zeros(len(self.view), bool)
        first[called] = True
        return np.concatenate((ordered[first[ordered]], ordered[~first[ordered]]))

    def _windows(self, rows: Rows) -> Iterator[list[Matching]]:
        """Files that match, some at a time; how many does not depend on the page."""
        window: list[Matching] = []
        try:
            for found in self._finder(rows):
                self.unread -= 1
                if found is None:
                    continue
                found.score = self._score(found)
                window.append(found)
                if len(window) == WINDOW_FILES:
                    yield window
                    window = []
        except _OutOfTime:
            self.late, self.exact = True, False
        if window:
            yield window

    @property
    def _finder(self) -> Finder:
        hits = self.plan.hits
        if self._alone is not None:
            return Alone(self.view, self._alone, hits, self.texts, self._tick)
        return Testing(self.view, self.test, hits, self.texts, self._tick)

    def _tick(self) -> None:
        self.budget.check_cancelled()
        if self.budget.expired():
            raise _OutOfTime

    def _score(self, found: Matching) -> int:
        row = found.file.row
        score = score_of_lines(found.head) + TIER[Tier(int(self.view.manifest.tiers[row]))]
        if self.plan.named[row]:
            score += self._words.score(found.file.name)
        return score

    def _take(self, number: int, window: list[Matching]) -> None:
        """Put what belongs on the page there; files behind it are not read to their ends."""
        begin, end = self.query.offset, self.query.offset + self.query.limit
        # Sorting is stable: files of one score stay in the order of the walk.
        for at, found in enumerate(sorted(window, key=lambda each: -each.score)):
            if self.total > end and self.unread:
                self.total += found.known
                self.exact = False
                continue
            low = max(0, begin - self.total)
            try:
                lines, size = found.take(low, end - self.total, whole=not self.unread)
            except _OutOfTime:
                # What stays out of the answer counts as if it had not been looked at.
                self.unread += len(window) - at
                raise
            if low < size and self.total < end:
                self.matches += self._shown(found, lines, (number, -found.score))
            self.total += size

    def _shown(
        self, found: Matching, lines: Sequence[Line], rank: tuple[int, int]
    ) -> Iterator[SearchMatch]:
        path = to_text(found.file.path)
        if not found.head:
            yield SearchMatch(path, 0, path, file_name=True, rank=rank)
        for line in lines:
            yield self._match_of(found.file, path, line, rank)

    def _match_of(
        self, file: IndexedFile, path: str, line: Line, rank: tuple[int, int]
    ) -> SearchMatch:
        number, text, start, end, first, last = line
        raw = text[start : min(end, start + SNIPPET_LIMIT)]
        around: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())
        span = (first - start, last - start)
        wanted = self.query.context_lines
        if wanted or file.is_lossy():
            lines = file.text_lines(self.original)
            if file.is_lossy():
                raw = lines[number - 1]
                span = shown_span(raw, text[start:end], *span)
            around = neighbours(lines, number, wanted)
        return SearchMatch(path, number, shown(raw), False, span, *around, rank)
