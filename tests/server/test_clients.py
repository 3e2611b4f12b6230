"""The real Python client, in every mode, over both transports."""

import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client, StdioServerParameters, stdio_client

DRIVER = Path(__file__).with_name("driver.py")
MODES = {"auto": "2026-07-28", "legacy": "2025-11-25", "2026-07-28": "2026-07-28"}


@asynccontextmanager
async def connected(transport: str, mode: str, port: int, notes: Path) -> AsyncIterator[Client]:
    if transport == "http":
        target: Any = f"http://127.0.0.1:{port}/mcp"
    else:
        target = stdio_client(
            StdioServerParameters(
                command=sys.executable,
                args=[str(DRIVER), "stdio"],
                env={"SERVED_NOTES": str(notes)},
            )
        )
    async with Client(target, mode=mode) as client:
        yield client


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("transport", ["http", "stdio"])
def test_a_real_client_works(http_server: Any, tmp_path: Path, transport: str, mode: str) -> None:
    async def talk() -> None:
        async with connected(transport, mode, http_server.port, tmp_path / "n") as client:
            assert client.protocol_version == MODES[mode]
            listed = await client.list_tools()
            assert len(listed.tools) == 7
            for tool in listed.tools:
                hints = tool.annotations
                assert hints is not None
                assert hints.read_only_hint is True
                assert hints.destructive_hint is False
                assert hints.idempotent_hint is True
                assert hints.open_world_hint is False
            contexts = await client.call_tool("list_contexts", {})
            assert [x["id"] for x in contexts.structured_content["contexts"]] == ["v1", "v2"]
            arguments = {"from_context": "v1", "to_context": "v2", "path": "cart.py"}
            compared = await client.call_tool("compare_code", arguments)
            assert compared.structured_content["change"] == "MODIFIED"
            failed = await client.call_tool("get_code", {"context": "v1"})
            assert failed.is_error
            assert failed.structured_content["error"]["code"] == "INVALID_ARGUMENT"

    anyio.run(talk)


@pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])
def test_many_calls_of_one_client_at_once_are_all_answered(
    http_server: Any, tmp_path: Path, mode: str
) -> None:
    answered: list[int] = []

    async def talk() -> None:
        async with connected("http", mode, http_server.port, tmp_path / "n") as client:

            async def one() -> None:
                found = await client.call_tool("search_code", {"context": "v1", "query": "total"})
                answered.append(found.structured_content["total_matches"])

            async with anyio.create_task_group() as group:
                for _ in range(40):
                    group.start_soon(one)

    anyio.run(talk)
    assert answered == [1] * 40
