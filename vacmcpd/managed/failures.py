"""Failures of the operating system, as the codes that commands and contexts keep."""

import errno

from ..errors import BuildCode, LifecycleError

_NO_SPACE = frozenset({errno.ENOSPC, errno.EDQUOT} if hasattr(errno, "EDQUOT") else {errno.ENOSPC})


def file_failure(doing: str, error: OSError) -> LifecycleError:
    """NO_SPACE for a full disk or quota, INTERRUPTED for whatever else a file refused."""
    if error.errno in _NO_SPACE:
        return LifecycleError(
            BuildCode.NO_SPACE,
            f"{doing}: no space left on the data directory's disk; free some and try again",
        )
    reason = error.strerror or type(error).__name__
    return LifecycleError(BuildCode.INTERRUPTED, f"{doing}: {reason}; mend it and try again")
