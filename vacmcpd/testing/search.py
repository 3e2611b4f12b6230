"""Search in memory: words, no query language."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from ..errors import invalid_argument
from ..model import MemberCoverage, Scope
from ..ports.budget import Budget
from ..ports.search import QueryMode, SearchMatch, SearchPage, SearchQuery
from ..ports.source import EntryKind
from .source import MemoryCommit, MemoryFile, MemoryRepositories


class MemorySearch:
    """A SearchProvider that finds every word of the query as a plain substring.

    In mode literal the whole text is one word, in mode regex one expression of Python's ``re``.
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
        words = _words(query)
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
            matches += _matches(path, leaf, words, query.context_lines)
        return SearchPage(
            revision=scope.revision,
            matches=tuple(matches[query.offset : query.offset + query.limit]),
            total=len(matches),
            total_is_exact=in_time,
            coverage=MemberCoverage(
                scope.repository, scope.revision, len(commit.files), searched, dict(skipped)
            ),
        )


def _words(query: SearchQuery) -> list[re.Pattern[str]]:
    flags = re.MULTILINE | (re.IGNORECASE if query.text == query.text.lower() else 0)
    if query.mode is QueryMode.REGEX:
        try:
            return [re.compile(query.text, flags)]
        except re.error as error:
            raise invalid_argument(
                f"query: {error.msg}", query=query.text, position=error.pos or 0
            ) from error
    texts = [query.text] if query.mode is QueryMode.LITERAL else query.text.split()
    return [re.compile(re.escape(text), flags) for text in texts]


def _unsearchable(leaf: MemoryFile) -> str:
    if leaf.kind is not EntryKind.FILE:
        return str(leaf.kind)
    return "binary" if leaf.binary else ""


def _matches(
    path: str, leaf: MemoryFile, words: list[re.Pattern[str]], around: int
) -> Iterator[SearchMatch]:
    content = leaf.content.decode("utf-8", "replace").replace("\r\n", "\n")
    # Behind the last line feed there is no line.
    text = content.removesuffix("\n")
    if not all(word.search(text) or word.search(path) for word in words):
        return
    lines = text.split("\n")
    hits = _hits(text, words) if content else {}
    for at, (start, end) in hits.items():
        line = lines[at]
        yield SearchMatch(
            path,
            at + 1,
            line,
            span=(_bytes(line[:start]), _bytes(line[:end])),
            before=tuple(lines[max(0, at - around) : at]),
            after=tuple(lines[at + 1 : at + 1 + around]),
        )
    if not hits:
        yield SearchMatch(path, 0, path, file_name=True)


def _hits(text: str, words: list[re.Pattern[str]]) -> dict[int, tuple[int, int]]:
    """The first hit of each line that has one, as characters of it; lines count from 0."""
    hits: dict[int, tuple[int, int]] = {}
    for start, end in sorted(found.span() for word in words for found in word.finditer(text)):
        first = text.rfind("\n", 0, start) + 1
        last = text.find("\n", start)
        end = min(end, last if last >= 0 else len(text))
        hits.setdefault(text.count("\n", 0, first), (start - first, max(start, end) - first))
    return hits


def _bytes(text: str) -> int:
    return len(text.encode("utf-8"))
