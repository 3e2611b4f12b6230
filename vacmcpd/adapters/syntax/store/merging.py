"""The segments of a store's next generation: joined where there are many, freed of what is dead."""

from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt

from ...merging import Group, Load, plan
from .generation import Generation
from .manifests import Manifest
from .segments import NONE, Draft, copied

_Masks = tuple[npt.NDArray[np.bool_], npt.NDArray[np.bool_], npt.NDArray[np.bool_]]
_ROWS_A_BLOB = 16
"""A row is a few bytes, a blob or a record some kilobytes."""


class Merging:
    """Which segments of a generation become one, so that it serves ``live`` versions."""

    def __init__(self, generation: Generation, live: Iterable[Manifest]) -> None:
        self._generation = generation
        self._masks = _masks(generation, live)
        self.groups: list[Group] = plan([_load(masks) for masks in self._masks])

    def draft(self, members: Sequence[int]) -> Draft:
        """The segments of a group as a new one."""
        draft = Draft(self._generation.next)
        for at in members:
            copied(self._generation.segments[at], *self._masks[at], draft)
        return draft


def _masks(generation: Generation, live: Iterable[Manifest]) -> list[_Masks]:
    """For each segment, which of its blobs, records and rows are in use."""
    tables = (generation.blobs, generation.records, generation.rows)
    used = [np.zeros(len(table.segment), bool) for table in tables]
    for manifest in live:
        for which, column in enumerate(("blob", "record")):
            ordinals = generation.column(manifest, column)
            used[which][ordinals[ordinals != NONE]] = True
        used[2][manifest.rows] = True
    masks = []
    for at, segment in enumerate(generation.segments):
        found = []
        for table, mask, rows in zip(
            tables, used, (segment.blobs, segment.records, segment.rows), strict=True
        ):
            ordinals = rows["ordinal"]
            found.append(mask[ordinals] & (table.segment[ordinals] == at))
        masks.append((found[0], found[1], found[2]))
    return masks


def _load(masks: _Masks) -> Load:
    live = [int(np.count_nonzero(mask)) for mask in masks]
    dead = [mask.size - count for mask, count in zip(masks, live, strict=True)]
    return Load(0, _weight(live), _weight(dead))


def _weight(counts: Sequence[int]) -> int:
    blobs, records, rows = counts
    return blobs + records + -(-rows // _ROWS_A_BLOB)
