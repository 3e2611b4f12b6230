"""What is in order and what is not, found without writing anything, beside a running server too."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Literal

from ..datadir import DataDirectory
from ..errors import VacmcpError
from ..model import ContextState
from ..ports.artifacts import ArtifactStore, StoredFile
from ..ports.builders import BuildTarget, StoreState
from ..ports.catalogue import Catalogue, ContextRecord, RepositoryRecord
from ..ports.locks import Locks
from ..ports.repository_store import RepositoryStore
from .contexts import repair
from .engines import GraphBuilders, SearchBuilders, label_of
from .place import look_at
from .stores import Stores
from .verification import require_builder, verify_pin

_MEBIBYTE = 1024**2
Verdict = Literal["OK", "WARN", "FAIL", "SKIP"]

_GIT_FIXED = {43: 7, 44: 4, 45: 4, 46: 4, 47: 3, 48: 2, 49: 1, 50: 1}
"""Minor → first patch of git 2 with the fixes of July 2025 (CVE-2025-48384, -48385)."""


@dataclass(frozen=True, slots=True)
class Row:
    """One check. ``repair`` is a command or a deed, "" when there is nothing to mend."""

    section: str
    name: str
    verdict: Verdict
    detail: str
    repair: str = ""


@dataclass(frozen=True, slots=True)
class Grammar:
    """What parses a language; ``version`` "" when it is not installed, ``needed`` if it must be."""

    language: str
    distribution: str
    version: str
    needed: bool


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What the checks look at. ``open_catalogue`` opens it read-only, or raises why not.

    ``artifacts`` compares digests, once for each file; the builders of ``search`` need not do so
    again for each context. ``git_floor`` is the oldest git that works; ``mcp_version`` "" when
    mcp is not installed.
    """

    data: DataDirectory
    open_catalogue: Callable[[], Catalogue]
    store: RepositoryStore
    locks: Locks
    artifacts: ArtifactStore
    search: SearchBuilders
    graph: GraphBuilders
    git_version: Callable[[], tuple[int, ...]]
    git_floor: tuple[int, ...]
    mcp_version: str
    tools: int
    grammars: tuple[Grammar, ...] = ()


def checks(around: Surroundings) -> list[Row]:
    """Every row, in the order that ``vacmcp doctor`` shows them; a FAIL is a check not passed."""
    rows = [_mcp(around), _git(around), _place(around)]
    if not around.data.catalogue.exists():
        rows.append(_no_catalogue(around))
        return [*rows, *_engines(around)]
    try:
        catalogue = around.open_catalogue()
    except VacmcpError as error:
        return [*rows, Row("vacmcp", "catalogue", "FAIL", error.message), *_engines(around)]
    try:
        return [
            *rows,
            _catalogue(catalogue),
            *_engines(around),
            *_repositories(around, catalogue),
            *_stores(around, catalogue),
            *_contexts(around, catalogue),
        ]
    finally:
        catalogue.close()


def failed(rows: list[Row]) -> int:
    """How many checks did not pass."""
    return sum(row.verdict == "FAIL" for row in rows)


def _mcp(around: Surroundings) -> Row:
    if not around.mcp_version:
        return Row("vacmcp", "mcp", "FAIL", "the package is not installed", "pip install mcp")
    return Row("vacmcp", "mcp", "OK", f"{around.mcp_version}, {around.tools} tools")


def _git(around: Surroundings) -> Row:
    try:
        version = around.git_version()
    except VacmcpError as error:
        return Row("vacmcp", "git", "FAIL", error.message, "install git")
    shown = ".".join(str(part) for part in version)
    if version < around.git_floor:
        floor = ".".join(str(part) for part in around.git_floor)
        return Row("vacmcp", "git", "FAIL", f"{shown} is older than {floor}", "upgrade git")
    if not _fixed(version):
        # Distributions carry fixes back without a new number, so this is no failure.
        note = "may lack the fixes of CVE-2025-48384 and CVE-2025-48385, unless the system has them"
        return Row("vacmcp", "git", "WARN", f"{shown} {note}", "upgrade git")
    return Row("vacmcp", "git", "OK", shown)


def _fixed(version: tuple[int, ...]) -> bool:
    major, minor, patch = (*version, 0, 0)[:3]
    if major != 2 or minor > max(_GIT_FIXED):
        return major >= 2
    return minor in _GIT_FIXED and patch >= _GIT_FIXED[minor]


def _place(around: Surroundings) -> Row:
    if not around.data.root.is_dir():
        return Row(
            "vacmcp",
            "data directory",
            "FAIL",
            "it does not exist",
            "`vacmcp repo add NAME --url URL` makes it, or name another with --data-dir",
        )
    found = look_at(around.data.root)
    try:
        holder = around.locks.server_holder()
        lock = f"server running, pid {holder.pid}" if holder else "no server"
    except VacmcpError as error:
        return Row("vacmcp", "data directory", "FAIL", f"{found.detail}, {error.message}")
    return Row("vacmcp", "data directory", found.verdict, f"{found.detail}, {lock}", found.repair)


def _no_catalogue(around: Surroundings) -> Row:
    del around
    return Row(
        "vacmcp", "catalogue", "SKIP", "nothing is managed yet", "vacmcp repo add NAME --url URL"
    )


def _catalogue(catalogue: Catalogue) -> Row:
    try:
        revision, problems = catalogue.revision(), catalogue.integrity()
    except VacmcpError as error:
        return Row("vacmcp", "catalogue", "FAIL", error.message)
    if problems:
        detail = f"revision {revision}, damaged: {'; '.join(problems[:3])}"
        return Row("vacmcp", "catalogue", "FAIL", detail, "restore a backup of the data directory")
    return Row("vacmcp", "catalogue", "OK", f"revision {revision}, integrity ok")


