"""Answers on stdout: a table on a terminal, tab-separated lines in a pipe, or JSON."""

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .failures import put, write_json
from .text import safe

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

KEY_WIDTH = 12
_FOLDABLE = 24  # a commit id of 40 characters, or an address, still reads well in two lines
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
        console = terminal()
        console.print(drawn(shown, console.width))
    else:
        _piped(shown)


def line(text: str) -> None:
    """One line of an answer."""
    put(safe(text) + "\n")


def terminal(stderr: bool = False) -> "Console":
    """Rich's console without its guesses: no markup, no emoji, no highlighting."""
    from rich.console import Console

    stream = sys.stderr if stderr else sys.stdout
    # Rich obeys FORCE_COLOR in a pipe, too; a pipe gets no colour here, whatever is set.
    forced = None if stream.isatty() else False
    return Console(stderr=stderr, markup=False, emoji=False, highlight=False, force_terminal=forced)


def drawn(table: Table, width: int) -> "RenderableType":
    """The table for a terminal; long values fold rather than lose characters.

    Where columns would fold into shreds, one line a value under each other is read more easily.
    """
    from rich import box
    from rich.table import Table as Drawing
    from rich.text import Text

    if not table.rows:
        return Text("none", style="dim")
    if _natural_width(table) - _FOLDABLE > width:
        return Text("\n\n".join(_block(table, row) for row in table.rows))
    drawing = Drawing(box=box.SIMPLE_HEAD, pad_edge=False)
    for heading in table.headings:
        drawing.add_column(heading, overflow="fold")
    for row in table.rows:
        drawing.add_row(*(Text(safe(cell), style=_STYLES.get(cell, "")) for cell in row))
    return drawing


def _natural_width(table: Table) -> int:
    lines = (table.headings, *table.rows)
    widest = (max(len(safe(line[at])) for line in lines) for at in range(len(table.headings)))
    return sum(width + 2 for width in widest)


def _block(table: Table, row: tuple[str, ...]) -> str:
    cells = zip(table.headings, row, strict=True)
    return "\n".join(f"{heading:<{KEY_WIDTH}}{safe(cell)}".rstrip() for heading, cell in cells)


def _piped(table: Table) -> None:
    for row in table.rows:
        put("\t".join(safe(row[column]) for column in table.piped) + "\n")


def _pairs(pairs: Pairs) -> None:
    for key, value in pairs.lines:
        put(f"{key:<{KEY_WIDTH}}{safe(value)}".rstrip() + "\n")
