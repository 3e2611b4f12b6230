"""One path in two commits, compared blob by blob: no attributes, no configuration, no renames."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import pygit2

from ...errors import QueryError, invalid_argument
from ...model import Scope
from ...paths import to_bytes
from ...ports.budget import Budget
from ...ports.objects import TreeEntry
from ...ports.source import Change, EntryKind, Hunk, HunkLine, LineKind, SideEntry, SourceDiff
from .content import decode, is_binary, kind_of
from .objects import GitObjects

_CONTEXT_LINES: Final = 3
# Binary was decided before, by git's rule; libgit2's own also looks at byte order marks. The
# indent heuristic is on by default in git and off in libgit2.
_FLAGS: Final = pygit2.enums.DiffOption.FORCE_TEXT | pygit2.enums.DiffOption.INDENT_HEURISTIC
_HEADER = re.compile(rb"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@[^\n]*\n")
_KINDS = {b" ": LineKind.CONTEXT, b"+": LineKind.ADDED, b"-": LineKind.REMOVED}
_POLL_LINES = 4096


@dataclass(frozen=True, slots=True)
class _Side:
    entry: TreeEntry
    kind: EntryKind
    data: bytes

    @property
    def described(self) -> SideEntry:
        return SideEntry(self.kind, f"{self.entry.mode:06o}", len(self.data))


def compare(
    objects: GitObjects,
    from_scope: Scope,
    to_scope: Scope,
    path: str,
    skip_hunks: int,
    max_lines: int,
    budget: Budget,
) -> SourceDiff:
    """What changed at ``path``; see :class:`vacmcpd.ports.source.SourceDiffer`.

    A directory or submodule is no file: beside a file that side is absent, and INVALID_ARGUMENT
    with its ``kind`` when neither side has a file.
    """
    budget.check()
    found = [objects.entry(scope, to_bytes(path)) for scope in (from_scope, to_scope)]
    before = _side(objects, from_scope, found[0])
    after = _side(objects, to_scope, found[1])
    if before is None and after is None:
        raise _no_file(from_scope, to_scope, path, found)
    budget.check()
    binary = any(side is not None and is_binary(side.data) for side in (before, after))
    hunks: tuple[Hunk, ...] = ()
    truncated, total = False, 0
    if not binary and not _same_content(before, after):
        patch = pygit2.Patch.create_from(
            before.data if before else None,
            after.data if after else None,
            flag=_FLAGS,
            context_lines=_CONTEXT_LINES,
            interhunk_lines=0,
        )
        total = len(patch.hunks)
        hunks, truncated = _window(patch.data, total, skip_hunks, max_lines, budget)
    return SourceDiff(
        from_revision=from_scope.revision,
        to_revision=to_scope.revision,
        path=path,
        change=_change(before, after),
        binary=binary,
        hunks=hunks,
        from_entry=before.described if before else None,
        to_entry=after.described if after else None,
        truncated=truncated,
        total_hunks=total,
    )


def _side(objects: GitObjects, scope: Scope, entry: TreeEntry | None) -> _Side | None:
    kind = kind_of(entry)
    if entry is None or kind not in {EntryKind.FILE, EntryKind.SYMLINK}:
        return None
    return _Side(entry, kind, objects.blob(scope, entry.oid))


def _same_content(before: _Side | None, after: _Side | None) -> bool:
    return before is not None and after is not None and before.entry.oid == after.entry.oid


def _change(before: _Side | None, after: _Side | None) -> Change:
    if before is None:
        return Change.ADDED
    if after is None:
        return Change.REMOVED
    same = _same_content(before, after) and before.entry.mode == after.entry.mode
    return Change.UNCHANGED if same else Change.MODIFIED


def _window(
    patch: bytes, total: int, skip: int, max_lines: int, budget: Budget
) -> tuple[tuple[Hunk, ...], bool]:
    """The whole hunks from ``skip`` on that ``max_lines`` hold, and whether anything is left out.

    The first one is never left out; where it alone is longer its lines stop early.
    """
    hunks: list[Hunk] = []
    room = max_lines
    for number, (hunk, cut) in enumerate(_parsed(patch, skip, max_lines, budget), start=skip):
        if hunks and (cut or len(hunk.lines) > room):
            return tuple(hunks), True
        hunks.append(hunk)
        room -= len(hunk.lines)
        if cut or (room <= 0 and number + 1 < total):
            return tuple(hunks), True
    return tuple(hunks), False


def _parsed(patch: bytes, skip: int, max_lines: int, budget: Budget) -> Iterator[tuple[Hunk, bool]]:
    """The hunks from ``skip`` on, each with ``max_lines`` lines at most and whether it was cut.

    A patch is read by the counts of its headers, since a line of a file may look like a header.
    """
    at = patch.find(b"\n@@ -") + 1
    number = 0
    while found := _HEADER.match(patch, at) if at else None:
        old, new = int(found[2] or 1), int(found[4] or 1)
        end = _end_of(patch, found.end(), old, new, budget)
        if number >= skip:
            lines, cut = _lines(patch, found.end(), end, max_lines)
            yield Hunk(int(found[1]), old, int(found[3]), new, lines), cut
        number += 1
        at = end


def _end_of(patch: bytes, at: int, old: int, new: int, budget: Budget) -> int:
    """The offset behind a hunk of ``old`` and ``new`` lines that begins at ``at``."""
    seen = 0
    while old or new or patch[at : at + 1] == b"\\":
        mark = patch[at : at + 1]
        old -= mark in b" -"
        new -= mark in b" +"
        at = patch.find(b"\n", at) + 1 or len(patch)
        seen += 1
        if seen % _POLL_LINES == 0:
            budget.check()
    return at


def _lines(patch: bytes, at: int, end: int, most: int) -> tuple[tuple[HunkLine, ...], bool]:
    lines: list[HunkLine] = []
    while at < end and len(lines) < most:
        stop = patch.find(b"\n", at, end)
        content, _ = decode(patch[at + 1 : stop])
        kind = _KINDS[patch[at : at + 1]]
        at = stop + 1
        bare = patch[at : at + 1] == b"\\" and at < end
        if bare:
            at = patch.find(b"\n", at, end) + 1
        lines.append(HunkLine(kind, content, bare))
    return tuple(lines), at < end


def _no_file(
    from_scope: Scope, to_scope: Scope, path: str, found: list[TreeEntry | None]
) -> QueryError:
    kind = next((kind for kind in map(kind_of, found) if kind is not None), None)
    reason = "has file" if kind is None else f"has a file, but a {kind}, at"
    return invalid_argument(
        f"compare_code: neither revision {from_scope.revision} nor {to_scope.revision} "
        f"{reason} {path}",
        path=path,
        from_revision=from_scope.revision,
        to_revision=to_scope.revision,
        kind=str(kind) if kind else "missing",
    )
