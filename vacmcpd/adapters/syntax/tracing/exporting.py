"""Every edge of a version, file by file."""

from collections.abc import Iterator

import numpy as np

from ....ports.budget import Budget
from ....ports.graph import CallEdge, EdgeKind
from .candidates import Candidates
from .columns import KINDS, Columns, by_end
from .rows import Rows


def exported(
    columns: Columns, candidates: Candidates, kinds: frozenset[EdgeKind], budget: Budget
) -> Iterator[CallEdge]:
    """By path, line and callee; a caller is the scope that a call stands in, lambdas too."""
    chosen = columns.chosen(frozenset(n for n, kind in enumerate(KINDS) if kind in kinds))
    paths = columns.files.paths
    by_file = by_end(columns.edges.file[chosen], len(paths), chosen)
    for file in sorted(range(len(paths)), key=paths.__getitem__):
        budget.check()
        mine = columns.edges.taken(by_file.of(np.array([file])))
        found = list(Rows(columns, mine, exact=True))
        if EdgeKind.CANDIDATE in kinds:
            for edges in candidates.in_file(file):
                budget.check()
                found.extend(Rows(columns, edges, exact=True))
        yield from sorted(found, key=_order)


def _order(edge: CallEdge) -> tuple[int, str, str, str, str, int]:
    caller, callee = edge.caller_symbol, edge.callee_symbol
    assert caller is not None
    assert callee is not None
    return (
        edge.line,
        callee.qualified_name,
        callee.path,
        caller.qualified_name,
        edge.kind,
        caller.line,
    )
