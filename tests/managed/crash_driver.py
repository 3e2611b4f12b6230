"""Runs lifecycle commands in forked children and lets them die by SIGKILL at a named point.

One JSON object a line in, one out. Forking saves each child the second that imports take; this
process holds no lock and opens no file of a data directory itself.
"""

import errno
import json
import os
import signal
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

# Imported here, once, for all children.
import vacmcpd.adapters.git.clone
import vacmcpd.adapters.git.objects
import vacmcpd.adapters.lexical.build
import vacmcpd.adapters.lexical.embedded
import vacmcpd.adapters.locks
import vacmcpd.adapters.syntax.embedded_build
import vacmcpd.catalogue  # noqa: F401
from vacmcpd.composition import Managed, open_managed
from vacmcpd.managed.activity import Activity
from vacmcpd.settings import Settings

Actions = dict[str, Callable[[Managed, str, Activity], Any]]
ACTIONS: Actions = {
    "add": lambda managed, remote, activity: managed.repositories.add(
        "flask", remote, activity=activity
    ),
    "sync": lambda managed, remote, activity: managed.repositories.sync("flask", activity=activity),
    "repo_remove": lambda managed, remote, activity: managed.repositories.remove(
        "flask", activity=activity
    ),
    "create": lambda managed, remote, activity: managed.contexts.create(
        "c", [("flask", "main")], activity=activity
    ),
    "retry": lambda managed, remote, activity: managed.contexts.retry("c", activity=activity),
    "rebuild": lambda managed, remote, activity: managed.contexts.rebuild("c", activity=activity),
    "rebuild_all": lambda managed, remote, activity: managed.contexts.rebuild_all(
        activity=activity
    ),
    "remove": lambda managed, remote, activity: managed.contexts.remove("c", activity=activity),
    "recover": lambda managed, remote, activity: managed.recover(),
}


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


class Killer:
    """Notes every point in a file, fills the disk at one, and dies at another.

    What is reached again is a point of its own, with its number: ``artifact.put.before#2``.
    """

    def __init__(self, log: Path, point: str | None, full: str | None) -> None:
        self._log = log
        self._point = point
        self._full = full
        self._times: Counter[str] = Counter()

    def reach(self, name: str) -> None:
        self._times[name] += 1
        if self._times[name] > 1:
            name = f"{name}#{self._times[name]}"
        with self._log.open("a", encoding="utf-8") as file:
            file.write(f"{name}\n")
        if name == self._point:
            die()
        if name == self._full:
            raise OSError(errno.ENOSPC, "No space left on device")


def child(order: dict[str, Any]) -> None:
    killer = Killer(Path(order["log"]), order.get("point"), order.get("full"))
    word = order.get("progress")

    def progress(phase: str, done: int, total: int) -> None:
        if word and word in phase.lower():
            die()

    managed = open_managed(Path(order["root"]), Settings(), faults=killer)
    activity = Activity(progress, lambda *_: None)
    ACTIONS[order["action"]](managed, order["remote"], activity)
    managed.close()


def main() -> None:
    for line in sys.stdin:
        order = json.loads(line)
        pid = os.fork()
        if pid == 0:
            code = 1
            try:
                child(order)
                code = 0
            finally:
                os._exit(code)
        _, status = os.waitpid(pid, 0)
        print(json.dumps({"code": os.waitstatus_to_exitcode(status)}), flush=True)


if __name__ == "__main__":
    main()
