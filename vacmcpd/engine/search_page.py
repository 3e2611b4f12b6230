"""One page of a search, of what each member answered."""

import heapq
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import TypeAlias

from ..model import Context, Member
from ..ports.search import SearchMatch, SearchPage
from . import cursor
from .coverage import of_members
from .evidence import member_facts
from .results import SearchCodeResult
from .rows import MAX_SNIPPET, match_evidence, match_row
from .text import clean
from .tokens import fitting, room, size

TOOL = "search_code"
# What a match and its citation take beside their texts and numbers.
_ROW = size(
    [
        {"path": "", "line": 0, "snippet": "", "columns": [0, 0], "bytes": [0, 0]},
        {"location": {"path": "", "start_line": 0, "end_line": 0}, "snippet": ""},
    ]
)
_CUT = size({"snippet_truncated": True})
_AROUND = size({"before": [], "after": [], "context_truncated": True})

_Row: TypeAlias = tuple[int, SearchMatch]
"""Which member, and its match."""


@dataclass(frozen=True, slots=True)
class Window:
    """What one member answered, and from which of its matches on."""

    member: Member
    offset: int
    page: SearchPage

    @property
    def end(self) -> int:
        """Where the first match stands that the window does not hold."""
        return self.offset + len(self.page.matches)


def paged(
    context: Context, windows: Sequence[Window], limit: int, digested: str, max_tokens: int
) -> SearchCodeResult:
    """The best ``limit`` matches of all windows, or as many as fit, and where the next page starts.

    Each window holds one match more than ``limit`` where its member has one, so that a page
    knows whether another follows it.
    """
    rows = _merged(windows, limit)
    # What was not looked at may match, whatever was counted.
    exact = all(item.page.total_is_exact and item.page.coverage.complete for item in windows)
    empty = SearchCodeResult(
        context=context,
        coverage=of_members(item.page.coverage for item in windows),
        matches=(),
        total_matches=sum(item.page.total for item in windows),
        total_is_exact=exact,
        truncated=True,
    )
    longest = cursor.write(TOOL, digested, [item.end for item in windows])
    available = room(max_tokens, empty.to_wire(), paged=False) - size({"next_cursor": longest})
    whole = _of(empty, rows)
    facts = _facts(context)
    # Most answers fit by far, and their text is escaped at once in half the time.
    if _at_most(rows, facts) > available:
        rows = rows[: fitting((_at_most([row], facts) for row in rows), available)]
        whole = _first(empty, rows[0], available) if len(rows) == 1 else _of(empty, rows)
    position = _position(windows, rows)
    more = any(item.page.total > at for item, at in zip(windows, position, strict=True))
    # A page without a match can't be paged past, whatever its provider counted.
    following = cursor.write(TOOL, digested, position) if more and rows else ""
    return replace(whole, truncated=more or not exact, next_cursor=following)


def _merged(windows: Sequence[Window], limit: int) -> list[_Row]:
    """The first rows by rank; where ranks are equal, members in their order."""
    streams = [[(at, match) for match in item.page.matches] for at, item in enumerate(windows)]
    if len(streams) == 1:
        return streams[0][:limit]
    return list(islice(heapq.merge(*streams, key=lambda row: row[1].rank), limit))


def _position(windows: Sequence[Window], rows: Sequence[_Row]) -> list[int]:
    position = [item.offset for item in windows]
    for at, _ in rows:
        position[at] += 1
    return position


def _of(empty: SearchCodeResult, rows: Sequence[_Row]) -> SearchCodeResult:
    """The answer of these rows."""
    members = empty.context.members
    return replace(empty, matches=tuple((members[at], match) for at, match in rows))


def _first(empty: SearchCodeResult, row: _Row, available: int) -> SearchCodeResult:
    """The answer of one row, without the outer lines around it that don't fit."""
    at, match = row
    kept = match
    member, several = empty.context.members[at], len(empty.context.members) > 1
    while (kept.before or kept.after) and _size(
        member, kept, several, kept is not match
    ) > available:
        if len(kept.before) > len(kept.after):
            kept = replace(kept, before=kept.before[1:])
        else:
            kept = replace(kept, after=kept.after[:-1])
    return replace(_of(empty, [(at, kept)]), context_cut=kept is not match)


def _facts(context: Context) -> int:
    """The bytes of what tells one member from another."""
    if len(context.members) == 1:
        return 0
    return max(size(member_facts(member)) for member in context.members)


def _at_most(rows: Sequence[_Row], facts: int) -> int:
    """Bytes that the JSON of ``rows`` does not exceed, and comes close to."""
    twice: list[str] = []
    once: list[str] = []
    line = longest = 0
    used = (_ROW + 2 * facts) * len(rows)
    for _, match in rows:
        twice += (match.path, match.snippet[:MAX_SNIPPET])
        line, longest = max(line, match.line), max(longest, len(match.snippet))
        if len(match.snippet) > MAX_SNIPPET:
            used += _CUT
        if match.before or match.after:
            used += _AROUND
            once += (around[:MAX_SNIPPET] for around in match.before + match.after)
    # Three line numbers, two columns, and two bytes, of which a character has four at most.
    shown = min(longest, MAX_SNIPPET)
    digits = 3 * size(line) + 2 * size(shown + 1) + 2 * size(4 * shown)
    return used + digits * len(rows) + 2 * _escaped(twice) + _escaped(once) + 3 * len(once)


def _escaped(texts: list[str]) -> int:
    return size(clean("".join(texts)))


def _size(member: Member, match: SearchMatch, several: bool, context_cut: bool = False) -> int:
    row = match_row(member, match, several, context_cut)
    return size(row) + size(match_evidence(member, match, row, several)) + 2
