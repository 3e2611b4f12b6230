"""The entry point: the commands as one Typer app, and how each way to end is told.

Only typer is imported here; a command imports what it works with when it runs, because
``vacmcp repo list`` has half a second for everything.
"""

import gc
import os
import sys
import traceback
from collections.abc import Sequence

import typer

from vacmcpd.errors import VacmcpError

from . import config, context, repo, service
from .failures import (
    BUG,
    FAILED,
    USAGE,
    Unwritten,
    UsageFailure,
    exit_code,
    put,
    report,
    report_bug,
    report_usage,
    say,
)
from .signals import SIGNALS, Ended
from .text import redacted

# typer carried click as a dependency first and as a part of itself later: its exception bases are
# reached through the one name that both export.
_PARSING_FAILED: type[Exception] = typer.BadParameter.__mro__[2]

# Imports make many objects and no garbage: at the usual threshold the collector walks them all
# dozens of times before a command has begun.
gc.set_threshold(50_000, 20, 20)

_GROUPS = {"repo": repo.app, "context": context.app, "config": config.app}


def build_app(first_word: str = "") -> typer.Typer:
    """All commands; only one group's when ``first_word`` names it.

    Every parameter of every command gets a converter when the app is called: a command of a
    group need not wait for those of all the others.
    """
    app = typer.Typer(
        name="vacmcp",
        help="Version-aware code intelligence for AI coding agents, answered from pinned commits.",
        add_completion=False,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    )
    if first_word in _GROUPS:
        app.callback()(service.options)
        app.add_typer(_GROUPS[first_word], name=first_word)
        return app
    for name, group in _GROUPS.items():
        app.add_typer(group, name=name)
    service.register(app)
    return app


def main(arguments: Sequence[str] | None = None) -> None:
    """Run one command and end the process with its exit code."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    sys.exit(run(given))


def run(arguments: list[str]) -> int:
    """Run one command; every failure is reported and becomes an exit code."""
    try:
        code = _attempt(arguments)
        put("", last=True)
    except BrokenPipeError:
        _close_stdout()
        return FAILED
    except Unwritten as error:
        _close_stdout()
        say(f"vacmcp: the answer could not be written: {error}")
        return FAILED
    return code


def _attempt(arguments: list[str]) -> int:
    """The last ``except`` is the broad one of the command line: what reaches it is a bug."""
    as_json = "--json" in _before_dashes(arguments)
    SIGNALS.install()
    try:
        app = build_app(arguments[0] if arguments else "")
        outcome = app(args=arguments, prog_name="vacmcp", standalone_mode=False)
        return outcome if isinstance(outcome, int) else 0
    except UsageFailure as error:
        report_usage(error, as_json)
        return USAGE
    except _PARSING_FAILED as error:
        report_usage(_as_usage(error), as_json)
        return USAGE
    except VacmcpError as error:
        report(error, as_json)
        return SIGNALS.exit_code or exit_code(error)
    except (Ended, KeyboardInterrupt):
        return SIGNALS.exit_code or 130
    except (BrokenPipeError, Unwritten):
        raise
    except Exception as error:
        report_bug(error, _write_traceback(arguments), as_json)
        return BUG


def _before_dashes(arguments: list[str]) -> list[str]:
    return arguments[: arguments.index("--")] if "--" in arguments else arguments


def _as_usage(error: Exception) -> UsageFailure:
    """A parsing error as ours: its sentence and the command that it was about."""
    message = str(getattr(error, "format_message", error.__str__)())
    where = getattr(error, "ctx", None)
    path = str(where.command_path) if where is not None else ""
    message = message.rstrip(".")
    return UsageFailure(message[:1].lower() + message[1:], path.removeprefix("vacmcp").strip())


def _write_traceback(arguments: list[str]) -> str:
    """Keep the traceback where the next report of a bug can find it; returns the file."""
    import platform
    import tempfile

    from vacmcpd.version import __version__

    from .session import logs_folder

    words = (
        f"vacmcp {__version__}, Python {platform.python_version()}, {platform.platform()}\n"
        f"{traceback.format_exc()}"
    )
    handle, name = tempfile.mkstemp(prefix="vacmcp-bug-", suffix=".txt", dir=logs_folder(arguments))
    with os.fdopen(handle, "w", encoding="utf-8", errors="backslashreplace") as file:
        file.write("".join(redacted(line) for line in words.splitlines(keepends=True)))
    return name


def _close_stdout() -> None:
    # The reader went away: without this the interpreter complains once more while it exits.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
