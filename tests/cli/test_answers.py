"""Answers: JSON, pipes and terminals."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

V1 = "9eda2538a4c07c8ce714999c816c67478611a81d"
V2 = "5eee04c43633883798501b2d2d1b9caab064e75a"
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z")


def keys(record: object) -> object:
    """The shape of a record: its keys, all the way down; of a list its first element's."""
    if isinstance(record, dict):
        return {key: keys(value) for key, value in record.items()}
    if isinstance(record, list):
        return [keys(record[0])] if record else []
    return None


@pytest.fixture(scope="module")
def documented() -> dict[str, dict]:
    from vacmcpd.cli.reference import _samples

    return {title.split()[1].rstrip(","): record for title, record in _samples()}


def test_a_repository_is_reported_in_one_documented_shape(added, documented) -> None:
    shape = set(documented["repository"])
    listed = added("repo", "list", "--json").json
    status = added("repo", "status", "demo", "--json").json
    synced = added("repo", "sync", "demo", "--json").json
    assert set(listed) == set(synced) == {"repositories"}
    for record in (*listed["repositories"], status, *synced["repositories"]):
        assert set(record) == shape
    assert status["branches"] == 4
    assert status["tags"] == 2
    assert Path(status["path"]).is_dir()
    assert TIME.fullmatch(synced["repositories"][0]["last_sync_at"])


def test_a_context_is_reported_in_one_documented_shape(pinned, documented) -> None:
    shape = set(documented["context"]) - {"graphs", "repair", "last_build"}
    status = pinned("context", "status", "v1", "--json").json
    assert set(status) == set(documented["context"])
    records = [
        *pinned("context", "list", "--json").json["contexts"],
        *pinned("context", "rebuild", "v1", "--json").json["contexts"],
        pinned("context", "create", "v2", "--repo", "demo", "--ref", "release/v2", "--json").json,
    ]
    for record in records:
        assert set(record) == shape
    verified = pinned("context", "verify", "v1", "--json").json
    assert verified.pop("verified") is True
    assert set(verified) == shape
    assert status["members"] == [
        {
            "repository": "demo",
            "ref": "release/v1",
            "revision": V1,
            "search": "embedded/1",
            "graph": "embedded/1",
        }
    ]
    assert status["coverage"]["complete"] is True
    assert TIME.fullmatch(status["created_at"])
    assert status["failure"] is None
    assert status["repair"] is None


def test_status_tells_the_last_build_step_by_step(pinned) -> None:
    steps = pinned("context", "status", "v1", "--json").json["last_build"]["steps"]
    told = [(step["step"], step["outcome"]) for step in steps]
    assert told[0] == ("RESOLVE", "DONE")
    assert told[-1] == ("VERIFY", "DONE")
    assert ("WORKTREE", "SKIPPED") in told
    assert all(step["seconds"] is not None for step in steps)
    plain = pinned("context", "status", "v1").out
    for step in steps:
        assert any(
            line.startswith("step ") and step["step"] in line and step["outcome"] in line
            for line in plain.splitlines()
        )


def test_the_nth_ref_belongs_to_the_nth_repository(added, demo_source) -> None:
    added("repo", "add", "other", "--url", str(demo_source))
    ran = added(
        *("context", "create", "both"),
        *("--repo", "other", "--repo", "demo"),
        *("--ref", "release/v2", "--ref", "release/v1"),
    )
    assert ran.code == 0, ran.err
    assert ran.rows == [["both", "READY", "other", V2], ["both", "READY", "demo", V1]]
    assert added("context", "list").rows == [
        ["both", "other", V2, "READY"],
        ["both", "demo", V1, "READY"],
    ]


def test_nothing_managed_is_an_empty_answer(vacmcp) -> None:
    for words, key in ((["repo", "list"], "repositories"), (["context", "list"], "contexts")):
        assert vacmcp(*words).out == ""
        assert vacmcp(*words, "--json").json == {key: []}


NOT_FOUND = [
    (["repo", "status", "nope"], "REPOSITORY_NOT_FOUND"),
    (["repo", "sync", "nope"], "REPOSITORY_NOT_FOUND"),
    (["repo", "remove", "nope"], "REPOSITORY_NOT_FOUND"),
    (["context", "create", "a", "--repo", "nope", "--ref", "main"], "REPOSITORY_NOT_FOUND"),
    (["context", "create", "a", "--repo", "demo", "--ref", "nope"], "REVISION_NOT_FOUND"),
    (["context", "status", "nope"], "CONTEXT_NOT_FOUND"),
    (["context", "verify", "nope"], "CONTEXT_NOT_FOUND"),
    (["context", "retry", "nope"], "CONTEXT_NOT_FOUND"),
    (["context", "rebuild", "nope"], "CONTEXT_NOT_FOUND"),
    (["context", "remove", "nope"], "CONTEXT_NOT_FOUND"),
]


