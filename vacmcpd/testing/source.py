"""Source text and history in memory."""

import difflib
import hashlib
import heapq
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import islice

from ..errors import QueryError, WireCode, invalid_argument, source_mismatch
from ..model import Scope
from ..ports.budget import Budget
from ..ports.source import (
    Change,
    EntryKind,
    HistoryEntry,
    HistoryPage,
    HistoryQuery,
    Hunk,
    HunkLine,
    LfsPointer,
    LineKind,
    SideEntry,
    SourceContent,
    SourceDiff,
)

_MODES = {EntryKind.FILE: "100644", EntryKind.SYMLINK: "120000", EntryKind.SUBMODULE: "160000"}
_LFS = re.compile(
    rb"version https://git-lfs\.github\.com/spec/v1\n(?:.*\n)*?oid sha256:([0-9a-f]{64})\n"
    rb"size (\d+)\n"
)
_EPOCH = datetime(2026, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class MemoryFile:
    """A leaf of a tree; ``mode`` as git writes it, derived from the kind when empty."""

    content: bytes = b""
    kind: EntryKind = EntryKind.FILE
    mode: str = ""

    @property
    def binary(self) -> bool:
        """Whether a NUL stands in the first 8,000 bytes, as git decides it."""
        return b"\0" in self.content[:8000]

    @property
    def entry(self) -> SideEntry:
        """What a comparison says about it."""
        return SideEntry(self.kind, self.mode or _MODES[self.kind], len(self.content))


@dataclass(frozen=True, slots=True)
class MemoryCommit:
    """A commit and its whole tree by path, spelled as in :mod:`vacmcpd.paths`.

    A file may be given as text or bytes. ``parents`` are ids of commits of the same repository.
    """

    id: str
    files: Mapping[str, MemoryFile | bytes | str] = field(default_factory=dict)
    message: str = ""
    author: str = "A U Thor <author@example.com>"
    timestamp: datetime = _EPOCH
    parents: tuple[str, ...] = ()

    def leaf(self, path: str) -> MemoryFile | None:
        """The file at ``path``."""
        found = self.files.get(path)
        if isinstance(found, str):
            return MemoryFile(found.encode("utf-8"))
        return MemoryFile(found) if isinstance(found, bytes) else found

    def leaves(self) -> Iterator[tuple[str, MemoryFile]]:
        """Every file, by path in byte order."""
        for path in sorted(self.files):
            leaf = self.leaf(path)
            if leaf is not None:
                yield path, leaf


def commit_id(name: str) -> str:
    """A full commit id for a test to name."""
    return hashlib.sha1(name.encode("utf-8"), usedforsecurity=False).hexdigest()


class MemoryRepositories:
    """Commits by repository and id; what the memory providers read from."""

    def __init__(self, repositories: Mapping[str, Iterable[MemoryCommit]]) -> None:
        self._commits = {
            name: {commit.id: commit for commit in commits}
            for name, commits in repositories.items()
        }

    def commit(self, scope: Scope) -> MemoryCommit:
        """The pinned commit; REPOSITORY_NOT_FOUND, or SOURCE_MISMATCH when it is gone."""
        commits = self._commits.get(scope.repository)
        if commits is None:
            raise QueryError(
                WireCode.REPOSITORY_NOT_FOUND,
                f'repository "{scope.repository}" is not here',
                {"repository": scope.repository},
            )
        found = commits.get(scope.revision)
        if found is None:
            raise source_mismatch(
                scope.repository, scope.revision, None, "the pinned commit is gone"
            )
        return found

    def parent(self, repository: str, commit: str) -> MemoryCommit | None:
        """A commit by id, None where history is cut."""
        return self._commits[repository].get(commit)


class MemorySource:
    """A SourceProvider that also compares and walks history, over :class:`MemoryCommit` values.

    ``repositories`` maps a repository to its commits, in any order.
    """

    def __init__(
        self, repositories: Mapping[str, Iterable[MemoryCommit]], *, name: str = "memory"
    ) -> None:
        self.name = name
        self._repositories = MemoryRepositories(repositories)

    def read(self, scope: Scope, path: str, start: int, end: int, budget: Budget) -> SourceContent:
        """Lines ``start`` to ``end`` of one file."""
        budget.check()
        leaf = _file(self._repositories.commit(scope), path)
        lines = _lines(leaf.content)
        if lines and end > len(lines):
            raise invalid_argument(
                f'"{path}" has {len(lines)} lines', path=path, line_count=len(lines)
            )
        content = b"".join(lines[start - 1 : end])
        text = content.decode("utf-8", "replace")
        return SourceContent(
            revision=scope.revision,
            path=path,
            start_line=start,
            end_line=end if lines else 0,
            line_count=len(lines),
            content=text,
            kind=leaf.kind,
            binary=leaf.binary,
            lossy=text.encode("utf-8") != content,
            lfs=_pointer(leaf.content),
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
        """The comparison, from hunk ``skip_hunks`` on."""
        budget.check()
        commits = [self._repositories.commit(scope) for scope in (from_scope, to_scope)]
        before, after = (_comparable(commit, path) for commit in commits)
        if before is None and after is None:
            raise _no_file(commits, path)
        binary = any(leaf is not None and leaf.binary for leaf in (before, after))
        hunks = [] if binary or before == after else _hunks(before, after)
        kept = _first_lines(hunks[skip_hunks:], max_lines)
        return SourceDiff(
            from_revision=from_scope.revision,
            to_revision=to_scope.revision,
            path=path,
            change=_change(before, after),
            binary=binary,
            hunks=tuple(kept),
            from_entry=before.entry if before else None,
            to_entry=after.entry if after else None,
            truncated=kept != hunks[skip_hunks:],
            total_hunks=len(hunks),
        )

    def history(self, scope: Scope, query: HistoryQuery, budget: Budget) -> HistoryPage:
        """The commits reachable from the scope's revision that pass the filters."""
        examined = found = 0
        entries: list[HistoryEntry] = []
        more = False
        for commit, path in self._changes(scope):
            budget.check()
            if len(entries) == query.limit:
                more = True
                break
            examined += 1
            if self._passes(scope, commit, path, query):
                found += 1
                if found > query.offset:
                    entries.append(_entry(commit, path))
        return HistoryPage(scope.revision, tuple(entries), examined, more)

    def _changes(self, scope: Scope) -> Iterator[tuple[MemoryCommit, str]]:
        for commit in self._walk(scope):
            if len(commit.parents) > 1:
                continue
            before = self._before(scope, commit)
            for path in sorted({*commit.files, *before.files}):
                if commit.leaf(path) != before.leaf(path):
                    yield commit, path

    def _walk(self, scope: Scope) -> Iterator[MemoryCommit]:
        """Newest first, as git log goes, each commit once."""
        tip = self._repositories.commit(scope)
        queue, seen = [(-tip.timestamp.timestamp(), 0, tip)], {tip.id}
        while queue:
            commit = heapq.heappop(queue)[2]
            yield commit
            for parent in commit.parents:
                found = self._repositories.parent(scope.repository, parent)
                if found is not None and parent not in seen:
                    seen.add(parent)
                    heapq.heappush(queue, (-found.timestamp.timestamp(), len(seen), found))

    def _before(self, scope: Scope, commit: MemoryCommit) -> MemoryCommit:
        found = None
        if commit.parents:
            found = self._repositories.parent(scope.repository, commit.parents[0])
        return found or MemoryCommit("")

    def _passes(self, scope: Scope, commit: MemoryCommit, path: str, query: HistoryQuery) -> bool:
        if query.message.casefold() not in commit.message.casefold():
            return False
        if query.path and path != query.path and not path.startswith(f"{query.path}/"):
            return False
        if not query.symbol:
            return True
        symbol = query.symbol.encode("utf-8")
        sides = (commit.leaf(path), self._before(scope, commit).leaf(path))
        now, then = (leaf.content.count(symbol) if leaf else 0 for leaf in sides)
        return now != then


def _file(commit: MemoryCommit, path: str) -> MemoryFile:
    found = _comparable(commit, path)
    if found is None:
        raise _no_file([commit], path)
    return found


def _comparable(commit: MemoryCommit, path: str) -> MemoryFile | None:
    leaf = commit.leaf(path)
    return None if leaf is None or leaf.kind is EntryKind.SUBMODULE else leaf


def _no_file(commits: Sequence[MemoryCommit], path: str) -> QueryError:
    kind = "missing"
    if any(commit.leaf(path) for commit in commits):
        kind = "submodule"
    elif path == "." or any(name.startswith(f"{path}/") for tree in commits for name in tree.files):
        kind = "directory"
    return invalid_argument(f'"{path}" is no file ({kind})', path=path, kind=kind)


def _lines(content: bytes) -> list[bytes]:
    # bytes.splitlines also breaks at a lone carriage return, which git does not.
    lines = [line + b"\n" for line in content.split(b"\n")]
    lines[-1] = lines[-1][:-1]
    return lines if lines[-1] else lines[:-1]


def _pointer(content: bytes) -> LfsPointer | None:
    found = _LFS.fullmatch(content)
    return LfsPointer(found[1].decode("ascii"), int(found[2])) if found else None


def _change(before: MemoryFile | None, after: MemoryFile | None) -> Change:
    if before is None:
        return Change.ADDED
    if after is None:
        return Change.REMOVED
    return Change.UNCHANGED if before == after else Change.MODIFIED


def _hunks(before: MemoryFile | None, after: MemoryFile | None) -> list[Hunk]:
    old = _lines(before.content) if before else []
    new = _lines(after.content) if after else []
    groups = difflib.SequenceMatcher(None, old, new, autojunk=False).get_grouped_opcodes(3)
    return [_hunk(old, new, group) for group in groups]


def _hunk(old: list[bytes], new: list[bytes], group: list[tuple[str, int, int, int, int]]) -> Hunk:
    lines: list[HunkLine] = []
    for tag, old_from, old_to, new_from, new_to in group:
        if tag == "equal":
            lines += [_line(LineKind.CONTEXT, line) for line in old[old_from:old_to]]
            continue
        lines += [_line(LineKind.REMOVED, line) for line in old[old_from:old_to]]
        lines += [_line(LineKind.ADDED, line) for line in new[new_from:new_to]]
    old_from, old_count = group[0][1], group[-1][2] - group[0][1]
    new_from, new_count = group[0][3], group[-1][4] - group[0][3]
    # An empty side names the line before it, so its start is one less.
    return Hunk(
        old_from + bool(old_count), old_count, new_from + bool(new_count), new_count, tuple(lines)
    )


def _line(kind: LineKind, raw: bytes) -> HunkLine:
    text = raw.decode("utf-8", "replace")
    return HunkLine(kind, text.removesuffix("\n"), not raw.endswith(b"\n"))


def _first_lines(hunks: list[Hunk], most: int) -> list[Hunk]:
    """Whole hunks of ``most`` lines at most, the first cut rather than left out."""
    kept: list[Hunk] = []
    for hunk in hunks:
        if kept and len(hunk.lines) > most:
            break
        lines = tuple(islice(hunk.lines, most))
        kept.append(Hunk(hunk.old_start, hunk.old_lines, hunk.new_start, hunk.new_lines, lines))
        most -= len(lines)
        if most <= 0:
            break
    return kept


def _entry(commit: MemoryCommit, path: str) -> HistoryEntry:
    return HistoryEntry(
        commit.id, path, commit.author, commit.timestamp, commit.message.rstrip("\n")
    )
