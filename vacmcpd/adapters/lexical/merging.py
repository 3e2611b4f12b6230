"""Which segments are joined, rewritten or dropped: how many a search asks, and what is wasted."""

from collections.abc import Sequence
from dataclasses import dataclass

from .postings import MAX_BLOCKS

MOST_SEGMENTS = 4
"""A search asks each segment, so its time grows with their number, not with the versions'."""


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


def plan(loads: Sequence[Load]) -> list[Group]:
    """The groups, in the order of their first members; what holds nothing in use is in none.

    The two smallest are joined until at most four are left, as long as one file can hold them. A
    segment that is more dead than alive is rewritten.
    """
    groups = [[at] for at, load in enumerate(loads) if load.weight]
    while len(groups) > MOST_SEGMENTS:
        groups.sort(key=lambda group: _sum(loads, group))
        pair = groups[0] + groups[1]
        if sum(loads[at].blocks for at in pair) > MAX_BLOCKS:
            break
        groups[:2] = [sorted(pair)]
    return [Group(tuple(group), _rewritten(loads, group)) for group in sorted(groups)]


def _sum(loads: Sequence[Load], group: Sequence[int]) -> tuple[int, int]:
    return sum(loads[at].weight for at in group), group[0]


def _rewritten(loads: Sequence[Load], group: Sequence[int]) -> bool:
    return len(group) > 1 or loads[group[0]].dead > loads[group[0]].weight
