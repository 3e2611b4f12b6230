"""Lines of one file at the pinned commit."""

from dataclasses import replace

from .. import paths
from ..errors import OperationTimeout, QueryError, WireCode, invalid_argument
from ..model import Scope
from ..ports.budget import CancelFlag
from ..ports.source import SourceContent, SourceProvider
from .budget import Providers
from .coverage import examined, of_members
from .evidence import cite
from .requests import GetCodeRequest
from .results import GetCodeResult
from .scope import check_revision, mismatch, resolve, scope_of, select, told
from .text import clean
from .tokens import BYTES_PER_TOKEN, budget_of, room, size

TOOL = "get_code"
_LAST_LINE = 2**31 - 1


def answer(
    providers: Providers, request: GetCodeRequest, cancel: CancelFlag | None
) -> GetCodeResult:
    """As many of the lines asked for, from the first, as the token budget holds.

    Raises INVALID_ARGUMENT for a path or range that can't be read (with ``kind`` or
    ``line_count``), SOURCE_MISMATCH, and REPOSITORY_NOT_FOUND when there is no source.
    """
    max_tokens = budget_of(request.max_tokens, providers.max_tokens, TOOL)
    context = resolve(providers, request.context, cancel)
    chosen = select(context, request.repository, TOOL, path=request.path)
    path = paths.clean(request.path, TOOL)
    _check_range(path, request)
    scope = scope_of(chosen, chosen.members[0])
    content = _read(providers, scope, path, request, max_tokens, cancel)
    start, end = (content.start_line, content.end_line) if content.end_line else (0, 0)
    result = GetCodeResult(
        context=chosen,
        evidence=(cite(scope.member, path, start, end),),
        coverage=of_members((examined(scope.member, 1),)),
        content=content,
        truncated=bool(content.end_line) and content.end_line < request.end_line,
    )
    return _trimmed(result, max_tokens)


def require_source(providers: Providers, scope: Scope) -> SourceProvider:
    """The source provider; REPOSITORY_NOT_FOUND when the engine has none."""
    if providers.source is not None:
        return providers.source
    raise QueryError(
        WireCode.REPOSITORY_NOT_FOUND,
        f'context "{scope.context}": repository "{scope.repository}" can\'t be read, '
        "this server has no source provider",
        {"context": scope.context, "repository": scope.repository},
    )


def _check_range(path: str, request: GetCodeRequest) -> None:
    start, end = request.start_line, request.end_line
    if start < 1 or end < start:
        raise invalid_argument(
            f"{TOOL}: lines {start} to {end} are no range; lines count from 1, first before last",
            path=path,
            start_line=start,
            end_line=end,
        )


def _read(
    providers: Providers,
    scope: Scope,
    path: str,
    request: GetCodeRequest,
    max_tokens: int,
    cancel: CancelFlag | None,
) -> SourceContent:
    source = require_source(providers, scope)
    budget = providers.budgets.start("read", source, cancel)
    start = min(request.start_line, _LAST_LINE)
    # A line is two bytes of JSON at least, so a hundred megabytes need not be read for an answer
    # that holds thirty thousand.
    end = min(request.end_line, start + max_tokens * BYTES_PER_TOKEN // 2, _LAST_LINE)
    facts = {"context": scope.context, "path": path, "revision": scope.revision}
    try:
        with told(**facts):
            content = source.read(scope, path, start, end, budget)
    except OperationTimeout:
        raise
    except QueryError as error:
        count = error.details.get("line_count")
        if error.code is WireCode.INVALID_ARGUMENT and isinstance(count, int):
            raise _out_of_range(scope, path, request, count) from error
        raise
    budget.check_cancelled()
    _check_content(scope, path, start, end, content)
    if request.end_line > content.line_count > 0:
        raise _out_of_range(scope, path, request, content.line_count)
    return content


def _check_content(scope: Scope, path: str, start: int, end: int, content: SourceContent) -> None:
    check_revision(scope, content.revision, f"what {TOOL} read")
    if content.path != path:
        raise mismatch(scope, content.revision, "another file was read", path=path)
    if content.line_count == 0:
        sane = content.content == "" and (content.start_line, content.end_line) == (start, 0)
    else:
        lines = _line_count(content.content)
        sane = (
            (content.start_line, content.end_line) == (start, end)
            and lines == end - start + 1
            and end <= content.line_count
        )
    if not sane:
        raise mismatch(scope, content.revision, "other lines were read", path=path)


def _line_count(text: str) -> int:
    return text.count("\n") + (not text.endswith("\n"))


def _out_of_range(scope: Scope, path: str, request: GetCodeRequest, count: int) -> QueryError:
    return invalid_argument(
        f'{TOOL}: "{path}" has {count} lines at {scope.revision}; '
        f"{request.start_line} to {request.end_line} leave it",
        context=scope.context,
        path=path,
        revision=scope.revision,
        start_line=request.start_line,
        end_line=request.end_line,
        line_count=count,
    )


def _trimmed(result: GetCodeResult, max_tokens: int) -> GetCodeResult:
    source = result.content
    bare = replace(result, content=replace(source, content=""), line_truncated=True)
    available = max(room(max_tokens, bare.to_wire(), paged=False), 1)
    if size(clean(source.content)) <= available:
        return result
    return _cut(result, available)


def _cut(result: GetCodeResult, available: int) -> GetCodeResult:
    source = result.content
    lines, used, kept = source.content.split("\n"), 2, 0
    for line in lines:
        # Without its two quotes, with the two bytes of an escaped newline.
        used += size(clean(line))
        if used > available:
            break
        kept += 1
    text = "\n".join(lines[:kept]) + "\n" if kept else _prefix(lines[0], available)
    end = source.start_line + max(kept, 1) - 1
    cited = result.evidence[0]
    return replace(
        result,
        content=replace(source, content=text, end_line=end),
        evidence=(cite(cited.member, source.path, source.start_line, end),),
        truncated=True,
        line_truncated=not kept,
    )


def _prefix(line: str, available: int) -> str:
    """The longest prefix of ``line`` that costs at most ``available`` bytes, or one character."""
    low, high = 1, min(len(line), available)
    while low < high:
        middle = (low + high + 1) // 2
        if size(clean(line[:middle])) <= available:
            low = middle
        else:
            high = middle - 1
    return line[:low]