def _engines(around: Surroundings) -> Iterator[Row]:
    for builders in (around.search, around.graph):
        labels = [label_of(builder) for builder in builders.each]
        older = f", serves contexts of {', '.join(labels[1:])} too" if labels[1:] else ""
        yield Row("vacmcp", f"{builders.kind} engine", "OK", f"{labels[0]}{older}")
    yield from _grammars(around)


def _grammars(around: Surroundings) -> Iterator[Row]:
    here = [grammar for grammar in around.grammars if grammar.version]
    if here:
        shown = ", ".join(f"{grammar.language} {grammar.version}" for grammar in here)
        yield Row("vacmcp", "grammars", "OK", shown)
    scoped = [each for each in around.grammars if not each.version and each.needed]
    if scoped:
        names = " ".join(grammar.distribution for grammar in scoped)
        detail = f"none for {', '.join(grammar.language for grammar in scoped)}"
        yield Row("vacmcp", "grammars", "FAIL", detail, f"pip install {names}")
    extra = [each.language for each in around.grammars if not each.version and not each.needed]
    if extra:
        detail = f"none for {', '.join(extra)}, whose files are left out"
        yield Row("vacmcp", "more languages", "SKIP", detail, "pip install 'vacmcp[languages]'")


def _repositories(around: Surroundings, catalogue: Catalogue) -> Iterator[Row]:
    for record in catalogue.repositories():
        yield _repository(around, record)


def _repository(around: Surroundings, record: RepositoryRecord) -> Row:
    command = f"vacmcp repo sync {record.name}"
    if not around.store.healthy(record.name):
        return Row("repositories", record.name, "FAIL", "the clone is gone or damaged", command)
    if record.last_sync_error:
        detail = f"FAILED, last sync: {record.last_sync_error}"
        return Row("repositories", record.name, "FAIL", detail, command)
    when = record.last_sync_at.strftime("%Y-%m-%dT%H:%M:%SZ") if record.last_sync_at else ""
    return Row("repositories", record.name, "OK", f"READY, {when or 'never synced'}")


def _stores(around: Surroundings, catalogue: Catalogue) -> Iterator[Row]:
    stores = Stores(catalogue, around.artifacts)
    for record in catalogue.repositories():
        seen: list[StoredFile] = []
        try:
            for builders in (around.search, around.graph):
                found: list[StoredFile] = []
                check = partial(_verify_all, around.artifacts, record.name, found)
                stores.look(record.name, builders.kind, builders.default, check)
                seen += found
        except VacmcpError as error:
            command = "vacmcp context rebuild --all"
            yield Row("stores", record.name, "FAIL", str(error), command)
            continue
        if seen:
            detail = f"{len(seen)} files, {_amount(sum(file.size for file in seen))}"
            yield Row("stores", record.name, "OK", detail)
        else:
            yield Row("stores", record.name, "SKIP", "no files: nothing is built that needs any")


def _verify_all(
    artifacts: ArtifactStore, name: str, seen: list[StoredFile], state: StoreState
) -> None:
    seen[:] = state.files
    for file in state.files:
        artifacts.verify(name, file)


def _amount(size: int) -> str:
    if size < _MEBIBYTE:
        return f"{size:,} bytes"
    return f"{size / _MEBIBYTE:,.1f} MiB"


def _contexts(around: Surroundings, catalogue: Catalogue) -> Iterator[Row]:
    kept: dict[str, frozenset[str]] = {}
    for record in catalogue.contexts():
        pins = ", ".join(f"{member.repository} {member.revision}" for member in record.members)
        detail = f"{record.shown_state} {pins}"
        if record.removing_since is not None:
            yield Row("contexts", record.id, "SKIP", detail, repair(record))
        elif record.state is ContextState.FAILED:
            reason = f"{record.failure_code}: {record.failure_message}"
            yield Row("contexts", record.id, "FAIL", f"{detail}: {reason}", repair(record))
        elif record.state is ContextState.READY:
            yield _ready(around, catalogue, record, detail, kept)
        else:
            yield _unfinished(around, record, detail)


def _ready(
    around: Surroundings,
    catalogue: Catalogue,
    record: ContextRecord,
    detail: str,
    kept: dict[str, frozenset[str]],
) -> Row:
    try:
        for member in record.members:
            name = member.repository
            if name not in kept:
                kept[name] = around.store.kept(name)
            target = BuildTarget(record.id, name, member.branch, member.revision)
            verify_pin(around.store, target, kept[name])
            stores = Stores(catalogue, around.artifacts)
            builders: SearchBuilders | GraphBuilders
            for builders, made in ((around.search, member.search), (around.graph, member.graph)):
                builder, artifact = require_builder(builders, target, made)
                check = partial(builder.verify, target, artifact)
                stores.look(name, builders.kind, builder, check)
    except VacmcpError as error:
        command = f"vacmcp context rebuild {record.id}"
        return Row("contexts", record.id, "FAIL", f"{detail}: {error}", command)
    return Row("contexts", record.id, "OK", detail)


def _unfinished(around: Surroundings, record: ContextRecord, detail: str) -> Row:
    if not around.locks.build_is_dead(record.id):
        return Row("contexts", record.id, "SKIP", f"{detail}: being built")
    command = f"vacmcp context retry {record.id}"
    return Row("contexts", record.id, "FAIL", f"{detail}: its builder ended", command)
