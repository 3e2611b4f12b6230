"""The commands at the top: serve, doctor, demo, version."""

import sys
from typing import Annotated

import typer

from . import views
from .failures import FAILED, UsageFailure, say
from .options import DataDir, DemoDir, Json, Quiet, StaticFile
from .output import answer, line
from .session import opened, root_of, settings_of

Managed = Annotated[bool, typer.Option("--managed", help="Work on a managed data directory.")]
Stdio = Annotated[bool, typer.Option("--stdio", help="Serve one client on stdin and stdout.")]
Address = Annotated[
    str | None,
    typer.Option(
        "--address",
        metavar="HOST:PORT",
        help="Where to listen; 127.0.0.1:8080 unless set.",
        show_default=False,
    ),
]
Serve = Annotated[bool, typer.Option("--serve", help="Leave the server running until Ctrl-C.")]


def _show_version(asked: bool) -> None:
    if asked:
        version()
        raise typer.Exit


ShowVersion = Annotated[
    bool,
    typer.Option("--version", callback=_show_version, is_eager=True, help="Print the version."),
]


def register(app: typer.Typer) -> None:
    """Add the commands to ``app``."""
    app.callback()(options)
    app.command()(serve)
    app.command()(doctor)
    app.command()(demo)
    app.command()(version)


def options(show_version: ShowVersion = False) -> None:
    """Version-aware code intelligence for AI coding agents, answered from pinned commits."""
    del show_version


def serve(
    managed: Managed = False,
    stdio: Stdio = False,
    address: Address = None,
    config: StaticFile = None,
    quiet: Quiet = False,
    data_dir: DataDir = None,
) -> None:
    """Serve the READY contexts over MCP.

    Streamable HTTP at --address, or one client on stdin and stdout with --stdio.
    """
    del quiet
    _only_managed("serve", managed, config)
    if stdio and address is not None:
        raise UsageFailure("give either --stdio or --address, not both", "serve")
    from vacmcpd.server.managed import serve_http, serve_stdio

    overrides = {} if address is None else {"server.address": address}
    settings = settings_of(data_dir, overrides).settings
    root = root_of(data_dir)
    if stdio:
        raise typer.Exit(serve_stdio(root, settings))
    raise typer.Exit(serve_http(root, settings, settings.server.address))


def doctor(
    managed: Managed = False,
    config: StaticFile = None,
    as_json: Json = False,
    quiet: Quiet = False,
    data_dir: DataDir = None,
) -> None:
    """Check what vacmcp stands on, then every repository and context. Writes nothing."""
    _only_managed("doctor", managed, config)
    from vacmcpd.managed.doctor import failed

    with opened(data_dir, quiet, recovering=False, make=False) as run:
        rows = run.managed.doctor()
    bad = failed(rows)
    words = f"{bad} of {len(rows)} checks did not pass"
    document = {
        "ok": not bad,
        "summary": words if bad else f"all {len(rows)} checks passed",
        "checks": [views.check(row) for row in rows],
    }
    answer(document, views.check_table(rows), as_json)
    if bad:
        if not as_json:
            sys.stdout.flush()
            say(f"vacmcp: doctor: {words}")
        raise typer.Exit(FAILED)


def demo(
    leave_serving: Serve = False,
    as_json: Json = False,
    quiet: Quiet = False,
    data_dir: DemoDir = None,
) -> None:
    """Ask both releases of a small repository the same questions, through a real client."""
    from .demo import run

    raise typer.Exit(run(data_dir, serve=leave_serving, as_json=as_json, quiet=quiet))


def version(as_json: Json = False, quiet: Quiet = False, data_dir: DataDir = None) -> None:
    """Print the version."""
    del quiet, data_dir
    from vacmcpd.version import __version__

    from .failures import write_json

    if as_json:
        write_json({"version": __version__})
    else:
        line(__version__)


def _only_managed(command: str, managed: bool, config: str | None) -> None:
    if config is not None:
        raise UsageFailure(
            "--config: this version has no static mode",
            command,
            f"use `vacmcp {command} --managed`; `vacmcp repo add` and `vacmcp context create` "
            "fill its data directory",
        )
    if not managed:
        raise UsageFailure(
            f"say what to {'serve' if command == 'serve' else 'check'}",
            command,
            f"run `vacmcp {command} --managed`; `vacmcp demo` shows it on a small repository",
        )
