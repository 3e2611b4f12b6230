"""What an answer rests on: how many files were looked at, and which were not."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from ..model import Member, MemberCoverage
from .text import clean


@dataclass(frozen=True, slots=True)
class Coverage:
    """``complete`` is false when something that could have been looked at was not."""

    members: tuple[MemberCoverage, ...]
    complete: bool

    def to_wire(self) -> dict[str, Any]:
        """``{complete, members: [{repository, revision, files, searched, skipped}]}``."""
        return {"complete": self.complete, "members": [_row(member) for member in self.members]}


def of_members(members: Iterable[MemberCoverage], *, cut: bool = False) -> Coverage:
    """The coverage of several members; ``cut`` says that a walk stopped early."""
    rows = tuple(members)
    return Coverage(rows, not cut and all(row.complete for row in rows))


def examined(member: Member, files: int) -> MemberCoverage:
    """Coverage of a query that opens what it names and skips nothing."""
    return MemberCoverage(member.repository, member.revision, files, files)


def _row(member: MemberCoverage) -> dict[str, Any]:
    return {
        "repository": clean(member.repository),
        "revision": clean(member.revision),
        "files": member.files,
        "searched": member.searched,
        "skipped": {clean(reason): member.skipped[reason] for reason in sorted(member.skipped)},
    }
