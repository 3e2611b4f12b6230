"""The recorded tool calls of the original, answered by our engine over the same repository.

``tools.json`` holds shapes and values only: arguments, results, error codes and the keys of their
details. A case passes when ours says the same, or when it stands in DIFFERENCES with its reason.
"""

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from vacmcpd.adapters.git.objects import GitObjects
from vacmcpd.adapters.git.source import GitSource
from vacmcpd.adapters.graphless import NoGraph
from vacmcpd.adapters.lexical.scan import ScanSearch
from vacmcpd.engine import Engine
from vacmcpd.errors import VacmcpError
from vacmcpd.model import Context, Member
from vacmcpd.server.tools import BY_NAME
from vacmcpd.testing.contexts import MemoryContexts
from vacmcpd.testing.demo import make_demo_repository

CASES = json.loads((Path(__file__).parent / "tools.json").read_text(encoding="utf-8"))
V1 = "9eda2538a4c07c8ce714999c816c67478611a81d"
V2 = "5eee04c43633883798501b2d2d1b9caab064e75a"
REVISIONS = {"5eee04c43633": V2, "release/v2": V2}
INVALID = {"code": "INVALID_ARGUMENT"}

DIRECTORY = "a directory is no file: INVALID_ARGUMENT with kind, not a tree listing or UNCHANGED"
LITERAL = "every path is literal: a pattern names no file"
DIFFERENCES: dict[str, tuple[str, dict[str, Any]]] = {
    "compare_code/dir_trailing": (DIRECTORY, INVALID),
    "compare_code/directory_unchanged": (DIRECTORY, INVALID),
    "compare_code/glob_one_match": (LITERAL, INVALID),
    "compare_code/type_change": (
        "a file that became a symlink is one MODIFIED path, not two files",
        {"result": {"change": "MODIFIED", "path": "f", "binary": False}},
    ),
    "get_code/directory": (DIRECTORY, INVALID),
    "get_code/directory_many": (DIRECTORY, INVALID),
    "get_code/colon_path": (LITERAL, INVALID),
    "get_code/root_dot": (DIRECTORY, INVALID),
    "get_code/glob": (LITERAL + ", so it is missing rather than empty", INVALID),
    "get_code/nul_path": ("a NUL is refused before anything looks for the file", INVALID),
    "get_code/empty_file": (
        "an empty file can be read: no lines, line_count 0",
        {"result": {"content": "", "end_line": 0, "start_line": 1}},
    ),
    "search_code/file_only": (
        "a file-only query answers the files' names instead of nothing",
        {"result": {"matches": [["handler.go"]]}},
    ),
    "search_code/filename_match": (
        "a file whose name matches is a match of its own instead of nothing",
        {"result": {"matches": [["handler.go"]]}},
    ),
    "search_code/match_all": (
        "a file whose name alone matches has no line, the empty file's is a match too",
        {
            "minus": [["blob.bin", 1], ["link.go", 1]],
            "plus": [["blob.bin"], ["empty.txt"], ["link.go"]],
        },
    ),
    "search_code/newline_query": (
        "a newline in a query is white space between two words, not an unclosed parenthesis",
        {"result": {}},
    ),
    "search_code/quoted_paren": (
        "quotes are understood; as in Zoekt a phrase is a regular expression, "
        "and this one's parenthesis is open",
        INVALID,
    ),
    "search_code/sym_filter": (
        "sym: says that it needs the symbol table instead of finding nothing",
        INVALID,
    ),
    "search_code/type_repo": (
        "type:repo is refused: an answer is lines of pinned files, never repositories",
        INVALID,
    ),
}
SAME_CODE = {"search_code/quoted_paren", "get_code/glob", "get_code/nul_path"}
DETAILS_DIFFER = {
    "graph_ref": "the graph's reference is internal and never leaves",
    "tool": "the call graph engine's own call is internal",
    "changed_files": "a path names one file, so there is nothing to count",
    "declared_ref": "the pin is a commit id; there is no other spelling of it",
    "actual_revision": "a literal path that is missing is no mismatch",
    "declared_revision": "a literal path that is missing is no mismatch",
    "repository": "a literal path that is missing is no mismatch",
}


COMPARISONS = {"compare_calls/bad_direction", "compare_calls/empty_symbol"}
"""Refused before either side is looked at: the details name both contexts instead of one."""


@pytest.fixture(scope="module")
def engines(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Engine]:
    """One engine over the demo repository, and one over a pair of odd commits."""
    folder = tmp_path_factory.mktemp("demo")
    make_demo_repository(folder / "demo")
    one, other = make_odd_changes(folder / "odd")
    objects = GitObjects(lambda repository: folder / repository / ".git", keep_refs=False)

    def over(*contexts: tuple[str, str, str, str]) -> Engine:
        return Engine(
            MemoryContexts(
                Context(name, (Member(repository, branch, revision),))
                for name, repository, branch, revision in contexts
            ),
            ScanSearch(objects, max_file_bytes=2**25),
            NoGraph(),
            GitSource(objects),
        )

    demo = over(
        ("demo-v1", "demo", "release/v1", V1),
        ("demo-v2", "demo", "release/v2", V2),
        ("demo-branchrev", "demo", "release/v2", V2),
    )
    return {"demo": demo, "odd": over(("a", "odd", "a", one), ("b", "odd", "b", other))}


