"""What builds and removals do to the store of a repository, under its lock."""

import logging
from collections.abc import Callable
from dataclasses import dataclass, field

from ..errors import VacmcpError
from ..model import ArtifactKind
from ..ports.artifacts import ArtifactStore
from ..ports.builders import StoreState
from ..ports.catalogue import Catalogue
from ..ports.faults import FaultPoint, NoFaults
from .engines import Builder, GraphBuilders, SearchBuilders

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Stores:
    """The stores of all repositories: what the catalogue says of them, and their files."""

    catalogue: Catalogue
    artifacts: ArtifactStore
    faults: FaultPoint = field(default_factory=NoFaults)

    def state(self, repository: str, kind: ArtifactKind, builder: Builder) -> StoreState:
        """The current generation, and what of it this engine's contexts need."""
        return self.catalogue.store_state(repository, kind, builder.engine, builder.engine_version)

    def look(
        self,
        repository: str,
        kind: ArtifactKind,
        builder: Builder,
        check: Callable[[StoreState], None],
    ) -> None:
        """``check`` the current generation, without a lock; raises what it raises.

        A generation that another command replaced meanwhile, whose files it may have swept, is
        no finding: the new one is looked at then.
        """
        while True:
            state = self.state(repository, kind, builder)
            try:
                return check(state)
            except VacmcpError:
                if self.state(repository, kind, builder).files == state.files:
                    raise

    def sweep(self, repository: str) -> None:
        """Delete the files that no generation names.

        It fails nothing: what stays is swept by the next build, removal or recovery.
        """
        try:
            self.faults.reach("store.sweep.before")
            gone = self.artifacts.sweep(repository, self.catalogue.named_files(repository))
            self.faults.reach("store.sweep.after")
        except (VacmcpError, OSError):
            logger.exception("store_not_swept", extra={"repository": repository})
        else:
            logger.debug("store_swept", extra={"repository": repository, "files": gone})

    def prune(self, repository: str, *engines: SearchBuilders | GraphBuilders) -> None:
        """Give up what only contexts needed that are gone or being removed, then sweep.

        It fails nothing: a removal must work on a full disk too, and the next build or removal
        prunes again.
        """
        try:
            for builders in engines:
                for builder in builders.each:
                    self._prune(repository, builders.kind, builder)
        except (VacmcpError, OSError):
            logger.exception("store_not_pruned", extra={"repository": repository})
        self.sweep(repository)

    def _prune(self, repository: str, kind: ArtifactKind, builder: Builder) -> None:
        if not self.catalogue.store_files(repository, kind):
            return
        self.faults.reach("store.prune.before")
        claim = self.catalogue.claim_store(repository, kind)
        state = self.state(repository, kind, builder)
        files = builder.prune(repository, state)
        self.faults.reach("store.prune.worked")
        if files != state.files:
            self.catalogue.publish_store(claim, files)
        self.faults.reach("store.prune.after")
