"""The version that this installation reports."""

from importlib.metadata import PackageNotFoundError, version

_UNRELEASED = "0.0.0-dev"


def _installed() -> str:
    try:
        found = version("vacmcp")
    except PackageNotFoundError:
        return _UNRELEASED
    return _UNRELEASED if found.startswith("0.0.0") else found


__version__: str = _installed()
"""``MAJOR.MINOR.PATCH`` of a release, ``0.0.0-dev`` when no release built this code."""
