"""Files of a pinned commit, their comparison and their history, straight from git's objects."""

from ...errors import QueryError, WireCode, invalid_argument
from ...model import Scope
from ...paths import to_bytes
from ...ports.budget import Budget
from ...ports.source import EntryKind, HistoryPage, HistoryQuery, SourceContent, SourceDiff
from .content import decode, is_binary, kind_of, lines_of, pointer_of
from .diff import compare
from .history import walk
from .objects import GitObjects


class GitSource:
    """Implements SourceProvider, SourceDiffer and SourceHistory of :mod:`vacmcpd.ports.source`."""

    name = "git"

    def __init__(self, objects: GitObjects) -> None:
        self._objects = objects

    def read(self, scope: Scope, path: str, start: int, end: int, budget: Budget) -> SourceContent:
        """Lines ``start`` to ``end`` (1-based, inclusive) of one file of the pinned commit."""
        budget.check()
        entry = self._objects.entry(scope, to_bytes(path))
        kind = kind_of(entry)
        if entry is None or kind not in {EntryKind.FILE, EntryKind.SYMLINK}:
            raise _no_file(scope, path, kind)
        _check_range(path, start, end)
        data = self._objects.blob(scope, entry.oid)
        lines = lines_of(data, start, end, budget)
        # A range beyond an empty file is answered: there is no range that would be right.
        if lines.count and end > lines.count:
            raise _out_of_range(scope, path, start, end, lines.count)
        text, lossy = decode(lines.content)
        return SourceContent(
            revision=scope.revision,
            path=path,
            start_line=start,
            end_line=end if lines.count else 0,
            line_count=lines.count,
            content=text,
            kind=kind,
            binary=is_binary(data),
            lossy=lossy,
            lfs=pointer_of(data) if kind is EntryKind.FILE else None,
        )

    def diff(
        self,
        from_scope: Scope,
        to_scope: Scope,
        path: str,
        skip_hunks: int,
        max_lines: int,
        budget: Budget,
    ) -> SourceDiff:
        """The comparison of one path in two revisions, from hunk ``skip_hunks`` on."""
        return compare(self._objects, from_scope, to_scope, path, skip_hunks, max_lines, budget)

    def history(self, scope: Scope, query: HistoryQuery, budget: Budget) -> HistoryPage:
        """The commits reachable from the pinned one that pass the filters, newest first."""
        return walk(self._objects, scope, query, budget)


def _check_range(path: str, start: int, end: int) -> None:
    if start < 1 or end < start:
        raise invalid_argument(
            f"get_code: line range [{start}, {end}] is not a range of 1-based lines",
            path=path,
            start_line=start,
            end_line=end,
        )


def _out_of_range(scope: Scope, path: str, start: int, end: int, count: int) -> QueryError:
    return invalid_argument(
        f"get_code: {path} has {count} lines at revision {scope.revision}, line range "
        f"[{start}, {end}] is out of range",
        path=path,
        start_line=start,
        end_line=end,
        line_count=count,
        revision=scope.revision,
    )


def _no_file(scope: Scope, path: str, kind: EntryKind | None) -> QueryError:
    reason = f"has no file {path}" if kind is None else f"has a {kind} at {path}, not a file"
    return QueryError(
        WireCode.INVALID_ARGUMENT,
        f"get_code: revision {scope.revision} {reason}",
        {
            "context": scope.context,
            "path": path,
            "revision": scope.revision,
            "kind": str(kind) if kind else "missing",
        },
    )
