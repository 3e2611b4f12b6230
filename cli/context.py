"""``vacmcp context``: refs pinned to commits, built and verified."""

from typing import TYPE_CHECKING, Annotated

import typer

from . import views
from .failures import UsageFailure
from .options import All, ContextName, DataDir, Json, LockTimeout, MaybeName, Quiet
from .output import Table, answer
from .session import Outcomes, opened, outcome

if TYPE_CHECKING:
    from vacmcpd.ports.catalogue import ContextRecord

app = typer.Typer(help="Pinned commits that agents ask in.", rich_markup_mode=None)

Repos = Annotated[
    list[str],
    typer.Option(
        "--repo", metavar="REPO", help="A repository; once per member.", show_default=False
    ),
]
Refs = Annotated[
    list[str],
    typer.Option(
        "--ref",
        metavar="REF",
        help="Branch, tag, full ref name or commit id; the nth belongs to the nth --repo.",
        show_default=False,
    ),
]
Repo = Annotated[
    str | None,
    typer.Option(
        "--repo",
        metavar="REPO",
        help="One repository of the context; all of them unless given.",
        show_default=False,
    ),
]
Kinds = Annotated[
    list[str] | None,
    typer.Option(
        "--kind",
        metavar="KIND",
        help="resolved, dispatch, inferred, candidate or external; all of them unless given.",
        show_default=False,
    ),
]


@app.command()
def create(
    name: ContextName,
    repos: Repos,
    refs: Refs,
    as_json: Json = False,
    quiet: Quiet = False,
    lock_timeout: LockTimeout = None,
    data_dir: DataDir = None,
) -> None:
    """Pin one ref of each repository to its commit, and build and verify the context."""
    pairs = _paired(repos, refs)
    with opened(data_dir, quiet, lock_timeout) as run, run.activity() as activity:
        record = run.managed.contexts.create(name, pairs, activity=activity)
    answer(views.context(record), views.pinned_table(record, record.shown_state), as_json)


@app.command("list")
def list_all(as_json: Json = False, quiet: Quiet = False, data_dir: DataDir = None) -> None:
    """List the contexts, one line for each repository that they name."""
    with opened(data_dir, quiet) as run:
        records = run.managed.contexts.list()
    document = {"contexts": [views.context(record) for record in records]}
    answer(document, views.context_table(records), as_json)


@app.command()
def status(
    name: ContextName, as_json: Json = False, quiet: Quiet = False, data_dir: DataDir = None
) -> None:
    """Report one context: its pins, its failure if any, and its last build step by step."""
    with opened(data_dir, quiet) as run:
        found = run.managed.contexts.status(name)
        graphs = run.managed.graphs.summaries(found.record)
    answer(views.context_status(found, graphs), views.context_pairs(found, graphs), as_json)


@app.command()
def graph(
    name: ContextName,
    repo: Repo = None,
    kinds: Kinds = None,
    as_json: Json = False,
    quiet: Quiet = False,
    data_dir: DataDir = None,
) -> None:
    """Write out the call graph: one line for each call site and what it calls. Changes nothing.

    With --json each line is a document of its own, {"caller", "callee", "kind", "path", "line",
    "repository"}: both ends by their qualified names, what is outside the repository as
    `<builtin>.len` or `package.name`.
    """
    from . import graph as writing

    chosen = writing.kinds_of(kinds)
    with opened(data_dir, quiet, recovering=False) as run:
        writing.write(run.managed.graphs.edges(name, repo, chosen), as_json)


@app.command()
def verify(
    name: ContextName, as_json: Json = False, quiet: Quiet = False, data_dir: DataDir = None
) -> None:
    """Check again that everything is of the pinned commits. Changes nothing."""
    with opened(data_dir, quiet, recovering=False) as run:
        record = run.managed.contexts.verify(name)
    document = {**views.context(record), "verified": True}
    answer(document, views.pinned_table(record, "OK"), as_json)


@app.command()
def retry(
    name: ContextName,
    as_json: Json = False,
    quiet: Quiet = False,
    lock_timeout: LockTimeout = None,
    data_dir: DataDir = None,
) -> None:
    """Build a FAILED context again, from the commits that it was pinned to."""
    with opened(data_dir, quiet, lock_timeout) as run, run.activity() as activity:
        record = run.managed.contexts.retry(name, activity=activity)
    answer(views.context(record), views.pinned_table(record, record.shown_state), as_json)


@app.command()
def rebuild(
    name: MaybeName = None,
    every: All = False,
    as_json: Json = False,
    quiet: Quiet = False,
    lock_timeout: LockTimeout = None,
    data_dir: DataDir = None,
) -> None:
    """Build again what READY contexts are served from; the old stays until the new is verified."""
    if every == (name is not None):
        raise UsageFailure("give either NAME or --all", "context rebuild")
    with opened(data_dir, quiet, lock_timeout) as run, run.activity() as activity:
        contexts = run.managed.contexts
        if name is not None:
            found: Outcomes[ContextRecord] = [(name, contexts.rebuild(name, activity=activity))]
        else:
            found = contexts.rebuild_all(activity=activity)
    done, failures = outcome(found)
    tables = [views.pinned_table(record, record.shown_state) for record in done]
    headings = ("context", "state", "repository", "ref", "revision")
    rows = tuple(row for table in tables for row in table.rows)
    document = {"contexts": [views.context(record) for record in done]}
    failures.answer(document, Table(headings, rows, piped=(0, 1, 2, 4)), as_json)


@app.command()
def remove(
    name: ContextName,
    as_json: Json = False,
    quiet: Quiet = False,
    lock_timeout: LockTimeout = None,
    data_dir: DataDir = None,
) -> None:
    """Forget a context and delete what was built for it alone; resumes one that was cut off."""
    with opened(data_dir, quiet, lock_timeout) as run, run.activity() as activity:
        run.managed.contexts.remove(name, activity=activity)
    answer(
        {"name": name, "state": "REMOVED"},
        Table(("name", "state"), ((name, "REMOVED"),), piped=(0, 1)),
        as_json,
    )


def _paired(repos: list[str], refs: list[str]) -> list[tuple[str, str]]:
    if len(repos) != len(refs):
        raise UsageFailure(
            f"{len(repos)} --repo and {len(refs)} --ref do not pair up",
            "context create",
            "give one --ref for each --repo; the nth --ref belongs to the nth --repo",
        )
    return list(zip(repos, refs, strict=True))
