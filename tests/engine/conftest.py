"""One small world in memory: two repositories, three revisions of the first, a call graph."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from vacmcpd.engine import Engine
from vacmcpd.model import Context
from vacmcpd.ports.graph import CallEdge
from vacmcpd.ports.source import EntryKind
from vacmcpd.testing.contexts import MemoryContexts, pinned
from vacmcpd.testing.graph import MemoryGraph
from vacmcpd.testing.search import MemorySearch
from vacmcpd.testing.source import MemoryCommit, MemoryFile, MemorySource, commit_id

FIRST, SECOND, SIDE = commit_id("first"), commit_id("second"), commit_id("side")
START = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)

POINTER = "version https://git-lfs.github.com/spec/v1\noid sha256:" + "ab" * 32 + "\nsize 12\n"

ODD: dict[str, MemoryFile | bytes | str] = {
    "odd/empty.txt": "",
    "odd/crlf.txt": "one\r\ntwo\r\n",
    "odd/nonl.txt": "no newline",
    "odd/latin1.txt": b"caf\xe9\n",
    "odd/blob.bin": b"\x00\x01\x02\n",
    "odd/link": MemoryFile(b"../app.py", EntryKind.SYMLINK),
    "odd/module": MemoryFile(b"", EntryKind.SUBMODULE),
    "odd/big.lfs": POINTER,
    '"odd/caf\\351.txt"': "a name that is not UTF-8\n",
    "odd/naïve.txt": "ï\n",
}


@pytest.fixture
def repositories() -> dict[str, list[MemoryCommit]]:
    """``demo`` with two commits, ``lib`` with one."""
    app = {"app.py": "def run():\n    legacy()\n", "README": "demo\n"}
    later = {"app.py": "def run():\n    handler()\n", "README": "demo\n", "new.py": "handler = 1\n"}
    return {
        "demo": [
            MemoryCommit(FIRST, {**ODD, **app}, "Start\n", timestamp=START),
            MemoryCommit(
                SECOND,
                {**ODD, **later},
                "Use the handler\n\nBecause.\n",
                timestamp=START + timedelta(days=1),
                parents=(FIRST,),
            ),
        ],
        "lib": [MemoryCommit(SIDE, {"lib.py": "handler = 2\n"}, "Lib", timestamp=START)],
    }


@pytest.fixture
def contexts() -> list[Context]:
    """``v1`` and ``v2`` of demo, ``lib``, and ``both`` over the two repositories."""
    return [
        pinned("v2", ("demo", "release/v2", SECOND)),
        pinned("v1", ("demo", "release/v1", FIRST)),
        pinned("lib", ("lib", "main", SIDE)),
        pinned("both", ("demo", "release/v2", SECOND), ("lib", "main", SIDE)),
    ]


@pytest.fixture
def graphs() -> dict[tuple[str, str], list[CallEdge]]:
    """What calls what in demo."""
    return {
        ("demo", FIRST): [
            CallEdge("app.run", "app.legacy", "app.py", 2),
            CallEdge("app.run", "app.keep", "app.py", 5),
            CallEdge("app.run", "app.keep", "app.py", 4),
        ],
        ("demo", SECOND): [
            CallEdge("app.run", "app.handler", "app.py", 2),
            CallEdge("app.run", "app.keep", "app.py", 6),
            CallEdge("app.handler", "new.keep", "new.py", 1),
        ],
        ("lib", SIDE): [],
    }


@pytest.fixture
def build(
    repositories: dict[str, list[MemoryCommit]],
    contexts: list[Context],
    graphs: dict[tuple[str, str], list[CallEdge]],
) -> Callable[..., Engine]:
    """An engine over the world, any provider replaced by name."""

    def built(**replaced: Any) -> Engine:
        parts: dict[str, Any] = {
            "contexts": MemoryContexts(contexts),
            "search": MemorySearch(repositories),
            "graph": MemoryGraph(graphs),
            "source": MemorySource(repositories),
        }
        return Engine(**(parts | replaced))

    return built


@pytest.fixture
def engine(build: Callable[..., Engine]) -> Engine:
    """The engine over the whole world."""
    return build()
