"""Builds, prunes and reads a search store in processes of its own, which may die at any point.

One JSON object a line in, one out. A store is a folder: ``state.json`` stands for the catalogue and
is replaced at once, ``files`` has the files. Each build or prune runs in a forked child.
"""

import json
import os
import signal
import sys
from collections import Counter
from pathlib import Path

from vacmcpd.adapters.artifacts import FolderArtifacts
from vacmcpd.adapters.git.objects import GitObjects
from vacmcpd.adapters.lexical import embedded_build
from vacmcpd.adapters.lexical.embedded import EmbeddedBuilder, EmbeddedSearch
from vacmcpd.model import Member, Scope
from vacmcpd.ports.artifacts import StoredFile
from vacmcpd.ports.budget import Budget
from vacmcpd.ports.builders import BuildTarget, StoreState
from vacmcpd.ports.search import SearchQuery

LIMIT = 1_000_000


class Killer:
    """Notes every point in a file, and dies at one; reached again, it is ``name#2``."""

    def __init__(self, log, point):
        self._log, self._point = log, point
        self._times = Counter()

    def reach(self, name):
        self._times[name] += 1
        name = f"{name}#{self._times[name]}"
        with Path(self._log).open("a", encoding="utf-8") as file:
            file.write(f"{name}\n")
        if name == self._point:
            os.kill(os.getpid(), signal.SIGKILL)


class Store:
    """A store below a folder, and the git repository that it is of."""

    def __init__(self, folder, git, faults=None):
        self.folder = Path(folder)
        self.faults = faults
        self.objects = GitObjects(lambda _: Path(git), keep_refs=False)
        options = {"faults": faults} if faults else {}
        self.artifacts = FolderArtifacts(lambda _: self.folder / "files", **options)
        self.builder = EmbeddedBuilder(
            self.objects, self.artifacts, max_file_bytes=10_000_000, faults=faults
        )

    @property
    def state(self):
        path = self.folder / "state.json"
        if not path.exists():
            return StoreState()
        held = json.loads(path.read_text(encoding="utf-8"))
        return StoreState(
            tuple(StoredFile(*file) for file in held["files"]), frozenset(held["live"])
        )

    def publish(self, state):
        held = {
            "files": [[file.role, file.digest, file.size] for file in state.files],
            "live": sorted(state.live),
        }
        new = self.folder / "state.new"
        new.write_text(json.dumps(held), encoding="utf-8")
        self.faults.reach("publish.before")
        new.replace(self.folder / "state.json")
        self.faults.reach("publish.after")
        self.artifacts.sweep("demo", {file.digest for file in state.files})

    def build(self, revision):
        target = BuildTarget("ctx", "demo", "main", revision)
        state = self.state
        built = self.builder.build(target, state, lambda *step: None, None)
        self.publish(StoreState(built.files, state.live | {built.artifact.key}))

    def prune(self, live):
        state = StoreState(self.state.files, frozenset(live))
        self.publish(StoreState(self.builder.prune("demo", state), state.live))

    def searcher(self):
        """A search of the generation that is published now, and of no later one."""
        state = self.state
        return EmbeddedSearch(self.objects, self.artifacts, lambda _: state.files, cache_bytes=0)


def matches(search, revision, query):
    """What a search finds, ready to be compared and sent."""
    scope = Scope("ctx", Member("demo", "main", revision))
    page = search.search(scope, SearchQuery(query, 0, LIMIT), Budget("search", search.name, 120.0))
    found = sorted([match.path, match.line, match.snippet, *match.span] for match in page.matches)
    return [page.total, page.total_is_exact, found]


def child(order):
    store = Store(order["store"], order["git"], Killer(order["log"], order.get("point")))
    if order["action"] == "build":
        store.build(order["revision"])
    else:
        store.prune(order["live"])


def change(order):
    """Run one build or prune in a child; its exit code."""
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            child(order)
            code = 0
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def main():
    # A real dictionary, of fewer files than a product would learn from.
    embedded_build._WORTH_TRAINING = 20
    search = None
    for line in sys.stdin:
        order = json.loads(line)
        if order["action"] == "open":
            search = Store(order["store"], order["git"]).searcher()
            answer = None
        elif order["action"] == "search":
            answer = matches(search, order["revision"], order["query"])
        else:
            answer = change(order)
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
