"""What is answered, one frozen and picklable value a query.

No result can be built without its context and its evidence, and none with a context that names
no member (ValueError): an answer always says which commit it is of. ``to_wire()`` gives the JSON
object of ``reference/behaviour.md`` 1.4 to 1.10 with the fields that this product adds.
"""

from dataclasses import dataclass
from typing import Any, TypeAlias

from ..model import Context, Evidence, Member
from ..ports.graph import CallEdge, EdgeKind, LanguageCoverage, Symbol, Tier, UntracedSites
from ..ports.search import SearchMatch
from ..ports.source import Change, EntryKind, HistoryEntry, Hunk, SideEntry, SourceContent
from .coverage import Coverage
from .evidence import (
    Cited,
    Side,
    cite,
    cited_rows,
    context_block,
    evidence_row,
    require_members,
)
from .rows import (
    MAX_SNIPPET,
    call_row,
    definition_row,
    history_row,
    hunk_head,
    language_rows,
    line_row,
    match_evidence,
    match_row,
    sites_row,
)
from .text import clean, shown_name


@dataclass(frozen=True, slots=True)
class ListContextsResult:
    """Every context, by id in byte order."""

    contexts: tuple[Context, ...]

    def to_wire(self) -> dict[str, Any]:
        """``{contexts}``."""
        return {"contexts": [context_block(context) for context in self.contexts]}


@dataclass(frozen=True, slots=True)
class SearchCodeResult:
    """Matching lines of all members, best first by their providers' rank; each is its evidence.

    ``context_cut`` says that lines around the first match were left out, for want of tokens.
    """

    context: Context
    coverage: Coverage
    matches: tuple[tuple[Member, SearchMatch], ...]
    total_matches: int
    total_is_exact: bool
    truncated: bool
    next_cursor: str = ""
    hint: str = ""
    context_cut: bool = False

    def __post_init__(self) -> None:
        require_members(self.context)

    @property
    def evidence(self) -> tuple[Cited, ...]:
        """The citation of each match."""
        return tuple(
            cite(member, match.path, match.line, match.line, match.snippet[:MAX_SNIPPET])
            for member, match in self.matches
        )

    def to_wire(self) -> dict[str, Any]:
        """``{context, coverage, evidence, hint?, matches, next_cursor?, total_…, truncated}``."""
        several = len(self.context.members) > 1
        rows = [
            match_row(member, match, several, self.context_cut and not at)
            for at, (member, match) in enumerate(self.matches)
        ]
        return {
            "context": context_block(self.context),
            "coverage": self.coverage.to_wire(),
            "evidence": [
                match_evidence(*found, row, several)
                for found, row in zip(self.matches, rows, strict=True)
            ],
            **({"hint": self.hint} if self.hint else {}),
            "matches": rows,
            **_next_page(self.next_cursor),
            "total_is_exact": self.total_is_exact,
            "total_matches": self.total_matches,
            "truncated": self.truncated,
        }


@dataclass(frozen=True, slots=True)
class TraceCallsResult:
    """Calls around one symbol, by caller, callee, path and line.

    ``definition`` is the symbol that was meant, ``untraced`` counts the call sites that were not
    walked; both are None where the provider does not know. ``note`` explains an empty answer.
    """

    context: Context
    evidence: tuple[Cited, ...]
    coverage: Coverage
    symbol: str
    direction: str
    depth: int
    calls: tuple[CallEdge, ...]
    total_matches: int
    truncated: bool
    next_cursor: str = ""
    kinds: tuple[EdgeKind, ...] = ()
    definition: Symbol | None = None
    languages: tuple[LanguageCoverage, ...] = ()
    untraced: UntracedSites | None = None
    total_is_exact: bool = True
    note: str = ""

    def __post_init__(self) -> None:
        require_members(self.context)

    def to_wire(self) -> dict[str, Any]:
        """``{calls, context, coverage, definition?, …, symbol, total_…, truncated, untraced?}``."""
        return {
            "calls": [call_row(edge) for edge in self.calls],
            "context": context_block(self.context),
            "coverage": self.coverage.to_wire(),
            **_definition(self.definition),
            "depth": self.depth,
            "direction": self.direction,
            "evidence": cited_rows(self.evidence, self.context.members),
            "kinds": [str(kind) for kind in self.kinds],
            **({"languages": language_rows(self.languages)} if self.languages else {}),
            **_next_page(self.next_cursor),
            **_note(self.note),
            "symbol": shown_name(self.symbol),
            "total_is_exact": self.total_is_exact,
            "total_matches": self.total_matches,
            "truncated": self.truncated,
            **_untraced(self.untraced),
        }


