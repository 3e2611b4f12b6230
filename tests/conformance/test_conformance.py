"""The official MCP conformance suite's server scenarios that apply to a server of tools alone.

CI installs the suite and Node 22 and names the folder in ``MCP_CONFORMANCE_HOME``; elsewhere the
tests say why they are skipped. The real server answers what needs no tool of the suite's own; for
the rest our server runs with those tools added (``fixture_server.py``).
"""

import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

HOME = os.environ.get("MCP_CONFORMANCE_HOME", "")
MODERN, LEGACY = "2026-07-28", "2025-11-25"
REAL = {
    MODERN: [
        "tools-list",
        "server-sse-multiple-streams",
        "dns-rebinding-protection",
        "sep-2164-resource-not-found",
        "input-required-result-missing-input-response",
        "input-required-result-unsupported-methods",
        "input-required-result-ignore-extra-params",
        "input-required-result-validate-input",
        "http-header-validation",
    ],
    LEGACY: [
        "server-initialize",
        "ping",
        "tools-list",
        "server-sse-multiple-streams",
        "dns-rebinding-protection",
        "server-session-lifecycle",
        "server-sse-polling",
    ],
}
TOOLS = [
    "tools-call-simple-text",
    "tools-call-image",
    "tools-call-audio",
    "tools-call-embedded-resource",
    "tools-call-mixed-content",
    "tools-call-error",
    "tools-call-with-progress",
]
FIXTURES = {MODERN: ["server-stateless", *TOOLS], LEGACY: TOOLS}

pytestmark = [
    pytest.mark.conformance,
    pytest.mark.skipif(not HOME, reason="MCP_CONFORMANCE_HOME does not name the installed suite"),
]


def cases(table: dict[str, list[str]]) -> list[tuple[str, str]]:
    return [(version, scenario) for version, names in table.items() for scenario in names]


def started(command: list[str], pattern: str, ready: str) -> Iterator[str]:
    """The address of a server that says it, and then that it is ready, on stderr."""
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, encoding="utf-8") as child:
        assert child.stderr is not None
        seen, url = "", ""
        for line in child.stderr:
            seen += line
            if found := re.search(pattern, line):
                url = f"http://127.0.0.1:{found[1]}/mcp"
            if ready in line:
                break
        assert url, seen
        # Nobody may block on a full pipe while the suite runs.
        drain = threading.Thread(target=child.stderr.read, daemon=True)
        drain.start()
        try:
            yield url
        finally:
            child.terminate()
            assert child.wait(40) == 0
            drain.join()


@pytest.fixture(scope="module")
def real_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    command = [str(Path(sys.executable).parent / "vacmcp"), "serve", "--managed"]
    data = str(tmp_path_factory.mktemp("data") / "data")
    arguments = ["--address", "127.0.0.1:0", "--data-dir", data]
    yield from started([*command, *arguments], r"127\.0\.0\.1:(\d+)", "ready")


@pytest.fixture(scope="module")
def fixture_server() -> Iterator[str]:
    driver = Path(__file__).with_name("fixture_server.py")
    yield from started([sys.executable, str(driver)], r"listening (\d+)", "ready")


def run(url: str, version: str, scenario: str, folder: Path) -> None:
    modules = Path(HOME) / "node_modules"
    done = subprocess.run(
        [
            str(modules / ".bin" / "node"),
            str(modules / "@modelcontextprotocol" / "conformance" / "dist" / "index.js"),
            "server",
            *("--url", url, "--scenario", scenario, "--spec-version", version),
            *("-o", str(folder)),
        ],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-1000:]
    assert re.search(r"\b0 failed", done.stdout), done.stdout[-3000:]


@pytest.mark.parametrize(("version", "scenario"), cases(REAL))
def test_the_real_server_passes(
    real_server: str, version: str, scenario: str, tmp_path: Path
) -> None:
    run(real_server, version, scenario, tmp_path)


@pytest.mark.parametrize(("version", "scenario"), cases(FIXTURES))
def test_the_server_with_the_suites_tools_passes(
    fixture_server: str, version: str, scenario: str, tmp_path: Path
) -> None:
    run(fixture_server, version, scenario, tmp_path)
