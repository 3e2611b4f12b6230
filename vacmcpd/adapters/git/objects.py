"""Objects of pinned commits out of bare clones, proved before they are trusted."""

import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn, TypeVar

import pygit2

from ...errors import QueryError, WireCode, source_mismatch
from ...model import Scope
from ...ports.budget import Budget
from ...ports.objects import TreeEntry
from .raw import FULL_ID, KEEP_PREFIX, READ_ERRORS, TREE, entries_of, open_repository, tree_of

_Answer = TypeVar("_Answer")
_BLOB, _COMMIT, _TREE = (
    pygit2.enums.ObjectType.BLOB,
    pygit2.enums.ObjectType.COMMIT,
    pygit2.enums.ObjectType.TREE,
)


@dataclass(frozen=True, slots=True)
class _Opened:
    repository: pygit2.Repository
    folder: Path
    packs: tuple[int, int]


class GitObjects:
    """Implements :class:`vacmcpd.ports.objects.ObjectReader` over git repositories.

    ``locate`` names a repository's folder. Safe for threads: each has its own libgit2 repository.
    ``keep_refs`` says whether the repository is managed, so that a commit must also be named by
    its keep ref.
    """

    def __init__(self, locate: Callable[[str], Path], keep_refs: bool) -> None:
        self._locate = locate
        self._keep_refs = keep_refs
        self._local = threading.local()

    def prove(self, scope: Scope) -> str:
        """The pinned tree's id; SOURCE_MISMATCH, with the failed ``check`` in the details."""
        opened = self._repository(scope)
        if not FULL_ID.fullmatch(scope.revision):
            raise _mismatch(scope, None, "commit", "the pin is not a full commit id")
        tree = self._tree_of_commit(scope, opened)
        if self._keep_refs:
            self._prove_kept(scope, opened)
        artifact = scope.member.search
        if artifact is not None and (artifact.revision, artifact.key) != (scope.revision, tree):
            raise source_mismatch(
                scope.repository,
                scope.revision,
                artifact.revision,
                f"{_where(scope)}: the search index was not made of the pinned commit; "
                "rebuild the context",
                context=scope.context,
                check="search_artifact",
                declared_tree=tree,
                actual_tree=artifact.key,
            )
        return tree

    def leaves(self, scope: Scope, budget: Budget) -> Iterator[TreeEntry]:
        """Every leaf of the pinned tree, by path in byte order; polls the budget at each tree."""
        pending = [(b"", TREE, self.prove(scope))]
        while pending:
            path, mode, oid = pending.pop()
            if mode != TREE:
                yield TreeEntry(path, mode, oid)
                continue
            budget.check()
            prefix = path + b"/" if path else b""
            inside = [(prefix + name, mode, oid) for mode, name, oid in self._entries(scope, oid)]
            # Git sorts a folder as if its name ended in a slash, so depth first is path order.
            pending.extend(reversed(inside))

    def size(self, scope: Scope, oid: str) -> int:
        """A blob's size in bytes, from its header."""

        def header(repository: pygit2.Repository) -> int:
            kind, size = repository.odb.read_header(pygit2.Oid(hex=oid))
            return int(size) if kind == _BLOB else _wrong_kind()

        return self._read(scope, oid, header)

    def blob(self, scope: Scope, oid: str) -> bytes:
        """A blob's content."""
        return self._object(scope, oid, _BLOB)

    def commit(self, scope: Scope, oid: str) -> bytes:
        """A commit of the scope's repository, raw."""
        return self._object(scope, oid, _COMMIT)

    def entry(self, scope: Scope, path: bytes) -> TreeEntry | None:
        """What the proved tree has at ``path``, a tree too; None when nothing is there.

        Every byte of ``path`` is literal; empty or ``.`` is the root.
        """
        oid = self.prove(scope)
        if path in {b"", b"."}:
            return TreeEntry(path, TREE, oid)
        mode = TREE
        for part in path.split(b"/"):
            found = (
                next((each for each in self._entries(scope, oid) if each[1] == part), None)
                if mode == TREE
                else None
            )
            if found is None:
                return None
            mode, _, oid = found
        return TreeEntry(path, mode, oid)

    def git_dir(self, scope: Scope) -> Path:
        """The folder to hand to the git binary."""
        return Path(self._repository(scope).repository.path)

    def _entries(self, scope: Scope, oid: str) -> list[tuple[int, bytes, str]]:
        data = self._object(scope, oid, _TREE)
        try:
            return list(entries_of(data))
        except ValueError as error:
            raise _damaged(scope, oid) from error

    def _tree_of_commit(self, scope: Scope, opened: _Opened) -> str:
        if not _is_stored(opened.repository, scope.revision):
            opened = self._repository(scope, fresh=True)
            if not _is_stored(opened.repository, scope.revision):
                raise _mismatch(scope, None, "commit", "the pinned commit is gone")
        try:
            kind, data = opened.repository.odb.read(pygit2.Oid(hex=scope.revision))
            if kind != _COMMIT:
                raise _mismatch(scope, None, "commit", "the pin is not a commit")
            tree = tree_of(data)
        except READ_ERRORS as error:
            raise _mismatch(scope, None, "commit", "the pinned commit is damaged") from error
        if not _is_stored(opened.repository, tree):
            raise _mismatch(scope, None, "tree", "the tree of the pinned commit is gone")
        return tree

    def _prove_kept(self, scope: Scope, opened: _Opened) -> None:
        try:
            ref = opened.repository.lookup_reference(KEEP_PREFIX + scope.revision)
            actual = str(ref.target)
        except READ_ERRORS as error:
            raise _mismatch(
                scope, None, "keep_ref", "the ref that keeps the pinned commit is gone"
            ) from error
        if actual != scope.revision:
            raise _mismatch(
                scope, actual, "keep_ref", "the ref that keeps the pinned commit was moved"
            )

    def _object(self, scope: Scope, oid: str, wanted: int) -> bytes:
        def content(repository: pygit2.Repository) -> bytes:
            kind, data = repository.odb.read(pygit2.Oid(hex=oid))
            return data if kind == wanted else _wrong_kind()

        return self._read(scope, oid, content)

    def _read(
        self, scope: Scope, oid: str, read: Callable[[pygit2.Repository], _Answer]
    ) -> _Answer:
        try:
            return read(self._repository(scope).repository)
        except READ_ERRORS:
            # A repack may have moved the object since this thread opened the packs.
            try:
                return read(self._repository(scope, fresh=True).repository)
            except READ_ERRORS as error:
                raise _damaged(scope, oid) from error

    def _repository(self, scope: Scope, fresh: bool = False) -> _Opened:
        opened: dict[str, _Opened] = self._local.__dict__.setdefault("opened", {})
        known = opened.get(scope.repository)
        if known is not None and not fresh and known.packs == _packs(known.folder):
            return known
        path = self._locate(scope.repository)
        try:
            repository = open_repository(str(path))
            folder = Path(repository.path, "objects", "pack")
            found = _Opened(repository, folder, _packs(folder))
        except (OSError, pygit2.GitError) as error:
            raise QueryError(
                WireCode.REPOSITORY_NOT_FOUND,
                f'{_where(scope)}: the repository "{scope.repository}" can\'t be read; run '
                "vacmcp doctor",
                {"context": scope.context, "repository": scope.repository},
            ) from error
        opened[scope.repository] = found
        return found


