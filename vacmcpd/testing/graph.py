"""Call graphs in memory."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches

from ..errors import QueryError, WireCode
from ..model import MemberCoverage, Scope
from ..ports.budget import Budget
from ..ports.graph import (
    CallEdge,
    CallGraph,
    Direction,
    EdgeKind,
    LanguageCoverage,
    Symbol,
    TraceQuery,
    UntracedSites,
)

_Key = tuple[str, str]
_COUNTED = (EdgeKind.EXTERNAL, EdgeKind.CANDIDATE, EdgeKind.INFERRED)


@dataclass(frozen=True, slots=True)
class OpenSite:
    """A call site that nothing resolves: the bare name it carries and the caller it stands in."""

    name: str
    caller: Symbol
    path: str
    line: int


@dataclass(frozen=True, slots=True)
class MemoryCalls:
    """What is known of one commit's calls; ``symbols`` are those that no edge names."""

    edges: tuple[CallEdge, ...] = ()
    symbols: tuple[Symbol, ...] = ()
    unresolved: tuple[OpenSite, ...] = ()
    languages: tuple[LanguageCoverage, ...] = ()


class MemoryGraph:
    """A GraphProvider over what is given for each (repository, revision).

    An edge without symbols has them made of its bare names. ``most`` bounds the edges of an
    answer, 0 not at all; it then says how many there are.
    """

    def __init__(
        self,
        graphs: Mapping[tuple[str, str], MemoryCalls | Iterable[CallEdge]],
        *,
        name: str = "memory",
        most: int = 0,
    ) -> None:
        self.name = name
        self._most = most
        self._graphs = {
            key: given if isinstance(given, MemoryCalls) else MemoryCalls(tuple(given))
            for key, given in graphs.items()
        }

    def trace(self, scope: Scope, query: TraceQuery, budget: Budget) -> CallGraph:
        """The calls reached within the depth, each once, in the order of the port."""
        budget.check()
        calls = self._graphs.get((scope.repository, scope.revision))
        if calls is None:
            raise QueryError(
                WireCode.GRAPH_PROVIDER_UNAVAILABLE,
                f'no call graph was built for repository "{scope.repository}"',
                {"repository": scope.repository},
            )
        symbol = _found(_symbols(calls), query.symbol)
        reached = sorted(_reached(calls.edges, symbol, query, budget), key=_order)
        known = bool(symbol.path)
        bounded = 0 < self._most < len(reached)
        files = len({edge.path for edge in calls.edges} | {each.path for each in calls.symbols})
        return CallGraph(
            revision=scope.revision,
            symbol=symbol.name if known else symbol.qualified_name,
            edges=tuple(reached[: self._most] if bounded else reached),
            coverage=MemberCoverage(scope.repository, scope.revision, files, files),
            resolved=symbol if known else None,
            languages=calls.languages,
            sites=_untraced(calls, symbol, query),
            total=len(reached) if bounded else None,
        )


def caller_of(edge: CallEdge) -> Symbol:
    """The caller as a symbol, made of its name where the edge has none."""
    return edge.caller_symbol or _made(edge.caller)


def callee_of(edge: CallEdge) -> Symbol:
    """The callee as a symbol, made of its name where the edge has none."""
    return edge.callee_symbol or _made(edge.callee)


def _made(name: str) -> Symbol:
    return Symbol(name.rpartition(".")[2], name, "", 0, "function")


def _key(symbol: Symbol) -> _Key:
    return symbol.qualified_name, symbol.path


def _symbols(calls: MemoryCalls) -> list[Symbol]:
    """Every symbol that may be asked for, once, by qualified name and path."""
    found: dict[_Key, Symbol] = {}
    for edge in calls.edges:
        ends = [caller_of(edge)]
        if edge.kind is not EdgeKind.EXTERNAL:
            ends.append(callee_of(edge))
        for symbol in ends:
            found.setdefault(_key(symbol), symbol)
    for symbol in (*calls.symbols, *(site.caller for site in calls.unresolved)):
        found.setdefault(_key(symbol), symbol)
    return [found[key] for key in sorted(found)]


