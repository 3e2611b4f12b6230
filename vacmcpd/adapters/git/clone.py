"""Bare clones below the data directory, made and kept current by the git binary."""

import contextlib
import re
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pygit2

from ...datadir import DataDirectory
from ...errors import BuildCode, LifecycleError
from ...ports.budget import CancelFlag
from ...ports.faults import FaultPoint, NoFaults
from ...ports.repository_store import FetchReport, OnProgress, ResolvedRef
from . import refs
from .environment import Profile
from .failures import GitFailed, lifecycle_error
from .leases import Lease, file_failures, leased, remove_tree, sync_folder, sync_tree
from .progress import listener
from .raw import FULL_ID, KEEP_PREFIX, READ_ERRORS, open_repository, tree_of
from .runner import GitCall, Watch, git_version, run, until
from .urls import Remote, check_url, parse_url

# Not a mirror: refs/* would be pruned with everything else, our keep refs first.
_REFSPECS = ("+refs/heads/*:refs/remotes/origin/*", "+refs/tags/*:refs/tags/*")
_FETCH = (
    "fetch",
    "--progress",
    "--prune",
    "--force",
    "--no-tags",
    "--no-write-fetch-head",
    "--no-auto-maintenance",
    "--no-recurse-submodules",
    "--no-show-forced-updates",
    "--no-write-commit-graph",
    "--",
)
# Written whole: what git init probes (symlinks, ignorecase) matters to work trees alone.
_CONFIG = """\
[core]
\trepositoryformatversion = 0
\tfilemode = true
\tbare = true
\tlogAllRefUpdates = false
\thooksPath = /dev/null
[gc]
\tauto = 0
[maintenance]
\tauto = false
"""
_LEAST_FREE_BYTES = 64 * 1024 * 1024
_LOCAL_SECONDS = 120.0
_FILES_BACKEND_SINCE = (2, 45)


