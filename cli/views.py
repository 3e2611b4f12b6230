"""What commands answer with: one JSON record and one set of rows for each thing there is.

The shapes are documented in ``docs/cli.md`` and stay: keys are added, never renamed.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .output import Pairs, Table
from .text import moment, stamp

if TYPE_CHECKING:
    from vacmcpd.managed.contexts import ContextStatus
    from vacmcpd.managed.doctor import Row
    from vacmcpd.managed.graphs import MemberGraph
    from vacmcpd.managed.repositories import RepositoryStatus
    from vacmcpd.model import Member, MemberCoverage
    from vacmcpd.ports.catalogue import BuildRecord, ContextRecord, StepRecord
    from vacmcpd.ports.graph import CallEdge, GraphSummary

NEVER = "never synced"


def repository(status: "RepositoryStatus", clone: Path) -> dict[str, Any]:
    """One repository; ``last_sync_error`` is ``CODE: message`` or null."""
    return {
        "name": status.name,
        "url": status.url,
        "state": str(status.state),
        "path": str(clone),
        "last_sync_at": stamp(status.last_sync_at),
        "last_sync_error": status.last_sync_error or None,
        "branches": status.branches,
        "tags": status.tags,
        "contexts": list(status.contexts),
    }


def repository_table(statuses: Iterable["RepositoryStatus"]) -> Table:
    """A pipe gets name, state, URL, last sync."""
    return Table(
        ("name", "state", "url", "last sync", "branches", "tags", "contexts"),
        tuple(
            (
                status.name,
                str(status.state),
                status.url,
                synced(status),
                str(status.branches),
                str(status.tags),
                str(len(status.contexts)),
            )
            for status in statuses
        ),
        piped=(0, 1, 2, 3),
    )


def repository_pairs(status: "RepositoryStatus", clone: Path) -> Pairs:
    """``repo status``: the reference's keys, then what else there is to know."""
    lines = [
        ("name", status.name),
        ("url", status.url),
        ("state", str(status.state)),
        ("path", str(clone)),
        ("last sync", synced(status)),
        ("contexts", ", ".join(status.contexts) or "none"),
        ("branches", str(status.branches)),
        ("tags", str(status.tags)),
    ]
    if status.last_sync_error:
        lines.append(("last error", status.last_sync_error))
    return Pairs(tuple(lines))


def synced(status: "RepositoryStatus") -> str:
    """When it was last synced, or that it never was."""
    return moment(status.last_sync_at) if status.last_sync_at else NEVER


def context(record: "ContextRecord") -> dict[str, Any]:
    """One context with its pins and what its engines cover."""
    return {
        "name": record.id,
        "state": record.shown_state,
        "generation": record.generation,
        "members": [_member(member) for member in record.members],
        "failure": _failure(record.failure_code, record.failure_message),
        "coverage": _coverage(record),
        "created_at": stamp(record.created_at),
        "updated_at": stamp(record.updated_at),
        "removing_since": stamp(record.removing_since),
    }


def context_status(status: "ContextStatus", graphs: Iterable["MemberGraph"]) -> dict[str, Any]:
    """A context, its call graphs, the command that would repair it, its last build with steps."""
    build = status.last_build
    return {
        **context(status.record),
        "graphs": [_graph(graph) for graph in graphs],
        "repair": status.repair or None,
        "last_build": _build(build) if build else None,
    }


def context_table(records: Iterable["ContextRecord"]) -> Table:
    """A pipe gets name, repository, commit, state: one line a member."""
    return Table(
        ("context", "repository", "ref", "revision", "state", "search", "graph"),
        tuple(
            (
                record.id,
                member.repository,
                member.branch,
                member.revision,
                record.shown_state,
                _label(member, "search"),
                _label(member, "graph"),
            )
            for record in records
            for member in record.members
        ),
        piped=(0, 1, 3, 4),
    )


def pinned_table(record: "ContextRecord", verdict: str) -> Table:
    """A pipe gets name, verdict, repository, commit: one line a member."""
    return Table(
        ("context", "state", "repository", "ref", "revision"),
        tuple(
            (record.id, verdict, member.repository, member.branch, member.revision)
            for member in record.members
        ),
        piped=(0, 1, 2, 4),
    )


def context_pairs(status: "ContextStatus", graphs: Iterable["MemberGraph"]) -> Pairs:
    """``context status``: the reference's keys where they apply, members, the last build."""
    record = status.record
    by_name = {graph.repository: graph for graph in graphs}
    lines = [
        ("name", record.id),
        ("state", record.shown_state),
        ("retry", retry_line(record, status.repair)),
        ("updated", moment(record.updated_at)),
        ("created", moment(record.created_at)),
    ]
    if record.failure_code:
        lines.append(("failure", f"{record.failure_code}: {record.failure_message or ''}"))
    for member in record.members:
        lines += _member_lines(record, member)
        if member.repository in by_name:
            lines += _graph_lines(by_name[member.repository])
    if status.last_build:
        lines += _build_lines(status.last_build)
    return Pairs(tuple(lines))


def edge(repository: str, edge: "CallEdge") -> dict[str, Any]:
    """One call site's edge, both ends by their qualified names."""
    caller, callee = edge.caller_symbol, edge.callee_symbol
    return {
        "caller": caller.qualified_name if caller else edge.caller,
        "callee": callee.qualified_name if callee else edge.callee,
        "kind": str(edge.kind),
        "path": edge.path,
        "line": edge.line,
        "repository": repository,
    }


def retry_line(record: "ContextRecord", repair: str) -> str:
    """Whether something has to be done, and the command that does it."""
    if record.removing_since:
        return f"not needed: {repair or f'vacmcp context remove {record.id}'}"
    if repair:
        return f"needed: {repair}"
    return "not needed" if record.shown_state == "READY" else "not needed: it is being built"


