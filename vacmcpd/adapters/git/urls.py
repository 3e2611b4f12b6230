"""Which URLs may be cloned, and how git is told about them.

A URL is checked whole before anything is stored or run, and a refusal never repeats it: it may
hold a secret. Git decodes percent escapes before it splits a URL, so the parts that name a host or
a user may hold none, and a path is judged decoded as well as written.
"""

import ipaddress
import re
import sys
import unicodedata
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import NoReturn
from urllib.parse import quote, unquote

from ...errors import BuildCode, LifecycleError

_LONGEST = 2000
_HOST = r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?"
_ADDRESS = r"\[[0-9A-Fa-f:.]+\]"
_USER = r"[A-Za-z0-9_][A-Za-z0-9._+-]*"
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://(.*)\Z", re.DOTALL)
_AUTHORITY = re.compile(rf"(?:({_USER})@)?({_HOST}|{_ADDRESS})(?::([0-9]{{1,5}}))?\Z")
_SCP = re.compile(rf"(?:({_USER})@)?({_HOST})\Z")
_DRIVE = re.compile(r"[A-Za-z]:[\\/]")
_BAD_ESCAPE = re.compile(r"%(?![0-9A-Fa-f]{2})")
_SCHEMES = frozenset({"https", "http", "ssh", "git", "file", "ftp", "ftps", "ext", "fd"})
_SUPPORTED = (
    "use https://HOST/PATH, ssh://USER@HOST/PATH, USER@HOST:PATH, file:///PATH or an absolute path"
)


@dataclass(frozen=True, slots=True)
class Remote:
    """What a checked URL means to git.

    ``argument`` goes behind ``--`` on git's command line; ``protocols`` is all that
    GIT_ALLOW_PROTOCOL lets the command use, whatever the user's insteadOf settings make of it.
    """

    argument: str
    protocols: str


def check_url(url: str, allow_http: bool) -> None:
    """INVALID_ARGUMENT unless ``url`` may be cloned and holds no secret."""
    parse_url(url, allow_http)


def parse_url(url: str, allow_http: bool) -> Remote:
    """The checked URL. Raises INVALID_ARGUMENT, never quoting the URL.

    ``allow_http`` admits http to hosts other than this machine.
    """
    _check_characters(url)
    schemed = _SCHEME.match(url)
    if schemed is None:
        return _local(url) if _is_local(url) else _scp(url)
    scheme, rest = schemed.group(1).lower(), schemed.group(2)
    if scheme == "file":
        return _file(rest)
    if scheme not in {"https", "http", "ssh"}:
        _refuse(f"its scheme is not supported; {_SUPPORTED}")
    host = _check_network(scheme, rest)
    if scheme == "http":
        if not (allow_http or _is_loopback(host)):
            _refuse("plain http is not protected; use https, or --allow-http if you must")
        return Remote(url, "http:https")
    # Both: a user's insteadOf may turn https into ssh, which is the usual way to private hosts.
    return Remote(url, "https:ssh")


def _check_characters(url: str) -> None:
    if not url:
        _refuse(f"it is empty; {_SUPPORTED}")
    if len(url) > _LONGEST:
        _refuse(f"it is longer than {_LONGEST} characters")
    if url.startswith("-"):
        _refuse("it starts with a dash")
    if url != url.strip() or any(_is_control(char) for char in url):
        _refuse("it holds control characters or spaces at its ends")


def _is_control(char: str) -> bool:
    # Cc, Cf, Cs, Co, Cn, and the line and paragraph separators: nothing that hides or breaks text.
    return unicodedata.category(char)[0] == "C" or char in "\u2028\u2029"


