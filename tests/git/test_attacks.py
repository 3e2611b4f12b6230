"""The ways in which a URL, a ref, a repository or a configuration runs something; none does.

Everything here would create the canary file. The control cases show that it is alive.
"""

import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from vacmcpd.errors import LifecycleError, VacmcpError
from vacmcpd.ports.source import HistoryQuery

World = Any
Upstream = Any

HOOKS = ("post-checkout", "reference-transaction", "pre-auto-gc", "post-rewrite", "fsmonitor")


class Trap:
    """A user's git configuration in which every key that runs something runs the canary."""

    def __init__(self, home: Path) -> None:
        self.canary = home / "canary"
        self.script = home / "trap.sh"
        self.script.write_text(f"#!/bin/sh\ntouch '{self.canary}'\n", encoding="utf-8")
        self.script.chmod(0o755)
        hooks = home / "template" / "hooks"
        hooks.mkdir(parents=True)
        for name in HOOKS:
            (hooks / name).symlink_to(self.script)
        (home / "attributes").write_text("* filter=evil diff=evil merge=evil\n", encoding="utf-8")
        (home / ".gitconfig").write_text(
            f"""
[protocol]
\tallow = always
[protocol "ext"]
\tallow = always
[protocol "file"]
\tallow = always
[init]
\ttemplateDir = {home / "template"}
\tdefaultObjectFormat = sha256
[core]
\thooksPath = {hooks}
\tfsmonitor = {self.script}
\taskPass = {self.script}
\teditor = {self.script}
\tpager = {self.script}
\tattributesFile = {home / "attributes"}
\talternateRefsCommand = {self.script}
[filter "evil"]
\tclean = {self.script}
\tsmudge = {self.script}
\trequired = true
[diff]
\texternal = {self.script}
[diff "evil"]
\tcommand = {self.script}
\ttextconv = {self.script}
[gpg]
\tprogram = {self.script}
[log]
\tshowSignature = true
\tfollow = true
[diff]
\trenames = copies
\torderFile = /nowhere
[fetch]
\tfsckObjects = false
\trecurseSubmodules = yes
\tpruneTags = true
[submodule]
\trecurse = true
[pager]
\tlog = {self.script}
[url "ext::{self.script} "]
\tinsteadOf = https://rewritten.example/
[url "file://{home}/"]
\tinsteadOf = https://inside.example/
""",
            encoding="utf-8",
        )

    @property
    def sprung(self) -> bool:
        return self.canary.exists()

    def plain(self, *arguments: str) -> None:
        """What git does with this configuration when nobody hardens it."""
        subprocess.run(["git", *arguments], capture_output=True, check=False, timeout=60)


@pytest.fixture
def trap(home: Path, monkeypatch: pytest.MonkeyPatch) -> Trap:
    monkeypatch.delenv("GIT_CONFIG_NOSYSTEM", raising=False)
    return Trap(home)


def refused(action: Callable[[], object]) -> str:
    with pytest.raises(VacmcpError) as refusal:
        action()
    return str(refusal.value.code)


def test_control_an_ext_url_runs_its_command_in_plain_git(trap: Trap) -> None:
    trap.plain("ls-remote", f"ext::{trap.script} x")
    assert trap.sprung


def test_control_a_rewritten_url_runs_its_command_in_plain_git(trap: Trap) -> None:
    trap.plain("ls-remote", "https://rewritten.example/a")
    assert trap.sprung


def test_control_a_hook_runs_in_plain_git(trap: Trap, upstream: Upstream, tmp_path: Path) -> None:
    upstream.commit()
    trap.plain("-c", "init.defaultObjectFormat=sha1", "clone", upstream.url, str(tmp_path / "x"))
    assert trap.sprung


def test_control_an_upload_pack_option_runs_in_plain_git(trap: Trap, upstream: Upstream) -> None:
    trap.plain("ls-remote", f"--upload-pack={trap.script}", upstream.url)
    assert trap.sprung


def test_control_a_textconv_runs_in_plain_git(trap: Trap, upstream: Upstream) -> None:
    upstream.commit({"a": b"needle\n"})
    trap.plain("-c", "diff.orderFile=/dev/null", "-C", str(upstream.path), "log", "-Sneedle")
    assert trap.sprung


URLS = [
    "ext::{script} x",
    "ext::{script}",
    "--upload-pack={script}",
    "-u{script}",
    "--config=core.sshCommand={script}",
    "ssh://-oProxyCommand={script}/x",
    "ssh://-oProxyCommand={script}",
    "-oProxyCommand={script}:x",
    "git@-oProxyCommand={script}:x",
    "ssh://%2doProxyCommand={script}/x",
    "file:///x\n--upload-pack={script}",
    "fd::0",
    "transport::{script}",
]


