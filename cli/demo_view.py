"""The demonstration's answers, side by side, each with its evidence."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from .demo_client import Answered
from .output import terminal
from .text import safe

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.text import Text

_SHORT = 12


def show(answers: Iterable[Answered], kept: list[tuple[str, bool]], seconds: float) -> None:
    """Print the questions, the answers of both versions, and the promises that were checked."""
    console = terminal()
    for answered in answers:
        console.print(_title(answered))
        console.print(_drawn(answered))
        console.print()
    for words, holds in kept:
        console.print(_verdict(words, holds))
    good = sum(holds for _, holds in kept)
    console.print(f"\n{good} of {len(kept)} promises kept, in {seconds:.1f} s")


def _title(answered: Answered) -> "Text":
    from rich.text import Text

    return Text.assemble((answered.question.words, "bold"), (f"  {answered.question.tool}", "dim"))


def _verdict(words: str, holds: bool) -> "Text":
    from rich.text import Text

    return Text.assemble(("OK    ", "green") if holds else ("FAIL  ", "bold red"), (words, ""))


def _drawn(answered: Answered) -> "RenderableType":
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE, show_header="" not in answered.results, pad_edge=False)
    for context in answered.results:
        table.add_column(context or "both", overflow="fold", ratio=1)
    table.add_row(*(_told(answered.question.tool, each) for each in answered.results.values()))
    return table


def _told(tool: str, result: dict[str, Any]) -> "Text":
    from rich.text import Text

    if "error" in result:
        return Text(safe(f"{result['error']['code']}: {result['error']['message']}"), style="red")
    text = Text()
    for line, style in _LINES[tool](result):
        text.append(safe(line.expandtabs(4)) + "\n", style=style)
    text.right_crop(1)
    return text


def _contexts(result: dict[str, Any]) -> list[tuple[str, str]]:
    return [
        (f"{row['id']}  {row['repository']}  {row['branch']}  {row['revision']}", "")
        for row in result["contexts"]
    ]


def _search(result: dict[str, Any]) -> list[tuple[str, str]]:
    lines = [
        pair
        for match in result["matches"]
        for pair in (
            (match["snippet"].strip(), ""),
            (_cite(result, match["path"], match["line"]), "cyan"),
        )
    ]
    return lines or [("nowhere", "bold"), (_looked(result), "cyan")]


def _code(result: dict[str, Any]) -> list[tuple[str, str]]:
    where = result["evidence"][0]["location"]
    lines = [(line, "") for line in result["content"].rstrip("\n").split("\n")]
    return [*lines, (_cite(result, where["path"], where["start_line"], where["end_line"]), "cyan")]


def _calls(result: dict[str, Any]) -> list[tuple[str, str]]:
    lines = [
        pair
        for call in result["calls"]
        for pair in (
            (f"{call['caller']} -> {call['callee']}", ""),
            (f"{_cite(result, call['path'], call['line'])} {call['kind']}", "cyan"),
        )
    ]
    return lines or [("nothing", "bold")]


def _relations(result: dict[str, Any]) -> list[tuple[str, str]]:
    marks = {"removed": ("- ", "red"), "added": ("+ ", "green"), "unchanged": ("  ", "dim")}
    lines = [
        (f"{mark}{each['caller']} -> {each['callee']}", style)
        for side, (mark, style) in marks.items()
        for each in result[side]
    ]
    return [*lines, (_sides(result), "cyan")]


def _sides(result: dict[str, Any]) -> str:
    return " to ".join(
        f"{result[side]['context']['id']} {result[side]['context']['revision'][:_SHORT]}"
        for side in ("from", "to")
    )


def _comparison(result: dict[str, Any]) -> list[tuple[str, str]]:
    marks = {"ADDED": ("+ ", "green"), "REMOVED": ("- ", "red"), "CONTEXT": ("  ", "dim")}
    lines = [
        (marks[line["kind"]][0] + line["content"], marks[line["kind"]][1])
        for hunk in result["hunks"]
        for line in hunk["lines"]
    ]
    return [(f"{result['change']}  {result['path']}", "bold"), *lines, (_sides(result), "cyan")]


def _history(result: dict[str, Any]) -> list[tuple[str, str]]:
    seen: dict[str, list[str]] = {}
    for commit in result["commits"]:
        first = commit["message"].split("\n")[0]
        seen.setdefault(f"{commit['commit'][:_SHORT]}  {first}", []).append(commit["path"])
    lines = [
        pair
        for words, paths in seen.items()
        for pair in (
            (words, ""),
            (f"{result['context']['repository']}: {', '.join(paths)}", "cyan"),
        )
    ]
    walked = f"none up to {result['context']['revision'][:_SHORT]}"
    return lines or [(walked, "bold")]


def _cite(result: dict[str, Any], path: str, start: int, end: int | None = None) -> str:
    context = result["context"]
    lines = f"{start}" if end in (None, start) else f"{start}-{end}"
    return f"{context['repository']} {context['revision'][:_SHORT]} {path}:{lines}"


def _looked(result: dict[str, Any]) -> str:
    context = result["context"]
    member = result["coverage"]["members"][0]
    skipped = ", ".join(f"{count} {why}" for why, count in sorted(member["skipped"].items()))
    return (
        f"{context['repository']} {context['revision'][:_SHORT]}: {member['searched']} of "
        f"{member['files']} files searched" + (f" ({skipped})" if skipped else "")
    )


_LINES = {
    "list_contexts": _contexts,
    "search_code": _search,
    "get_code": _code,
    "trace_calls": _calls,
    "compare_calls": _relations,
    "compare_code": _comparison,
    "search_history": _history,
}
