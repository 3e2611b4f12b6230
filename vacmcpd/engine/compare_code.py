"""What changed at one path between two revisions of one repository."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from .. import paths
from ..errors import QueryError, WireCode
from ..model import Context, Scope
from ..ports.budget import CancelFlag
from ..ports.source import Change, Hunk, HunkLine, LineKind, SourceDiff, SourceDiffer
from . import cursor
from .budget import Named, Providers
from .coverage import examined, of_members
from .evidence import Side
from .get_code import require_source
from .requests import CompareCodeRequest
from .results import CompareCodeResult
from .rows import hunk_head, line_row
from .scope import check_revision, mismatch, resolve, scope_of, select_sides, told
from .tokens import BYTES_PER_TOKEN, budget_of, fitting, holds, room, size

TOOL = "compare_code"
# No hunk line is shorter on the wire than {"kind":"ADDED","content":""} and a comma.
_SHORTEST_LINE = 30


@dataclass(frozen=True, slots=True)
class _Page:
    """The hunks that fit, and where the next one starts: (hunk, line of it)."""

    hunks: tuple[Hunk, ...]
    following: tuple[int, int] | None


def answer(
    providers: Providers, request: CompareCodeRequest, cancel: CancelFlag | None
) -> CompareCodeResult:
    """One page of the hunks; a hunk that no page holds whole goes on on the next.

    Raises INVALID_ARGUMENT, SOURCE_MISMATCH, REPOSITORY_NOT_FOUND without a source and
    SOURCE_DIFF_UNAVAILABLE with one that can't compare.
    """
    max_tokens = budget_of(request.max_tokens, providers.max_tokens, TOOL)
    before = resolve(providers, request.from_context, cancel)
    after = resolve(providers, request.to_context, cancel)
    sides = select_sides(TOOL, (before, after), request.repository)
    path = paths.clean(request.path, TOOL)
    digested = cursor.digest(
        TOOL, [(side.members[0], None) for side in sides], [before.id, after.id, path]
    )
    start = cursor.read(request.cursor, TOOL, digested)
    most = start[1] + max_tokens * BYTES_PER_TOKEN // _SHORTEST_LINE + 1
    diff = _diff(providers, sides, path, start[0], most, cancel)
    total = max(diff.total_hunks, start[0] + len(diff.hunks) if diff.hunks else 0)
    cursor.require_inside(start[0], total, TOOL)
    empty = _result(sides, diff, total)
    page = _page(diff, start, empty, max_tokens)
    return replace(
        empty,
        hunks=page.hunks,
        truncated=page.following is not None or (not page.hunks and diff.total_hunks > start[0]),
        continued=start[1] > 0,
        next_cursor=cursor.write(TOOL, digested, page.following) if page.following else "",
    )


def _require_differ(
    providers: Providers, scopes: tuple[Scope, Scope], path: str
) -> tuple[SourceDiffer, Named]:
    source = require_source(providers, scopes[0])
    if isinstance(source, SourceDiffer):
        return source, source
    raise _unavailable(scopes, path, "the source provider can't compare revisions")


def _unavailable(scopes: tuple[Scope, Scope], path: str, reason: str, **details: str) -> QueryError:
    return QueryError(
        WireCode.SOURCE_DIFF_UNAVAILABLE,
        f"{TOOL}: {reason}; read both sides with get_code",
        {
            "from_context": scopes[0].context,
            "to_context": scopes[1].context,
            "path": path,
            **details,
        },
    )


def _diff(
    providers: Providers,
    sides: tuple[Context, Context],
    path: str,
    skip: int,
    most: int,
    cancel: CancelFlag | None,
) -> SourceDiff:
    before, after = (scope_of(side, side.members[0]) for side in sides)
    differ, named = _require_differ(providers, (before, after), path)
    budget = providers.budgets.start("diff", named, cancel)
    facts = {
        "path": path,
        "from_revision": before.revision,
        "to_revision": after.revision,
    }
    with told(**facts):
        diff = differ.diff(before, after, path, skip, most, budget)
    budget.check_cancelled()
    check_revision(before, diff.from_revision, "the from side")
    check_revision(after, diff.to_revision, "the to side")
    if diff.path != path:
        raise mismatch(before, diff.from_revision, "another file was compared", path=path)
    if diff.change not in list(Change):
        reason = "the source provider answers with a change that is not known here"
        raise _unavailable((before, after), path, reason, change=str(diff.change))
    for hunk in diff.hunks:
        if not _sane(hunk):
            raise mismatch(after, diff.to_revision, "a hunk contradicts itself", path=path)
    return replace(diff, change=Change(diff.change))


def _sane(hunk: Hunk) -> bool:
    old, new = _counts(hunk.lines)
    return (
        min(hunk.old_start, hunk.new_start) >= 0 and old <= hunk.old_lines and new <= hunk.new_lines
    )


def _result(sides: tuple[Context, Context], diff: SourceDiff, total: int) -> CompareCodeResult:
    before = None if diff.change is Change.ADDED else Side(sides[0], ())
    after = None if diff.change is Change.REMOVED else Side(sides[1], ())
    present = [side.context.members[0] for side in (before, after) if side]
    return CompareCodeResult(
        from_side=before,
        to_side=after,
        coverage=of_members(examined(member, 1) for member in present),
        change=diff.change,
        path=diff.path,
        binary=diff.binary,
        hunks=(),
        total_hunks=total,
        entries=(diff.from_entry, diff.to_entry),
        truncated=True,
    )


def _page(
    diff: SourceDiff, start: tuple[int, int], empty: CompareCodeResult, max_tokens: int
) -> _Page:
    first, skipped = start
    hunks = [_from(hunk, 0 if at else skipped) for at, hunk in enumerate(diff.hunks)]
    kept = sum(len(hunk.lines) for hunk in hunks)
    if not holds(max_tokens, replace(empty, hunks=tuple(hunks)).to_wire()):
        kept = fitting(_sizes(hunks), room(max_tokens, empty.to_wire()))
    taken: list[Hunk] = []
    for at, hunk in enumerate(hunks):
        offset, lines = (0 if at else skipped), len(hunk.lines)
        if kept < lines and taken:
            return _Page(tuple(taken), (first + at, 0))
        if kept < lines or _lines_missing(diff.hunks[at]):
            cut = min(kept, lines)
            return _Page((*taken, _until(hunk, cut)), (first + at, offset + cut))
        kept -= lines
        taken += [hunk] if lines else []
    following = first + len(hunks)
    return _Page(tuple(taken), (following, 0) if hunks and following < diff.total_hunks else None)


def _sizes(hunks: Sequence[Hunk]) -> Iterator[int]:
    for hunk in hunks:
        head = size({**hunk_head(hunk, continued=True), "lines": []}) + 1
        for line in hunk.lines:
            yield head + size(line_row(line)) + 1
            head = 0


def _lines_missing(hunk: Hunk) -> bool:
    """Whether the provider cut a hunk that is longer than what it was asked for."""
    return _counts(hunk.lines) != (hunk.old_lines, hunk.new_lines)


def _from(hunk: Hunk, skipped: int) -> Hunk:
    if not skipped:
        return hunk
    old, new = _counts(hunk.lines[:skipped])
    return _ranged(hunk, hunk.lines[skipped:], old, new)


def _until(hunk: Hunk, kept: int) -> Hunk:
    return _ranged(hunk, hunk.lines[:kept], 0, 0)


def _ranged(hunk: Hunk, lines: tuple[HunkLine, ...], old_before: int, new_before: int) -> Hunk:
    """The hunk of ``lines`` alone, which follow so many lines of each side of ``hunk``."""
    old, new = _counts(lines)
    return Hunk(
        _start(hunk.old_start, hunk.old_lines, old_before, old),
        old,
        _start(hunk.new_start, hunk.new_lines, new_before, new),
        new,
        lines,
    )


def _start(start: int, whole: int, before: int, lines: int) -> int:
    if not whole:
        return start
    # An empty side of a hunk names the line before it, as in diff -u.
    return start + before - (not lines)


def _counts(lines: Sequence[HunkLine]) -> tuple[int, int]:
    added = sum(line.kind is LineKind.ADDED for line in lines)
    removed = sum(line.kind is LineKind.REMOVED for line in lines)
    return len(lines) - added, len(lines) - removed
