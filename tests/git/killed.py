"""Run as a program: one store operation that dies by SIGKILL at a named point.

Arguments: data directory, operation, its argument, point. ``-`` as the point never dies.
"""

import os
import signal
import sys
from pathlib import Path

from vacmcpd.adapters.git.clone import GitRepositoryStore
from vacmcpd.datadir import DataDirectory


class Killer:
    def __init__(self, point: str) -> None:
        self._point = point

    def reach(self, name: str) -> None:
        if name == self._point:
            os.kill(os.getpid(), signal.SIGKILL)


def quiet(phase: str, done: int, total: int) -> None:
    """No progress."""


def main(root: str, operation: str, argument: str, point: str) -> None:
    store = GitRepositoryStore(DataDirectory(Path(root)), network_timeout=120, faults=Killer(point))
    if operation == "clone":
        store.clone("one", argument, quiet, None)
    elif operation == "fetch":
        store.fetch("one", argument, quiet, None)
    elif operation == "remove":
        store.remove("one")
    elif operation == "keep":
        store.keep("one", argument)
    else:
        store.unkeep("one", argument)


if __name__ == "__main__":
    main(*sys.argv[1:])