def _found(symbols: list[Symbol], asked: str) -> Symbol:
    matching = _matching(symbols, asked)
    if len(matching) == 1:
        return matching[0]
    if not matching:
        raise QueryError(
            WireCode.SYMBOL_NOT_FOUND,
            f'no symbol "{asked}" in the call graph',
            {"symbol": asked, "near": _near(symbols, asked)},
        )
    raise QueryError(
        WireCode.SYMBOL_AMBIGUOUS,
        f'{len(matching)} symbols are called "{asked}"; ask for one of the candidates',
        {"symbol": asked, "candidates": [_candidate(symbols, symbol) for symbol in matching]},
    )


def _matching(symbols: list[Symbol], asked: str) -> list[Symbol]:
    """A module is meant only where nothing else is; a whole qualified name goes before suffixes."""
    found = [symbol for symbol in symbols if _answers(symbol, asked)]
    found = [symbol for symbol in found if symbol.kind != "module"] or found
    exact = [symbol for symbol in found if asked in _whole(symbol)]
    return exact if len(exact) == 1 and len(found) > 1 and "." in asked else found


def _answers(symbol: Symbol, asked: str) -> bool:
    prefix = f"{symbol.path}:"
    if symbol.path and asked.startswith(prefix) and _answers_plainly(symbol, asked[len(prefix) :]):
        return True
    return _answers_plainly(symbol, asked)


def _answers_plainly(symbol: Symbol, asked: str) -> bool:
    if asked in (symbol.name, symbol.qualified_name):
        return True
    return any(symbol.qualified_name.endswith(mark + asked) for mark in "./:" if asked)


def _whole(symbol: Symbol) -> tuple[str, str]:
    return symbol.qualified_name, f"{symbol.path}:{symbol.qualified_name}"


def _near(symbols: list[Symbol], asked: str) -> list[str]:
    folded: dict[str, list[str]] = {}
    for symbol in symbols:
        names = folded.setdefault(symbol.name.casefold(), [])
        if symbol.name not in names:
            names.append(symbol.name)
    bare = asked.rpartition(".")[2].rpartition(":")[2]
    close = get_close_matches(bare.casefold(), folded, n=5)
    return [name for each in close for name in folded[each]]


def _candidate(symbols: list[Symbol], symbol: Symbol) -> dict[str, str | int]:
    plain, placed = _whole(symbol)
    return {
        "symbol": plain if len(_matching(symbols, plain)) == 1 else placed,
        "qualified_name": symbol.qualified_name,
        "path": symbol.path,
        "line": symbol.line,
        "kind": symbol.kind,
    }


def _reached(
    edges: tuple[CallEdge, ...], symbol: Symbol, query: TraceQuery, budget: Budget
) -> Iterator[CallEdge]:
    frontier, seen = {_key(symbol)}, {_key(symbol)}
    reached: set[CallEdge] = set()
    for _ in range(query.depth):
        budget.check()
        found: set[_Key] = set()
        for edge in edges:
            here, there = _key(caller_of(edge)), _key(callee_of(edge))
            if query.direction is Direction.CALLERS:
                here, there = there, here
            if here in frontier and edge.kind in query.kinds:
                found.add(there)
                if edge not in reached:
                    reached.add(edge)
                    yield edge
        frontier = found - seen
        seen |= found


def _untraced(calls: MemoryCalls, symbol: Symbol, query: TraceQuery) -> UntracedSites:
    counted: dict[EdgeKind, set[tuple[str, int, _Key, str]]] = {kind: set() for kind in _COUNTED}
    for edge in calls.edges:
        if edge.kind in _COUNTED and edge.kind not in query.kinds:
            caller, name = caller_of(edge), callee_of(edge).name
            if _concerns(symbol, query, name, caller):
                counted[edge.kind].add((edge.path, edge.line, _key(caller), name))
    unresolved = sum(_concerns(symbol, query, site.name, site.caller) for site in calls.unresolved)
    return UntracedSites(
        external=len(counted[EdgeKind.EXTERNAL]),
        unresolved=unresolved,
        candidate=len(counted[EdgeKind.CANDIDATE]),
        inferred=len(counted[EdgeKind.INFERRED]),
    )


def _concerns(symbol: Symbol, query: TraceQuery, name: str, caller: Symbol) -> bool:
    if query.direction is Direction.CALLERS:
        return name == symbol.name
    return _key(caller) == _key(symbol)


def _order(edge: CallEdge) -> tuple[str, str, str, int, str, str]:
    return (
        edge.caller,
        edge.callee,
        edge.path,
        edge.line,
        caller_of(edge).qualified_name,
        callee_of(edge).qualified_name,
    )
