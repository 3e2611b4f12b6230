"""``docs/cli.md``, made from the Typer app and from the views: ``python -m vacmcpd.cli.reference``.

A test compares the document with this, so an option that nobody wrote down can't exist.
"""

import inspect
import json
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import typer

from . import views
from .app import build_app

_AT = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
_COMMIT = "8af31e2c8d0a4f1b6e5d3c2a90b7f4e1d6c8a3b5"
_WHY = "the clone lost objects of the pinned commit"

_INTRODUCTION = """\
# Command line

<!-- Made by `python -m vacmcpd.cli.reference`; a test compares. -->

Answers go to stdout, progress and errors to stderr. On a terminal an answer is a table; in a pipe
it is tab-separated lines without colour and without headings, the columns in the order given with
each command; with `--json` it is one JSON document, in ASCII (of `context graph` one a line).
`status` commands print `key value` lines in both. `NO_COLOR` is honoured. Control characters in
what others chose (URLs, refs, names, git's words) are printed as escapes, and a credential in a URL
as `***`.

`--data-dir` comes first, then `VACMCP_DATA_DIR`, then `~/.vacmcp`. A data directory that belongs
to another user is refused with the `sudo -u` line that works. Every setting can also come from
`settings.toml` in the data directory or from `VACMCP_TABLE_KEY` in the environment; `vacmcp
config show` says which one holds.

A command that changes something waits its turn on a repository and says once for whom;
`--lock-timeout` bounds it. `context create`, `retry`, `rebuild`, `remove` and `repo remove` are
refused while a server runs. SIGINT and SIGTERM end git and the build, record what became of it
and exit; a second one exits at once.

## Exit codes

| code | meaning |
|---|---|
| 0 | done |
| 1 | failed |
| 2 | the command line can't be understood |
| 3 | a bug in vacmcp; the traceback is in the file that is named |
| 4 | somebody else holds a lock: a running server, or another command past `--lock-timeout` |
| 5 | the context, repository or revision does not exist |
| 130, 143 | ended by SIGINT, SIGTERM |

## Errors

Two lines on stderr, what failed and what to do:

```
vacmcp: REPOSITORY_NOT_FOUND: repository "nope" is not managed here
`vacmcp repo list` shows the repositories there are
```

With `--json` the same as one document on stdout, and nothing else there:

```json
{"error": {"code": "REPOSITORY_NOT_FOUND", "message": "…", "details": {"repository": "nope"}}}
```

The codes are those of `docs/errors.md`; `INTERNAL` stands for a bug. When `--all` fails for some,
the document has `error` (the first one), what was done, and `failures`: `[{"name": …, "error":
{…}}]`.
"""

_PIPED = {
    "repo add": "name, state, clone",
    "repo list": "name, state, URL, last sync or `never synced`",
    "repo sync": "name, state, last sync; one line for each that was synced",
    "repo remove": "name, `REMOVED`",
    "context create": "name, state, repository, commit; one line a member",
    "context retry": "name, state, repository, commit; one line a member",
    "context rebuild": "name, state, repository, commit; one line a member",
    "context graph": "caller, callee, kind, path, line, repository; one line a call",
    "context verify": "name, `OK`, repository, commit; one line a member",
    "context list": "name, repository, commit, state; one line a member",
    "context remove": "name, `REMOVED`",
    "config show": "setting, value, where it came from",
    "doctor": "check, verdict, detail, section, repair",
    "version": "the version",
}

_ANSWERS = {
    "repo add": "a repository",
    "repo list": '`{"repositories": [a repository, …]}`',
    "repo status": "a repository",
    "repo sync": '`{"repositories": [a repository, …]}`',
    "repo remove": '`{"name": "…", "state": "REMOVED"}`',
    "context create": "a context",
    "context list": '`{"contexts": [a context, …]}`',
    "context status": "a context, with `graphs`, `repair` and `last_build`",
    "context graph": "a call on each line, by repository, path and line",
    "context verify": 'a context, with `"verified": true`',
    "context retry": "a context",
    "context rebuild": '`{"contexts": [a context, …]}`',
    "context remove": '`{"name": "…", "state": "REMOVED"}`',
    "config show": '`{"settings": {"table.key": {"value": …, "origin": '
    '"default" | "file" | "environment" | "flag"}}}`',
    "config schema": "the JSON Schema itself",
    "doctor": '`{"ok": bool, "summary": "…", "checks": [a check, …]}`',
    "demo": '`{"ok": bool, "seconds": n, "checks": […], "questions": […]}`',
    "version": '`{"version": "…"}`',
}


def document() -> str:
    """The whole text."""
    parts = [_INTRODUCTION, "## Commands\n"]
    parts += [_command(path, command) for path, command in commands()]
    parts += ["## JSON records\n", *_records()]
    return "\n".join(parts)


def commands() -> Iterator[tuple[str, Any]]:
    """Every command by its words, in the order of the help."""
    root: Any = typer.main.get_command(build_app())
    for name, found in root.commands.items():
        inner = getattr(found, "commands", None)
        if inner is None:
            yield name, found
        else:
            yield from ((f"{name} {verb}", command) for verb, command in inner.items())