class GitRepositoryStore:
    """Implements :class:`vacmcpd.ports.repository_store.RepositoryStore` with the git binary.

    ``network_timeout`` (seconds) bounds each clone and each fetch.
    """

    def __init__(
        self, data: DataDirectory, *, network_timeout: float, faults: FaultPoint | None = None
    ) -> None:
        self._data = data
        self._timeout = network_timeout
        self._faults = faults or NoFaults()

    def check_url(self, url: str, allow_http: bool) -> None:
        """INVALID_ARGUMENT unless the URL is one that may be cloned and holds no secret."""
        check_url(url, allow_http)

    def clone(
        self, name: str, url: str, progress: OnProgress, cancel: CancelFlag | None
    ) -> FetchReport:
        """Make the clone beside its place, then rename it there; replaces a damaged one."""
        remote = parse_url(url, allow_http=True)
        what = f'cloning repository "{name}"'
        watch = until(what, self._timeout, cancel)
        with file_failures(what):
            self._data.repositories.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._sweep(name)
            self._check_space(what)
            part = self._temporary(name)
            try:
                self._initialise(part, watch, what)
                self._faults.reach("clone.initialised")
                report = self._fetch_into(part, remote, progress, watch, what)
                self._faults.reach("clone.fetched")
                sync_tree(part)
                self._put_in_place(name, part)
            finally:
                remove_tree(part)
            return report

    def fetch(
        self, name: str, url: str, progress: OnProgress, cancel: CancelFlag | None
    ) -> FetchReport:
        """Bring branches and tags to what the remote has; prunes nothing else."""
        remote = parse_url(url, allow_http=True)
        what = f'fetching repository "{name}"'
        watch = until(what, self._timeout, cancel)
        self._open(name)
        with file_failures(what):
            self._sweep(name)
            self._check_space(what)
            report = self._fetch_into(self._data.repository(name), remote, progress, watch, what)
        self._faults.reach("fetch.fetched")
        return report

    def healthy(self, name: str) -> bool:
        """Whether the clone opens and every ref of it names an object that can be read."""
        try:
            repository = open_repository(str(self._data.repository(name)))
            for ref in repository.references.iterator():
                repository.odb.read_header(ref.resolve().target)
        except READ_ERRORS:
            return False
        return bool(repository.is_bare)

    def count(self, name: str) -> FetchReport:
        """How many branches and tags the clone has now."""
        return refs.count(self._open(name))

    def remove(self, name: str) -> None:
        """Delete the clone and what an unfinished one left; nothing there is fine."""
        with file_failures(f'removing repository "{name}"'):
            if self._data.repository(name).exists():
                # Renamed first: a clone is whole or not there, whenever this process dies.
                self._data.repository(name).rename(self._temporary(name))
                sync_folder(self._data.repositories)
                self._faults.reach("remove.renamed")
            self._sweep(name)

    def resolve(self, name: str, ref: str) -> ResolvedRef:
        """Look one ref up by exact name or commit id, without network."""
        watch = until(f'looking up a ref of repository "{name}"', _LOCAL_SECONDS, None)
        with _failures(f'looking up a ref of repository "{name}"'):
            return refs.resolve(self._open(name), self._data.repository(name), name, ref, watch)

    def has_commit(self, name: str, revision: str) -> bool:
        """Whether the clone holds this commit with its tree."""
        repository = self._open(name)
        try:
            tree = _tree(repository, revision)
            return bool(repository.odb.exists(pygit2.Oid(hex=tree)))
        except READ_ERRORS:
            return False

    def tree_id(self, name: str, revision: str) -> str:
        """The id of the commit's tree; REVISION_NOT_FOUND when the commit is not there."""
        repository = self._open(name)
        try:
            return _tree(repository, revision)
        except READ_ERRORS as error:
            raise _no_commit(name, revision) from error

    def keep(self, name: str, revision: str) -> None:
        """Write the ref that no fetch prunes; REVISION_NOT_FOUND without the commit."""
        if not self.has_commit(name, revision):
            raise _no_commit(name, revision)
        if revision not in self.kept(name):
            self._update_ref(name, KEEP_PREFIX + revision, revision)
        self._faults.reach("keep.written")

    def unkeep(self, name: str, revision: str) -> None:
        """Delete the keep ref; nothing there is fine."""
        if revision in self.kept(name):
            self._update_ref(name, "-d", KEEP_PREFIX + revision)
        self._faults.reach("keep.deleted")

    def kept(self, name: str) -> frozenset[str]:
        """The revisions whose keep ref names them."""
        repository = self._open(name)
        names = [ref for ref in repository.listall_references() if ref.startswith(KEEP_PREFIX)]
        found = {ref.removeprefix(KEEP_PREFIX): repository.lookup_reference(ref) for ref in names}
        return frozenset(revision for revision, ref in found.items() if str(ref.target) == revision)

    def _initialise(self, part: Path, watch: Watch, what: str) -> None:
        part.mkdir(mode=0o700)
        backend = ["--ref-format=files"] if git_version() >= _FILES_BACKEND_SINCE else []
        arguments = ("init", "--quiet", "--bare", "--template=", "--object-format=sha1", *backend)
        with _failures(what):
            run(GitCall((*arguments, "--initial-branch=main", "--", str(part))), watch)
        (part / "config").write_text(_CONFIG, encoding="utf-8", newline="\n")

    def _fetch_into(
        self, git_dir: Path, remote: Remote, progress: OnProgress, watch: Watch, what: str
    ) -> FetchReport:
        with leased(git_dir, watch) as lease, _failures(what):
            ssh = _ssh_is_configured(git_dir, watch)
            call = GitCall(
                (*_FETCH, remote.argument, *_REFSPECS),
                git_dir,
                Profile.NETWORK,
                remote.protocols,
                ssh_configured=ssh,
            )
            lines: list[str] = []
            listen = listener(progress)

            def on_line(line: str) -> None:
                listen(line)
                # Git only warns and leaves out the refs, which would be a clone with holes.
                if "shallow roots are not allowed" in line:
                    lines.append("error: the remote is itself a shallow clone (shallow roots)")

            run(_with(call, lease), watch, on_line)
            if lines:
                raise GitFailed("fetch", 0, lines)
            run(_with(GitCall(("pack-refs", "--all"), git_dir), lease), watch)
        return refs.count(open_repository(str(git_dir)))

    def _update_ref(self, name: str, *arguments: str) -> None:
        what = f'changing a keep ref of repository "{name}"'
        watch = until(what, _LOCAL_SECONDS, None)
        git_dir = self._data.repository(name)
        with file_failures(what), leased(git_dir, watch) as lease, _failures(what):
            run(_with(GitCall(("update-ref", *arguments), git_dir), lease), watch)

    def _put_in_place(self, name: str, part: Path) -> None:
        target = self._data.repository(name)
        if target.exists():
            target.rename(self._temporary(name))
            self._faults.reach("clone.displaced")
        part.rename(target)
        sync_folder(self._data.repositories)
        self._faults.reach("clone.renamed")
        self._sweep(name)

    def _open(self, name: str) -> pygit2.Repository:
        try:
            return open_repository(str(self._data.repository(name)))
        except pygit2.GitError as error:
            raise LifecycleError(
                BuildCode.REPOSITORY_NOT_FOUND,
                f'there is no usable clone of repository "{name}"; run vacmcp repo sync {name} '
                "to make it again",
                {"repository": name},
            ) from error

    def _temporary(self, name: str) -> Path:
        return self._data.repositories / f".tmp-{name}-{secrets.token_hex(8)}"

    def _sweep(self, name: str) -> None:
        # Exactly this repository's: "a" must not match what belongs to "a-b".
        pattern = re.compile(rf"\.tmp-{re.escape(name)}-[0-9a-f]{{16}}")
        for path in list(self._data.repositories.glob(".tmp-*")):
            if pattern.fullmatch(path.name):
                # An orphaned git may still write there; what is left is swept the next time.
                with contextlib.suppress(OSError):
                    remove_tree(path)

    def _check_space(self, what: str) -> None:
        free = shutil.disk_usage(self._data.repositories).free
        if free < _LEAST_FREE_BYTES:
            raise LifecycleError(
                BuildCode.NO_SPACE,
                f"{what} needs at least {_LEAST_FREE_BYTES >> 20} MiB of free space, there are "
                f"{free >> 20}; free some and try again",
            )


@contextmanager
def _failures(what: str) -> Iterator[None]:
    try:
        yield
    except GitFailed as failed:
        raise lifecycle_error(what, failed) from failed


def _with(call: GitCall, lease: Lease) -> GitCall:
    return replace(call, inherited=lease.inherited, on_start=lease.on_start)


def _ssh_is_configured(git_dir: Path, watch: Watch) -> bool:
    """Whether the user's configuration names an ssh command of its own."""
    try:
        run(GitCall(("config", "--get", "core.sshCommand"), git_dir, Profile.NETWORK), watch)
    except GitFailed:
        return False
    return True


def _tree(repository: pygit2.Repository, revision: str) -> str:
    if not FULL_ID.fullmatch(revision):
        raise ValueError("not a full commit id")
    kind, data = repository.odb.read(pygit2.Oid(hex=revision))
    if kind != pygit2.enums.ObjectType.COMMIT:
        raise ValueError("not a commit")
    return tree_of(data)


def _no_commit(name: str, revision: str) -> LifecycleError:
    return LifecycleError(
        BuildCode.REVISION_NOT_FOUND,
        f'repository "{name}" has no commit {revision}; vacmcp repo sync {name} fetches what the '
        "remote has",
        {"repository": name, "revision": revision},
    )
