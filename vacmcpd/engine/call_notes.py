"""What an answer of the call graph says in words: why it is empty, what it leaves out."""

from collections.abc import Iterable

from ..ports.graph import CallGraph, Direction, EdgeKind, Tier, TraceQuery, UntracedSites
from .calls import bounded, in_order
from .text import shown_name


def trace_note(graph: CallGraph, query: TraceQuery) -> str:
    """A sentence for an answer that is empty or cut short; "" for any other.

    An empty answer of a provider that counts no other sites has none either: it would be no
    evidence.
    """
    if bounded(graph):
        total = graph.total if graph.total is not None else len(graph.edges)
        least = "" if graph.exact else "at least "
        return (
            f"the walk stopped after {len(graph.edges)} of {least}{total} calls; a smaller depth, "
            "or one of these functions as the symbol, shows the others"
        )
    if len(graph.edges) or graph.sites is None:
        return ""
    return _nothing(graph, graph.sites, query)


def comparison_note(
    graphs: tuple[CallGraph | None, CallGraph | None], query: TraceQuery, *, empty: bool
) -> str:
    """A sentence for a comparison of two symbols, or of nothing; "" for any other."""
    before, after = (graph.resolved if graph else None for graph in graphs)
    if before and after and before.qualified_name != after.qualified_name:
        return (
            f"two symbols are compared: {shown_name(before.qualified_name)} of the from side and "
            f"{shown_name(after.qualified_name)} of the to side"
        )
    notes = [
        f"{side}: {_nothing(graph, graph.sites, query)}"
        for side, graph in zip(("from", "to"), graphs, strict=True)
        if empty and graph and graph.sites
    ]
    return "; ".join(notes)


def _nothing(graph: CallGraph, sites: UntracedSites, query: TraceQuery) -> str:
    name = shown_name(graph.resolved.name if graph.resolved else graph.symbol)
    walked = " or ".join(str(kind) for kind in in_order(query.kinds))
    opened = [
        (sites.unresolved, "unresolved"),
        (sites.candidate, EdgeKind.CANDIDATE),
        (sites.inferred, EdgeKind.INFERRED),
    ]
    counted = [f"{count} {word}" for count, word in opened if count]
    total = sum(count for count, _ in opened)
    if query.direction is Direction.CALLERS:
        begun = f"no {walked} call of {name} is in this commit"
        rest = _counted(counted, total, "carries this name", "carry this name")
        outside = _outside(sites, "calls something of this name", "call something of this name")
    else:
        begun = f"no {walked} call is in {name}"
        rest = _counted(counted, total, "is in it", "are in it")
        outside = _outside(sites, "in it calls code", "in it call code")
    return f"{begun}{rest}{outside}{_hints(graph, sites, query)}"


def _counted(counted: Iterable[str], total: int, one: str, several: str) -> str:
    words = list(counted)
    if not words:
        return f", and no unresolved or candidate call site {one}"
    joined = " and ".join(filter(None, [", ".join(words[:-1]), words[-1]]))
    return (
        f", but {joined} call site {one}" if total == 1 else f", but {joined} call sites {several}"
    )


def _outside(sites: UntracedSites, one: str, several: str) -> str:
    if not sites.external:
        return ""
    what = one if sites.external == 1 else several
    return f"; {sites.external} {what} outside the repository"


def _hints(graph: CallGraph, sites: UntracedSites, query: TraceQuery) -> str:
    by_name = [each.name for each in graph.languages if each.tier is Tier.BY_NAME]
    unproven = bool(by_name) and EdgeKind.CANDIDATE not in query.kinds
    counted = (
        (sites.inferred, EdgeKind.INFERRED),
        (sites.candidate or unproven, EdgeKind.CANDIDATE),
        (sites.external and query.direction is Direction.CALLEES, EdgeKind.EXTERNAL),
    )
    asking = [str(kind) for count, kind in counted if count]
    hints = [f"calls in {', '.join(by_name)} are known by name only"] if unproven else []
    if asking:
        hints.append(f"kinds {', '.join(asking)} shows them")
    if sites.unresolved:
        hints.append("search_code finds the unresolved ones")
    return "".join(f"; {hint}" for hint in hints)
