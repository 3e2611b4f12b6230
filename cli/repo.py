"""``vacmcp repo``: the clones under their names."""

from typing import TYPE_CHECKING, Annotated

import typer

from . import views
from .failures import UsageFailure
from .options import All, DataDir, Json, LockTimeout, MaybeName, Quiet, RepositoryName
from .output import Table, answer
from .session import Outcomes, opened, outcome

if TYPE_CHECKING:
    from vacmcpd.managed.repositories import RepositoryStatus

app = typer.Typer(help="The clones that contexts are pinned in.", rich_markup_mode=None)

Url = Annotated[
    str,
    typer.Option(
        "--url",
        metavar="URL",
        help="https, ssh, file:// or an absolute path; never with a password or token in it.",
        show_default=False,
    ),
]
AllowHttp = Annotated[
    bool, typer.Option("--allow-http", help="Accept plain http to another machine.")
]


@app.command()
def add(
    name: RepositoryName,
    url: Url,
    allow_http: AllowHttp = False,
    as_json: Json = False,
    quiet: Quiet = False,
    lock_timeout: LockTimeout = None,
    data_dir: DataDir = None,
) -> None:
    """Clone a repository into the data directory.

    Git authenticates as it does for you: by ssh agent, ~/.ssh/config or credential helper.
    """
    flags = {"git.allow_http": True} if allow_http else {}
    with opened(data_dir, quiet, lock_timeout, flags) as run, run.activity() as activity:
        status = run.managed.repositories.add(name, url, activity=activity)
        clone = run.managed.data.repository(status.name)
    rows = ((status.name, str(status.state), str(clone)),)
    answer(
        views.repository(status, clone),
        Table(("name", "state", "clone"), rows, piped=(0, 1, 2)),
        as_json,
    )


@app.command("list")
def list_all(as_json: Json = False, quiet: Quiet = False, data_dir: DataDir = None) -> None:
    """List the repositories."""
    with opened(data_dir, quiet) as run:
        statuses = run.managed.repositories.list()
        records = [
            views.repository(status, run.managed.data.repository(status.name))
            for status in statuses
        ]
    answer({"repositories": records}, views.repository_table(statuses), as_json)


@app.command()
def status(
    name: RepositoryName, as_json: Json = False, quiet: Quiet = False, data_dir: DataDir = None
) -> None:
    """Report one repository: its URL, its last sync and the contexts that hold it."""
    with opened(data_dir, quiet) as run:
        found = run.managed.repositories.status(name)
        clone = run.managed.data.repository(found.name)
    answer(views.repository(found, clone), views.repository_pairs(found, clone), as_json)


@app.command()
def sync(
    name: MaybeName = None,
    every: All = False,
    as_json: Json = False,
    quiet: Quiet = False,
    lock_timeout: LockTimeout = None,
    data_dir: DataDir = None,
) -> None:
    """Fetch what the remote has now. No pinned commit moves."""
    if every == (name is not None):
        raise UsageFailure("give either NAME or --all", "repo sync")
    with opened(data_dir, quiet, lock_timeout) as run, run.activity() as activity:
        repositories = run.managed.repositories
        if name is not None:
            found: Outcomes[RepositoryStatus] = [(name, repositories.sync(name, activity=activity))]
        else:
            found = repositories.sync_all(activity=activity)
        data = run.managed.data
    done, failures = outcome(found)
    rows = tuple((item.name, str(item.state), views.synced(item)) for item in done)
    document = {
        "repositories": [views.repository(item, data.repository(item.name)) for item in done]
    }
    table = Table(("name", "state", "last sync"), rows, piped=(0, 1, 2))
    failures.answer(document, table, as_json)


@app.command()
def remove(
    name: RepositoryName,
    as_json: Json = False,
    quiet: Quiet = False,
    lock_timeout: LockTimeout = None,
    data_dir: DataDir = None,
) -> None:
    """Forget a repository and delete its clone. Refused while a context holds it."""
    with opened(data_dir, quiet, lock_timeout) as run, run.activity() as activity:
        run.managed.repositories.remove(name, activity=activity)
    answer(
        {"name": name, "state": "REMOVED"},
        Table(("name", "state"), ((name, "REMOVED"),), piped=(0, 1)),
        as_json,
    )