def make_odd_changes(folder: Path) -> tuple[str, str]:
    """Two commits between which a mode, a file's kind and a last newline change."""

    def git(*arguments: str) -> str:
        done = subprocess.run(
            ["git", "-C", str(folder), *arguments], check=True, capture_output=True, text=True
        )
        return done.stdout.strip()

    folder.mkdir()
    git("init", "-q")
    git("config", "user.name", "A")
    git("config", "user.email", "a@example.invalid")
    for name in ("m", "n", "f"):
        (folder / name).write_text("a\n", encoding="utf-8")
    git("add", "-A")
    git("commit", "-qm", "one")
    one = git("rev-parse", "HEAD")
    (folder / "m").chmod(0o755)
    (folder / "n").write_text("a", encoding="utf-8")
    (folder / "f").unlink()
    (folder / "f").symlink_to("m")
    git("add", "-A")
    git("commit", "-qm", "two")
    return one, git("rev-parse", "HEAD")


def ask(engines: dict[str, Engine], tool: str, arguments: Any) -> dict[str, Any]:
    odd = isinstance(arguments, dict) and arguments.get("from_context") == "a"
    try:
        request = BY_NAME[tool].request(arguments)
        result = engines["odd" if odd else "demo"].answer(request).to_wire()
    except VacmcpError as error:
        return error.to_wire()
    if odd:
        # These commits were made anew, so that their ids are not the recorded ones.
        result = {**result, "from": {"evidence": []}, "to": {"evidence": []}}
    if tool == "search_code":
        # The name of a file has no line.
        found = sorted(
            [match[key] for key in ("path", "line") if key in match] for match in result["matches"]
        )
        result = {"context": result["context"], "matches": found}
    return {"result": result}


def same(ours: Any, theirs: Any) -> bool:
    """Whether ours says all that theirs says; more keys in an object are additions."""
    if isinstance(theirs, dict):
        return isinstance(ours, dict) and all(
            key in ours and same(ours[key], value) for key, value in theirs.items()
        )
    if isinstance(theirs, list):
        return (
            isinstance(ours, list)
            and len(ours) == len(theirs)
            and all(same(one, other) for one, other in zip(ours, theirs, strict=True))
        )
    if isinstance(theirs, str) and theirs in REVISIONS:
        return bool(ours in {REVISIONS[theirs], theirs})
    return bool(ours == theirs)


def _comparable(case: dict[str, Any]) -> Any:
    if (case["arguments"] or {}).get("from_context") != "a":
        return case["result"]
    return {**case["result"], "from": {"evidence": []}, "to": {"evidence": []}}


def _expected(case: dict[str, Any]) -> Callable[[dict[str, Any]], bool]:
    if case["case"] in DIFFERENCES:
        _, wanted = DIFFERENCES[case["case"]]
        if "plus" in wanted:
            kept = [row for row in case["result"]["matches"] if row not in wanted["minus"]]
            matches = sorted([*kept, *wanted["plus"]])
            return lambda ours: same(ours, {"result": {"matches": matches}})
        if "code" in wanted:
            return lambda ours: ours.get("error", {}).get("code") == wanted["code"]
        return lambda ours: same(ours, wanted)
    if "result" in case:
        return lambda ours: same(ours, {"result": _comparable(case)})
    if case["error"].get("schema"):
        # The original answers a wrong argument in prose; ours has the one envelope.
        return lambda ours: ours.get("error", {}).get("code") == "INVALID_ARGUMENT"
    kept = set(case["error"]["details"]) - set(DETAILS_DIFFER)
    if case["case"] in COMPARISONS:
        kept = {"from_context" if key == "context" else key for key in kept}
    return lambda ours: (
        ours.get("error", {}).get("code") == case["error"]["code"]
        and kept <= set(ours["error"]["details"])
    )


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["case"])
def test_a_recorded_call_is_answered_alike(
    engines: dict[str, Engine], case: dict[str, Any]
) -> None:
    ours = ask(engines, case["tool"], case["arguments"])
    assert _expected(case)(ours), (ours, case.get("result") or case.get("error"))


@pytest.mark.parametrize("name", sorted(DIFFERENCES))
def test_a_declared_difference_is_one(engines: dict[str, Engine], name: str) -> None:
    case = next(case for case in CASES if case["case"] == name)
    ours = ask(engines, case["tool"], case["arguments"])
    theirs = (
        {"result": case["result"]}
        if "result" in case
        else {"error": {"code": case["error"].get("code", "INVALID_ARGUMENT")}}
    )
    assert name in SAME_CODE or not same(ours, theirs), f"{name} no longer differs: drop it"


@pytest.mark.parametrize("name", sorted(DIFFERENCES))
def test_every_difference_is_written_down(name: str) -> None:
    document = Path(__file__).resolve().parents[2] / "docs" / "differences.md"
    reason, _ = DIFFERENCES[name]
    assert f"| `{name}` | {reason} |" in document.read_text(encoding="utf-8")
