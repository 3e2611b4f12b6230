"""Lines that match a query, in every member of a context or in one."""

from dataclasses import replace

from ..errors import QueryError, WireCode, invalid_argument
from ..model import Context, Scope
from ..ports.budget import CancelFlag
from ..ports.search import QueryMode, SearchMatch, SearchPage, SearchProvider, SearchQuery
from . import cursor
from .budget import Providers
from .hints import hint
from .requests import SearchCodeRequest
from .results import SearchCodeResult
from .scope import (
    check_coverage,
    check_place,
    check_revision,
    mismatch,
    narrow,
    resolve,
    scope_of,
    told,
)
from .search_page import TOOL, Window, paged
from .text import clean, require_askable
from .tokens import budget_of, rows_of

_MOST_CONTEXT_LINES = 10


def answer(
    providers: Providers, request: SearchCodeRequest, cancel: CancelFlag | None
) -> SearchCodeResult:
    """One page of the matches, with the totals and the coverage of the whole scope.

    Every page asks every member, also those whose matches are on other pages: totals and
    coverage are of the whole answer, and no server remembers them. Each is asked for one match
    more than the page holds, which tells whether another page follows.

    Raises INVALID_ARGUMENT, SOURCE_MISMATCH and SEARCH_PROVIDER_UNAVAILABLE.
    """
    limit = rows_of(request.limit, TOOL)
    max_tokens = budget_of(request.max_tokens, providers.max_tokens, TOOL)
    asked = _query(request, limit + 1)
    context = narrow(resolve(providers, request.context, cancel), request.repository, TOOL)
    _require_text(context, asked.text)
    provider = _require_search(providers, context)
    members = [(member, member.search) for member in context.members]
    digested = cursor.digest(TOOL, members, [context.id, asked.text, asked.mode])
    offsets = cursor.read_offsets(request.cursor, TOOL, digested, len(members))
    windows: list[Window] = []
    for member, offset in zip(context.members, offsets, strict=True):
        query = replace(asked, offset=offset)
        page = _search(providers, provider, scope_of(context, member), query, cancel)
        windows.append(Window(member, offset, page))
    result = paged(context, windows, limit, digested, max_tokens)
    if result.total_matches or not result.total_is_exact:
        return result
    return replace(result, hint=hint(asked.text, asked.mode))


def _query(request: SearchCodeRequest, wanted: int) -> SearchQuery:
    mode = _mode(request.mode)
    if not 0 <= request.context_lines <= _MOST_CONTEXT_LINES:
        raise invalid_argument(
            f"{TOOL}: context_lines {request.context_lines} is outside 0-{_MOST_CONTEXT_LINES}; "
            "get_code reads more of a file",
            context_lines=request.context_lines,
        )
    # Blanks are a part of a text that is looked for as it stands.
    text = request.query.strip() if mode is QueryMode.ZOEKT else request.query
    return SearchQuery(text, 0, wanted, mode, request.context_lines, request.exact_total)


def _mode(given: str) -> QueryMode:
    modes = [str(mode) for mode in QueryMode]
    if given and given not in modes:
        raise invalid_argument(
            f'{TOOL}: mode "{clean(given)}" is none of {", ".join(modes)}',
            mode=given,
            accepted=modes,
        )
    return QueryMode(given or QueryMode.ZOEKT)


def _require_text(context: Context, text: str) -> None:
    if not text.strip():
        blank = "; blanks alone can't be searched for" if text else ""
        raise invalid_argument(f"{TOOL}: query is required{blank}", context=context.id)
    require_askable(text, "query", TOOL)


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
    most = query.context_lines
    matches = tuple(
        _within(match, most) if match.before or match.after else match
        for match in page.matches[: query.limit]
    )
    for match in matches:
        check_place(scope, page.revision, match.path, match.line, name_only=match.file_name)
        if not 0 <= match.span[0] <= match.span[1]:
            raise mismatch(scope, page.revision, "a match ends before it begins", path=match.path)
    total = max(page.total, query.offset + len(matches) if matches else 0)
    return replace(page, matches=matches, total=total)


def _within(match: SearchMatch, most: int) -> SearchMatch:
    """The match with no more lines around it than were asked for."""
    before, after = match.before[-most:] if most else (), match.after[:most]
    if (before, after) == (match.before, match.after):
        return match
    return replace(match, before=before, after=after)
