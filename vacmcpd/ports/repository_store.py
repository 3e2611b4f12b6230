"""The clones: everything that touches the network, refs or packs."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from .budget import CancelFlag

OnProgress = Callable[[str, int, int], None]
"""Progress of one phase: its name, done, total (0 when unknown)."""


class RefKind(StrEnum):
    """What a ref turned out to be."""

    BRANCH = "branch"
    TAG = "tag"
    COMMIT = "commit"


@dataclass(frozen=True, slots=True)
class ResolvedRef:
    """A ref as it was asked for, what it is, and the full id of the commit it names."""

    ref: str
    kind: RefKind
    revision: str


@dataclass(frozen=True, slots=True)
class FetchReport:
    """How many branches and tags the clone has after a fetch."""

    branches: int
    tags: int


class RepositoryStore(Protocol):
    """Bare clones by repository name. Callers hold the repository's lock for all but reads.

    Failures are LifecycleError: AUTH_FAILED, UNSUPPORTED_REPOSITORY, NO_SPACE, TIMEOUT,
    REPOSITORY_NOT_FOUND (the remote says so, or the clone is gone or damaged); a cancelled
    network verb ends its children and raises Cancelled. Messages quote git's last line, redacted.
    """

    def check_url(self, url: str, allow_http: bool) -> None:
        """INVALID_ARGUMENT unless the URL is one that may be cloned and holds no secret."""
        ...

    def clone(
        self, name: str, url: str, progress: OnProgress, cancel: CancelFlag | None
    ) -> FetchReport:
        """Make the clone whole or not at all; an unfinished earlier one is swept."""
        ...

    def fetch(
        self, name: str, url: str, progress: OnProgress, cancel: CancelFlag | None
    ) -> FetchReport:
        """Bring branches and tags to what the remote has, moved and deleted ones too.

        Keep refs and the commits behind them stay.
        """
        ...

    def healthy(self, name: str) -> bool:
        """Whether there is a complete clone that opens."""
        ...

    def count(self, name: str) -> FetchReport:
        """How many branches and tags the clone has now."""
        ...

    def remove(self, name: str) -> None:
        """Delete the clone and what an unfinished one left; nothing there is fine."""
        ...

    def resolve(self, name: str, ref: str) -> ResolvedRef:
        """Look one ref up, by exact name or commit id, without network.

        A branch means the newest fetched one. REVISION_NOT_FOUND (details repository, ref, near)
        when there is none; INVALID_ARGUMENT (details ``candidates``) when a short name is both a
        branch and a tag, or a short id several commits.
        """
        ...

    def has_commit(self, name: str, revision: str) -> bool:
        """Whether the clone holds this commit with its tree."""
        ...

    def tree_id(self, name: str, revision: str) -> str:
        """The id of the commit's tree."""
        ...

    def keep(self, name: str, revision: str) -> None:
        """Write the ref that no fetch prunes; idempotent."""
        ...

    def unkeep(self, name: str, revision: str) -> None:
        """Delete the keep ref; nothing there is fine."""
        ...

    def kept(self, name: str) -> frozenset[str]:
        """The revisions that keep refs hold."""
        ...
