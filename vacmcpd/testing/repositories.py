"""A RepositoryStore in memory, over remotes that a test moves by hand."""

import difflib
import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import count
from typing import NoReturn

from ..errors import BuildCode, Cancelled, LifecycleError
from ..ports.budget import CancelFlag
from ..ports.repository_store import FetchReport, OnProgress, RefKind, ResolvedRef

_SECRET = re.compile(r"https?://[^/]*@|^(?:ssh://)?[^/@]*:[^/@]*@|\?")
_SUPPORTED = re.compile(r"https://|ssh://|file:///|/|\w[\w.-]*@\w[\w.-]*:(?!:)")
_LOOPBACK = re.compile(r"http://(?:localhost|127\.0\.0\.1|\[::1\])[:/]")
_ID = re.compile(r"[0-9A-Fa-f]{7,40}")


@dataclass(slots=True)
class MemoryRemote:
    """What stands behind a URL. ``fails`` makes every clone and fetch end with that code."""

    branches: dict[str, str] = field(default_factory=dict)
    tags: dict[str, str] = field(default_factory=dict)
    commits: set[str] = field(default_factory=set)
    fails: BuildCode | None = None
    _numbers: "count[int]" = field(default_factory=count)

    def commit(self, branch: str = "main") -> str:
        """A new commit on ``branch``; returns its id."""
        text = f"{id(self)} {branch} {next(self._numbers)}"
        made = hashlib.sha1(text.encode("utf-8"), usedforsecurity=False).hexdigest()
        self.commits.add(made)
        self.branches[branch] = made
        return made


@dataclass(slots=True)
class _Clone:
    branches: dict[str, str] = field(default_factory=dict)
    tags: dict[str, str] = field(default_factory=dict)
    commits: set[str] = field(default_factory=set)
    kept: set[str] = field(default_factory=set)


