"""Cases of a language: sources, the edges they have, the edges they must not have."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from textwrap import dedent

from vacmcpd.adapters.syntax.snapshot import graph_of
from vacmcpd.ports.graph import CallEdge, EdgeKind

_EDGE = re.compile(
    r"(?P<caller>.+?) -> (?P<callee>.+?)(?: \[(?P<kind>[a-z]+)\])?(?: :(?P<line>\d+))?"
)


@dataclass(frozen=True, slots=True)
class Case:
    """``files`` by path; edges as ``caller -> callee``, qualified names.

    An edge may say its kind (``[dispatch]``; resolved or dispatch without) and line (``:3``), in
    this order. ``never`` are in no kind but candidate; either side may be ``*``. ``exact`` says
    that ``edges`` are all the internal ones, of any kind.
    """

    name: str
    files: dict[str, str]
    edges: tuple[str, ...] = ()
    never: tuple[str, ...] = ()
    exact: bool = False


def check(case: Case) -> None:
    """Raise AssertionError, with every edge there is, unless the case holds."""
    files = {path: dedent(text).encode() for path, text in case.files.items()}
    found = graph_of(files)
    shown = "\n".join(_shown(edge) for edge in found)
    wanted = [_parse(text) for text in case.edges]
    missing = [
        text for text, edge in zip(case.edges, wanted, strict=True) if not _any(found, *edge)
    ]
    assert not missing, f"{case.name}: missing {missing} in\n{shown}"
    wrong = [text for text in case.never if _present(found, *_parse(text)[:2])]
    assert not wrong, f"{case.name}: must not have {wrong} in\n{shown}"
    if case.exact:
        expected = {edge[:2] for edge in wanted}
        inner = (edge for edge in found if edge.kind is not EdgeKind.EXTERNAL)
        extra = sorted({_pair(edge) for edge in inner} - expected)
        assert not extra, f"{case.name}: more than expected {extra} in\n{shown}"


def _parse(text: str) -> tuple[str, str, str | None, int | None]:
    match = _EDGE.fullmatch(text)
    assert match is not None, f"not an edge: {text}"
    line = match["line"]
    return match["caller"], match["callee"], match["kind"], int(line) if line else None


def _any(
    edges: Iterable[CallEdge], caller: str, callee: str, kind: str | None, line: int | None
) -> bool:
    return any(
        _pair(edge) == (caller, callee)
        and (edge.kind == kind if kind else edge.kind != EdgeKind.INFERRED)
        and (line is None or edge.line == line)
        for edge in edges
    )


def _present(edges: Iterable[CallEdge], caller: str, callee: str) -> bool:
    return any(
        caller in ("*", source) and callee in ("*", target) for source, target in map(_pair, edges)
    )


def _pair(edge: CallEdge) -> tuple[str, str]:
    assert edge.caller_symbol is not None
    assert edge.callee_symbol is not None
    return edge.caller_symbol.qualified_name, edge.callee_symbol.qualified_name


def _shown(edge: CallEdge) -> str:
    source, target = _pair(edge)
    return f"  {source} -> {target} [{edge.kind}] :{edge.line} ({edge.path})"
