"""How a failure ends the process: exit code, two lines for a person, an envelope for a program."""

import json
import sys
from typing import Any

from vacmcpd.errors import BuildCode, VacmcpError, WireCode

from .text import safe

FAILED = 1
USAGE = 2
BUG = 3
LOCKED = 4
NOT_FOUND = 5

_EXITS = {
    str(BuildCode.LOCKED): LOCKED,
    str(WireCode.CONTEXT_NOT_FOUND): NOT_FOUND,
    str(WireCode.REPOSITORY_NOT_FOUND): NOT_FOUND,
    str(WireCode.REVISION_NOT_FOUND): NOT_FOUND,
}
_ADVICE = {
    "CONTEXT_NOT_FOUND": "`vacmcp context list` shows the contexts there are",
    "REPOSITORY_NOT_FOUND": "`vacmcp repo list` shows the repositories there are",
    "REVISION_NOT_FOUND": "`vacmcp repo sync NAME` fetches what the remote has now",
    "SOURCE_MISMATCH": "`vacmcp context rebuild NAME` builds it again from its pinned commit",
    "AUTH_FAILED": "check that `git ls-remote URL` works for this user without a prompt",
    "UNSUPPORTED_REPOSITORY": "check the URL and what git says about the repository",
    "NO_SPACE": "free space on the data directory's file system and run the command again",
    "LOCKED": "wait for the other process to end, or stop it, and run the command again",
    "TIMEOUT": "run the command again, or raise `git.network_timeout` in settings.toml",
    "CANCELLED": "run the command again to finish; nothing half done is served",
    "INTERRUPTED": "`vacmcp context retry NAME` builds it again",
    "ARTIFACT_MISSING": "`vacmcp context rebuild NAME` builds it again from its pinned commit",
}
_ELSEWHERE = "see `vacmcp --help` and docs/cli.md"


class UsageFailure(Exception):
    """A command line that can't be understood: what is wrong with it, and the command's name."""

    def __init__(self, message: str, command: str = "", hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.command = command
        self.hint = hint or f"run `{' '.join(filter(None, ('vacmcp', command, '--help')))}`"


class Unwritten(Exception):
    """The answer could not be written to stdout, and why not."""


def exit_code(error: VacmcpError) -> int:
    """4 for a lock, 5 for what does not exist, 1 for everything else."""
    return _EXITS.get(str(error.code), FAILED)


def two_lines(error: VacmcpError) -> tuple[str, str]:
    """What failed, and what to do about it."""
    failed, advice = _split(error.message)
    return failed, advice or _ADVICE.get(str(error.code), _ELSEWHERE)


def report(error: VacmcpError, as_json: bool) -> None:
    """Say it: the envelope on stdout with ``--json``, else two lines on stderr."""
    if as_json:
        write_json(error.to_wire())
        return
    failed, advice = two_lines(error)
    say(f"vacmcp: {error.code}: {failed}", advice)


def report_usage(error: UsageFailure, as_json: bool) -> None:
    """Say what is wrong with the command line, in the same two shapes."""
    if as_json:
        details = {"command": error.command, "hint": error.hint}
        write_json(envelope("INVALID_ARGUMENT", safe(error.message), details))
        return
    where = f"{error.command}: " if error.command else ""
    say(f"vacmcp: INVALID_ARGUMENT: {where}{error.message}", error.hint)


def report_bug(error: BaseException, log: str, as_json: bool) -> None:
    """One line that names the log; the traceback itself is in there."""
    words = f"this is a bug in vacmcp ({type(error).__name__}); the traceback is in {log}"
    if as_json:
        write_json(envelope("INTERNAL", words, {"log": log}))
        return
    say(f"vacmcp: INTERNAL: {words}")


def envelope(code: str, message: str, details: dict[str, Any]) -> dict[str, Any]:
    """The one shape of a failure."""
    return {"error": {"code": code, "message": message, "details": details}}


def say(*lines: str) -> None:
    """Lines for a person, on stderr."""
    for line in lines:
        sys.stderr.write(safe(line) + "\n")


def write_json(document: Any) -> None:
    """One document on stdout, in ASCII: JSON's own escapes keep a terminal safe."""
    put(json.dumps(document, indent=2, ensure_ascii=True) + "\n")


def put(text: str, *, last: bool = False) -> None:
    """Write to stdout; with ``last`` also flush it. Raises :class:`Unwritten`."""
    try:
        sys.stdout.write(text)
        if last:
            sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        raise Unwritten(error.strerror) from None


def _split(message: str) -> tuple[str, str]:
    """A message is "what failed; what to do"; a semicolon between quotes belongs to the quote."""
    quoted = False
    for at, char in enumerate(message):
        if char == '"':
            quoted = not quoted
        elif char == ";" and not quoted and message[at + 1 : at + 2] == " ":
            return message[:at], message[at + 2 :]
    return message, ""