def test_what_does_not_exist_ends_with_5_and_its_code(added) -> None:
    for words, code in NOT_FOUND:
        plain, document = added(*words), added(*words, "--json")
        assert (plain.code, document.code) == (5, 5), words
        assert plain.out == ""
        first, second = plain.err.splitlines()
        assert first.startswith(f"vacmcp: {code}: ")
        assert second
        assert document.err == ""
        assert set(document.json) == {"error"}
        assert document.json["error"]["code"] == code
        assert document.json["error"]["message"]
        assert isinstance(document.json["error"]["details"], dict)


def test_one_that_fails_does_not_hide_those_that_were_synced(added, demo_source) -> None:
    gone = added.home / "gone"
    shutil.copytree(demo_source, gone, symlinks=True)
    assert added("repo", "add", "gone", "--url", str(gone)).code == 0
    shutil.rmtree(gone)
    ran = added("repo", "sync", "--all")
    assert ran.code != 0
    assert [row[:2] for row in ran.rows] == [["demo", "READY"]]
    assert ran.error
    document = added("repo", "sync", "--all", "--json").json
    assert [each["name"] for each in document["repositories"]] == ["demo"]
    [failure] = document["failures"]
    assert failure["name"] == "gone"
    assert failure["error"] == document["error"]
    status = added("repo", "status", "gone", "--json").json
    assert status["state"] == "FAILED"
    assert status["last_sync_error"].startswith(document["error"]["code"])


def test_an_abandoned_build_is_told_once_and_shown_as_interrupted(pinned) -> None:
    from datetime import UTC, datetime

    from vacmcpd.catalogue import SqliteCatalogue
    from vacmcpd.datadir import DataDirectory
    from vacmcpd.model import Member

    catalogue = SqliteCatalogue.open(DataDirectory(pinned.data))
    try:
        catalogue.create_context("left", [Member("demo", "main", V1)], datetime.now(UTC))
    finally:
        catalogue.close()
    ran = pinned("context", "list")
    assert "left" in ran.err
    assert ["left", "demo", V1, "FAILED"] in ran.rows
    status = pinned("context", "status", "left")
    assert status.err == ""
    assert status.pairs["failure"].startswith("INTERRUPTED: ")
    assert status.pairs["retry"] == "needed: vacmcp context retry left"
    assert pinned("context", "retry", "left").rows == [["left", "READY", "demo", V1]]


def test_a_pipe_gets_no_colour_even_when_it_is_asked_for(pinned) -> None:
    for words in (
        ["repo", "list"],
        ["context", "list"],
        ["context", "status", "v1"],
        ["doctor", "--managed"],
        ["config", "show"],
        ["--help"],
    ):
        ran = pinned(*words, env={"FORCE_COLOR": "1", "CLICOLOR_FORCE": "1"})
        assert ran.code == 0, ran
        assert "\x1b" not in ran.out + ran.err


def test_a_change_says_nothing_on_stderr_in_a_pipe(added) -> None:
    ran = added("context", "create", "v1", "--repo", "demo", "--ref", "release/v1")
    assert ran.code == 0
    assert ran.err == ""


def held(root: Path) -> dict[Path, bytes]:
    """What a data directory holds, but for the files that SQLite's readers share."""
    return {
        path: path.read_bytes()
        for path in root.rglob("*")
        if path.is_file() and not path.name.endswith(("-shm", "-wal"))
    }


def test_doctor_reports_every_repository_and_context_and_writes_nothing(pinned) -> None:
    before = held(pinned.data)
    ran = pinned("doctor", "--managed")
    assert ran.code == 0, ran
    assert {"demo", "v1", "git", "catalogue"} <= {row[0] for row in ran.rows}
    document = pinned("doctor", "--managed", "--json").json
    assert document["ok"] is True
    assert [check["name"] for check in document["checks"]] == [row[0] for row in ran.rows]
    assert held(pinned.data) == before


