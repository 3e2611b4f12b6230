"""The paths of a tree, ready to be asked which of them a pattern matches."""

from bisect import bisect_left
from collections.abc import Sequence
from functools import cached_property

import numpy as np
import numpy.typing as npt

from .patterns import Matcher, Whole, folds_alone

_FEED = b"\n"
_MANY = 256


class Names:
    """Paths as UTF-8, by row, as one buffer with a line feed before and behind each."""

    def __init__(self, names: Sequence[bytes]) -> None:
        self._names = names
        self._joined = _FEED + b"".join(name + _FEED for name in names)
        # Where the line feed behind each name stands.
        self._ends: list[int] = np.cumsum([len(name) + 1 for name in names], dtype=int).tolist()
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
        whole, sensitive = matcher.whole, matcher.pattern.sensitive
        if whole is not None and (sensitive or self._folds_alone):
            self._mark(found, whole, self._joined if sensitive else self._lowered)
        else:
            self._search(found, matcher)
        for row in self._odd:
            found[row] = matcher.found_in(self._names[row])
        return found

    def _mark(self, found: npt.NDArray[np.bool_], whole: Whole, buffer: bytes) -> None:
        # Of what holds a line feed itself, only names that do too can match.
        if _FEED in whole.text:
            return
        needle = _FEED * whole.opens + whole.text + _FEED * whole.closes
        ends, hits, at = self._ends, 0, buffer.find(needle)
        while at >= 0:
            row = bisect_left(ends, at + whole.opens)
            found[row] = True
            hits += 1
            if hits == _MANY and not self._odd:
                # Where most names match, asking each is quicker than looking for the next.
                found[:] = _holding(buffer[1:-1].split(_FEED), whole)
                return
            at = buffer.find(needle, ends[row])

    def _search(self, found: npt.NDArray[np.bool_], matcher: Matcher) -> None:
        regex, ends, size = matcher.inside_lines, self._ends, len(self._joined)
        at = 1
        while at < size and (hit := regex.search(self._joined, at)) is not None:
            row = bisect_left(ends, hit.span()[0])
            if row == len(ends):
                return
            found[row] = True
            at = ends[row] + 1


def _holding(names: Sequence[bytes], whole: Whole) -> list[bool]:
    text = whole.text
    if whole.opens and whole.closes:
        return [name == text for name in names]
    if whole.opens:
        return [name.startswith(text) for name in names]
    if whole.closes:
        return [name.endswith(text) for name in names]
    return [text in name for name in names]