def _command(path: str, command: Any) -> str:
    shown = [parameter for parameter in command.params if not getattr(parameter, "hidden", False)]
    positional = [each for each in shown if each.param_type_name == "argument"]
    options = [each for each in shown if each.param_type_name == "option"]
    words = "".join(f" {_argument(each)}" for each in positional)
    required = "".join(f" {_spelled(each)}" for each in options if each.required)
    lines = [f"### `vacmcp {path}{words}{required}`\n", f"{inspect.cleandoc(command.help)}\n"]
    lines += ["| option | meaning |", "|---|---|"]
    lines += [f"| `{_spelled(each)}` | {_meaning(each)} |" for each in options]
    lines.append("")
    if path in _PIPED:
        lines.append(f"In a pipe: {_PIPED[path]}.\n")
    if path in _ANSWERS:
        lines.append(f"JSON: {_ANSWERS[path]}.\n")
    return "\n".join(lines)


def _argument(parameter: Any) -> str:
    return "NAME" if parameter.required else "[NAME]"


def _spelled(parameter: Any) -> str:
    words = ", ".join(sorted(parameter.opts, key=len, reverse=True))
    return words if parameter.is_flag else f"{words} {parameter.metavar}"


def _meaning(parameter: Any) -> str:
    more = " Repeatable." if parameter.multiple else ""
    return f"{parameter.help}{more}".replace("|", "\\|")


def _records() -> Iterator[str]:
    yield "Times are RFC 3339 in UTC, commit ids full. Keys may be added, none renamed.\n"
    for title, record in _samples():
        yield f"### {title}\n"
        yield f"```json\n{json.dumps(record, indent=2)}\n```\n"


def _samples() -> Iterator[tuple[str, dict[str, Any]]]:
    """One record of each kind, made by the code that makes the real ones."""
    from vacmcpd.managed.contexts import ContextStatus
    from vacmcpd.managed.doctor import Row
    from vacmcpd.managed.repositories import RepositoryStatus

    repository = RepositoryStatus(
        name="backend",
        url="https://git.example.com/team/backend.git",
        state="READY",
        last_sync_at=_AT,
        last_sync_error="",
        contexts=("backend-v1",),
        branches=12,
        tags=34,
    )
    yield "A repository", views.repository(repository, Path("/home/me/.vacmcp/repos/backend.git"))
    status = ContextStatus(_context(), _build(), "vacmcp context retry backend-v1")
    yield (
        "A context, as `context status` reports it",
        views.context_status(status, [_graph()]),
    )
    yield "A line of `context graph`", views.edge("backend", _edge())
    row = Row("repositories", "backend", "FAIL", "AUTH_FAILED: …", "vacmcp repo sync backend")
    yield "A check of `doctor`", views.check(row)


def _context() -> Any:
    from vacmcpd.model import Artifact, ArtifactKind, ContextState, Member, MemberCoverage
    from vacmcpd.ports.catalogue import ContextRecord

    search, graph = (
        Artifact(kind, "embedded", "1", "0" * 40, _COMMIT)
        for kind in (ArtifactKind.SEARCH, ArtifactKind.GRAPH)
    )
    return ContextRecord(
        id="backend-v1",
        state=ContextState.FAILED,
        generation=2,
        members=(Member("backend", "release/1.x", _COMMIT, search, graph),),
        created_at=_AT,
        updated_at=_AT + timedelta(minutes=1),
        removing_since=None,
        failure_code="SOURCE_MISMATCH",
        failure_message=_WHY,
        coverage=(MemberCoverage("backend", _COMMIT, 120, 117, {"binary": 2, "submodule": 1}),),
    )


def _graph() -> Any:
    from vacmcpd.managed.graphs import MemberGraph
    from vacmcpd.model import MemberCoverage
    from vacmcpd.ports.graph import GraphSummary, LanguageCoverage, Tier

    skipped = {"unsupported_language": 19, "too_large": 1}
    languages = (
        LanguageCoverage("go", Tier.SCOPED, 90, 1),
        LanguageCoverage("bash", Tier.BY_NAME, 10, 0),
    )
    sites = {"resolved": 800, "dispatch": 40, "inferred": 12, "external": 600, "unresolved": 30}
    coverage = MemberCoverage("backend", _COMMIT, 120, 100, skipped)
    return MemberGraph("backend", "embedded/1", GraphSummary(coverage, languages, sites))


def _edge() -> Any:
    from vacmcpd.ports.graph import CallEdge, EdgeKind, Symbol

    caller = Symbol("Serve", "example.com/backend/api.Server.Serve", "api/server.go", 40, "method")
    callee = Symbol("Println", "fmt.Println", "", 0, "external")
    return CallEdge("Serve", "Println", "api/server.go", 44, EdgeKind.EXTERNAL, caller, callee)


def _build() -> Any:
    from vacmcpd.model import BuildState, Step, StepOutcome
    from vacmcpd.ports.catalogue import BuildRecord, StepRecord

    later = _AT + timedelta(seconds=2.5)
    step = StepRecord(
        1, Step.VERIFY, "backend", _AT, later, StepOutcome.FAILED, {"files": 120}, _WHY
    )
    return BuildRecord(
        id="b2",
        context="backend-v1",
        generation=2,
        rebuild=False,
        state=BuildState.FAILED,
        owner="pid 1",
        created_at=_AT,
        started_at=_AT,
        ended_at=later,
        failure_code="SOURCE_MISMATCH",
        failure_message=_WHY,
        steps=(step,),
    )


if __name__ == "__main__":
    sys.stdout.write(document())
