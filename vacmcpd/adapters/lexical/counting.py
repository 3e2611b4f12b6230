"""Counts the lines of a query block by block, where nothing but one pattern reads text."""

from dataclasses import dataclass

import numpy as np

from .patterns import Matcher, Pattern, Target, Tick
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
    total, with_lines = 0, np.zeros(len(view), bool)
    for at, part in enumerate(view.parts):
        mine = single.rows[part.rows]
        times = np.bincount(part.blobs[mine], minlength=len(part.segment))
        found = np.zeros(len(part.segment), bool)
        wanted = hits.blocks_among(at, times > 0)
        blobs = part.segment.block_blob[wanted].tolist()
        for block, blob in zip(wanted.tolist(), blobs, strict=True):
            tick()
            text = texts.get(part.segment, block)
            if not single.matcher.as_is and part.segment.crlf[blob]:
                text = text.replace(b"\r\n", b"\n")
            lines = single.matcher.count(text, tick)
            if lines:
                total += lines * int(times[blob])
                found[blob] = True
        with_lines[part.rows[mine & found[part.blobs]]] = True
    return total + int(np.count_nonzero(single.named & ~with_lines))