def check(row: "Row") -> dict[str, Any]:
    """One row of ``doctor``."""
    return {
        "section": row.section,
        "name": row.name,
        "verdict": str(row.verdict),
        "detail": row.detail,
        "repair": row.repair or None,
    }


def check_table(rows: Iterable["Row"]) -> Table:
    """A pipe gets name, verdict, detail, then section and repair."""
    return Table(
        ("section", "check", "verdict", "detail", "repair"),
        tuple((row.section, row.name, str(row.verdict), row.detail, row.repair) for row in rows),
        piped=(1, 2, 3, 0, 4),
    )


def _member(member: "Member") -> dict[str, Any]:
    return {
        "repository": member.repository,
        "ref": member.branch,
        "revision": member.revision,
        "search": member.search.label if member.search else None,
        "graph": member.graph.label if member.graph else None,
    }


def _label(member: "Member", kind: str) -> str:
    artifact = member.search if kind == "search" else member.graph
    return artifact.label if artifact else "-"


def _graph(graph: "MemberGraph") -> dict[str, Any]:
    """``files`` and what follows are null where there is no graph, or none that can be read."""
    found = graph.summary
    return {
        "repository": graph.repository,
        "engine": graph.engine,
        "problem": graph.problem or None,
        "files": found.coverage.files if found else None,
        "parsed": found.coverage.searched if found else None,
        "skipped": dict(sorted(found.coverage.skipped.items())) if found else None,
        "languages": [
            {
                "name": language.name,
                "tier": str(language.tier),
                "files": language.files,
                "with_errors": language.with_errors,
            }
            for language in found.languages
        ]
        if found
        else None,
        "call_sites": dict(_sites(found)) if found else None,
    }


def _sites(summary: "GraphSummary") -> list[tuple[str, int]]:
    """By kind, in the order of trust, and what has no kind after them."""
    from vacmcpd.ports.graph import EdgeKind

    order = {str(kind): at for at, kind in enumerate(EdgeKind)}
    return sorted(summary.sites.items(), key=lambda each: (order.get(each[0], len(order)), each[0]))


def _failure(code: str | None, message: str | None) -> dict[str, str] | None:
    return {"code": code, "message": message or ""} if code else None


def _coverage(record: "ContextRecord") -> dict[str, Any] | None:
    if not record.coverage:
        return None
    return {
        "complete": all(member.complete for member in record.coverage),
        "members": [
            {
                "repository": member.repository,
                "revision": member.revision,
                "files": member.files,
                "searched": member.searched,
                "skipped": dict(sorted(member.skipped.items())),
            }
            for member in record.coverage
        ],
    }


def _build(build: "BuildRecord") -> dict[str, Any]:
    return {
        "id": build.id,
        "generation": build.generation,
        "rebuild": build.rebuild,
        "state": str(build.state),
        "created_at": stamp(build.created_at),
        "started_at": stamp(build.started_at),
        "ended_at": stamp(build.ended_at),
        "failure": _failure(build.failure_code, build.failure_message),
        "steps": [_step(step) for step in build.steps],
    }


def _step(step: "StepRecord") -> dict[str, Any]:
    return {
        "step": str(step.step),
        "repository": step.repository,
        "started_at": stamp(step.started_at),
        "ended_at": stamp(step.ended_at),
        "seconds": _seconds(step),
        "outcome": str(step.outcome) if step.outcome else None,
        "counts": dict(sorted(step.counts.items())),
        "message": step.message,
    }


def _seconds(step: "StepRecord") -> float | None:
    if step.ended_at is None:
        return None
    return round((step.ended_at - step.started_at).total_seconds(), 3)


def _member_lines(record: "ContextRecord", member: "Member") -> list[tuple[str, str]]:
    return [
        ("repository", member.repository),
        ("ref", member.branch),
        ("revision", member.revision),
        ("search", _label(member, "search")),
        ("graph", _label(member, "graph")),
        *(
            ("coverage", _covered(found))
            for found in record.coverage
            if found.repository == member.repository
        ),
    ]


def _covered(found: "MemberCoverage") -> str:
    reasons = ", ".join(f"{count} {reason}" for reason, count in sorted(found.skipped.items()))
    return f"{found.searched} of {found.files} files" + (f"; skipped: {reasons}" if reasons else "")


def _graph_lines(graph: "MemberGraph") -> list[tuple[str, str]]:
    if graph.summary is None:
        return [("graph fault", graph.problem)] if graph.problem else []
    lines = [("parsed", _covered(graph.summary.coverage))]
    for language in graph.summary.languages:
        errors = f", {language.with_errors} with errors" if language.with_errors else ""
        words = f"{language.name} ({language.tier}): {language.files} files{errors}"
        lines.append(("language", words))
    sites = ", ".join(f"{count} {kind}" for kind, count in _sites(graph.summary))
    return [*lines, ("call sites", sites or "none")]


def _build_lines(build: "BuildRecord") -> list[tuple[str, str]]:
    what = "rebuild" if build.rebuild else "build"
    lines = [("last build", f"{what} {build.generation} {build.state} {moment(build.created_at)}")]
    if build.rebuild and build.failure_code:
        lines.append(("", f"{build.failure_code}: {build.failure_message or ''}"))
    return lines + [("step", _step_words(step)) for step in build.steps]


def _step_words(step: "StepRecord") -> str:
    seconds = _seconds(step)
    words = [
        f"{step.step:<9}",
        step.repository,
        str(step.outcome or "RUNNING"),
        "-" if seconds is None else f"{seconds:.3f} s",
        *(f"{name}={count}" for name, count in sorted(step.counts.items())),
    ]
    return " ".join(words) + (f" ({step.message})" if step.message else "")
