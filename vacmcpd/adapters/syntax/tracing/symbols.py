"""What a name that is asked for means in a version."""

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import NamedTuple

import numpy as np

from ....errors import QueryError, WireCode
from ....ports.graph import Symbol
from ..facts import ScopeKind
from .columns import Columns
from .near import Near

_MOST_CANDIDATES = 100
_MARKS = "./:"
_JOINED = re.compile(r"::|->|[./:#\\]")
"""What stands between the parts of names in one language or another."""

_LAST = frozenset({ScopeKind.MODULE, ScopeKind.NAMESPACE, ScopeKind.BLOCK, ScopeKind.INITIALIZER})
"""What is meant only where nothing else has the name."""


class Found(NamedTuple):
    """A symbol, and the numbers of all that it stands for.

    Overloads and redefinitions of one qualified name in one file are one symbol, and so are a
    class and its constructors.
    """

    number: int
    members: tuple[int, ...]


class Symbols:
    """Looks names up in one version."""

    def __init__(self, columns: Columns) -> None:
        self._columns = columns

    def find(self, asked: str) -> Found:
        """The one symbol that ``asked`` means; SYMBOL_NOT_FOUND and SYMBOL_AMBIGUOUS otherwise."""
        matching = self._matching(asked)
        if not matching:
            raise QueryError(
                WireCode.SYMBOL_NOT_FOUND,
                f'no symbol "{asked}" in the call graph',
                {"symbol": asked, "near": self._near_to(asked)},
            )
        if len(matching) > 1:
            shown = matching[:_MOST_CANDIDATES]
            raise QueryError(
                WireCode.SYMBOL_AMBIGUOUS,
                f'{len(matching)} symbols are called "{asked}"; ask for one of the candidates',
                {"symbol": asked, "candidates": list(self._candidates(shown))},
            )
        return matching[0]

    def outside(self, asked: str) -> int | None:
        """The number of a name outside the repository."""
        distinct, ranks = self._columns.ranked
        at = bisect_left(distinct, asked)
        if at == len(distinct) or distinct[at] != asked:
            return None
        found = np.flatnonzero(ranks[self._columns.count :] == at)
        return int(found[0]) + self._columns.count if found.size else None

    def named(self, name: str) -> list[int]:
        """The symbols whose bare name is ``name``."""
        distinct, _ = self._columns.ranked
        at = bisect_left(distinct, name)
        if at == len(distinct) or distinct[at] != name:
            return []
        found: list[int] = self._columns.by_name.of(np.array([at])).tolist()
        return found

    def _matching(self, asked: str) -> list[Found]:
        found = self._grouped(self._answering(asked))
        if not found and _JOINED.search(asked):
            found = self._grouped(self._loosely(asked))
        if len(found) > 1 and any(mark in asked for mark in _MARKS):
            exact = [each for each in found if asked in self._whole(each.number)]
            if len(exact) == 1:
                return exact
        return found

    def _whole(self, number: int) -> tuple[str, str]:
        qualified = self._columns.qualified(number)
        return qualified, f"{self._path(number)}:{qualified}"

    def _path(self, number: int) -> str:
        return self._columns.files.paths[int(self._columns.file[number])]

    def _answering(self, asked: str) -> set[int]:
        found = set(self._plainly(asked))
        for at, char in enumerate(asked):
            if char == ":":
                found.update(self._placed(asked[:at], asked[at + 1 :]))
        return found

    def _plainly(self, asked: str) -> Iterator[int]:
        """Symbols of that bare name, or whose qualified name is it or ends in it."""
        yield from self.named(asked)
        for at, char in enumerate(asked):
            if char in _MARKS:
                for number in self.named(asked[at + 1 :]):
                    if self._ends(number, asked):
                        yield number

    def _loosely(self, asked: str) -> set[int]:
        """Symbols whose names are joined otherwise: Type::method, Type#method for Type.method."""
        parts = _JOINED.split(asked)
        found: set[int] = set()
        for number in self.named(parts[-1]) if all(parts) else ():
            qualified, path = self._columns.qualified(number), self._path(number)
            spellings = (qualified, f"{path}:{qualified}", f"{path}:{self._columns.locals[number]}")
            if any(_JOINED.split(each)[-len(parts) :] == parts for each in spellings):
                found.add(number)
        return found

    def _ends(self, number: int, asked: str) -> bool:
        qualified = self._columns.qualified(number)
        if not qualified.endswith(asked):
            return False
        return len(qualified) == len(asked) or qualified[-len(asked) - 1] in _MARKS

    def _placed(self, path: str, name: str) -> Iterator[int]:
        """Symbols of a file that answer to ``name``, a local name with its number too."""
        columns = self._columns
        for file in self._files_called(path):
            for number in range(int(columns.first[file]), int(columns.first[file + 1])):
                known = (columns.names[number], columns.locals[number])
                if name and (name in known or self._ends(number, name)):
                    yield number

    def _files_called(self, path: str) -> Iterable[int]:
        if not path:
            return ()
        exact = self._file_numbers.get(path)
        if exact is not None:
            return (exact,)
        ending = f"/{path}"
        return [number for each, number in self._file_numbers.items() if each.endswith(ending)]

    @cached_property
    def _file_numbers(self) -> dict[str, int]:
        return {path: number for number, path in enumerate(self._columns.files.paths)}

    def _grouped(self, numbers: set[int]) -> list[Found]:
        """One symbol for what is one, in the order of qualified names and paths."""
        columns = self._columns
        meant = [n for n in numbers if int(columns.kinds[n]) not in _LAST] or sorted(numbers)
        inside = set(meant)
        groups: dict[tuple[str, str], list[int]] = {}
        for number in sorted(meant):
            if columns.kinds[number] == ScopeKind.CONSTRUCTOR and columns.parents[number] in inside:
                continue
            key = columns.qualified(number), self._path(number)
            groups.setdefault(key, []).append(number)
        return [self._with_kin(groups[key]) for key in sorted(groups)]

    def _with_kin(self, numbers: list[int]) -> Found:
        columns = self._columns
        members = list(numbers)
        for number in numbers:
            if columns.kinds[number] == ScopeKind.CLASS:
                file = int(columns.file[number])
                low, high = int(columns.first[file]), int(columns.first[file + 1])
                mine = (columns.parents[low:high] == number) & (
                    columns.kinds[low:high] == int(ScopeKind.CONSTRUCTOR)
                )
                members.extend((np.flatnonzero(mine) + low).tolist())
        return Found(numbers[0], tuple({*members, *columns.first_of[members].tolist()}))

    def _candidates(self, shown: list[Found]) -> Iterator[dict[str, str | int]]:
        """Each with a spelling that means it alone."""
        columns = self._columns
        names = {columns.names[each.number] for each in shown}
        taken = Counter(
            (columns.qualified(found.number))
            for name in names
            for found in self._grouped(set(self.named(name)))
        )
        for each in shown:
            symbol: Symbol = columns.symbol(each.number)
            plain, placed = self._whole(each.number)
            alone = taken[plain] == 1 and any(mark in plain for mark in _MARKS)
            yield {
                "symbol": plain if alone else placed,
                "qualified_name": plain,
                "path": symbol.path,
                "line": symbol.line,
                "kind": symbol.kind,
            }

    def _near_to(self, asked: str) -> list[str]:
        return self._near.to(re.split(r"[./:#\\]", asked)[-1])

    @cached_property
    def _near(self) -> Near:
        columns = self._columns
        mask = ~np.isin(columns.kinds, sorted(int(kind) for kind in _LAST))
        names = {columns.names[number] for number in np.flatnonzero(mask).tolist()}
        return Near(sorted(name for name in names if name and not name.startswith("<")))
