"""The options that commands share, each written once."""

from typing import Annotated

import typer

DataDir = Annotated[
    str | None,
    typer.Option(
        "--data-dir",
        envvar="VACMCP_DATA_DIR",
        metavar="DIR",
        help="Data directory; ~/.vacmcp unless given.",
        show_envvar=True,
        show_default=False,
    ),
]
DemoDir = Annotated[
    str | None,
    typer.Option(
        "--data-dir",
        metavar="DIR",
        help="Keep the demo in this directory; a temporary one unless given.",
        show_default=False,
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Answer with one JSON document.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress, no waiting lines.")]
LockTimeout = Annotated[
    float | None,
    typer.Option(
        "--lock-timeout",
        metavar="SECONDS",
        min=0.0,
        help="How long to wait for another command on the same repository; 0: not at all.",
        show_default=False,
    ),
]
RepositoryName = Annotated[str, typer.Argument(metavar="NAME", help="The repository's name.")]
ContextName = Annotated[str, typer.Argument(metavar="NAME", help="The context's name.")]
MaybeName = Annotated[
    str | None,
    typer.Argument(metavar="[NAME]", help="One of them.", show_default=False),
]
All = Annotated[bool, typer.Option("--all", help="Every one of them.")]
StaticFile = Annotated[
    str | None,
    typer.Option("--config", metavar="FILE", hidden=True),
]
