"""A version's symbols and edges as arrays, in the order of answers."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ....ports.graph import EdgeKind, Symbol
from ..facts import ScopeKind
from ..languages.registry import Language
from ..names import kind_of, qualified

Ints = npt.NDArray[np.int32]
Mask = npt.NDArray[np.bool_]

STORED = (EdgeKind.RESOLVED, EdgeKind.DISPATCH, EdgeKind.INFERRED, EdgeKind.EXTERNAL)
"""The kinds of stored edges by their number."""

RESOLVED, DISPATCH, INFERRED, EXTERNAL = range(4)
CANDIDATE = 4
KINDS = (*STORED, EdgeKind.CANDIDATE)


class Adjacency(NamedTuple):
    """Edges by one of their ends: those of ``end`` are ``edges[first[end]:first[end + 1]]``."""

    first: npt.NDArray[np.int64]
    edges: Ints

    def of(self, ends: npt.NDArray[Any]) -> Ints:
        """The edges of all of ``ends``, one end's after the other's."""
        starts = self.first[ends]
        counts = self.first[ends + 1] - starts
        before = np.cumsum(counts) - counts
        places = np.arange(int(counts.sum())) + np.repeat(starts - before, counts)
        found: Ints = self.edges[places]
        return found


def by_end(ends: npt.NDArray[Any], count: int, edges: Ints | None = None) -> Adjacency:
    """The edges by their ends, those of one end in the order of the edges."""
    order = np.argsort(ends, kind="stable").astype(np.int32)
    first = np.zeros(count + 1, np.int64)
    np.cumsum(np.bincount(ends, minlength=count), out=first[1:])
    return Adjacency(first, order if edges is None else edges[order])


@dataclass(frozen=True, slots=True)
class Files:
    """The files with facts, by the order of their paths: shown path, module, language."""

    paths: Sequence[str]
    modules: Sequence[str]
    languages: Sequence[Language]
    families: Ints
    """A number for each file's family."""


@dataclass(frozen=True, slots=True)
class Edges:
    """Edges in the order of answers.

    ``source`` is the scope that a call stands in, ``caller`` the named function that is shown for
    it; a ``callee`` from the number of symbols on is a name outside the repository.
    """

    source: Ints
    caller: Ints
    callee: Ints
    file: Ints
    line: Ints
    kind: npt.NDArray[np.uint8]

    def __len__(self) -> int:
        return len(self.kind)

    def taken(self, which: npt.NDArray[Any]) -> "Edges":
        """Some of them."""
        columns = (self.source, self.caller, self.callee, self.file, self.line, self.kind)
        return Edges(*(column[which] for column in columns))

    def distinct(self) -> "Edges":
        """Without those that say what the one before says."""
        same = np.ones(max(len(self) - 1, 0), bool)
        for column in (self.source, self.callee, self.file, self.line, self.kind):
            same &= column[1:] == column[:-1]
        return self.taken(np.concatenate((np.ones(min(len(self), 1), bool), ~same)))


@dataclass(frozen=True, slots=True)
class Opens:
    """Call sites that resolve to nothing; ``name`` counts the distinct bare names."""

    caller: Ints
    file: Ints
    line: Ints
    name: Ints


