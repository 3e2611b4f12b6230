"""One command's session: the data directory found, checked and opened, and closed again."""

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import typer

from vacmcpd.errors import VacmcpError

from .failures import FAILED, UsageFailure, exit_code, report, say, write_json
from .identity import refuse_unusable, unusable
from .output import Table, answer
from .signals import SIGNALS

if TYPE_CHECKING:
    from vacmcpd.composition import Managed
    from vacmcpd.managed.activity import Activity
    from vacmcpd.settings import Loaded, Settings

_SHORTEST_WAIT = 0.001
T = TypeVar("T")
Outcomes = Sequence[tuple[str, T | VacmcpError]]
"""What became of several things done one after another, each by its name."""


@dataclass(frozen=True, slots=True)
class Session:
    """An open data directory."""

    managed: "Managed"
    quiet: bool

    @contextmanager
    def activity(self) -> Iterator["Activity"]:
        """Progress, waits and the flag that a signal sets, for as long as a change takes."""
        from vacmcpd.managed.activity import Activity

        from .narrator import Narrator

        with Narrator(self.quiet) as narrator, SIGNALS.tidying() as cancel:
            yield Activity(narrator.progress, narrator.waiting, cancel)


@dataclass(frozen=True, slots=True)
class Failures:
    """What failed out of several that were done one after another."""

    errors: tuple[tuple[str, VacmcpError], ...]

    def answer(self, document: dict[str, Any], table: Table, as_json: bool) -> None:
        """Show what was done; then each failure, and the exit code of the first."""
        if not self.errors:
            answer(document, table, as_json)
            return
        if as_json:
            failures = [{"name": name, **error.to_wire()} for name, error in self.errors]
            write_json({**self.errors[0][1].to_wire(), **document, "failures": failures})
        elif table.rows:
            answer(document, table, as_json)
        if not as_json:
            for _, error in self.errors:
                report(error, as_json=False)
        raise typer.Exit(exit_code(self.errors[0][1]) if len(self.errors) == 1 else FAILED)


def outcome(found: Outcomes[T]) -> tuple[list[T], Failures]:
    """Apart what was done and what failed, each in its order."""
    done = [item for _, item in found if not isinstance(item, VacmcpError)]
    failed = [(name, item) for name, item in found if isinstance(item, VacmcpError)]
    return done, Failures(tuple(failed))


@contextmanager
def opened(
    data_dir: str | None,
    quiet: bool,
    lock_timeout: float | None = None,
    flags: Mapping[str, Any] | None = None,
    recovering: bool = True,
    make: bool = True,
) -> Iterator[Session]:
    """The services over the data directory; builds whose owner died are found first.

    A command that promises to change nothing leaves such builds alone, and makes no folder.
    Raises INVALID_ARGUMENT for another user's directory and for settings that can't be read.
    """
    overrides = dict(flags or {})
    if lock_timeout is not None:
        # Settings know no wait of 0; who asks for none gets one that nobody notices.
        overrides["locks.timeout"] = max(lock_timeout, _SHORTEST_WAIT)
    loaded = settings_of(data_dir, overrides)
    managed = _open(root_of(data_dir), loaded.settings, make=make)
    try:
        for context in managed.recover() if recovering else ():
            if not quiet:
                say(f'vacmcp: found that the last build of context "{context}" was cut off')
        yield Session(managed, quiet)
    finally:
        managed.close()


def settings_of(data_dir: str | None, overrides: Mapping[str, Any]) -> "Loaded":
    """The settings that hold for one command, and where each came from."""
    from vacmcpd import settings
    from vacmcpd.datadir import DataDirectory

    root = root_of(data_dir)
    refuse_unusable(root)
    return settings.load(DataDirectory(root), os.environ, overrides)


def root_of(data_dir: str | None) -> Path:
    """The data directory asked for, absolute; an empty name asks for the default one."""
    try:
        if data_dir:
            return Path(data_dir).expanduser().absolute()
        return Path.home() / ".vacmcp"
    except RuntimeError as error:
        raise UsageFailure(f"no home directory to find the data directory in: {error}") from None


def logs_folder(arguments: Sequence[str]) -> str | None:
    """Where a bug's traceback goes: the data directory's logs, else the temporary folder."""
    from vacmcpd.datadir import DataDirectory

    chosen = os.environ.get("VACMCP_DATA_DIR")
    for at, word in enumerate(arguments):
        if word == "--data-dir":
            chosen = "".join(arguments[at + 1 : at + 2])
        elif word.startswith("--data-dir="):
            chosen = word.partition("=")[2]
    logs = DataDirectory(root_of(chosen)).logs
    return str(logs) if os.access(logs, os.W_OK) else None


def _open(root: Path, settings: "Settings", *, make: bool) -> "Managed":
    from vacmcpd.composition import Managed, open_managed
    from vacmcpd.datadir import DataDirectory

    try:
        return open_managed(root, settings) if make else Managed(DataDirectory(root), settings)
    except OSError as error:
        raise unusable(root, error) from None
