"""Why a file has no facts; the keys of a graph's ``skipped``."""

from enum import StrEnum


class Skip(StrEnum):
    """The order counts: stores keep the number. New ones go last."""

    SUBMODULE = "submodule"
    SYMLINK = "symlink"
    UNSUPPORTED = "unsupported_language"
    """No language is told by its name: most are no code at all."""
    NO_GRAMMAR = "grammar_not_installed"
    TOO_LARGE = "too_large"
    BINARY = "binary"
    LFS_POINTER = "lfs_pointer"
    TOO_DEEP = "too_deep"
    """It nests deeper than can be followed."""
    TIMEOUT = "timeout"
    CRASHED = "crashed"
    """Parsing it ended in a mistake of ours, or ended its process twice."""


RETRIED = frozenset({Skip.TIMEOUT, Skip.CRASHED})
"""What may have come from the machine, so building the same version again tries again."""
