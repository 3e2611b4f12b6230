"""The rows inside answers, as the wire has them."""

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

from ..model import Member
from ..ports.graph import CallEdge, LanguageCoverage, Symbol, UntracedSites
from ..ports.search import SearchMatch
from ..ports.source import HistoryEntry, Hunk, HunkLine
from .evidence import member_facts
from .text import clean, shown_name

MAX_SNIPPET = 1_000
MAX_DIFF_LINE = 2_000
MAX_MESSAGE = 4_000


def match_row(
    member: Member, match: SearchMatch, several: bool, context_cut: bool = False
) -> dict[str, Any]:
    """``{path, line, snippet, columns, bytes, before?, after?, snippet_truncated?, …}``.

    ``columns`` are 1-based characters of the snippet and ``bytes`` 0-based bytes of its UTF-8,
    the end exclusive. The name of a file is ``{path, snippet, file_name, …}``. ``context_cut``
    says that lines around the match were left out; ``context_truncated`` tells of it, and of
    lines that are cut. ``repository`` and ``revision`` where there are ``several`` members.
    """
    path, shown = clean(match.path), clean(match.snippet[:MAX_SNIPPET])
    row: dict[str, Any]
    if match.file_name:
        row = {"path": path, "snippet": shown, "file_name": True}
    else:
        columns, within = shown_span(shown, *match.span)
        row = {
            "path": path,
            "line": match.line,
            "snippet": shown,
            "columns": columns,
            "bytes": within,
        }
    if match.before or match.after:
        row |= _around(match)
    if len(match.snippet) > MAX_SNIPPET:
        row["snippet_truncated"] = True
    if context_cut:
        row["context_truncated"] = True
    return {**row, **member_facts(member)} if several else row


def match_evidence(
    member: Member, match: SearchMatch, row: dict[str, Any], several: bool
) -> dict[str, Any]:
    """The citation of a match, made of its ``row``: what :func:`cited_row` would make anew."""
    location = {"path": row["path"], "start_line": match.line, "end_line": match.line}
    cited: dict[str, Any] = {"location": location}
    if row["snippet"]:
        cited["snippet"] = row["snippet"]
    return {**cited, **member_facts(member)} if several else cited


def _around(match: SearchMatch) -> dict[str, Any]:
    around: dict[str, Any] = {}
    for key, lines in (("before", match.before), ("after", match.after)):
        if lines:
            around[key] = [clean(line[:MAX_SNIPPET]) for line in lines]
        if any(len(line) > MAX_SNIPPET for line in lines):
            around["context_truncated"] = True
    return around


def shown_span(shown: str, start: int, end: int) -> tuple[list[int], list[int]]:
    """Columns and bytes of a span, as far as ``shown`` reaches.

    A character that the span holds a part of counts as a whole.
    """
    if shown.isascii():
        first, last = min(start, len(shown)), min(end, len(shown))
        return [first + 1, last + 1], [first, last]
    raw = shown.encode("utf-8")
    first, last = min(start, len(raw)), min(end, len(raw))
    before = len(raw[:first].decode("utf-8", "ignore"))
    until = len(raw[:last].decode("utf-8", "replace"))
    return [before + 1, until + 1], [first, last]


def call_row(edge: CallEdge) -> dict[str, Any]:
    """``{caller, callee, path, line, kind, …}``, the place being that of the call.

    What is known of either function comes as ``caller_qualified_name``, ``caller_line`` and the
    same of the callee, with ``callee_path``; ``caller_path`` only where it is not ``path``.
    """
    row: dict[str, Any] = {
        "caller": shown_name(edge.caller),
        "callee": shown_name(edge.callee),
        "path": clean(edge.path),
        "line": edge.line,
        "kind": str(edge.kind),
    }
    for end, symbol in (("caller", edge.caller_symbol), ("callee", edge.callee_symbol)):
        if symbol is None:
            continue
        row[f"{end}_qualified_name"] = shown_name(symbol.qualified_name)
        if symbol.path and not (end == "caller" and symbol.path == edge.path):
            row[f"{end}_path"] = clean(symbol.path)
        if symbol.line:
            row[f"{end}_line"] = symbol.line
    return row


def definition_row(symbol: Symbol) -> dict[str, Any]:
    """``{qualified_name, path, line, kind}``."""
    return {
        "qualified_name": shown_name(symbol.qualified_name),
        "path": clean(symbol.path),
        "line": symbol.line,
        "kind": clean(symbol.kind),
    }


def language_rows(languages: Iterable[LanguageCoverage]) -> list[dict[str, Any]]:
    """``{name, tier, files, with_errors?}`` of each language."""
    rows = []
    for language in languages:
        row = {
            "name": clean(language.name),
            "tier": str(language.tier),
            "files": language.files,
        }
        if language.with_errors:
            row["with_errors"] = language.with_errors
        rows.append(row)
    return rows


def sites_row(sites: UntracedSites) -> dict[str, int]:
    """``{unresolved, candidate, inferred, external}``."""
    return {
        "unresolved": sites.unresolved,
        "candidate": sites.candidate,
        "inferred": sites.inferred,
        "external": sites.external,
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
