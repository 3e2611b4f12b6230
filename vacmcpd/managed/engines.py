"""The search engines that contexts may have been built with, by their label."""

from dataclasses import dataclass

from ..model import Artifact
from ..ports.builders import SearchBuilder


@dataclass(frozen=True, slots=True)
class SearchBuilders:
    """``default`` builds; ``others`` verify what they built once, until it is rebuilt."""

    default: SearchBuilder
    others: tuple[SearchBuilder, ...] = ()

    @property
    def each(self) -> tuple[SearchBuilder, ...]:
        """All of them, the default first."""
        return (self.default, *self.others)

    def of(self, artifact: Artifact) -> SearchBuilder | None:
        """The builder that made ``artifact``; None for one of another version of vacmcp."""
        found = (builder for builder in self.each if label_of(builder) == artifact.label)
        return next(found, None)


def label_of(builder: SearchBuilder) -> str:
    """``engine/version``."""
    return f"{builder.engine}/{builder.engine_version}"
