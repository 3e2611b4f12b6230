"""``vacmcp demo``, from nothing to answers."""

import json
import signal
import sys

import pytest

from vacmcpd.cli.demo import _REFS
from vacmcpd.cli.demo_checks import REVISIONS, check
from vacmcpd.cli.demo_client import QUESTIONS, Answered
from vacmcpd.composition import open_managed
from vacmcpd.managed.activity import QUIET
from vacmcpd.settings import Settings
from vacmcpd.testing.demo import make_demo_repository


def test_the_demo_keeps_its_promises_and_leaves_nothing(vacmcp, tmp_path) -> None:
    ran = vacmcp("demo", env={"TMPDIR": str(tmp_path), "FORCE_COLOR": "1"})
    assert ran.code == 0, ran
    assert ran.err == ""
    assert "\x1b" not in ran.out
    for revision in REVISIONS.values():
        assert revision[:12] in ran.out
    assert "processor.go:5" in ran.out
    assert "8 of 8 promises kept" in ran.out
    assert not list(tmp_path.glob("vacmcp-demo-*"))
    assert not vacmcp.data.exists()


def test_the_demo_in_json_has_every_answer(vacmcp, tmp_path) -> None:
    root = tmp_path / "kept"
    ran = vacmcp("demo", "--json", "--data-dir", str(root))
    assert ran.code == 0, ran
    document = ran.json
    assert document["ok"] is True
    assert all(each["ok"] for each in document["checks"])
    tools = [each["tool"] for each in document["questions"]]
    assert tools == [question.tool for question in QUESTIONS]
    again = vacmcp("demo", "--json", "--data-dir", str(root)).json
    assert again["questions"] == document["questions"]


def test_a_demo_that_was_kept_from_before_the_call_graph_gets_it(vacmcp, tmp_path) -> None:
    root = tmp_path / "kept"
    managed = open_managed(root, Settings(), graph_engine="none")
    make_demo_repository(root / "demo-source")
    managed.repositories.add("demo", (root / "demo-source").as_uri(), activity=QUIET)
    for context, ref in _REFS.items():
        managed.contexts.create(context, [("demo", ref)], activity=QUIET)
    managed.close()
    ran = vacmcp("demo", "--json", "--data-dir", str(root))
    assert (ran.code, ran.json["ok"]) == (0, True)


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_the_demo_that_serves_prints_how_to_reach_it_and_ends_with_ctrl_c(vacmcp) -> None:
    child = vacmcp.start("demo", "--serve", "--json")
    assert child.stderr is not None
    told = [child.stderr.readline()]
    while not told[-1].startswith("curl "):
        assert told[-1], child.wait()
        told.append(child.stderr.readline())
    servers = [json.loads(line)["mcpServers"]["vacmcp"] for line in told if line.startswith("{")]
    assert servers[0]["args"][-4:-2] == ["--managed", "--stdio"]
    assert servers[1]["url"].startswith("http://127.0.0.1:")
    child.send_signal(signal.SIGINT)
    out, _ = child.communicate(timeout=60)
    assert child.returncode == 0
    assert json.loads(out)["ok"] is True


def test_answers_from_the_wrong_version_break_the_promises() -> None:
    swapped = [
        Answered(question, {key: {"matches": []} for key in question.arguments})
        for question in QUESTIONS
    ]
    assert not any(holds for _, holds in check(swapped))
    assert not any(holds for _, holds in check([]))
