"""One attempt to build a context: its steps, what they leave on record, and how it ends.

A step's row is written before its work starts. Repository locks are held around refs and packs
only; the store locks of all members from the first claim to the publication, because a claim
that another builder overtakes in between would be refused. However a build ends, the files that
no generation names are deleted before those locks are given back.
"""

import logging
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, field, replace
from functools import partial

from ..errors import BuildCode, Cancelled, LifecycleError, VacmcpError
from ..model import Artifact, ArtifactKind, BuildState, MemberCoverage, Step, StepOutcome
from ..ports.build_queue import BuildQueue, Claimed
from ..ports.builders import BuildTarget, Built, StoreState
from ..ports.catalogue import BuiltMember, Catalogue, ContextRecord, StoreClaim
from ..ports.faults import FaultPoint, NoFaults
from ..ports.locks import Guard, Locks
from ..ports.repository_store import RepositoryStore
from .activity import Activity
from .clock import Clock, utc_now
from .clones import keep_pins, restore_clone
from .engines import GraphBuilders, SearchBuilders
from .failures import file_failure
from .stores import Stores
from .verification import missing_commit, require_builder, verify_artifact, verify_pin

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Done:
    """What a step has to say."""

    message: str = ""
    counts: Mapping[str, int] = field(default_factory=dict)
    outcome: StepOutcome = StepOutcome.DONE


@dataclass(frozen=True, slots=True)
class Pipeline:
    """Everything a build works with; the defaults of the builders are what contexts record."""

    catalogue: Catalogue
    store: RepositoryStore
    locks: Locks
    queue: BuildQueue
    stores: Stores
    search: SearchBuilders
    graph: GraphBuilders
    lock_timeout: float
    faults: FaultPoint = field(default_factory=NoFaults)
    clock: Clock = utc_now

    def __post_init__(self) -> None:
        if self.search.default.needs_worktree or self.graph.default.needs_worktree:
            raise ValueError("no worktrees are made yet, and a builder needs one")

    def run(self, claimed: Claimed, activity: Activity, verb: str) -> ContextRecord:
        """Build to READY, or record why not and raise it; a cancellation too.

        ``verb`` is the command that others who wait are told of.
        """
        return _Attempt(self, claimed, activity, verb).run()

    def verify(self, target: BuildTarget, search: Artifact | None, graph: Artifact | None) -> None:
        """Raise the first thing about one member that does not hold; writes nothing."""
        verify_pin(self.store, target, self.store.kept(target.repository))
        self._look(self.search, target, search)
        self._look(self.graph, target, graph)

    def _look(
        self, builders: SearchBuilders | GraphBuilders, target: BuildTarget, found: Artifact | None
    ) -> None:
        builder, artifact = require_builder(builders, target, found)
        check = partial(verify_artifact, self.store, builder, target, artifact)
        self.stores.look(target.repository, builders.kind, builder, check)