@pytest.mark.parametrize("url", URLS)
def test_a_url_that_names_a_command_runs_nothing(trap: Trap, world: World, url: str) -> None:
    given = url.format(script=trap.script)
    assert refused(lambda: world.store.check_url(given, True)) == "INVALID_ARGUMENT"
    assert (
        refused(lambda: world.store.clone("one", given, lambda *_: None, None))
        == "INVALID_ARGUMENT"
    )
    assert not trap.sprung
    assert list(world.data.repositories.iterdir()) == []


@pytest.mark.parametrize("host", ["rewritten.example", "inside.example"])
def test_a_rewritten_url_is_bound_to_the_transports_of_the_one_given(
    trap: Trap, world: World, host: str
) -> None:
    with pytest.raises(LifecycleError) as refusal:
        world.store.clone("one", f"https://{host}/a", lambda *_: None, None)
    assert refusal.value.code == "UNSUPPORTED_REPOSITORY"
    assert "insteadOf" in refusal.value.message
    assert not trap.sprung


REFS = [
    "--git-dir",
    "--all",
    "--upload-pack=x",
    "-",
    "HEAD",
    "@",
    "main@{1}",
    "main@{0}",
    "@{-1}",
    "main~0",
    "main^",
    "main^{commit}",
    "main^{tree}",
    "main:a",
    ":/change",
    ":a",
    "main..other",
    "^main",
    "origin/main",
    "remotes/origin/main",
    "refs/remotes/origin/main",
    "refs/vacmcp/keep/x",
    "heads/main",
    "refs/heads/../heads/main",
    "refs/heads/*",
    "*",
    "../HEAD",
    "main.lock",
    "main\n",
    "main\0",
    "ma\x1b[31min",
    "\ud800",
    "main --",
    "refs/heads/",
    "refs/",
]


@pytest.mark.parametrize("ref", REFS)
def test_a_ref_is_a_name_and_never_an_expression(
    trap: Trap, world: World, upstream: Upstream, ref: str
) -> None:
    upstream.commit({"a": b"1"})
    world.clone(upstream)
    with pytest.raises(LifecycleError) as refusal:
        world.store.resolve("one", ref)
    assert refusal.value.code == "REVISION_NOT_FOUND"
    assert refusal.value.message.isprintable()
    refusal.value.message.encode()
    assert not trap.sprung


def hostile(upstream: Upstream) -> str:
    """A commit that would run something at a checkout, a diff or an update of submodules."""
    inner = upstream.commit({"inner": b"x"}, branch="inner")
    modules = f'[submodule "sub"]\n\tpath = sub\n\turl = {upstream.path}\n\tupdate = !touch x\n'
    upstream.commit(
        {
            ".gitattributes": b"* filter=evil diff=evil\n",
            ".gitmodules": modules.replace("\tupdate = !touch x\n", "").encode(),
            "sub": ("160000", inner.encode()),
            "link": ("120000", b"/etc/passwd"),
            "up": ("120000", b"../../../../etc/passwd"),
            "a": b"needle\n",
        },
        "first\n",
    )
    return str(upstream.commit({"a": b"needle needle\n"}, "second\n"))


def test_a_hostile_repository_runs_nothing_from_clone_to_history(
    trap: Trap, world: World, upstream: Upstream
) -> None:
    head = hostile(upstream)
    git_dir = world.clone(upstream)
    world.store.keep("one", head)
    upstream.commit({"b": b"more"})
    world.fetch(upstream)
    source, scope = world.source(), world.scope(head)
    assert source.read(scope, "a", 1, 1, world.budget()).content == "needle needle\n"
    assert source.read(scope, "link", 1, 1, world.budget()).content == "/etc/passwd"
    assert source.read(scope, "up", 1, 1, world.budget()).content == "../../../../etc/passwd"
    first = source.history(scope, HistoryQuery("", "", "", 0, 99), world.budget()).entries[-1]
    before = world.scope(first.commit)
    assert source.diff(before, scope, "a", 0, 99, world.budget()).change == "MODIFIED"
    found = source.history(scope, HistoryQuery("", "needle", "", 0, 99), world.budget())
    assert [entry.message for entry in found.entries] == ["second", "first"]
    assert not trap.sprung
    assert not (git_dir / "hooks").exists()
    assert not (git_dir / "modules").exists()
    assert not (git_dir / "index").exists()


