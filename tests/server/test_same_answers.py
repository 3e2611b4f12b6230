"""An answer is a function of the request and the data: no server adds anything of its own."""

import random
import shutil
from pathlib import Path
from typing import Any

import pytest

CALLS: list[tuple[str, dict[str, Any]]] = [
    ("list_contexts", {}),
    ("get_code", {"context": "v1", "path": "handler.go", "start_line": 1, "end_line": 3}),
    ("get_code", {"context": "v1", "path": "latin1.txt", "start_line": 1, "end_line": 1}),
    ("get_code", {"context": "v1", "path": "no/such.go", "start_line": 1, "end_line": 1}),
    ("get_code", {"context": "both", "path": "go.mod", "start_line": 1, "end_line": 1}),
    ("search_code", {"context": "v1", "query": "Handler"}),
    ("search_code", {"context": "both", "query": "Handler or Keep", "limit": 3}),
    ("search_code", {"context": "both", "query": "Handler", "repository": "other"}),
    ("search_code", {"context": "v1", "query": "("}),
    ("search_code", {"context": "nothing", "query": "x"}),
    ("compare_code", {"from_context": "v1", "to_context": "v2", "path": "processor.go"}),
    ("compare_code", {"from_context": "v1", "to_context": "v2", "path": "newonly.go"}),
    ("search_history", {"context": "v1"}),
    ("search_history", {"context": "both", "limit": 5}),
    ("search_history", {"context": "v2", "symbol": "NewHandler"}),
    ("search_history", {"context": "v2", "path": "pkg"}),
    ("trace_calls", {"context": "v1", "symbol": "Keep", "direction": "callees", "depth": 1}),
    (
        "compare_calls",
        {
            "from_context": "v1",
            "to_context": "v2",
            "symbol": "Process",
            "direction": "callees",
            "depth": 1,
        },
    ),
]


def followed(ask: Any, tool: str, arguments: dict[str, Any]) -> list[str]:
    """The text of the answer and of every page after it."""
    pages: list[str] = []
    cursor = ""
    while not pages or cursor:
        result = ask(tool, **arguments, **({"cursor": cursor} if cursor else {}))
        pages.append(result["content"][0]["text"])
        cursor = result["structuredContent"].get("next_cursor", "")
    return pages


def test_two_servers_over_the_same_data_give_byte_identical_answers(
    start: Any, demo_data: Path, tmp_path: Path
) -> None:
    answers = []
    for number in range(2):
        data = Path(shutil.copytree(demo_data, tmp_path / f"folder {number}" / "data"))
        workers = {"VACMCP_SERVER_WORKERS": str(number + 1), "TZ": ("UTC", "Asia/Tokyo")[number]}
        server = start.managed(data, "--address", "127.0.0.1:0", **workers).ready()
        order = list(range(len(CALLS))) * 2
        random.Random(number).shuffle(order)
        given: dict[int, list[str]] = {}
        for at in order:
            tool, arguments = CALLS[at]
            modern = bool(at % 2) == bool(number)
            pages = followed(
                lambda tool, server=server, modern=modern, **arguments: (
                    server.call(tool, modern, **arguments).result
                ),
                tool,
                arguments,
            )
            assert given.setdefault(at, pages) == pages, CALLS[at]
        answers.append(given)
        server.stop()
    for at, call in enumerate(CALLS):
        assert answers[0][at] == answers[1][at], call


def test_both_transports_give_byte_identical_answers(
    start: Any, pipe: Any, demo_copy: Path
) -> None:
    server = start.managed(demo_copy, "--address", "127.0.0.1:0").ready()
    over_http = [server.call(tool, **arguments).result["content"] for tool, arguments in CALLS]
    server.stop()
    client = pipe(start.managed(demo_copy, "--stdio").ready())
    client.initialize()
    for number, (tool, arguments) in enumerate(CALLS):
        client.call(number, tool, **arguments)
        assert client.answer(number)["result"]["content"] == over_http[number], (tool, arguments)


@pytest.mark.parametrize("tool", ["search_code", "search_history"])
def test_the_pages_of_several_members_are_all_there(
    start: Any, demo_data: Path, tmp_path: Path, tool: str
) -> None:
    data = Path(shutil.copytree(demo_data, tmp_path / "data"))
    server = start.managed(data, "--address", "127.0.0.1:0").ready()
    arguments = {"context": "both", "query": "handler" if tool == "search_code" else ""}
    rows = "matches" if tool == "search_code" else "commits"
    whole = server.call(tool, **arguments).wire
    assert whole["truncated"] is False
    parts: list[Any] = []
    cursor = ""
    while not parts or cursor:
        more = {"cursor": cursor} if cursor else {}
        page = server.call(tool, limit=2, max_tokens=256, **arguments, **more).wire
        assert page["truncated"] is bool(page.get("next_cursor"))
        parts += page[rows]
        cursor = page.get("next_cursor", "")
    assert parts == whole[rows]