@dataclass(frozen=True, slots=True)
class GetCodeResult:
    """Whole lines of one file; ``content`` may hold fewer than were asked for, never others."""

    context: Context
    evidence: tuple[Cited, ...]
    coverage: Coverage
    content: SourceContent
    truncated: bool
    line_truncated: bool = False

    def __post_init__(self) -> None:
        require_members(self.context)

    def to_wire(self) -> dict[str, Any]:
        """``{content, context, coverage, end_line, evidence, line_count, path, start_line, …}``.

        ``kind``, ``binary``, ``lossy``, ``lfs`` and ``line_truncated`` only when not plain.
        """
        source = self.content
        return {
            **({"binary": True} if source.binary else {}),
            "content": clean(source.content),
            "context": context_block(self.context),
            "coverage": self.coverage.to_wire(),
            "end_line": source.end_line,
            "evidence": cited_rows(self.evidence, self.context.members),
            **({} if source.kind is EntryKind.FILE else {"kind": str(source.kind)}),
            **({"lfs": {"oid": source.lfs.oid, "size": source.lfs.size}} if source.lfs else {}),
            "line_count": source.line_count,
            **({"line_truncated": True} if self.line_truncated else {}),
            **({"lossy": True} if source.lossy else {}),
            "path": clean(source.path),
            "start_line": source.start_line,
            "truncated": self.truncated,
        }


@dataclass(frozen=True, slots=True)
class CompareCodeResult:
    """What changed at one path. A side is None where that revision has no such file.

    ``continued`` says that the first hunk goes on from the page before. Raises ValueError unless
    exactly the sides that ``change`` implies are there.
    """

    from_side: Side | None
    to_side: Side | None
    coverage: Coverage
    change: Change
    path: str
    binary: bool
    hunks: tuple[Hunk, ...]
    total_hunks: int
    entries: tuple[SideEntry | None, SideEntry | None]
    truncated: bool
    continued: bool = False
    next_cursor: str = ""

    def __post_init__(self) -> None:
        absent = (self.from_side is None, self.to_side is None)
        if absent != (self.change is Change.ADDED, self.change is Change.REMOVED):
            raise ValueError(f"{self.change} and the sides of a comparison contradict each other")

    def to_wire(self) -> dict[str, Any]:
        """``{from, to, change, path, binary, hunks, from_kind?, …, total_hunks, …}``."""
        return {
            "from": _side(self.from_side),
            "to": _side(self.to_side),
            "change": str(self.change),
            "path": clean(self.path),
            "binary": self.binary,
            "hunks": [
                {
                    **hunk_head(hunk, self.continued and not at),
                    "lines": [*map(line_row, hunk.lines)],
                }
                for at, hunk in enumerate(self.hunks)
            ],
            **_entry_facts(*self.entries),
            "total_hunks": self.total_hunks,
            "coverage": self.coverage.to_wire(),
            "truncated": self.truncated,
            **_next_page(self.next_cursor),
        }


@dataclass(frozen=True, slots=True)
class Relation:
    """One (caller, callee, path) with every site of it, per side.

    ``kinds`` are those of all its sites; the qualified names are "" where nobody knows them.
    """

    caller: str
    callee: str
    path: str
    from_evidence: tuple[Evidence, ...]
    to_evidence: tuple[Evidence, ...]
    caller_qualified_name: str = ""
    callee_qualified_name: str = ""
    kinds: tuple[EdgeKind, ...] = ()

    def to_wire(self) -> dict[str, Any]:
        """``{caller, callee, path, kinds, …_qualified_name?, from_evidence, to_evidence}``."""
        qualified = {
            "caller_qualified_name": shown_name(self.caller_qualified_name),
            "callee_qualified_name": shown_name(self.callee_qualified_name),
        }
        return {
            "caller": shown_name(self.caller),
            "callee": shown_name(self.callee),
            "path": clean(self.path),
            "kinds": [str(kind) for kind in self.kinds],
            **{key: name for key, name in qualified.items() if name},
            "from_evidence": [evidence_row(item) for item in self.from_evidence],
            "to_evidence": [evidence_row(item) for item in self.to_evidence],
        }


