"""An engine of in-memory fakes, with providers that misbehave when the query says so."""

import os
import signal
import time
from pathlib import Path

from vacmcpd.engine import Budgets, Engine
from vacmcpd.errors import BuildCode, LifecycleError
from vacmcpd.model import MemberCoverage, Scope
from vacmcpd.ports.budget import Budget
from vacmcpd.ports.search import SearchMatch, SearchPage, SearchQuery
from vacmcpd.testing.contexts import MemoryContexts, pinned
from vacmcpd.testing.search import MemorySearch
from vacmcpd.testing.source import MemoryCommit, MemorySource, commit_id

V1, V2 = commit_id("v1"), commit_id("v2")
REPOSITORIES = {
    "shop": [
        MemoryCommit(V1, {"cart.py": "def total():\n    return 1\n"}, "first"),
        MemoryCommit(V2, {"cart.py": "def total():\n    return 2\n"}, "second", parents=(V1,)),
    ]
}


def note(word: str) -> None:
    """Leave a line for the test to read."""
    with Path(os.environ["SERVED_NOTES"]).open("a", encoding="utf-8") as notes:
        notes.write(f"{word} {os.getpid()}\n")


class OddSearch:
    """Searches in memory, unless the query starts with one of the words below."""

    name = "odd"

    def __init__(self) -> None:
        self._plain = MemorySearch(REPOSITORIES)

    def search(self, scope: Scope, query: SearchQuery, budget: Budget) -> SearchPage:
        word, _, rest = query.text.partition(" ")
        act = getattr(self, f"_{word}", None)
        if act is None:
            return self._plain.search(scope, query, budget)
        snippet = act(rest, budget) or word
        return SearchPage(
            scope.revision,
            (SearchMatch("cart.py", 1, snippet),),
            1,
            True,
            MemberCoverage(scope.repository, scope.revision, 1, 1),
        )

    def _slow(self, rest: str, budget: Budget) -> None:
        note("started")
        until = time.monotonic() + float(rest)
        try:
            while time.monotonic() < until:
                budget.check()
                time.sleep(0.005)
        finally:
            note("ended")

    def _stuck(self, rest: str, budget: Budget) -> None:
        note("started")
        time.sleep(float(rest))

    def _crash(self, rest: str, budget: Budget) -> None:
        note("crash")
        os.kill(os.getpid(), signal.SIGKILL)

    def _crashonce(self, rest: str, budget: Budget) -> None:
        first = Path(rest)
        if not first.exists():
            first.touch()
            self._crash(rest, budget)

    def _explode(self, rest: str, budget: Budget) -> None:
        raise RuntimeError(f"a secret: {rest}")

    def _print(self, rest: str, budget: Budget) -> None:
        print("noise from a provider", flush=True)
        os.write(1, b"noise from a child\n")

    def _surrogate(self, rest: str, budget: Budget) -> str:
        return "caf\udce9"


def build() -> Engine:
    """The engine of the tests."""
    contexts = MemoryContexts(
        [pinned("v1", ("shop", "release/1", V1)), pinned("v2", ("shop", "release/2", V2))]
    )
    return Engine(contexts, OddSearch(), None, MemorySource(REPOSITORIES), budgets=budgets())


def build_empty() -> Engine:
    """An engine without a context."""
    return Engine(MemoryContexts(), budgets=budgets())


def build_never() -> Engine:
    """An engine that takes longer than any test."""
    note("building")
    time.sleep(600)
    return build()


def build_broken() -> Engine:
    """An engine that can't be built."""
    raise LifecycleError(BuildCode.ARTIFACT_MISSING, "the index is gone; rebuild it", {})


def budgets() -> Budgets:
    """Generous, unless the test wants them short."""
    return Budgets(
        search=float(os.environ.get("SERVED_SEARCH", "30")),
        resolve=float(os.environ.get("SERVED_RESOLVE", "30")),
    )
