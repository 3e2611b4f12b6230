"""The rows inside answers, as the wire has them."""

from datetime import UTC, datetime
from typing import Any

from ..model import Member
from ..ports.graph import CallEdge
from ..ports.search import SearchMatch
from ..ports.source import HistoryEntry, Hunk, HunkLine
from .evidence import member_facts
from .text import clean

MAX_SNIPPET = 1_000
MAX_DIFF_LINE = 2_000
MAX_MESSAGE = 4_000


def match_row(member: Member, match: SearchMatch, several: bool) -> dict[str, Any]:
    """``{path, line, snippet, file_name?, snippet_truncated?, repository?, revision?}``."""
    row: dict[str, Any] = {
        "path": clean(match.path),
        "line": match.line,
        "snippet": clean(match.snippet[:MAX_SNIPPET]),
    }
    if match.file_name:
        row["file_name"] = True
    if len(match.snippet) > MAX_SNIPPET:
        row["snippet_truncated"] = True
    return {**row, **member_facts(member)} if several else row


def call_row(edge: CallEdge) -> dict[str, Any]:
    """``{caller, callee, path, line}``."""
    return {
        "caller": clean(edge.caller),
        "callee": clean(edge.callee),
        "path": clean(edge.path),
        "line": edge.line,
    }


def history_row(member: Member, entry: HistoryEntry, several: bool) -> dict[str, Any]:
    """``{commit, path, author, timestamp, message, message_truncated?, repository?}``."""
    message = entry.message.rstrip("\n")
    row: dict[str, Any] = {
        "commit": clean(entry.commit),
        "path": clean(entry.path),
        "author": clean(entry.author),
        "timestamp": utc_seconds(entry.timestamp),
        "message": clean(message[:MAX_MESSAGE]),
    }
    if len(message) > MAX_MESSAGE:
        row["message_truncated"] = True
    if several:
        row["repository"] = clean(member.repository)
    return row


def hunk_head(hunk: Hunk, continued: bool) -> dict[str, Any]:
    """A hunk's ranges; ``continued`` when its first lines were on the page before."""
    head: dict[str, Any] = {
        "old_start": hunk.old_start,
        "old_lines": hunk.old_lines,
        "new_start": hunk.new_start,
        "new_lines": hunk.new_lines,
    }
    if continued:
        head["continued"] = True
    return head


def line_row(line: HunkLine) -> dict[str, Any]:
    """``{kind, content, no_newline?, content_truncated?}``."""
    row: dict[str, Any] = {"kind": str(line.kind), "content": clean(line.content[:MAX_DIFF_LINE])}
    if line.no_newline:
        row["no_newline"] = True
    if len(line.content) > MAX_DIFF_LINE:
        row["content_truncated"] = True
    return row


def utc_seconds(moment: datetime) -> str:
    """RFC 3339 in UTC with whole seconds, ``2026-01-31T09:00:00Z``."""
    # A naive time would be read in this machine's zone, and the answer would depend on it.
    aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return aware.astimezone(UTC).replace(tzinfo=None, microsecond=0).isoformat() + "Z"
