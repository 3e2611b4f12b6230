"""Command lines that can't be understood, and what the command line is made of."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

USAGE = [
    ([], "missing command"),
    (["bogus"], "bogus"),
    (["--bogus"], "--bogus"),
    (["repo"], "missing command"),
    (["repo", "bogus"], "bogus"),
    (["repo", "add"], "NAME"),
    (["repo", "add", "demo"], "--url"),
    (["repo", "add", "demo", "--url"], "--url"),
    (["repo", "add", "demo", "extra", "--url", "/x"], "extra"),
    (["repo", "add", "demo", "--url", "/x", "--lock-timeout", "soon"], "--lock-timeout"),
    (["repo", "add", "demo", "--url", "/x", "--lock-timeout", "-1"], "--lock-timeout"),
    (["repo", "list", "extra"], "extra"),
    (["repo", "status"], "NAME"),
    (["repo", "status", "demo", "extra"], "extra"),
    (["repo", "sync"], "--all"),
    (["repo", "sync", "demo", "--all"], "--all"),
    (["repo", "remove"], "NAME"),
    (["context"], "missing command"),
    (["context", "bogus"], "bogus"),
    (["context", "create"], "NAME"),
    (["context", "create", "a"], "--repo"),
    (["context", "create", "a", "--repo", "demo"], "--ref"),
    (["context", "create", "a", "--ref", "main"], "--repo"),
    (["context", "create", "a", "--repo", "x", "--ref", "m", "--repo", "y"], "2 --repo and 1"),
    (["context", "create", "a", "--repo", "x", "--ref", "m", "--ref", "n"], "1 --repo and 2"),
    (["context", "status"], "NAME"),
    (["context", "verify"], "NAME"),
    (["context", "retry"], "NAME"),
    (["context", "remove"], "NAME"),
    (["context", "rebuild"], "--all"),
    (["context", "rebuild", "a", "--all"], "--all"),
    (["config"], "missing command"),
    (["serve"], "what to serve"),
    (["serve", "--config", "x.yaml"], "no static mode"),
    (["serve", "--managed", "--config", "x.yaml"], "no static mode"),
    (["serve", "--managed", "--stdio", "--address", "127.0.0.1:0"], "not both"),
    (["serve", "--zoekt-url", "x"], "--zoekt-url"),
    (["doctor"], "what to check"),
    (["doctor", "--config", "x.yaml"], "no static mode"),
    (["version", "extra"], "extra"),
]


@pytest.mark.parametrize(("words", "named"), USAGE, ids=[" ".join(words) for words, _ in USAGE])
def test_a_wrong_command_line_is_two_lines_on_stderr_and_exit_2(vacmcp, words, named) -> None:
    ran = vacmcp(*words)
    assert ran.code == 2
    assert ran.out == ""
    first, second = ran.err.splitlines()
    assert first.startswith("vacmcp: INVALID_ARGUMENT: ")
    assert named in first
    assert "vacmcp" in second or "--ref" in second
    assert not vacmcp.data.exists()


@pytest.mark.parametrize("words", [["repo", "sync"], ["repo", "add", "x"], ["bogus"]])
def test_a_wrong_command_line_with_json_is_an_envelope_on_stdout(vacmcp, words) -> None:
    ran = vacmcp(*words, "--json")
    assert ran.code == 2
    assert ran.err == ""
    assert set(ran.json) == {"error"}
    assert set(ran.json["error"]) == {"code", "message", "details"}
    assert ran.json["error"]["code"] == "INVALID_ARGUMENT"


def test_json_after_two_dashes_is_a_name_and_no_option(vacmcp) -> None:
    ran = vacmcp("repo", "status", "--", "--json")
    assert ran.code != 0
    assert ran.out == ""
    assert ran.err.startswith("vacmcp: ")


def test_a_secret_in_a_misplaced_url_is_not_repeated(vacmcp) -> None:
    for url in (
        "https://me:hunter2@example.com/x.git",
        "https://hunter2@example.com/x.git",
        "ssh://git:hunter2@example.com/x.git",
        "git:hunter2@example.com:x.git",
    ):
        for more in ([], ["--json"]):
            ran = vacmcp("repo", "add", "demo", url, "--url", "/x", *more)
            assert ran.code == 2
            assert "hunter2" not in ran.out + ran.err


def test_control_characters_of_an_argument_never_reach_the_terminal(vacmcp) -> None:
    ran = vacmcp("repo", "\x1b]0;owned\x07\u202e")
    assert ran.code == 2
    assert not {"\x1b", "\x07", "\u202e"} & set(ran.err)
    assert r"\x1b" in ran.err


def test_help_is_on_stdout_and_lists_every_command(vacmcp) -> None:
    for flag in ("--help", "-h"):
        ran = vacmcp(flag)
        assert ran.code == 0
        assert ran.err == ""
        for command in ("serve", "doctor", "demo", "version", "repo", "context", "config"):
            assert f"\n  {command} " in ran.out
    assert vacmcp("context", "create", "-h").code == 0


def test_version_is_one_line(vacmcp) -> None:
    from vacmcpd.version import __version__

    assert vacmcp("version").out == f"{__version__}\n"
    assert vacmcp("version", "--json").json == {"version": __version__}


def test_the_module_runs_without_a_script(vacmcp) -> None:
    done = subprocess.run(
        [sys.executable, "-P", "-m", "vacmcpd.cli", "version"],
        capture_output=True,
        encoding="utf-8",
        env=vacmcp.environment(None),
        cwd=vacmcp.home,
        check=True,
    )
    assert done.stdout == vacmcp("version").out


def test_the_reference_document_is_what_the_app_says() -> None:
    from vacmcpd.cli.reference import document

    written = Path(__file__).parents[2] / "docs" / "cli.md"
    assert written.read_text(encoding="utf-8") == document(), (
        "run: python -m vacmcpd.cli.reference > docs/cli.md"
    )


def test_every_command_is_in_the_tables_of_the_reference() -> None:
    from vacmcpd.cli.reference import _ANSWERS, _PIPED, commands

    known = dict(commands())
    assert set(_PIPED) <= set(known)
    assert set(_ANSWERS) == set(known) - {"serve"}
    for path, command in known.items():
        options = {word for parameter in command.params for word in parameter.opts}
        assert {"--data-dir", "--quiet"} <= options, path
        assert ("--json" in options) == (path in _ANSWERS), path


def test_commands_import_neither_the_server_nor_rich_nor_the_database(vacmcp) -> None:
    """What starts a command has half a second; these would take it."""
    code = (
        "import sys; from vacmcpd.cli.app import run; assert run(['version', '--quiet']) == 0; "
        "print(*sorted(sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-P", "-c", code],
        capture_output=True,
        encoding="utf-8",
        env=vacmcp.environment(None),
        cwd=vacmcp.home,
        check=True,
    )
    loaded = set(done.stdout.splitlines()[-1].split())
    assert "typer" in loaded
    assert not loaded & {"mcp", "rich", "sqlalchemy", "alembic", "pygit2", "anyio", "starlette"}


def test_a_bug_is_one_line_and_the_traceback_is_in_the_file_that_it_names(vacmcp) -> None:
    vacmcp.data.mkdir(mode=0o700)
    logs = vacmcp.data / "logs"
    logs.mkdir()
    code = (
        "import sys; from vacmcpd.cli import app, views; from vacmcpd import settings\n"
        "def broken(*a): raise ZeroDivisionError('https://me:hunter2@example.com')\n"
        "settings.values = broken\n"
        "sys.exit(app.run(sys.argv[1:]))"
    )
    for more, stream in (([], "stderr"), (["--json"], "stdout")):
        done = subprocess.run(
            [sys.executable, "-P", "-c", code, "config", "show", *more],
            capture_output=True,
            encoding="utf-8",
            env=vacmcp.environment(None),
            cwd=vacmcp.home,
            check=False,
        )
        assert done.returncode == 3
        told = getattr(done, stream)
        assert done.stdout + done.stderr == told
        [log] = logs.iterdir()
        assert str(log) in told
        text = log.read_text(encoding="utf-8")
        assert "ZeroDivisionError" in text
        assert "hunter2" not in text + told
        if more:
            assert json.loads(told)["error"]["code"] == "INTERNAL"
        else:
            assert len(told.splitlines()) == 1
        log.unlink()


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="needs another user")
def test_another_users_data_directory_is_refused_with_the_sudo_line(vacmcp) -> None:
    vacmcp.data.mkdir()
    os.chown(vacmcp.data, 65534, 65534)
    for words in (["repo", "list"], ["config", "show"], ["doctor", "--managed"]):
        ran = vacmcp(*words)
        assert ran.code == 1
        assert ran.out == ""
        assert "sudo -u" in ran.err
        assert " ".join(words) in ran.err.splitlines()[1]
    assert list(vacmcp.data.iterdir()) == []
    assert vacmcp("repo", "list", "--json").json["error"]["details"]["owner"]


def test_a_data_directory_that_is_a_file_is_an_error_and_no_bug(vacmcp) -> None:
    vacmcp.data.write_text("x", encoding="utf-8")
    ran = vacmcp("repo", "list")
    assert ran.code == 1
    assert ran.error == "INVALID_ARGUMENT"
    assert "--data-dir" in ran.err


def test_the_data_directory_is_flag_over_variable_over_home(vacmcp) -> None:
    for folder, value in (("flag", 1), ("variable", 2), ("home/.vacmcp", 3)):
        root = vacmcp.home.parent / folder
        root.mkdir()
        (root / "settings.toml").write_text(f"[server]\nworkers = {value}\n", encoding="utf-8")
    flag, variable = (str(vacmcp.home.parent / name) for name in ("flag", "variable"))

    def workers(*more: str, chosen: str) -> int:
        ran = vacmcp("config", "show", "--json", *more, env={"VACMCP_DATA_DIR": chosen})
        return ran.json["settings"]["server.workers"]["value"]

    assert workers("--data-dir", flag, chosen=variable) == 1
    assert workers(chosen=variable) == 2
    assert workers(chosen="") == 3


def test_config_show_says_where_each_setting_comes_from(vacmcp) -> None:
    vacmcp.data.mkdir()
    settings = vacmcp.data / "settings.toml"
    settings.write_text("[git]\nallow_http = true\n", encoding="utf-8")
    ran = vacmcp("config", "show", env={"VACMCP_LOCKS_TIMEOUT": "5"})
    rows = {key: (value, origin) for key, value, origin in ran.rows}
    assert rows["git.allow_http"] == ("true", "file")
    assert rows["locks.timeout"] == ("5.0", "environment")
    assert rows["server.workers"] == ("2", "default")


def test_a_wrong_setting_is_an_error_with_its_line_in_every_command(vacmcp) -> None:
    vacmcp.data.mkdir()
    settings = vacmcp.data / "settings.toml"
    settings.write_text("[git]\nallow_htp = true\n", encoding="utf-8")
    for words in (["config", "show"], ["repo", "list"], ["serve", "--managed"]):
        ran = vacmcp(*words)
        assert ran.code == 1
        assert "line 2" in ran.err


def test_config_schema_is_the_schema_of_the_settings(vacmcp) -> None:
    from vacmcpd.settings import schema

    assert vacmcp("config", "schema").json == schema()
    assert vacmcp("config", "schema", "--json").json == schema()
