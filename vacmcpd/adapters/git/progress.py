"""git's ``--progress`` lines as phases with counts."""

import re

from ...ports.repository_store import OnProgress
from .runner import OnLine

_LINE = re.compile(r"(?:remote: )?([A-Z][a-z]+ [a-z]+):\s+(?:\d+% \((\d+)/(\d+)\)|(\d+))")
# Some of these lines are the remote's own words, so only known phases pass.
_PHASES = frozenset(
    {
        "Enumerating objects",
        "Counting objects",
        "Compressing objects",
        "Receiving objects",
        "Unpacking objects",
        "Resolving deltas",
        "Checking connectivity",
        "Checking objects",
        "Indexing objects",
    }
)
_LARGEST = 10**12


def listener(progress: OnProgress) -> OnLine:
    """What hands each progress line of git's stderr to ``progress`` as phase, done, total."""

    def listen(line: str) -> None:
        found = _LINE.match(line)
        if found is None or found.group(1) not in _PHASES:
            return
        done, total = int(found.group(2) or found.group(4)), int(found.group(3) or 0)
        if done <= _LARGEST and total <= _LARGEST:
            progress(found.group(1), done, total)

    return listen
