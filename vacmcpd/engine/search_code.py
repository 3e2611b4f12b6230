"""Lines that match a query, in every member of a context or in one."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from ..errors import QueryError, WireCode, invalid_argument
from ..model import Context, Member, Scope
from ..ports.budget import CancelFlag
from ..ports.search import SearchMatch, SearchPage, SearchProvider, SearchQuery
from . import cursor
from .budget import Providers
from .coverage import Coverage, of_members
from .evidence import Cited, cite, cited_row
from .requests import SearchCodeRequest
from .results import SearchCodeResult
from .rows import MAX_SNIPPET, match_row
from .scope import (
    check_coverage,
    check_place,
    check_revision,
    narrow,
    resolve,
    scope_of,
    told,
)
from .text import require_askable
from .tokens import budget_of, fitting, holds, room, rows_of, size

TOOL = "search_code"

_Row: TypeAlias = tuple[int, int, SearchMatch]
"""Which member, which of its matches, and that match."""


@dataclass(frozen=True, slots=True)
class _Window:
    """What one member answered, and from which of its matches on."""

    member: Member
    offset: int
    page: SearchPage

    @property
    def read(self) -> int:
        return self.offset + len(self.page.matches)


def answer(
    providers: Providers, request: SearchCodeRequest, cancel: CancelFlag | None
) -> SearchCodeResult:
    """One page of the matches, with the totals and the coverage of the whole scope.

    Every page asks every member, also those whose matches are on other pages: totals and
    coverage are of the whole answer, and no server remembers them.

    Raises INVALID_ARGUMENT, SOURCE_MISMATCH and SEARCH_PROVIDER_UNAVAILABLE.
    """
    limit = rows_of(request.limit, TOOL)
    max_tokens = budget_of(request.max_tokens, providers.max_tokens, TOOL)
    context = narrow(resolve(providers, request.context, cancel), request.repository, TOOL)
    text = _query(context, request.query)
    provider = _require_search(providers, context)
    members = [(member, member.search) for member in context.members]
    digested = cursor.digest(TOOL, members, [context.id, text])
    first, offset = cursor.read(request.cursor, TOOL, digested)
    cursor.require_inside(first, len(context.members), TOOL)
    windows: list[_Window] = []
    for at, member in enumerate(context.members):
        skipped = offset if at == first else 0
        wanted = 0 if at < first else limit
        query = SearchQuery(text, skipped, wanted)
        page = _search(providers, provider, scope_of(context, member), query, cancel)
        windows.append(_Window(member, skipped, page))
        limit -= len(page.matches)
    return _paged(context, windows, first, digested, max_tokens)


def _query(context: Context, query: str) -> str:
    text = query.strip()
    if not text:
        raise invalid_argument(f"{TOOL}: query is required", context=context.id)
    require_askable(text, "query", TOOL)
    return text


def _require_search(providers: Providers, context: Context) -> SearchProvider:
    if providers.search is not None:
        return providers.search
    raise QueryError(
        WireCode.SEARCH_PROVIDER_UNAVAILABLE,
        f'{TOOL}: context "{context.id}" can\'t be searched, this server has no search provider',
        {"context": context.id},
    )


def _search(
    providers: Providers,
    provider: SearchProvider,
    scope: Scope,
    query: SearchQuery,
    cancel: CancelFlag | None,
) -> SearchPage:
    budget = providers.budgets.start("search", provider, cancel)
    with told(context=scope.context, query=query.text):
        page = provider.search(scope, query, budget)
    # One that comes back late is answered all the same: what it found is of the pinned commit,
    # and whoever runs the engine ends what never comes back.
    budget.check_cancelled()
    return _checked(scope, query, page)


def _checked(scope: Scope, query: SearchQuery, page: SearchPage) -> SearchPage:
    check_revision(scope, page.revision, "what was searched")
    check_coverage(scope, page.coverage)
    matches = page.matches[: query.limit]
    for match in matches:
        check_place(scope, page.revision, match.path, match.line)
    total = max(page.total, query.offset + len(matches) if matches else 0)
    return replace(page, matches=matches, total=total)


def _paged(
    context: Context, windows: Sequence[_Window], first: int, digested: str, max_tokens: int
) -> SearchCodeResult:
    rows = [
        (at, window.offset + index, match)
        for at, window in enumerate(windows)
        for index, match in enumerate(window.page.matches)
    ]
    exact = all(window.page.total_is_exact for window in windows)
    empty = SearchCodeResult(
        context=context,
        evidence=(),
        coverage=_coverage(windows, exact),
        matches=(),
        total_matches=sum(window.page.total for window in windows),
        total_is_exact=exact,
        truncated=True,
    )
    kept = len(rows)
    if not holds(max_tokens, _of(empty, rows).to_wire()):
        kept = fitting(_sizes(context, rows), room(max_tokens, empty.to_wire()))
    position = rows[kept][:2] if kept < len(rows) else _unread(windows, first)
    # A page without a match can't be paged past, whatever its provider counted.
    following = cursor.write(TOOL, digested, position) if position and kept else ""
    return replace(
        _of(empty, rows[:kept]),
        truncated=position is not None or not exact,
        next_cursor=following,
    )


def _of(empty: SearchCodeResult, rows: Sequence[_Row]) -> SearchCodeResult:
    """The answer of these rows."""
    context = empty.context
    return replace(
        empty,
        evidence=tuple(_cited(context, at, match) for at, _, match in rows),
        matches=tuple((context.members[at], match) for at, _, match in rows),
    )


def _coverage(windows: Sequence[_Window], exact: bool) -> Coverage:
    return of_members((window.page.coverage for window in windows), cut=not exact)


def _sizes(context: Context, rows: Sequence[_Row]) -> Iterator[int]:
    several = len(context.members) > 1
    for at, _, match in rows:
        row = match_row(context.members[at], match, several)
        yield size(row) + size(cited_row(_cited(context, at, match), several)) + 2


def _cited(context: Context, at: int, match: SearchMatch) -> Cited:
    snippet = match.snippet[:MAX_SNIPPET]
    return cite(context.members[at], match.path, match.line, match.line, snippet)


def _unread(windows: Sequence[_Window], first: int) -> tuple[int, int] | None:
    """Where the first match stands that no page up to this one holds."""
    for at, window in enumerate(windows[first:], start=first):
        if window.page.total > window.read:
            return at, window.read
    return None
