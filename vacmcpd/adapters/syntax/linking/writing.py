"""A file's call sites as columns, and back."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from .records import INFERRED, RESOLVED, Edges
from .sites import Site, is_silent, name_of
from .units import Unit


@dataclass(slots=True)
class Row:
    """One call site: kinds by the key of the target, external names, why it is open."""

    targets: dict[str, int] = field(default_factory=dict)
    outside: set[str] = field(default_factory=set)
    reason: int = 0


_NOTHING = Row()


def row_of(site: Site) -> Row:
    """``site`` without what only the linker knows."""
    return Row({made.key: kind for made, kind in site.targets.items()}, site.outside, site.reason)


def first_rows(edges: Edges) -> dict[int, Row]:
    """The rows that the first round found, from the columns of all rounds."""
    rows: dict[int, Row] = {}
    for site, callee, kind in zip(edges.site, edges.callee, edges.kind, strict=True):
        if kind != INFERRED:
            rows.setdefault(site, Row()).targets[edges.symbols[callee]] = kind
    columns = (edges.external_site, edges.external_name, edges.external_kind)
    for site, name, kind in zip(*columns, strict=True):
        if kind != INFERRED:
            rows.setdefault(site, Row()).outside.add(edges.names[name])
    for site, reason in zip(edges.open_site, edges.open_reason, strict=True):
        rows.setdefault(site, Row()).reason = reason
    return rows


def edges_of(unit: Unit, first: Mapping[int, Row], last: Mapping[int, Row]) -> Edges:
    """The columns of a file: ``first`` of every site, ``last`` of those that rest on parameters.

    What only a later round found is inferred.
    """
    symbols: dict[str, int] = {}
    names: dict[str, int] = {}
    found: list[list[int]] = [[] for _ in range(5)]
    outside: list[list[int]] = [[] for _ in range(5)]
    untold: list[list[int]] = [[] for _ in range(5)]
    for number, (scope, call, line) in enumerate(unit.sites):
        row = first.get(number, _NOTHING)
        final = last.get(number, row)
        if final is _NOTHING and is_silent(call):
            continue
        caller = scope.caller.number
        kinds = {**dict.fromkeys(final.targets, INFERRED), **row.targets}
        for key in sorted(kinds):
            symbol = symbols.setdefault(key, len(symbols))
            _append(found, (number, caller, symbol, kinds[key], line))
        if is_silent(call):
            continue
        for text in sorted(row.outside | final.outside):
            name = names.setdefault(text, len(names))
            kind = RESOLVED if text in row.outside else INFERRED
            _append(outside, (number, caller, name, kind, line))
        if not kinds and not row.outside and not final.outside:
            name = names.setdefault(name_of(call), len(names))
            _append(untold, (number, caller, name, final.reason, line))
    return Edges(list(symbols), list(names), *found, *outside, *untold)


def _append(columns: list[list[int]], row: tuple[int, int, int, int, int]) -> None:
    for column, value in zip(columns, row, strict=True):
        column.append(value)
