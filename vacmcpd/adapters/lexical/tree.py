"""The leaves of a pinned tree, listed once and kept while there is room."""

import stat
import threading
from collections import OrderedDict
from dataclasses import dataclass

from ...model import Scope
from ...ports.budget import Budget
from ...ports.objects import ObjectReader, TreeEntry
from .documents import Skip, as_utf8

_GITLINK = 0o160000
_MAX_LEAVES = 250_000


@dataclass(frozen=True, slots=True)
class Leaf:
    """A path of the tree; ``name`` is the path as UTF-8, which is what patterns look at."""

    path: bytes
    name: bytes
    oid: str
    skip: Skip | None
    """Set when its kind alone says that its content is not searched."""


def to_leaf(entry: TreeEntry) -> Leaf:
    """The leaf that a tree's entry is."""
    return Leaf(entry.path, as_utf8(entry.path), entry.oid, _skip_of(entry.mode))


def _skip_of(mode: int) -> Skip | None:
    if mode == _GITLINK:
        return Skip.SUBMODULE
    return Skip.SYMLINK if stat.S_ISLNK(mode) else None


class TreeCache:
    """The leaves of the last trees, at most 250,000 in all. Safe in several threads."""

    def __init__(self, objects: ObjectReader) -> None:
        self._objects = objects
        self._lock = threading.Lock()
        self._kept: OrderedDict[tuple[str, str], tuple[Leaf, ...]] = OrderedDict()
        self._count = 0

    def leaves(self, scope: Scope, tree: str, budget: Budget) -> tuple[Leaf, ...]:
        """Every leaf by path in byte order; OPERATION_TIMEOUT when the listing overruns."""
        key = (scope.repository, tree)
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
                return self._kept[key]
        found = tuple(to_leaf(entry) for entry in self._objects.leaves(scope, budget))
        with self._lock:
            self._keep(key, found)
        return found

    def _keep(self, key: tuple[str, str], leaves: tuple[Leaf, ...]) -> None:
        if key in self._kept or len(leaves) > _MAX_LEAVES:
            return
        self._kept[key] = leaves
        self._count += len(leaves)
        while self._count > _MAX_LEAVES:
            _, dropped = self._kept.popitem(last=False)
            self._count -= len(dropped)
