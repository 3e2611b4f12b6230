"""Answers on stdout: a table on a terminal, tab-separated lines in a pipe, or JSON."""

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .failures import write_json
from .text import safe

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

KEY_WIDTH = 12
_STYLES = {
    "READY": "green",
    "OK": "green",
    "DONE": "green",
    "FAILED": "red",
    "FAIL": "red",
    "INTERRUPTED": "red",
    "REMOVING": "yellow",
    "WARN": "yellow",
    "PENDING": "yellow",
    "BUILDING": "cyan",
    "SKIP": "dim",
    "SKIPPED": "dim",
}


@dataclass(frozen=True, slots=True)
class Table:
    """Rows under headings. ``piped`` are the columns of a pipe, by index and in its order."""

    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    piped: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Pairs:
    """``key  value`` lines, the same on a terminal and in a pipe."""

    lines: tuple[tuple[str, str], ...]


def answer(document: dict[str, Any], shown: Table | Pairs, as_json: bool) -> None:
    """Write one answer in the form that was asked for."""
    if as_json:
        write_json(document)
    elif isinstance(shown, Pairs):
        _pairs(shown)
    elif sys.stdout.isatty():
        terminal().print(drawn(shown))
    else:
        _piped(shown)


def line(text: str) -> None:
    """One line of an answer."""
    sys.stdout.write(safe(text) + "\n")


def terminal(stderr: bool = False) -> "Console":
    """Rich's console without its guesses: no markup, no emoji, no highlighting."""
    from rich.console import Console

    return Console(stderr=stderr, markup=False, emoji=False, highlight=False)


def drawn(table: Table) -> "RenderableType":
    """The table for a terminal; long values fold rather than lose characters."""
    from rich import box
    from rich.table import Table as Drawing
    from rich.text import Text

    if not table.rows:
        return Text("none", style="dim")
    drawing = Drawing(box=box.SIMPLE_HEAD, pad_edge=False)
    for heading in table.headings:
        drawing.add_column(heading, overflow="fold")
    for row in table.rows:
        drawing.add_row(*(Text(safe(cell), style=_STYLES.get(cell, "")) for cell in row))
    return drawing


def _piped(table: Table) -> None:
    for row in table.rows:
        sys.stdout.write("\t".join(safe(row[column]) for column in table.piped) + "\n")


def _pairs(pairs: Pairs) -> None:
    for key, value in pairs.lines:
        sys.stdout.write(f"{key:<{KEY_WIDTH}}{safe(value)}".rstrip() + "\n")
