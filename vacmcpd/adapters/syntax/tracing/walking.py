"""The edges around a symbol, up to a depth."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ....ports.budget import Budget
from ....ports.graph import Direction, EdgeKind
from .candidates import MOST, Candidates
from .columns import CANDIDATE, KINDS, Columns, Edges, Ints
from .ordering import in_order
from .rows import Rows

_Numbers = npt.NDArray[np.intp]


@dataclass(frozen=True, slots=True)
class Walked:
    """The edges reached, in the order of answers; ``exact`` false when there are more."""

    rows: Rows
    exact: bool


def walk(
    columns: Columns,
    candidates: Candidates,
    start: Iterable[int],
    direction: Direction,
    depth: int,
    kinds: frozenset[EdgeKind],
    budget: Budget,
) -> Walked:
    """Walk breadth first from ``start``; polls the budget at every step."""
    return _Walk(columns, candidates, direction, kinds).run(start, depth, budget)


class _Walk:
    def __init__(
        self,
        columns: Columns,
        candidates: Candidates,
        direction: Direction,
        kinds: frozenset[EdgeKind],
    ) -> None:
        self._columns = columns
        self._candidates = candidates
        self._up = direction is Direction.CALLERS
        self._by_name = EdgeKind.CANDIDATE in kinds
        stored = frozenset(
            number for number, kind in enumerate(KINDS) if kind in kinds and number != CANDIDATE
        )
        self._adjacent = columns.inward(stored) if self._up else columns.outward(stored)
        up, down = columns.kin
        self._kin = up if self._up else down
        self._has_kin = np.zeros(len(columns.names), bool)
        self._has_kin[list(self._kin)] = True
        self._seen = np.zeros(len(columns.names), bool)
        self._taken = np.zeros(len(columns.edges), bool)
        self._made: list[Edges] = []
        self._room = MOST
        self._exact = True

    def run(self, start: Iterable[int], depth: int, budget: Budget) -> Walked:
        frontier = self._new(np.array(sorted(set(start)), np.intp))
        for _ in range(depth):
            budget.check()
            if not frontier.size:
                break
            frontier = self._step(frontier)
        budget.check()
        self._taken &= ~self._columns.within
        columns = self._columns
        which = np.flatnonzero(self._taken)
        if not self._made:
            return Walked(Rows(columns, columns.edges, which), self._exact)
        edges = in_order(columns, _joined([columns.edges.taken(which), *self._made]))
        return Walked(Rows(columns, edges), self._exact)

    def _step(self, frontier: _Numbers) -> _Numbers:
        edges = self._adjacent.of(frontier)
        if not self._up:
            edges = self._of_nameless(frontier, edges)
        self._taken[edges] = True
        all_edges = self._columns.edges
        found: list[Ints] = []
        if self._up:
            found += [all_edges.caller[edges], all_edges.source[edges]]
        else:
            found.append(all_edges.callee[edges])
        if self._by_name:
            found.append(self._step_by_name(frontier))
        return self._new(np.concatenate(found))

    def _of_nameless(self, frontier: _Numbers, edges: Ints) -> Ints:
        """With what nameless functions among ``frontier`` call, which others are shown for."""
        named = self._columns.named
        inside = frontier[frontier < self._columns.count]
        nameless = inside[named[inside] != inside]
        if not nameless.size:
            return edges
        around = self._adjacent.of(np.unique(named[nameless]))
        mine = np.isin(self._columns.edges.source[around], nameless)
        return np.concatenate((edges, around[mine]))

    def _step_by_name(self, frontier: _Numbers) -> Ints:
        inside = frontier[frontier < self._columns.count]
        if self._up:
            edges, whole = self._candidates.into(inside, self._room)
        else:
            edges, whole = self._candidates.out_of(inside, self._room)
        self._exact &= whole
        self._room -= len(edges)
        self._made.append(edges)
        return edges.caller if self._up else edges.callee

    def _new(self, numbers: npt.NDArray[np.integer]) -> _Numbers:
        """Those that were not seen before, once each, with what stands for them."""
        marked = np.zeros(len(self._seen), bool)
        marked[numbers] = True
        for number in np.flatnonzero(marked & self._has_kin).tolist():
            marked[self._kin[number]] = True
        marked &= ~self._seen
        self._seen |= marked
        return np.flatnonzero(marked)


def _joined(parts: list[Edges]) -> Edges:
    names = ("source", "caller", "callee", "file", "line", "kind")
    return Edges(*(np.concatenate([getattr(part, name) for part in parts]) for name in names))
