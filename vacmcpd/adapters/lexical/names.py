"""The paths of a tree, ready to be asked which of them a pattern matches."""

from bisect import bisect_right
from collections.abc import Sequence
from functools import cached_property

import numpy as np
import numpy.typing as npt

from .patterns import Matcher, folds_alone

_FEED = b"\n"


class Names:
    """Paths as UTF-8, by row, as one buffer with a line feed behind each."""

    def __init__(self, names: Sequence[bytes]) -> None:
        self._names = names
        self._joined = b"".join(name + _FEED for name in names)
        lengths = np.array([len(name) + 1 for name in names], np.int64)
        self._ends = np.cumsum(lengths)
        # A path may hold a line feed, which is then no end.
        self._odd = [row for row, name in enumerate(names) if _FEED in name]
        self._folds_alone = folds_alone(self._joined)

    @cached_property
    def _lowered(self) -> bytes:
        return self._joined.lower()

    def matching(self, matcher: Matcher) -> npt.NDArray[np.bool_]:
        """Which rows ``matcher`` is found in."""
        found = np.zeros(len(self._names), bool)
        if matcher.anchored:
            found[:] = [matcher.found_in(name) for name in self._names]
            return found
        if matcher.literal:
            self._mark(found, self._joined, matcher.literal)
        elif matcher.folded and self._folds_alone:
            self._mark(found, self._lowered, matcher.folded)
        else:
            self._search(found, matcher)
        for row in self._odd:
            found[row] = matcher.found_in(self._names[row])
        return found

    def _mark(self, found: npt.NDArray[np.bool_], buffer: bytes, literal: bytes) -> None:
        if _FEED in literal:
            # Only names that hold one themselves can, and they are asked one by one.
            return
        places, at, size = [], buffer.find(literal), len(literal)
        while at >= 0:
            places.append(at)
            at = buffer.find(literal, at + size)
        if places:
            found[np.searchsorted(self._ends, places, side="right")] = True

    def _search(self, found: npt.NDArray[np.bool_], matcher: Matcher) -> None:
        regex, ends, size = matcher.inside_lines, self._ends.tolist(), len(self._joined)
        at = 0
        while at < size and (hit := regex.search(self._joined, at)) is not None:
            start = hit.span()[0]
            if start >= size:
                return
            row = bisect_right(ends, start)
            found[row] = True
            at = ends[row]