def _packs(folder: Path) -> tuple[int, int]:
    """Changes when a pack comes or goes or the clone was replaced; (-1, -1) when it is gone.

    libgit2 keeps deleted packs mapped and would go on answering from them.
    """
    try:
        status = folder.stat()
    except OSError:
        return -1, -1
    return status.st_ino, status.st_mtime_ns


def _is_stored(repository: pygit2.Repository, oid: str) -> bool:
    # Asks the files; the database itself would answer from its cache for an object deleted since.
    wanted = pygit2.Oid(hex=oid)
    return any(backend.exists(wanted) for backend in repository.odb.backends)


def _wrong_kind() -> NoReturn:
    raise ValueError("an object of another kind than the tree says")


def _where(scope: Scope) -> str:
    return f'context "{scope.context}"'


def _mismatch(scope: Scope, actual: str | None, check: str, reason: str) -> QueryError:
    return source_mismatch(
        scope.repository,
        scope.revision,
        actual,
        f'{_where(scope)}: {reason} in repository "{scope.repository}"; rebuild the context',
        context=scope.context,
        check=check,
    )


def _damaged(scope: Scope, oid: str) -> QueryError:
    return source_mismatch(
        scope.repository,
        scope.revision,
        None,
        f'{_where(scope)}: object {oid} of repository "{scope.repository}" is missing or '
        "damaged; rebuild the context",
        context=scope.context,
        check="object",
        object=oid,
    )
