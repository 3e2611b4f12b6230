"""The demonstration's questions, asked through a real MCP client session."""

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mcp import Client

V1, V2 = "demo-v1", "demo-v2"
_SYMBOL = "NewHandler"
_PATH = "processor.go"
_LINES = {"start_line": 4, "end_line": 6}
_CALLS = {"symbol": "Process", "direction": "callees", "depth": 1}


@dataclass(frozen=True, slots=True)
class Question:
    """One question in words, the tool that answers it, and the arguments by context.

    A question about both versions at once has one entry, under ``""``.
    """

    words: str
    tool: str
    arguments: dict[str, dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Answered:
    """A question and, by context, the structured result that came back."""

    question: Question
    results: dict[str, dict[str, Any]]


def _both(**arguments: Any) -> dict[str, dict[str, Any]]:
    return {context: {"context": context, **arguments} for context in (V1, V2)}


QUESTIONS = (
    Question("Which versions can be asked?", "list_contexts", {"": {}}),
    Question(f"Where is {_SYMBOL}?", "search_code", _both(query=_SYMBOL)),
    Question("What does Process do?", "get_code", _both(path=_PATH, **_LINES)),
    Question("What does Process call?", "trace_calls", _both(**_CALLS)),
    Question(
        "Which of its calls changed?",
        "compare_calls",
        {"": {"from_context": V1, "to_context": V2, **_CALLS}},
    ),
    Question(
        f"What changed in {_PATH}?",
        "compare_code",
        {"": {"from_context": V1, "to_context": V2, "path": _PATH}},
    ),
    Question(f"Which commits brought {_SYMBOL} in?", "search_history", _both(symbol=_SYMBOL)),
)


def ask(url: str) -> list[Answered]:
    """Every question's answers from the server at ``url``; a session of its own for all."""
    import anyio

    return anyio.run(_ask, url)


async def _ask(url: str) -> list[Answered]:
    from mcp import Client

    async with Client(url) as client:
        return [
            Answered(
                question,
                {
                    context: await _call(client, question.tool, arguments)
                    for context, arguments in question.arguments.items()
                },
            )
            for question in QUESTIONS
        ]


async def _call(client: "Client", tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
    result = await client.call_tool(tool, arguments)
    if result.structured_content is not None:
        return dict(result.structured_content)
    text = "".join(str(getattr(block, "text", "")) for block in result.content)
    return dict(json.loads(text))
