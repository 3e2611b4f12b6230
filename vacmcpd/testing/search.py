"""Search in memory: words, no query language."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from ..model import MemberCoverage, Scope
from ..ports.budget import Budget
from ..ports.search import SearchMatch, SearchPage, SearchQuery
from ..ports.source import EntryKind
from .source import MemoryCommit, MemoryFile, MemoryRepositories


class MemorySearch:
    """A SearchProvider that finds every word of the query as a plain substring.

    A file matches when each word is in its content or its path; then each line with any of the
    words is a match, or the name alone where no line has one. A query without capitals ignores
    case. ``repositories`` is what :class:`~vacmcpd.testing.source.MemorySource` takes.
    """

    def __init__(
        self, repositories: Mapping[str, Iterable[MemoryCommit]], *, name: str = "memory"
    ) -> None:
        self.name = name
        self._repositories = MemoryRepositories(repositories)

    def search(self, scope: Scope, query: SearchQuery, budget: Budget) -> SearchPage:
        """One window of the matches, by path and line."""
        commit = self._repositories.commit(scope)
        matches: list[SearchMatch] = []
        skipped: Counter[str] = Counter()
        searched, in_time = 0, True
        for path, leaf in commit.leaves():
            budget.check_cancelled()
            if budget.expired():
                in_time = False
                break
            reason = _unsearchable(leaf)
            if reason:
                skipped[reason] += 1
                continue
            searched += 1
            matches += _matches(path, leaf, query.text)
        return SearchPage(
            revision=scope.revision,
            matches=tuple(matches[query.offset : query.offset + query.limit]),
            total=len(matches),
            total_is_exact=in_time,
            coverage=MemberCoverage(
                scope.repository, scope.revision, len(commit.files), searched, dict(skipped)
            ),
        )


def _unsearchable(leaf: MemoryFile) -> str:
    if leaf.kind is not EntryKind.FILE:
        return str(leaf.kind)
    return "binary" if leaf.binary else ""


def _matches(path: str, leaf: MemoryFile, query: str) -> Iterator[SearchMatch]:
    fold = query == query.lower()
    words = query.split()
    text = leaf.content.decode("utf-8", "replace")
    haystack, name = (text.lower(), path.lower()) if fold else (text, path)
    if not all(word in haystack or word in name for word in words):
        return
    found = False
    for number, line in enumerate(text.split("\n"), start=1):
        shown = line.lower() if fold else line
        if any(word in shown for word in words):
            found = True
            yield SearchMatch(path, number, line.removesuffix("\r"))
    if not found:
        yield SearchMatch(path, 1, path, file_name=True)
