"""Our HTTP server with the tools that the conformance suite calls, beside our own seven.

Transport, gate, sessions and error paths are the product's; only these tools' answers are not.
"""

import asyncio
import base64
import sys
from functools import partial
from typing import Any

import mcp_types as types
from mcp.shared.exceptions import MCPError

from vacmcpd.engine import Engine
from vacmcpd.server import protocol
from vacmcpd.server.address import bind
from vacmcpd.server.run import run_http
from vacmcpd.testing.contexts import MemoryContexts

PIXEL = base64.b64encode(b"\x89PNG\r\n\x1a\n").decode()
WAVE = base64.b64encode(b"RIFF\x00\x00\x00\x00WAVE").decode()
TEXT = {"type": "text", "text": "text"}
IMAGE = {"type": "image", "data": PIXEL, "mimeType": "image/png"}
AUDIO = {"type": "audio", "data": WAVE, "mimeType": "audio/wav"}
RESOURCE = {
    "type": "resource",
    "resource": {"uri": "test://one", "mimeType": "text/plain", "text": "text"},
}
PLAIN: dict[str, dict[str, Any]] = {
    "test_simple_text": {"content": [TEXT]},
    "test_image_content": {"content": [IMAGE]},
    "test_audio_content": {"content": [AUDIO]},
    "test_embedded_resource": {"content": [RESOURCE]},
    "test_multiple_content_types": {"content": [TEXT, IMAGE, RESOURCE]},
    "test_error_handling": {"content": [TEXT], "isError": True},
    "test_logging_tool": {"content": [TEXT]},
    "test_streaming_elicitation": {"content": [TEXT]},
}
NAMES = [*PLAIN, "test_tool_with_progress", "test_missing_capability"]


async def call(context: Any, name: str) -> dict[str, Any]:
    if name == "test_missing_capability":
        raise MCPError(
            types.MISSING_REQUIRED_CLIENT_CAPABILITY,
            "sampling is needed",
            {"requiredCapabilities": {"sampling": {}}},
        )
    if name == "test_tool_with_progress":
        for done in (0, 50, 100):
            await context.session.report_progress(done, 100)
            await asyncio.sleep(0.03)
        return {"content": [TEXT]}
    return PLAIN[name]


def with_fixtures(build: Any, runner: Any) -> Any:
    server = build(runner)
    ours_list = server.get_request_handler("tools/list").handler
    ours_call = server.get_request_handler("tools/call").handler

    async def list_tools(context: Any, params: Any) -> types.ListToolsResult:
        listed = await ours_list(context, params)
        extra = [types.Tool(name=name, input_schema={"type": "object"}) for name in NAMES]
        return types.ListToolsResult(tools=[*listed.tools, *extra])

    async def call_tool(context: Any, params: Any) -> Any:
        if params.name in NAMES:
            return types.CallToolResult.model_validate(await call(context, params.name))
        return await ours_call(context, params)

    server.add_request_handler("tools/list", types.PaginatedRequestParams, list_tools)
    server.add_request_handler("tools/call", types.CallToolRequestParams, call_tool)
    return server


def main() -> int:
    protocol.build_server = partial(with_fixtures, protocol.build_server)
    with bind("127.0.0.1:0") as socket:
        print(f"listening {socket.getsockname()[1]}", file=sys.stderr, flush=True)
        return run_http(
            socket=socket,
            factory=partial(Engine, MemoryContexts()),
            workers=1,
            on_ready=lambda: print("ready", file=sys.stderr, flush=True),
        )


if __name__ == "__main__":
    sys.exit(main())
