"""Search inside one pinned member."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from ..model import MemberCoverage, Scope
from .budget import Budget


class QueryMode(StrEnum):
    """How the text of a query is read."""

    ZOEKT = "zoekt"
    """The language of ``docs/query-language.md``."""
    LITERAL = "literal"
    """This text, in the content or the path; nothing in it is special. Case counts once it has a
    capital letter, as in every mode."""
    REGEX = "regex"
    """One regular expression, in RE2's syntax, blanks and quotes included."""


@dataclass(frozen=True, slots=True)
class SearchQuery:
    """A query and the window of matches wanted.

    A ``limit`` of 0 asks for the total and the coverage alone. ``context_lines`` is how many lines
    before and after each match are wanted too. ``exact_total`` asks to count every match even
    where that takes longer than filling the window; a ``limit`` of 0 implies it.
    """

    text: str
    offset: int
    limit: int
    mode: QueryMode = QueryMode.ZOEKT
    context_lines: int = 0
    exact_total: bool = False


@dataclass(frozen=True, slots=True)
class SearchMatch:
    """One line that matches, without its line end. ``line`` is 1-based.

    ``span`` is where the first hit on the line begins and ends, in bytes of the line as UTF-8
    (0-based, the end exclusive); a hit that goes on in later lines ends with its first.
    ``before`` and ``after`` are the neighbouring lines that were asked for, fewer at the ends of a
    file. ``rank`` orders the matches of several members in one answer: it never decreases along
    one provider's matches.

    A match of the file's name alone has line 0 and the path as its snippet, ``file_name`` true.
    """

    path: str
    line: int
    snippet: str
    file_name: bool = False
    span: tuple[int, int] = (0, 0)
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    rank: tuple[int, int] = (0, 0)


@dataclass(frozen=True, slots=True)
class SearchPage:
    """The window of matches, in the provider's stable order.

    ``revision`` is the commit that was really searched. ``total`` counts all matches, exactly or,
    when ``total_is_exact`` is false, at least: the window was full before every candidate was
    read, or the deadline passed. Only in the latter case is the coverage incomplete.
    """

    revision: str
    matches: tuple[SearchMatch, ...]
    total: int
    total_is_exact: bool
    coverage: MemberCoverage


class SearchProvider(Protocol):
    """Finds matches in the tree of one pinned commit and nowhere else.

    The order of matches depends on the query's text, mode and scope alone, so that windows of any
    size join to the whole. Raises INVALID_ARGUMENT with ``position`` in the details for a query it
    can't read, SOURCE_MISMATCH when what it holds is not of the pinned commit and
    SEARCH_PROVIDER_UNAVAILABLE when it can't answer. A deadline that passes while matches are
    gathered returns what there is, with ``total_is_exact`` false and incomplete coverage.
    """

    name: str

    def search(self, scope: Scope, query: SearchQuery, budget: Budget) -> SearchPage:
        """One window of the matches in ``scope``."""
        ...