@dataclass
class Columns:
    """A version. Symbols are numbered file by file, the module of each file first.

    ``names`` are the symbols' bare names and then the names outside the repository; ``named`` is
    for each symbol the innermost named function around it, itself for most. ``first_of`` is the
    first declaration of a qualified name in a file, which edges have for all of them.
    """

    files: Files
    first: Ints
    names: list[str]
    locals: list[str]
    kinds: npt.NDArray[np.uint8]
    lines: Ints
    parents: Ints
    file: Ints
    named: Ints
    first_of: Ints
    edges: Edges
    opens: Opens
    open_names: list[str]
    _symbols: dict[int, Symbol] = field(default_factory=dict)
    _inward: dict[frozenset[int], Adjacency] = field(default_factory=dict)
    _outward: dict[frozenset[int], Adjacency] = field(default_factory=dict)

    @property
    def count(self) -> int:
        """How many symbols there are; the numbers from here on are names outside."""
        return len(self.locals)

    def symbol(self, number: int) -> Symbol:
        """A symbol, or a name outside, as answers have it."""
        found = self._symbols.get(number)
        if found is None:
            found = self._symbols[number] = self._made(number)
        return found

    def _made(self, number: int) -> Symbol:
        name = self.names[number]
        if number >= self.count:
            return Symbol(name.rpartition(".")[2], name, "", 0, "external")
        file = int(self.file[number])
        return Symbol(
            name,
            self.qualified(number),
            self.files.paths[file],
            int(self.lines[number]),
            kind_of(ScopeKind(int(self.kinds[number]))),
        )

    def qualified(self, number: int) -> str:
        """A symbol's qualified name."""
        if number >= self.count:
            return self.names[number]
        file = int(self.file[number])
        rules = self.files.languages[file].rules
        return qualified(self.files.modules[file], rules, self.locals[number])

    def inward(self, kinds: frozenset[int]) -> Adjacency:
        """The edges of some kinds by their callees."""
        if kinds not in self._inward:
            chosen = self.chosen(kinds)
            self._inward[kinds] = by_end(self.edges.callee[chosen], len(self.names), chosen)
        return self._inward[kinds]

    def outward(self, kinds: frozenset[int]) -> Adjacency:
        """The edges of some kinds by the callers that are shown."""
        if kinds not in self._outward:
            chosen = self.chosen(kinds)
            self._outward[kinds] = by_end(self.edges.caller[chosen], len(self.names), chosen)
        return self._outward[kinds]

    @cached_property
    def within(self) -> Mask:
        """The edges from a named function to a nameless one in it, whose calls are its own."""
        inside = self.edges.callee < self.count
        found = np.zeros(len(self.edges), bool)
        callees = self.edges.callee[inside]
        around = self.named[callees]
        found[inside] = (around != self.first_of[callees]) & (around == self.edges.caller[inside])
        return found

    def chosen(self, kinds: frozenset[int]) -> Ints:
        """The edges of some kinds, in order."""
        mask = np.zeros(len(KINDS), bool)
        mask[sorted(kinds)] = True
        return np.flatnonzero(mask[self.edges.kind]).astype(np.int32)

    @cached_property
    def ranked(self) -> tuple[list[str], Ints]:
        """The distinct names in order, and the rank of each symbol's and outside name."""
        distinct = sorted(set(self.names))
        ranks = {name: rank for rank, name in enumerate(distinct)}
        return distinct, np.fromiter(map(ranks.__getitem__, self.names), np.int32, len(self.names))

    @cached_property
    def path_ranks(self) -> Ints:
        """The place of each file's shown path among all."""
        paths = self.files.paths
        ranks = np.zeros(len(paths), np.int32)
        ranks[sorted(range(len(paths)), key=paths.__getitem__)] = np.arange(len(paths))
        return ranks

    @cached_property
    def outside_called(self) -> dict[str, list[int]]:
        """The names outside the repository by their last parts."""
        found: dict[str, list[int]] = {}
        for number in range(self.count, len(self.names)):
            found.setdefault(self.names[number].rpartition(".")[2], []).append(number)
        return found

    @cached_property
    def by_name(self) -> Adjacency:
        """The symbols of each name, by the name's rank."""
        distinct, ranks = self.ranked
        return by_end(ranks[: self.count], len(distinct))

    @cached_property
    def kin(self) -> tuple[dict[int, list[int]], dict[int, list[int]]]:
        """What stands for a symbol on the way to its callers, and to its callees.

        Code that runs when an instance is made is called where the class is instantiated.
        """
        up: dict[int, list[int]] = {}
        down: dict[int, list[int]] = {}
        of_class: dict[int, list[int]] = {}
        makers = np.flatnonzero(self.kinds == int(ScopeKind.CONSTRUCTOR)).tolist()
        for number in makers:
            of_class.setdefault(int(self.parents[number]), []).append(number)
        for number in np.flatnonzero(self.kinds == int(ScopeKind.INITIALIZER)).tolist():
            owner = int(self.parents[number])
            up[number] = [owner, *of_class.get(owner, [])]
            for each in up[number]:
                down.setdefault(each, []).append(number)
        return up, down
