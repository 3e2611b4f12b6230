"""What turns a pinned commit into artifacts."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from ..model import Artifact, MemberCoverage
from .artifacts import StoredFile
from .budget import CancelFlag
from .graph import LanguageCoverage
from .repository_store import OnProgress


@dataclass(frozen=True, slots=True)
class BuildTarget:
    """One member of a build, as plain data."""

    context: str
    repository: str
    branch: str
    revision: str


@dataclass(frozen=True, slots=True)
class StoreState:
    """A store's current generation as the catalogue has it.

    ``files`` are its files, ``live`` the keys of this engine's artifacts that contexts of the
    repository name now.
    """

    files: tuple[StoredFile, ...] = ()
    live: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Built:
    """What a builder made. ``note`` is shown with the step when there is something to say.

    ``files`` is the store's next generation, whole; None leaves the current one as it is.
    ``languages`` and ``sites`` (call sites by kind) are what a call graph has to say of itself.
    """

    artifact: Artifact
    coverage: MemberCoverage | None
    note: str = ""
    files: tuple[StoredFile, ...] | None = None
    languages: tuple[LanguageCoverage, ...] = ()
    sites: Mapping[str, int] = field(default_factory=dict)


class SearchBuilder(Protocol):
    """Builds and verifies one engine's search artifact. Every method may run twice.

    The caller holds the store's lock over :meth:`build` and :meth:`prune` and publishes what they
    return, or throws it away.
    """

    engine: str
    engine_version: str
    needs_worktree: bool

    def build(
        self,
        target: BuildTarget,
        store: StoreState,
        progress: OnProgress,
        cancel: CancelFlag | None,
    ) -> Built:
        """Index the tree; every path is indexed or counted as skipped.

        What ``store`` holds is used again where it is whole, and made anew where it is damaged.
        """
        ...

    def verify(self, target: BuildTarget, artifact: Artifact, store: StoreState) -> None:
        """SOURCE_MISMATCH or ARTIFACT_MISSING unless the artifact is whole and of the commit."""
        ...

    def prune(self, repository: str, store: StoreState) -> tuple[StoredFile, ...]:
        """The files of a generation that serves ``store.live`` and nothing else.

        Equal to ``store.files`` when there is nothing to gain.
        """
        ...


class GraphBuilder(Protocol):
    """Builds and verifies one engine's call graph; the same promises as a search builder.

    An engine without a store is handed an empty one and returns ``files`` None.
    """

    engine: str
    engine_version: str
    needs_worktree: bool

    def build(
        self,
        target: BuildTarget,
        store: StoreState,
        progress: OnProgress,
        cancel: CancelFlag | None,
    ) -> Built:
        """Build the graph of the tree; every file is parsed or counted as skipped."""
        ...

    def verify(self, target: BuildTarget, artifact: Artifact, store: StoreState) -> None:
        """SOURCE_MISMATCH or ARTIFACT_MISSING unless the graph is whole and of the commit."""
        ...

    def prune(self, repository: str, store: StoreState) -> tuple[StoredFile, ...]:
        """The files of a generation that serves ``store.live`` and nothing else."""
        ...
