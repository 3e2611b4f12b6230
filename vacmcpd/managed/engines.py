"""The engines of one kind that contexts may have been built with, by their label."""

from dataclasses import dataclass
from typing import Generic, TypeVar

from ..model import Artifact, ArtifactKind
from ..ports.builders import GraphBuilder, SearchBuilder

Builder = SearchBuilder | GraphBuilder
_B = TypeVar("_B", bound=Builder)


@dataclass(frozen=True, slots=True)
class Builders(Generic[_B]):
    """``default`` builds; ``others`` verify what they built once, until it is rebuilt."""

    kind: ArtifactKind
    default: _B
    others: tuple[_B, ...] = ()

    @property
    def each(self) -> tuple[_B, ...]:
        """All of them, the default first."""
        return (self.default, *self.others)

    def of(self, artifact: Artifact) -> _B | None:
        """The builder that made ``artifact``; None for one of another version of vacmcp."""
        found = (builder for builder in self.each if label_of(builder) == artifact.label)
        return next(found, None)


SearchBuilders = Builders[SearchBuilder]
GraphBuilders = Builders[GraphBuilder]


def label_of(builder: Builder) -> str:
    """``engine/version``."""
    return f"{builder.engine}/{builder.engine_version}"