class _Attempt:
    def __init__(self, pipeline: Pipeline, claimed: Claimed, activity: Activity, verb: str) -> None:
        self._with = pipeline
        self._job = claimed.job
        self._build = claimed.build
        self._activity = activity
        self._verb = verb
        self._search: dict[str, Built] = {}
        self._graph: dict[str, Built] = {}
        self._states: dict[tuple[str, ArtifactKind], StoreState] = {}
        self._open_step: int | None = None
        self._doing = "the build"
        self._ended = False

    def run(self) -> ContextRecord:
        try:
            return self._steps()
        except Cancelled as cancelled:
            self._fail(BuildCode.CANCELLED, f"cancelled in {self._doing}")
            verb = "rebuild" if self._job.rebuild else "retry"
            raise Cancelled(
                f'building context "{self._job.context}" was cancelled; '
                f"`vacmcp context {verb} {self._job.context}` builds it again"
            ) from cancelled
        except VacmcpError as error:
            self._fail(str(error.code), error.message)
            raise
        except OSError as error:
            failure = file_failure(self._doing, error)
            self._fail(failure.code, failure.message)
            raise failure from error
        finally:
            # Neither a bug nor a KeyboardInterrupt may leave a build that claims to run.
            if not self._ended:
                self._fail(BuildCode.INTERRUPTED, f"ended unexpectedly in {self._doing}")

    def _steps(self) -> ContextRecord:
        for step, work in (
            (Step.RESOLVE, self._resolve),
            (Step.CLONE, self._clone),
            (Step.WORKTREE, self._worktree),
        ):
            self._each(step, work)
        with ExitStack() as stack:
            for repository in sorted(target.repository for target in self._job.targets):
                stack.enter_context(self._store_lock(repository))
                stack.callback(self._with.stores.sweep, repository)
            claims = [
                self._claim(target.repository, kind)
                for target in self._job.targets
                for kind in (ArtifactKind.SEARCH, ArtifactKind.GRAPH)
            ]
            self._each(Step.SEARCH, self._index)
            self._each(Step.GRAPH, self._link)
            self._each(Step.VERIFY, self._verify)
            return self._publish(claims)

    def _each(self, step: Step, work: Callable[[BuildTarget], Done]) -> None:
        for target in self._job.targets:
            self._run_step(step, target, work)

    def _run_step(
        self, step: Step, target: BuildTarget, work: Callable[[BuildTarget], Done]
    ) -> None:
        point = f"build.{step.lower()}"
        self._doing = f'{step} of "{target.repository}"'
        self._with.faults.reach(f"{point}.before")
        self._check()
        self._open_step = self._with.catalogue.start_step(
            self._build, step, target.repository, self._with.clock()
        )
        self._with.faults.reach(f"{point}.started")
        self._activity.progress(f"{step} {target.repository}", 0, 0)
        done = work(target)
        self._with.faults.reach(f"{point}.worked")
        self._with.catalogue.finish_step(
            self._open_step, done.outcome, done.counts, done.message, self._with.clock()
        )
        self._open_step = None
        self._with.faults.reach(f"{point}.after")

    def _resolve(self, target: BuildTarget) -> Done:
        store = self._with.store
        with self._repository_lock(target.repository):
            if not store.healthy(target.repository):
                return Done("the clone is missing or damaged", outcome=StepOutcome.SKIPPED)
            self._keep(target)
        return Done(f"{target.branch} is pinned to {target.revision}")

    def _clone(self, target: BuildTarget) -> Done:
        with self._repository_lock(target.repository):
            if self._with.store.healthy(target.repository):
                return Done("the clone is whole", outcome=StepOutcome.SKIPPED)
            report = restore_clone(
                self._with.store,
                self._with.catalogue.repository(target.repository),
                self._with.faults,
                self._activity,
            )
            self._keep(target)
        return Done("cloned again", {"branches": report.branches, "tags": report.tags})

    def _worktree(self, target: BuildTarget) -> Done:
        del target
        return Done("no engine reads files on disk", outcome=StepOutcome.SKIPPED)

    def _index(self, target: BuildTarget) -> Done:
        built = self._search[target.repository] = self._make(self._with.search, target)
        if built.coverage is None or not built.coverage.complete:
            raise LifecycleError(
                BuildCode.ARTIFACT_MISSING,
                f'search did not account for every file of "{target.repository}"; '
                f"run `vacmcp context retry {target.context}`",
                {"context": target.context, "repository": target.repository},
            )
        return Done(built.note, _counts(built.coverage))

    def _link(self, target: BuildTarget) -> Done:
        built = self._graph[target.repository] = self._make(self._with.graph, target)
        counts = dict(built.sites)
        if built.coverage is not None:
            counts |= _counts(built.coverage, "parsed")
        return Done(built.note, counts)

    def _make(self, builders: SearchBuilders | GraphBuilders, target: BuildTarget) -> Built:
        builder, activity = builders.default, self._activity
        state = self._with.stores.state(target.repository, builders.kind, builder)
        built = builder.build(target, state, activity.progress, activity.cancel)
        self._states[target.repository, builders.kind] = replace(
            state,
            files=state.files if built.files is None else built.files,
            live=state.live | {built.artifact.key},
        )
        return built

    def _verify(self, target: BuildTarget) -> Done:
        pipeline, repository = self._with, target.repository
        verify_pin(pipeline.store, target, pipeline.store.kept(repository))
        builders: SearchBuilders | GraphBuilders
        for builders, made in ((pipeline.search, self._search), (pipeline.graph, self._graph)):
            builder, artifact = require_builder(builders, target, made[repository].artifact)
            state = self._states[repository, builders.kind]
            verify_artifact(pipeline.store, builder, target, artifact, state)
        return Done(f"{target.revision} is there, kept and indexed")

    def _publish(self, claims: list[StoreClaim]) -> ContextRecord:
        self._doing = "publication"
        self._with.faults.reach("build.publish.before")
        self._check()
        members = [self._built(target.repository) for target in self._job.targets]
        record = self._with.catalogue.publish(self._build, members, claims, self._with.clock())
        self._ended = True
        self._with.faults.reach("build.publish.after")
        return record

    def _built(self, repository: str) -> BuiltMember:
        search, graph = self._search[repository], self._graph[repository]
        assert search.coverage is not None
        return BuiltMember(
            repository,
            search.artifact,
            graph.artifact,
            search.coverage,
            search.files,
            graph.files,
        )

    def _claim(self, repository: str, kind: ArtifactKind) -> StoreClaim:
        self._with.faults.reach("build.claim.before")
        claim = self._with.catalogue.claim_store(repository, kind)
        self._with.faults.reach("build.claim.after")
        return claim

    def _keep(self, target: BuildTarget) -> None:
        if not self._with.store.has_commit(target.repository, target.revision):
            raise missing_commit(target)
        keep_pins(self._with.catalogue, self._with.store, target.repository, self._with.faults)

    def _check(self) -> None:
        self._activity.check()
        if not self._with.queue.heartbeat(self._build):
            raise Cancelled("the build was cancelled, or recovered by another command")

    def _repository_lock(self, name: str) -> AbstractContextManager[Guard]:
        return self._with.locks.repository(
            name,
            self._verb,
            self._with.lock_timeout,
            self._activity.on_wait,
            self._activity.cancel,
        )

    def _store_lock(self, name: str) -> AbstractContextManager[Guard]:
        return self._with.locks.store(
            name,
            self._verb,
            self._with.lock_timeout,
            self._activity.on_wait,
            self._activity.cancel,
        )

    def _fail(self, code: str, message: str) -> None:
        """Record the end. The caller re-raises what caused it, whatever becomes of the record."""
        self._ended = True
        catalogue, clock = self._with.catalogue, self._with.clock
        try:
            self._with.faults.reach("build.fail.before")
            if self._open_step is not None:
                catalogue.finish_step(self._open_step, StepOutcome.FAILED, {}, message, clock())
            catalogue.fail_build(self._build, BuildState.FAILED, code, message, clock())
            self._with.faults.reach("build.fail.after")
        except (VacmcpError, OSError):
            # A disk too full for the record itself: the next command finds the build ownerless.
            logger.exception("build_failure_not_recorded", extra={"context": self._job.context})


def _counts(coverage: MemberCoverage, read: str = "searched") -> dict[str, int]:
    return {
        "files": coverage.files,
        read: coverage.searched,
        "skipped": sum(coverage.skipped.values()),
    }
