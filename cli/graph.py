"""A call graph as lines, written as they are read: it may be larger than memory has room for."""

import json
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from . import views
from .failures import UsageFailure, put
from .output import line
from .text import safe

if TYPE_CHECKING:
    from vacmcpd.ports.graph import CallEdge, EdgeKind

Edges = Iterable[tuple[str, "CallEdge"]]


def kinds_of(names: Sequence[str] | None) -> "frozenset[EdgeKind]":
    """The kinds of those names, all of them for none."""
    from vacmcpd.ports.graph import EdgeKind

    known = {str(kind): kind for kind in EdgeKind}
    for name in names or ():
        if name not in known:
            raise UsageFailure(
                f'there is no kind of call "{name}"', "context graph", f"take {', '.join(known)}"
            )
    return frozenset(known[name] for name in names or known)


def write(edges: Edges, as_json: bool) -> None:
    """JSON lines; or lines for a person, with their number; or tab-separated ones for a pipe."""
    if as_json:
        for repository, edge in edges:
            put(json.dumps(views.edge(repository, edge), ensure_ascii=True) + "\n")
    elif sys.stdout.isatty():
        _shown(edges)
    else:
        for repository, edge in edges:
            put("\t".join(safe(str(cell)) for cell in views.edge(repository, edge).values()) + "\n")


def _shown(edges: Edges) -> None:
    counts: Counter[str] = Counter()
    file = None
    for repository, edge in edges:
        found = views.edge(repository, edge)
        if file != (repository, edge.path):
            file = (repository, edge.path)
            line(f"{repository} {edge.path}")
        line(f"{edge.line:>7}  {found['caller']} -> {found['callee']}  {edge.kind}")
        counts[edge.kind] += 1
    told = ", ".join(f"{count} {kind}" for kind, count in sorted(counts.items()))
    line(f"{counts.total()} calls" + (f": {told}" if told else ""))
