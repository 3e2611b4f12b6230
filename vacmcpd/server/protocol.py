"""The MCP server: its identity, its tools, and what a call becomes."""

import json
from collections.abc import Mapping
from typing import Any, cast

import mcp_types as types
from mcp.server import Server, ServerRequestContext
from mcp.server.caching import CacheHint
from mcp.shared.exceptions import MCPError

from ..errors import QueryError
from ..version import __version__
from .runner import QUEUE_LIMIT, Reply, ReplyKind, Runner
from .tools import ANNOTATIONS, BY_NAME, TOOLS
from .wire import encode, shown

NAME = "vacmcp"

INSTRUCTIONS = (
    "Answers about source code from pinned versions of it. A context is a version: one or "
    "several repositories, each at one commit that never moves. list_contexts names the contexts; "
    "the other tools take a context id and answer from that commit only, with evidence. "
    "compare_code and compare_calls take two contexts of the same repository. An answer that was "
    "cut says so and carries next_cursor."
)

_DAY_MS = 86_400_000
# The tools are the same for everybody and for the life of a release.
_STATIC = CacheHint(ttl_ms=_DAY_MS, scope="public")

Context = ServerRequestContext[dict[str, Any]]


def build_server(runner: Runner) -> Server[dict[str, Any]]:
    """The low-level server whose tool calls go to ``runner``. It advertises tools only."""
    schemas: dict[str, Mapping[str, Any]] = {tool.name: tool.input_schema() for tool in TOOLS}
    listing = _listing()

    async def list_tools(
        _: Context, params: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        if params is not None and params.cursor is not None:
            raise MCPError(types.INVALID_PARAMS, "tools/list has one page and takes no cursor")
        return listing

    async def call_tool(_: Context, params: types.CallToolRequestParams) -> dict[str, Any]:
        tool = BY_NAME.get(params.name)
        if tool is None:
            raise MCPError(types.INVALID_PARAMS, f"unknown tool {shown(params.name)!r}")
        try:
            request = tool.request(params.arguments)
        except QueryError as refusal:
            return _result(Reply(ReplyKind.ERROR, encode(refusal.to_wire())))
        return _result(await runner.run(request))

    server: Server[dict[str, Any]] = Server(
        NAME,
        version=__version__,
        instructions=INSTRUCTIONS,
        cache_hints={"server/discover": _STATIC, "tools/list": _STATIC},
        get_tool_input_schema=schemas.get,
        on_list_tools=list_tools,
    )
    # Registered here and not by the constructor, which wants the model: a dictionary saves one of
    # three passes of pydantic over every answer.
    server.add_request_handler("tools/call", types.CallToolRequestParams, call_tool)
    return server


def _listing() -> types.ListToolsResult:
    return types.ListToolsResult(
        tools=[
            types.Tool(
                name=tool.name,
                title=tool.title,
                description=tool.description,
                input_schema=tool.input_schema(),
                output_schema=cast("dict[str, Any] | None", tool.output_schema),
                annotations=types.ToolAnnotations.model_validate(ANNOTATIONS),
            )
            for tool in TOOLS
        ]
    )


def _result(reply: Reply) -> dict[str, Any]:
    if reply.kind is ReplyKind.BUSY:
        raise MCPError(
            types.INTERNAL_ERROR, f"busy: {QUEUE_LIMIT} requests wait already; try again later"
        )
    if reply.kind not in (ReplyKind.ANSWER, ReplyKind.ERROR):
        raise MCPError(types.INTERNAL_ERROR, "internal error; the server's log has the details")
    text = reply.body.decode("utf-8")
    return {
        "content": [{"type": "text", "text": text}],
        "structuredContent": json.loads(text),
        "isError": reply.kind is ReplyKind.ERROR,
        "resultType": "complete",
    }
