"""The call graph of one pinned member."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from ..model import MemberCoverage, Scope
from .budget import Budget


class Direction(StrEnum):
    """Which way a trace walks."""

    CALLERS = "callers"
    CALLEES = "callees"


@dataclass(frozen=True, slots=True)
class TraceQuery:
    """A symbol, the direction, and how many calls deep (1 to 5)."""

    symbol: str
    direction: Direction
    depth: int


@dataclass(frozen=True, slots=True)
class CallEdge:
    """One call: ``caller`` calls ``callee`` at ``path``:``line`` (1-based)."""

    caller: str
    callee: str
    path: str
    line: int


@dataclass(frozen=True, slots=True)
class CallGraph:
    """The edges reached. ``symbol`` is the graph's spelling of what was asked for."""

    revision: str
    symbol: str
    edges: tuple[CallEdge, ...]
    coverage: MemberCoverage


class GraphProvider(Protocol):
    """Walks the call graph built from one pinned commit.

    Raises SYMBOL_NOT_FOUND, SYMBOL_AMBIGUOUS (details ``candidates``, each accepted back as the
    symbol), SOURCE_MISMATCH, and GRAPH_PROVIDER_UNAVAILABLE when no graph can answer.
    """

    name: str

    def trace(self, scope: Scope, query: TraceQuery, budget: Budget) -> CallGraph:
        """The calls around one symbol of ``scope``."""
        ...
