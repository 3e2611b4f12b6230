"""Text from elsewhere, made fit for a terminal.

URLs, refs, names and git's own words are chosen by others. What is printed holds no control
character that a terminal would obey and no credential that somebody typed into a URL.
"""

import re
from datetime import UTC, datetime

_HTTP_USER = re.compile(r"(?i)\b(https?://)[^/\s]*@")
_ANY_PASSWORD = re.compile(r"(\b[A-Za-z][A-Za-z0-9+.-]*://[^/\s:@]*):[^/\s]*@")
_SCP_PASSWORD = re.compile(r"(?<![\w:/.-])([\w.-]+):[^\s@/:]+@(?=[\w.-]+:)")
# C0 and C1 controls, DEL, lone surrogates, and what reorders or hides text: zero width and
# direction marks, line and paragraph separators, the byte order mark.
_UNPRINTABLE = re.compile(
    "[\x00-\x1f\x7f-\x9f\xad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ud800-\udfff]"
)
_SHORT = {"\t": r"\t", "\n": r"\n", "\r": r"\r"}


def safe(text: str) -> str:
    """One line of ``text``: credentials in URLs gone, what can't be seen written as an escape."""
    return _UNPRINTABLE.sub(_escape, redacted(text))


def redacted(text: str) -> str:
    """``text`` without the user part of http URLs and the password of any other."""
    text = _HTTP_USER.sub(r"\1***@", text)
    text = _ANY_PASSWORD.sub(r"\1:***@", text)
    return _SCP_PASSWORD.sub(r"\1:***@", text)


def moment(at: datetime) -> str:
    """RFC 3339 in UTC, whole seconds, as the lists show it."""
    return at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def stamp(at: datetime | None) -> str | None:
    """RFC 3339 in UTC with microseconds, as JSON carries it."""
    if at is None:
        return None
    return at.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


def _escape(match: re.Match[str]) -> str:
    char = match.group()
    code = ord(char)
    return _SHORT.get(char) or (f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}")
