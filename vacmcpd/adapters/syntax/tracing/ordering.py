"""The order of answers: by caller, callee, path and line, then by qualified names."""

from typing import Any

import numpy as np
import numpy.typing as npt

from .columns import Columns, Edges


def in_order(columns: Columns, edges: Edges) -> Edges:
    """The edges in the order of answers, those that say the same once."""
    _, ranks = columns.ranked
    bare_names = _joined(ranks[edges.caller], ranks[edges.callee])
    places = _joined(columns.path_ranks[edges.file], edges.line)
    order = np.lexsort((edges.kind, places, bare_names))
    edges = edges.taken(order)
    bare_names, places = bare_names[order], places[order]
    same = (bare_names[1:] == bare_names[:-1]) & (places[1:] == places[:-1])
    tied = np.zeros(len(edges), bool)
    tied[1:] = same
    tied[:-1] |= same
    return _untied(columns, edges, np.flatnonzero(tied), bare_names, places).distinct()


def _untied(
    columns: Columns,
    edges: Edges,
    tied: npt.NDArray[Any],
    bare_names: npt.NDArray[np.int64],
    places: npt.NDArray[np.int64],
) -> Edges:
    """Sort those that agree in all that is short by their qualified names."""
    if not tied.size:
        return edges
    ranks = np.zeros(len(columns.names), np.int32)
    ends = np.unique(np.concatenate((edges.caller[tied], edges.callee[tied])))
    texts = [columns.qualified(number) for number in ends.tolist()]
    distinct = {text: rank for rank, text in enumerate(sorted(set(texts)))}
    ranks[ends] = [distinct[text] for text in texts]
    whole = _joined(ranks[edges.caller[tied]], ranks[edges.callee[tied]])
    nodes = _joined(edges.source[tied], edges.callee[tied])
    kinds = edges.kind[tied]
    order = np.lexsort((nodes, kinds, whole, places[tied], bare_names[tied]))
    which = np.arange(len(edges))
    which[tied] = tied[order]
    return edges.taken(which)


def _joined(high: npt.NDArray[Any], low: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    return (high.astype(np.int64) << 32) | low.astype(np.int64)
