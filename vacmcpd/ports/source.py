"""Source text of one pinned member, and the two optional capabilities beside it."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Protocol, runtime_checkable

from ..model import Scope
from .budget import Budget


class EntryKind(StrEnum):
    """What an entry of a tree is."""

    FILE = "file"
    SYMLINK = "symlink"
    DIRECTORY = "directory"
    SUBMODULE = "submodule"


@dataclass(frozen=True, slots=True)
class LfsPointer:
    """What a Git LFS pointer file stands for; the content itself is not in the repository."""

    oid: str
    size: int


@dataclass(frozen=True, slots=True)
class SourceContent:
    """Lines ``start_line`` to ``end_line`` (1-based, inclusive) with their line ends.

    ``content`` is UTF-8 text; bytes that are not are U+FFFD and ``lossy`` is true. An empty file
    has ``line_count`` 0 and ``end_line`` 0. ``kind`` is FILE or SYMLINK (its target text).
    """

    revision: str
    path: str
    start_line: int
    end_line: int
    line_count: int
    content: str
    kind: EntryKind = EntryKind.FILE
    binary: bool = False
    lossy: bool = False
    lfs: LfsPointer | None = None


class SourceProvider(Protocol):
    """Reads files out of one pinned commit.

    ``path`` is cleaned, spelled as in :mod:`vacmcpd.paths` and literal, never a pattern. Raises
    INVALID_ARGUMENT with ``kind`` in the details (``missing``, ``directory``, ``submodule``) or
    with ``line_count`` when the range leaves the file, SOURCE_MISMATCH when the commit, its keep
    ref or an object of it is not what the scope declares, REPOSITORY_NOT_FOUND when the
    repository can't be read at all.
    """

    name: str

    def read(self, scope: Scope, path: str, start: int, end: int, budget: Budget) -> SourceContent:
        """Lines ``start`` to ``end`` of one file."""
        ...


class Change(StrEnum):
    """What happened to a path between two revisions."""

    ADDED = "ADDED"
    REMOVED = "REMOVED"
    MODIFIED = "MODIFIED"
    UNCHANGED = "UNCHANGED"


class LineKind(StrEnum):
    """What a line of a hunk is."""

    CONTEXT = "CONTEXT"
    ADDED = "ADDED"
    REMOVED = "REMOVED"


@dataclass(frozen=True, slots=True)
class HunkLine:
    """One line without its newline (a carriage return stays).

    ``no_newline`` is true for a last line that ends without one.
    """

    kind: LineKind
    content: str
    no_newline: bool = False


@dataclass(frozen=True, slots=True)
class Hunk:
    """A changed region with three lines of context; starts are 1-based, 0 for an absent side."""

    old_start: int
    old_lines: int
    new_start: int
    new_lines: int
    lines: tuple[HunkLine, ...]


@dataclass(frozen=True, slots=True)
class SideEntry:
    """What one side of a comparison has at the path."""

    kind: EntryKind
    mode: str
    size: int


@dataclass(frozen=True, slots=True)
class SourceDiff:
    """What changed at one path. A side is None where that revision has no such file.

    ``hunks`` is empty for a binary file and for a change of mode alone. ``truncated`` says that
    hunks were left out because there are more than ``max_lines`` changed and context lines. The
    first one asked for is never left out: where it alone is longer, its lines stop early and its
    ranges keep their full counts. ``total_hunks`` counts those skipped and left out as well.
    """

    from_revision: str
    to_revision: str
    path: str
    change: Change
    binary: bool
    hunks: tuple[Hunk, ...]
    from_entry: SideEntry | None
    to_entry: SideEntry | None
    truncated: bool = False
    total_hunks: int = 0


@runtime_checkable
class SourceDiffer(Protocol):
    """Optional beside :class:`SourceProvider`: compares one path in two revisions.

    The scopes name the same repository. Raises what ``read`` raises; INVALID_ARGUMENT with
    ``kind`` ``missing`` only when neither side has the path.
    """

    def diff(
        self,
        from_scope: Scope,
        to_scope: Scope,
        path: str,
        skip_hunks: int,
        max_lines: int,
        budget: Budget,
    ) -> SourceDiff:
        """The comparison, from hunk ``skip_hunks`` on."""
        ...


@dataclass(frozen=True, slots=True)
class HistoryQuery:
    """Filters, joined by AND. Empty strings filter nothing.

    ``message`` is a literal, case-insensitive substring of the commit message; ``symbol`` an
    exact string whose number of occurrences changed (pickaxe ``-S``); ``path`` a file, or a
    directory with all below it. ``offset`` and ``limit`` count commit–path entries after the
    filters.
    """

    message: str
    symbol: str
    path: str
    offset: int
    limit: int


@dataclass(frozen=True, slots=True)
class HistoryEntry:
    """One path of one commit. ``timestamp`` is the author's, in UTC; ``author`` ``Name <mail>``."""

    commit: str
    path: str
    author: str
    timestamp: datetime
    message: str


@dataclass(frozen=True, slots=True)
class HistoryPage:
    """Newest first, the paths of a commit in git's order; merges are left out.

    ``examined`` counts the entries that were looked at, ``more`` says whether the walk stopped
    at the limit rather than at the first commit.
    """

    revision: str
    entries: tuple[HistoryEntry, ...]
    examined: int
    more: bool


@runtime_checkable
class SourceHistory(Protocol):
    """Optional beside :class:`SourceProvider`: walks the history of the pinned commit."""

    def history(self, scope: Scope, query: HistoryQuery, budget: Budget) -> HistoryPage:
        """The commits reachable from the scope's revision that pass the filters."""
        ...
