r"""Paths inside a tree: bytes in git, text in an answer, one spelling each.

A path that is UTF-8 and does not start with a double quote is written as it is. Any other is
written the way git quotes it: between double quotes, with ``\ooo`` for bytes that are not UTF-8
and ``\"`` and ``\\`` escaped. Reading reverses it, so that every path an answer names can be
asked for again and no two paths share a spelling.
"""

import posixpath
import re

from .errors import invalid_argument

_QUOTED = re.compile(rb'"(?:[^"\\]|\\["\\abfnrtv]|\\[0-3][0-7]{2})*"\Z')
_ESCAPE = re.compile(rb'\\(["\\abfnrtv]|[0-3][0-7]{2})')
_NAMED = {b"a": b"\a", b"b": b"\b", b"f": b"\f", b"n": b"\n", b"r": b"\r", b"t": b"\t", b"v": b"\v"}


def to_text(path: bytes) -> str:
    """The one spelling of ``path`` in answers."""
    try:
        text = path.decode("utf-8")
    except UnicodeDecodeError:
        pass
    else:
        if not text.startswith('"'):
            return text
    shown = path.decode("utf-8", "surrogateescape")
    escaped = "".join(
        f"\\{char}" if char in '"\\' else _octal(char) if "\udc80" <= char <= "\udcff" else char
        for char in shown
    )
    return f'"{escaped}"'


def to_bytes(text: str) -> bytes:
    """The path that ``text`` spells.

    Raises INVALID_ARGUMENT when ``text`` holds a NUL or is not encodable as UTF-8.
    """
    try:
        raw = text.encode("utf-8")
    except UnicodeEncodeError:
        raise invalid_argument("path is not valid Unicode text", path=_printable(text)) from None
    if b"\0" in raw:
        raise invalid_argument("path holds a NUL character", path=_printable(text))
    if not _QUOTED.match(raw):
        return raw
    return _ESCAPE.sub(_unescape, raw[1:-1])


def clean(text: str, tool: str) -> str:
    """A caller's path as the tree spells it: ``./a``, ``a//b``, ``a/../b`` and ``a/`` normalised.

    ``tool`` starts the message. Raises INVALID_ARGUMENT for a blank path, an absolute one and one
    that leaves the repository (``reference/behaviour.md`` 1.6). Backslash and ``:`` are ordinary
    characters, and ``*`` is no pattern.
    """
    if not text.strip():
        raise invalid_argument(f"{tool}: path is required")
    raw = to_bytes(text)
    if raw.startswith(b"/"):
        raise invalid_argument(f"{tool}: path must be relative to the repository root", path=text)
    cleaned = posixpath.normpath(raw)
    if cleaned == b".." or cleaned.startswith(b"../"):
        raise invalid_argument(f"{tool}: path escapes the repository root", path=text)
    return to_text(cleaned)


def _octal(char: str) -> str:
    return f"\\{ord(char) - 0xDC00:03o}"


def _unescape(match: re.Match[bytes]) -> bytes:
    token = match.group(1)
    if len(token) == 3:
        return bytes([int(token, 8)])
    return _NAMED.get(token, token)


def _printable(text: str) -> str:
    return (
        text.encode("utf-8", "replace").decode("utf-8").replace("\0", "\N{REPLACEMENT CHARACTER}")
    )
