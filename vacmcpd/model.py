"""The values that every part shares: contexts, members, scopes, artifacts, coverage."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum


class ContextState(StrEnum):
    """What a managed context is; only READY is served."""

    PENDING = "PENDING"
    """Recorded with its pins, waiting for a builder."""
    BUILDING = "BUILDING"
    """A builder that holds the build's lock is at work."""
    READY = "READY"
    """Every member was verified against its pinned commit."""
    FAILED = "FAILED"
    """A step failed, was cancelled or lost its owner; code and reason are kept."""


class BuildState(StrEnum):
    """What became of one attempt to build a context."""

    QUEUED = "QUEUED"
    RUNNING = "RUNNING"
    SUCCEEDED = "SUCCEEDED"
    FAILED = "FAILED"
    INTERRUPTED = "INTERRUPTED"


class Step(StrEnum):
    """The steps of a build, in order, each done per member."""

    RESOLVE = "RESOLVE"
    CLONE = "CLONE"
    WORKTREE = "WORKTREE"
    SEARCH = "SEARCH"
    GRAPH = "GRAPH"
    VERIFY = "VERIFY"


class StepOutcome(StrEnum):
    """How a build step ended; a step without one is still running or was cut off."""

    DONE = "DONE"
    SKIPPED = "SKIPPED"
    FAILED = "FAILED"
    INTERRUPTED = "INTERRUPTED"


class ArtifactKind(StrEnum):
    """What a builder makes for a member."""

    SEARCH = "search"
    GRAPH = "graph"


@dataclass(frozen=True, slots=True)
class Artifact:
    """What a builder made of one commit.

    ``key`` is what the artifact was made from (a tree id for search); ``revision`` the commit it
    was made of. A query compares both with the pinned commit before it trusts the artifact.
    """

    kind: ArtifactKind
    engine: str
    engine_version: str
    key: str
    revision: str

    @property
    def label(self) -> str:
        """``engine/version``, as ``context list`` shows it."""
        return f"{self.engine}/{self.engine_version}"


@dataclass(frozen=True, slots=True)
class Member:
    """One repository at one commit.

    ``branch`` is the ref that was asked for, ``revision`` the full commit id it was pinned to.
    """

    repository: str
    branch: str
    revision: str
    search: Artifact | None = None
    graph: Artifact | None = None


@dataclass(frozen=True, slots=True)
class Context:
    """An immutable scope: an id and the members it names, in the order they were given."""

    id: str
    members: tuple[Member, ...]


@dataclass(frozen=True, slots=True)
class Scope:
    """What a provider is handed: one member of one context, and nothing else to answer from."""

    context: str
    member: Member

    @property
    def repository(self) -> str:
        """The member's repository, by its managed name."""
        return self.member.repository

    @property
    def revision(self) -> str:
        """The member's full commit id."""
        return self.member.revision


@dataclass(frozen=True, slots=True)
class MemberCoverage:
    """How much of one member an answer rests on.

    ``files`` = ``searched`` + the sum of ``skipped``, whose keys are reasons (``binary``,
    ``too_large``, ``lfs_pointer``, ``submodule``, …).
    """

    repository: str
    revision: str
    files: int
    searched: int
    skipped: Mapping[str, int] = field(default_factory=dict)

    @property
    def complete(self) -> bool:
        """Whether every file was looked at or counted as skipped."""
        return self.files == self.searched + sum(self.skipped.values())


@dataclass(frozen=True, slots=True)
class Location:
    """A range of 1-based lines of one path; 0, 0 when the evidence is the path as a whole."""

    path: str
    start_line: int
    end_line: int


@dataclass(frozen=True, slots=True)
class Evidence:
    """One citation: where, and the text that stands there when it is short."""

    location: Location
    snippet: str = ""
