"""The hardened runner: environment, limits, and that nothing survives its caller."""

import os
import subprocess
import threading
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from vacmcpd.adapters.git import GIT_FLOOR, git_version, runner
from vacmcpd.adapters.git.environment import Profile, environment, overrides
from vacmcpd.adapters.git.failures import GitFailed
from vacmcpd.adapters.git.runner import GitCall, records, run, until
from vacmcpd.errors import Cancelled, LifecycleError, OperationTimeout
from vacmcpd.ports.budget import Budget

Upstream = Any
GitServer = Any


def patient() -> None:
    """Never stop."""


def dead(group: int) -> bool:
    """Whether every process of the group ends soon; zombies that nobody reaps have ended."""
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        listed = subprocess.run(
            ["ps", "-A", "-ww", "-o", "pgid=,stat="], capture_output=True, check=True, text=True
        )
        rows = [line.split() for line in listed.stdout.splitlines()]
        if not any(row[0] == str(group) and not row[1].startswith("Z") for row in rows):
            return True
        time.sleep(0.02)
    return False


def test_the_version_is_at_least_the_floor() -> None:
    assert git_version() >= GIT_FLOOR


def test_only_listed_variables_reach_git(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (
        "GIT_DIR",
        "GIT_WORK_TREE",
        "GIT_TRACE",
        "GIT_CONFIG_COUNT",
        "GIT_CONFIG_PARAMETERS",
        "GIT_EXTERNAL_DIFF",
        "GIT_EXEC_PATH",
        "GIT_TEMPLATE_DIR",
        "GIT_ALTERNATE_OBJECT_DIRECTORIES",
        "GIT_PROXY_COMMAND",
        "LD_PRELOAD",
        "DISPLAY",
        "PAGER",
        "LANGUAGE",
    ):
        monkeypatch.setenv(name, "/evil")
    for profile in Profile:
        assert "/evil" not in environment(profile).values()


def test_a_local_command_reads_no_users_configuration() -> None:
    told = environment(Profile.LOCAL)
    assert told["GIT_CONFIG_GLOBAL"] == "/dev/null"
    assert told["GIT_CONFIG_NOSYSTEM"] == "1"
    assert told["GIT_ALLOW_PROTOCOL"] == "none"


def test_a_network_command_keeps_the_users_ssh_command(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "BatchMode=yes" in environment(Profile.NETWORK)["GIT_SSH_COMMAND"]
    assert "GIT_SSH_COMMAND" not in environment(Profile.NETWORK, ssh_configured=True)
    monkeypatch.setenv("GIT_SSH_COMMAND", "ssh -i key")
    assert environment(Profile.NETWORK)["GIT_SSH_COMMAND"] == "ssh -i key"
    assert "GIT_SSH_COMMAND" not in environment(Profile.LOCAL)


@pytest.mark.parametrize("profile", Profile)
def test_nothing_can_prompt(profile: Profile) -> None:
    told = environment(profile)
    assert (told["GIT_TERMINAL_PROMPT"], told["GIT_ASKPASS"]) == ("0", "")
    assert (told["SSH_ASKPASS"], told["SSH_ASKPASS_REQUIRE"]) == ("", "never")
    assert "core.askPass=" in overrides(profile)


def test_a_missing_git_is_said_in_words(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(LifecycleError, match="git was not found on PATH; install git 2"):
        run(GitCall(("version",)), patient)


def test_a_git_in_the_working_directory_is_not_run(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    fake = tmp_path / "git"
    fake.write_text("#!/bin/sh\ntouch canary\n", encoding="utf-8")
    fake.chmod(0o755)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", ".")
    with pytest.raises(LifecycleError, match="not found on PATH"):
        run(GitCall(("version",)), patient)
    assert not (tmp_path / "canary").exists()


def test_the_repository_around_the_working_directory_is_not_looked_at(
    monkeypatch: pytest.MonkeyPatch, upstream: Upstream, tmp_path: Path
) -> None:
    bare = tmp_path / "bare"
    run(GitCall(("init", "--quiet", "--bare", "--", str(bare))), patient)
    upstream.commit()
    monkeypatch.chdir(upstream.path)
    assert run(GitCall(("for-each-ref",), bare), patient) == b""


def test_a_failure_carries_the_last_lines_redacted(tmp_path: Path) -> None:
    url = "https://user:hunter2@127.0.0.1:1/a"
    with pytest.raises(GitFailed) as failure:
        run(GitCall(("ls-remote", "--", url), None, Profile.NETWORK, "https"), patient)
    assert failure.value.status == 128
    assert any("unable to access" in line for line in failure.value.lines)
    assert "hunter2" not in " ".join(failure.value.lines)


def test_output_beyond_its_bound_ends_git(upstream: Upstream) -> None:
    upstream.commit({"big": b"x" * 300_000})
    call = GitCall(("cat-file", "blob", "main:big"), upstream.path / ".git")
    assert len(run(call, patient)) == 300_000
    with pytest.raises(GitFailed, match="cat-file") as failure:
        run(call, patient, max_bytes=100_000)
    assert "more than 100000 bytes" in failure.value.lines[0]


def test_a_cancelled_command_ends_git_and_its_children(server: GitServer) -> None:
    server.mode = "stall"
    pids: list[int] = []
    call = GitCall(
        ("ls-remote", "--", server.url()), None, Profile.NETWORK, "http", on_start=pids.append
    )
    with pytest.raises(Cancelled):
        run(call, until("asking", 60, server.asked))
    assert len(pids) == 1
    assert dead(pids[0])


def test_a_command_that_overruns_is_ended(server: GitServer) -> None:
    server.mode = "stall"
    pids: list[int] = []
    call = GitCall(
        ("ls-remote", "--", server.url()), None, Profile.NETWORK, "http", on_start=pids.append
    )
    with pytest.raises(LifecycleError) as failure:
        run(call, until("asking", 0.3, None))
    assert failure.value.code == "TIMEOUT"
    assert dead(pids[0])


def test_a_cancelled_command_does_not_even_start(tmp_path: Path) -> None:
    flag = threading.Event()
    flag.set()
    started: list[int] = []
    with pytest.raises(Cancelled):
        run(GitCall(("version",), on_start=started.append), until("asking", 60, flag))
    assert started == []


def long_history(upstream: Upstream, commits: int) -> GitCall:
    lines = []
    lines = [
        f"commit refs/heads/main\ncommitter A <a@b> {number} +0000\n"
        f"data 1000\n{'x' * 1000}\nM 100644 inline f\ndata <<E\n{number}\nE\n\n"
        for number in range(commits)
    ]
    upstream.git("fast-import", "--quiet", stdin="".join(lines).encode())
    return GitCall(("log", "-z", "--format=%H%x00%B", "main"), upstream.path / ".git")


def test_a_stream_ends_git_when_its_reader_stops(upstream: Upstream) -> None:
    # More than the pipe and the queue hold, so that git is still writing.
    call = long_history(upstream, 8000)
    pids: list[int] = []
    with closing(
        records(GitCall(call.arguments, call.git_dir, on_start=pids.append), patient)
    ) as stream:
        first = next(stream)
    assert len(first) == 40
    assert dead(pids[0])


def test_a_stream_polls_the_budget(upstream: Upstream) -> None:
    call = long_history(upstream, 3000)
    spent = Budget("history", "git", 0.000001)
    with pytest.raises(OperationTimeout) as overrun:
        list(records(call, spent.check))
    assert overrun.value.details == {"operation": "history", "provider": "git", "timeout_ms": 0}


def test_no_thread_is_left_behind(upstream: Upstream) -> None:
    before = threading.active_count()
    call = long_history(upstream, 8000)
    with closing(records(call, patient)) as stream:
        next(stream)
    for thread in threading.enumerate():
        if thread.daemon and "_pump" in thread.name:
            thread.join(10)
    assert threading.active_count() <= before


def test_progress_that_a_killed_reader_left_open_is_not_waited_for(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    # An ssh master or a credential daemon keeps git's stderr open after git has ended.
    fake = tmp_path / "git"
    fake.write_text("#!/bin/sh\n(sleep 30 >/dev/null) &\necho $!\n", encoding="utf-8")
    fake.chmod(0o755)
    monkeypatch.setattr(runner, "_binary", lambda: str(fake))
    output = run(GitCall(("version",)), until("asking", 20, None))
    os.kill(int(output), 9)