@dataclass(frozen=True, slots=True)
class CompareCallsResult:
    """Which calls came and went. A side is None where that revision has no such symbol.

    ``definitions`` and ``untraced`` are of the from and the to side, as in
    :class:`TraceCallsResult`. Raises ValueError when both sides are None.
    """

    from_side: Side | None
    to_side: Side | None
    coverage: Coverage
    requested_symbol: str
    from_resolved_symbol: str
    to_resolved_symbol: str
    added: tuple[Relation, ...]
    removed: tuple[Relation, ...]
    unchanged: tuple[Relation, ...]
    truncated: bool
    next_cursor: str = ""
    kinds: tuple[EdgeKind, ...] = ()
    definitions: tuple[Symbol | None, Symbol | None] = (None, None)
    languages: tuple[tuple[str, Tier], ...] = ()
    untraced: tuple[UntracedSites | None, UntracedSites | None] = (None, None)
    note: str = ""

    def __post_init__(self) -> None:
        if self.from_side is None and self.to_side is None:
            raise ValueError("a comparison has at least one side")

    @property
    def presence(self) -> str:
        """``BOTH``, ``FROM_ONLY`` or ``TO_ONLY``."""
        if self.to_side is None:
            return "FROM_ONLY"
        return "TO_ONLY" if self.from_side is None else "BOTH"

    def to_wire(self) -> dict[str, Any]:
        """``{from, to, presence, requested_symbol, …, added, removed, unchanged, …}``."""
        tiers = [{"name": clean(name), "tier": str(tier)} for name, tier in self.languages]
        return {
            "from": self._call_side(0),
            "to": self._call_side(1),
            "presence": self.presence,
            "requested_symbol": clean(self.requested_symbol),
            "from_resolved_symbol": shown_name(self.from_resolved_symbol),
            "to_resolved_symbol": shown_name(self.to_resolved_symbol),
            "added": [relation.to_wire() for relation in self.added],
            "removed": [relation.to_wire() for relation in self.removed],
            "unchanged": [relation.to_wire() for relation in self.unchanged],
            "kinds": [str(kind) for kind in self.kinds],
            **({"languages": tiers} if tiers else {}),
            **_note(self.note),
            "coverage": self.coverage.to_wire(),
            "truncated": self.truncated,
            **_next_page(self.next_cursor),
        }

    def _call_side(self, at: int) -> dict[str, Any] | None:
        side = (self.from_side, self.to_side)[at]
        if side is None:
            return None
        facts = {**_definition(self.definitions[at]), **_untraced(self.untraced[at])}
        return {**side.to_wire(), **facts}


@dataclass(frozen=True, slots=True)
class SearchHistoryResult:
    """Commit–path entries, member by member, newest first."""

    context: Context
    evidence: tuple[Cited, ...]
    coverage: Coverage
    commits: tuple[tuple[Member, HistoryEntry], ...]
    truncated: bool
    next_cursor: str = ""

    def __post_init__(self) -> None:
        require_members(self.context)

    def to_wire(self) -> dict[str, Any]:
        """``{commits, context, coverage, evidence, next_cursor?, truncated}``."""
        several = len(self.context.members) > 1
        return {
            "commits": [history_row(member, entry, several) for member, entry in self.commits],
            "context": context_block(self.context),
            "coverage": self.coverage.to_wire(),
            "evidence": cited_rows(self.evidence, self.context.members),
            **_next_page(self.next_cursor),
            "truncated": self.truncated,
        }


Result: TypeAlias = (
    ListContextsResult
    | SearchCodeResult
    | TraceCallsResult
    | GetCodeResult
    | CompareCodeResult
    | CompareCallsResult
    | SearchHistoryResult
)


def _next_page(cursor: str) -> dict[str, str]:
    return {"next_cursor": cursor} if cursor else {}


def _note(note: str) -> dict[str, str]:
    return {"note": clean(note)} if note else {}


def _definition(symbol: Symbol | None) -> dict[str, Any]:
    return {"definition": definition_row(symbol)} if symbol else {}


def _untraced(sites: UntracedSites | None) -> dict[str, Any]:
    return {"untraced": sites_row(sites)} if sites else {}


def _side(side: Side | None) -> dict[str, Any] | None:
    return None if side is None else side.to_wire()


def _entry_facts(before: SideEntry | None, after: SideEntry | None) -> dict[str, str]:
    """Kinds and modes, where a reader of the hunks alone would miss that they matter."""
    if before and after and (before.kind, before.mode) != (after.kind, after.mode):
        return {
            "from_kind": str(before.kind),
            "to_kind": str(after.kind),
            "from_mode": before.mode,
            "to_mode": after.mode,
        }
    named = (("from_kind", before), ("to_kind", after))
    return {key: str(side.kind) for key, side in named if side and side.kind is not EntryKind.FILE}
