"""The citation blocks of an answer: which contexts, which lines."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from ..model import Context, Evidence, Location, Member
from .text import clean


@dataclass(frozen=True, slots=True)
class Cited:
    """A citation and the member that it is of."""

    member: Member
    evidence: Evidence


@dataclass(frozen=True, slots=True)
class Side:
    """One side of a comparison. Raises ValueError unless it is of exactly one member."""

    context: Context
    evidence: tuple[Evidence, ...]

    def __post_init__(self) -> None:
        if len(self.context.members) != 1:
            raise ValueError("a side of a comparison is one member of one context")

    def to_wire(self) -> dict[str, Any]:
        """``{context, evidence}``."""
        return {
            "context": context_block(self.context),
            "evidence": [evidence_row(item) for item in self.evidence],
        }


def cite(member: Member, path: str, start: int, end: int, snippet: str = "") -> Cited:
    """A citation of lines ``start`` to ``end``; 0, 0 for the path as a whole."""
    return Cited(member, Evidence(Location(path, start, end), snippet))


def require_members(context: Context) -> None:
    """Raise ValueError for a context that names nothing: no answer can rest on it."""
    if not context.members:
        raise ValueError("a result names the context and at least one member of it")


def context_block(context: Context) -> dict[str, Any]:
    """``{id, repository, branch, revision}``, or ``{id, members: […]}`` for several members."""
    members = context.members
    if len(members) == 1:
        return {"id": clean(context.id), **_member_row(members[0])}
    return {"id": clean(context.id), "members": [_member_row(member) for member in members]}


def evidence_row(evidence: Evidence) -> dict[str, Any]:
    """``{location: {path, start_line, end_line}, snippet?}``."""
    location = evidence.location
    row: dict[str, Any] = {
        "location": {
            "path": clean(location.path),
            "start_line": location.start_line,
            "end_line": location.end_line,
        }
    }
    if evidence.snippet:
        row["snippet"] = clean(evidence.snippet)
    return row


def cited_row(cited: Cited, several: bool) -> dict[str, Any]:
    """An evidence row that names its member where the answer has several."""
    row = evidence_row(cited.evidence)
    return {**row, **member_facts(cited.member)} if several else row


def cited_rows(evidence: Iterable[Cited], members: Sequence[Member]) -> list[dict[str, Any]]:
    """The ``evidence`` list of an answer."""
    several = len(members) > 1
    return [cited_row(item, several) for item in evidence]


def member_facts(member: Member) -> dict[str, Any]:
    """What tells members apart: ``{repository, revision}``."""
    return {"repository": clean(member.repository), "revision": clean(member.revision)}


def _member_row(member: Member) -> dict[str, Any]:
    return {
        "repository": clean(member.repository),
        "branch": clean(member.branch),
        "revision": clean(member.revision),
    }
