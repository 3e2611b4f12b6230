"""The commits behind a context that pass the filters."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from .. import paths
from ..errors import QueryError, WireCode
from ..model import Context, Member, Scope
from ..ports.budget import CancelFlag
from ..ports.source import HistoryEntry, HistoryPage, HistoryQuery, SourceHistory
from . import cursor
from .budget import Named, Providers
from .coverage import examined, of_members
from .evidence import Cited, cite, cited_row
from .get_code import require_source
from .requests import SearchHistoryRequest
from .results import SearchHistoryResult
from .rows import history_row
from .scope import check_revision, inside, mismatch, narrow, resolve, scope_of, told
from .text import require_askable
from .tokens import budget_of, fitting, holds, room, rows_of, size

TOOL = "search_history"


@dataclass(frozen=True, slots=True)
class _Walk:
    """What one member's walk gave, and from which of its entries on."""

    at: int
    member: Member
    offset: int
    page: HistoryPage


_Row: TypeAlias = tuple[_Walk, int, HistoryEntry]
"""Whose walk, which of its entries, and that entry."""


def answer(
    providers: Providers, request: SearchHistoryRequest, cancel: CancelFlag | None
) -> SearchHistoryResult:
    """One page of the entries, counted over the whole answer in member order.

    ``truncated`` is exact: one entry more than the page holds is asked for. Raises
    INVALID_ARGUMENT, SOURCE_MISMATCH, REPOSITORY_NOT_FOUND without a source and
    SOURCE_HISTORY_UNAVAILABLE with one that can't walk.
    """
    limit = rows_of(request.limit, TOOL)
    max_tokens = budget_of(request.max_tokens, providers.max_tokens, TOOL)
    context = narrow(resolve(providers, request.context, cancel), request.repository, TOOL)
    filters = _filters(request)
    digested = cursor.digest(
        TOOL,
        [(member, None) for member in context.members],
        [context.id, filters.message, filters.symbol, filters.path],
    )
    start = cursor.read(request.cursor, TOOL, digested)
    cursor.require_inside(start[0], len(context.members), TOOL)
    walks = list(_walks(providers, context, filters, start, limit, cancel))
    return _paged(context, walks, digested, limit, max_tokens)


def _filters(request: SearchHistoryRequest) -> HistoryQuery:
    message = request.query.strip()
    require_askable(message, "query", TOOL)
    require_askable(request.symbol, "symbol", TOOL)
    path = paths.clean(request.path, TOOL) if request.path.strip() else ""
    # The root holds every path, so it filters nothing.
    return HistoryQuery(message, request.symbol, "" if path == "." else path, 0, 0)


def _require_history(providers: Providers, context: Context) -> tuple[SourceHistory, Named]:
    source = require_source(providers, scope_of(context, context.members[0]))
    if isinstance(source, SourceHistory):
        return source, source
    raise QueryError(
        WireCode.SOURCE_HISTORY_UNAVAILABLE,
        f"{TOOL}: the source provider can't walk history; the other queries work",
        {"context": context.id},
    )


def _walks(
    providers: Providers,
    context: Context,
    filters: HistoryQuery,
    start: tuple[int, int],
    limit: int,
    cancel: CancelFlag | None,
) -> Iterator[_Walk]:
    """Walks from the cursor on, until one entry more than ``limit`` is known."""
    history, named = _require_history(providers, context)
    first, offset = start
    wanted = limit + 1
    for at, member in enumerate(context.members[first:], start=first):
        query = replace(filters, offset=offset if at == first else 0, limit=wanted)
        budget = providers.budgets.start("history", named, cancel)
        scope = scope_of(context, member)
        with told(context=context.id, repository=member.repository, revision=member.revision):
            page = history.history(scope, query, budget)
        budget.check_cancelled()
        checked = _checked(scope, query, page)
        yield _Walk(at, member, query.offset, checked)
        wanted -= len(checked.entries)
        if wanted <= 0:
            return


def _checked(scope: Scope, query: HistoryQuery, page: HistoryPage) -> HistoryPage:
    check_revision(scope, page.revision, "the history")
    entries = page.entries[: query.limit]
    for entry in entries:
        if not entry.commit or not inside(entry.path):
            raise mismatch(scope, page.revision, "the history names a path outside the tree")
    return replace(page, entries=entries, examined=max(page.examined, len(entries)))


def _paged(
    context: Context, walks: Sequence[_Walk], digested: str, limit: int, max_tokens: int
) -> SearchHistoryResult:
    rows = [(walk, index, entry) for walk in walks for index, entry in enumerate(walk.page.entries)]
    unfinished = any(walk.page.more for walk in walks) or len(rows) > limit
    empty = SearchHistoryResult(
        context=context,
        evidence=(),
        coverage=of_members(
            (examined(walk.member, walk.page.examined) for walk in walks), cut=unfinished
        ),
        commits=(),
        truncated=True,
    )
    several = len(context.members) > 1
    kept = min(len(rows), limit)
    if not holds(max_tokens, _of(empty, rows[:kept]).to_wire()):
        kept = fitting(_sizes(rows[:limit], several), room(max_tokens, empty.to_wire()))
    following = ""
    if kept < len(rows):
        walk, index, _ = rows[kept]
        following = cursor.write(TOOL, digested, (walk.at, walk.offset + index))
    return replace(_of(empty, rows[:kept]), truncated=bool(following), next_cursor=following)


def _of(empty: SearchHistoryResult, rows: Sequence[_Row]) -> SearchHistoryResult:
    """The answer of these rows."""
    return replace(
        empty,
        evidence=tuple(_cited(walk, entry) for walk, _, entry in rows),
        commits=tuple((walk.member, entry) for walk, _, entry in rows),
    )


def _sizes(rows: Sequence[_Row], several: bool) -> Iterator[int]:
    for walk, _, entry in rows:
        row = history_row(walk.member, entry, several)
        yield size(row) + size(cited_row(_cited(walk, entry), several)) + 2


def _cited(walk: _Walk, entry: HistoryEntry) -> Cited:
    return cite(walk.member, entry.path, 0, 0)
