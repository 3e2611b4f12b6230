"""Edges as values, made when they are read."""

from collections.abc import Iterator, Sequence
from typing import overload

import numpy as np
import numpy.typing as npt

from ....ports.graph import CallEdge
from .columns import KINDS, Columns, Edges


class Rows(Sequence[CallEdge]):
    """Edges of a version; the caller is ``caller``, or ``source`` for ``exact`` ones.

    ``which`` chooses some of ``edges``, in its order; without it they are all meant.
    """

    def __init__(
        self,
        columns: Columns,
        edges: Edges,
        which: npt.NDArray[np.intp] | None = None,
        *,
        exact: bool = False,
    ) -> None:
        self._columns = columns
        self._edges = edges
        self._which = which
        self._callers = edges.source if exact else edges.caller

    def __len__(self) -> int:
        return len(self._edges) if self._which is None else len(self._which)

    @overload
    def __getitem__(self, at: int) -> CallEdge: ...

    @overload
    def __getitem__(self, at: slice) -> "list[CallEdge]": ...

    def __getitem__(self, at: int | slice) -> "CallEdge | list[CallEdge]":
        if isinstance(at, slice):
            return [self._made(each) for each in range(*at.indices(len(self)))]
        place = at + len(self) if at < 0 else at
        if not 0 <= place < len(self):
            raise IndexError(at)
        return self._made(place)

    def __iter__(self) -> Iterator[CallEdge]:
        return map(self._made, range(len(self)))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sequence) or isinstance(other, str):
            return NotImplemented
        return len(self) == len(other) and all(
            mine == theirs for mine, theirs in zip(self, other, strict=True)
        )

    __hash__ = None  # type: ignore[assignment]

    def _made(self, at: int) -> CallEdge:
        edges = self._edges
        if self._which is not None:
            at = int(self._which[at])
        caller = self._columns.symbol(int(self._callers[at]))
        number = int(edges.callee[at])
        callee = self._columns.symbol(number)
        outside = number >= self._columns.count
        return CallEdge(
            caller.name,
            callee.qualified_name if outside else callee.name,
            self._columns.files.paths[int(edges.file[at])],
            int(edges.line[at]),
            KINDS[int(edges.kind[at])],
            caller,
            callee,
        )
