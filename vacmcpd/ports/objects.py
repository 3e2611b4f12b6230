"""Git objects of a pinned commit, as bytes; what every engine reads from."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

from ..model import Scope
from .budget import Budget


@dataclass(frozen=True, slots=True)
class TreeEntry:
    """A leaf of a tree: a file (0o100644, 0o100755), symlink (0o120000) or submodule (0o160000)."""

    path: bytes
    mode: int
    oid: str


class ObjectReader(Protocol):
    """Reads objects by id, and proves first that the pin still stands.

    All methods raise SOURCE_MISMATCH for an object that is missing or damaged and
    REPOSITORY_NOT_FOUND when the repository can't be opened.
    """

    def prove(self, scope: Scope) -> str:
        """The id of the pinned commit's tree.

        SOURCE_MISMATCH with ``declared_revision`` and ``actual_revision`` unless the commit is
        there, its keep ref (where the repository is managed) names it, and the scope's search
        artifact, when it has one, was made of this commit and tree.
        """
        ...

    def leaves(self, scope: Scope, budget: Budget) -> Iterator[TreeEntry]:
        """Every leaf of the pinned tree, by path in byte order. Polls the budget."""
        ...

    def size(self, scope: Scope, oid: str) -> int:
        """A blob's size in bytes, without reading it."""
        ...

    def blob(self, scope: Scope, oid: str) -> bytes:
        """A blob's content."""
        ...
