"""The checks that no release passes without: a version's answer never comes from another one.

Through the installed command, the real server process and the official client, on every
combination of engines there is.
"""

import asyncio
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from mcp import Client

from vacmcpd.composition import open_managed
from vacmcpd.managed.activity import QUIET
from vacmcpd.settings import Settings
from vacmcpd.testing.demo import make_demo_repository

VACMCP = str(Path(sys.executable).parent / "vacmcp")
ENGINES = [(search, "embedded") for search in ("embedded", "scan")]


def vacmcp(*arguments: str) -> str:
    done = subprocess.run([VACMCP, *arguments], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout


def create(root: Path, version: str, search: str, graph: str) -> None:
    """As the command does; what no command builds with any more, from here."""
    ref = f"release/{version}"
    if (search, graph) == ENGINES[0]:
        words = ("--repo", "demo", "--ref", ref, "--data-dir", str(root))
        vacmcp("context", "create", version, *words)
        return
    managed = open_managed(root, Settings(), search_engine=search, graph_engine=graph)
    try:
        managed.contexts.create(version, [("demo", ref)], activity=QUIET)
    finally:
        managed.close()


@contextmanager
def serving(folder: Path, search: str, graph: str) -> Iterator[str]:
    demo, data = folder / "demo", ["--data-dir", str(folder / "data")]
    make_demo_repository(demo)
    vacmcp("repo", "add", "demo", "--url", demo.as_uri(), *data)
    for version in ("v1", "v2"):
        create(folder / "data", version, search, graph)
    listed = json.loads(vacmcp("context", "list", *data, "--json"))["contexts"]
    built = [(each["search"], each["graph"]) for row in listed for each in row["members"]]
    label = "none/0" if graph == "none" else f"{graph}/1"
    assert built == [(f"{search}/1", label)] * 2
    command = [VACMCP, "serve", "--managed", "--address", "127.0.0.1:0", *data]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as server:
        assert server.stderr is not None
        address = next(filter(None, map(find_address, server.stderr)))
        try:
            yield f"http://{address}/mcp"
        finally:
            server.terminate()
            server.stderr.read()
            assert server.wait(40) == 0


@pytest.fixture(scope="module", params=ENGINES, ids=lambda pair: "-".join(pair))
def served(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[str]:
    with serving(tmp_path_factory.mktemp("release"), *request.param) as url:
        yield url


def find_address(line: str) -> str:
    found = re.search(r"127\.0\.0\.1:\d+", line)
    return found[0] if found else ""


def call(url: str, mode: str, tool: str, **arguments: Any) -> dict[str, Any]:
    async def ask() -> dict[str, Any]:
        async with Client(url, mode=mode) as client:
            content: Any = (await client.call_tool(tool, arguments)).structured_content
            return dict(content)

    return asyncio.run(ask())


MODES = ["legacy", "2026-07-28"]
PROCESS = {"symbol": "Process", "direction": "callees", "depth": 1}


@pytest.mark.parametrize("mode", MODES)
def test_new_handler_is_found_in_v2(served: str, mode: str) -> None:
    answer = call(served, mode, "search_code", context="v2", query="NewHandler")
    assert {match["path"] for match in answer["matches"]} == {"handler.go", "processor.go"}
    assert answer["coverage"]["complete"]


@pytest.mark.parametrize("mode", MODES)
def test_new_handler_is_not_in_v1(served: str, mode: str) -> None:
    answer = call(served, mode, "search_code", context="v1", query="NewHandler")
    assert answer["matches"] == []
    assert answer["total_matches"] == 0
    assert answer["total_is_exact"]
    assert answer["coverage"]["complete"]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(("version", "handler"), [("v1", "LegacyHandler"), ("v2", "NewHandler")])
def test_process_reaches_the_handler_of_its_version(
    served: str, mode: str, version: str, handler: str
) -> None:
    answer = call(served, mode, "trace_calls", **{"context": version, **PROCESS})
    edges = [(each["caller"], each["callee"], each["kind"]) for each in answer["calls"]]
    assert edges == [("Process", handler, "resolved")]
    assert (answer["calls"][0]["path"], answer["calls"][0]["line"]) == ("processor.go", 5)
    assert answer["coverage"]["complete"]


@pytest.mark.parametrize("mode", MODES)
def test_the_comparison_of_calls_is_the_change_of_the_handler(served: str, mode: str) -> None:
    arguments = {"from_context": "v1", "to_context": "v2", **PROCESS}
    answer = call(served, mode, "compare_calls", **arguments)
    assert [each["callee"] for each in answer["removed"]] == ["LegacyHandler"]
    assert [each["callee"] for each in answer["added"]] == ["NewHandler"]
    assert answer["unchanged"] == []


def test_without_a_graph_engine_no_call_is_claimed(tmp_path: Path) -> None:
    with serving(tmp_path, "embedded", "none") as url:
        for version in ("v1", "v2"):
            answer = call(url, MODES[0], "trace_calls", **{"context": version, **PROCESS})
            assert answer["error"]["code"] == "GRAPH_PROVIDER_UNAVAILABLE"
            assert f"vacmcp context rebuild {version}" in answer["error"]["message"]
