"""The recorded tool calls of the original, answered by our engine over the same repository.

``tools.json`` holds shapes and values only: arguments, results, error codes and the keys of their
details; ``calls.json`` holds those of a call graph, each with the world it was recorded in. A case
passes when ours says the same, or when it stands in DIFFERENCES with its reason.
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
from vacmcpd.model import Artifact, ArtifactKind, Context, Member
from vacmcpd.ports.graph import CallEdge, Symbol
from vacmcpd.server.tools import BY_NAME
from vacmcpd.testing.contexts import MemoryContexts
from vacmcpd.testing.demo import make_demo_repository
from vacmcpd.testing.graph import MemoryCalls, MemoryGraph

CASES = [
    case
    for name in ("tools.json", "calls.json")
    for case in json.loads((Path(__file__).parent / name).read_text(encoding="utf-8"))
]
V1 = "9eda2538a4c07c8ce714999c816c67478611a81d"
V2 = "5eee04c43633883798501b2d2d1b9caab064e75a"
HUB = "1d5105241adbb09408537559f7b22db49bf87fe8"
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
    "trace_calls/case_insensitive": (
        "case counts, as it does in most languages; details name what is spelled alike",
        {"code": "SYMBOL_NOT_FOUND"},
    ),
    "trace_calls/hub_20_callers_cap10": (
        "all 20 callers; the original's graph gives ten of them",
        {
            "result": {
                "calls": [
                    {"caller": f"C{n}", "callee": "Hub", "path": "hub.go", "line": 3 * n - 25}
                    for n in range(10, 30)
                ],
                "total_matches": 20,
            }
        },
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
    odd = over(("a", "odd", "a", one), ("b", "odd", "b", other))
    return {"demo": demo, "odd": odd, **graph_engines()}


def graph_engines() -> dict[str, Engine]:
    """The worlds of ``calls.json``: the calls of the demo repository, and two made for a case."""
    none = Artifact(ArtifactKind.GRAPH, "none", "0", V2, V2)
    contexts = MemoryContexts(
        [
            Context("demo-v1", (Member("demo", "release/v1", V1),)),
            Context("demo-v2", (Member("demo", "release/v2", V2),)),
            Context("demo-branchrev", (Member("demo", "release/v2", V2, graph=none),)),
            Context("a", (Member("tc", "main", HUB),)),
        ]
    )
    shared = function("Keep", "shared.go", 9), function("SharedHandler", "shared.go", 4)
    process = function("Process", "processor.go", 4)

    def demo(handler: str, *symbols: Symbol) -> MemoryCalls:
        calls = call(*shared, 10), call(process, function(handler, "handler.go", 4), 5)
        return MemoryCalls(calls, (function("Deep", "pkg/sub/deep.go", 4), *symbols))

    hub = function("Hub", "hub.go", 3)
    callers = [function(f"C{n}", "hub.go", 3 * n - 26) for n in range(10, 30)]
    old = {("demo", V1): demo("LegacyHandler"), ("demo", V2): demo("NewHandler")}
    twice = demo("NewHandler", function("Keep", "pkg/sub/dup.go", 3))
    graphs: dict[str, dict[tuple[str, str], MemoryCalls]] = {
        "calls": old,
        "twice": {**old, ("demo", V2): twice},
        "hub": {
            ("tc", HUB): MemoryCalls(tuple(call(each, hub, each.line + 1) for each in callers))
        },
    }
    return {name: Engine(contexts, graph=MemoryGraph(graph)) for name, graph in graphs.items()}


def function(name: str, path: str, line: int) -> Symbol:
    package = "/".join(["example.com/demo", *path.split("/")[:-1]])
    return Symbol(name, f"{package}.{name}", path, line, "function")


def call(caller: Symbol, callee: Symbol, line: int) -> CallEdge:
    return CallEdge(
        caller.name, callee.name, caller.path, line, caller_symbol=caller, callee_symbol=callee
    )


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


def ask(engines: dict[str, Engine], case: dict[str, Any]) -> dict[str, Any]:
    tool, arguments = case["tool"], case["arguments"]
    odd = isinstance(arguments, dict) and arguments.get("from_context") == "a"
    try:
        request = BY_NAME[tool].request(arguments)
        engine = engines[case.get("world", "odd" if odd else "demo")]
        result = engine.answer(request).to_wire()
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


def at_the_call(recorded: Any) -> Any:
    """A recorded answer with the lines of calls, which in all of them follow the caller's own."""
    if isinstance(recorded, dict):
        return {
            key: value + 1 if key in ("line", "start_line", "end_line") else at_the_call(value)
            for key, value in recorded.items()
        }
    return [at_the_call(item) for item in recorded] if isinstance(recorded, list) else recorded


def _comparable(case: dict[str, Any]) -> Any:
    if "world" in case:
        return at_the_call(case["result"])
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
    keys = set(case["error"]["details"]) - set(DETAILS_DIFFER)
    if case["case"] in COMPARISONS:
        keys = {"from_context" if key == "context" else key for key in keys}
    candidates = case["error"].get("candidates")
    return lambda ours: (
        ours.get("error", {}).get("code") == case["error"]["code"]
        and keys <= set(ours["error"]["details"])
        and (candidates is None or same(ours["error"]["details"]["candidates"], candidates))
    )


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["case"])
def test_a_recorded_call_is_answered_alike(
    engines: dict[str, Engine], case: dict[str, Any]
) -> None:
    ours = ask(engines, case)
    assert _expected(case)(ours), (ours, case.get("result") or case.get("error"))


@pytest.mark.parametrize("name", sorted(DIFFERENCES))
def test_a_declared_difference_is_one(engines: dict[str, Engine], name: str) -> None:
    case = next(case for case in CASES if case["case"] == name)
    ours = ask(engines, case)
    theirs = (
        {"result": _comparable(case)}
        if "result" in case
        else {"error": {"code": case["error"].get("code", "INVALID_ARGUMENT")}}
    )
    assert name in SAME_CODE or not same(ours, theirs), f"{name} no longer differs: drop it"


@pytest.mark.parametrize("name", sorted(DIFFERENCES))
def test_every_difference_is_written_down(name: str) -> None:
    document = Path(__file__).resolve().parents[2] / "docs" / "differences.md"
    reason, _ = DIFFERENCES[name]
    assert f"| `{name}` | {reason} |" in document.read_text(encoding="utf-8")
