"""Columns of many files as one: as they are stored, file behind file."""

from array import array
from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt

from ..linking.records import Edges as StoredEdges
from ..store.packs import summed
from .columns import Ints

COLUMNS = (
    ("caller", "callee", "line", "kind"),
    ("external_caller", "external_name", "external_line"),
    ("open_caller", "open_name", "open_line"),
)
"""Of edges inside, edges outside and open sites; the first counts each."""


class Gathered:
    """Columns of all files, one behind the other, as they are stored."""

    def __init__(self, names: Sequence[str]) -> None:
        self._names = names
        self._columns = [array("i") for _ in names]
        self._counts = array("i")

    def add(self, stored: StoredEdges) -> None:
        """Add those of a file."""
        for name, column in zip(self._names, self._columns, strict=True):
            column.extend(getattr(stored, name))
        self._counts.append(len(getattr(stored, self._names[0])))

    @property
    def counts(self) -> Ints:
        """How many each file has."""
        return as_array(self._counts)

    def numbers(self, name: str) -> npt.NDArray[np.int64]:
        """A column that is stored as steps."""
        return summed(as_array(self._columns[self._names.index(name)]), self.counts)

    def column(self, name: str) -> Ints:
        """A column that is stored as it is."""
        return as_array(self._columns[self._names.index(name)])


class Indices:
    """What numbers within files stand for: a list of each file, one behind the other."""

    def __init__(self) -> None:
        self._values = array("i")
        self._starts = array("i")

    def add(self, values: Iterable[int]) -> None:
        """Add the list of a file."""
        self._starts.append(len(self._values))
        self._values.extend(values)

    def of(self, numbers: npt.NDArray[np.int64], counts: Ints) -> Ints:
        """What numbers of all files, so many of each, stand for."""
        found: Ints = as_array(self._values)[numbers + np.repeat(as_array(self._starts), counts)]
        return found


def as_array(values: "array[int]") -> Ints:
    """The numbers, without copying them."""
    return np.frombuffer(values, np.int32) if len(values) else np.zeros(0, np.int32)
