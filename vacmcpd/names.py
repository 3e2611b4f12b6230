"""Names of repositories and contexts: allow-listed before they become part of a path."""

import re
from typing import Literal

from .errors import BuildCode, LifecycleError

Kind = Literal["repository", "context"]

_ALLOWED = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_ENDINGS = (".lock", ".git")
# Windows opens the device for these whatever the extension: "nul.txt" is NUL.
_DEVICES = frozenset(
    {"con", "prn", "aux", "nul"}
    | {f"{port}{number}" for port in ("com", "lpt") for number in range(10)}
)


def check_name(kind: Kind, name: str) -> None:
    """INVALID_ARGUMENT (details ``{kind: name}``) unless ``name`` may be given to a ``kind``.

    That two names do not differ in case alone is the catalogue's to say.
    """
    problem = _problem(name)
    if problem:
        shown = name.encode("utf-8", "replace").decode("utf-8")[:200]
        raise LifecycleError(
            BuildCode.INVALID_ARGUMENT,
            f"{shown!r} is no name for a {kind}: {problem}",
            {kind: shown},
        )


def _problem(name: str) -> str:
    if not _ALLOWED.fullmatch(name):
        return (
            "use 1 to 100 ASCII letters, digits, dots, underscores and dashes, "
            "starting with a letter or digit"
        )
    if ".." in name or name.endswith("."):
        return "it must not hold '..' or end with a dot"
    if name.lower().endswith(_ENDINGS):
        return "it must not end with .lock or .git"
    if name.split(".", 1)[0].lower() in _DEVICES:
        return "Windows keeps that name for a device"
    return ""
