"""The call sites that a trace did not walk, counted: what an empty answer rests on."""

import numpy as np
import numpy.typing as npt

from ....ports.graph import Direction, EdgeKind, TraceQuery, UntracedSites
from .candidates import Candidates
from .columns import EXTERNAL, INFERRED, Columns, Ints
from .symbols import Found


def untraced(
    columns: Columns, candidates: Candidates, found: Found, query: TraceQuery
) -> UntracedSites:
    """Of callers: the sites that carry the name. Of callees: those in the symbol's own body."""
    members = np.array(sorted(found.members), np.intp)
    if query.direction is Direction.CALLERS:
        external, inferred = _carrying(columns, found.number)
        by_name, unresolved = candidates.sites_of(found.number)
    else:
        inside = members[members < columns.count]
        external = columns.outward(frozenset({EXTERNAL})).of(inside)
        inferred = columns.outward(frozenset({INFERRED})).of(inside)
        by_name, unresolved = candidates.sites_in(inside)
    return UntracedSites(
        external=0 if EdgeKind.EXTERNAL in query.kinds else _sites(columns, external),
        unresolved=unresolved,
        candidate=0 if EdgeKind.CANDIDATE in query.kinds else by_name,
        inferred=0 if EdgeKind.INFERRED in query.kinds else _sites(columns, inferred),
    )


def _carrying(columns: Columns, number: int) -> tuple[Ints, Ints]:
    """The external and the inferred edges to what has a symbol's bare name."""
    name = columns.symbol(number).name
    _, ranks = columns.ranked
    same = np.flatnonzero(ranks[: columns.count] == ranks[number])
    outside = np.array(columns.outside_called.get(name, ()), np.intp)
    return (
        columns.inward(frozenset({EXTERNAL})).of(outside),
        columns.inward(frozenset({INFERRED})).of(same),
    )


def _sites(columns: Columns, edges: npt.NDArray[np.int32]) -> int:
    """How many places these edges start at, one for each name that is called there."""
    taken = columns.edges.taken(edges)
    _, ranks = columns.ranked
    rows = (taken.source, taken.file, taken.line, ranks[taken.callee])
    return len(np.unique(np.stack(rows, axis=1), axis=0)) if len(taken) else 0