class MemoryRepositoryStore:
    """Implements :class:`vacmcpd.ports.repository_store.RepositoryStore`.

    ``remotes`` maps a URL to what stands behind it; any other URL names no repository.
    """

    def __init__(self, remotes: Mapping[str, MemoryRemote]) -> None:
        self._remotes = remotes
        self._clones: dict[str, _Clone] = {}

    def damage(self, name: str) -> None:
        """Lose the clone, as if its folder had been deleted."""
        self._clones.pop(name, None)

    def check_url(self, url: str, allow_http: bool) -> None:
        """INVALID_ARGUMENT for a secret, a dash, a control character or an unknown scheme."""
        printable = url.isprintable() and not url.startswith("-") and "/-" not in url
        known = _SUPPORTED.match(url) or _LOOPBACK.match(url)
        if not known and allow_http:
            known = re.match("http://", url)
        if not printable or _SECRET.search(url) or not known:
            raise LifecycleError(BuildCode.INVALID_ARGUMENT, "this URL can't be used")

    def clone(
        self, name: str, url: str, progress: OnProgress, cancel: CancelFlag | None
    ) -> FetchReport:
        """Copy the remote, or leave everything as it is."""
        clone = _Clone()
        self._pull(clone, name, url, progress, cancel)
        self._clones[name] = clone
        return self.count(name)

    def fetch(
        self, name: str, url: str, progress: OnProgress, cancel: CancelFlag | None
    ) -> FetchReport:
        """Bring branches and tags to what the remote has."""
        self._pull(self._clone(name), name, url, progress, cancel)
        return self.count(name)

    def healthy(self, name: str) -> bool:
        """Whether there is a clone."""
        return name in self._clones

    def count(self, name: str) -> FetchReport:
        """How many branches and tags the clone has."""
        clone = self._clone(name)
        return FetchReport(len(clone.branches), len(clone.tags))

    def remove(self, name: str) -> None:
        """Forget the clone."""
        self._clones.pop(name, None)

    def resolve(self, name: str, ref: str) -> ResolvedRef:
        """Look one ref up by exact name or commit id."""
        clone = self._clone(name)
        found = [
            (full, kind, known[short])
            for full, short, kind, known in self._readings(clone, ref)
            if short in known
        ]
        if _ID.fullmatch(ref):
            ids = sorted(each for each in clone.commits if each.startswith(ref.lower()))
            found += [(each, RefKind.COMMIT, each) for each in ids]
        if len(found) > 1:
            raise LifecycleError(
                BuildCode.INVALID_ARGUMENT,
                f'"{ref}" means more than one thing',
                {"repository": name, "ref": ref, "candidates": [each[0] for each in found]},
            )
        if not found:
            self._unknown(name, ref, clone)
        return ResolvedRef(ref, found[0][1], found[0][2])

    def has_commit(self, name: str, revision: str) -> bool:
        """Whether the clone holds this commit."""
        return revision in self._clone(name).commits

    def tree_id(self, name: str, revision: str) -> str:
        """An id that follows from the commit's."""
        self._require(name, revision)
        return hashlib.sha1(revision.encode("utf-8"), usedforsecurity=False).hexdigest()

    def keep(self, name: str, revision: str) -> None:
        """Keep a commit through every fetch."""
        self._require(name, revision)
        self._clone(name).kept.add(revision)

    def unkeep(self, name: str, revision: str) -> None:
        """Keep it no longer."""
        self._clone(name).kept.discard(revision)

    def kept(self, name: str) -> frozenset[str]:
        """The commits that are kept."""
        return frozenset(self._clone(name).kept)

    def _pull(
        self,
        clone: _Clone,
        name: str,
        url: str,
        progress: OnProgress,
        cancel: CancelFlag | None,
    ) -> None:
        if cancel is not None and cancel.is_set():
            raise Cancelled(f'"{name}" was cancelled')
        remote = self._remotes.get(url)
        if remote is None or remote.fails:
            code = remote.fails if remote and remote.fails else BuildCode.REPOSITORY_NOT_FOUND
            raise LifecycleError(code, f'the remote of repository "{name}" can\'t be read')
        clone.branches, clone.tags = dict(remote.branches), dict(remote.tags)
        reachable = remote.commits | {*remote.branches.values(), *remote.tags.values()}
        # What no ref names any more is lost, as after a gc, unless it is kept.
        clone.commits = reachable | clone.kept
        progress("Receiving objects", len(clone.commits), len(clone.commits))

    def _readings(
        self, clone: _Clone, ref: str
    ) -> list[tuple[str, str, RefKind, Mapping[str, str]]]:
        heads, tags = "refs/heads/", "refs/tags/"
        if ref.startswith(heads):
            return [(ref, ref.removeprefix(heads), RefKind.BRANCH, clone.branches)]
        if ref.startswith(tags):
            return [(ref, ref.removeprefix(tags), RefKind.TAG, clone.tags)]
        if ref.startswith("refs/"):
            return []
        return [
            (heads + ref, ref, RefKind.BRANCH, clone.branches),
            (tags + ref, ref, RefKind.TAG, clone.tags),
        ]

    def _unknown(self, name: str, ref: str, clone: _Clone) -> NoReturn:
        near = difflib.get_close_matches(ref, sorted({*clone.branches, *clone.tags}))
        raise LifecycleError(
            BuildCode.REVISION_NOT_FOUND,
            f'repository "{name}" has no ref "{ref}"',
            {"repository": name, "ref": ref, "near": near},
        )

    def _require(self, name: str, revision: str) -> None:
        if not self.has_commit(name, revision):
            raise LifecycleError(
                BuildCode.REVISION_NOT_FOUND,
                f'repository "{name}" has no commit {revision}',
                {"repository": name, "revision": revision},
            )

    def _clone(self, name: str) -> _Clone:
        if name not in self._clones:
            raise LifecycleError(
                BuildCode.REPOSITORY_NOT_FOUND,
                f'there is no usable clone of repository "{name}"',
                {"repository": name},
            )
        return self._clones[name]
