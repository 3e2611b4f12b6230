"""The paths of a tree, ready to be asked which of them a pattern matches."""

from bisect import bisect_left
from collections.abc import Sequence
from functools import cached_property

import numpy as np
import numpy.typing as npt

from .patterns import Matcher, Regex, Whole, folds_alone

_FEED = b"\n"


class Names:
    """Paths as UTF-8, by row, as one buffer with a line feed before and behind each."""

    def __init__(self, names: Sequence[bytes]) -> None:
        self._names = names
        self._joined = _FEED + b"".join(name + _FEED for name in names)
        # Where the line feed behind each name stands.
        self._ends = np.cumsum([len(name) + 1 for name in names], dtype=np.int64)
        # A path may hold a line feed, which is then no end.
        self._odd = [row for row, name in enumerate(names) if _FEED in name]
        self._folds_alone = folds_alone(self._joined)

    @cached_property
    def _written(self) -> "_Buffer":
        return _Buffer(self._joined)

    @cached_property
    def _lowered(self) -> "_Buffer":
        return _Buffer(self._joined.lower())

    def matching(self, matcher: Matcher) -> npt.NDArray[np.bool_]:
        """Which rows ``matcher`` is found in."""
        found = np.zeros(len(self._names), bool)
        whole, sensitive = matcher.whole, matcher.pattern.sensitive
        if whole is not None and (sensitive or self._folds_alone):
            self._mark(found, whole, self._written if sensitive else self._lowered)
        elif matcher.anchored or (regex := matcher.inside_lines) is None:
            found[:] = [matcher.found_in(name) for name in self._names]
            return found
        else:
            self._search(found, regex)
        for row in self._odd:
            found[row] = matcher.found_in(self._names[row])
        return found

    def _mark(self, found: npt.NDArray[np.bool_], whole: Whole, buffer: "_Buffer") -> None:
        # Of what holds a line feed itself, only names that do too can match.
        if _FEED not in whole.text:
            needle = _FEED * whole.opens + whole.text + _FEED * whole.closes
            places = buffer.places(needle)
            found[np.searchsorted(self._ends, places + whole.opens)] = True

    def _search(self, found: npt.NDArray[np.bool_], regex: Regex) -> None:
        ends, size = self._ends.tolist(), len(self._joined)
        at = 1
        while at < size and (hit := regex.search(self._joined, at)) is not None:
            row = bisect_left(ends, hit.span()[0])
            if row == len(ends):
                return
            found[row] = True
            at = ends[row] + 1


class _Buffer:
    """Bytes that are asked where a string stands, all places at once."""

    def __init__(self, data: bytes) -> None:
        self._bytes = np.frombuffer(data, np.uint8)
        self._common = np.bincount(self._bytes, minlength=256)

    def places(self, needle: bytes) -> npt.NDArray[np.int64]:
        """Where ``needle`` begins, ascending."""
        data, size = self._bytes, len(needle)
        rarest = sorted(range(size), key=lambda at: self._common[needle[at]])
        places = np.flatnonzero(data == needle[rarest[0]]) - rarest[0]
        places = places[(places >= 0) & (places <= data.size - size)]
        for at in rarest[1:]:
            places = places[data[places + at] == needle[at]]
        return places
