"""What a command that ended without a word left behind, found and put right.

Run by every command that opens the directory for change and by the server at its start. It may
run twice, beside itself and beside live builders: what is alive holds a lock, and is left alone.
"""

import logging
import os
import re
from collections.abc import Iterator
from pathlib import Path

from ..datadir import DataDirectory
from ..errors import BuildCode, IllegalTransition, LifecycleError, Locked
from ..model import BuildState, ContextState
from ..names import check_name
from ..ports.artifacts import ArtifactStore
from ..ports.build_queue import BuildQueue
from ..ports.catalogue import BuildRecord, Catalogue
from ..ports.faults import FaultPoint, NoFaults
from ..ports.locks import Locks
from ..ports.repository_store import RepositoryStore
from .activity import QUIET
from .clock import Clock, utc_now
from .stores import Stores

logger = logging.getLogger(__name__)

# A clone, or what the making or removing of one left (`adapters/git/clone.py`).
_CLONE = re.compile(r"\.tmp-(?P<part>.+)-[0-9a-f]{16}|(?P<whole>.+)\.git")


def recover(
    catalogue: Catalogue,
    queue: BuildQueue,
    locks: Locks,
    store: RepositoryStore,
    artifacts: ArtifactStore,
    data: DataDirectory,
    *,
    faults: FaultPoint | None = None,
    clock: Clock = utc_now,
) -> tuple[str, ...]:
    """The contexts found interrupted, now FAILED (a rebuilt one stays READY); idempotent."""
    reach = (faults or NoFaults()).reach
    reach("recover.before")
    suspects = {
        build.context for build in catalogue.running_builds() if not queue.alive(build.id)
    } | {
        record.id
        for record in catalogue.contexts()
        if record.state is ContextState.PENDING and record.removing_since is None
    }
    found = []
    for context in sorted(suspects):
        reach("recover.context.before")
        if _settle(catalogue, locks, context, clock):
            found.append(context)
        reach("recover.context.after")
    _sweep_clones(catalogue, locks, store, data)
    stores = Stores(catalogue, artifacts, faults or NoFaults())
    for repository in catalogue.repositories():
        _sweep_store(stores, locks, data, repository.name)
    _remove_stores(stores, locks, data)
    reach("recover.after")
    return tuple(found)


def _settle(catalogue: Catalogue, locks: Locks, context: str, clock: Clock) -> bool:
    """Whether ``context`` was interrupted.

    The lock is held over the look and the write: a builder of it that starts meanwhile waits.
    """
    try:
        with locks.build(context, "recovery"):
            builds = [build for build in catalogue.running_builds() if build.context == context]
            for build in builds:
                catalogue.fail_build(
                    build.id, BuildState.INTERRUPTED, BuildCode.INTERRUPTED, _died(build), clock()
                )
            return bool(builds) or _fail_unbuilt(catalogue, context, clock)
    except Locked:
        return False


def _fail_unbuilt(catalogue: Catalogue, context: str, clock: Clock) -> bool:
    message = f"interrupted before its build began; run `vacmcp context retry {context}`"
    try:
        catalogue.fail_unbuilt(context, BuildCode.INTERRUPTED, message, clock())
    except IllegalTransition:
        return False  # its builder ended it between the look and the lock
    except LifecycleError as error:
        if error.code is BuildCode.CONTEXT_NOT_FOUND:
            return False  # removed meanwhile
        raise
    return True


def _died(build: BuildRecord) -> str:
    running = [step for step in build.steps if step.ended_at is None]
    last = (running or list(build.steps))[-1:]
    when = "before its first step"
    if last:
        word = "in" if running else "after"
        when = f'{word} {last[0].step} of "{last[0].repository}"'
    command = "rebuild" if build.rebuild else "retry"
    return f"{build.owner} ended {when}; run `vacmcp context {command} {build.context}`"


def _sweep_clones(
    catalogue: Catalogue, locks: Locks, store: RepositoryStore, data: DataDirectory
) -> None:
    """Remove what lies under the name of no repository, unless somebody is at work on it."""
    if not data.repositories.is_dir():
        return
    known = {record.name.lower() for record in catalogue.repositories()}
    names = {_name_of(entry.name) for entry in data.repositories.iterdir()} - {""}
    for name in sorted(names):
        if name.lower() in known:
            continue
        try:
            with locks.repository(name, "recovery", 0, QUIET.on_wait):
                rows = {record.name.lower() for record in catalogue.repositories()}
                if name.lower() not in rows:
                    store.remove(name)
                    logger.info("clone_swept", extra={"repository": name})
        except Locked:
            continue  # an add is at work


def _sweep_store(stores: Stores, locks: Locks, data: DataDirectory, name: str) -> None:
    """Delete what a builder or a removal that died left, unless somebody is at work there."""
    # Looked at without the lock, because nearly always nothing is left and every command asks.
    found = set(_files(data.store(name)))
    if not found or found <= stores.catalogue.named_files(name):
        return
    try:
        with locks.store(name, "recovery", 0, QUIET.on_wait):
            stores.sweep(name)
    except Locked:
        return


def _remove_stores(stores: Stores, locks: Locks, data: DataDirectory) -> None:
    """Remove the stores of no repository: a removal died between its row and its files."""
    if not data.stores.is_dir():
        return
    for entry in sorted(data.stores.iterdir()):
        if _is_name(entry.name) and not _is_known(stores.catalogue, entry.name):
            try:
                with locks.store(entry.name, "recovery", 0, QUIET.on_wait):
                    if not _is_known(stores.catalogue, entry.name):
                        stores.artifacts.remove(entry.name)
                        logger.info("store_removed", extra={"repository": entry.name})
            except Locked:
                continue


def _files(folder: Path) -> Iterator[str]:
    if folder.is_dir():
        with os.scandir(folder) as entries:
            yield from (each.name for each in entries if not each.is_dir(follow_symlinks=False))


def _is_known(catalogue: Catalogue, name: str) -> bool:
    return name.lower() in {record.name.lower() for record in catalogue.repositories()}


def _name_of(entry: str) -> str:
    """The repository whose clone, or part of one, is called ``entry``; "" for a stranger."""
    match = _CLONE.fullmatch(entry)
    if match is None:
        return ""
    name = match["whole"] or match["part"]
    return name if _is_name(name) else ""


def _is_name(text: str) -> bool:
    try:
        check_name("repository", text)
    except LifecycleError:
        return False
    return True
