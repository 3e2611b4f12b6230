"""From what git printed to a failure of ours, with nothing secret in it."""

import re
from collections.abc import Sequence

from ...errors import BuildCode, LifecycleError


class GitFailed(Exception):
    """A git process ended with another status than 0; never leaves this package."""

    def __init__(self, verb: str, status: int, lines: Sequence[str]) -> None:
        super().__init__(f"git {verb} ended with status {status}")
        self.verb = verb
        self.status = status
        self.lines = tuple(lines)
        """The last lines of its stderr, redacted."""


_SECRETS = (
    (re.compile(r"(?i)\b(authorization|proxy-authorization|cookie)\b\s*[:=].*"), r"\1: ***"),
    (re.compile(r"(?i)(https?://)[^\s/@'\"]+@"), r"\1***@"),
    (re.compile(r"([a-z][a-z0-9+.-]{0,20}://[^\s/:@'\"]*):[^\s/@'\"]*@"), r"\1:***@"),
    (re.compile(r"([a-z][a-z0-9+.-]{0,20}://[^\s?'\"]*)\?[^\s'\"]*"), r"\1?***"),
    (
        re.compile(
            r"(?i)\b([\w-]{0,40}(?:token|password|passwd|secret|api[_-]?key|private[_-]?key|signature))=[^\s&'\"]+"
        ),
        r"\1=***",
    ),
)
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]+")
_LONGEST_LINE = 500
_LONGEST_SEARCHED = 4000


def redact(text: str) -> str:
    """``text`` without user names and passwords of URLs, query strings and header values.

    Control characters become spaces: a remote's own words end up on somebody's terminal.
    """
    # A remote chooses the length, and a search takes its square; what is cut is never shown.
    shown = _CONTROL.sub(" ", text[:_LONGEST_SEARCHED]).strip()
    for pattern, replacement in _SECRETS:
        shown = pattern.sub(replacement, shown)
    return shown if len(shown) <= _LONGEST_LINE else shown[:_LONGEST_LINE] + "…"


# First match wins. ``remote:`` lines are the server's own words and could claim anything, so only
# git's and ssh's are looked at.
_MEANINGS: tuple[tuple[re.Pattern[str], BuildCode, str], ...] = tuple(
    (re.compile(pattern, re.IGNORECASE), code, advice)
    for pattern, code, advice in (
        (
            r"no space left on device|disk quota exceeded|file too large",
            BuildCode.NO_SPACE,
            "free some space and run the command again",
        ),
        (
            r"could not read (username|password)|terminal prompts disabled|authentication failed"
            r"|permission denied(?: \(|, please)|host key verification failed"
            r"|returned error: 40[13]"
            r"|invalid (username|credentials)|access denied|no such identity"
            r"|too many authentication failures",
            BuildCode.AUTH_FAILED,
            "set up git's own authentication for this URL (credential helper, ssh key, known "
            "host) until `git ls-remote URL` works without asking",
        ),
        (
            r"mismatched algorithms|support this repository's object format",
            BuildCode.UNSUPPORTED_REPOSITORY,
            "only repositories with SHA-1 object ids can be read",
        ),
        (
            r"fsck error|error in object|shallow roots",
            BuildCode.UNSUPPORTED_REPOSITORY,
            "the repository holds objects that git refuses as malformed or harmful",
        ),
        (
            r"early eof|unexpected disconnect|rpc failed|remote end hung up|curl \d+",
            BuildCode.REPOSITORY_NOT_FOUND,
            "the connection broke; run the command again",
        ),
        (
            r"index-pack failed|invalid index-pack output",
            BuildCode.UNSUPPORTED_REPOSITORY,
            "what the remote sent is not a whole pack of objects",
        ),
        (
            r"transport '[^']*' not allowed|remote helper|is not a git command",
            BuildCode.UNSUPPORTED_REPOSITORY,
            "a url.*.insteadOf setting of yours may rewrite the URL to one that is not allowed, "
            "or git's helper for this kind of URL is not installed",
        ),
        (
            r"dubious ownership",
            BuildCode.AUTH_FAILED,
            "add that repository's path to safe.directory in your git configuration",
        ),
        (
            r"could not resolve host|couldn't connect|connection (refused|timed out|reset)"
            r"|network is unreachable|operation timed out|no route to host|could not connect",
            BuildCode.REPOSITORY_NOT_FOUND,
            "check the host name and the network",
        ),
    )
)
_GENERAL = "check that the URL names a git repository that you may read"


def lifecycle_error(what: str, failed: GitFailed) -> LifecycleError:
    """What a failed network or ref command means, quoting git's last telling line."""
    for pattern, code, advice in _MEANINGS:
        for line in reversed(failed.lines):
            if not line.startswith("remote:") and pattern.search(line):
                return LifecycleError(code, f"{what} failed: git says: {line}; {advice}")
    return LifecycleError(
        BuildCode.REPOSITORY_NOT_FOUND, f"{what} failed: git says: {last_line(failed)}; {_GENERAL}"
    )


def last_line(failed: GitFailed) -> str:
    """The last line that carries a cause, or the exit status when git said nothing."""
    for line in reversed(failed.lines):
        if line.startswith(("fatal:", "error:", "ERROR:")) and "Could not read from" not in line:
            return line
    return failed.lines[-1] if failed.lines else f"nothing, and ended with status {failed.status}"
