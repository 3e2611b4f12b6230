"""The call graph of one pinned member."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol

from ..model import MemberCoverage, Scope
from .budget import Budget


class Direction(StrEnum):
    """Which way a trace walks."""

    CALLERS = "callers"
    CALLEES = "callees"


class EdgeKind(StrEnum):
    """How an engine knows a call's target."""

    RESOLVED = "resolved"
    """The one function that the language's own rules name."""
    DISPATCH = "dispatch"
    """An implementation or override that a call through an interface or base may run."""
    INFERRED = "inferred"
    """Reached by following values through parameters, containers or stores."""
    CANDIDATE = "candidate"
    """A function of the name that was called; nothing says that it is the one."""
    EXTERNAL = "external"
    """Code outside the repository; the callee is ``<builtin>.len`` or ``package.name``."""


TRUSTED = frozenset({EdgeKind.RESOLVED, EdgeKind.DISPATCH})
"""The kinds that a trace walks unless others are asked for."""


class Tier(StrEnum):
    """How a language's calls are resolved."""

    SCOPED = "scoped"
    """By its scopes, imports, receivers and types."""
    BY_NAME = "by-name"
    """By names alone, so every edge is a candidate."""


@dataclass(frozen=True, slots=True)
class Symbol:
    """A function, method, constructor, class or module body that calls or can be called.

    ``line`` is where its definition starts, 1-based; 0 for a symbol that is not in the tree.
    """

    name: str
    qualified_name: str
    path: str
    line: int
    kind: str


@dataclass(frozen=True, slots=True)
class TraceQuery:
    """A symbol, the direction, how many calls deep (1 to 5), and the kinds of edge to walk.

    ``symbol`` is a bare name, a dotted suffix of a qualified name, a qualified name, or
    ``path:name`` with any of these as the name.
    """

    symbol: str
    direction: Direction
    depth: int
    kinds: frozenset[EdgeKind] = TRUSTED


@dataclass(frozen=True, slots=True)
class CallEdge:
    """One call site: ``caller`` calls ``callee`` at ``path``:``line`` (1-based).

    The bare names are what the graph's engine calls them; the qualified names and the
    definitions' places are empty where the engine does not know them (line 0).
    """

    caller: str
    callee: str
    path: str
    line: int
    kind: EdgeKind = EdgeKind.RESOLVED
    caller_symbol: Symbol | None = None
    callee_symbol: Symbol | None = None


@dataclass(frozen=True, slots=True)
class LanguageCoverage:
    """How one language's files were read: how many were parsed, how many of these with errors."""

    name: str
    tier: Tier
    files: int
    with_errors: int


@dataclass(frozen=True, slots=True)
class UntracedSites:
    """Call sites that the trace did not walk, counted.

    Of callers: those in the commit that carry the symbol's bare name, and inferred ones that
    lead to it under another. Of callees: those in the symbol's own body. ``unresolved`` have a
    reason each, ``candidate`` and ``inferred`` have edges of that kind, ``external`` are known to
    call something outside the repository.
    """

    external: int = 0
    unresolved: int = 0
    candidate: int = 0
    inferred: int = 0


@dataclass(frozen=True, slots=True)
class CallGraph:
    """The edges reached, by caller, callee, path and line (of the bare names, then qualified).

    ``symbol`` is the graph's spelling of what was asked for. ``edges`` may be read lazily: its
    length is cheap, a slice costs its rows. ``total`` is how many edges there are when the walk
    was bounded, and ``exact`` false when it is only a lower bound.
    """

    revision: str
    symbol: str
    edges: Sequence[CallEdge]
    coverage: MemberCoverage
    resolved: Symbol | None = None
    languages: tuple[LanguageCoverage, ...] = ()
    sites: UntracedSites | None = None
    total: int | None = None
    exact: bool = True


@dataclass(frozen=True, slots=True)
class GraphSummary:
    """What a whole graph holds: ``sites`` counts call sites by kind, with ``unresolved``."""

    coverage: MemberCoverage
    languages: tuple[LanguageCoverage, ...] = ()
    sites: dict[str, int] = field(default_factory=dict)


class GraphProvider(Protocol):
    """Walks the call graph built from one pinned commit.

    Raises SYMBOL_NOT_FOUND (details ``near``, names that are spelled alike), SYMBOL_AMBIGUOUS
    (details ``candidates``: ``{symbol, qualified_name, path, line, kind}``, each ``symbol``
    accepted back as the symbol), SOURCE_MISMATCH, and GRAPH_PROVIDER_UNAVAILABLE when no graph
    can answer.
    """

    name: str

    def trace(self, scope: Scope, query: TraceQuery, budget: Budget) -> CallGraph:
        """The calls around one symbol of ``scope``."""
        ...


class GraphExporter(Protocol):
    """Writes out a whole call graph; engines that cannot simply lack it."""

    def edges(self, scope: Scope, kinds: frozenset[EdgeKind], budget: Budget) -> Iterator[CallEdge]:
        """Every edge of ``kinds``, by path, line and callee; external callees have line 0."""
        ...

    def summary(self, scope: Scope, budget: Budget) -> GraphSummary:
        """What the graph holds, counted."""
        ...