def test_a_submodule_stays_an_entry(world: World, upstream: Upstream) -> None:
    head = hostile(upstream)
    world.clone(upstream)
    leaves = {
        leaf.path: leaf.mode
        for leaf in world.objects(keep_refs=False).leaves(world.scope(head), world.budget())
    }
    assert leaves[b"sub"] == 0o160000
    assert leaves[b"link"] == 0o120000


def test_hooks_of_a_hand_made_clone_do_not_run(
    trap: Trap, world: World, upstream: Upstream
) -> None:
    head = upstream.commit()
    git_dir = world.clone(upstream)
    hooks = git_dir / "hooks"
    hooks.mkdir()
    for name in HOOKS:
        (hooks / name).symlink_to(trap.script)
    world.store.keep("one", head)
    upstream.commit()
    world.fetch(upstream)
    assert not trap.sprung


def test_replacement_objects_change_nothing(world: World, upstream: Upstream) -> None:
    first = upstream.commit({"a": b"good\n"}, "good\n")
    evil = upstream.commit({"a": b"evil\n"}, "evil\n", branch="evil")
    upstream.git("replace", first, evil)
    git_dir = world.clone(upstream)
    assert not any((git_dir / "refs").rglob("replace"))
    # Even one that somebody puts into the clone itself.
    (git_dir / "refs" / "replace").mkdir()
    (git_dir / "refs" / "replace" / first).write_text(f"{evil}\n", encoding="ascii")
    scope = world.scope(first)
    assert world.source().read(scope, "a", 1, 1, world.budget()).content == "good\n"
    page = world.source().history(scope, HistoryQuery("", "", "", 0, 9), world.budget())
    assert [entry.message for entry in page.entries] == ["good"]


def test_refs_beside_branches_and_tags_are_not_fetched(world: World, upstream: Upstream) -> None:
    head = upstream.commit()
    for name in ("refs/pull/1/head", "refs/vacmcp/keep/" + "0" * 40, "refs/notes/commits"):
        upstream.git("update-ref", name, head)
    world.clone(upstream)
    assert world.store.kept("one") == frozenset()
    assert world.store.count("one").branches == 1
    assert refused(lambda: world.store.resolve("one", "refs/pull/1/head")) == "REVISION_NOT_FOUND"


def test_variables_that_steer_git_do_not_reach_it(
    trap: Trap, world: World, upstream: Upstream, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    upstream.commit({"a": b"needle"})
    for name, value in {
        "GIT_DIR": str(tmp_path / "elsewhere"),
        "GIT_OBJECT_DIRECTORY": str(tmp_path / "elsewhere"),
        "GIT_TRACE": str(trap.canary),
        "GIT_TRACE2_EVENT": str(trap.canary),
        "GIT_EXTERNAL_DIFF": str(trap.script),
        "GIT_ASKPASS": str(trap.script),
        "SSH_ASKPASS": str(trap.script),
        "GIT_PAGER": str(trap.script),
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": "core.hooksPath",
        "GIT_CONFIG_VALUE_0": os.fspath(trap.script.parent / "template" / "hooks"),
    }.items():
        monkeypatch.setenv(name, value)
    with monkeypatch.context() as without:
        for name in list(os.environ):
            if name.startswith("GIT_"):
                without.delenv(name)
        head = upstream.git("rev-parse", "main")
    world.clone(upstream)
    world.store.keep("one", head)
    page = world.source().history(
        world.scope(head), HistoryQuery("", "needle", "", 0, 9), world.budget()
    )
    assert len(page.entries) == 1
    assert not trap.sprung


@pytest.mark.parametrize(
    "path", [":/a", ":(top)a", ":!a", "*", "a*", "[a]", "?", "--", "-S", "--output=canary", "a\\"]
)
def test_a_path_is_never_a_pattern_or_an_option(
    trap: Trap, world: World, upstream: Upstream, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(trap.script.parent)
    head = upstream.commit({"a": b"1\n", "b": b"2\n"})
    world.clone(upstream)
    source, scope = world.source(), world.scope(head)
    assert refused(lambda: source.read(scope, path, 1, 1, world.budget())) == "INVALID_ARGUMENT"
    page = source.history(scope, HistoryQuery("", "", path, 0, 9), world.budget())
    assert page.entries == ()
    assert not trap.sprung


@pytest.mark.parametrize("symbol", ["--output=canary", "-x", "; touch canary", "$(touch canary)"])
def test_a_symbol_is_never_an_option(
    trap: Trap, world: World, upstream: Upstream, symbol: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(trap.script.parent)
    head = upstream.commit({"a": symbol.encode()})
    world.clone(upstream)
    page = world.source().history(
        world.scope(head), HistoryQuery("", symbol, "", 0, 9), world.budget()
    )
    assert [entry.path for entry in page.entries] == ["a"]
    assert not trap.sprung
