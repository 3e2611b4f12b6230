"""Search inside one pinned member."""

from dataclasses import dataclass
from typing import Protocol

from ..model import MemberCoverage, Scope
from .budget import Budget


@dataclass(frozen=True, slots=True)
class SearchQuery:
    """A query in the language of ``docs/query-language.md`` and the window of matches wanted.

    A ``limit`` of 0 asks for the total and the coverage alone.
    """

    text: str
    offset: int
    limit: int


@dataclass(frozen=True, slots=True)
class SearchMatch:
    """One line that matches, without its line end. ``line`` is 1-based.

    A match of the file's name alone has line 1 and the path as its snippet, ``file_name`` true.
    """

    path: str
    line: int
    snippet: str
    file_name: bool = False


@dataclass(frozen=True, slots=True)
class SearchPage:
    """The window of matches, in the provider's stable order.

    ``revision`` is the commit that was really searched. ``total`` counts all matches, exactly or,
    when ``total_is_exact`` is false (the deadline passed), at least.
    """

    revision: str
    matches: tuple[SearchMatch, ...]
    total: int
    total_is_exact: bool
    coverage: MemberCoverage


class SearchProvider(Protocol):
    """Finds matches in the tree of one pinned commit and nowhere else.

    Raises INVALID_ARGUMENT with ``position`` in the details for a query it can't read,
    SOURCE_MISMATCH when what it holds is not of the pinned commit and
    SEARCH_PROVIDER_UNAVAILABLE when it can't answer. A deadline that passes while matches are
    gathered returns what there is, with ``total_is_exact`` false and incomplete coverage.
    """

    name: str

    def search(self, scope: Scope, query: SearchQuery, budget: Budget) -> SearchPage:
        """One window of the matches in ``scope``."""
        ...
