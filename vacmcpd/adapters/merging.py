"""Which segments of a store are joined, rewritten or dropped.

What counts is how many a query asks, and what is wasted.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

MOST_BIG = 4
"""A query asks each segment, so its time grows with their number, not with the versions'."""
MOST_SMALL = 3
_SMALL = 16
"""A segment is small below this part of the whole."""


@dataclass(frozen=True, slots=True)
class Load:
    """What a segment holds: ``blocks`` and ``blobs`` in use, and ``dead`` ones of both kinds."""

    blocks: int
    blobs: int
    dead: int

    @property
    def weight(self) -> int:
        """What merging it costs."""
        return self.blocks + self.blobs


@dataclass(frozen=True, slots=True)
class Group:
    """Segments, by number, that become one. A single one is rewritten or left as it is."""

    members: tuple[int, ...]
    rewrite: bool


def plan(loads: Sequence[Load], most_blocks: float = math.inf) -> list[Group]:
    """The groups, in the order of their first members; what holds nothing in use is in none.

    The two smallest are joined until at most four big and three small ones are left, as long as
    one file can hold their blocks: so a version that changes little costs a small merge, if any.
    A segment that is dead for more than a quarter is rewritten.
    """
    groups = [[at] for at, load in enumerate(loads) if load.weight]
    small = sum(load.weight for load in loads) // _SMALL
    while _too_many([_weight(loads, group) for group in groups], small):
        groups.sort(key=lambda group: (_weight(loads, group), group[0]))
        pair = groups[0] + groups[1]
        if sum(loads[at].blocks for at in pair) > most_blocks:
            break
        groups[:2] = [sorted(pair)]
    return [Group(tuple(group), _rewritten(loads, group)) for group in sorted(groups)]


def _too_many(weights: Sequence[int], small: int) -> bool:
    big = sum(weight >= small for weight in weights)
    return big > MOST_BIG or len(weights) - big > MOST_SMALL


def _weight(loads: Sequence[Load], group: Sequence[int]) -> int:
    return sum(loads[at].weight for at in group)


def _rewritten(loads: Sequence[Load], group: Sequence[int]) -> bool:
    return len(group) > 1 or loads[group[0]].dead * 3 > loads[group[0]].weight
