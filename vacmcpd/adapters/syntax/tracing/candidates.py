"""Edges by bare name alone, made when they are asked for: from open call sites to functions."""

from collections.abc import Iterator
from functools import cached_property

import numpy as np
import numpy.typing as npt

from ..store.items import NAMED
from .columns import CANDIDATE, Adjacency, Columns, Edges, Ints, by_end

MOST = 20_000
"""So many are made for one answer; there can be a function for each of a thousand names alike."""

_SITES_AT_ONCE = 64


class Candidates:
    """The open call sites and the functions of a version, joined by names within a family.

    A key is the rank of a name (:attr:`.columns.Columns.ranked`) times the number of families,
    plus the family; an open site whose name no symbol has is no candidate of anything.
    """

    def __init__(self, columns: Columns) -> None:
        self._columns = columns
        distinct, self._ranks = columns.ranked
        self._families = int(columns.files.families.max(initial=0)) + 1
        self._keys = (len(distinct) + 1) * self._families
        rank_of = {name: rank for rank, name in enumerate(distinct)}
        ranks = [rank_of.get(name, len(distinct)) for name in columns.open_names]
        opens = columns.opens
        self.open_keys: npt.NDArray[np.int64] = np.zeros(0, np.int64)
        if ranks:
            named = np.array(ranks, np.int64)[opens.name]
            self.open_keys = named * self._families + columns.files.families[opens.file]

    @cached_property
    def _opens_by_key(self) -> Adjacency:
        return by_end(self.open_keys, self._keys)

    @cached_property
    def _opens_by_caller(self) -> Adjacency:
        return by_end(self._columns.opens.caller, self._columns.count)

    @cached_property
    def _functions(self) -> Adjacency:
        numbers = np.flatnonzero(np.isin(self._columns.kinds, sorted(int(k) for k in NAMED)))
        return by_end(self.keys_of(numbers), self._keys, numbers.astype(np.int32))

    def keys_of(self, numbers: npt.NDArray[np.intp]) -> npt.NDArray[np.int64]:
        """The keys of symbols."""
        columns = self._columns
        families = columns.files.families[columns.file[numbers]]
        return self._ranks[numbers].astype(np.int64) * self._families + families

    @cached_property
    def has_function(self) -> npt.NDArray[np.bool_]:
        """For each open site, whether a function has its name."""
        first = self._functions.first
        found: npt.NDArray[np.bool_] = first[self.open_keys + 1] > first[self.open_keys]
        return found

    def into(self, numbers: npt.NDArray[np.intp], room: int) -> tuple[Edges, bool]:
        """The edges into some symbols, and whether that is all of them."""
        callable_ = numbers[np.isin(self._columns.kinds[numbers], sorted(int(k) for k in NAMED))]
        keys = self.keys_of(callable_)
        counts = self._opens_by_key.first[keys + 1] - self._opens_by_key.first[keys]
        fits = np.cumsum(counts) <= room
        keys, callees = keys[fits], callable_[fits]
        sites = self._opens_by_key.of(keys)
        return self._edges(sites, np.repeat(callees, counts[fits])), bool(fits.all())

    def out_of(self, callers: npt.NDArray[np.intp], room: int) -> tuple[Edges, bool]:
        """The edges out of some callers, and whether that is all of them."""
        sites = self._opens_by_caller.of(callers)
        keys = self.open_keys[sites]
        counts = self._functions.first[keys + 1] - self._functions.first[keys]
        fits = np.cumsum(counts) <= room
        sites, keys = sites[fits], keys[fits]
        callees = self._functions.of(keys)
        return self._edges(np.repeat(sites, counts[fits]), callees), bool(fits.all())

    def in_file(self, file: int) -> Iterator[Edges]:
        """The edges that start in a file, some at a time."""
        files = self._columns.opens.file
        low, high = np.searchsorted(files, (file, file + 1)).tolist()
        for start in range(low, high, _SITES_AT_ONCE):
            sites = np.arange(start, min(start + _SITES_AT_ONCE, high))
            keys = self.open_keys[sites]
            counts = self._functions.first[keys + 1] - self._functions.first[keys]
            yield self._edges(np.repeat(sites, counts), self._functions.of(keys))

    def sites_of(self, number: int) -> tuple[int, int]:
        """Open sites that carry a symbol's name: those with a function of it, those without."""
        columns = self._columns
        rank = int(self._ranks[number])
        low = rank * self._families
        sites = self._opens_by_key.of(np.arange(low, low + self._families))
        return self._split(sites, len(columns.opens.caller))

    def sites_in(self, callers: npt.NDArray[np.intp]) -> tuple[int, int]:
        """Open sites in the bodies of callers, as :meth:`sites_of`."""
        return self._split(self._opens_by_caller.of(callers), len(self._columns.opens.caller))

    def _split(self, sites: Ints, count: int) -> tuple[int, int]:
        if not count:
            return 0, 0
        candidates = int(np.count_nonzero(self.has_function[sites]))
        return candidates, len(sites) - candidates

    def _edges(self, sites: npt.NDArray[np.integer], callees: npt.NDArray[np.integer]) -> Edges:
        opens = self._columns.opens
        callers = opens.caller[sites]
        return Edges(
            callers,
            callers,
            callees.astype(np.int32),
            opens.file[sites],
            opens.line[sites],
            np.full(len(sites), CANDIDATE, np.uint8),
        )
