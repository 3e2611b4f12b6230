"""``context graph`` and what ``context status`` says of the graph, by the installed command."""

import json
from typing import Any

PROCESS = {
    "caller": "example.com/demo.Process",
    "callee": "example.com/demo.LegacyHandler",
    "kind": "resolved",
    "path": "processor.go",
    "line": 5,
    "repository": "demo",
}


def test_every_call_is_a_line_of_json(pinned) -> None:
    ran = pinned("context", "graph", "v1", "--json")
    assert (ran.code, ran.err) == (0, "")
    edges = [json.loads(line) for line in ran.out.splitlines()]
    assert PROCESS in edges
    assert {tuple(edge) for edge in edges} == {tuple(PROCESS)}
    places = [(edge["path"], edge["line"]) for edge in edges]
    assert places == sorted(places)
    assert pinned("context", "graph", "v1", "--repo", "demo", "--json").out == ran.out
    resolved = pinned(
        "context", "graph", "v1", "--kind", "resolved", "--kind", "dispatch", "--json"
    )
    assert [json.loads(line) for line in resolved.out.splitlines()] == [
        edge for edge in edges if edge["kind"] in {"resolved", "dispatch"}
    ]


def test_in_a_pipe_every_call_is_a_line_of_tabs(pinned) -> None:
    ran = pinned("context", "graph", "v1")
    assert [str(cell) for cell in PROCESS.values()] in ran.rows


def test_what_cannot_be_written_out_is_told_by_its_code(added) -> None:
    for words, code, ended in (
        (["nope"], "CONTEXT_NOT_FOUND", 5),
        (["v1", "--repo", "nope"], "REPOSITORY_NOT_FOUND", 5),
        (["v1", "--kind", "guessed"], "INVALID_ARGUMENT", 2),
    ):
        if words[0] == "v1" and not added("context", "list").out:
            made = added("context", "create", "v1", "--repo", "demo", "--ref", "release/v1")
            assert made.code == 0
        plain = added("context", "graph", *words)
        document = added("context", "graph", *words, "--json")
        assert (plain.code, plain.error, plain.out) == (ended, code, "")
        assert (document.code, document.json["error"]["code"]) == (ended, code)


def test_a_reader_that_goes_away_from_a_graph_is_no_traceback(pinned) -> None:
    child = pinned.start("context", "graph", "v1", "--json")
    assert child.stdout is not None
    child.stdout.close()
    assert child.stderr is not None
    told = child.stderr.read()
    child.stderr.close()
    assert child.wait(timeout=60) in (0, 1)
    assert told == ""


def test_status_tells_languages_files_and_call_sites(pinned) -> None:
    (graph,) = pinned("context", "status", "v1", "--json").json["graphs"]
    told: dict[str, Any] = {key: graph[key] for key in ("repository", "engine", "problem")}
    assert told == {"repository": "demo", "engine": "embedded/1", "problem": None}
    assert graph["files"] == graph["parsed"] + sum(graph["skipped"].values())
    (go,) = graph["languages"]
    assert go == {"name": "go", "tier": "scoped", "files": graph["parsed"], "with_errors": 0}
    assert graph["call_sites"]["resolved"] == 2
    lines = pinned("context", "status", "v1").pairs
    assert lines["parsed"].startswith(f"{graph['parsed']} of {graph['files']} files; skipped: ")
    assert lines["language"] == f"go (scoped): {graph['parsed']} files"
    assert lines["call sites"].startswith("2 resolved")


def test_doctor_names_the_grammars(pinned) -> None:
    checks = {each["name"]: each for each in pinned("doctor", "--managed", "--json").json["checks"]}
    assert checks["grammars"]["verdict"] == "OK"
    for language in ("python", "go", "javascript", "typescript"):
        assert f"{language} 0." in checks["grammars"]["detail"]
    assert checks["graph engine"]["detail"].startswith("embedded/1")