def _check_network(scheme: str, rest: str) -> str:
    """The host of ``https://``, ``http://`` or ``ssh://`` when everything else is in order."""
    # Git takes the last @ before the first slash; so does this, else a password could hide.
    authority, slash, path = rest.partition("/")
    userinfo, at, _ = authority.rpartition("@")
    if ":" in userinfo or (at and scheme != "ssh"):
        _refuse(
            "it holds a user name or password; leave credentials to git's own authentication "
            "(credential helper, ssh key)"
        )
    if "?" in rest or "#" in rest:
        _refuse(
            "it has a query string or fragment, which may be a secret; leave credentials to "
            "git's own authentication"
        )
    matched = _AUTHORITY.match(authority)
    if matched is None or int(matched.group(3) or 1) not in range(1, 65536):
        _refuse("its host, user or port is malformed")
    if not slash or not path.strip("/"):
        _refuse("it names no repository")
    _check_path(path)
    return matched.group(2)


def _check_path(path: str) -> None:
    if "\\" in path or any(char.isspace() for char in path):
        _refuse("its path holds a space or backslash")
    if _BAD_ESCAPE.search(path):
        _refuse("its path holds a % that starts no escape")
    for shown in (path, unquote(path, errors="replace")):
        if any(_is_control(char) for char in shown):
            _refuse("its path holds control characters")
        # GitLab's own routes have a part that is a lone dash; an option is longer than that.
        if any(part.startswith("-") and part != "-" for part in re.split(r"[/:]", shown)):
            _refuse("a part of its path starts with a dash")
        if "@" in shown and re.search(r"[^/]:[^/]*@", shown):
            _refuse("its path looks like it holds a password")


def _scp(url: str) -> Remote:
    authority, colon, path = url.partition(":")
    if not colon or "/" in authority or "\\" in authority:
        _refuse(f"it is no absolute path and no URL; {_SUPPORTED}")
    if path.startswith(":"):
        _refuse(f"remote helpers are not supported; {_SUPPORTED}")
    if "@" in path.partition("/")[0]:
        _refuse(
            "it holds a user name or password; leave credentials to git's own authentication "
            "(credential helper, ssh key)"
        )
    matched = _SCP.match(authority)
    # One letter before the colon is a drive to git on Windows; "https:/x" is a slip of the pen.
    if matched is None or len(matched.group(2)) < 2 or matched.group(2).lower() in _SCHEMES:
        _refuse("its host or user is malformed")
    if not path.strip("/"):
        _refuse("it names no repository")
    if "?" in path or "#" in path:
        _refuse("it has a query string or fragment, which may be a secret")
    _check_path(path)
    return Remote(url, "https:ssh")


def _is_local(url: str) -> bool:
    return url.startswith("/") or bool(sys.platform == "win32" and _DRIVE.match(url))


def _local(path: str) -> Remote:
    if path.startswith("//"):
        _refuse("a path starts with one slash; network shares are not supported")
    posix = path.replace("\\", "/") if sys.platform == "win32" else path
    if not PurePosixPath(posix).name:
        _refuse("it names no repository")
    # As a file URL git goes through upload-pack: no hard links, no alternates, no bundle files.
    return Remote("file://" + quote(posix if posix.startswith("/") else f"/{posix}"), "file")


def _file(rest: str) -> Remote:
    if not rest.startswith("/"):
        _refuse("a file URL names no host: write file:///PATH")
    if "?" in rest or "#" in rest:
        _refuse("it has a query string or fragment; write ? and # in a path as %3F and %23")
    if _BAD_ESCAPE.search(rest):
        _refuse("its path holds a % that starts no escape")
    path = unquote(rest, errors="strict") if _decodes(rest) else _refuse("its path is not UTF-8")
    if any(_is_control(char) for char in path):
        _refuse("its path holds control characters")
    return _local(path)


def _decodes(text: str) -> bool:
    try:
        unquote(text, errors="strict")
    except UnicodeDecodeError:
        return False
    return True


def _is_loopback(host: str) -> bool:
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def _refuse(reason: str) -> NoReturn:
    raise LifecycleError(BuildCode.INVALID_ARGUMENT, f"this URL can't be used: {reason}")
