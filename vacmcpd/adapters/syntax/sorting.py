"""What stands at each path of a version: known already, to be parsed, or left out for a reason."""

import stat
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ...model import Scope
from ...ports.objects import ObjectReader, TreeEntry
from .languages import language_of
from .making import made_by, maker_of, usable
from .skips import RETRIED, Skip
from .store.generation import Generation
from .store.held import Held
from .store.manifests import Manifest
from .store.segments import NONE, Row, skip_of

_GITLINK = 0o160000
_HEAD = 256
_UNSETTLED = (Skip.TOO_LARGE, Skip.SUBMODULE, Skip.SYMLINK)
"""Reasons that do not follow from the path and the blob."""


class Wanted(NamedTuple):
    """A blob to parse."""

    oid: str
    maker: str
    language: str


class Known(NamedTuple):
    """A blob that was read: its ordinal, and why it has no facts."""

    blob: int
    skip: Skip | None


class Sorting:
    """Sorts the leaves of a version.

    ``nearest`` is the stored version that has most in common with it, of those that the present
    analyser made; ``before`` are its rows by path, with their ordinals. ``wanted`` is to be parsed.
    """

    def __init__(
        self,
        objects: ObjectReader,
        scope: Scope,
        held: Held,
        *,
        again: bool,
        max_file_bytes: int,
    ) -> None:
        self._objects = objects
        self._scope = scope
        self._held = held
        self._max_file_bytes = max_file_bytes
        self._known = _known(held.generation, RETRIED if again else frozenset())
        self._again = again
        self.nearest: Manifest | None = None
        self.before: dict[bytes, tuple[int, Row]] = {}
        self.wanted: list[Wanted] = []
        self._queued: set[tuple[str, str]] = set()

    def rows(self, leaves: Sequence[TreeEntry]) -> list[Row]:
        """A row for each leaf; those that wait for facts have a language, no blob and no reason."""
        self._choose(leaves)
        return [self._row(leaf) for leaf in leaves]

    def found(self, oid: str, maker: str, known: Known) -> None:
        """A blob was parsed, or left out."""
        self._known[oid, maker] = known

    def settled(self, row: Row) -> Row:
        """A row with what became of its blob."""
        if row.blob != NONE or row.skip is not None:
            return row
        known = self._known[row.oid, maker_of(row.language)]
        return replace(row, blob=known.blob, skip=known.skip)

    def _choose(self, leaves: Sequence[TreeEntry]) -> None:
        """Find the nearest version; the first by its tree's id of those that are equally near."""
        generation = self._held.generation
        now = {leaf.path: leaf.oid for leaf in leaves}
        same = generation.marked(now)
        made = made_by()
        best = -1
        for tree in sorted(self._held.manifests):
            manifest = self._held.manifests[tree]
            common = int(np.count_nonzero(same[manifest.rows]))
            if manifest.made == made and common > best:
                best, self.nearest = common, manifest
        if self.nearest is not None:
            rows = generation.row_list(self.nearest)
            ordinals = self.nearest.rows.tolist()
            self.before = {
                row.path: (ordinal, row) for ordinal, row in zip(ordinals, rows, strict=True)
            }

    def _row(self, leaf: TreeEntry) -> Row:
        _, old = self.before.get(leaf.path, (0, None))
        if old is None or old.oid != leaf.oid or not _is_file(leaf) or old.skip in _UNSETTLED:
            return self._sorted(leaf)
        return self._sorted(leaf) if self._again and old.skip in RETRIED else old

    def _sorted(self, leaf: TreeEntry) -> Row:
        row = Row(leaf.path, leaf.oid)
        if leaf.mode == _GITLINK:
            return replace(row, skip=Skip.SUBMODULE)
        if stat.S_ISLNK(leaf.mode):
            return replace(row, skip=Skip.SYMLINK)
        path = leaf.path.decode("utf-8", "surrogateescape")
        language = language_of(path, lambda: self._head(leaf.oid))
        if language is None:
            return replace(row, skip=Skip.UNSUPPORTED)
        row = replace(row, language=language.name)
        if not usable(language.name):
            return replace(row, skip=Skip.NO_GRAMMAR)
        maker = maker_of(language.name)
        known = self._known.get((leaf.oid, maker))
        if known is not None:
            return replace(row, blob=known.blob, skip=known.skip)
        if (leaf.oid, maker) not in self._queued:
            if self._objects.size(self._scope, leaf.oid) > self._max_file_bytes:
                return replace(row, skip=Skip.TOO_LARGE)
            self._queued.add((leaf.oid, maker))
            self.wanted.append(Wanted(leaf.oid, maker, language.name))
        return row

    def _head(self, oid: str) -> bytes:
        if self._objects.size(self._scope, oid) > self._max_file_bytes:
            return b""
        return self._objects.blob(self._scope, oid)[:_HEAD]


def _known(generation: Generation, without: Iterable[Skip]) -> dict[tuple[str, str], Known]:
    left_out = frozenset(without)
    found = {}
    for segment in generation.segments:
        rows = zip(
            segment.oids,
            segment.blobs["ordinal"].tolist(),
            segment.blobs["maker"].tolist(),
            segment.blobs["skip"].tolist(),
            strict=True,
        )
        for oid, ordinal, maker, number in rows:
            skip = skip_of(number)
            if skip not in left_out:
                found[oid, segment.makers[maker]] = Known(ordinal, skip)
    return found


def _is_file(leaf: TreeEntry) -> bool:
    return leaf.mode != _GITLINK and not stat.S_ISLNK(leaf.mode)
