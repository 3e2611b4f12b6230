"""What turns a pinned commit into artifacts."""

from dataclasses import dataclass
from typing import Protocol

from ..model import Artifact, MemberCoverage
from .budget import CancelFlag
from .repository_store import OnProgress


@dataclass(frozen=True, slots=True)
class BuildTarget:
    """One member of a build, as plain data."""

    context: str
    repository: str
    branch: str
    revision: str


@dataclass(frozen=True, slots=True)
class Built:
    """What a builder made. ``note`` is shown with the step when there is something to say."""

    artifact: Artifact
    coverage: MemberCoverage | None
    note: str = ""


class SearchBuilder(Protocol):
    """Builds and verifies one engine's search artifact. Every method may run twice."""

    engine: str
    engine_version: str
    needs_worktree: bool

    def build(self, target: BuildTarget, progress: OnProgress, cancel: CancelFlag | None) -> Built:
        """Index the tree; every path is indexed or counted as skipped."""
        ...

    def verify(self, target: BuildTarget, artifact: Artifact) -> None:
        """SOURCE_MISMATCH or ARTIFACT_MISSING unless the artifact is of the pinned commit."""
        ...


class GraphBuilder(Protocol):
    """Builds and verifies one engine's call graph; the same promises as a search builder."""

    engine: str
    engine_version: str
    needs_worktree: bool

    def build(self, target: BuildTarget, progress: OnProgress, cancel: CancelFlag | None) -> Built:
        """Build the graph of the tree."""
        ...

    def verify(self, target: BuildTarget, artifact: Artifact) -> None:
        """SOURCE_MISMATCH or ARTIFACT_MISSING unless the graph is of the pinned commit."""
        ...