def test_doctor_without_a_data_directory_fails_and_makes_none(vacmcp) -> None:
    ran = vacmcp("doctor", "--managed")
    assert ran.code == 1
    assert re.search(r"vacmcp: doctor: \d+ of \d+ checks did not pass\n\Z", ran.err)
    assert not vacmcp.data.exists()
    assert vacmcp("doctor", "--managed", "--json").json["ok"] is False


def test_a_reader_that_goes_away_is_no_traceback(pinned) -> None:
    child = pinned.start("config", "schema")
    assert child.stdout is not None
    child.stdout.close()
    assert child.stderr is not None
    told = child.stderr.read()
    child.stderr.close()
    assert child.wait(timeout=60) in (0, 1)
    assert told == ""


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.parametrize("words", [["list"], ["list", "--json"], ["status", "nope", "--json"]])
def test_an_answer_that_cannot_be_written_is_a_failure(pinned, words) -> None:
    with Path("/dev/full").open("w", encoding="utf-8") as full:
        done = subprocess.run(
            [sys.executable, "-P", "-m", "vacmcpd.cli", "context", *words],
            stdout=full,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            env=pinned.environment(None),
            cwd=pinned.home,
            check=False,
        )
    assert done.returncode == 1
    assert len(done.stderr.splitlines()) == 1


def on_terminal(vacmcp, *words: str, columns: int, **env: str) -> str:
    """What a command writes when stdout and stderr are a terminal of so many columns."""
    import fcntl
    import pty
    import struct
    import termios

    leader, follower = pty.openpty()
    fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
    child = subprocess.Popen(
        [str(vacmcp.script), *words],
        stdin=follower,
        stdout=follower,
        stderr=follower,
        env={**vacmcp.environment(env), "TERM": "xterm-256color"},
        cwd=vacmcp.home,
    )
    os.close(follower)
    told = b""
    try:
        while chunk := os.read(leader, 65536):
            told += chunk
    except OSError:  # Linux: the other side of a terminal is gone
        pass
    finally:
        os.close(leader)
    assert child.wait(timeout=60) == 0, told
    return told.decode("utf-8")


def plain(text: str) -> str:
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", text)


posix = pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")


@posix
def test_a_terminal_gets_a_table_with_headings_and_colour(pinned) -> None:
    told = on_terminal(pinned, "context", "list", columns=160)
    assert "\x1b[" in told
    shown = plain(told)
    for word in ("context", "repository", "revision", "state", "v1", "release/v1", V1, "READY"):
        assert word in shown
    assert "none" in on_terminal(
        pinned, "repo", "list", "--data-dir", str(pinned.home / "x"), columns=80
    )


@posix
def test_a_terminal_gets_the_calls_under_their_files_and_how_many_there_are(pinned) -> None:
    told = on_terminal(pinned, "context", "graph", "v1", columns=200)
    lines = told.replace("\r", "").splitlines()
    at = lines.index("demo processor.go")
    call = "example.com/demo.Process -> example.com/demo.LegacyHandler  resolved"
    assert lines[at + 1].split(maxsplit=1) == ["5", call]
    assert " calls: " in lines[-1]


@posix
def test_no_color_takes_the_colour_away_and_keeps_the_table(pinned) -> None:
    told = on_terminal(pinned, "context", "list", columns=160, NO_COLOR="1")
    assert not re.search(r"\x1b\[[0-9;]*3[0-7]m", told)
    assert "revision" in told


@posix
@pytest.mark.parametrize("columns", [30, 60, 80])
def test_a_narrow_terminal_loses_no_character_of_a_commit_id(pinned, columns) -> None:
    told = plain(on_terminal(pinned, "context", "list", columns=columns))
    lines = told.splitlines()
    assert all(len(line) <= columns for line in lines)
    folded = ""
    for part in re.findall(r"[0-9a-f]{4,}", told):
        if V1[len(folded) :].startswith(part):
            folded += part
    assert folded == V1


@posix
def test_progress_is_drawn_on_a_terminal_and_not_when_quiet(vacmcp, demo_source) -> None:
    loud = on_terminal(vacmcp, "repo", "add", "a", "--url", demo_source.as_uri(), columns=100)
    quiet = on_terminal(
        vacmcp, "repo", "add", "b", "-q", "--url", demo_source.as_uri(), columns=100
    )
    assert "\x1b[?25l" in loud  # the cursor is hidden while bars are drawn
    assert "\x1b[?25l" not in quiet
    assert json.loads(on_terminal(vacmcp, "repo", "list", "--json", columns=100))
