"""What the demonstration's answers must be, to the commit and the line."""

from collections.abc import Callable, Iterable
from typing import Any

from .demo_client import V1, V2, Answered

REVISIONS = {
    V1: "9eda2538a4c07c8ce714999c816c67478611a81d",
    V2: "5eee04c43633883798501b2d2d1b9caab064e75a",
}
"""The demo repository's commits have fixed dates and authors, so their ids are known."""

_NEW = [("handler.go", 3), ("handler.go", 4), ("processor.go", 5)]
_BODY = "func Process(req string) string {{\n\treturn {}(req)\n}}\n"
_SWITCH = "Switch Process to the v2 handler"


def check(answers: Iterable[Answered]) -> list[tuple[str, bool]]:
    """Each promise in words, and whether the answers keep it."""
    by_tool = {answered.question.tool: answered.results for answered in answers}
    promises: tuple[tuple[str, Callable[[dict[str, Any]], bool], str], ...] = (
        ("both contexts are pinned to the commits they must be", _pinned, "list_contexts"),
        ("NewHandler is in v2 and not in v1, and every file was searched", _found, "search_code"),
        ("Process holds LegacyHandler in v1 and NewHandler in v2", _read, "get_code"),
        ("Process calls LegacyHandler in v1 and NewHandler in v2", _traced, "trace_calls"),
        ("the two versions differ in exactly these calls", _moved, "compare_calls"),
        ("the comparison shows exactly that one call changed", _changed, "compare_code"),
        ("v2's history has the commit that switched, v1's does not", _walked, "search_history"),
    )
    kept = [(words, holds(by_tool.get(tool, {}))) for words, holds, tool in promises]
    named = bool(by_tool) and all(
        _names(context, result)
        for results in by_tool.values()
        for context, result in results.items()
        if context
    )
    return [*kept, ("every answer names the commit that it comes from", named)]


def _names(context: str, result: dict[str, Any]) -> bool:
    told = result.get("context", {})
    return bool(told.get("id") == context and told.get("revision") == REVISIONS[context])


def _pinned(results: dict[str, Any]) -> bool:
    listed = results.get("", {}).get("contexts", [])
    return {row.get("id"): row.get("revision") for row in listed} == REVISIONS


def _found(results: dict[str, Any]) -> bool:
    matches = {
        context: [(match["path"], match["line"]) for match in result["matches"]]
        for context, result in results.items()
        if "matches" in result
    }
    covered = all(result.get("coverage", {}).get("complete") for result in results.values())
    return matches == {V1: [], V2: _NEW} and covered


def _read(results: dict[str, Any]) -> bool:
    read = {context: result.get("content") for context, result in results.items()}
    return read == {V1: _BODY.format("LegacyHandler"), V2: _BODY.format("NewHandler")}


def _traced(results: dict[str, Any]) -> bool:
    calls = {
        context: [(each["caller"], each["callee"], each["path"]) for each in result["calls"]]
        for context, result in results.items()
        if "calls" in result
    }
    return calls == {
        V1: [("Process", "LegacyHandler", "processor.go")],
        V2: [("Process", "NewHandler", "processor.go")],
    }


def _moved(results: dict[str, Any]) -> bool:
    result = results.get("", {})
    removed, added, unchanged = (
        [each["callee"] for each in result.get(side, ())]
        for side in ("removed", "added", "unchanged")
    )
    return (removed, added, unchanged) == (["LegacyHandler"], ["NewHandler"], [])


def _changed(results: dict[str, Any]) -> bool:
    result = results.get("", {})
    lines = [
        (line["kind"], line["content"].strip())
        for hunk in result.get("hunks", [])
        for line in hunk["lines"]
        if line["kind"] != "CONTEXT"
    ]
    return result.get("change") == "MODIFIED" and lines == [
        ("REMOVED", "return LegacyHandler(req)"),
        ("ADDED", "return NewHandler(req)"),
    ]


def _walked(results: dict[str, Any]) -> bool:
    messages = {
        context: {commit["message"] for commit in result["commits"]}
        for context, result in results.items()
        if "commits" in result
    }
    return messages == {V1: set(), V2: {_SWITCH}}
