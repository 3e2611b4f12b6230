"""Counts the lines of a query block by block, where nothing but one pattern reads text."""

from dataclasses import dataclass

import numpy as np

from .patterns import WINDOW, Matcher, Pattern, Target, Tick
from .planning import Plan, reads_text
from .query import And, Query
from .views import Mask, Texts, View


@dataclass(frozen=True, slots=True)
class Single:
    """A query with one pattern that reads text, beside filters that read none.

    ``rows`` pass the filters; ``named`` are those of them whose path the pattern matches too, which
    count once where their text does not match.
    """

    matcher: Matcher
    rows: Mask
    named: Mask


def single(query: Query, plan: Plan, view: View) -> Single | None:
    """The query as one, when it is and its matches do not go over line ends."""
    parts = query.root.children if isinstance(query.root, And) else (query.root,)
    reading = [part for part in parts if reads_text(part)]
    if len(reading) != 1 or not isinstance(reading[0], Pattern):
        return None
    pattern = reading[0]
    matcher = query.matchers[pattern]
    if not matcher.one_line or matcher.anchored:
        return None
    rows = np.ones(len(view), bool)
    for part in parts:
        if part is not pattern:
            rows &= plan.masks[part]
    named = np.zeros(len(view), bool)
    if pattern.target is Target.ANY:
        named = plan.names[pattern] & rows
    return Single(matcher, rows, named)


def count(single: Single, plan: Plan, view: View, texts: Texts, tick: Tick) -> int:
    """How many matches there are in all."""
    hits = plan.hits[id(single.matcher)]
    counter = _Counter(single.matcher, tick)
    with_lines = np.zeros(len(view), bool)
    for at, part in enumerate(view.parts):
        segment = part.segment
        mine = single.rows[part.rows]
        times = np.bincount(part.blobs[mine], minlength=len(segment))
        # Blobs that are one row each, and whose name is no match, need no count of their own.
        apart = times > 1
        apart[part.blobs[mine & single.named[part.rows]]] = True
        found = np.zeros(len(segment), bool)
        blocks = hits.blocks_among(at, times > 0)
        blobs = segment.block_blob[blocks]
        own, crlf = apart[blobs].tolist(), segment.crlf[blobs].tolist()
        for index, block in enumerate(blocks.tolist()):
            tick()
            text = single.matcher.normal(texts.get(segment, block), crlf[index])
            if not own[index]:
                counter.add(text)
            elif lines := single.matcher.count(text, tick):
                counter.total += lines * int(times[blobs[index]])
                found[blobs[index]] = True
        with_lines[part.rows[mine & found[part.blobs]]] = True
    return counter.sum() + int(np.count_nonzero(single.named & ~with_lines))


class _Counter:
    """Counts the lines of many small texts, some at a time: calling RE2 costs as much as 4 KB."""

    def __init__(self, matcher: Matcher, tick: Tick) -> None:
        self.total = 0
        self._matcher = matcher
        self._tick = tick
        self._waiting: list[bytes] = []
        self._size = 0

    def add(self, text: bytes) -> None:
        """A text of whole lines; the last one may lack its end."""
        if self._size + len(text) >= WINDOW:
            self.sum()
        self._waiting.append(text)
        self._size += len(text) + 1
        if not text.endswith(b"\n"):
            self._waiting.append(b"\n")

    def sum(self) -> int:
        """All lines so far."""
        if self._waiting:
            self.total += self._matcher.count(b"".join(self._waiting), self._tick)
            self._waiting, self._size = [], 0
        return self.total
