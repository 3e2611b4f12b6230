"""An ObjectReader in memory, with git's own ids and the same proofs as the real one."""

import hashlib
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from ..errors import QueryError, WireCode, source_mismatch
from ..model import Scope
from ..ports.budget import Budget
from ..ports.objects import TreeEntry


@dataclass(frozen=True, slots=True)
class Symlink:
    """A symbolic link and its target text."""

    target: bytes


@dataclass(frozen=True, slots=True)
class Submodule:
    """A submodule at a commit."""

    commit: str


Content: TypeAlias = bytes | Symlink | Submodule
Files: TypeAlias = Mapping[bytes, Content]


@dataclass(slots=True)
class _Repository:
    commits: dict[str, str] = field(default_factory=dict)
    trees: dict[str, tuple[TreeEntry, ...]] = field(default_factory=dict)
    blobs: dict[str, bytes] = field(default_factory=dict)
    kept: dict[str, str] = field(default_factory=dict)


class MemoryObjects:
    """Repositories of commits without parents, each made of a mapping from path to content.

    ``reads`` lists the ids of the blobs that were read, in order, so that a test can say that
    something was not.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._repositories: dict[str, _Repository] = {}
        self.reads: list[str] = []

    def commit(self, repository: str, files: Files, message: str = "") -> str:
        """Add a commit with exactly these files; returns its id."""
        known = self._repositories.setdefault(repository, _Repository())
        entries = []
        for path in sorted(files):
            mode, oid, data = _leaf(files[path])
            if data is not None:
                known.blobs[oid] = data
            entries.append(TreeEntry(path, mode, oid))
        tree = _tree_id(entries)
        known.trees[tree] = tuple(entries)
        revision = _object_id("commit", f"tree {tree}\n\n{message}\n".encode())
        known.commits[revision] = tree
        return revision

    def keep(self, repository: str, context: str, revision: str) -> None:
        """Point the context's keep ref at ``revision``; from now on it is checked."""
        self._known(repository).kept[context] = revision

    def lose_commit(self, repository: str, revision: str) -> None:
        """Forget a commit, as a prune would."""
        del self._known(repository).commits[revision]

    def lose_blob(self, repository: str, content: bytes) -> None:
        """Forget the blob of this content."""
        del self._known(repository).blobs[_object_id("blob", content)]

    def lose_repository(self, repository: str) -> None:
        """Forget a repository."""
        del self._repositories[repository]

    def prove(self, scope: Scope) -> str:
        """The tree of the pinned commit, once commit, keep ref and artifact agree."""
        known = self._known(scope.repository)
        tree = known.commits.get(scope.revision)
        if tree is None:
            raise _mismatch(scope, None, "the pinned commit is gone")
        kept = known.kept.get(scope.context, scope.revision)
        if kept != scope.revision:
            raise _mismatch(scope, kept, "the keep ref names another commit")
        artifact = scope.member.search
        if artifact is not None and (artifact.revision, artifact.key) != (scope.revision, tree):
            raise _mismatch(scope, artifact.revision, "the search artifact is of another commit")
        return tree

    def leaves(self, scope: Scope, budget: Budget) -> Iterator[TreeEntry]:
        """Every leaf by path in byte order."""
        for entry in self._known(scope.repository).trees[self.prove(scope)]:
            budget.check()
            yield entry

    def size(self, scope: Scope, oid: str) -> int:
        """A blob's size in bytes."""
        return len(self._blob(scope, oid))

    def blob(self, scope: Scope, oid: str) -> bytes:
        """A blob's content."""
        content = self._blob(scope, oid)
        with self._lock:
            self.reads.append(oid)
        return content

    def _blob(self, scope: Scope, oid: str) -> bytes:
        content = self._known(scope.repository).blobs.get(oid)
        if content is None:
            raise _mismatch(scope, None, f"object {oid} is missing")
        return content

    def _known(self, repository: str) -> _Repository:
        if repository not in self._repositories:
            raise QueryError(
                WireCode.REPOSITORY_NOT_FOUND,
                f'repository "{repository}" can\'t be read',
                {"repository": repository},
            )
        return self._repositories[repository]


def _mismatch(scope: Scope, actual: str | None, message: str) -> QueryError:
    return source_mismatch(scope.repository, scope.revision, actual, message)


def _leaf(content: Content) -> tuple[int, str, bytes | None]:
    match content:
        case Submodule(commit):
            return 0o160000, commit, None
        case Symlink(target):
            return 0o120000, _object_id("blob", target), target
        case bytes():
            return 0o100644, _object_id("blob", content), content


def _object_id(kind: str, data: bytes) -> str:
    header = b"%s %d\0" % (kind.encode(), len(data))
    return hashlib.sha1(header + data, usedforsecurity=False).hexdigest()


def _tree_id(entries: list[TreeEntry]) -> str:
    """The id that git gives a tree of these leaves."""
    folders: dict[bytes, list[TreeEntry]] = {}
    rows: list[tuple[bytes, bytes]] = []
    for entry in entries:
        name, slash, rest = entry.path.partition(b"/")
        if slash:
            folders.setdefault(name, []).append(TreeEntry(rest, entry.mode, entry.oid))
        else:
            rows.append((name, b"%o %s\0" % (entry.mode, name) + bytes.fromhex(entry.oid)))
    # git sorts a folder as if its name ended in a slash.
    for name, inside in folders.items():
        rows.append((name + b"/", b"40000 %s\0" % name + bytes.fromhex(_tree_id(inside))))
    return _object_id("tree", b"".join(row for _, row in sorted(rows)))
